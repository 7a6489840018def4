"""Look again only where pixels changed, with any detector whose marks depend on the pixels near them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected, Local
from perception.geometry import Box
from perception.marks import renumbered
from perception.observation import Mark


def redetect(detector: Local, pixels: NDArray[np.uint8], before: Detected, dirty: Sequence[Box]) -> Detected:
    """What is in a frame that differs in ``dirty`` alone from one in which ``before`` was found.

    Marks away from the changed parts are kept; the parts, with the whole of every mark that they touch, are shown to
    the detector. Where a part's edge may cut a new mark in two, all of the frame is.
    """
    frame = Box(0, 0, pixels.shape[1], pixels.shape[0])
    marks = list(before.marks)
    for box in dirty:
        part = _whole_marks(box.grown(detector.margin), marks).grown(detector.margin + 1).intersection(frame)
        found = _in_part(detector, pixels, part)
        if any(_is_cut(mark.box, part, frame) for mark in found):
            return detector.detect(pixels)
        marks = [mark for mark in marks if mark.box.intersection(part) != mark.box] + found
    return Detected(marks=renumbered(marks))


def _whole_marks(part: Box, marks: Sequence[Mark]) -> Box:
    """A part, grown until it cuts no mark in two."""
    while True:
        grown = part
        for mark in marks:
            if not mark.box.intersection(part).is_empty:
                grown = grown.union(mark.box)
        if grown == part:
            return part
        part = grown


def _in_part(detector: Local, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
    """What the detector finds in a part, in the frame's coordinates."""
    crop = np.ascontiguousarray(pixels[part.top : part.bottom, part.left : part.right])
    return [replace(mark, box=mark.box.moved(part.left, part.top)) for mark in detector.detect(crop).marks]


def _is_cut(box: Box, part: Box, frame: Box) -> bool:
    """True when a box reaches an edge of the part that is no edge of the frame."""
    sides = zip(_sides(box), _sides(part), _sides(frame), strict=True)
    return any(own == edge != outer for own, edge, outer in sides)


def _sides(box: Box) -> tuple[int, int, int, int]:
    return (box.left, box.top, box.right, box.bottom)
