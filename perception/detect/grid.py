"""A grid laid over a board or a region: cells with names, whether or not anything marks them on the screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected, Detector
from perception.errors import NotObservable
from perception.geometry import Box
from perception.observation import GridCell


class Grid:
    """Cuts a region into rows and columns of cells named like ``B4``. It finds no marks: cells are named instead.

    Args:
        rows: how many rows.
        columns: how many columns.
        over: a box in capture pixels, or a detector whose board, or else whose marks, are the region. None: the whole
            client area, as far as it was captured.

    Raises:
        ValueError: no rows or no columns.
    """

    def __init__(self, rows: int, columns: int, over: Box | Detector | None = None) -> None:
        if rows < 1 or columns < 1:
            raise ValueError(f"expected at least 1 row and 1 column, found {rows} and {columns}")
        self.rows = rows
        self.columns = columns
        self.over = over

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """The cells, row by row.

        Raises:
            NotObservable: the region is not in the frame, or too small to be cut.
        """
        frame = Box(0, 0, pixels.shape[1], pixels.shape[0])
        region = self._region(pixels, frame)
        if region.intersection(frame) != region or region.width < self.columns or region.height < self.rows:
            raise NotObservable(
                f"Expected a region of at least {self.columns}x{self.rows} pixels inside {frame}, found {region}.",
                "Show the whole of it, or correct the grid's region.",
            )
        return Detected(
            cells=tuple(
                GridCell(number=i + 1, row=i // self.columns, column=i % self.columns, box=box, kind=None)
                for i, box in enumerate(region.split(self.rows, self.columns))
            )
        )

    def _region(self, pixels: NDArray[np.uint8], frame: Box) -> Box:
        if self.over is None or isinstance(self.over, Box):
            return self.over or frame
        found = self.over.detect(pixels)
        return Box.around([thing.box for thing in found.cells or found.marks])
