"""What each scalar of a tree looks like on the wire, as an expression that every grammar printer prints."""

from __future__ import annotations

from grammar.expression import (
    ANY_CHARACTER,
    Expression,
    Literal,
    Numbers,
    alternatives,
    base64,
    decimals,
    repeat,
    sequence,
)
from grammar.nodes import Base64, FloatRange, IntRange, OneOf, Text
from grammar.spelling import dump

Scalar = OneOf | IntRange | FloatRange | Text | Base64
QUOTE = Literal('"')


def scalar(node: Scalar) -> Expression:
    """The language of one scalar, quotes included."""
    match node:
        case OneOf():
            return alternatives(Literal(dump(value)) for value in node.values)
        case IntRange():
            return Numbers(((node.low, node.high),))
        case FloatRange():
            return decimals(node.low, node.high)
        case Text():
            inner = node.expression or repeat(ANY_CHARACTER, node.low, node.high)
            return sequence(QUOTE, inner, QUOTE)
        case Base64():
            return sequence(QUOTE, base64(node.low, node.high), QUOTE)
