"""Where the boards are in a frame: lattices through closed shapes of like size, and lattices of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.regions import EDGE_STEP, even_regions, region_boxes
from perception.geometry import Box

MIN_SIDE = 8  # pixels of a cell; smaller closed regions are glyphs
LARGEST_CELL = 200  # pixels of a cell that is found by its lines
DRAWN = 0.45  # of a cell's side that must be an edge, for the side to be drawn; a dashed line is half of one
SET_OFF = 0.3  # of an outer row's cells that must be seen to be cells, or the row is not the board's
FAINT = 0.3  # of the clearest lines' strength, below which there is no line


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
    return [board for board in dict.fromkeys(ordered) if min(board.rows, board.columns) >= 2]


def _order(board: Board) -> tuple[int, int]:
    clearness, seen = board.clearness
    return -clearness, -seen


def _candidates(pixels: NDArray[np.uint8]) -> Iterator[tuple[Board, Board]]:
    """Boards as they are found, and without their outer rows and columns."""
    frame = (pixels.shape[1], pixels.shape[0])
    for family in _families(square_regions(pixels)):
        found = _through(family)
        if found is not None:
            yield _inside(found[0], *frame), _inside(found[1], *frame)
    edges = _Edges.of(pixels)
    lines = _of_lines(edges)
    if lines is not None:
        yield lines, _trimmed(lines, edges)


@dataclass(frozen=True, slots=True)
class _Edges:
    """Where a frame's levels step: ``upright[y, x]`` between x - 1 and x, ``level[y, x]`` between y - 1 and y."""

    upright: NDArray[np.uint8]
    level: NDArray[np.uint8]

    @classmethod
    def of(cls, pixels: NDArray[np.uint8]) -> _Edges:
        grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)
        upright, level = np.zeros_like(grey), np.zeros_like(grey)
        if grey.shape[1] > 1:
            upright[:, 1:] = cv2.absdiff(grey[:, 1:], grey[:, :-1]) > EDGE_STEP
        if grey.shape[0] > 1:
            level[1:] = cv2.absdiff(grey[1:], grey[:-1]) > EDGE_STEP
        return cls(upright, level)


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


def _through(family: Sequence[Box]) -> tuple[Board, Board] | None:
    """The lattice through a family's middles, and its core."""
    family = _in_line(family)
    xs, ys = (_axis([box.center.x for box in family]), _axis([box.center.y for box in family]))
    if xs is None or ys is None:
        return None
    seen = np.zeros((ys.count, xs.count), np.bool_)
    for box in family:
        row, column = ys.cell(box.center.y), xs.cell(box.center.x)
        if 0 <= row < ys.count and 0 <= column < xs.count:
            seen[row, column] = True
    whole = Board(xs=xs.edges, ys=ys.edges, seen=int(seen.sum()))
    top, bottom, left, right = _core(seen, seen)
    core = Board(
        xs=xs.edges[left : right + 1], ys=ys.edges[top : bottom + 1], seen=int(seen[top:bottom, left:right].sum())
    )
    return whole, core


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
    return [int(np.abs(means - center).argmin()) for center in centers]


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


def _of_lines(edges: _Edges) -> Board | None:
    """The lattice of the lines that repeat most clearly; the part of each axis narrows the other one's."""
    height, width = edges.level.shape
    ys, xs = (0, height), (0, width)
    columns: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    for _ in range(3):
        columns = _repeated(edges.upright[ys[0] : ys[-1]].mean(axis=0))
        if len(columns) < 3:
            return None
        xs = (columns[0], columns[-1])
        rows = _repeated(edges.level[:, xs[0] : xs[-1]].mean(axis=1))
        if len(rows) < 3:
            return None
        ys = (rows[0], rows[-1])
    return _seen(columns, rows, edges)


def _repeated(strength: NDArray[np.float64]) -> tuple[int, ...]:
    """The longest run of lines at equal distances, out of each place's strength as a line."""
    best, pitch, first = 0.0, 0, 0
    for distance in range(MIN_SIDE, min(LARGEST_CELL, len(strength) // 3) + 1):
        whole = strength[: len(strength) // distance * distance].reshape(-1, distance)
        clear = (whole - strength.mean()).mean(axis=0) * np.sqrt(len(whole))
        if clear.max() > 1.02 * best:  # twice the distance is never clearer; a hair more is chance
            best, pitch, first = float(clear.max()), distance, int(clear.argmax())
    return _longest_run(strength, range(first, len(strength), pitch)) if pitch else ()


def _longest_run(strength: NDArray[np.float64], places: range) -> tuple[int, ...]:
    """The most places in a row that hold a line; a single one may be missing in between."""
    near = np.array([strength[max(0, place - 1) : place + 2].max() for place in places])
    lines = near >= FAINT * np.sort(near)[-max(3, len(near) // 3) :].mean()
    runs, run = [[0]], list[int]()
    for i, is_line in enumerate(lines):
        if is_line and (not run or i - run[-1] <= 2):
            run = [*range(run[0], i + 1)] if run else [i]
        elif is_line:
            run = [i]
        runs.append(run)
    return tuple(places[i] for i in max(runs, key=len))


def _drawn(xs: Sequence[int], ys: Sequence[int], edges: _Edges) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which sides are drawn, by an edge along most of them and two pixels off at most.

    Upright ones ``(rows, columns + 1)``, level ones ``(rows + 1, columns)``.
    """
    upright = np.asarray(cv2.dilate(edges.upright, np.ones((1, 5), np.uint8)), np.uint8)
    level = np.asarray(cv2.dilate(edges.level, np.ones((5, 1), np.uint8)), np.uint8)
    return _along(upright, xs, ys) >= DRAWN, (_along(level.T, ys, xs) >= DRAWN).T


def _bordered(sides: NDArray[np.bool_], floors: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which cells, ``(rows, columns)``, have at least two drawn sides."""
    return np.asarray(np.sum([sides[:, :-1], sides[:, 1:], floors[:-1], floors[1:]], axis=0) >= 2)


def _seen(xs: Sequence[int], ys: Sequence[int], edges: _Edges) -> Board:
    """A lattice, with how many of its cells are to be seen."""
    return Board(xs=tuple(xs), ys=tuple(ys), seen=int(_bordered(*_drawn(xs, ys, edges)).sum()))


def _along(mask: NDArray[np.uint8], xs: Sequence[int], ys: Sequence[int]) -> NDArray[np.float64]:
    """Share of edges along each upright line between each pair of rows: ``(len(ys) - 1, len(xs))``."""
    lines = mask[:, np.clip(xs, 0, mask.shape[1] - 1)].astype(np.float64)
    sums = np.vstack([np.zeros((1, len(xs))), lines.cumsum(axis=0)])
    ends = np.clip(ys, 0, mask.shape[0])
    return np.asarray(np.diff(sums[ends], axis=0) / np.maximum(1, np.diff(ends))[:, None])


def _trimmed(board: Board, edges: _Edges) -> Board:
    """A board of lines without outer rows and columns in which hardly a cell is set off from the next."""
    sides, floors = _drawn(board.xs, board.ys, edges)
    inner_sides = np.pad(sides[:, 1:-1], ((0, 0), (0, 1)), mode="edge")
    inner_floors = np.pad(floors[1:-1], ((0, 1), (0, 0)), mode="edge")
    top, bottom, left, right = _core(inner_sides, inner_floors)
    return _seen(board.xs[left : right + 1], board.ys[top : bottom + 1], edges)


def _inside(board: Board, width: int, height: int) -> Board:
    """A board whose cells end where the frame does."""
    xs = tuple(min(max(0, x), width) for x in board.xs)
    return replace(board, xs=xs, ys=tuple(min(max(0, y), height) for y in board.ys))
