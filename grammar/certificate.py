"""The groundedness certificate: the targets that a grammar's text can name, read back from the text itself.

Reading back is the printer's work the other way round, by code that shares nothing with it; what comes out must be
what is on screen, to the last number, or the grammar is not used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from grammar.errors import GrammarBuildError
from grammar.nodes import Scope

_SLOT = re.compile(r"^(MARKS|CELLS)\d+: /(.*)/$", re.MULTILINE)
_TARGET = re.compile(r"([^()|\[\]]*)\(([0-9|\[\]-]*)\)")
_COLUMN_ROWS = re.compile(r"(\([A-Z|]+\)|[A-Z]+)\(([0-9|\[\]-]*)\)")
_ESCAPE = re.compile(r"\\x\{([0-9a-f]+)\}")
_CLASS = re.compile(r"\[([0-9])-([0-9])\]")


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


def certify(text: str, digest: str, scope: Scope) -> Certificate:
    """The certificate of a Lark grammar of ours.

    Raises:
        GrammarBuildError: it can name what is not on screen, or not all that is: our bug, the run stops.
    """
    slots = _SLOT.findall(text)
    marks: frozenset[int] = frozenset()
    cells: frozenset[str] = frozenset()
    for kind, pattern in slots:
        if kind == "CELLS":
            cells = _cells(pattern)
            _require("cells", set(cells), set(scope.cells))
        else:
            named = _marks(pattern)
            marks = frozenset().union(*named.values())
            _require("marks", set(marks), set(scope.marks))
            _require_labels(named, scope)
    return Certificate(marks, cells, digest)


def _require(what: str, named: set[int] | set[str], shown: set[int] | set[str]) -> None:
    if named != shown:
        extra, missing = sorted(map(str, named - shown)), sorted(map(str, shown - named))
        raise GrammarBuildError(
            f"Expected a grammar that names the {what} on screen and no others, found {extra[:20]} beyond them and "
            f"{missing[:20]} left out."
        )


def _require_labels(named: dict[str | None, set[int]], scope: Scope) -> None:
    """Each number stands under its own mark's label; a grammar that spells no labels has them all under None."""
    if list(named) == [None]:
        return
    wrong = [number for label, numbers in named.items() for number in numbers if scope.marks[number].label != label]
    if wrong or sum(map(len, named.values())) != len(scope.marks):
        raise GrammarBuildError(f"Expected each mark under its own label, found {wrong[:20]} under others.")


def _marks(pattern: str) -> dict[str | None, set[int]]:
    """The numbers under each label; None: under none."""
    inside = pattern
    found = _TARGET.findall(inside)
    size = sum(len(literal) + len(numbers) + 2 for literal, numbers in found) + len(found) - 1
    if size not in (len(inside), len(inside) - 2):
        raise GrammarBuildError(f"Expected a terminal of marks that can be read back, found {pattern[:200]}")
    named: dict[str | None, set[int]] = {}
    for literal, numbers in found:
        named.setdefault(_label(literal), set()).update(_numbers(numbers))
    return named


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
    named: set[int] = set()
    for piece in pattern.split("|"):
        low, high = int(_CLASS.sub(r"\1", piece)), int(_CLASS.sub(r"\2", piece))
        named.update(range(low, high + 1))
        if high - low + 1 != _count(piece):
            raise GrammarBuildError(f"Expected a run of numbers, found {piece}")
    return named


@lru_cache(maxsize=4096)
def _count(piece: str) -> int:
    """How many numerals a piece matches."""
    total = 1
    for low, high in _CLASS.findall(piece):
        total *= int(high) - int(low) + 1
    return total


@lru_cache(maxsize=8)
def _cells(pattern: str) -> frozenset[str]:
    inside = pattern.removeprefix("\\x{22}").removesuffix("\\x{22}")
    found = _COLUMN_ROWS.findall(inside)
    size = sum(len(columns) + len(rows) + 2 for columns, rows in found) + len(found) - 1
    if size not in (len(inside), len(inside) - 2):
        raise GrammarBuildError(f"Expected a terminal of cells that can be read back, found {pattern[:200]}")
    return frozenset(
        f"{column}{row}"
        for columns, rows in found
        for column in columns.strip("()").split("|")
        for row in _numbers(rows)
    )
