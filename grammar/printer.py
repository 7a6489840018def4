"""Print a tree as the rules of a context-free grammar; ``lark`` and ``gbnf`` give the notation.

What does not change from tick to tick is printed once, into a skeleton; what can be named at a tick is filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal as Either
from typing import Protocol

from grammar.errors import EmptyDomain
from grammar.expression import Expression, Literal
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
    children,
)
from grammar.scalars import scalar
from grammar.spelling import dump
from grammar.targets import Labelled, cell_names, labelled, mark_members, mark_numbers

MAX_FLAT_CHARACTERS = 4000  # llguidance gives up on one lexeme of very many


class Notation(Protocol):
    """How a dialect writes what all of them have."""

    root: str
    flat: str
    terminal: str
    marks: str
    cells: str
    proof: str

    def rule(self, name: str, body: str) -> str:
        """One rule, on a line of its own."""
        ...

    def literal(self, text: str) -> str | None:
        """A literal inside a rule. None: this text needs a terminal."""
        ...

    def expression(self, name: str, expression: Expression) -> str:
        """The rule of a terminal."""
        ...


@dataclass(frozen=True, slots=True)
class Slot:
    """What is filled in at each tick.

    Attributes:
        name: of the terminal.
        field: the member that names a mark. Empty: the number stands alone.
        label_key: the member that spells its label.
        kind: what is named.
    """

    name: str
    field: str = ""
    label_key: str = ""
    kind: Either["mark", "cell", "proof"] = "mark"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The part of a grammar that depends on the declared type alone."""

    text: str
    slots: tuple[Slot, ...]


def print_skeleton(node: Node, notation: Notation) -> Skeleton:
    """The rules of a tree."""
    return _Printer(notation).whole(node)


def fill(skeleton: Skeleton, scope: Scope, notation: Notation) -> str:
    """A whole grammar: a skeleton and what can be named now.

    Raises:
        EmptyDomain: there is nothing to name, and the skeleton needs something.
    """
    lines = [skeleton.text]
    groups = labelled(scope.marks) if scope.marks and any(slot.label_key for slot in skeleton.slots) else {}
    for slot in skeleton.slots:
        if slot.kind != "proof":
            lines.append(notation.expression(slot.name, _named(slot, scope, groups)))
    return "".join(lines)


def prove(text: str, skeleton: Skeleton, scope: Scope, notation: Notation) -> str:
    """A filled grammar with its proof, where the skeleton asks for one."""
    slots = [slot for slot in skeleton.slots if slot.kind == "proof"]
    return text + "".join(notation.expression(slot.name, Literal(dump(scope.proof))) for slot in slots)


def _named(slot: Slot, scope: Scope, groups: Labelled) -> Expression:
    """What a slot can name now."""
    if not (scope.cells if slot.kind == "cell" else scope.marks):
        raise EmptyDomain(slot.kind)
    if slot.kind == "cell":
        return cell_names(scope.cells)
    if slot.label_key:
        return mark_members(groups, slot.label_key, slot.field)
    return mark_numbers(scope.marks)


def _is_flat(node: Record) -> bool:
    """True when a record holds scalars and targets alone, none of them long: a lexer can take it whole."""
    long = sum(each.node.high for each in node.fields if isinstance(each.node, Text | Base64))
    return long <= MAX_FLAT_CHARACTERS and not any(children(each.node) for each in node.fields)


class _Printer:
    def __init__(self, notation: Notation) -> None:
        self._notation = notation
        self._rules: list[str] = []
        self._terminals: dict[Expression, str] = {}
        self._records: dict[Record, str] = {}
        self._slots: dict[Slot, Slot] = {}

    def whole(self, node: Node) -> Skeleton:
        """All rules, the start first."""
        at = len(self._rules)
        body = self._symbols(node)
        rules = [self._notation.rule(self._notation.root, body), *self._rules[at:]]
        terminals = [self._notation.expression(name, expression) for expression, name in self._terminals.items()]
        return Skeleton("".join([*rules, *terminals]), tuple(self._slots.values()))

    def _symbols(self, node: Node) -> str:
        """What stands for a node in a rule's body."""
        match node:
            case OneOf() | IntRange() | FloatRange() | Text() | Base64():
                return self._terminal(scalar(node))
            case MarkNode():
                return self._slot(Slot(self._notation.marks))
            case CellNode():
                return self._slot(Slot(self._notation.cells, kind="cell"))
            case ProofNode():
                return self._slot(Slot(self._notation.proof, kind="proof"))
            case ListOf():
                return self._array(self._named(self._symbols(node.item)) if node.high else "", node.low, node.high)
            case MapOf():
                return self._array(self._named(self._entry(node)) if node.high else "", node.low, node.high)
            case TupleOf():
                items = [self._symbols(item) for item in node.items]
                return self._row([self._literal("["), *self._separated(items), self._literal("]")])
            case Maybe():
                return f"({self._literal('null')} | {self._symbols(node.item)})"
            case Root():
                return self._symbols(node.item)
            case Record():
                return self._record(node)
            case Variants():
                return "(" + " | ".join(self._record(record) for record in node.records) + ")"
        raise TypeError(f"expected a node of grammar.nodes, found {node!r}")

    def _record(self, node: Record) -> str:
        """The rule of a record, printed once."""
        if node not in self._records:
            kind = self._notation.flat if _is_flat(node) else "r"
            self._records[node] = name = f"{kind}{len(self._records)}"
            at = len(self._rules)
            self._rules.append("")
            self._rules[at] = self._notation.rule(name, self._object(node.fields))
        return self._records[node]

    def _named(self, body: str) -> str:
        """A rule for what is repeated: a host may count the symbols of a repetition, and refuse many."""
        if " " not in body:
            return body
        name = f"i{len(self._rules)}"
        self._rules.append(self._notation.rule(name, body))
        return name

    def _object(self, fields: Sequence[Field]) -> str:
        symbols: list[str] = []
        literal = "{"
        for i, each in enumerate(fields):
            literal += "," if i else ""
            if isinstance(each.node, MarkNode) and each.node.label_key is not None:
                symbols += [
                    self._literal(literal),
                    self._slot(Slot(self._notation.marks, each.name, each.node.label_key)),
                ]
                literal = ""
                continue
            literal += f"{dump(each.name)}:"
            if isinstance(each.node, OneOf) and len(each.node.values) == 1:
                literal += dump(each.node.values[0])
                continue
            symbols += [self._literal(literal), self._symbols(each.node)]
            literal = ""
        return self._row([*symbols, self._literal(literal + "}")])

    def _entry(self, node: MapOf) -> str:
        key, value = self._symbols(node.key), self._symbols(node.value)
        opening, middle, closing = (self._literal(text) for text in ('{"key":', ',"value":', "}"))
        return self._row([opening, key, middle, value, closing])

    def _array(self, item: str, low: int, high: int) -> str:
        opening, comma, closing = (self._literal(text) for text in "[,]")
        if high == 0:
            return self._literal("[]")
        further = "" if high == 1 else f" ({comma} {item}){{{max(low - 1, 0)},{high - 1}}}"
        some = item + further
        return self._row([opening, some if low else f"({some})?", closing])

    def _separated(self, items: Sequence[str]) -> list[str]:
        comma = self._literal(",")
        return [symbol for item in items for symbol in (comma, item)][1:]

    def _row(self, symbols: Sequence[str]) -> str:
        return " ".join(symbol for symbol in symbols if symbol)

    def _literal(self, text: str) -> str:
        return self._notation.literal(text) or self._terminal(Literal(text))

    def _terminal(self, expression: Expression) -> str:
        return self._terminals.setdefault(expression, f"{self._notation.terminal}{len(self._terminals)}")

    def _slot(self, slot: Slot) -> str:
        """The terminal of a slot, the same for the same things to name."""
        if slot not in self._slots:
            number = "" if slot.kind == "proof" else len(self._slots)
            self._slots[slot] = replace(slot, name=f"{slot.name}{number}")
        return self._slots[slot].name
