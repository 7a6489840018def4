"""Look again only where pixels changed, with any detector whose marks depend on the pixels near them alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected, Local
from perception.geometry import Box
from perception.marks import numbered, renumbered
from perception.observation import Mark

GROUND_SIDES = 3  # of a part that a shape reaches: it is what the part lies on, and was there before


def whole(pixels: NDArray[np.uint8]) -> Box:
    """All of a frame."""
    return Box(0, 0, pixels.shape[1], pixels.shape[0])


def cropped(pixels: NDArray[np.uint8], part: Box) -> NDArray[np.uint8]:
    """The pixels of a part."""
    return np.ascontiguousarray(pixels[part.top : part.bottom, part.left : part.right])


def placed(found: Iterable[tuple[Box, str | None]], part: Box) -> list[Mark]:
    """Marks out of boxes and labels in a part's coordinates, in the frame's."""
    return list(numbered((box.moved(part.left, part.top), label) for box, label in found))


def redetect(detector: Local, pixels: NDArray[np.uint8], before: Detected, dirty: Sequence[Box]) -> Detected:
    """What is in a frame that differs in ``dirty`` alone from one in which ``before`` was found.

    Marks away from the changed parts are kept; the parts, with the whole of every mark that they touch, are looked at
    again. Where a part's edge may cut a new mark in two, all of the frame is.
    """
    frame = whole(pixels)
    marks = list(before.marks)
    for box in dirty:
        part = _whole_marks(box.grown(detector.margin), marks).grown(detector.margin + 1).intersection(frame)
        found = [(mark, _reached(mark.box, part, frame)) for mark in detector.detect_part(pixels, part)]
        if any(0 < sides < GROUND_SIDES for _, sides in found):
            return detector.detect(pixels)
        kept = [mark for mark in marks if not part.holds(mark.box)]
        marks = kept + [mark for mark, sides in found if sides == 0]
    return Detected(marks=renumbered(marks))


def _whole_marks(part: Box, marks: Sequence[Mark]) -> Box:
    """A part, grown until it cuts no mark in two."""
    while True:
        grown = part
        for mark in marks:
            if mark.box.touches(part):
                grown = grown.union(mark.box)
        if grown == part:
            return part
        part = grown


def _reached(box: Box, part: Box, frame: Box) -> int:
    """How many edges of the part, that are no edges of the frame, a box reaches."""
    sides = zip(_sides(box), _sides(part), _sides(frame), strict=True)
    return sum(own == edge != outer for own, edge, outer in sides)


def _sides(box: Box) -> tuple[int, int, int, int]:
    return (box.left, box.top, box.right, box.bottom)
