"""Points, boxes, and the one chain of transforms: capture pixels -> client pixels -> screen pixels.

x runs right, y runs down; units are whole pixels; a box holds ``left <= x < right`` and ``top <= y < bottom``.
No other module does arithmetic between coordinate spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A pixel, ``(x, y)``."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels: its left top corner, its width and its height."""

    left: int
    top: int
    width: int
    height: int

    @classmethod
    def spanning(cls, left: int, top: int, right: int, bottom: int) -> Box:
        """The box between two corners; empty where the second is not right of and below the first."""
        return cls(left, top, max(0, right - left), max(0, bottom - top))

    @classmethod
    def around(cls, boxes: Sequence[Box]) -> Box:
        """The smallest box that holds all of these; an empty box when there are none."""
        if not boxes:
            return cls(0, 0, 0, 0)
        left, top = min(box.left for box in boxes), min(box.top for box in boxes)
        return cls.spanning(left, top, max(box.right for box in boxes), max(box.bottom for box in boxes))

    @property
    def right(self) -> int:
        """First column to the right of the box."""
        return self.left + self.width

    @property
    def bottom(self) -> int:
        """First row below the box."""
        return self.top + self.height

    @property
    def center(self) -> Point:
        """The pixel in the middle."""
        return Point(self.left + self.width // 2, self.top + self.height // 2)

    @property
    def is_empty(self) -> bool:
        """True when the box holds no pixel."""
        return self.width <= 0 or self.height <= 0

    def contains(self, point: Point) -> bool:
        """True when the point is one of the box's pixels."""
        return self.left <= point.x < self.right and self.top <= point.y < self.bottom

    def intersection(self, other: Box) -> Box:
        """The pixels that both boxes hold; an empty box when there are none."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Box.spanning(left, top, min(self.right, other.right), min(self.bottom, other.bottom))

    def shrunk(self, by: int) -> Box:
        """The box with ``by`` pixels taken off each side."""
        return Box(self.left + by, self.top + by, max(0, self.width - 2 * by), max(0, self.height - 2 * by))

    def __str__(self) -> str:
        return f"{self.width}x{self.height} at ({self.left}, {self.top})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """Where a capture's pixels are on the screen.

    Attributes:
        client: the window's client area, in screen pixels; its corner may be negative on a monitor left of or
            above the primary one.
        captured: the part of the client area that was captured, in client pixels.
        scale: capture pixels for one screen pixel.
    """

    client: Box
    captured: Box
    scale: float = 1.0

    @classmethod
    def showing(cls, area: Box, client: Box) -> Transform:
        """The transform of a capture of a part of the client area, one pixel for one.

        Args:
            area: what was captured, in screen pixels.
            client: the client area, in screen pixels.
        """
        inside = Box(area.left - client.left, area.top - client.top, area.width, area.height)
        return cls(client=client, captured=inside)

    def to_screen(self, point: Point) -> Point:
        """The screen pixel under a pixel of the capture."""
        return Point(
            self.client.left + self.captured.left + int(point.x // self.scale),
            self.client.top + self.captured.top + int(point.y // self.scale),
        )

    def to_capture(self, point: Point) -> Point:
        """The capture pixel that shows a screen pixel: the left top one where the capture is larger."""
        return Point(
            round((point.x - self.client.left - self.captured.left) * self.scale),
            round((point.y - self.client.top - self.captured.top) * self.scale),
        )
