"""Points, boxes, and the one chain of transforms: image -> capture -> client -> screen -> input.

An image is what a model is shown, which may be smaller than the capture; the capture shows a part of the window's
client area; the client area lies on the screen; input may be counted in larger units than the screen's pixels.
x runs right, y runs down; units are whole pixels; a box holds ``left <= x < right`` and ``top <= y < bottom``.
No other module does arithmetic on coordinates: a test reads the code for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Point:
    """A pixel, ``(x, y)``."""

    x: int
    y: int

    def towards(self, other: Point, share: float) -> Point:
        """The pixel at a share of the way to another: 0 is this one, 1 the other."""
        return Point(self.x + round((other.x - self.x) * share), self.y + round((other.y - self.y) * share))


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
    def corners(self) -> tuple[Point, Point, Point, Point]:
        """The outermost pixels: left top, right top, left bottom, right bottom."""
        right, bottom = self.right - 1, self.bottom - 1
        return Point(self.left, self.top), Point(right, self.top), Point(self.left, bottom), Point(right, bottom)

    @property
    def is_empty(self) -> bool:
        """True when the box holds no pixel."""
        return self.width <= 0 or self.height <= 0

    def contains(self, point: Point) -> bool:
        """True when the point is one of the box's pixels."""
        return self.left <= point.x < self.right and self.top <= point.y < self.bottom

    def holds(self, other: Box) -> bool:
        """True when all of another box lies within this one."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and other.right <= self.right
            and other.bottom <= self.bottom
        )

    def touches(self, other: Box) -> bool:
        """True when both boxes hold a pixel."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
            and not self.is_empty
            and not other.is_empty
        )

    def intersection(self, other: Box) -> Box:
        """The pixels that both boxes hold; an empty box when there are none."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Box.spanning(left, top, min(self.right, other.right), min(self.bottom, other.bottom))

    def shrunk(self, by: int) -> Box:
        """The box with ``by`` pixels taken off each side."""
        return Box(self.left + by, self.top + by, max(0, self.width - 2 * by), max(0, self.height - 2 * by))

    @property
    def area(self) -> int:
        """Pixels in the box."""
        return max(0, self.width) * max(0, self.height)

    def grown(self, by: int) -> Box:
        """The box with ``by`` pixels added on each side."""
        return Box(self.left - by, self.top - by, self.width + 2 * by, self.height + 2 * by)

    def tiles(self, side: int) -> tuple[slice, slice]:
        """The rows and the columns of tiles of so many pixels that hold a pixel of the box, from (0, 0) on."""
        rows = slice(max(0, self.top // side), max(0, -(-self.bottom // side)))
        return rows, slice(max(0, self.left // side), max(0, -(-self.right // side)))

    def moved(self, right: int, down: int) -> Box:
        """The box, so many pixels to the right and down."""
        return Box(self.left + right, self.top + down, self.width, self.height)

    def scaled(self, factor: float) -> Box:
        """The box in units that are ``factor`` times as fine; edges are rounded, so that neighbours stay neighbours."""
        left, top = round(self.left * factor), round(self.top * factor)
        return Box(left, top, round(self.right * factor) - left, round(self.bottom * factor) - top)

    def at(self, across: float, down: float) -> Point:
        """The pixel at a share of the width and the height: ``at(0.5, 0.5)`` is the middle.

        Raises:
            ValueError: a share outside 0 to 1.
        """
        if not (0 <= across <= 1 and 0 <= down <= 1):
            raise ValueError(f"expected shares from 0 to 1, found {across} and {down}")
        x = self.left + min(self.width - 1, int(across * self.width))
        return Point(x, self.top + min(self.height - 1, int(down * self.height)))

    def pixel(self, right: int, down: int) -> Point:
        """The pixel so many to the right of and below the left top one."""
        return Point(self.left + right, self.top + down)

    def split(self, rows: int, columns: int) -> list[Box]:
        """The box as so many rows and columns, row by row; together they are the whole box, and none overlap."""
        xs = [self.left + self.width * i // columns for i in range(columns + 1)]
        ys = [self.top + self.height * i // rows for i in range(rows + 1)]
        return [Box(x, y, right - x, bottom - y) for y, bottom in pairwise(ys) for x, right in pairwise(xs)]

    def bands(self, rows: int) -> list[Box]:
        """The box as bands of at most so many rows, from the top."""
        tops = range(self.top, self.bottom, rows)
        return [Box(self.left, top, self.width, min(rows, self.bottom - top)) for top in tops]

    def union(self, other: Box) -> Box:
        """The smallest box that holds both; the other one where one is empty."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        left, top = min(self.left, other.left), min(self.top, other.top)
        return Box(left, top, max(self.right, other.right) - left, max(self.bottom, other.bottom) - top)

    def overlap(self, other: Box) -> float:
        """Shared pixels over all pixels of the two, 0 to 1: intersection over union."""
        shared = self.intersection(other).area
        together = self.area + other.area - shared
        return shared / together if together else 0.0

    def distance(self, other: Box) -> float:
        """Pixels between the middles of two boxes."""
        return math.dist((self.center.x, self.center.y), (other.center.x, other.center.y))

    def __str__(self) -> str:
        return f"{self.width}x{self.height} at ({self.left}, {self.top})"


def shared_pixels(some: Sequence[Box], others: Sequence[Box]) -> NDArray[np.int64]:
    """How many pixels each of some boxes (rows) shares with each of some others (columns)."""
    (left, top, right, bottom), (left2, top2, right2, bottom2) = _edges(some), _edges(others)
    width = np.minimum.outer(right, right2) - np.maximum.outer(left, left2)
    height = np.minimum.outer(bottom, bottom2) - np.maximum.outer(top, top2)
    return np.asarray(np.maximum(width, 0) * np.maximum(height, 0))


def overlaps(some: Sequence[Box], others: Sequence[Box]) -> NDArray[np.float64]:
    """Intersection over union, 0 to 1, of each of some boxes (rows) with each of some others (columns)."""
    shared = shared_pixels(some, others)
    mine, theirs = (np.array([box.area for box in boxes], np.int64) for boxes in (some, others))
    return np.asarray(shared / np.maximum(1, mine[:, None] + theirs[None, :] - shared))


def _edges(boxes: Sequence[Box]) -> NDArray[np.int64]:
    """Lefts, tops, rights and bottoms, ``(4, count)``."""
    return np.array([(box.left, box.top, box.right, box.bottom) for box in boxes], np.int64).reshape(-1, 4).T


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """Where a capture's pixels are on the screen.

    Attributes:
        client: the window's client area, in screen pixels; its corner may be negative on a monitor left of or
            above the primary one.
        captured: the part of the client area that was captured, in client pixels.
        scale: capture pixels for one screen pixel.
        input_scale: screen pixels for one unit of input: 1 on X11; more where input is counted in points.
    """

    client: Box
    captured: Box
    scale: float = 1.0
    input_scale: float = 1.0

    def to_client(self, point: Point) -> Point:
        """The client pixel under a pixel of the capture."""
        return Point(
            self.captured.left + math.floor(point.x / self.scale), self.captured.top + math.floor(point.y / self.scale)
        )

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
        inside = self.to_client(point)
        return Point(self.client.left + inside.x, self.client.top + inside.y)

    def box_to_screen(self, box: Box) -> Box:
        """The screen pixels that a box of the capture shows, those that it shows in part too."""
        first = self.to_screen(Point(box.left, box.top))
        last = self.to_screen(Point(box.right - 1, box.bottom - 1))
        return Box.spanning(first.x, first.y, last.x + 1, last.y + 1)

    def to_input(self, point: Point) -> Point:
        """The place of a capture's pixel in the units of input."""
        return self.screen_to_input(self.to_screen(point))

    def screen_to_input(self, point: Point) -> Point:
        """The place of a screen pixel in the units of input."""
        return Point(math.floor(point.x / self.input_scale), math.floor(point.y / self.input_scale))

    def to_capture(self, point: Point) -> Point:
        """The capture pixel that shows a screen pixel: the left top one where the capture is larger."""
        return Point(
            _first((point.x - self.client.left - self.captured.left) * self.scale),
            _first((point.y - self.client.top - self.captured.top) * self.scale),
        )

    def box_to_capture(self, box: Box) -> Box:
        """The part of the capture that shows a box of screen pixels; it may lie outside in part."""
        first, end = (self.to_capture(corner) for corner in (Point(box.left, box.top), Point(box.right, box.bottom)))
        return Box(first.x, first.y, end.x - first.x, end.y - first.y)

    def from_input(self, point: Point) -> Point:
        """The capture pixel under a place in the units of input."""
        return self.to_capture(Point(_first(point.x * self.input_scale), _first(point.y * self.input_scale)))


@dataclass(frozen=True, slots=True)
class Reduction:
    """A model's image of a capture: the same picture with fewer pixels.

    Attributes:
        capture: width and height of the capture, in pixels.
        image: width and height of the image, in pixels.
    """

    capture: tuple[int, int]
    image: tuple[int, int]

    @classmethod
    def to_fit(cls, width: int, height: int, longest: int) -> Reduction:
        """The reduction of a capture whose image is at most ``longest`` pixels wide and high; never an enlargement."""
        factor = min(1.0, longest / max(width, height))
        return cls((width, height), (max(1, round(width * factor)), max(1, round(height * factor))))

    def to_capture(self, point: Point) -> Point:
        """The capture pixel in the middle of those that an image's pixel shows."""
        (width, height), (columns, rows) = self.capture, self.image
        return Point(_middle(point.x, width, columns), _middle(point.y, height, rows))

    def to_image(self, point: Point) -> Point:
        """The image pixel that shows a capture's pixel."""
        (width, height), (columns, rows) = self.capture, self.image
        return Point(point.x * columns // width, point.y * rows // height)


def _first(place: float) -> int:
    """The first whole pixel from a place on; a place that is whole but for rounding is that pixel."""
    return math.ceil(place - 1e-6)


def _middle(part: int, whole: int, parts: int) -> int:
    """The middle pixel of those that fall into one of so many parts of a whole."""
    first, last = -(-part * whole // parts), -(-(part + 1) * whole // parts) - 1
    return (first + last) // 2
