"""Frames with what is on them, labelled by people or by the game's own known board: what detectors are measured on.

A folder a game; ``GAME/NN.png`` is a window's client area, ``GAME/NN.json`` what is on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perception.geometry import Box
from perception.image import read_png

HIDDEN = "hidden"  # the word for a cell that something covers: not to be judged

Kind = Literal["tile", "card", "button", "menu", "piece", "text"]
Pixel = Annotated[int, Field(ge=0, le=10_000)]
Size = Annotated[int, Field(gt=0, le=10_000)]
Count = Annotated[int, Field(gt=0, le=100)]
Word = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board of equal cells.

    Attributes:
        rows: how many.
        columns: how many.
        box: of exactly all cells, in capture pixels.
    """

    rows: int
    columns: int
    box: Box

    @property
    def cells(self) -> list[Box]:
        """The boxes of all cells, row by row."""
        return self.box.split(self.rows, self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """Something to click or drag that is no cell of the board.

    Attributes:
        box: what can be seen of it, in capture pixels.
        kind: what it is.
        label: what it says or shows. None: it was not read.
    """

    box: Box
    kind: Kind
    label: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """One frame and what is on it.

    Attributes:
        game: which game.
        name: of the frame, such as ``01``.
        pixels: ``(height, width, 3)``, uint8, BGR: the window's client area.
        board: None where the frame shows none.
        cells: what each cell shows, row by row; ``HIDDEN`` where something covers it. None where that is unknown.
        elements: all else that can be clicked or dragged.
    """

    game: str
    name: str
    pixels: NDArray[np.uint8]
    board: Board | None
    cells: tuple[tuple[str, ...], ...] | None
    elements: tuple[Element, ...]


class _Record(BaseModel):
    """Base: nothing may be there that is not declared, and each value is of the declared type already."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Board(_Record):
    rows: Count
    columns: Count
    box: tuple[Pixel, Pixel, Size, Size]


class _Element(_Record):
    box: tuple[Pixel, Pixel, Size, Size]
    kind: Kind
    label: Word | None


class _Frame(_Record):
    game: Word
    command: Annotated[tuple[Word, ...], Field(min_length=1)]
    labelled: Annotated[str, Field(min_length=1)]
    board: _Board | None
    cells: tuple[tuple[Word, ...], ...] | None
    elements: tuple[_Element, ...]


def frames(folder: Path) -> list[Labelled]:
    """Every labelled frame of a folder, by game, then by name.

    Raises:
        ValueError: a file of labels is not as declared; says which.
        OSError: a picture is missing, or is none; says which.
    """
    return [_read(path) for path in sorted(folder.glob("*/*.json"))]


def _read(path: Path) -> Labelled:
    try:
        found = _Frame.model_validate_json(path.read_bytes())
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"expected labels in {path}, found {first['msg']} at {where or 'the top'}") from problem
    board = None
    if found.board is not None:
        board = Board(rows=found.board.rows, columns=found.board.columns, box=Box(*found.board.box))
    labelled = Labelled(
        game=found.game,
        name=path.stem,
        pixels=read_png(path.with_suffix(".png")),
        board=board,
        cells=found.cells,
        elements=tuple(Element(box=Box(*e.box), kind=e.kind, label=e.label) for e in found.elements),
    )
    _require_fitting(path, labelled)
    return labelled


def _require_fitting(path: Path, frame: Labelled) -> None:
    """Return when the labels fit the picture and one another.

    Raises:
        ValueError: they do not; says which.
    """
    whole = Box(0, 0, frame.pixels.shape[1], frame.pixels.shape[0])
    boxes = [*(element.box for element in frame.elements), *([frame.board.box] if frame.board else [])]
    outside = [str(box) for box in boxes if not whole.holds(box)]
    if outside:
        raise ValueError(f"expected boxes inside {whole} in {path}, found {', '.join(outside)}")
    rows = [len(row) for row in frame.cells or ()]
    if frame.cells is not None and (frame.board is None or rows != [frame.board.columns] * frame.board.rows):
        raise ValueError(f"expected as many cells as the board has in {path}, found rows of {rows}")
