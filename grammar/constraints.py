"""One completion's constraint as a host is asked for it, and the check that the host cannot skip."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError

from grammar.engine import Parse
from grammar.errors import ConstraintViolation, Unverifiable
from grammar.gate import compile_unknown
from grammar.reply import Finish
from grammar.schema import DRAFT
from grammar.validator import Invalid, parse

RESERVED = frozenset(
    {"grammar", "jsonschema", "responseformat", "responseschema", "tools", "functions", "format", "structuredoutputs"}
    | {"ebnf", "regex", "choice", "structuraltag", "outputformat", "logitbias"}
)
"""Keys of a request's body that hold a constraint, without ``_`` and ``-``; beside them whatever begins with
``guided``."""
MAX_DEPTH = 30
MAX_EXPLAINED = 2000  # characters of an output for whose fault a position is looked for: the search may branch


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
        if self.grammar_format not in ("lark", "gbnf"):
            raise ValueError(f"expected a grammar_format of 'lark' or 'gbnf', found {self.grammar_format!r}")
        object.__setattr__(self, "extra_body", _checked_body(self.extra_body, "extra_body"))

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
        if finish != "stop" and self.has_constraint():
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
        if self._validator.is_valid(value):
            return
        if len(text) <= MAX_EXPLAINED and _nesting(text) <= 5:
            for found in self._validator.iter_errors(value):
                where = "/".join(map(str, found.instance_path)) or "output"
                raise ConstraintViolation(f"{where}: {found.message[:300]}", text)
        raise ConstraintViolation("output: expected a value that the schema admits, found another", text)

    def _ask_caller(self, text: str) -> None:
        """The caller's own check."""
        if self.verify is None:
            return
        try:
            good = self.verify(text)
        except Exception as problem:
            raise ConstraintViolation(f"the caller's check: {type(problem).__name__}: {problem}", text) from problem
        if good is not None and not good:
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


def _checked_body(body: Any, where: str, depth: int = 0) -> Any:
    """A copy that cannot be changed; no constraint may come in by another door, at any depth of the extra body."""
    if depth > MAX_DEPTH:
        raise ValueError(f"expected an extra body of at most {MAX_DEPTH} levels, found more at {where[:60]}")
    if isinstance(body, Mapping):
        for key in body:
            _refuse_reserved(key, where)
        return MappingProxyType({key: _checked_body(body[key], f"{where}.{key}", depth + 1) for key in body})
    if isinstance(body, list | tuple):
        return tuple(_checked_body(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(body))
    return body


def _refuse_reserved(key: Any, where: str) -> None:
    if type(key) is not str:
        raise ValueError(f"expected keys of {where} that are plain texts, found {key!r}")
    plain = re.sub(r"[\s_-]", "", unicodedata.normalize("NFKC", key)).casefold()
    if plain in RESERVED or plain.startswith("guided"):
        raise ValueError(f"{where} holds {key!r}, which is a constraint: give it as grammar, json_schema or choices")


def _nesting(text: str) -> int:
    """Levels of brackets, at most: those in strings count too."""
    depth = deepest = 0
    for char in text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest
