"""GBNF, as llama.cpp reads it: character by character, no lexer. Common beginnings of alternatives are told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from grammar.expression import LAST, SURROGATES, Chain, Chars, Choice, Expression, Literal, Numbers, Repeat, without
from grammar.numbers import pieces

Atom = str | Expression
"""One character, or an expression that is not looked into."""

_IN_CLASS = {"\\": "\\\\", "]": "\\]", "[": "\\[", "^": "\\x5E", "-": "\\x2D"}


class Gbnf:
    """The notation of ``printer``."""

    root = "root"
    flat = "r"
    terminal = "t"
    marks = "marks"
    cells = "cells"
    proof = "proof"

    def rule(self, name: str, body: str) -> str:
        """``name ::= body``."""
        return f"{name} ::= {body}\n"

    def literal(self, text: str) -> str:
        """A string."""
        return quote(text)

    def expression(self, name: str, expression: Expression) -> str:
        """``name ::= ...``, in characters; what is repeated has a rule of its own, since llama.cpp counts."""
        rules: list[str] = []

        def named(item: str) -> str:
            rules.append(self.rule(f"{name}-{len(rules)}", item))
            return f"{name}-{len(rules) - 1}"

        whole = self.rule(name, body(expression, named))
        return "".join([whole, *rules])


def body(expression: Expression, named: Callable[[str], str]) -> str:
    """An expression in a rule's body; alternatives stand in parentheses.

    Args:
        expression: what to print.
        named: makes a rule of a body, and gives its name.
    """
    match expression:
        case Literal():
            return quote(expression.text)
        case Numbers() | Choice():
            return _Trie(_alternatives(expression)).text(named)
        case Chars():
            return _class(expression)
        case Chain():
            return " ".join(body(item, named) for item in expression.items)
        case Repeat():
            return _repeat(expression, named)
    raise TypeError(f"expected an expression of grammar.expression, found {expression!r}")


def quote(text: str) -> str:
    """A string literal. Canonical JSON holds nothing that cannot be seen, so backslash and quote are all there is."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _repeat(expression: Repeat, named: Callable[[str], str]) -> str:
    inner = body(expression.item, named)
    low, high = expression.low, expression.high
    if (low, high) == (0, 1):  # a repetition of a repetition has a name: one reader loses the parentheses
        return f"{named(inner)}?" if inner.endswith(("?", "}")) else f"({inner})?"
    atom = inner if isinstance(expression.item, Chars) else named(inner)
    return f"{atom}{{{low}}}" if low == high else f"{atom}{{{low},{high}}}"


def _class(chars: Chars) -> str:
    """``[a-z]``; what goes on to the last code point is said by what it leaves out."""
    if chars.ranges[-1][1] == LAST:
        return "[^" + "".join(_range(*each) for each in without([(0, LAST)], *chars.ranges, SURROGATES)) + "]"
    return "[" + "".join(_range(*each) for each in chars.ranges) + "]"


def _range(low: int, high: int) -> str:
    return _point(low) if low == high else f"{_point(low)}-{_point(high)}"


def _point(code: int) -> str:
    char = chr(code)
    if 0x20 <= code < 0x7F:
        return _IN_CLASS.get(char, char)
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _alternatives(expression: Expression) -> Iterable[Sequence[Atom]]:
    """The alternatives of an expression, each as the characters that it begins with and what is not looked into."""
    match expression:
        case Literal():
            yield tuple(expression.text)
        case Numbers():
            for low, high in expression.runs:
                for sign, piece in pieces(low, high):
                    yield (*sign, *(_digit(a, b) for a, b in zip(*piece, strict=True)))
        case Choice():
            for item in expression.items:
                yield from _alternatives(item)
        case Chain(items) if isinstance(items[0], Literal):
            rest = items[1:]
            yield (*items[0].text, rest[0] if len(rest) == 1 else Chain(rest))
        case _:
            yield (expression,)


def _digit(low: str, high: str) -> Atom:
    return low if low == high else Chars(((ord(low), ord(high)),))


class _Trie:
    """Alternatives with their common beginnings told once."""

    def __init__(self, alternatives: Iterable[Sequence[Atom]] = ()) -> None:
        self.ends = False
        self.below: dict[Atom, _Trie] = {}
        for atoms in alternatives:
            node = self
            for atom in atoms:
                node = node.below.setdefault(atom, _Trie())
            node.ends = True

    def text(self, named: Callable[[str], str]) -> str:
        """The trie as a rule's body."""
        if not self.below:
            return '""'
        branches = [_branch(atom, node, named) for atom, node in self.below.items()]
        if len(branches) == 1 and not self.ends:
            return branches[0]
        if len(branches) == 1 and branches[0].endswith(("?", "}")):
            return f"{named(branches[0])}?"
        return "(" + " | ".join(branches) + ")" + ("?" if self.ends else "")


def _branch(atom: Atom, node: _Trie, named: Callable[[str], str]) -> str:
    """One branch; what has no fork in it is written in one go."""
    said: list[str] = []
    run = ""
    while True:
        if isinstance(atom, str):
            run += atom
        else:
            said += [*([quote(run)] if run else []), body(atom, named)]
            run = ""
        if node.ends or len(node.below) != 1:
            break
        ((atom, node),) = node.below.items()
    said += [quote(run)] if run else []
    return " ".join([*said, *([node.text(named)] if node.below else [])])
