"""Which element of this frame is which of the frame before: the same element keeps its number while it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box, overlaps
from perception.observation import Mark

SAME_PLACE = 0.4  # overlap from which a redrawn element is the one that was there
NEAR = 1.5  # sides: how far an element may go without being redrawn
NEARBY = 0.75  # sides: how far one may go that is redrawn too
SHORTEST = 16  # pixels that count as a side; a small element may go a little further
LIKE_SIZE = 1.3  # how many times as large it may have become then
PLACE = b"a place"  # in place of a look
MEMORY = 10  # looks: how long an element that is gone is remembered, and its number given to no other


@dataclass(slots=True)
class _Element:
    """An element: where it was last, what it looked like, and how many looks ago that was."""

    box: Box
    look: bytes
    unseen: int = 0


class Identity:
    """Follows elements from frame to frame.

    An element is the same one when it looks the same and went less than one and a half times its width or height; or
    when another look stands where it stood; or when it did both a little. A place that does not move, such as a
    board's cell, is the same whatever it shows. An element that is gone is remembered for ten looks: one that flickers
    comes back under its number, and its number is not given to another meanwhile.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Element] = {}

    def follow(self, marks: Sequence[Mark], pixels: NDArray[np.uint8], places: Collection[Box] = ()) -> list[int]:
        """The number of each mark; new elements get the lowest numbers that are free, in the order of the marks.

        Args:
            marks: of one frame.
            pixels: of that frame, ``(height, width, 3)``, BGR.
            places: boxes of marks that are places.
        """
        fixed = set(places)
        now = [_Element(mark.box, PLACE if mark.box in fixed else _look(mark.box, pixels)) for mark in marks]
        given = self._unmoved(now)
        for unlikeliness in (_moved, _redrawn, _moved_and_redrawn):
            self._pair(now, given, unlikeliness)
        for element in self._known.values():
            element.unseen += 1
        self._known = {number: element for number, element in self._known.items() if element.unseen <= MEMORY}
        free = iter(sorted(set(range(1, len(self._known) + len(now) + 1)) - self._known.keys()))
        numbers = [given[i] if i in given else next(free) for i in range(len(now))]
        self._known.update(zip(numbers, now, strict=True))
        return numbers

    def _unmoved(self, now: Sequence[_Element]) -> dict[int, int]:
        """Numbers of elements that are as they were."""
        known = {(element.box, element.look): number for number, element in self._known.items()}
        same = {i: known.pop((element.box, element.look), None) for i, element in enumerate(now)}
        return {i: number for i, number in same.items() if number is not None}

    def _pair(self, now: Sequence[_Element], given: dict[int, int], unlikeliness: _Unlikeliness) -> None:
        """Give numbers to elements that have none yet, the likeliest pairs first."""
        taken = set(given.values())
        old = [number for number in self._known if number not in taken]
        new = [i for i in range(len(now)) if i not in given]
        if not old or not new:
            return
        costs = unlikeliness([self._known[number] for number in old], [now[i] for i in new])
        for place in np.argsort(costs, axis=None, kind="stable"):
            row, column = divmod(int(place), len(new))
            if not np.isfinite(costs[row, column]):
                return
            if old[row] not in taken and new[column] not in given:
                given[new[column]] = old[row]
                taken.add(old[row])


_Unlikeliness = Callable[[Sequence[_Element], Sequence[_Element]], NDArray[np.float64]]
"""How unlikely it is that each old element (rows) is each new one (columns); infinite where it cannot be."""


def _moved(old: Sequence[_Element], new: Sequence[_Element]) -> NDArray[np.float64]:
    """Elements that look the same, a little way off."""
    looks: Mapping[bytes, int] = {look: i for i, look in enumerate({element.look for element in (*old, *new)})}
    same = np.equal.outer([looks[element.look] for element in old], [looks[element.look] for element in new])
    same &= np.array([[element.look != PLACE] for element in old])
    far = _distances(old, new)
    return np.where(same & (far <= NEAR), far, np.inf)


def _redrawn(old: Sequence[_Element], new: Sequence[_Element]) -> NDArray[np.float64]:
    """Another look where one was a look ago."""
    overlap = overlaps([element.box for element in old], [element.box for element in new])
    return np.where((overlap >= SAME_PLACE) & _just_seen(old), 1 - overlap, np.inf)


def _moved_and_redrawn(old: Sequence[_Element], new: Sequence[_Element]) -> NDArray[np.float64]:
    """Another look near where one of like size was a look ago."""
    sizes = [np.array([[e.box.width, e.box.height] for e in elements], float) for elements in (old, new)]
    ratio = sizes[0][:, None, :] / sizes[1][None, :, :]
    alike = (np.maximum(ratio, 1 / ratio) <= LIKE_SIZE).all(axis=2)
    far = _distances(old, new)
    return np.where(alike & (far <= NEARBY) & _just_seen(old), far, np.inf)


def _just_seen(old: Sequence[_Element]) -> NDArray[np.bool_]:
    return np.array([[element.unseen == 0] for element in old])


def _distances(old: Sequence[_Element], new: Sequence[_Element]) -> NDArray[np.float64]:
    """Between the middles, in widths and heights of the old element: a row of a list is not the next one."""
    middles = [np.array([[e.box.center.x, e.box.center.y] for e in elements], float) for elements in (old, new)]
    sides = np.array([[max(e.box.width, SHORTEST), max(e.box.height, SHORTEST)] for e in old], float)
    apart = (middles[0][:, None, :] - middles[1][None, :, :]) / sides[:, None, :]
    return np.asarray(np.linalg.norm(apart, axis=2))


def _look(box: Box, pixels: NDArray[np.uint8]) -> bytes:
    """A digest of an element's size and pixels."""
    patch = pixels[box.top : box.bottom, box.left : box.right]
    return hashlib.blake2b(repr(patch.shape).encode() + patch.tobytes(), digest_size=16).digest()
