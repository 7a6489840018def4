"""Find the cells of a board: edges -> closed regions -> a lattice fitted to their centres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.cells import CellNamer, ColourKinds
from perception.detect.regions import even_regions
from perception.errors import NotObservable
from perception.geometry import Box, bounding
from perception.observation import GridCell, Mark

MIN_SIDE = 8  # pixels; smaller closed regions are glyphs
FEWEST = 6  # cells of a board whose size is not declared; fewer alike shapes are a row of buttons
FULL = 0.5  # of the cells that must have been seen themselves; the others are filled in


class Lattice:
    """A board of equal cells, each found by its outline and named by what it shows.

    Args:
        rows: how many rows the board has. None: as many as there are.
        columns: how many columns the board has. None: as many as there are.
        kinds: kind -> colours that a cell of that kind shows, as ``#rrggbb`` (several, separated by spaces, must
            all be there), the first kind that fits is taken; or a ``CellKinds``, which goes by pictures. A cell that
            fits none has kind None.

    Marks are numbered row by row from 1, so a cell keeps its number for as long as the board is there. A mark's
    label is its cell's kind, or the cell's name (``B4``) where it has none.
    """

    def __init__(
        self,
        *,
        rows: int | None = None,
        columns: int | None = None,
        kinds: Mapping[str, str] | CellNamer | None = None,
    ) -> None:
        if (rows is not None and rows < 2) or (columns is not None and columns < 2):
            raise ValueError(f"expected at least 2 rows and 2 columns, found {rows} and {columns}")
        self.rows = rows
        self.columns = columns
        self.kinds: CellNamer = ColourKinds(kinds or {}) if isinstance(kinds, Mapping) or kinds is None else kinds
        self._last: tuple[_Board, list[str | None]] | None = None

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Find all cells.

        Raises:
            NotObservable: there is no board of this many rows and columns.
        """
        board = self._fit(square_regions(pixels), Box(0, 0, pixels.shape[1], pixels.shape[0]))
        return self._detected(board, self._kinds_of(pixels, board.boxes))

    def update(self, pixels: NDArray[np.uint8], dirty: Sequence[Box]) -> Detected:
        """The board where it was, cells that changed named anew; found anew where half of the board changed.

        Raises:
            NotObservable: there is no board of this many rows and columns any more.
        """
        if self._last is None:
            return self.detect(pixels)
        board, kinds = self._last
        touched = [i for i, box in enumerate(board.boxes) if any(not d.intersection(box).is_empty for d in dirty)]
        if 2 * len(touched) > len(board.boxes):
            return self.detect(pixels)
        for i, kind in zip(touched, self._kinds_of(pixels, [board.boxes[i] for i in touched]), strict=True):
            kinds[i] = kind
        return self._detected(board, kinds)

    def _detected(self, board: _Board, kinds: list[str | None]) -> Detected:
        self._last = (board, kinds)
        cells = tuple(
            GridCell(number=i + 1, row=i // board.columns, column=i % board.columns, box=box, kind=kind)
            for i, (box, kind) in enumerate(zip(board.boxes, kinds, strict=True))
        )
        marks = tuple(Mark(number=cell.number, box=cell.box, label=cell.kind or cell.name) for cell in cells)
        return Detected(cells=cells, marks=marks)

    def _fit(self, regions: Sequence[Box], frame: Box) -> _Board:
        """The board that the regions fit best: most cells seen themselves; of equals, the larger ones."""
        boards = [_board(family, frame) for family in _families(regions)]
        fitting = [board for board in boards if self._is_wanted(board)]
        if not fitting:
            best = max(boards, key=lambda board: (board.seen, board.cell), default=_NO_BOARD)
            raise NotObservable(
                f"Expected a board of {self.rows or 'any number of'} rows and {self.columns or 'any number of'} "
                f"columns, found {best.seen} cell-like shapes in {best.rows} rows and {best.columns} columns, in a "
                f"window of {frame.width}x{frame.height} pixels.",
                "Show the whole board, large enough and with nothing drawn over it, or correct rows and columns.",
            )
        return max(fitting, key=lambda board: (board.seen, board.cell))

    def _is_wanted(self, board: _Board) -> bool:
        fewest = 4 if self.rows and self.columns else FEWEST
        wanted = (self.rows or max(2, board.rows), self.columns or max(2, board.columns))
        cells = board.rows * board.columns
        return wanted == (board.rows, board.columns) and cells >= fewest and board.seen >= FULL * cells

    def _kinds_of(self, pixels: NDArray[np.uint8], boxes: Sequence[Box]) -> list[str | None]:
        """The kind of each cell. Like cells of a rendered board are alike to the byte, so each is judged once."""
        patches = [pixels[b.top : b.bottom, b.left : b.right] for b in (box.shrunk(1) for box in boxes)]
        keys = [(patch.shape, patch.tobytes()) for patch in patches]
        judged = {key: self.kinds.kind(patch) for key, patch in dict(zip(keys, patches, strict=True)).items()}
        return [judged[key] for key in keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Equally spaced lines: cell ``i`` has its centre at ``origin + i * pitch``."""

    origin: float
    pitch: float
    count: int

    def edge(self, i: int) -> int:
        """First pixel of cell ``i``."""
        return round(self.origin + (i - 0.5) * self.pitch)

    def cell(self, center: int) -> int:
        """Which cell a centre belongs to."""
        return round((center - self.origin) / self.pitch) if self.pitch else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    """A lattice of cells.

    Attributes:
        boxes: of all cells, row by row, inside the frame.
        seen: how many of them have a region of their own; the others are filled in.
        cell: pixels of a cell.
    """

    boxes: tuple[Box, ...]
    rows: int
    columns: int
    seen: int
    cell: float


_NO_BOARD = _Board(boxes=(), rows=0, columns=0, seen=0, cell=0)


def square_regions(pixels: NDArray[np.uint8]) -> list[Box]:
    """Bounding boxes of the even-coloured regions that edges enclose, roughly square ones alone."""
    _, stats = even_regions(pixels)
    boxes = [Box(*(int(value) for value in row[:4])) for row in stats[1:]]
    return [b for b in boxes if min(b.width, b.height) >= MIN_SIDE and 0.7 < b.width / b.height < 1.43]


def _families(regions: Sequence[Box]) -> list[list[Box]]:
    """Regions of like size, for each size that there is."""
    sides = sorted({region.width for region in regions})
    families = [
        [r for r in regions if 0.75 * side <= min(r.width, r.height) and max(r.width, r.height) <= 1.25 * side]
        for side in sides
    ]
    return [family for i, family in enumerate(families) if family and family not in families[:i]]


def _board(family: Sequence[Box], frame: Box) -> _Board:
    """The lattice through a family's centres."""
    xs, ys = (_fit_axis(centers) for centers in ([b.center.x for b in family], [b.center.y for b in family]))
    if min(xs.count, ys.count) < 2:
        return _Board(boxes=(), rows=ys.count, columns=xs.count, seen=len(family), cell=0)
    seen = {(xs.cell(box.center.x), ys.cell(box.center.y)) for box in family}
    boxes = [
        bounding([Box(xs.edge(x), ys.edge(y), 1, 1), Box(xs.edge(x + 1) - 1, ys.edge(y + 1) - 1, 1, 1)])
        for y in range(ys.count)
        for x in range(xs.count)
    ]
    return _Board(
        boxes=tuple(box.intersection(frame) for box in boxes),
        rows=ys.count,
        columns=xs.count,
        seen=len(seen),
        cell=xs.pitch * ys.pitch,
    )


def _fit_axis(centers: Sequence[int]) -> _Axis:
    """The equally spaced lines through one coordinate of the cells' centres."""
    groups = _clusters(sorted(centers))
    if len(groups) < 2:
        return _Axis(origin=0, pitch=0, count=len(groups))
    pitch = float(np.median(np.diff(groups)))
    index = np.round((np.array(groups) - groups[0]) / pitch)
    slope, origin = np.polyfit(index, groups, 1)
    return _Axis(origin=float(origin), pitch=float(slope), count=int(index[-1]) + 1)


def _clusters(ordered: Sequence[int]) -> list[float]:
    """Means of runs of values that lie within half a cell's least side of each other."""
    groups: list[list[int]] = []
    for value in ordered:
        if groups and value - groups[-1][0] <= MIN_SIDE // 2:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [float(np.mean(group)) for group in groups]
