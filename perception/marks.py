"""Elements into marks: the order in which people read, and the numbers that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from perception.geometry import Box
from perception.observation import Mark


def in_reading_order(boxes: Sequence[Box]) -> list[int]:
    """Places of boxes as they are read: line by line from the top, each line from the left.

    A box is on a line when its middle lies within the height of the line's first box.
    """
    if not boxes:
        return []
    edges = np.array([(box.left, box.top, box.bottom, box.center.y) for box in boxes])
    lefts, tops, bottoms, middles = edges.T
    waiting = np.lexsort((lefts, tops))
    order: list[int] = []
    while len(waiting):
        first = waiting[0]
        on_line = (tops[first] <= middles[waiting]) & (middles[waiting] < bottoms[first])
        on_line[0] = True
        line = waiting[on_line]
        order += line[np.lexsort((tops[line], lefts[line]))].tolist()
        waiting = waiting[~on_line]
    return order


def numbered(found: Iterable[tuple[Box, str | None]]) -> tuple[Mark, ...]:
    """Marks out of boxes and their labels, numbered from 1 in reading order."""
    elements = list(found)
    order = in_reading_order([box for box, _ in elements])
    return tuple(Mark(number=n, box=elements[i][0], label=elements[i][1]) for n, i in enumerate(order, 1))


def renumbered(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks with numbers from 1 in reading order."""
    order = in_reading_order([mark.box for mark in marks])
    return tuple(marks[i] if marks[i].number == n else replace(marks[i], number=n) for n, i in enumerate(order, 1))
