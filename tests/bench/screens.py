"""What the grammar benchmark plays on: twelve tools, and screens that never repeat."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from actuation.tools import Click, RightClick, Tool, Wait
from perception.geometry import Box
from perception.observation import CellRef, GridCell, Mark, MarkRef

Spread = Literal["dense", "sparse"]

LABELS = ("hidden", "safe", "mine", None)
_SIDE = 16


class Reveal(Click):
    """Uncover a cell."""


class Flag(RightClick):
    """Flag a cell."""


class Chord(Click):
    """Uncover what is round a number."""


class Drag(Tool):
    """Drag one mark onto another."""

    source: MarkRef
    destination: MarkRef


class Scroll(Tool):
    """Scroll over a mark."""

    mark: MarkRef
    clicks: Annotated[int, Field(ge=-3, le=3)]
    axis: Literal["x", "y"]


class Write(Tool):
    """Type into a mark."""

    mark: MarkRef
    text: Annotated[str, Field(max_length=40)]


class Hover(Tool):
    """Hold the pointer over a mark."""

    mark: MarkRef
    seconds: Annotated[float, Field(ge=0, le=5)]


class Move(Tool):
    """Walk to a cell."""

    cell: CellRef


class Swap(Tool):
    """Swap two cells."""

    first: CellRef
    second: CellRef


class Place(Tool):
    """Put a piece on a cell."""

    cell: CellRef
    piece: Literal["red", "green", "blue"]


class Press(Tool):
    """Press a key."""

    key: Literal["up", "down", "left", "right"]
    shift: bool


TOOLS = (Reveal, Flag, Chord, Drag, Scroll, Write, Hover, Move, Swap, Place, Press, Wait)


@dataclass(frozen=True, slots=True)
class Screen:
    """What is on screen at one tick."""

    marks: tuple[Mark, ...]
    cells: tuple[GridCell, ...]

    def again(self) -> Screen:
        """The same, seen once more: the detector's cells are kept, the marks are made anew, as in a run."""
        return Screen(tuple(replace(mark) for mark in self.marks), self.cells)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of screen.

    Attributes:
        marks: how many.
        spread: ``dense``: consecutive numbers, each label on one stretch of them. ``sparse``: one number in twenty,
            each under a label at random.
        columns: of the grid.
        rows: of the grid.
    """

    marks: int
    spread: Spread
    columns: int = 16
    rows: int = 9

    def __str__(self) -> str:
        return f"{self.marks:,} {self.spread}, {self.columns}x{self.rows}"

    def cells(self) -> tuple[GridCell, ...]:
        """The whole grid, row by row."""
        places = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        return tuple(
            GridCell(number=i, row=row, column=column, box=_box(column, row), kind=None)
            for i, (row, column) in enumerate(places, 1)
        )

    def shown(self, cells: tuple[GridCell, ...], rng: random.Random) -> Screen:
        """A screen of this kind on a grid; two of them are never alike but by chance."""
        if self.spread == "sparse":
            numbers = sorted(rng.sample(range(1, 20 * self.marks + 1), self.marks))
            labels = rng.choices(LABELS, k=self.marks)
        else:
            start = rng.randint(1, 10_000)
            numbers = list(range(start, start + self.marks))
            ends = sorted(rng.randint(0, self.marks) for _ in LABELS[1:])
            labels = [LABELS[sum(i >= end for end in ends)] for i in range(self.marks)]
        pairs = zip(numbers, labels, strict=True)
        marks = tuple(Mark(number=n, box=_box(i, 0), label=label) for i, (n, label) in enumerate(pairs))
        return Screen(marks, cells)


def _box(column: int, row: int) -> Box:
    return Box(column * _SIDE, row * _SIDE, _SIDE, _SIDE)


USUAL = Kind(100, "dense")
MOST = Kind(5000, "dense")
_SPREADS: tuple[Spread, ...] = ("dense", "sparse")
_ALL = [
    *(Kind(count, spread) for count in (10, 100, 1000, 5000) for spread in _SPREADS),
    *(Kind(count, "dense", *grid) for count in (100, 5000) for grid in ((32, 18), (64, 36))),
]
KINDS = tuple(dict.fromkeys([USUAL, MOST, *_ALL]))
"""The kinds of the benchmark; those that goals are set for come first, while every contestant is still there."""
