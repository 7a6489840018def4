"""Lark, as llguidance reads it.

Every scalar is one terminal (a regular expression): alternatives in rules are slow to compile and die at 2,000. Where
sentences part, at a tag or between null and an item, what comes next differs at once or ends in the same delimiter, so
that the lexer, which takes the longest match and never goes back, loses nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from grammar.expression import Chain, Chars, Choice, Expression, Literal, Numbers, Repeat
from grammar.numbers import regex_of

_PLAIN = re.compile(r"[ -~]*")


class Lark:
    """The notation of ``printer``."""

    root = "start"
    flat = "R"  # a terminal: one lexeme a tool compiles quicker than one for each of its parts
    terminal = "T"
    marks = "MARKS"
    cells = "CELLS"
    proof = "PROOF"

    def rule(self, name: str, body: str) -> str:
        """``name: body``."""
        return f"{name}: {body}\n"

    def literal(self, text: str) -> str | None:
        """A string; text beyond printable ASCII goes into a regular expression."""
        if not _PLAIN.fullmatch(text):
            return None
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def expression(self, name: str, expression: Expression) -> str:
        """``NAME: /regex/``."""
        return f"{name}: /{regex(expression)}/\n"


def regex(expression: Expression) -> str:
    """A regular expression in llguidance's syntax."""
    match expression:
        case Literal():
            return escape(expression.text)
        case Numbers():
            return f"({regex_of(expression.runs)})"
        case Chars():
            return "[" + "".join(_range(low, high) for low, high in expression.ranges) + "]"
        case Chain():
            return "".join([regex(item) for item in expression.items])
        case Choice():
            return "(" + "|".join([regex(item) for item in expression.items]) + ")"
        case Repeat():
            return f"{_atom(expression.item)}{{{expression.low},{expression.high}}}"
    raise TypeError(f"expected an expression of grammar.expression, found {expression!r}")


def _atom(expression: Expression) -> str:
    """What a repetition can stand behind."""
    text = regex(expression)
    return text if isinstance(expression, Chars | Choice) else f"({text})"


@lru_cache(maxsize=4096)
def escape(text: str) -> str:
    """A regex for exactly this text, in which nothing but ASCII letters and digits stands for itself."""
    return re.sub(r"[^A-Za-z0-9]", lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _range(low: int, high: int) -> str:
    return escape(chr(low)) if low == high else f"{escape(chr(low))}-{escape(chr(high))}"
