"""One completion's constraint as a host is asked for it, and the check that the host cannot skip."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError

from grammar.engine import Parse
from grammar.errors import ConstraintViolation, Unverifiable
from grammar.gate import compile_unknown
from grammar.reply import Finish
from grammar.schema import DRAFT
from grammar.validator import Invalid, parse

RESERVED = frozenset(
    {"grammar", "json_schema", "response_format", "tools", "format", "structured_outputs", "ebnf", "regex", "choice"}
)
"""Keys of a request's body that hold a constraint; beside them every key that begins with ``guided_``."""


@dataclass(frozen=True, kw_only=True)
class DecodeConstraints:
    """What one completion is held to. At most one of ``grammar``, ``json_schema`` and ``choices``.

    Attributes:
        grammar: a grammar's text.
        grammar_format: what it is written in.
        json_schema: a schema, draft 2020-12.
        choices: the only answers.
        tool_choice: passed on to hosts that know it.
        extra_body: more keys for the request's body; none that holds a constraint.
        verify: one more check of the output, beside ours and never in its place: returns False, or raises, where the
            output is not good.

    Raises:
        ValueError: two constraints, an empty or repeated choice, a reserved key, or what is no schema.
    """

    grammar: str | None = None
    grammar_format: Literal["lark", "gbnf"] = "lark"
    json_schema: Mapping[str, Any] | bool | None = None
    choices: Sequence[str] | None = None
    tool_choice: str | Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    verify: Callable[[str], object] | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("grammar", "json_schema", "choices") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"expected at most one constraint, found {' and '.join(given)}: give one of them")
        if self.grammar is not None and not self.grammar.strip():
            raise ValueError("expected a grammar, found an empty text: a host that takes it would not constrain")
        if self.choices is not None:
            object.__setattr__(self, "choices", _choices(self.choices))
        if self.json_schema is not None:
            object.__setattr__(self, "json_schema", _schema(self.json_schema))
        _refuse_reserved(self.extra_body, "extra_body")
        object.__setattr__(self, "extra_body", copy.deepcopy(dict(self.extra_body)))

    def has_constraint(self) -> bool:
        """True when the output is held to a grammar, a schema or choices."""
        return self.grammar is not None or self.json_schema is not None or self.choices is not None

    def verify_output(self, text: str, finish: Finish = "stop") -> None:
        """Return when an output is what was asked for.

        Args:
            text: the output.
            finish: how it ended; ``length``: a prefix of an answer is not an answer.

        Raises:
            ConstraintViolation: it is not; carries the output to the letter.
            Unverifiable: the check itself died: the output is not trusted, and the model is not blamed.
            UnknownGrammarRefused: the grammar does not compile within its time, or kills the engine.
        """
        if finish == "length" and self.has_constraint():
            raise ConstraintViolation("the output was cut; a prefix of an answer is not an answer", text)
        if self.grammar is not None:
            _require_sentence(compile_unknown(self.grammar, self.grammar_format).parse(text), text)
        elif self.choices is not None and text not in self.choices:
            raise ConstraintViolation(f"expected one of the {len(self.choices)} choices", text)
        elif self.json_schema is not None:
            self._require_schema(text)
        self._ask_caller(text)

    def describe(self) -> dict[str, Any]:
        """What this is, for logs and pages; safe as JSON, and never for a prompt."""
        kind = next((name for name in ("grammar", "json_schema", "choices") if getattr(self, name) is not None), None)
        said = None if kind is None else self._text
        return {
            "constraint": kind,
            "format": self.grammar_format if kind == "grammar" else None,
            "digest": None if said is None else hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest(),
            "bytes": None if said is None else len(said.encode("utf-8", "surrogatepass")),
            "tool_choice": None if self.tool_choice is None else json.loads(json.dumps(self.tool_choice, default=repr)),
            "extra_body": sorted(map(str, self.extra_body)),
            "verify": None if self.verify is None else getattr(self.verify, "__qualname__", repr(self.verify)),
        }

    @cached_property
    def _text(self) -> str:
        """The constraint's exact text."""
        if self.grammar is not None:
            return self.grammar
        return json.dumps(self.choices if self.choices is not None else self.json_schema, separators=(",", ":"))

    @cached_property
    def _validator(self) -> Draft202012Validator:
        schema: Any = self.json_schema
        return Draft202012Validator(schema, offline=True)

    def _require_schema(self, text: str) -> None:
        try:
            value = parse(text)
        except Invalid as problem:
            raise ConstraintViolation(str(problem), text) from problem
        for found in self._validator.iter_errors(value):
            where = "/".join(map(str, found.instance_path)) or "output"
            raise ConstraintViolation(f"{where}: {found.message[:300]}", text)

    def _ask_caller(self, text: str) -> None:
        """The caller's own check."""
        if self.verify is None:
            return
        try:
            good = self.verify(text)
        except Exception as problem:
            raise ConstraintViolation(f"the caller's check: {type(problem).__name__}: {problem}", text) from problem
        if good is False:
            raise ConstraintViolation("the caller's check says no", text)


def _require_sentence(found: Parse, text: str) -> None:
    if found.outcome == "unverifiable":
        raise Unverifiable(f"the grammar engine died at byte {found.at}: {found.detail.splitlines()[0]}", text)
    if found.outcome != "sentence":
        how = "stops short" if found.outcome == "prefix" else "leaves the grammar"
        raise ConstraintViolation(f"{how} at byte {found.at} of {len(text.encode('utf-8', 'surrogatepass'))}", text)


def _choices(said: Sequence[str]) -> tuple[str, ...]:
    if isinstance(said, str):
        raise ValueError(f"expected a list of choices, found the text {said[:50]!r}")
    choices = tuple(said)
    if not choices:
        raise ValueError("expected at least one choice, found none: nothing could be said")
    for choice in choices:
        if not isinstance(choice, str) or not choice:
            raise ValueError(f"expected choices that are texts, found {choice!r}")
        if choices.count(choice) > 1:
            raise ValueError(f"expected each choice once, found {choice!r} twice")
    return choices


def _schema(said: Mapping[str, Any] | bool) -> Any:
    """A schema that is one, and JSON, as a copy."""
    draft = said.get("$schema", DRAFT) if isinstance(said, Mapping) else DRAFT
    if draft not in (DRAFT, DRAFT + "#"):
        raise ValueError(f"expected a JSON schema of draft 2020-12 ({DRAFT}), found one of {draft!r}")
    try:
        copied = json.loads(json.dumps(said, allow_nan=False))
        Draft202012Validator(copied, offline=True)
    except (TypeError, ValueError, RecursionError, ValidationError, ReferencingError) as problem:
        reason = problem.message if isinstance(problem, ValidationError) else str(problem)
        raise ValueError(f"expected a JSON schema of draft 2020-12, found one that is none: {reason}") from problem
    return copied


def _refuse_reserved(body: Any, where: str) -> None:
    """No constraint may come in by another door: not at any depth of the extra body either."""
    if isinstance(body, Mapping):
        for key, value in body.items():
            name = str(key).strip().lower()
            if name in RESERVED or name.startswith("guided_"):
                raise ValueError(
                    f"{where} holds {key!r}, which is a constraint: give it as grammar, json_schema or choices"
                )
            _refuse_reserved(value, f"{where}.{key}")
    elif isinstance(body, list | tuple):
        for i, item in enumerate(body):
            _refuse_reserved(item, f"{where}[{i}]")
