"""The 2048 bot knows how the board slides. That it wins is in ``tests/sessions``, since the game has no seed."""

import sys

import pytest

from actuation.tools import Wait
from agent.load import load_bot
from agent.testing import observation

BOT = load_bot("examples/twenty48")
GAME = sys.modules[type(BOT).__module__]
BOARD = [[2, 2, 4, 0], [0, 0, 0, 0], [2, 0, 2, 2], [4, 4, 4, 4]]


@pytest.mark.parametrize(
    ("direction", "after"),
    [
        ("left", [[4, 4, 0, 0], [0, 0, 0, 0], [4, 2, 0, 0], [8, 8, 0, 0]]),
        ("right", [[0, 0, 4, 4], [0, 0, 0, 0], [0, 0, 2, 4], [0, 0, 8, 8]]),
        ("up", [[4, 2, 4, 2], [4, 4, 2, 4], [0, 0, 4, 0], [0, 0, 0, 0]]),
        ("down", [[0, 0, 0, 0], [0, 0, 4, 0], [4, 2, 2, 2], [4, 4, 4, 4]]),
    ],
)
def test_tiles_slide_and_merge_once(direction: str, after: list[list[int]]) -> None:
    assert GAME.slid(BOARD, direction) == after


def test_the_best_slide_moves_something_and_leaves_most_room() -> None:
    assert GAME.best([[2, 0, 0, 0]] + [[0] * 4] * 3) in ("down", "right")
    assert GAME.best([[2, 2, 2, 2]] * 4) in ("left", "right", "up", "down")
    assert GAME.best([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]) is None


def test_it_waits_where_it_sees_no_whole_board() -> None:
    seen = observation({})
    assert BOT.script(seen) == Wait()
    assert BOT.result(seen) is None
