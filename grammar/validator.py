"""The third consumer of a declaration: from text to a value, against what can be named now.

It parses what pydantic would let pass (duplicate keys, ``7.0`` for 7, ``true`` for 1), checks every node of the tree,
and lets the declared classes build and check the value once more.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from grammar.classes import adapter
from grammar.expression import DECIMALS, MILLION
from grammar.nodes import (
    NOTHING,
    Base64,
    CellNode,
    FloatRange,
    IntRange,
    ListOf,
    MapOf,
    MarkNode,
    Maybe,
    Node,
    OneOf,
    ProofNode,
    Record,
    Root,
    Scope,
    Text,
    TupleOf,
    Variants,
)
from grammar.spelling import dump
from perception.observation import is_utf8

MAX_REPLY_CHARS = 1_000_000
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


class Invalid(Exception):
    """A text that is no value of a type.

    Args:
        position: where in the reply.
        expected: what could stand there.
        found: what stands there.
    """

    def __init__(self, position: str, expected: str, found: str) -> None:
        super().__init__(f"{position}: expected {expected}, found {found}")
        self.position = position
        self.expected = expected
        self.found = found


def read(text: str, node: Node, scope: Scope = NOTHING, *, exact: bool = False) -> Any:
    """The value that a text spells.

    Args:
        text: a model's reply.
        node: the declared type's tree.
        scope: what may be named now.
        exact: take the one spelling of the grammars alone. Else any JSON: members in any order, any spacing, any
            spelling of a number or a character, a map as an object.

    Raises:
        Invalid: names the position, what was expected and what was found.
    """
    parsed = parse(text)
    value = _Reader(scope, exact).value(node, parsed, "reply")
    if exact and dump(parsed) != text:
        raise Invalid("reply", "its one spelling, " + _short(dump(parsed)), _short(text))
    return value


def parse(text: str) -> Any:
    """A JSON value, every key of an object once.

    Raises:
        Invalid: the text is no JSON, or too long.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise Invalid("reply", f"at most {MAX_REPLY_CHARS} characters", str(len(text)))
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_float=_finite, parse_constant=_no_constant)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()  # half a pair is no character
        return value
    except (ValueError, RecursionError) as problem:
        raise Invalid("reply", "one JSON value", f"{_short(text)} ({problem})") from problem


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key[:40]!r} stands there twice")
        table[key] = value
    return table


def _finite(text: str) -> float:
    """A number that a float can hold; beyond, it would be read as infinite."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class _Reader:
    """Reads parsed JSON node by node; ``at`` is where, in words."""

    def __init__(self, scope: Scope, exact: bool) -> None:
        self._scope = scope
        self._exact = exact

    def value(self, node: Node, found: Any, at: str) -> Any:
        """The Python value of one node."""
        match node:
            case OneOf():
                return self._one_of(node, found, at)
            case IntRange():
                return self._int(node, found, at)
            case FloatRange():
                return self._float(node, found, at)
            case Text():
                return self._text(node, found, at)
            case Base64():
                return self._bytes(node, found, at)
            case MarkNode():
                return self._mark(found, at)
            case CellNode():
                return self._cell(found, at)
            case ProofNode():
                return self._proof(found, at)
            case Maybe():
                return None if found is None else self.value(node.item, found, at)
            case Root():
                return built(node.type, self.value(node.item, found, at), at)
        return self._composite(node, found, at)

    def _composite(self, node: Node, found: Any, at: str) -> Any:
        match node:
            case ListOf():
                items = self._items(found, at, node.low, node.high)
                return node.make(self.value(node.item, item, f"{at}[{i}]") for i, item in enumerate(items))
            case TupleOf():
                items = self._items(found, at, len(node.items), len(node.items))
                pairs = enumerate(zip(node.items, items, strict=True))
                return tuple(self.value(each, item, f"{at}[{i}]") for i, (each, item) in pairs)
            case MapOf():
                return self._map(node, found, at)
            case Record():
                return self._record(node, found, at)
            case Variants():
                return self._record(self._variant(node, found, at), found, at)
        raise TypeError(f"expected a node of grammar.nodes, found {node!r}")

    def _one_of(self, node: OneOf, found: Any, at: str) -> Any:
        for spelt, member in zip(node.values, node.members, strict=True):
            if type(spelt) is type(found) and spelt == found:
                return member
        raise Invalid(at, "one of " + ", ".join([dump(value) for value in node.values[:20]]), _short(found))

    def _int(self, node: IntRange, found: Any, at: str) -> int:
        if type(found) is not int or not node.low <= found <= node.high:
            raise Invalid(at, f"a whole number from {node.low} to {node.high}", _short(found))
        return found

    def _float(self, node: FloatRange, found: Any, at: str) -> float:
        low, high = node.low / MILLION, node.high / MILLION
        number = type(found) is float or (type(found) is int and not self._exact)
        if not number or not low <= found <= high:
            raise Invalid(at, f"a number from {low} to {high}", _short(found))
        if self._exact and (len(dump(found).partition(".")[2]) > DECIMALS or dump(found) == "-0.0"):
            raise Invalid(at, f"at most {DECIMALS} decimals", _short(found))
        return round(float(found), DECIMALS) + 0.0

    def _text(self, node: Text, found: Any, at: str) -> str:
        if not isinstance(found, str) or not node.low <= len(found) <= node.high or not is_utf8(found):
            raise Invalid(at, f"a string of {node.low} to {node.high} characters", _short(found))
        if node.pattern is not None and not _matches(node.pattern, found):
            raise Invalid(at, f"a string that matches {node.pattern}", _short(found))
        return found

    def _bytes(self, node: Base64, found: Any, at: str) -> bytes:
        expected = f"base64 of {node.low} to {node.high} bytes"
        try:
            content = base64.b64decode(found, validate=True) if isinstance(found, str) else None
        except (binascii.Error, ValueError) as problem:
            raise Invalid(at, expected, _short(found)) from problem
        if content is None or not node.low <= len(content) <= node.high:
            raise Invalid(at, expected, _short(found))
        if base64.b64encode(content).decode() != found:
            raise Invalid(at, "base64 whose unused bits are zero", _short(found))
        return content

    def _mark(self, found: Any, at: str) -> int:
        if type(found) is not int or found not in self._scope.marks:
            shown = ", ".join(map(str, list(self._scope.marks)[:100])) or "none"
            raise Invalid(at, f"a mark that is on screen now ({shown})", _short(found))
        return found

    def _cell(self, found: Any, at: str) -> str:
        if not isinstance(found, str) or found not in self._scope.cells:
            shown = ", ".join(list(self._scope.cells)[:20]) or "none"
            raise Invalid(at, f"a cell that is on screen now ({shown})", _short(found))
        return found

    def _proof(self, found: Any, at: str) -> None:
        if found != self._scope.proof:
            raise Invalid(at, "the proof of this tick's grammar", _short(found))

    def _items(self, found: Any, at: str, low: int, high: int) -> list[Any]:
        if not isinstance(found, list) or not low <= len(found) <= high:
            raise Invalid(at, f"an array of {low} to {high} items", _short(found))
        return found

    def _map(self, node: MapOf, found: Any, at: str) -> dict[str, Any]:
        """Entries in an array; or, where spelling is free, an object."""
        if isinstance(found, dict) and not self._exact:
            pairs = list(found.items())
        else:
            entries = self._items(found, at, node.low, node.high)
            pairs = [self._entry(entry, f"{at}[{i}]") for i, entry in enumerate(entries)]
        if not node.low <= len(pairs) <= node.high:
            raise Invalid(at, f"a map of {node.low} to {node.high} entries", _short(found))
        read_pairs = [
            (self.value(node.key, k, f"{at} (key)"), self.value(node.value, v, f"{at}.{k}")) for k, v in pairs
        ]
        return dict(read_pairs)

    def _entry(self, found: Any, at: str) -> tuple[Any, Any]:
        self._members(found, ["key", "value"], at)
        return found["key"], found["value"]

    def _variant(self, node: Variants, found: Any, at: str) -> Record:
        tag = found.get(node.tag) if isinstance(found, dict) else None
        for record in node.records:
            if isinstance(tag, str) and record.tag == tag:
                return record
        expected = "one of " + ", ".join([str(record.tag) for record in node.records])
        if not isinstance(found, dict):
            raise Invalid(at, f"an object whose {node.tag!r} is {expected}", _short(found))
        raise Invalid(_below(at, node.tag), expected, repr(tag) if node.tag in found else "nothing")

    def _record(self, node: Record, found: Any, at: str) -> Any:
        self._members(found, self._names(node, found), at)
        values: dict[str, Any] = {}
        for each in node.fields:
            if each.name not in found:
                continue  # a proof, which a reply that claims nothing need not show
            value = self.value(each.node, found[each.name], _below(at, each.name))
            if isinstance(each.node, MarkNode) and each.node.label_key is not None:
                self._label(found, each.node.label_key, value, at)
            if each.attribute is not None:
                values[each.attribute] = value
        if node.type is None:
            (value,) = values.values()
            return value
        return built(node.type, values, at)

    def _names(self, node: Record, found: Any) -> list[str]:
        """The members that must be there, in order: a label where the mark that is named has one."""
        names = []
        for each in node.fields:
            if isinstance(each.node, MarkNode) and each.node.label_key is not None and isinstance(found, dict):
                number = found.get(each.name)
                mark = self._scope.marks.get(number) if type(number) is int else None
                free = not self._exact and found.get(each.node.label_key, "") is None
                if free or (mark is None and each.node.label_key in found) or (mark and mark.label is not None):
                    names.append(each.node.label_key)
            if not isinstance(each.node, ProofNode) or self._exact or each.name in found:
                names.append(each.name)
        return names

    def _members(self, found: Any, names: Sequence[str], at: str) -> None:
        """Exactly these members; in this order where there is one spelling."""
        if not isinstance(found, dict):
            raise Invalid(at, f"an object with {', '.join(names) or 'no members'}", _short(found))
        for name in names:
            if name not in found:
                raise Invalid(_below(at, name), "a value", "nothing")
        for name in found:
            if name not in names:
                raise Invalid(_below(at, name), f"only {', '.join(names) or 'no members'}", _short(found[name]))
        if self._exact and list(found) != list(names):
            raise Invalid(at, f"the order {', '.join(names)}", ", ".join(found))

    def _label(self, found: dict[str, Any], key: str, number: int, at: str) -> None:
        label = self._scope.marks[number].label
        if found.get(key) != label:
            raise Invalid(_below(at, key), f"the label of mark {number}, {label!r}", _short(found.get(key)))


def built(declared: type[Any], values: Any, at: str) -> Any:
    """A value of a class, checked by pydantic. Nested values are built already.

    Raises:
        Invalid: pydantic finds something that the tree lets pass.
    """
    hashable: Any = declared
    strict = issubclass(declared, BaseModel)  # asked strictly, a dataclass takes instances alone
    try:
        return adapter(hashable).validate_python(values, strict=strict)
    except ValidationError as problem:
        raise _refused(problem, at) from problem


def checked(declared: Any, value: Any) -> Any:
    """A value as pydantic's own strict look at the declared type leaves it.

    Raises:
        Invalid: pydantic finds something that the tree lets pass.
    """
    try:
        return adapter(declared).validate_python(value, strict=True)
    except ValidationError as problem:
        raise _refused(problem, "reply") from problem


def _refused(problem: ValidationError, at: str) -> Invalid:
    first = problem.errors(include_url=False)[0]
    return Invalid(".".join([at, *map(str, first["loc"])]), first["msg"], _short(first["input"]))


@lru_cache(maxsize=1024)
def _pattern_adapter(pattern: str) -> TypeAdapter[str]:
    return TypeAdapter(Annotated[str, Field(pattern=pattern)])


def _matches(pattern: str, text: str) -> bool:
    try:
        _pattern_adapter(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def _below(at: str, name: str) -> str:
    return name if at == "reply" else f"{at}.{name}"


def _short(found: Any) -> str:
    try:
        text = repr(found)
    except RecursionError:
        return "a value that is nested too deep"
    return text if len(text) <= 120 else text[:117] + "..."
