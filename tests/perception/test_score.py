"""Precision and recall, counted by hand."""

from collections.abc import Mapping

import numpy as np
import pytest

from perception.detect.base import Detected
from perception.geometry import Box
from perception.labelled import HIDDEN, Board, Element, Labelled
from perception.marks import numbered
from perception.observation import GridCell
from perception.score import Count, of_board, of_elements, of_kinds, of_menus, score, wilson

BOARD = Board(rows=2, columns=2, box=Box(10, 10, 40, 40))
MENU = Element(box=Box(0, 0, 60, 8), kind="menu", label="New Game")
COIN = Element(box=Box(60, 60, 20, 20), kind="piece", label=None)


def frame(words: tuple[tuple[str, ...], ...] | None = None, *elements: Element) -> Labelled:
    return Labelled(
        game="g",
        name="01",
        pixels=np.full((100, 100, 3), 9, np.uint8),
        board=None if words is None else BOARD,
        cells=words,
        elements=elements,
    )


def board(kinds: str, *, shifted: int = 0) -> Detected:
    boxes = [box.moved(shifted, 0) for box in BOARD.cells]
    cells = (
        GridCell(number=i + 1, row=i // 2, column=i % 2, box=box, kind=kind)
        for i, (box, kind) in enumerate(zip(boxes, kinds, strict=True))
    )
    return Detected(cells=tuple(cells))


def marks(found: Mapping[Box, str | None]) -> Detected:
    return Detected(marks=numbered(found.items()))


WORDS = (("x", "x"), ("y", HIDDEN))


@pytest.mark.parametrize(
    ("found", "count"),
    [
        (board("aabb"), Count(3, 3, 3, 3)),
        (board("aabb", shifted=5), Count(3, 3, 3, 3)),
        (board("aabb", shifted=15), Count(0, 4, 0, 3)),
        (Detected(), Count(0, 0, 0, 3)),
    ],
)
def test_cells_of_a_board(found: Detected, count: Count) -> None:
    assert of_board(frame(WORDS), found) == count
    assert of_board(frame(), found) == Count(0, len(found.cells), 0, 0)


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ("aab?", Count(3, 3, 3, 3)),
        ("aaa?", Count(2, 3, 3, 3)),  # one kind for two words
        ("abc?", Count(3, 3, 2, 3)),  # two kinds for one word
    ],
)
def test_what_cells_show(kinds: str, count: Count) -> None:
    assert of_kinds(frame(WORDS), board(kinds)) == count


def test_elements() -> None:
    shown = frame(None, MENU, COIN)
    found = marks({COIN.box.moved(2, 2): None, Box(0, 80, 10, 10): None})
    assert of_elements(shown, found) == Count(1, 2, 1, 2)
    assert of_elements(frame(), found) == Count(0, 2, 0, 0)


def test_menus_by_their_texts() -> None:
    shown = frame(None, MENU, COIN)
    assert of_menus(shown, marks({Box(2, 1, 20, 6): "new", Box(24, 1, 30, 6): "Game"})) == Count(1, 1, 1, 1)
    assert of_menus(shown, marks({Box(2, 1, 20, 6): "Now"})) == Count(0, 1, 0, 1)
    assert of_menus(shown, marks({COIN.box: "New Game"})) == Count(0, 0, 0, 1)


class Finds:
    """Finds the coin."""

    def detect(self, pixels: object) -> Detected:
        return marks({COIN.box: None})


def test_rows_by_game_and_for_all() -> None:
    rows = list(score([frame(None, COIN), frame(None, MENU)], {"finds": (Finds, of_elements)}))
    assert [(row.game, row.frames, row.count) for row in rows] == [
        ("g", 2, Count(1, 2, 1, 2)),
        ("all", 2, Count(1, 2, 1, 2)),
    ]


def test_wilsons_interval() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    assert wilson(10, 10)[1] == 1.0
