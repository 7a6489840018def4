"""What the agent saw, drawn: each mark's box, number and label on the frame."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box
from perception.observation import Mark, Observation

PALETTE = ((36, 36, 220), (200, 110, 0), (0, 130, 0), (170, 0, 170), (0, 110, 190), (120, 90, 0))  # BGR
FONT = cv2.FONT_HERSHEY_SIMPLEX
MIN_WIDTH = 640  # pixels; smaller frames are enlarged so that the numbers can be read
SMALL = 40  # pixels; a mark of less width or height gets a small tag
MOST_ENLARGED = 8  # times
FLAT = 24  # pixels; the tag of a mark of less height stands above it, or it would hide what it names
TAG = 12  # pixels of such a tag's height
WHITE = (255, 255, 255)

Picture = NDArray[np.uint8]
"""``(height, width, 3)``, BGR."""


def draw(seen: Observation, chosen: int | None = None) -> Picture:
    """A copy of the frame, ``(height, width, 3)``, BGR, with its marks; the chosen one filled.

    Frames narrower than 640 pixels are enlarged by a whole factor.
    """
    factor = min(MOST_ENLARGED, max(1, -(-MIN_WIDTH // max(1, seen.frame.pixels.shape[1]))))
    canvas = seen.frame.pixels.repeat(factor, axis=0).repeat(factor, axis=1)
    labels = sorted({mark.label or "" for mark in seen.marks})
    colours = {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(labels)}
    for mark in seen.marks:
        _draw_mark(canvas, mark, mark.box.scaled(factor), colours[mark.label or ""], filled=mark.number == chosen)
    return canvas


def _draw_mark(canvas: Picture, mark: Mark, box: Box, colour: tuple[int, int, int], *, filled: bool) -> None:
    small = min(box.width, box.height) < SMALL
    inner = canvas[box.top : box.bottom, box.left : box.right]
    if filled:
        inner[:] = (inner * 0.6 + np.array(colour) * 0.4).astype(np.uint8)
    cv2.rectangle(inner, (0, 0), (box.width - 1, box.height - 1), colour, 1 if small else 2)
    if box.height < FLAT:
        above = box.moved(0, -TAG).intersection(Box(0, 0, canvas.shape[1], canvas.shape[0]))
        _tag(canvas[above.top : above.bottom, above.left :], str(mark.number), colour, 0.35)
        return
    height = _tag(inner, str(mark.number), colour, 0.35 if small else 0.5)
    if mark.label and box.height >= 2 * height:
        _label(inner, mark.label, colour)


def _tag(inner: Picture, number: str, colour: tuple[int, int, int], size: float) -> int:
    """The number in the box's left top corner; how high that is, in pixels."""
    (width, height), _ = cv2.getTextSize(number, FONT, size, 1)
    cv2.rectangle(inner, (0, 0), (width + 4, height + 4), colour, -1)
    cv2.putText(inner, number, (2, height + 2), FONT, size, WHITE, 1, cv2.LINE_AA)
    return height + 4


def _label(inner: Picture, text: str, colour: tuple[int, int, int]) -> None:
    """The label at the box's foot, cut where the box ends, on a ground that it can be read on."""
    label = text.encode("ascii", "replace").decode()  # the drawing font knows ASCII alone
    (width, height), _ = cv2.getTextSize(label, FONT, 0.4, 1)
    foot = inner.shape[0] - 2
    ground = inner[foot - height - 3 : foot + 1, 1 : width + 4]
    ground[:] = (ground * 0.25 + np.array(WHITE) * 0.75).astype(np.uint8)
    cv2.putText(inner, label, (2, foot - 2), FONT, 0.4, colour, 1, cv2.LINE_AA)
