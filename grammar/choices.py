"""A finite language written out: how many sentences there are, and which."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

from grammar.expression import MILLION
from grammar.nodes import (
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
from grammar.spelling import Wire

MANY = 10**9
"""More sentences than anybody would write out."""


def size(node: Node, scope: Scope) -> int:
    """How many sentences a language has; at least ``MANY`` means that many or more."""
    return _once(node, scope, {})


def _once(node: Node, scope: Scope, done: dict[int, int]) -> int:
    """The same; a part that occurs many times is counted once."""
    if id(node) not in done:
        done[id(node)] = min(_size(node, scope, done), MANY)
    return done[id(node)]


def _size(node: Node, scope: Scope, done: dict[int, int]) -> int:
    match node:
        case OneOf():
            return len(node.values)
        case IntRange() | FloatRange():
            return node.high - node.low + 1
        case Text() | Base64():
            return 1 if node.high == 0 else MANY
        case MarkNode():
            return len(scope.marks)
        case CellNode():
            return len(scope.cells)
        case ProofNode():
            return 1
        case Maybe():
            return 1 + _once(node.item, scope, done)
        case Root():
            return _once(node.item, scope, done)
        case ListOf():
            return _lists(_once(node.item, scope, done) if node.high else 0, node.low, node.high)
        case MapOf():
            entries = _once(node.key, scope, done) * _once(node.value, scope, done) if node.high else 0
            return _lists(entries, node.low, node.high)
        case TupleOf():
            return prod(_once(item, scope, done) for item in node.items)
        case Record():
            return prod(_once(each.node, scope, done) for each in node.fields)
        case Variants():
            return sum(_once(record, scope, done) for record in node.records)
    raise TypeError(f"expected a node of grammar.nodes, found {node!r}")


def _lists(items: int, low: int, high: int) -> int:
    total = 0
    for length in range(low, high + 1):
        total += items**length
        if total >= MANY or items == 0:
            break
    return total


def sentences(node: Node, scope: Scope) -> Iterator[Wire]:
    """Every sentence as a JSON value: variants in declared order, marks in the order of the observation.

    Only for languages that ``size`` says are small.
    """
    match node:
        case OneOf():
            yield from node.values
        case IntRange():
            yield from range(node.low, node.high + 1)
        case FloatRange():
            yield from (number / MILLION for number in range(node.low, node.high + 1))
        case Text() | Base64():
            yield ""
        case MarkNode():
            yield from scope.marks
        case CellNode():
            yield from scope.cells
        case ProofNode():
            yield scope.proof
        case Maybe():
            yield None
            yield from sentences(node.item, scope)
        case Root():
            yield from sentences(node.item, scope)
        case _:
            yield from _composite(node, scope)


def _composite(node: Node, scope: Scope) -> Iterator[Wire]:
    match node:
        case ListOf():
            for length in range(node.low, node.high + 1):
                yield from map(list, itertools.product(*(_all(node.item, scope) for _ in range(length))))
        case MapOf():
            for length in range(node.low, node.high + 1):
                pairs = [(key, value) for key in _all(node.key, scope) for value in _all(node.value, scope)]
                for chosen in itertools.product(pairs, repeat=length):
                    yield [{"key": key, "value": value} for key, value in chosen]
        case TupleOf():
            yield from map(list, itertools.product(*(_all(item, scope) for item in node.items)))
        case Record():
            for members in itertools.product(*(list(_member(each, scope)) for each in node.fields)):
                yield {name: value for member in members for name, value in member}
        case Variants():
            for record in node.records:
                yield from sentences(record, scope)
        case _:
            raise TypeError(f"expected a node of grammar.nodes, found {node!r}")


def _all(node: Node, scope: Scope) -> list[Wire]:
    return list(sentences(node, scope))


def _member(each: Field, scope: Scope) -> Iterator[tuple[tuple[str, Wire], ...]]:
    """The members that one field is spelt with: a mark's label stands in front of its number."""
    if not isinstance(each.node, MarkNode) or each.node.label_key is None:
        for value in sentences(each.node, scope):
            yield ((each.name, value),)
        return
    for number, mark in scope.marks.items():
        label = () if mark.label is None else ((each.node.label_key, mark.label),)
        yield (*label, (each.name, number))
