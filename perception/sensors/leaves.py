"""Sensors that look for themselves, but for the search of a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.colour import parse_colour
from perception.detect.text_engines import TextReader
from perception.geometry import Box
from perception.observation import Frame
from perception.sensors.expressions import Leaf
from perception.sensors.values import View, compiled

Pixels = NDArray[np.uint8]

BAND = 160  # rows of a frame that are counted at once: their planes stay in the cache of a core
INTEGER = re.compile(r"[+-]?(?:[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5})")
ALONE = r"\A\s*(\S*)\s*\Z"


def checked(region: Box | None) -> Box | None:
    """The region.

    Raises:
        ValueError: it holds no pixel.
    """
    if region is not None and region.is_empty:
        raise ValueError(f"expected a region of at least one pixel, found {region}")
    return region


def pixels_of(frame: Frame, region: Box | None) -> Pixels | None:
    """The pixels of a region, or of the whole frame. None: the frame does not hold all of the region."""
    height, width = frame.pixels.shape[:2]
    if region is not None and region.intersection(Box(0, 0, width, height)) != region:
        return None
    return frame.pixels if region is None else frame.patch(region)


class ColourShare(Leaf[float]):
    """The part of the pixels whose colour is in a range, from 0.0 to 1.0. Undefined where the region is not all there.

    Args:
        colour_low: the least of each channel, as ``#rrggbb``.
        colour_high: the most of each channel. None: the same colour.
        region: where to look, in capture pixels. None: the whole frame.
        tolerance: levels that a channel may lie outside of the range.

    Raises:
        ValueError: no colour, no range, no region, or no tolerance from 0 to 255.
    """

    def __init__(
        self, colour_low: str, colour_high: str | None = None, region: Box | None = None, *, tolerance: int = 0
    ) -> None:
        high = colour_low if colour_high is None else colour_high
        if not 0 <= tolerance <= 255:
            raise ValueError(f"expected a tolerance from 0 to 255, found {tolerance}")
        self._range = list(zip(_colour(colour_low), _colour(high), strict=True))
        if any(least > most for least, most in self._range):
            raise ValueError(f"expected no channel of {colour_low} above that of {high}")
        self._range = [(least - tolerance, most + tolerance) for least, most in self._range]
        self._region = checked(region)
        self._text = f"ColourShare({colour_low!r}, {high!r}, {region}, tolerance={tolerance})"
        self._planes: Sequence[NDArray[Any]] | None = None
        self._masks: Sequence[NDArray[Any] | None] = (None, None, None)

    def look(self, view: View) -> float | None:
        """The part, from 0.0 to 1.0."""
        pixels = pixels_of(view.frame, self._region)
        if pixels is None or not pixels.size:
            return None
        count: int = sum(self._count(pixels[top : top + BAND]) for top in range(0, len(pixels), BAND))
        return count / int(pixels.shape[0] * pixels.shape[1])

    def _count(self, band: Pixels) -> int:
        """Pixels in the range. Channel by channel into memory that is kept: half again as fast as all three at once."""
        self._planes = cv2.split(band, self._planes)
        ranges = zip(self._planes, self._range, self._masks, strict=True)
        blue, green, red = masks = [cv2.inRange(plane, *limits, mask) for plane, limits, mask in ranges]
        self._masks = masks
        both = cv2.bitwise_and(blue, green, blue)
        return cv2.countNonZero(cv2.bitwise_and(both, red, both))

    def __repr__(self) -> str:
        return self._text


class Number(Leaf[int]):
    r"""The integer that a text says, such as 12, -3 or 1,234. An unchanged region is not read again.

    Undefined where the text says no integer or several, and where the region is not all in the frame.

    Args:
        region: where the text is, in capture pixels.
        reader: what reads it.
        pattern: a regular expression that is looked for in the text; its one group is the integer, as in
            ``Score: (\S+)``. Where it is found more than once, the number is undefined. By default the integer stands
            alone.

    Raises:
        ValueError: the region is empty, the reader cannot read, or the pattern has not one group.
    """

    def __init__(self, region: Box, reader: TextReader, pattern: str = ALONE) -> None:
        self._pattern = compiled(pattern)
        if self._pattern.groups != 1:
            raise ValueError(f"expected a pattern with one group, found {self._pattern.groups} in {pattern!r}")
        if not callable(getattr(reader, "read", None)):
            raise ValueError(f"expected a reader with a method read, found {reader!r}")
        self._region, self._reader = checked(region), reader
        self._last: tuple[bytes, int | None] | None = None

    def look(self, view: View) -> int | None:
        """The integer."""
        pixels = pixels_of(view.frame, self._region)
        if pixels is None:
            return None
        key = pixels.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._integer(self._reader.read(pixels.copy()))
        return self._last[1]

    def _integer(self, text: str) -> int | None:
        found = [match[1] for match in self._pattern.finditer(text)]
        if len(found) != 1 or found[0] is None or not INTEGER.fullmatch(found[0]):
            return None
        return int(found[0].replace(",", ""))

    def __repr__(self) -> str:
        return f"Number({self._region}, {self._reader!r}, {self._pattern.pattern!r})"


@dataclass(frozen=True, eq=False)
class CellCount(Leaf[int]):
    """How many cells of the board are of a kind. Undefined where there is no board.

    Attributes:
        kind: in the bot's words. None: cells that show nothing the bot has named.
    """

    kind: str | None

    def look(self, view: View) -> int | None:
        """The number of cells."""
        return sum(cell.kind == self.kind for cell in view.cells) if view.cells else None


@dataclass(frozen=True, eq=False)
class Title(Leaf[str]):
    """The window's title. Undefined where the view has none."""

    def look(self, view: View) -> str | None:
        """The title."""
        return view.title


def _colour(text: str) -> tuple[int, int, int]:
    """``#rrggbb`` as blue, green and red.

    Raises:
        ValueError: it is no colour.
    """
    if not isinstance(text, str) or not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise ValueError(f"expected a colour such as #ff0000, found {text!r}")
    return parse_colour(text)
