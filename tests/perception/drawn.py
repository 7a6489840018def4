"""Screens drawn by hand."""

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box

GROUND, FACE, EDGE = 200, 230, 40


def screen(*boxes: Box, width: int = 400, height: int = 300) -> NDArray[np.uint8]:
    """An even ground with faces, each within a dark edge of one pixel."""
    pixels = np.full((height, width, 3), GROUND, np.uint8)
    for box in boxes:
        button(pixels, box)
    return pixels


def button(pixels: NDArray[np.uint8], box: Box, shade: int = FACE) -> None:
    """A face within an edge; the box is the whole of it."""
    pixels[box.top : box.bottom, box.left : box.right] = EDGE
    inner = box.shrunk(1)
    pixels[inner.top : inner.bottom, inner.left : inner.right] = shade


def written(pixels: NDArray[np.uint8], text: str, left: int, bottom: int, size: float = 0.5) -> None:
    """Dark text."""
    cv2.putText(pixels, text, (left, bottom), cv2.FONT_HERSHEY_SIMPLEX, size, (20, 20, 20), 1)
