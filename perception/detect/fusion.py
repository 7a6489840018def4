"""Several detectors as one: what two of them found is one mark, and a mark keeps its number while it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Attachable, Detected, Detector, Learning, Local, Reading, Updating
from perception.detect.cells import is_learned
from perception.detect.local import redetect
from perception.errors import NotObservable
from perception.geometry import Box, overlaps, shared_pixels
from perception.identity import Identity
from perception.marks import in_reading_order
from perception.observation import MAX_TEXT, GridCell, Mark, WindowState

SAME = 0.6  # overlap from which two finds are one thing
INSIDE = 0.8  # of a text that must lie within a shape to be its label
WITHIN = 0.9  # of a shape that must lie within a cell for it to be the cell
MOST = 200  # marks; more would not fit into a prompt, nor be told apart on a picture

Numbering = Literal["stable", "reading"]


class Fusion:
    """Detectors as one, the most trusted first.

    Finds of different detectors that cover each other are one mark: the box is the more trusted one's, and so is the
    label where it has one. What lies within a cell of the board is no mark of its own, unless a detector that stands
    before the board's found it. A text inside a shape without
    a label, or inside a cell that nobody has named, becomes its label; it is no mark of its own then.

    Args:
        detectors: the most trusted first.
        numbering: ``stable``: a mark keeps its number while its element is there. ``reading``: marks are numbered in
            reading order in every frame; their ``id`` is the number that they keep.
        most: marks at most. The more trusted detectors' stay, of one detector's those with a label, of these the
            first in reading order; ``left_out`` says how many do not.

    Raises:
        ValueError: no detectors.
    """

    def __init__(self, *detectors: Detector, numbering: Numbering = "stable", most: int = MOST) -> None:
        if not detectors or most < 1:
            raise ValueError(f"expected at least one detector and one mark, found {detectors} and most={most}")
        self.detectors = detectors
        self.numbering = numbering
        self.most = most
        self._identity = Identity()
        self._last: list[Detected | None] = [None] * len(detectors)

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """What all detectors find.

        Raises:
            NotObservable: none of them sees what it looks for; what the most trusted one says.
        """
        return self._fused(pixels, lambda i: self.detectors[i].detect(pixels))

    def update(self, pixels: NDArray[np.uint8], dirty: Sequence[Box]) -> Detected:
        """What all detectors find, each looking again only where it must.

        Raises:
            NotObservable: none of them sees what it looks for; what the most trusted one says.
        """

        def look(i: int) -> Detected:
            detector, before = self.detectors[i], self._last[i]
            if before is not None and isinstance(detector, Updating):
                return detector.update(pixels, dirty)
            if before is not None and isinstance(detector, Local):
                return redetect(detector, pixels, before, dirty)
            return detector.detect(pixels)

        return self._fused(pixels, look)

    def attach(self, window: Callable[[], WindowState]) -> None:
        """Hand the window on to the detectors that ask it."""
        for detector in self.detectors:
            if isinstance(detector, Attachable):
                detector.attach(window)

    def confirmed(self, pixels: NDArray[np.uint8], mark: Mark) -> None:
        """Hand on what was confirmed to the detectors that learn."""
        for detector in self.detectors:
            if isinstance(detector, Learning):
                detector.confirmed(pixels, mark)

    def _fused(self, pixels: NDArray[np.uint8], look: Callable[[int], Detected]) -> Detected:
        missed = list[NotObservable]()
        for i in range(len(self.detectors)):
            try:
                self._last[i] = look(i)
            except NotObservable as problem:
                missed.append(problem)
                self._last[i] = None
        if len(missed) == len(self.detectors):
            raise missed[0]
        found = [each or Detected() for each in self._last]
        frame = Box(0, 0, pixels.shape[1], pixels.shape[0])
        rank = next((i for i, each in enumerate(found) if each.cells), len(found))
        cells = found[rank].cells if rank < len(found) else ()
        texts = [isinstance(each, Reading) for each in self.detectors]
        inside = [_clipped(each.marks, frame) for each in found]
        outside = [m if texts[i] or i < rank else _outside(m, cells) for i, m in enumerate(inside)]
        kept, left_out = _at_most(named(distinct(outside), texts, cells), self.most)
        marks = self._numbered(kept, pixels, [cell.box for cell in cells])
        unseen = tuple(problem.problem for problem in missed)
        return Detected(cells=_as_marks(cells, marks), marks=marks, left_out=left_out, unseen=unseen)

    def _numbered(self, marks: Sequence[Mark], pixels: NDArray[np.uint8], places: Sequence[Box]) -> tuple[Mark, ...]:
        """Marks under their numbers, ascending."""
        ordered = [marks[i] for i in in_reading_order([mark.box for mark in marks])]
        ids = self._identity.follow(ordered, pixels, places)
        numbers = ids if self.numbering == "stable" else range(1, len(ids) + 1)
        again = [replace(m, number=n, id=i) for m, n, i in zip(ordered, numbers, ids, strict=True)]
        return tuple(sorted(again, key=lambda mark: mark.number))


def distinct(ranked: Sequence[Sequence[Mark]]) -> list[list[Mark]]:
    """Finds of several detectors, the most trusted first, without those that a more trusted one has found too.

    A label that the more trusted one lacks is taken over.
    """
    kept, sizes = list[Mark](), list[int]()
    for marks in ranked:
        before = len(kept)
        likeness = overlaps([mark.box for mark in marks], [mark.box for mark in kept])
        for mark, row in zip(marks, likeness, strict=True):
            twin = int(row.argmax()) if row.size else 0
            if not row.size or row[twin] < SAME:
                kept.append(mark)
            elif kept[twin].label is None:
                kept[twin] = replace(kept[twin], label=mark.label)
        sizes.append(len(kept) - before)
    return _in_ranks(kept, sizes)


def named(ranked: Sequence[Sequence[Mark]], texts: Sequence[bool], cells: Sequence[GridCell] = ()) -> list[list[Mark]]:
    """Shapes and cells under the texts inside them, in reading order; those texts are no marks any more.

    A shape that holds other shapes is no button, and takes no text. A cell whose kind was given a name keeps that.

    Args:
        ranked: the marks of each detector.
        texts: whether a detector's marks are texts.
        cells: of the board.
    """
    if not any(marks for marks, text in zip(ranked, texts, strict=True) if text):
        return [list(marks) for marks in ranked]
    listed = [(mark, text) for marks, text in zip(ranked, texts, strict=True) for mark in marks]
    on_board = {cell.box for cell in cells}
    nameless = {cell.box for cell in cells if cell.kind is None or is_learned(cell.kind)}
    shapes = [i for i, (mark, text) in enumerate(listed) if not text and (mark.label is None or mark.box in on_board)]
    words = [i for i, (_, text) in enumerate(listed) if text]
    homes = _homes([mark.box for mark, _ in listed], shapes, words)
    inside: dict[int, list[Mark]] = {}
    for word, home in homes.items():
        if listed[home][0].label is None or listed[home][0].box in nameless:
            inside.setdefault(home, []).append(listed[word][0])
    said = [
        None if i in homes else replace(mark, label=_joined(inside[i])) if i in inside else mark
        for i, (mark, _) in enumerate(listed)
    ]
    rest = iter(said)
    return [[mark for mark in (next(rest) for _ in marks) if mark is not None] for marks in ranked]


def _homes(boxes: Sequence[Box], shapes: Sequence[int], words: Sequence[int]) -> dict[int, int]:
    """For each text the shape that it lies in, both by their places in a list."""
    areas = np.array([box.area for box in boxes], np.int64)
    shared = shared_pixels([boxes[i] for i in shapes], boxes)
    holds = (shared >= INSIDE * areas[None, :]) & (areas[list(shapes)][:, None] > areas[None, :])
    texts = set(words)
    others = [i for i in range(len(boxes)) if i not in texts]
    leaves = [row for row in range(len(shapes)) if not holds[row, others].any()]
    homes = {word: next((shapes[row] for row in leaves if holds[row, word]), None) for word in words}
    return {word: home for word, home in homes.items() if home is not None}


def _outside(marks: Sequence[Mark], cells: Sequence[GridCell]) -> list[Mark]:
    """Marks that are cells or lie in none."""
    if not cells:
        return list(marks)
    boxes = {cell.box for cell in cells}
    others = [mark for mark in marks if mark.box not in boxes]
    most = shared_pixels([mark.box for mark in others], [cell.box for cell in cells]).max(axis=1, initial=0)
    within = {mark.box for mark, inside in zip(others, most, strict=True) if inside >= WITHIN * mark.box.area}
    return [mark for mark in marks if mark.box not in within]


def _joined(texts: Sequence[Mark]) -> str:
    words = [texts[i].label or "" for i in in_reading_order([text.box for text in texts])]
    return " ".join(words)[:MAX_TEXT]


def _in_ranks(marks: Sequence[Mark], sizes: Sequence[int]) -> list[list[Mark]]:
    listed = iter(marks)
    return [[next(listed) for _ in range(size)] for size in sizes]


def _clipped(marks: Sequence[Mark], frame: Box) -> list[Mark]:
    inside = [m if frame.holds(m.box) else replace(m, box=m.box.intersection(frame)) for m in marks]
    return [mark for mark in inside if not mark.box.is_empty]


def _at_most(ranked: Sequence[Sequence[Mark]], most: int) -> tuple[list[Mark], int]:
    """The marks that stay, and how many do not."""
    ordered: list[Mark] = []
    for marks in ranked:
        reading = [marks[i] for i in in_reading_order([mark.box for mark in marks])]
        ordered += sorted(reading, key=lambda mark: mark.label is None)
    return ordered[:most], max(0, len(ordered) - most)


def _as_marks(cells: Sequence[GridCell], marks: Sequence[Mark]) -> tuple[GridCell, ...]:
    """Cells under the numbers of the marks that they are."""
    numbers = {mark.box: mark.number for mark in marks}
    free = iter(range(max(numbers.values(), default=0) + 1, max(numbers.values(), default=0) + 1 + len(cells)))
    sure = [numbers[cell.box] if cell.box in numbers else next(free) for cell in cells]
    return tuple(c if c.number == n else replace(c, number=n) for c, n in zip(cells, sure, strict=True))
