"""A board of equal cells, each with a name, a number, and the kind of thing that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.boards import Board, boards
from perception.detect.cells import CellNamer, ColourKinds
from perception.errors import NotObservable
from perception.geometry import Box
from perception.observation import GridCell, Mark

FULL = 0.5  # of the cells that must be there to be seen; the others are filled in
CLEAR = 0.9  # the same, of a board whose size is not declared
FEWEST = 3  # rows and columns of such a board; two rows of alike shapes are cards or buttons


class Lattice:
    """A board of equal cells, found by their outlines or by the lines between them, and named by what they show.

    Args:
        rows: how many rows the board has. None: as many as there are.
        columns: how many columns the board has. None: as many as there are.
        kinds: kind -> colours that a cell of that kind shows, as ``#rrggbb`` (several, separated by spaces, must
            all be there), the first kind that fits is taken; or a ``CellKinds``, which goes by pictures. A cell that
            fits none has kind None.

    Marks are numbered row by row from 1, so a cell keeps its number for as long as the board is there. A mark's
    label is its cell's kind, or the cell's name (``B4``) where it has none.

    Raises:
        ValueError: fewer than 2 rows or columns.
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
        self._last: tuple[Board, list[str | None]] | None = None

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Find all cells.

        Raises:
            NotObservable: there is no board of this many rows and columns.
        """
        self._last = None
        board = self._clearest(boards(pixels), pixels.shape)
        return self._detected(board, self._kinds_of(pixels, board.boxes))

    def update(self, pixels: NDArray[np.uint8], dirty: Sequence[Box]) -> Detected:
        """The board where it was, cells that changed named anew; found anew where half of the board changed.

        Raises:
            NotObservable: there is no board of this many rows and columns any more.
        """
        if self._last is None:
            return self.detect(pixels)
        board, kinds = self._last
        boxes = board.boxes
        touched = [i for i, box in enumerate(boxes) if any(d.touches(box) for d in dirty)]
        if 2 * len(touched) > len(boxes):
            return self.detect(pixels)
        anew = dict(zip(touched, self._kinds_of(pixels, [boxes[i] for i in touched]), strict=True))
        return self._detected(board, [anew.get(i, kind) for i, kind in enumerate(kinds)])

    def _detected(self, board: Board, kinds: list[str | None]) -> Detected:
        self._last = (board, kinds)
        cells = tuple(
            GridCell(number=i + 1, row=i // board.columns, column=i % board.columns, box=box, kind=kind)
            for i, (box, kind) in enumerate(zip(board.boxes, kinds, strict=True))
        )
        marks = tuple(Mark(number=cell.number, box=cell.box, label=cell.kind or cell.name) for cell in cells)
        return Detected(cells=cells, marks=marks)

    def _clearest(self, found: Sequence[Board], shape: tuple[int, ...]) -> Board:
        for board in found:
            if self._is_wanted(board):
                return board
        best = max(found, key=lambda board: board.seen, default=Board(xs=(), ys=(), seen=0))
        raise NotObservable(
            f"Expected a board of {self.rows or 'any number of'} rows and {self.columns or 'any number of'} columns, "
            f"found {best.seen} cell-like shapes in {best.rows} rows and {best.columns} columns, in a window of "
            f"{shape[1]}x{shape[0]} pixels.",
            "Show the whole board, large enough and with nothing drawn over it, or correct rows and columns.",
        )

    def _is_wanted(self, board: Board) -> bool:
        if (self.rows or board.rows, self.columns or board.columns) != (board.rows, board.columns):
            return False
        declared = None not in (self.rows, self.columns)
        large = declared or min(board.rows, board.columns) >= FEWEST
        return large and board.seen >= (FULL if declared else CLEAR) * board.rows * board.columns

    def _kinds_of(self, pixels: NDArray[np.uint8], boxes: Sequence[Box]) -> list[str | None]:
        """The kind of each cell. Like cells of a rendered board are alike to the byte, so each is judged once."""
        patches = [pixels[b.top : b.bottom, b.left : b.right] for b in (box.shrunk(1) for box in boxes)]
        keys = [(patch.shape, patch.tobytes()) for patch in patches]
        judged = {key: self.kinds.kind(patch) for key, patch in dict(zip(keys, patches, strict=True)).items()}
        return [judged[key] for key in keys]
