"""What may be said at one moment: a type, what can be named now, and the artifacts that hold a model to it."""

from __future__ import annotations

import hashlib
import json
from base64 import b32encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast, get_args

from grammar.choices import sentences, size
from grammar.errors import EmptyDomain
from grammar.gbnf import Gbnf
from grammar.lark import Lark
from grammar.nodes import Field, Node, ProofNode, Record, Scope, Variants, inhabited
from grammar.printer import Notation, Skeleton, fill, print_skeleton, prove
from grammar.reply import Artifact, Dialect
from grammar.schema import ENVELOPE, is_record, print_schema
from grammar.spelling import dump, spell
from grammar.validator import read

MAX_CHOICES = 256  # a language up to this size is also written out, for models that score it whole
PROOF = "proof"
"""The member that shows under which grammar a reply was decoded."""

LARK: Notation = Lark()
GBNF: Notation = Gbnf()

T = TypeVar("T")


def with_proof(node: Node) -> Node:
    """A tree whose sentences end in a proof.

    Raises:
        ValueError: its values are no objects, so that there is no place for one.
    """
    if isinstance(node, Record):
        if any(each.name == PROOF for each in node.fields):
            raise ValueError(f"expected a class without a field called {PROOF!r}, found {node.name}")
        return Record(node.name, (*node.fields, Field(PROOF, ProofNode(), None)), node.type, node.doc)
    if isinstance(node, Variants):
        records = tuple(cast("Record", with_proof(record)) for record in node.records)
        return Variants(node.tag, records)
    raise ValueError(f"expected a class with fields, or a tagged union of such, to prove a reply by; found {node!r}")


@dataclass(frozen=True)
class Plan(Generic[T]):
    """A declared type, ready to be said: its tree, less what cannot be said now, and the grammars' fixed parts.

    Attributes:
        node: the tree.
        finish: turns what was read into what is given back.
    """

    node: Node
    finish: Callable[[Any], T]

    @cached_property
    def lark(self) -> Skeleton:
        """The fixed part of the Lark grammar."""
        return print_skeleton(self.node, LARK)

    @cached_property
    def gbnf(self) -> Skeleton:
        """The fixed part of the GBNF grammar."""
        return print_skeleton(self.node, GBNF)

    @cached_property
    def invariant_digest(self) -> str:
        """sha256 of the fixed part: equal declarations have equal ones, whatever is on screen."""
        return hashlib.sha256(self.lark.text.encode()).hexdigest()

    @cached_property
    def proves(self) -> bool:
        """True when sentences end in a proof."""
        return any(slot.kind == "proof" for slot in self.lark.slots)


def plan(node: Node, scope: Scope, finish: Callable[[Any], T]) -> Plan[T]:
    """The plan of a tree in a scope.

    Raises:
        EmptyDomain: nothing can be said, since there is nothing to name.
    """
    left = inhabited(node, scope)
    if left is None:
        raise EmptyDomain("cell" if scope.marks else "mark")
    return Plan(left, finish)


class Language(Generic[T]):
    """What may be said at one moment.

    Attributes:
        plan: the type.
        scope: what can be named now.
        artifacts: the constraint in each dialect, printed when asked for. ``choices`` only where there are few.
    """

    def __init__(self, planned: Plan[T], scope: Scope) -> None:
        self.plan = planned
        text = fill(planned.lark, scope, LARK)
        if planned.proves:
            digest = hashlib.sha256(text.encode()).digest()
            scope = Scope(marks=scope.marks, cells=scope.cells, proof=b32encode(digest)[:8].decode().lower())
            text = prove(text, planned.lark, scope, LARK)
        self.scope = scope
        self.artifacts: Mapping[Dialect, Artifact] = _Artifacts(planned, scope, text)

    def decode(self, text: str, dialect: Dialect | None = None) -> T:
        """The value that a text spells, in whatever order and spacing.

        Args:
            text: a model's reply.
            dialect: what the model was given; tells whether a value stands in an envelope.

        Raises:
            Invalid: names the position, what was expected and what was found.
        """
        node = self.plan.node
        if dialect == "json_schema_closed" and not is_record(node):
            node = Record("reply", (Field(ENVELOPE, node, ENVELOPE),), None)
        return self.plan.finish(read(text, node, self.scope))

    def decode_exact(self, text: str) -> T:
        """The value of a sentence of the grammars, in its one spelling.

        Raises:
            Invalid: names the position, what was expected and what was found.
        """
        return self.plan.finish(read(text, self.plan.node, self.scope, exact=True))

    def spell(self, value: T) -> str:
        """A value in its one spelling.

        Raises:
            ValueError: it cannot be said now.
        """
        return spell(self.plan.node, value, self.scope)


class _Artifacts(Mapping[Dialect, Artifact]):
    """The artifacts of one language, each printed once, when it is first asked for."""

    def __init__(self, planned: Plan[Any], scope: Scope, lark: str) -> None:
        self._plan = planned
        self._scope = scope
        self._printed: dict[Dialect, Artifact] = {"lark": self._artifact("lark", LARK.root, lark)}

    def __getitem__(self, dialect: Dialect) -> Artifact:
        if dialect not in self._printed:
            self._printed[dialect] = self._print(dialect)
        return self._printed[dialect]

    def __iter__(self) -> Iterator[Dialect]:
        yield from ("lark", "gbnf", "json_schema", "json_schema_closed")
        if self._few:
            yield "choices"

    def __len__(self) -> int:
        return 5 if self._few else 4

    @cached_property
    def _few(self) -> bool:
        return size(self._plan.node, self._scope) <= MAX_CHOICES

    def _print(self, dialect: Dialect) -> Artifact:
        node, scope = self._plan.node, self._scope
        if dialect == "gbnf":
            text = fill(self._plan.gbnf, scope, GBNF)
            return self._artifact("gbnf", GBNF.root, prove(text, self._plan.gbnf, scope, GBNF))
        if dialect == "choices" and self._few:
            return self._artifact("choices", "", json.dumps([dump(said) for said in sentences(node, scope)]))
        if dialect in ("json_schema", "json_schema_closed"):
            return self._artifact(dialect, "", print_schema(node, scope, closed=dialect == "json_schema_closed"))
        if dialect == "choices":
            raise KeyError(f"expected a language of at most {MAX_CHOICES} sentences to write out, found a larger one")
        raise KeyError(f"expected a dialect out of {', '.join(get_args(Dialect))}, found {dialect!r}")

    def _artifact(self, dialect: Dialect, root: str, text: str) -> Artifact:
        return Artifact(dialect=dialect, root=root, text=text, invariant_digest=self._plan.invariant_digest)
