"""Sensors: cheap, model-free questions to a frame."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from perception.image import read_png
from perception.observation import Frame

MATCH_FLOOR = 0.95  # normalised correlation; the same glyphs give 1.0, other words of the same font below 0.7


class TemplateShown:
    """Is a picture on the screen? Compares grey levels at the picture's own size, anywhere in the frame.

    Args:
        path: a PNG cut out of a frame.

    Raises:
        OSError: there is no image there.
    """

    def __init__(self, path: Path) -> None:
        self._template = cv2.cvtColor(read_png(path), cv2.COLOR_BGR2GRAY)

    def __call__(self, frame: Frame) -> bool:
        """True when the picture is in the frame."""
        height, width = frame.pixels.shape[:2]
        if self._template.shape[0] > height or self._template.shape[1] > width:
            return False
        grey = cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY)
        match = cv2.matchTemplate(grey, self._template, cv2.TM_CCOEFF_NORMED)
        return bool(np.max(match) >= MATCH_FLOOR)
