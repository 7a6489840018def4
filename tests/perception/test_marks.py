"""Numbers and the order of reading."""

import pytest

from perception.geometry import Box
from perception.marks import in_reading_order, numbered, renumbered
from perception.observation import Mark


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([], []),
        ([Box(50, 0, 10, 10), Box(0, 0, 10, 10)], [1, 0]),
        ([Box(50, 3, 10, 10), Box(0, 0, 10, 10), Box(0, 20, 10, 10)], [1, 0, 2]),  # a line that is not quite even
        ([Box(0, 30, 10, 10), Box(40, 0, 10, 10)], [1, 0]),
        ([Box(0, 0, 10, 100), Box(20, 0, 10, 10), Box(20, 90, 10, 10)], [0, 1, 2]),
        ([Box(0, 0, 10, 1), Box(9, 0, 2, 4)], [0, 1]),  # a box whose middle is not on its own line
    ],
)
def test_the_order_of_reading(boxes: list[Box], order: list[int]) -> None:
    assert in_reading_order(boxes) == order


def test_numbers_follow_the_order() -> None:
    marks = numbered([(Box(50, 0, 10, 10), "right"), (Box(0, 2, 10, 10), None)])
    assert [(mark.number, mark.label) for mark in marks] == [(1, None), (2, "right")]
    again = renumbered([Mark(number=9, box=Box(50, 0, 10, 10), label="right"), Mark(number=4, box=Box(0, 2, 10, 10))])
    assert again == marks
