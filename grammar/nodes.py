"""The small tree that a declared type becomes. Schema, grammars and validator are printed from it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grammar.expression import Expression
from perception.observation import GridCell, Mark

Scalar = str | int | bool | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of finitely many JSON scalars, in declared order.

    Attributes:
        values: as they stand on the wire.
        members: what each is in Python: itself, or a member of an enumeration.
    """

    values: tuple[Scalar, ...]
    members: tuple[Any, ...]

    @classmethod
    def of(cls, *values: Scalar) -> OneOf:
        """Values that are in Python what they are on the wire."""
        return cls(values, values)


@dataclass(frozen=True, slots=True)
class IntRange:
    """A whole number, both ends included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class FloatRange:
    """A number with at most six decimals; bounds in millionths, both ends included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Text:
    """A string.

    Attributes:
        low: fewest characters.
        high: most characters.
        pattern: what it must match, anchored at both ends; every engine reads it alike. None: any characters.
        expression: the pattern, on the wire, between the quotes. None: any characters.
    """

    low: int
    high: int
    pattern: str | None = None
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class Base64:
    """Bytes, spelt as standard base64 with padding; bounds in bytes."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class ListOf:
    """Between ``low`` and ``high`` items of one kind. ``make``: ``list`` or ``tuple``."""

    item: Node
    low: int
    high: int
    make: type[Any] = list


@dataclass(frozen=True, slots=True, eq=False)
class TupleOf:
    """Exactly these items, in this order."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """An item or null. The item itself is never null."""

    item: Node


@dataclass(frozen=True, slots=True, eq=False)
class MapOf:
    """A ``dict`` with string keys: ``{"key":...,"value":...}`` entries in an array, ``low`` to ``high`` of them.

    A grammar cannot hold a model to keys that differ, and an object with a key twice is ambiguous; an array of
    entries is neither. Of two entries with one key the later one counts.
    """

    key: Text | OneOf
    value: Node
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A member of a record's object.

    Attributes:
        name: on the wire.
        node: its value.
        attribute: its name in Python. None: it stands on the wire only.
        doc: what it means, for the schema.
    """

    name: str
    node: Node
    attribute: str | None
    doc: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A class with fields, in declared order.

    Attributes:
        name: what it is called in messages and schemas; a tool's name on the wire.
        fields: the members.
        type: the class. None: an object of ours round another value.
        doc: its docstring.
    """

    name: str
    fields: tuple[Field, ...]
    type: type[Any] | None
    doc: str = ""

    @property
    def tag(self) -> Scalar:
        """The value that tells it apart from the other variants: its first field's only one."""
        first = self.fields[0].node
        assert isinstance(first, OneOf)  # noqa: S101 - admission saw to it
        return first.values[0]


@dataclass(frozen=True, slots=True, eq=False)
class Variants:
    """One of several records, told apart by their first field."""

    tag: str
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A pydantic RootModel round an item; on the wire it is the item."""

    item: Node
    type: type[Any]


@dataclass(frozen=True, slots=True)
class MarkNode:
    """The number of a mark of this tick.

    Attributes:
        label_key: the member that spells the mark's label, in front of its number. None: number only.
    """

    label_key: str | None = None


@dataclass(frozen=True, slots=True)
class CellNode:
    """The name of a grid cell of this tick, such as ``"B4"``."""


@dataclass(frozen=True, slots=True)
class ProofNode:
    """A short text that is derived from the grammar it stands in, and shows that a reply was decoded under it."""


Node = (
    OneOf
    | IntRange
    | FloatRange
    | Text
    | Base64
    | ListOf
    | TupleOf
    | Maybe
    | MapOf
    | Record
    | Variants
    | Root
    | MarkNode
    | CellNode
    | ProofNode
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What can be named now.

    Attributes:
        marks: by number.
        cells: by name.
        proof: what a reply shows that was decoded under this tick's grammar. Empty: nothing is to be shown.
    """

    marks: Mapping[int, Mark] = field(default_factory=dict)
    cells: Mapping[str, GridCell] = field(default_factory=dict)
    proof: str = ""


NOTHING = Scope()


def admits_null(node: Node) -> bool:
    """True when ``null`` can stand for a value of this type: the one answer for every consumer.

    NewTypes, aliases and Annotated are gone from the tree; RootModels are looked through.
    """
    match node:
        case Maybe():
            return True
        case OneOf():
            return any(value is None for value in node.values)
        case Root():
            return admits_null(node.item)
    return False


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below one."""
    match node:
        case ListOf() | Maybe() | Root():
            return (node.item,)
        case TupleOf():
            return node.items
        case MapOf():
            return (node.key, node.value)
        case Record():
            return tuple(each.node for each in node.fields)
        case Variants():
            return node.records
    return ()


def inhabited(node: Node, scope: Scope) -> Node | None:
    """The part of a tree that has sentences when there may be nothing to name. None: it has none."""
    return _inhabited(node, scope, {})


def _inhabited(node: Node, scope: Scope, done: dict[int, Node | None]) -> Node | None:
    """The same; a part that occurs many times is looked at once."""
    if id(node) not in done:
        done[id(node)] = _part(node, scope, done)
    return done[id(node)]


def _part(node: Node, scope: Scope, done: dict[int, Node | None]) -> Node | None:
    match node:
        case MarkNode():
            return node if scope.marks else None
        case CellNode():
            return node if scope.cells else None
        case ListOf():
            item = _inhabited(node.item, scope, done)
            if item is None:
                return None if node.low else ListOf(node.item, 0, 0, node.make)
            return node if item is node.item else ListOf(item, node.low, node.high, node.make)
        case MapOf():
            value = _inhabited(node.value, scope, done)
            if value is None:
                return None if node.low else MapOf(node.key, node.value, 0, 0)
            return node if value is node.value else MapOf(node.key, value, node.low, node.high)
        case Maybe():
            item = _inhabited(node.item, scope, done)
            if item is None:
                return OneOf.of(None)
            return node if item is node.item else Maybe(item)
        case Root():
            item = _inhabited(node.item, scope, done)
            if item is None or item is node.item:
                return item and node
            return Root(item, node.type)
    return _inhabited_members(node, scope, done)


def _inhabited_members(node: Node, scope: Scope, done: dict[int, Node | None]) -> Node | None:
    match node:
        case TupleOf():
            items = [_inhabited(item, scope, done) for item in node.items]
            whole = tuple(item for item in items if item is not None)
            return TupleOf(whole) if len(whole) == len(items) else None
        case Record():
            nodes = [_inhabited(each.node, scope, done) for each in node.fields]
            if all(new is old.node for new, old in zip(nodes, node.fields, strict=True)):
                return node
            if any(new is None for new in nodes):
                return None
            fields = tuple(
                Field(old.name, new, old.attribute, old.doc)
                for old, new in zip(node.fields, nodes, strict=True)
                if new is not None
            )
            return Record(node.name, fields, node.type, node.doc)
        case Variants():
            records = tuple(r for r in (_inhabited(r, scope, done) for r in node.records) if isinstance(r, Record))
            return Variants(node.tag, records) if records else None
    return node
