"""Where text is: edges -> glyphs -> lines. No recognition, and no model."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box

EDGE_STEP = 48  # levels of a channel between neighbours that make a glyph's edge; grey text on black buttons has 90
SPECK = 6  # pixels; what is no higher is a dot or a dash, and belongs to the line beside it
LEAST_HEIGHT = 7  # pixels of a line; the capitals of an eight-point font have seven
MOST_HEIGHT = 72  # pixels of a glyph; higher shapes are pictures and boards
MOST_ASPECT = 40  # widths for one height; wider shapes are rules
FRAME_SHARE = 0.6  # of its outline that a frame round text covers; the letter O covers 0.4
GAP = 0.7  # heights of the lower of two neighbours that a space between words may take
UNLIKE = 2.5  # times as high as its neighbour: not of one line
MOST_GLYPHS = 1500  # a texture has more of them than any interface; the largest are looked at

Stats = NDArray[np.int32]
"""``(n, 5)``: left, top, width, height, and the number of pixels set."""


def text_lines(pixels: NDArray[np.uint8]) -> list[Box]:
    """Boxes that seem to hold a line of text each, from the top; words far apart are lines of their own.

    Icons and other small shapes are among them: whether they are text is for a reader to say.

    Args:
        pixels: ``(height, width, 3)``, uint8, BGR.
    """
    shapes = _without_frames(*_glyphs(pixels))
    if not len(shapes):
        return []
    left, top = shapes[:, 0], shapes[:, 1]
    right, bottom = left + shapes[:, 2], top + shapes[:, 3]
    group = _groups(_neighbours(shapes))
    boxes = [_span(left[g], top[g], right[g], bottom[g]) for g in (group == i for i in np.unique(group))]
    return sorted((b for b in boxes if b.height >= LEAST_HEIGHT), key=lambda b: (b.top, b.left))


def _glyphs(pixels: NDArray[np.uint8]) -> tuple[Stats, NDArray[np.float64]]:
    """Connected edges of a glyph's size, and how much of its outline each covers."""
    blue, green, red = cv2.split(cv2.morphologyEx(pixels, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8)))
    steps = cv2.max(cv2.max(blue, green), red)  # numpy's max over the last axis takes twenty times as long
    _, labels, stats, _ = cv2.connectedComponentsWithStats((steps >= EDGE_STEP).astype(np.uint8), connectivity=8)
    width, height = stats[:, 2], stats[:, 3]
    sized = (height >= 2) & (height <= MOST_HEIGHT) & (width <= MOST_ASPECT * height)
    numbers = [int(i) for i in np.flatnonzero(sized) if i]  # 0 is what lies between the edges
    numbers = sorted(numbers, key=lambda i: -int(stats[i, 4]))[:MOST_GLYPHS]
    shapes = np.asarray(stats[numbers], np.int32)
    places = np.asarray(labels, np.int32)
    covered = [_outline_share(places, shape, i) for i, shape in zip(numbers, shapes, strict=True)]
    return shapes, np.array(covered, np.float64)


def _outline_share(labels: NDArray[np.int32], stats: Stats, number: int) -> float:
    """The part of a shape's bounding rectangle that the shape covers, 0 to 1."""
    left, top, width, height = (int(v) for v in stats[:4])
    own = labels[top : top + height, left : left + width] == number
    return float(np.mean([own[0].mean(), own[-1].mean(), own[:, 0].mean(), own[:, -1].mean()]))


def _without_frames(shapes: Stats, covered: NDArray[np.float64]) -> Stats:
    """The shapes less the frames that hold others, and less the holes of glyphs."""
    holds = _holds(shapes)
    kept = ~(holds.any(axis=1) & (covered >= FRAME_SHARE))
    shapes, holds = shapes[kept], holds[kept][:, kept]
    return shapes[~holds.any(axis=0)]


def _holds(shapes: Stats) -> NDArray[np.bool_]:
    """``(n, n)``: the box of shape i holds that of shape j."""
    left, top = shapes[:, 0], shapes[:, 1]
    right, bottom = left + shapes[:, 2], top + shapes[:, 3]
    inside = (left[:, None] <= left) & (top[:, None] <= top) & (right[:, None] >= right) & (bottom[:, None] >= bottom)
    np.fill_diagonal(inside, val=False)
    return inside


def _neighbours(shapes: Stats) -> NDArray[np.bool_]:
    """``(n, n)``: two shapes stand side by side as glyphs of one line do; each is its own neighbour."""
    left, top, height = shapes[:, 0], shapes[:, 1], shapes[:, 3]
    right, bottom = left + shapes[:, 2], top + height
    gap = np.maximum(left[:, None], left) - np.minimum(right[:, None], right)
    overlap = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    lower, higher = np.minimum(height[:, None], height), np.maximum(height[:, None], height)
    alike = (higher <= UNLIKE * lower) | (lower <= SPECK)
    beside: NDArray[np.bool_] = (gap <= np.maximum(SPECK, GAP * lower)) & (overlap >= 0.4 * lower) & alike
    return beside


def _groups(neighbours: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each shape the least number that can be reached from it through neighbours."""
    group = np.arange(len(neighbours))
    while True:
        least = np.where(neighbours, group, len(group)).min(axis=1)
        least = least[least]
        if np.array_equal(least, group):
            return group
        group = least


def _span(left: Stats, top: Stats, right: Stats, bottom: Stats) -> Box:
    """The least box round boxes."""
    corner = int(left.min()), int(top.min())
    return Box(*corner, int(right.max()) - corner[0], int(bottom.max()) - corner[1])
