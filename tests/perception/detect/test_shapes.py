"""Shapes, colours and grids."""

import numpy as np
import pytest
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.colour import Colour, parse_colour
from perception.detect.conformance import check_detector
from perception.detect.grid import Grid
from perception.detect.lattice import Lattice
from perception.detect.regions import Regions
from perception.errors import NotObservable
from perception.geometry import Box, Point
from tests.perception.detect.test_lattice import board
from tests.perception.drawn import screen, written

SLIM, SQUARE, TALL = Box(20, 30, 120, 24), Box(200, 30, 40, 40), Box(30, 90, 50, 120)


def test_every_shape_is_found_in_reading_order() -> None:
    pixels = screen(SLIM, SQUARE, TALL)
    written(pixels, "Start", 50, 47)
    found = Regions().detect(pixels).marks
    assert len(found) == 3
    for mark, drawn in zip(found, (SLIM, SQUARE, TALL), strict=True):
        assert mark.box.overlap(drawn) > 0.85
        assert mark.label is None


@pytest.mark.parametrize(
    "pixels",
    [
        screen(),  # the ground alone is no shape
        screen(Box(20, 20, 10, 10)),  # too small
        screen(Box(20, 20, 300, 14)),  # too slim
        screen(Box(2, 2, 396, 296)),  # as good as the ground
    ],
    ids=["nothing", "small", "slim", "large"],
)
def test_what_is_no_shape(pixels: NDArray[np.uint8]) -> None:
    assert Regions().detect(pixels).marks == ()


def test_a_crooked_region_is_no_shape() -> None:
    pixels = screen()
    pixels[50:60, 50:200] = 100
    pixels[50:200, 50:60] = 100  # an angle fills a ninth of its box
    assert Regions().detect(pixels).marks == ()


def test_colours_by_name() -> None:
    pixels = screen()
    pixels[10:20, 10:30] = (0, 0, 255)
    pixels[100:120, 200:230] = (255, 0, 0)
    pixels[50, 50] = (0, 0, 255)  # too small
    found = Colour({"enemy": "#ff0000", "friend": "#0000ff"}).detect(pixels).marks
    assert [(mark.label, mark.box) for mark in found] == [
        ("enemy", Box(10, 10, 20, 10)),
        ("friend", Box(200, 100, 30, 20)),
    ]
    pixels[10:20, 10:30] = (9, 9, 246)
    assert len(Colour({"enemy": "#ff0000"}).detect(pixels).marks) == 1
    assert Colour({"enemy": "#ff0000"}, tolerance=5).detect(pixels).marks == ()


@pytest.mark.parametrize("wrong", ["red", "#ff00", "#gg0000", "", "ff0000ff"])
def test_colours_that_are_none(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected a colour such as #ff0000"):
        parse_colour(wrong)


def test_a_grid_over_the_whole_area_leaves_no_pixel_out() -> None:
    cells = Grid(9, 16).detect(screen(width=401, height=301)).cells
    assert [cell.name for cell in cells][:2] == ["A1", "B1"]
    assert (cells[-1].name, len(cells)) == ("P9", 144)
    assert sum(cell.box.area for cell in cells) == 401 * 301
    assert cells[17].box.contains(cells[17].box.at(0.9, 0.1))
    assert cells[0].box.at(0, 0) == Point(0, 0)


def test_a_grid_over_a_region_or_a_board() -> None:
    region = Box(40, 20, 100, 60)
    cells = Grid(3, 5, over=region).detect(screen()).cells
    assert (cells[0].box, cells[-1].box) == (Box(40, 20, 20, 20), Box(120, 60, 20, 20))
    cells = Grid(2, 2, over=Lattice(rows=4, columns=6)).detect(board(4, 6, 30)).cells
    assert cells[0].box.overlap(Box(31, 17, 90, 60)) > 0.9


def test_a_region_that_is_not_there_is_said() -> None:
    with pytest.raises(NotObservable, match="Expected a region of at least 5x3 pixels inside 400x300"):
        Grid(3, 5, over=Box(390, 0, 20, 20)).detect(screen())
    with pytest.raises(ValueError, match="at least 1 row"):
        Grid(0, 5)


@pytest.mark.parametrize(
    "detector",
    [Regions(), Colour({"dark": "#282828"}), Grid(2, 2), Lattice(), Lattice(rows=3, columns=3)],
    ids=lambda detector: type(detector).__name__,
)
def test_the_contract(detector: Regions) -> None:
    found = check_detector(detector, [screen(SLIM, SQUARE), board(3, 3, 30), screen()])
    assert any(each != Detected() for each in found)
