"""Values of a tree, their texts, and texts that are a little wrong."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from grammar.expression import MILLION, Chain, Chars, Choice, Expression, Literal, Numbers, Repeat
from grammar.nodes import (
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
    Record,
    Root,
    Scope,
    Text,
    TupleOf,
    Variants,
)
from grammar.spelling import Wire, dump
from grammar.validator import built

CHARACTERS = 'ab z09"\\/{}[],:\n\t\x00\x1f\x7f\x85\u2028\u00e9\u05d0\u202e\ud7ff\ue000\ufffd\U0001f600\U0010ffff'


class Values:
    """Draws values of a tree, the edges often.

    Args:
        scope: what can be named.
        rng: where chance comes from.
    """

    def __init__(self, scope: Scope, rng: random.Random) -> None:
        self._scope = scope
        self._rng = rng

    def draw(self, node: Node) -> Any:
        """A value, as Python has it."""
        match node:
            case OneOf():
                return self._rng.choice(node.members)
            case IntRange():
                return self._number(node.low, node.high)
            case FloatRange():
                return self._number(node.low, node.high) / MILLION
            case Text():
                return self._text(node)
            case Base64():
                return self._rng.randbytes(self._length(node.low, node.high))
            case Maybe():
                return None if self._rng.random() < 0.4 else self.draw(node.item)
            case Root():
                return built(node.type, self.draw(node.item), "root")
            case MarkNode():
                return self._rng.choice(list(self._scope.marks))
            case CellNode():
                return self._rng.choice(list(self._scope.cells))
        return self._composite(node)

    def _composite(self, node: Node) -> Any:
        match node:
            case ListOf():
                return node.make(self.draw(node.item) for _ in range(self._length(node.low, node.high)))
            case TupleOf():
                return tuple(self.draw(item) for item in node.items)
            case MapOf():
                return self._map(node)
            case Variants():
                return self.draw(self._rng.choice(node.records))
            case Record():
                values = {each.attribute: self.draw(each.node) for each in node.fields if each.attribute}
                return built(node.type or dict, values, node.name)
        raise TypeError(f"expected a node of grammar.nodes, found {node!r}")

    def _map(self, node: MapOf) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for _ in range(20):
            if len(entries) >= self._length(node.low, node.high):
                break
            entries[self.draw(node.key)] = self.draw(node.value)
        return entries

    def _number(self, low: int, high: int) -> int:
        edges = [low, high, min(max(0, low), high), self._rng.randint(low, high), self._rng.randint(low, high)]
        return self._rng.choice(edges)

    def _length(self, low: int, high: int) -> int:
        longer = [min(high, low + 2), max(low, min(high, 6)), self._rng.randint(low, min(high, low + 8))]
        return self._rng.choice([low, *longer])

    def _text(self, node: Text) -> str:
        if node.expression is not None:
            return str(json.loads('"' + self._said(node.expression) + '"'))
        return "".join(self._rng.choice(CHARACTERS) for _ in range(max(self._length(node.low, node.high), node.low)))

    def _said(self, expression: Expression) -> str:
        """A text of a regular language."""
        match expression:
            case Literal():
                return expression.text
            case Numbers():
                return str(self._number(*self._rng.choice(expression.runs)))
            case Chars():
                low, high = self._rng.choice(expression.ranges)
                return chr(self._rng.choice([low, high, self._rng.randint(low, high)]))
            case Chain():
                return "".join(self._said(item) for item in expression.items)
            case Choice():
                return self._said(self._rng.choice(expression.items))
            case Repeat():
                times = self._length(expression.low, expression.high)
                return "".join(self._said(expression.item) for _ in range(times))


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*|[{}\[\],:]|true|false|null', re.DOTALL)
_ODD: tuple[Wire, ...] = (None, True, False, 0, 1, -1, 10**30, 0.5, "", "1", "null", "a", [], {}, [None])


def mutants(text: str, rng: random.Random) -> Iterator[str]:
    """Texts near a good one: values changed, members moved, other spellings, cut, disturbed."""
    for change in (_odd_value, _nudged, _moved, _without_member, _with_member, _twice, _longer, _as_object):
        parsed = json.loads(text)
        yield dump(_somewhere(parsed, change, rng))
    for spelling in (_spaced, _number_otherwise, _escaped, _twice_in_text, _raw_control, _surrogate):
        yield spelling(text, rng)
    for _ in range(3):
        yield _disturbed(text, rng)
    yield text[: rng.randrange(len(text))]
    yield text + rng.choice(["}", " ", ",", text, "\n"])


def _somewhere(value: Wire, change: Callable[[Wire, random.Random], Wire], rng: random.Random) -> Wire:
    """A JSON value with a change at a random place."""
    if isinstance(value, dict) and value and rng.random() < 0.7:
        name = rng.choice(list(value))
        return {**value, name: _somewhere(value[name], change, rng)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        return [*value[:at], _somewhere(value[at], change, rng), *value[at + 1 :]]
    return change(value, rng)


def _odd_value(value: Wire, rng: random.Random) -> Wire:
    return rng.choice(_ODD)


def _nudged(value: Wire, rng: random.Random) -> Wire:
    """A little more or less."""
    step = rng.choice([1, -1, 10, -10, 0.0000001, 0.5, -0.000001])
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, int | float):
        return value + (int(step) or 1 if isinstance(value, int) else step)
    return value + rng.choice(CHARACTERS) if isinstance(value, str) else value


def _moved(value: Wire, rng: random.Random) -> Wire:
    if isinstance(value, dict):
        return dict(rng.sample(list(value.items()), len(value)))
    return rng.sample(value, len(value)) if isinstance(value, list) else value


def _without_member(value: Wire, rng: random.Random) -> Wire:
    if isinstance(value, dict) and value:
        gone = rng.choice(list(value))
        return {name: member for name, member in value.items() if name != gone}
    return value[1:] if isinstance(value, list | str) else value


def _with_member(value: Wire, rng: random.Random) -> Wire:
    if isinstance(value, dict):
        return {**value, rng.choice(["extra", "proof", "item ", ""]): rng.choice(_ODD)}
    return [*value, rng.choice(_ODD)] if isinstance(value, list) else value


def _twice(value: Wire, rng: random.Random) -> Wire:
    return [*value, *value] if isinstance(value, list) else value


def _longer(value: Wire, rng: random.Random) -> Wire:
    return value * 60 if isinstance(value, list | str) else value


def _as_object(value: Wire, rng: random.Random) -> Wire:
    """A map's entries as the object that one might expect."""
    items = value if isinstance(value, list) else []
    if not items or not all(isinstance(item, dict) and set(item) == {"key", "value"} for item in items):
        return value
    return {str(item["key"]): item["value"] for item in items}


def _token(text: str, rng: random.Random, fits: Callable[[str], bool]) -> tuple[int, int] | None:
    places = [match.span() for match in _TOKEN.finditer(text) if fits(match[0])]
    return rng.choice(places) if places else None


def _spaced(text: str, rng: random.Random) -> str:
    place = _token(text, rng, lambda token: True)
    return text if place is None else text[: place[0]] + rng.choice([" ", "\n", "\t "]) + text[place[0] :]


def _number_otherwise(text: str, rng: random.Random) -> str:
    place = _token(text, rng, lambda token: token[0] in "-0123456789")
    if place is None:
        return text
    number = text[slice(*place)]
    other = rng.choice(
        [number + ".0", number + "e0", "0" + number, "+" + number, "-" + number, number + "0", number + "."]
    )
    return text[: place[0]] + other + text[place[1] :]


def _escaped(text: str, rng: random.Random) -> str:
    place = _token(text, rng, lambda token: token[0] == '"' and len(token) > 2 and token[1] != "\\")
    if place is None:
        return text
    return text[: place[0] + 1] + f"\\u{ord(text[place[0] + 1]) & 0xFFFF:04x}" + text[place[0] + 2 :]


def _twice_in_text(text: str, rng: random.Random) -> str:
    """An object's first member, once more."""
    found = re.search(r'\{("(?:\\.|[^"\\])*":(?:"(?:\\.|[^"\\])*"|[^,{}\[\]"]+))', text)
    return text if found is None else text[: found.end()] + "," + found[1] + text[found.end() :]


def _raw_control(text: str, rng: random.Random) -> str:
    place = _token(text, rng, lambda token: token[0] == '"')
    return text if place is None else text[: place[0] + 1] + rng.choice("\x00\n\x1f\x7f\u2028") + text[place[0] + 1 :]


def _surrogate(text: str, rng: random.Random) -> str:
    place = _token(text, rng, lambda token: token[0] == '"')
    return text if place is None else text[: place[0] + 1] + r"\ud800" + text[place[0] + 1 :]


def _disturbed(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    put = rng.choice(["", rng.choice(CHARACTERS), rng.choice('0129"{}[],:.-')])
    return text[:at] + put + text[at + rng.choice([0, 1]) :]
