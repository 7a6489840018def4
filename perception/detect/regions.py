"""Closed shapes: buttons, tiles, cards, cells: whatever an edge encloses that is about as full as its box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.local import cropped, cuts, placed, whole
from perception.geometry import Box, overlaps
from perception.observation import Mark

EDGE_STEP = 6  # grey levels between neighbours that make an edge; the faintest grid line met so far is 66
LARGEST = 0.5  # of the frame; what is larger is the ground that things lie on
MOST = 1000  # shapes, the largest ones; a texture has more
ROUND = 0.5  # overlap from which a shape is but the rim or the shadow of a full one
SAME = 0.7  # overlap from which two shapes are one: a button, and its face within its border

_last: tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]] | None = None


class Regions:
    """Finds closed shapes by their edges. They have no labels.

    Args:
        smallest: least width and height, in pixels.
        slimmest: most times that a shape may be as long as it is wide.
        fullest: how much of its box a shape must fill, 0 to 1, its holes counted as full.
    """

    margin = 2

    def __init__(self, *, smallest: int = 12, slimmest: float = 12.0, fullest: float = 0.75) -> None:
        if smallest < 1 or slimmest < 1 or not 0 < fullest <= 1:
            raise ValueError(
                f"expected smallest >= 1, slimmest >= 1 and fullest within 0 and 1, found {smallest}, {slimmest} and "
                f"{fullest}"
            )
        self.smallest = smallest
        self.slimmest = slimmest
        self.fullest = fullest

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """All shapes; of two that are nearly the same the larger one."""
        return Detected(marks=tuple(self.detect_part(pixels, whole(pixels))))

    def detect_part(self, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
        """The shapes of a part of the frame, and all that the part's edge cuts."""
        frame, (labels, stats) = whole(pixels), even_regions(cropped(pixels, part))
        regions = region_boxes(stats, 2)
        cut = {i: box for i, box in regions.items() if cuts(box.moved(part.left, part.top), part, frame)}
        large = [i for i, b in regions.items() if self.smallest <= min(b.width, b.height) and i not in cut]
        fitting = [i for i in large if self._fits(regions[i]) and regions[i].area <= LARGEST * frame.area]
        chosen = sorted(fitting, key=lambda i: -regions[i].area)[: 2 * MOST]
        shapes = self._shapes(labels, stats, {i: regions[i] for i in chosen})
        return placed(((box, None) for box in (*cut.values(), *_distinct(shapes))), part)

    def _shapes(self, labels: NDArray[np.int32], stats: NDArray[np.int32], boxes: Mapping[int, Box]) -> list[Box]:
        """Regions that are full by themselves, and those besides that are full with what they enclose."""
        is_full = {i: bool(stats[i, 4] >= self.fullest * box.area) for i, box in boxes.items()}
        full, others = ([i for i, full in is_full.items() if full is wanted] for wanted in (True, False))
        covered = overlaps([boxes[i] for i in others], [boxes[i] for i in full]).max(axis=1, initial=0.0) >= ROUND
        open_ = [i for i, is_covered in zip(others, covered, strict=True) if not is_covered]
        filled = [i for i in open_ if _filled(labels, i, boxes[i]) >= self.fullest]
        return [boxes[i] for i in (*full, *filled)]

    def _fits(self, box: Box) -> bool:
        short, long = sorted((box.width, box.height))
        return long <= self.slimmest * short


def _distinct(shapes: Sequence[Box]) -> list[Box]:
    """The largest of them; of two that are nearly the same the larger one."""
    boxes = sorted(shapes, key=lambda box: (-box.area, box.top, box.left))[:MOST]
    same = overlaps(boxes, boxes) >= SAME
    kept, open_ = list[Box](), np.ones(len(boxes), np.bool_)
    for i, box in enumerate(boxes):
        if open_[i]:
            kept.append(box)
            open_ &= ~same[i]
    return kept


def even_regions(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Regions without an edge inside: which pixel belongs to which, and their boxes and areas as OpenCV gives them.

    The first region is the edges themselves. The last answer is kept: several detectors ask about one frame.
    """
    global _last  # noqa: PLW0603 - a memory of one answer, compared pixel by pixel
    known = _last
    if known is None or known[0].shape != pixels.shape or cv2.norm(known[0], pixels, cv2.NORM_INF) != 0:
        _last = known = (pixels.copy(), *_even_regions(pixels))
    return known[1], known[2]


def _even_regions(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    steps = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    flat = (steps <= EDGE_STEP).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(flat, connectivity=4)
    return np.asarray(labels, np.int32), np.asarray(stats, np.int32)


def region_boxes(stats: NDArray[np.int32], smallest: int) -> dict[int, Box]:
    """The boxes of regions that are at least so wide and high, by the regions' numbers."""
    large = np.flatnonzero((stats[1:, 2:4] >= smallest).all(axis=1)) + 1
    return {i: Box(*row) for i, row in zip(large.tolist(), stats[large, :4].tolist(), strict=True)}


def _filled(labels: NDArray[np.int32], region: int, box: Box) -> float:
    """How much of its box a region fills, with all that it encloses."""
    patch = (labels[box.top : box.bottom, box.left : box.right] == region).astype(np.uint8)
    contours, _ = cv2.findContours(patch, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(patch, contours, -1, 1, cv2.FILLED)
    return cv2.countNonZero(patch) / box.area
