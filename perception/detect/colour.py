"""Things by their colour: a health bar, an enemy's marker, a highlighted square."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.local import cropped, cuts, placed, whole
from perception.geometry import Box
from perception.observation import Mark


def parse_colour(text: str) -> tuple[int, int, int]:
    """``#rrggbb`` as ``(blue, green, red)``, the order of a frame's channels.

    Raises:
        ValueError: not so written.
    """
    try:
        red, green, blue = bytes.fromhex(text[1:])
        if text[0] == "#" and len(text) == 7:
            return blue, green, red
    except (ValueError, IndexError):
        pass
    raise ValueError(f"expected a colour such as #ff0000, found {text!r}")


class Colour:
    """Finds patches of given colours, each labelled by its colour's name.

    Args:
        colours: name -> ``#rrggbb``.
        tolerance: levels that a channel may differ, 0 to 255.
        smallest: least pixels of a patch.
    """

    margin = 1

    def __init__(self, colours: Mapping[str, str], *, tolerance: int = 12, smallest: int = 16) -> None:
        if not colours or not 0 <= tolerance <= 255:
            raise ValueError(f"expected a colour and a tolerance of 0 to 255, found {dict(colours)} and {tolerance}")
        self.colours = {name: parse_colour(text) for name, text in colours.items()}
        self.tolerance = tolerance
        self.smallest = smallest

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """All patches; pixels belong together that touch, corners too."""
        return Detected(marks=tuple(self.detect_part(pixels, whole(pixels))))

    def detect_part(self, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
        """The patches of a part of the frame."""
        crop, frame = cropped(pixels, part), whole(pixels)
        found = [(box, size, name) for name in self.colours for box, size in self._patches(crop, name)]
        kept = [(b, n) for b, s, n in found if s >= self.smallest or cuts(b.moved(part.left, part.top), part, frame)]
        return placed(kept, part)

    def _patches(self, pixels: NDArray[np.uint8], name: str) -> list[tuple[Box, int]]:
        """Boxes and how many pixels of the colour they hold."""
        colour = np.array(self.colours[name], np.int16)
        low, high = (np.clip(colour + by, 0, 255).astype(np.uint8) for by in (-self.tolerance, self.tolerance))
        _, _, stats, _ = cv2.connectedComponentsWithStats(cv2.inRange(pixels, low, high), connectivity=8)
        return [(Box(*row[:4]), row[4]) for row in stats[1:].tolist()]
