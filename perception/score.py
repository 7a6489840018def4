"""How well detectors find what is on labelled frames: precision and recall, with intervals."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from perception.detect.base import Detected, Detector
from perception.detect.cells import CellKinds
from perception.detect.everything import everything
from perception.detect.lattice import Lattice
from perception.detect.regions import Regions
from perception.detect.text import Tesseract, Text
from perception.errors import NotObservable
from perception.geometry import Box, overlaps, shared_pixels
from perception.labelled import HIDDEN, Labelled

SAME = 0.5  # overlap from which a find is what was labelled
INSIDE = 0.9  # of a find that must lie within an element
FIFTH = 0.2  # of an element that such a find must fill
Z = 1.96  # of a 95 % interval

A = TypeVar("A")
B = TypeVar("B")


class Count(NamedTuple):
    """Finds that are right, of all finds; labelled things that were found, of all labelled things."""

    correct: int
    found: int
    reached: int
    wanted: int

    def plus(self, other: Count) -> Count:
        """Both together."""
        return Count(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One detector on one game's frames.

    Attributes:
        game: which game; ``all`` for the sum.
        frames: how many.
    """

    detector: str
    game: str
    frames: int
    count: Count


Judge = Callable[[Labelled, Detected], Count]


def score(frames: Iterable[Labelled], detectors: Mapping[str, tuple[Callable[[], Detector], Judge]]) -> Iterator[Row]:
    """A row for each detector and game as it is done, and one for all games."""
    by_game = defaultdict[str, list[Labelled]](list)
    for frame in frames:
        by_game[frame.game].append(frame)
    for name, (make, judge) in detectors.items():
        total, seen = Count(0, 0, 0, 0), 0
        for game, shown in by_game.items():
            count = Count(0, 0, 0, 0)
            for frame in shown:
                count = count.plus(judge(frame, _found(make(), frame)))
            yield Row(detector=name, game=game, frames=len(shown), count=count)
            total, seen = total.plus(count), seen + len(shown)
        yield Row(detector=name, game="all", frames=seen, count=total)


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score."""
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def of_board(frame: Labelled, found: Detected) -> Count:
    """Cells: a found one is right where the labelled one of its row and column is."""
    wanted = dict(_cells(frame))
    here = {(cell.row, cell.column): cell.box for cell in found.cells}
    hit = sum(1 for place, box in wanted.items() if place in here and here[place].overlap(box) >= SAME)
    covered = 0 if frame.board is None else frame.board.rows * frame.board.columns - len(wanted)
    judged = max(0, len(here) - covered) if hit else len(here)
    return Count(hit, max(hit, judged), hit, len(wanted))


def of_kinds(frame: Labelled, found: Detected) -> Count:
    """What cells show: right is a cell whose kind mostly goes with its word, reached one whose word goes with its kind.

    Only boards that were found are looked at.
    """
    words = _words(frame)
    kinds = {(cell.row, cell.column): cell.kind for cell in found.cells}
    if frame.board is None or len(kinds) != frame.board.rows * frame.board.columns:
        return Count(0, 0, 0, 0)
    pairs = [(kinds[place], word) for place, word in words.items() if place in kinds]
    by_kind, by_word = _mostly(pairs), _mostly([(word, kind) for kind, word in pairs])
    return Count(
        sum(by_kind[kind] == word for kind, word in pairs),
        len(pairs),
        sum(by_word[word] == kind for kind, word in pairs),
        len(pairs),
    )


def of_elements(frame: Labelled, found: Detected) -> Count:
    """All that can be clicked, cells and elements alike: a find is right where it covers one of them.

    A text that lies in one and fills a fifth of it is right too: a menu entry is more than its word.
    """
    wanted = [element.box for element in frame.elements] + [box for _, box in _cells(frame)]
    boxes = [mark.box for mark in found.marks]
    if not wanted or not boxes:
        return Count(0, len(boxes), 0, len(wanted))
    shared = shared_pixels(boxes, wanted)
    areas, sizes = (np.array([box.area for box in each]) for each in (boxes, wanted))
    inside = (shared >= INSIDE * areas[:, None]) & (shared >= FIFTH * sizes[None, :])
    same = (overlaps(boxes, wanted) >= SAME) | inside
    return Count(int(same.any(axis=1).sum()), len(boxes), int(same.any(axis=0).sum()), len(wanted))


def of_menus(frame: Labelled, found: Detected) -> Count:
    """Menu entries by their texts: a text inside one is right when it says what the entry says."""
    menus = [element for element in frame.elements if element.kind == "menu" and element.label]
    right = judged = 0
    reached = set[Box]()
    for menu in menus:
        inside = [mark for mark in found.marks if menu.box.contains(mark.box.center)]
        said = " ".join(mark.label or "" for mark in sorted(inside, key=lambda mark: mark.box.left))
        judged += bool(inside)
        if _plain(said) == _plain(menu.label or ""):
            right += 1
            reached.add(menu.box)
    return Count(right, judged, len(reached), len(menus))


DETECTORS: Mapping[str, tuple[Callable[[], Detector], Judge]] = {
    "board": (Lattice, of_board),
    "cell kinds": (lambda: Lattice(kinds=CellKinds()), of_kinds),
    "regions": (Regions, of_elements),
    "text": (lambda: Text(Tesseract()), of_menus),
    "everything": (lambda: everything(most=1000), of_elements),
}
"""What is measured: each detector as it comes, and what its finds are held to."""


def _found(detector: Detector, frame: Labelled) -> Detected:
    try:
        return detector.detect(frame.pixels)
    except NotObservable:
        return Detected()


def _cells(frame: Labelled) -> list[tuple[tuple[int, int], Box]]:
    """The labelled cells that are to be judged, by row and column."""
    if frame.board is None:
        return []
    words = frame.cells
    boxes = frame.board.cells
    places = [divmod(i, frame.board.columns) for i in range(len(boxes))]
    return [
        ((row, column), box)
        for (row, column), box in zip(places, boxes, strict=True)
        if words is None or words[row][column] != HIDDEN
    ]


def _words(frame: Labelled) -> dict[tuple[int, int], str]:
    listed = enumerate(frame.cells or ())
    return {(r, c): word for r, row in listed for c, word in enumerate(row) if word != HIDDEN}


def _mostly(pairs: Sequence[tuple[A, B]]) -> dict[A, B]:
    """What goes most often with each first part."""
    counts = defaultdict[A, Counter[B]](Counter)
    for one, other in pairs:
        counts[one][other] += 1
    return {one: others.most_common(1)[0][0] for one, others in counts.items()}


def _plain(text: str) -> str:
    return "".join(text.casefold().split())
