"""Print tools and this tick's marks as a Lark grammar for llguidance.

Every finite domain is one terminal (a regular expression): alternatives in rules are slow to compile and die at
2,000. Every terminal is delimited by ``,`` or ``}``, so that greedy lexing loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from grammar.numbers import interval, regex_of
from grammar.shape import Field, IntRange, MarkNode, OneOf, ToolShape
from grammar.spelling import spell_scalar
from perception.observation import Mark

ROOT = "start"


def print_lark(shapes: Sequence[ToolShape], marks: Sequence[Mark]) -> str:
    """The grammar whose sentences are exactly the actions of these tools on these marks.

    Args:
        shapes: the tools; those that need a mark are left out when there is none.
        marks: this tick's, suppressed ones already left out.

    Raises:
        ValueError: no tool is left.
    """
    usable = [shape for shape in shapes if marks or not shape.needs_mark]
    if not usable:
        raise ValueError("expected a tool that needs no mark, since there is no mark; found none: declare Wait")
    rules = [f"{ROOT}: " + " | ".join(f"t{i}" for i in range(len(usable)))]
    terminals: list[str] = []
    for i, shape in enumerate(usable):
        rules.append(f"t{i}: " + _sentence(shape, i, marks, terminals))
    return "\n".join(rules + terminals) + "\n"


def quote(text: str) -> str:
    """A Lark string literal; only printable ASCII may come here, everything else goes through ``escape``."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def escape(text: str) -> str:
    """A regex for exactly this text, in which nothing but ASCII letters and digits stands for itself."""
    return re.sub(r"[^A-Za-z0-9]", lambda found: f"\\x{{{ord(found[0]):x}}}", text)


def _sentence(shape: ToolShape, i: int, marks: Sequence[Mark], terminals: list[str]) -> str:
    """The symbols of one tool's rule; adds the terminals that it uses."""
    symbols, literal = [], f'{{"tool":"{shape.name}"'
    for field in shape.fields:
        name = f"T{i}_{len(terminals)}"
        terminals.append(f"{name}: /{_pattern(field, marks)}/")
        symbols += [quote(literal + ","), name]
        literal = ""
    return " ".join([*symbols, quote(literal + "}")])


def _pattern(field: Field, marks: Sequence[Mark]) -> str:
    """The regex of one member, its name included."""
    name = escape(f'"{field.name}":')
    match field.node:
        case OneOf(values):
            return name + "(" + "|".join(escape(spell_scalar(value)) for value in values) + ")"
        case IntRange(low, high):
            return f"{name}({'|'.join(interval(low, high))})"
        case MarkNode():
            return _targets(field, name, marks)
    assert_never(field.node)


def _targets(field: Field, name: str, marks: Sequence[Mark]) -> str:
    """All marks: for each label the numbers that bear it."""
    labels: dict[str | None, list[int]] = {}
    for mark in marks:
        labels.setdefault(mark.label, []).append(mark.number)
    pieces = []
    for label, numbers in labels.items():
        said = "" if label is None else escape(f'"{field.label_key}":{spell_scalar(label)},')
        pieces.append(f"{said}{name}({regex_of(numbers)})")
    return "(" + "|".join(pieces) + ")"
