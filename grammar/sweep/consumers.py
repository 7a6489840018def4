"""One type's consumers, asked about one text: both grammars, both schemas, the validator."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator

from grammar.boundary import Boundary
from grammar.engine import Matcher
from grammar.expression import DECIMALS
from grammar.language import Language
from grammar.nodes import Scope
from grammar.schema import ENVELOPE, is_record
from grammar.spelling import dump
from grammar.validator import Invalid, parse


@dataclass(frozen=True, slots=True)
class Opinion:
    """What each consumer says of a text.

    Attributes:
        lark: the Lark grammar has it.
        gbnf: the GBNF grammar has it.
        exact: the validator takes it as a sentence.
        free: the validator takes it in any spelling.
        schema: both schemas take what it parses to. None: it does not parse.
    """

    lark: bool
    gbnf: bool
    exact: bool
    free: bool
    schema: bool | None


class Consumers:
    """Everything that is derived from one declared type.

    Raises:
        InadmissibleType: the type is refused.
        GrammarBuildError: a grammar that was printed does not compile.
    """

    def __init__(self, declared: Any, scope: Scope) -> None:
        self.language: Language[Any] = Boundary(declared).language(scope)
        artifacts = self.language.artifacts
        self._lark = Matcher.from_lark(artifacts["lark"].text)
        self._gbnf = Matcher.from_gbnf(artifacts["gbnf"].text)
        self._open = Draft202012Validator(json.loads(artifacts["json_schema"].text))
        self._closed = Draft202012Validator(json.loads(artifacts["json_schema_closed"].text))
        self._labels = any(slot.label_key for slot in self.language.plan.lark.slots)
        self._enveloped = not is_record(self.language.plan.node)

    def opinion(self, text: str) -> Opinion:
        """What each says."""
        return Opinion(
            lark=self._lark.parse(text).outcome == "sentence",
            gbnf=self._gbnf.parse(text).outcome == "sentence",
            exact=self._reads(text, exact=True),
            free=self._reads(text, exact=False),
            schema=self._schemas(text),
        )

    def _reads(self, text: str, *, exact: bool) -> bool:
        try:
            self.language.decode_exact(text) if exact else self.language.decode(text)
        except Invalid:
            return False
        return True

    def _schemas(self, text: str) -> bool | None:
        try:
            value = parse(text)
        except Invalid:
            return None
        closed = {ENVELOPE: value} if self._enveloped else value
        # The closed form says null for the label of a mark that nothing names, and the grammars nothing.
        return bool(self._open.is_valid(value) and (self._labels or self._closed.is_valid(closed)))


_TOKENS = re.compile(r'"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*|\s+', re.DOTALL)


def other_spelling(text: str, language: Language[Any]) -> str:
    """Why the grammars do not have a text that the validator takes, in one word or two. ``other``: nobody knows.

    Only texts that the validator takes may be asked about.
    """
    tokens = _TOKENS.findall(text)
    if any(token.isspace() for token in tokens):
        return "spacing"
    parsed = json.loads(text)
    strings = [token for token in tokens if token.startswith('"')]
    if any(dump(json.loads(token)) != token for token in strings):
        return "escapes"
    try:
        canonical = language.spell(language.decode(text))
    except ValueError:
        return "other"
    if dump(parsed) != text:
        return "number spelling"
    if dump(_sorted(parsed)) == dump(_sorted(json.loads(canonical))):
        return "order"
    if _rounded(parsed) == _rounded(json.loads(canonical)):
        return "number spelling"
    if _as_maps(parsed) == _as_maps(json.loads(canonical)):
        return "map as an object"
    return "other"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _rounded(value: Any) -> Any:
    """Numbers as one number, however they are spelt."""
    if isinstance(value, dict):
        return {name: _rounded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def _as_maps(value: Any) -> Any:
    """Arrays of entries as the objects that they stand for."""
    if isinstance(value, dict):
        return {name: _as_maps(member) for name, member in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, dict) and set(item) == {"key", "value"} for item in value):
            return {item["key"]: _as_maps(item["value"]) for item in value}
        return [_as_maps(item) for item in value] or {}
    return value
