"""Where a frame's levels step, which of those steps are lines at equal distances, and which cells such lines border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.regions import EDGE_STEP

CLOSEST, FARTHEST = 8, 200  # pixels between lines that are looked for
DRAWN = 0.45  # of a cell's side that must be an edge, for the side to be drawn; a dashed line is half of one
FAINT = 0.3  # of the clearest lines' strength, below which there is no line
BUSY = 0.4  # of the pixels that are edges; where there are more, every line looks drawn
OFF = 2  # pixels by which an edge may miss a line


@dataclass(frozen=True, slots=True)
class Edges:
    """Where a frame's levels step, as masks of its size.

    Attributes:
        upright: between the pixel and the one to its left.
        level: between the pixel and the one above.
        near_upright: where an upright edge is two pixels off at most.
        near_level: where a level edge is two pixels off at most.
    """

    upright: NDArray[np.uint8]
    level: NDArray[np.uint8]
    near_upright: NDArray[np.uint8]
    near_level: NDArray[np.uint8]

    @classmethod
    def of(cls, pixels: NDArray[np.uint8]) -> Edges:
        """The edges of a frame, ``(height, width, 3)``, BGR."""
        grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)
        upright, level = np.zeros_like(grey), np.zeros_like(grey)
        if grey.shape[1] > 1:
            upright[:, 1:] = cv2.absdiff(grey[:, 1:], grey[:, :-1]) > EDGE_STEP
        if grey.shape[0] > 1:
            level[1:] = cv2.absdiff(grey[1:], grey[:-1]) > EDGE_STEP
        wide, high = np.ones((1, 2 * OFF + 1), np.uint8), np.ones((2 * OFF + 1, 1), np.uint8)
        near = (cv2.dilate(upright, wide), cv2.dilate(level, high))
        return cls(upright, level, np.asarray(near[0], np.uint8), np.asarray(near[1], np.uint8))


def lines_of(edges: Edges) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The lattice of the lines that repeat most clearly: where columns begin, and rows. None: fewer than three lines.

    The part of each axis narrows where the other one is looked for.
    """
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
    inside = edges.upright[ys[0] : ys[-1], xs[0] : xs[-1]].mean()
    return (columns, rows) if inside < BUSY else None


def _repeated(strength: NDArray[np.float64]) -> tuple[int, ...]:
    """The longest run of lines at equal distances, out of each place's strength as a line."""
    best, pitch, first = 0.0, 0, 0
    above = strength - strength.mean()
    for distance in range(CLOSEST, min(FARTHEST, len(strength) // 3) + 1):
        count = len(strength) // distance
        clear = np.add.reduce(above[: count * distance].reshape(count, distance), axis=0)
        at = int(clear.argmax())
        clearest = float(clear[at]) / count**0.5
        if clearest > 1.02 * best:  # twice the distance is never clearer; a hair more is chance
            best, pitch, first = clearest, distance, at
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


def drawn(xs: Sequence[int], ys: Sequence[int], edges: Edges) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which sides are drawn, by an edge along most of them and two pixels off at most.

    Upright ones ``(rows, columns + 1)``, level ones ``(rows + 1, columns)``.
    """
    floors = _along(edges.near_level.T, ys, xs).T
    return _along(edges.near_upright, xs, ys) >= DRAWN, floors >= DRAWN


def bordered(xs: Sequence[int], ys: Sequence[int], edges: Edges) -> NDArray[np.bool_]:
    """Which cells, ``(rows, columns)``, have at least two drawn sides."""
    sides, floors = drawn(xs, ys, edges)
    return np.asarray(np.sum([sides[:, :-1], sides[:, 1:], floors[:-1], floors[1:]], axis=0) >= 2)


def _along(mask: NDArray[np.uint8], xs: Sequence[int], ys: Sequence[int]) -> NDArray[np.float64]:
    """Share of edges along each upright line between each pair of rows: ``(len(ys) - 1, len(xs))``."""
    lines = mask[:, np.clip(xs, 0, mask.shape[1] - 1)].astype(np.float64)
    sums = np.vstack([np.zeros((1, len(xs))), lines.cumsum(axis=0)])
    ends = np.clip(ys, 0, mask.shape[0])
    return np.asarray(np.diff(sums[ends], axis=0) / np.maximum(1, np.diff(ends))[:, None])
