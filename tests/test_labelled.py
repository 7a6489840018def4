"""The labelled set holds together."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from perception import labelled as read
from perception.image import write_png
from tests.labelled.capture import scenes

FRAMES = Path(__file__).parent / "labelled"

SMALLEST_CELL = 8  # pixels


@cache
def labelled() -> tuple[read.Labelled, ...]:
    return tuple(read.frames(FRAMES))


def test_it_holds_enough_frames_of_enough_games() -> None:
    assert len(labelled()) >= 40
    assert len({frame.game for frame in labelled()}) >= 8


def test_every_board_is_cells_that_its_kinds_fit() -> None:
    for frame in labelled():
        where = f"{frame.game}/{frame.name}"
        if frame.board is None:
            assert frame.cells is None, where
            continue
        board = frame.board
        assert min(board.box.width / board.columns, board.box.height / board.rows) >= SMALLEST_CELL, where
        if frame.cells is not None:
            assert [len(row) for row in frame.cells] == [board.columns] * board.rows, where


def test_no_element_is_listed_twice() -> None:
    for frame in labelled():
        boxes = [element.box for element in frame.elements]
        assert len(set(boxes)) == len(boxes), f"{frame.game}/{frame.name}"


def test_every_frame_can_be_captured_again() -> None:
    names: dict[str, list[str]] = {}
    for frame in labelled():
        names.setdefault(frame.game, []).append(frame.name)
    assert names == {game: [name for name, *_ in scenes(game)] for game in names}


@pytest.mark.parametrize(
    "change",
    [
        {"board": {"rows": 0, "columns": 2, "box": [0, 0, 20, 20]}},
        {"elements": [{"box": [0, 0, 9, 9], "kind": "door", "label": None}]},
        {"cells": [["empty", 1]]},
        {"more": 1},
        {"elements": [{"box": [5000, 0, 9, 9], "kind": "tile", "label": None}]},
        {"board": {"rows": 2, "columns": 2, "box": [0, 0, 20, 20]}, "cells": [["a"]]},
    ],
)
def test_labels_that_are_not_as_declared_are_refused_by_name(change: dict[str, object], tmp_path: Path) -> None:
    labels = {"game": "g", "command": ["g"], "labelled": "By eye.", "board": None, "cells": None, "elements": []}
    path = tmp_path / "g" / "01.json"
    path.parent.mkdir()
    path.write_text(json.dumps(labels | change))
    write_png(path.with_suffix(".png"), np.full((40, 60, 3), 9, np.uint8))
    with pytest.raises(ValueError, match=r"g/01\.json"):
        read.frames(tmp_path)
