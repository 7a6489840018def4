"""Text as marks. Lines are found by their shape, each is read once, and what was read is remembered by its pixels."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.text_engines import RapidOcr, Tesseract, TextReader, Word, with_margin
from perception.detect.text_lines import text_lines
from perception.geometry import Box
from perception.marks import numbered
from perception.observation import MAX_TEXT

__all__ = ["FindLines", "RapidOcr", "Tesseract", "Text", "TextReader", "Word", "text_lines", "whole"]

FindLines = Callable[[NDArray[np.uint8]], Sequence[Box]]
"""From ``(height, width, 3)``, uint8, BGR, to boxes inside it that seem to hold a line of text each."""


class Text:
    """Each line of text as a mark, labelled with what it says.

    A line is read when its pixels are new, and never again while they are remembered: in a still interface a tick
    costs the search for lines alone, 2 to 10 ms. The first look at a screen reads all of it: 20 to 100 ms with
    Tesseract. A line that no text can be read in (an icon) is no mark.

    Args:
        reader: what reads; ``Tesseract()``, ``RapidOcr()``, or one of yours.
        regions: where to look, in capture pixels. None: the whole frame.
        find: how lines are found in a region; ``whole`` takes each region as one line, for text on a busy ground.
        memory: how many lines are remembered; what was not seen for longest is forgotten first.

    Raises:
        ValueError: the memory holds no line.
    """

    reads_text = True

    def __init__(
        self,
        reader: TextReader,
        *,
        regions: Sequence[Box] | None = None,
        find: FindLines = text_lines,
        memory: int = 1024,
    ) -> None:
        if memory < 1:
            raise ValueError(f"expected a memory of at least 1 line, found {memory}")
        self.reader = reader
        self.regions = None if regions is None else tuple(regions)
        self.find = find
        self.memory = memory
        self._read: OrderedDict[bytes, str] = OrderedDict()

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Find the lines and read those that are new; no lines, no marks."""
        frame = Box(0, 0, pixels.shape[1], pixels.shape[0])
        regions = (frame,) if self.regions is None else [region.intersection(frame) for region in self.regions]
        lines = {box: text for region in regions if not region.is_empty for box, text in self._look(pixels, region)}
        return Detected(cells=(), marks=numbered((box, text) for box, text in lines.items() if text))

    def _look(self, pixels: NDArray[np.uint8], region: Box) -> list[tuple[Box, str]]:
        """The lines of one region, in pixels of the frame, and what they say; no pixel outside it is looked at."""
        inside = pixels[region.top : region.bottom, region.left : region.right]
        return [(line.moved(region.left, region.top), self._text(inside, line)) for line in self.find(inside)]

    def _text(self, pixels: NDArray[np.uint8], line: Box) -> str:
        """What a line says, cut to a label's length."""
        wide = with_margin(pixels, line)
        patch = pixels[wide.top : wide.bottom, wide.left : wide.right]
        key = hashlib.sha256(repr(patch.shape).encode() + patch.tobytes()).digest()
        if key not in self._read:
            said = " ".join(self.reader.read(patch).split())[:MAX_TEXT]
            self._read[key] = said.encode("utf-8", "replace").decode()  # half a surrogate is no text
        self._read.move_to_end(key)
        while len(self._read) > self.memory:
            self._read.popitem(last=False)
        return self._read[key]


def whole(pixels: NDArray[np.uint8]) -> list[Box]:
    """The whole picture as one line."""
    return [Box(0, 0, pixels.shape[1], pixels.shape[0])]
