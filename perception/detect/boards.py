"""Where the boards are in a frame: lattices through closed shapes of like size, and lattices of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise

import numpy as np
from numpy.typing import NDArray

from perception.detect.lines import Edges, bordered, drawn, lines_of
from perception.detect.regions import even_regions, region_boxes
from perception.geometry import Box

MOST_CELLS = 2000  # of a board; more are a texture
MIN_SIDE = 8  # pixels of a cell; smaller closed regions are glyphs
SET_OFF = 0.3  # of an outer row's cells that must be seen to be cells, or the row is not the board's


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A lattice of equal cells.

    Attributes:
        xs: where its columns begin, and where the last one ends, in capture pixels.
        ys: the same of its rows.
        seen: how many of its cells are there to be seen: by a shape of their own, or by two drawn sides or more.
    """

    xs: tuple[int, ...]
    ys: tuple[int, ...]
    seen: int

    @property
    def rows(self) -> int:
        """How many rows."""
        return max(0, len(self.ys) - 1)

    @property
    def columns(self) -> int:
        """How many columns."""
        return max(0, len(self.xs) - 1)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All cells, row by row."""
        sides = [(x, right - x) for x, right in pairwise(self.xs)]
        return tuple(Box(x, y, width, bottom - y) for y, bottom in pairwise(self.ys) for x, width in sides)

    @property
    def clearness(self) -> tuple[int, int]:
        """The larger, the clearer: pixels of cells that are seen, times their share, in steps; then their number."""
        cells = max(1, self.rows * self.columns)
        area = (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0]) if cells > 1 else 0
        return (round(8 * np.log2(max(1.0, area * (self.seen / cells) ** 2))), self.seen)


def boards(pixels: NDArray[np.uint8]) -> list[Board]:
    """All boards that could be in a frame, the clearest first.

    Each is there without the outer rows and columns in which hardly a cell is seen to be one; last, with them.
    """
    found = list(_candidates(pixels))
    ordered = [board for part in (1, 0) for board in sorted([each[part] for each in found], key=_order)]
    return [b for b in dict.fromkeys(ordered) if min(b.rows, b.columns) >= 2 and b.rows * b.columns <= MOST_CELLS]


def _order(board: Board) -> tuple[int, int]:
    clearness, seen = board.clearness
    return -clearness, -seen


def _candidates(pixels: NDArray[np.uint8]) -> Iterator[tuple[Board, Board]]:
    """Boards as they are found, and without their outer rows and columns."""
    frame = (pixels.shape[1], pixels.shape[0])
    edges = Edges.of(pixels)
    for family in _families(square_regions(pixels)):
        found = _through(family, edges)
        if found is not None:
            yield _inside(found[0], *frame), _inside(found[1], *frame)
    lines = lines_of(edges)
    if lines is not None:
        yield _between(*lines, edges)


def square_regions(pixels: NDArray[np.uint8]) -> list[Box]:
    """Bounding boxes of the even-coloured regions that edges enclose, roughly square ones alone."""
    _, stats = even_regions(pixels)
    boxes = region_boxes(stats, MIN_SIDE).values()
    return [box for box in boxes if 0.7 < box.width / box.height < 1.43]


def _families(regions: Sequence[Box]) -> list[list[Box]]:
    """Regions of like size, for each size that there is."""
    sides = sorted({region.width for region in regions})
    families = [
        [r for r in regions if 0.75 * side <= min(r.width, r.height) and max(r.width, r.height) <= 1.25 * side]
        for side in sides
    ]
    return [family for i, family in enumerate(families) if family and family not in families[:i]]


def _through(family: Sequence[Box], edges: Edges) -> tuple[Board, Board] | None:
    """The lattice through a family's middles, and its core."""
    family = _in_line(family)
    xs, ys = (_axis([box.center.x for box in family]), _axis([box.center.y for box in family]))
    if xs is None or ys is None:
        return None
    shapes = np.zeros((ys.count, xs.count), np.bool_)
    for box in family:
        row, column = ys.cell(box.center.y), xs.cell(box.center.x)
        if 0 <= row < ys.count and 0 <= column < xs.count:
            shapes[row, column] = True
    seen = shapes | bordered(xs.edges, ys.edges, edges)
    return _with_core(xs.edges, ys.edges, seen, _core(shapes, shapes))


def _between(xs: tuple[int, ...], ys: tuple[int, ...], edges: Edges) -> tuple[Board, Board]:
    """The lattice of some lines, and its core: outer rows in which hardly a cell is set off from the next are not."""
    sides, floors = drawn(xs, ys, edges)
    inner_sides = np.pad(sides[:, 1:-1], ((0, 0), (0, 1)), mode="edge")
    inner_floors = np.pad(floors[1:-1], ((0, 1), (0, 0)), mode="edge")
    return _with_core(xs, ys, bordered(xs, ys, edges), _core(inner_sides, inner_floors))


def _with_core(
    xs: tuple[int, ...], ys: tuple[int, ...], seen: NDArray[np.bool_], core: tuple[int, int, int, int]
) -> tuple[Board, Board]:
    """A lattice and a part of it, which rows and columns bound: top, bottom, left, right."""
    top, bottom, left, right = core
    inner = int(seen[top:bottom, left:right].sum())
    whole = Board(xs=xs, ys=ys, seen=int(seen.sum()))
    return whole, Board(xs=xs[left : right + 1], ys=ys[top : bottom + 1], seen=inner)


def _in_line(family: Sequence[Box]) -> list[Box]:
    """The regions that stand in rows and columns with others: what lies about beside a board is not of it."""
    kept = list(family)
    while True:
        lines = [_line_of([box.center.x for box in kept]), _line_of([box.center.y for box in kept])]
        sizes = [Counter(line) for line in lines]
        fewest = [SET_OFF * max(size.values(), default=0) for size in sizes]
        strong = [
            all(s[line[i]] >= f for s, line, f in zip(sizes, lines, fewest, strict=True)) for i in range(len(kept))
        ]
        if all(strong):
            return kept
        kept = list(compress(kept, strong))


def _line_of(centers: Sequence[int]) -> list[int]:
    """For each middle the number of the line that it is on."""
    means = np.array(_clusters(sorted(centers)))
    apart = np.abs(means[:, None] - np.array(centers)[None, :])
    return [int(line) for line in apart.argmin(axis=0)] if len(means) else []


def _core(in_rows: NDArray[np.bool_], in_columns: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of what is left without outer rows and columns of which too few cells count.

    Args:
        in_rows: which cells count in their rows, ``(rows, columns)``.
        in_columns: which cells count in their columns, ``(rows, columns)``.
    """
    top, left, (bottom, right) = 0, 0, in_rows.shape
    while bottom > top and right > left:
        rows = in_rows[top:bottom, left:right].mean(axis=1)
        columns = in_columns[top:bottom, left:right].mean(axis=0)
        ends = (rows[0], rows[-1], columns[0], columns[-1])
        least = min(ends)
        if least >= SET_OFF:
            break
        at = ends.index(least)
        top, bottom, left, right = top + (at == 0), bottom - (at == 1), left + (at == 2), right - (at == 3)
    return top, bottom, left, right


@dataclass(frozen=True, slots=True)
class _Axis:
    """Equally spaced middles: cell ``i`` has its middle at ``origin + i * pitch``."""

    origin: float
    pitch: float
    count: int

    @property
    def edges(self) -> tuple[int, ...]:
        return tuple(round(self.origin + (i - 0.5) * self.pitch) for i in range(self.count + 1))

    def cell(self, center: int) -> int:
        """Which cell a middle belongs to."""
        return round((center - self.origin) / self.pitch)


def _axis(centers: Sequence[int]) -> _Axis | None:
    """The equally spaced middles through one coordinate of the regions' middles. None: there are fewer than two."""
    groups = _clusters(sorted(centers))
    if len(groups) < 2:
        return None
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
    return [sum(group) / len(group) for group in groups]


def _inside(board: Board, width: int, height: int) -> Board:
    """A board whose cells end where the frame does."""
    xs = tuple(min(max(0, x), width) for x in board.xs)
    return replace(board, xs=xs, ys=tuple(min(max(0, y), height) for y in board.ys))
