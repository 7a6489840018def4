"""What the agent saw, drawn: each mark's box, number and label on the frame."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.observation import Mark, Observation

PALETTE = ((36, 36, 220), (200, 110, 0), (0, 130, 0), (170, 0, 170), (0, 110, 190), (120, 90, 0))  # BGR
FONT = cv2.FONT_HERSHEY_SIMPLEX
MIN_WIDTH = 640  # pixels; smaller frames are enlarged so that the numbers can be read


def draw(seen: Observation, chosen: int | None = None) -> NDArray[np.uint8]:
    """A copy of the frame, ``(height, width, 3)``, BGR, with its marks; the chosen one filled.

    Frames narrower than 640 pixels are enlarged by a whole factor.
    """
    factor = max(1, -(-MIN_WIDTH // max(1, seen.frame.pixels.shape[1])))
    canvas = seen.frame.pixels.repeat(factor, axis=0).repeat(factor, axis=1)
    colours = {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(sorted({str(m.label) for m in seen.marks}))}
    for mark in seen.marks:
        _draw_mark(canvas, mark, factor, colours[str(mark.label)], filled=mark.number == chosen)
    return canvas


def _draw_mark(
    canvas: NDArray[np.uint8], mark: Mark, factor: int, colour: tuple[int, int, int], *, filled: bool
) -> None:
    box = mark.box
    corner = (box.left * factor, box.top * factor)
    opposite = (box.right * factor - 1, box.bottom * factor - 1)
    cv2.rectangle(canvas, corner, opposite, colour, 3)
    if filled:
        inner = canvas[corner[1] : opposite[1], corner[0] : opposite[0]]
        inner[:] = (inner * 0.6 + np.array(colour) * 0.4).astype(np.uint8)
    _tag(canvas, corner, str(mark.number), colour)
    if mark.label:
        label = mark.label.encode("ascii", "replace").decode()  # the drawing font knows ASCII alone
        cv2.putText(canvas, label, (corner[0] + 4, opposite[1] - 6), FONT, 0.4, colour, 1, cv2.LINE_AA)


def _tag(canvas: NDArray[np.uint8], corner: tuple[int, int], text: str, colour: tuple[int, int, int]) -> None:
    (width, height), _ = cv2.getTextSize(text, FONT, 0.5, 1)
    x, y = corner
    cv2.rectangle(canvas, (x, y), (x + width + 6, y + height + 6), colour, -1)
    cv2.putText(canvas, text, (x + 3, y + height + 3), FONT, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
