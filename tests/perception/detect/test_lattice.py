"""Boards drawn by hand: other sizes and pitches than the game that the detector was made for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perception.detect.colour import parse_colour
from perception.detect.lattice import Lattice
from perception.errors import NotObservable
from perception.geometry import Box

GREY, LINE, INK = 220, 150, (255, 0, 0)  # INK is blue: BGR


def board(rows: int, columns: int, pitch: int, left: int = 31, top: int = 17) -> NDArray[np.uint8]:
    """An even board with one-pixel lines, in a larger window."""
    pixels = np.full((top + rows * pitch + 40, left + columns * pitch + 25, 3), GREY, np.uint8)
    for i in range(rows + 1):
        pixels[top + i * pitch, left : left + columns * pitch + 1] = LINE
    for i in range(columns + 1):
        pixels[top : top + rows * pitch + 1, left + i * pitch] = LINE
    return pixels


@settings(max_examples=40, deadline=None)
@given(rows=st.integers(2, 16), columns=st.integers(2, 16), pitch=st.integers(14, 60))
def test_every_cell_is_where_it_was_drawn(rows: int, columns: int, pitch: int) -> None:
    found = Lattice(rows=rows, columns=columns).detect(board(rows, columns, pitch))
    assert [mark.number for mark in found.marks] == list(range(1, rows * columns + 1))
    for cell in found.cells:
        drawn = Box(31 + cell.column * pitch, 17 + cell.row * pitch, pitch, pitch)
        assert abs(cell.box.left - drawn.left) <= 1
        assert abs(cell.box.top - drawn.top) <= 1
        assert abs(cell.box.width - pitch) <= 1
        assert drawn.contains(cell.box.center)


def test_kinds_by_colour() -> None:
    pixels = board(3, 4, 30)
    pixels[17 + 30 + 8 : 17 + 30 + 20, 31 + 60 + 8 : 31 + 60 + 14] = INK  # row 1, column 2
    found = Lattice(rows=3, columns=4, kinds={"red": "#ff0000", "blue": "#0000ff"}).detect(pixels)
    assert {cell.name: cell.kind for cell in found.cells if cell.kind} == {"C2": "blue"}
    assert found.marks[6].label == "blue"
    assert found.marks[0].label == "A1"


@pytest.mark.parametrize(("rows", "columns"), [(9, 8), (8, 9), (10, 9), (9, 10)])
def test_another_board_than_declared_is_said(rows: int, columns: int) -> None:
    with pytest.raises(NotObservable, match=rf"of {rows} rows and {columns} columns, found 81 .* 9 rows and 9 col"):
        Lattice(rows=rows, columns=columns).detect(board(9, 9, 31)[:326])


@pytest.mark.parametrize("shape", [(1, 1, 3), (40, 60, 3)])
def test_no_board_is_said(shape: tuple[int, int, int]) -> None:
    with pytest.raises(NotObservable, match="found 0 cell-like shapes in 0 rows and 0 columns"):
        Lattice(rows=9, columns=9).detect(np.full(shape, 200, np.uint8))


def test_wrong_declarations() -> None:
    with pytest.raises(ValueError, match="at least 2 rows"):
        Lattice(rows=1, columns=9)
    with pytest.raises(ValueError, match="expected a colour such as #ff0000, found 'red'"):
        Lattice(rows=9, columns=9, kinds={"x": "red"})
    assert parse_colour("#102030") == (0x30, 0x20, 0x10)
