"""How a value is written: the one spelling that the grammars admit.

``{"tool":"reveal","target":"safe","mark":12}``: compact, members in declared order; a mark's label stands in front of
its number, so that a model first says what it means and the number follows from it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from typing import Any, assert_never

from grammar.expression import DECIMALS
from grammar.nodes import (
    NOTHING,
    Base64,
    CellNode,
    Field,
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
from perception.observation import Mark

_NEEDS_ESCAPE = re.compile("[\x7f-\x9f\ud800-\udfff\u2028\u2029]")

Wire = Any
"""A JSON value: dict, list, str, int, float, bool or None."""


def spell(node: Node, value: Any, scope: Scope = NOTHING) -> str:
    """A value in its one spelling.

    Raises:
        ValueError: it is no value of this tree, or names what is not in scope.
    """
    return dump(wire(node, value, scope))


def dump(value: Wire) -> str:
    """A JSON value in its one spelling."""
    match value:
        case dict():
            return "{" + ",".join([f"{dump(name)}:{dump(member)}" for name, member in value.items()]) + "}"
        case list():
            return "[" + ",".join([dump(item) for item in value]) + "]"
        case float():
            return _dump_float(value)
    text = json.dumps(value, ensure_ascii=False)
    return _NEEDS_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if isinstance(value, str) else text


def _dump_float(value: float) -> str:
    """Never with an exponent; at least one decimal."""
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else text + ".0"


def wire(node: Node, value: Any, scope: Scope) -> Wire:
    """A value as JSON has it.

    Raises:
        ValueError: it is no value of this tree, or names what is not in scope.
    """
    match node:
        case OneOf():
            return _one_of(node, value)
        case IntRange():
            return _number(value, int, node.low, node.high)
        case FloatRange():
            return _float(node, value)
        case Text():
            return _sized(value, str, node)
        case Base64():
            return base64.b64encode(_sized(value, bytes, node)).decode()
        case ListOf():
            return [wire(node.item, item, scope) for item in _sized(value, node.make, node)]
        case MapOf():
            entries = _sized(value, dict, node).items()
            return [{"key": wire(node.key, k, scope), "value": wire(node.value, v, scope)} for k, v in entries]
        case TupleOf():
            if not isinstance(value, tuple) or len(value) != len(node.items):
                raise _not_of(node, value)
            return [wire(item, each, scope) for item, each in zip(node.items, value, strict=True)]
        case Maybe():
            return None if value is None else wire(node.item, value, scope)
        case Root():
            return wire(node.item, _of_type(value, node.type).root, scope)
        case Record():
            return _record(node, value, scope)
        case Variants():
            return _record(_variant(node, value), value, scope)
        case MarkNode():
            return _target(value, scope).number
        case CellNode():
            return _cell(value, scope)
        case ProofNode():
            return scope.proof
    assert_never(node)


def by_number(marks: Iterable[Mark]) -> dict[int, Mark]:
    """Marks by their number.

    Raises:
        ValueError: two marks share a number.
    """
    listed = list(marks)
    table = {mark.number: mark for mark in listed}
    if len(table) < len(listed):
        numbers = [mark.number for mark in listed]
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise ValueError(f"expected each mark's number once, found {twice} twice")
    return table


def _record(node: Record, value: Any, scope: Scope) -> dict[str, Wire]:
    if node.type is not None:
        _of_type(value, node.type)
    members: dict[str, Wire] = {}
    for each in node.fields:
        if each.attribute is None:
            members[each.name] = scope.proof if isinstance(each.node, ProofNode) else _constant(each)
            continue
        inner = value if node.type is None else getattr(value, each.attribute)
        if isinstance(each.node, MarkNode) and each.node.label_key is not None:
            label = _target(inner, scope).label
            if label is not None:
                members[each.node.label_key] = label
        members[each.name] = wire(each.node, inner, scope)
    return members


def _constant(each: Field) -> Wire:
    """The one value of a member that stands on the wire only."""
    assert isinstance(each.node, OneOf)  # noqa: S101 - tags and proofs are all that is added
    return each.node.values[0]


def _variant(node: Variants, value: Any) -> Record:
    """The variant of a value: by its class, and by its tag where one class has several."""
    for record in node.records:
        if record.type is type(value):
            first = record.fields[0]
            if first.attribute is None or (first.attribute and getattr(value, first.attribute) in _members(first)):
                return record
    usable = [record.type.__name__ for record in node.records if record.type is not None]
    raise ValueError(f"expected a value of one of {usable}, found {value!r}")


def _members(each: Field) -> tuple[Any, ...]:
    return each.node.members if isinstance(each.node, OneOf) else ()


def _one_of(node: OneOf, value: Any) -> Wire:
    pairs = list(zip(node.members, node.values, strict=True))
    for member, spelt in pairs:
        if member is value:
            return spelt
    for member, spelt in pairs:
        if type(member) is type(value) and member == value:
            return spelt
    raise _not_of(node, value)


def _number(value: Any, kind: type[Any], low: float, high: float) -> Any:
    if type(value) is not kind or not low <= value <= high:
        raise ValueError(f"expected {kind.__name__} between {low} and {high}, found {value!r}")
    return value


def _float(node: FloatRange, value: Any) -> float:
    if type(value) is not float or not isfinite(value):
        raise _not_of(node, value)
    scaled = Decimal(repr(value)).scaleb(DECIMALS)
    if scaled != scaled.to_integral_value() or not node.low <= scaled <= node.high:
        raise ValueError(f"expected a number of {DECIMALS} decimals within its bounds, found {value!r}")
    return value + 0.0  # no minus in front of zero


def _sized(value: Any, kind: type[Any], node: Text | Base64 | ListOf | MapOf) -> Any:
    if type(value) is not kind or not node.low <= len(value) <= node.high:
        raise ValueError(f"expected {kind.__name__} of length {node.low} to {node.high}, found {value!r}")
    return value


def _of_type(value: Any, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {value!r}")
    return value


def _target(number: Any, scope: Scope) -> Mark:
    if type(number) is not int or number not in scope.marks:
        raise ValueError(f"expected a mark that is on screen ({list(scope.marks)[:20]}), found {number!r}")
    return scope.marks[number]


def _cell(name: Any, scope: Scope) -> str:
    if name not in scope.cells:
        raise ValueError(f"expected a cell that is on screen, found {name!r}")
    return str(name)


def _not_of(node: Node, value: Any) -> ValueError:
    return ValueError(f"expected a value of {type(node).__name__}, found {value!r}")
