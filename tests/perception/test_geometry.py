"""The one chain of transforms, and that nobody goes round it."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.geometry import Box, Point, Reduction, Transform, overlaps, shared_pixels

ROOT = Path(__file__).parents[2]
COORDINATES = {"left", "top", "right", "bottom", "x", "y"}

offsets = st.integers(-4000, 4000)
sizes = st.integers(1, 3000)
boxes = st.builds(Box, offsets, offsets, sizes, sizes)
points = st.builds(Point, offsets, offsets)
scales = st.sampled_from((1.0, 1.25, 1.5, 1.75, 2.0))


def close(one: Point, other: Point, by: int = 1) -> bool:
    return abs(one.x - other.x) <= by and abs(one.y - other.y) <= by


@given(points, st.builds(Box, st.integers(0, 500), st.integers(0, 500), sizes, sizes), scales, scales, points)
def test_there_and_back_within_a_pixel(
    corner: Point, captured: Box, scale: float, input_scale: float, screen: Point
) -> None:
    """Monitors left of and above the primary one have negative corners."""
    chain = Transform(
        client=Box(corner.x, corner.y, 3000, 3000), captured=captured, scale=scale, input_scale=input_scale
    )
    pixel = chain.to_capture(screen)
    assert close(chain.to_screen(pixel), screen)
    assert close(chain.to_capture(chain.to_screen(pixel)), pixel)
    back = chain.from_input(chain.to_input(pixel))
    assert close(chain.to_screen(back), chain.to_screen(pixel), by=2 if input_scale > 1 else 1)
    assert close(chain.to_input(back), chain.to_input(pixel))


@given(width=sizes, height=sizes, longest=st.integers(1, 4000), data=st.data())
def test_a_models_image_and_back_within_a_pixel(width: int, height: int, longest: int, data: st.DataObject) -> None:
    reduction = Reduction.to_fit(width, height, longest)
    assert max(reduction.image) <= max(longest, 1)
    assert reduction.image[0] <= width
    assert reduction.image[1] <= height
    shown = Point(*(data.draw(st.integers(0, side - 1)) for side in reduction.image))
    inside = reduction.to_capture(shown)
    assert Box(0, 0, width, height).contains(inside)
    assert reduction.to_image(inside) == shown
    there = Point(data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1)))
    again = reduction.to_image(reduction.to_capture(reduction.to_image(there)))
    assert again == reduction.to_image(there)


def test_a_clipped_capture_on_the_left_hand_monitor() -> None:
    chain = Transform(client=Box(-500, -40, 400, 300), captured=Box(0, 40, 400, 260))
    assert chain.to_screen(Point(10, 5)) == Point(-490, 5)
    assert chain.to_client(Point(10, 5)) == Point(10, 45)


def test_input_in_points() -> None:
    chain = Transform(client=Box(100, 60, 800, 600), captured=Box(0, 0, 800, 600), input_scale=2.0)
    assert chain.to_input(Point(50, 40)) == Point(75, 50)


@given(boxes, boxes)
def test_intersection_is_inside_both(a: Box, b: Box) -> None:
    common = a.intersection(b)
    assert common == b.intersection(a) or common.is_empty
    if not common.is_empty:
        for corner in (Point(common.left, common.top), Point(common.right - 1, common.bottom - 1)):
            assert a.contains(corner)
            assert b.contains(corner)
    assert a.touches(b) == b.touches(a) == (not common.is_empty)
    assert a.holds(b) == (common == b)
    assert Box.around([a, b]).holds(a)
    assert shared_pixels([a], [b])[0, 0] == common.area
    assert np.isclose(overlaps([a], [b])[0, 0], a.overlap(b))


@given(boxes)
def test_the_center_is_inside(box: Box) -> None:
    assert box.contains(box.center)


@given(boxes, st.floats(0, 1), st.floats(0, 1), st.integers(1, 40), st.integers(1, 40))
def test_parts_of_a_box(box: Box, across: float, down: float, rows: int, columns: int) -> None:
    assert box.contains(box.at(across, down))
    parts = box.split(rows, columns)
    assert sum(part.area for part in parts) == box.area
    assert Box.around([part for part in parts if not part.is_empty]) == box


def test_shares_outside_a_box() -> None:
    with pytest.raises(ValueError, match=r"shares from 0 to 1, found 1\.2"):
        Box(0, 0, 5, 5).at(1.2, 0)


@given(boxes, scales)
def test_neighbours_stay_neighbours(box: Box, factor: float) -> None:
    beside = Box(box.right, box.top, 10, box.height)
    assert box.scaled(factor).right == beside.scaled(factor).left


def test_no_other_module_does_arithmetic_on_coordinates() -> None:
    """Adding to a box's or a point's coordinates, or taking from them, is geometry's alone."""
    found = []
    for package in ("perception", "actuation", "agent", "grammar", "examples"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "geometry.py":
                found += [f"{path.relative_to(ROOT)}:{line}" for line in arithmetic(path.read_text())]
    assert found == []


def arithmetic(source: str) -> list[int]:
    """Lines on which a coordinate is an operand of plus, minus, times or divided by."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod)
        and any(isinstance(side, ast.Attribute) and side.attr in COORDINATES for side in (node.left, node.right))
    ]


def test_arithmetic_is_found_where_it_is() -> None:
    assert arithmetic("a = box.left + 3\nb = 2 * point.y\nc = box.left < 3\nd = pixels[box.top : box.bottom]") == [1, 2]


@pytest.mark.parametrize(
    ("box", "rows", "columns"),
    [
        (Box(0, 0, 16, 16), slice(0, 1), slice(0, 1)),
        (Box(15, 16, 2, 1), slice(1, 2), slice(0, 2)),
        (Box(-20, -40, 30, 20), slice(0, 0), slice(0, 1)),
    ],
)
def test_the_tiles_that_hold_a_box(box: Box, rows: slice, columns: slice) -> None:
    assert box.tiles(16) == (rows, columns)
