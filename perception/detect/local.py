"""Look again only where pixels changed, with any detector whose marks depend on the pixels near them alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected, Local
from perception.geometry import Box
from perception.marks import numbered, renumbered
from perception.observation import Mark

TRIES = 3  # of a part, each larger than the one before
GROW = 24  # pixels by which a part that cuts something is grown on each side
GROUND_SIDES = 4  # of a part that a shape reaches: it is what the part lies on, and was there before


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
    again. A part whose edge cuts something in two that the change touches is made larger; where that does not help, all
    of the frame is looked at. What its edge cuts and the change leaves alone is what it was.
    """
    frame = whole(pixels)
    marks = list(before.marks)
    for box in dirty:
        changed = box.grown(detector.margin)
        looked = _around(detector, pixels, marks, changed, frame)
        if looked is None:
            return detector.detect(pixels)
        part, found = looked
        kept = [m for m in marks if not part.holds(m.box) or (cuts(m.box, part, frame) and not m.box.touches(changed))]
        marks = kept + found
    return Detected(marks=renumbered(marks))


def _around(
    detector: Local, pixels: NDArray[np.uint8], marks: Sequence[Mark], changed: Box, frame: Box
) -> tuple[Box, list[Mark]] | None:
    """A part that cuts nothing in two that changed, and the marks in it. None: there is none that is worth it."""
    part = changed
    for _ in range(TRIES):
        part = _whole_marks(part, marks).grown(detector.margin + 1).intersection(frame)
        sides = [(mark, _reached(mark.box, part, frame)) for mark in detector.detect_part(pixels, part)]
        cut = [mark.box for mark, reached in sides if 0 < reached < GROUND_SIDES and mark.box.touches(changed)]
        if not cut:
            return part, [mark for mark, reached in sides if reached == 0]
        part = part.grown(GROW)
    return None


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


def cuts(box: Box, part: Box, frame: Box) -> bool:
    """True when a box in a part ends where the part does and the frame goes on."""
    return part != frame and _reached(box, part, frame) > 0


def _reached(box: Box, part: Box, frame: Box) -> int:
    """How many edges of the part, that are no edges of the frame, a box reaches."""
    sides = zip(_sides(box), _sides(part), _sides(frame), strict=True)
    return sum(own == edge != outer for own, edge, outer in sides)


def _sides(box: Box) -> tuple[int, int, int, int]:
    return (box.left, box.top, box.right, box.bottom)
