"""Elements into marks: the order in which people read, and the numbers that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from perception.geometry import Box
from perception.observation import Mark

T = TypeVar("T")


def in_reading_order(boxes: Sequence[Box]) -> list[int]:
    """Places of boxes as they are read: line by line from the top, each line from the left.

    A box is on a line when its middle lies within the height of the line's first box.
    """
    left = sorted(range(len(boxes)), key=lambda i: (boxes[i].top, boxes[i].left))
    order: list[int] = []
    while left:
        first = boxes[left[0]]
        line = [i for i in left if first.top <= boxes[i].center.y < first.bottom]
        line = line or [left[0]]
        order += sorted(line, key=lambda i: (boxes[i].left, boxes[i].top))
        taken = set(line)
        left = [i for i in left if i not in taken]
    return order


def numbered(found: Iterable[tuple[Box, str | None]]) -> tuple[Mark, ...]:
    """Marks out of boxes and their labels, numbered from 1 in reading order."""
    elements = list(found)
    order = in_reading_order([box for box, _ in elements])
    return tuple(Mark(number=n, box=elements[i][0], label=elements[i][1]) for n, i in enumerate(order, 1))


def renumbered(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks with numbers from 1 in reading order."""
    order = in_reading_order([mark.box for mark in marks])
    return tuple(replace(marks[i], number=n) for n, i in enumerate(order, 1))
