"""The groundedness certificate: the targets that a grammar's text can name, read back from the text itself.

Reading back is the printer's work the other way round, by code that shares nothing with it; what comes out must be
what is on screen, to the last number, or the grammar is not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from grammar.errors import GrammarBuildError
from grammar.nodes import Scope
from grammar.printer import Skeleton, Slot

_SLOT = re.compile(r"((?:MARKS|CELLS)\d+): /(.*)/")
_TARGET = re.compile(r"([^()|\[\]]*)\(([0-9|\[\]-]*)\)")
_COLUMN_ROWS = re.compile(r"(\([A-Z|]+\)|[A-Z]+)\(([0-9|\[\]-]*)\)")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")
_CLASS = re.compile(r"\[([0-9])-([0-9])\]")


Said = tuple[tuple[str | None, str], ...]
"""What a slot spells: labels, each with the pattern of the numbers under it."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a grammar's language can name.

    Attributes:
        marks: the numbers of marks.
        cells: the names of cells.
        digest: of the grammar that was read.
    """

    marks: frozenset[int]
    cells: frozenset[str]
    digest: str


def certify(text: str, digest: str, scope: Scope, skeleton: Skeleton) -> Certificate:
    """The certificate of a Lark grammar of ours.

    Args:
        text: the grammar.
        digest: of the text.
        scope: what is on screen.
        skeleton: the part that names nothing; the rest of the text must be its slots and nothing else.

    Raises:
        GrammarBuildError: it can name what is not on screen, or not all that is: our bug, the run stops.
    """
    if not text.startswith(skeleton.text):
        raise GrammarBuildError("Expected a grammar that begins with its fixed part, found another.")
    lines = text[len(skeleton.text) :].splitlines()
    slots = [slot for slot in skeleton.slots if slot.kind != "proof"]
    named: dict[Said, frozenset[int]] = {}
    cells: frozenset[str] = frozenset()
    for slot, line in zip_longest(slots, lines[: len(lines) - (len(skeleton.slots) - len(slots))]):
        pattern = _pattern(slot, line)
        if slot.kind == "cell":
            cells = _cells(pattern)
            _require("cells", cells, scope.cells.keys())
        elif (said := _said(pattern)) not in named:
            named[said] = _certified(said, scope, labels=bool(slot.label_key))
    return Certificate(next(iter(named.values()), frozenset()), cells, digest)


def _pattern(slot: Slot | None, line: str | None) -> str:
    """The pattern of the terminal that fills a slot."""
    found = _SLOT.fullmatch(line or "")
    if slot is None or found is None or found[1] != slot.name:
        expected = "no more terminals" if slot is None else f"the terminal {slot.name}"
        raise GrammarBuildError(f"Expected {expected}, found {(line or 'nothing')[:100]}")
    return found[2]


def _certified(said: Said, scope: Scope, *, labels: bool) -> frozenset[int]:
    """The numbers that a slot names, once they are those on screen; slots that say the same are judged once."""
    groups: dict[str | None, set[int]] = {}
    for label, pattern in said:
        groups.setdefault(label, set()).update(_numbers(pattern))
    marks = frozenset().union(*groups.values())
    _require("marks", marks, scope.marks.keys())
    if labels:
        _require_labels(groups, scope)
    return marks


def _require(what: str, named: AbstractSet[int] | AbstractSet[str], shown: AbstractSet[int] | AbstractSet[str]) -> None:
    if named != shown:
        extra, missing = sorted(map(str, named - shown)), sorted(map(str, shown - named))
        raise GrammarBuildError(
            f"Expected a grammar that names the {what} on screen and no others, found {extra[:20]} beyond them and "
            f"{missing[:20]} left out."
        )


def _require_labels(named: dict[str | None, set[int]], scope: Scope) -> None:
    """Each number stands under its own mark's label."""
    marks = scope.marks
    wrong = [number for label, numbers in named.items() for number in numbers if marks[number].label != label]
    if wrong or sum(map(len, named.values())) != len(scope.marks):
        raise GrammarBuildError(f"Expected each mark under its own label, found {wrong[:20]} under others.")


def _said(pattern: str) -> Said:
    """The labels that a slot spells, each with the pattern of its numbers; None: no label."""
    found = _TARGET.findall(pattern)
    whole = "|".join([f"{literal}({numbers})" for literal, numbers in found])
    if pattern != (whole if len(found) == 1 else f"({whole})"):
        raise GrammarBuildError(f"Expected a terminal of marks that can be read back, found {pattern[:200]}")
    return tuple((_label(literal), numbers) for literal, numbers in found)


@lru_cache(maxsize=4096)
def _label(literal: str) -> str | None:
    """The label in ``"target":"safe","mark":``."""
    text = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), literal)
    if not text:
        return None
    members = json.loads("{" + text + "0}")
    labels = [value for value in members.values() if isinstance(value, str)]
    return labels[0] if labels else None


def _numbers(pattern: str) -> set[int]:
    pieces = pattern.split("|")
    named = {int(piece) for piece in pieces if piece.isdecimal()}
    for piece in pieces:
        if not piece.isdecimal():
            named.update(_run(piece))
    return named


def _run(piece: str) -> range:
    """The numerals that a piece with classes matches; they follow one another."""
    parts = _CLASS.split(piece)
    low, high, count = "", "", 1
    for fixed, first, last in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        low, high, count = low + fixed + first, high + fixed + last, count * (int(last) - int(first) + 1)
    run = range(int(low + parts[-1]), int(high + parts[-1]) + 1)
    if len(run) != count:
        raise GrammarBuildError(f"Expected a run of numbers, found {piece}")
    return run


@lru_cache(maxsize=8)
def _cells(pattern: str) -> frozenset[str]:
    found = _COLUMN_ROWS.findall(pattern)
    whole = "|".join([f"{columns}({rows})" for columns, rows in found])
    if pattern != "\\u{22}" + (whole if len(found) == 1 else f"({whole})") + "\\u{22}":
        raise GrammarBuildError(f"Expected a terminal of cells that can be read back, found {pattern[:200]}")
    return frozenset(
        f"{column}{row}"
        for columns, rows in found
        for column in columns.strip("()").split("|")
        for row in _numbers(rows)
    )
