"""The nouns: what is on screen at one tick, frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box, Transform

MAX_TEXT = 200  # characters of a label; longer ones cost a model more than they tell it


def is_utf8(text: str) -> bool:
    """True for text that can be written down: it holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class MarkTarget:
    """Tag of a tool's field that must name a mark of this tick."""


MarkRef = Annotated[int, MarkTarget()]
"""A tool's target: the number of a mark that is on screen now."""


class CellTarget:
    """Tag of a field that must name a grid cell of this tick."""


CellRef = Annotated[str, CellTarget()]
"""A grid cell that is on screen now, by its name, such as ``B4``."""


@dataclass(frozen=True)
class Frame:
    """One capture of the window's client area.

    Attributes:
        pixels: ``(height, width, 3)``, uint8, BGR, in capture pixels. Treat it as read-only.
        transform: where those pixels are on the screen.
        captured_ns: monotonic clock, at the grab.
        moving: much of the picture was still changing when it was taken.
        title: of the window. None: not known.
    """

    pixels: NDArray[np.uint8]
    transform: Transform
    captured_ns: int
    moving: bool = False
    title: str | None = None

    @classmethod
    def of(cls, pixels: NDArray[np.uint8], captured_ns: int = 0) -> Frame:
        """A picture as a frame, ``(height, width, 3)``, BGR: of a window that it fills, at the screen's corner."""
        whole = Box(0, 0, pixels.shape[1], pixels.shape[0])
        return cls(pixels=pixels, transform=Transform(client=whole, captured=whole), captured_ns=captured_ns)

    def sharing(self, other: Frame) -> Frame:
        """The same moment, with the pixels of an equal frame and the digest that was worked out for them."""
        shared = replace(self, pixels=other.pixels)
        if "digest" in vars(other):
            vars(shared)["digest"] = other.digest
        return shared

    @cached_property
    def digest(self) -> str:
        """sha256 over the shape and the pixels, in hex: equal frames have equal names."""
        shape = "x".join(map(str, self.pixels.shape)).encode()
        return hashlib.sha256(shape + np.ascontiguousarray(self.pixels).tobytes()).hexdigest()

    def patch(self, box: Box) -> NDArray[np.uint8]:
        """The pixels of a box, clipped to the frame."""
        height, width = self.pixels.shape[:2]
        inside = box.intersection(Box(0, 0, width, height))
        return self.pixels[inside.top : inside.bottom, inside.left : inside.right]


ChangeKind = Literal["unchanged", "local", "motion", "scene"]
"""``unchanged``: not a pixel. ``local``: some tiles. ``scene``: many tiles, a frame of another size, or the first one.
``motion``: many tiles, and the picture was still changing when it was taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a frame differs from the one before.

    Attributes:
        kind: how much, and whether it goes on.
        dirty: boxes round the pixels that changed, in capture pixels, no two overlapping; for ``scene`` the frame.
    """

    kind: ChangeKind
    dirty: tuple[Box, ...] = ()

    def touches(self, box: Box) -> bool:
        """True when a box holds a pixel of what changed."""
        return any(each.touches(box) for each in self.dirty)


@cache
def column_name(column: int) -> str:
    """Spreadsheet letters of a column, from 0: ``A`` to ``Z``, ``AA`` and on."""
    letters, rest = "", column + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One cell of a board.

    Attributes:
        number: of the mark that the cell can be offered as.
        row: from 0, top to bottom.
        column: from 0, left to right.
        box: in capture pixels.
        kind: what the cell shows, in the bot's words. None: nothing that the bot has named.
    """

    number: int
    row: int
    column: int
    box: Box
    kind: str | None

    @property
    def name(self) -> str:
        """Spreadsheet name: column letters, then the row from 1; ``B4``."""
        return f"{column_name(self.column)}{self.row + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A numbered element that can be acted on.

    The number on the overlay, in the prompt and in the grammar is this one.

    Attributes:
        number: from 1; the same element keeps it while it is there.
        box: in capture pixels, inside the frame.
        label: what to call it, at most 200 characters. None: nothing names it.
        id: the number that the element keeps, where marks are numbered anew in every frame. None: its number is.

    Raises:
        ValueError: the number is not from 1 on, the label is too long, or has no UTF-8.
    """

    number: int
    box: Box
    label: str | None = None
    id: int | None = None

    @property
    def key(self) -> int:
        """What tells this element from others from frame to frame."""
        return self.number if self.id is None else self.id

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError(f"expected a mark's number from 1 on, found {self.number}")
        if self.label is not None and not (len(self.label) <= MAX_TEXT and is_utf8(self.label)):
            raise ValueError(f"expected a label of at most {MAX_TEXT} UTF-8 characters, found {self.label[:50]!r}...")


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What one tick saw.

    Attributes:
        frame: the capture.
        cells: the board, row by row; empty where the detector finds no board.
        marks: what can be acted on now, by ascending number, each number once.
        change: how the frame differs from the one before. While much of it moves, nothing is looked for: marks and
            cells are those of before that the change does not touch.
        left_out: how many marks more there are than the detector gives.
        unseen: what could not be found, a sentence each; what one detector of several misses is no reason not to see.
        sensors: what the bot's sensors say, by name. None: it cannot be told.
        found: the identities of all marks that the detector found, whether the bot offers them or not.
    """

    frame: Frame
    cells: tuple[GridCell, ...]
    marks: tuple[Mark, ...]
    change: Change = Change(kind="scene")
    left_out: int = 0
    unseen: tuple[str, ...] = ()
    sensors: Mapping[str, bool | int | float | str | None] = field(default_factory=dict)
    found: frozenset[int] = frozenset()

    def mark(self, number: int) -> Mark:
        """The mark with this number.

        Raises:
            KeyError: no such mark on screen; says which there are.
        """
        for mark in self.marks:
            if mark.number == number:
                return mark
        raise KeyError(f"mark {number} is not on screen; this tick shows {[m.number for m in self.marks]}")

    def cell(self, name: str) -> GridCell:
        """The cell of this name.

        Raises:
            KeyError: no such cell on screen.
        """
        for cell in self.cells:
            if cell.name == name:
                return cell
        raise KeyError(f"cell {name!r} is not on screen; this tick shows {len(self.cells)} cells")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """How the game's window stands on the desktop at one moment.

    Attributes:
        client: the area inside the window's frame, in screen pixels.
        screen: the whole screen, in screen pixels.
        minimised: the window is not drawn at all.
        foreground: the window is the one that gets the keyboard.
        covered_by: titles of other programs' windows that lie over the client area, lowest first.
        title: what the window's frame says now.
        class_name: the kind of window, by its program's word. Empty: it does not say.
        pid: the program's process. None: not known.
        scale: how much larger than usual the desktop asks programs to draw; 1.5 is what people call 150 %. Captures
            are in screen pixels all the same.
    """

    client: Box
    screen: Box
    minimised: bool
    foreground: bool
    covered_by: tuple[str, ...]
    title: str = ""
    class_name: str = ""
    pid: int | None = None
    scale: float = 1.0

    @property
    def clipped(self) -> bool:
        """True when a part of the client area is off the screen, or all of it."""
        return self.client.intersection(self.screen) != self.client
