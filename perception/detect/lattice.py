"""Find the cells of a board: edges -> closed regions -> a lattice fitted to their centres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.errors import NotObservable
from perception.geometry import Box
from perception.observation import GridCell, Mark

EDGE_STEP = 6  # grey levels between neighbours that make an edge; the faintest grid line met so far is 66
MIN_SIDE = 8  # pixels; smaller closed regions are glyphs
COLOUR_TOLERANCE = 12  # levels a channel may differ; toolkits round 0.5 to 127 or 128
COLOUR_SHARE = 0.01  # of a cell's pixels; the thinnest digit of a 32-pixel cell covers 0.04


class Lattice:
    """A board of equal cells, each found by its outline and named by its colours.

    Args:
        rows: how many rows the board has.
        columns: how many columns the board has.
        kinds: kind -> colours that a cell of that kind shows, as ``#rrggbb`` (several, separated by spaces, must
            all be there). The first kind that fits is taken; a cell that fits none has kind None.

    Marks are numbered row by row from 1, so a cell keeps its number for as long as the board is there. A mark's
    label is its cell's kind, or the cell's name (``B4``) where it has none.
    """

    def __init__(self, *, rows: int, columns: int, kinds: Mapping[str, str] | None = None) -> None:
        if rows < 2 or columns < 2:
            raise ValueError(f"expected at least 2 rows and 2 columns, found {rows} and {columns}")
        self.rows = rows
        self.columns = columns
        self.kinds = {kind: tuple(parse_colour(c) for c in colours.split()) for kind, colours in (kinds or {}).items()}

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Find all cells.

        Raises:
            NotObservable: there is no board of this many rows and columns.
        """
        boxes = self._fit(closed_regions(pixels), Box(0, 0, pixels.shape[1], pixels.shape[0]))
        kinds = self._kinds_of(pixels, boxes)
        cells = tuple(
            GridCell(number=i + 1, row=i // self.columns, column=i % self.columns, box=box, kind=kind)
            for i, (box, kind) in enumerate(zip(boxes, kinds, strict=True))
        )
        marks = tuple(Mark(number=cell.number, box=cell.box, label=cell.kind or cell.name) for cell in cells)
        return Detected(cells=cells, marks=marks)

    def _fit(self, regions: Sequence[Box], frame: Box) -> list[Box]:
        """Boxes of all cells, row by row, from the regions that look like cells."""
        alike = _family(regions, self.rows * self.columns)
        xs = _fit_axis([box.center.x for box in alike])
        ys = _fit_axis([box.center.y for box in alike])
        if (ys.count, xs.count) != (self.rows, self.columns) or len(alike) * 2 < self.rows * self.columns:
            raise NotObservable(
                f"Expected a board of {self.rows} rows and {self.columns} columns, found {len(alike)} cell-like shapes "
                f"in {ys.count} rows and {xs.count} columns, in a window of {frame.width}x{frame.height} pixels.",
                "Show the whole board, large enough and with nothing drawn over it, or correct rows and columns.",
            )
        boxes = [
            Box(xs.edge(column), ys.edge(row), xs.size(column), ys.size(row))
            for row in range(self.rows)
            for column in range(self.columns)
        ]
        return [box.intersection(frame) for box in boxes]

    def _kinds_of(self, pixels: NDArray[np.uint8], boxes: Sequence[Box]) -> list[str | None]:
        """The kind of each cell. Like cells of a rendered board are alike to the byte, so each is judged once."""
        patches = [pixels[b.top : b.bottom, b.left : b.right] for b in (box.shrunk(1) for box in boxes)]
        keys = [patch.tobytes() for patch in patches]
        judged = {key: self._kind(patch) for key, patch in dict(zip(keys, patches, strict=True)).items()}
        return [judged[key] for key in keys]

    def _kind(self, patch: NDArray[np.uint8]) -> str | None:
        """The first kind whose colours the patch shows."""
        levels = patch.astype(np.int16)
        for kind, colours in self.kinds.items():
            if all(_share(levels, colour) >= COLOUR_SHARE for colour in colours):
                return kind
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """Equally spaced lines: cell ``i`` has its centre at ``origin + i * pitch``."""

    origin: float
    pitch: float
    count: int

    def edge(self, i: int) -> int:
        """First pixel of cell ``i``."""
        return round(self.origin + (i - 0.5) * self.pitch)

    def size(self, i: int) -> int:
        """Pixels of cell ``i``; its edge and its size add up to the next cell's edge."""
        return self.edge(i + 1) - self.edge(i)


def parse_colour(text: str) -> tuple[int, int, int]:
    """``#rrggbb`` as ``(blue, green, red)``, the order of a frame's channels."""
    if len(text) != 7 or text[0] != "#":
        raise ValueError(f"expected a colour such as #ff0000, found {text!r}")
    red, green, blue = bytes.fromhex(text[1:])
    return blue, green, red


def closed_regions(pixels: NDArray[np.uint8]) -> list[Box]:
    """Bounding boxes of the even-coloured regions that edges enclose, roughly square ones alone."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    steps = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats((steps <= EDGE_STEP).astype(np.uint8), connectivity=4)
    boxes = [Box(int(s[0]), int(s[1]), int(s[2]), int(s[3])) for s in stats[1:]]
    return [b for b in boxes if min(b.width, b.height) >= MIN_SIDE and 0.7 < b.width / b.height < 1.43]


def _family(regions: Sequence[Box], wanted: int) -> list[Box]:
    """The regions of like size that come nearest to the wanted number; of equals, the larger ones."""
    families = [
        [r for r in regions if 0.75 * side <= min(r.width, r.height) and max(r.width, r.height) <= 1.25 * side]
        for side in sorted({region.width for region in regions})
    ]
    return max(families, key=lambda family: (min(len(family), wanted), _mean_width(family)), default=[])


def _mean_width(boxes: Sequence[Box]) -> float:
    """Mean width; 0 for no boxes."""
    return sum(box.width for box in boxes) / max(1, len(boxes))


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


def _share(patch: NDArray[np.int16], colour: tuple[int, int, int]) -> float:
    """Fraction of a patch's pixels that have a colour, within the tolerance."""
    near = (np.abs(patch - np.array(colour, np.int16)) <= COLOUR_TOLERANCE).all(axis=2)
    return float(near.mean()) if near.size else 0.0
