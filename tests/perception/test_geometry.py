"""The one chain of transforms."""

from hypothesis import given
from hypothesis import strategies as st

from perception.geometry import Box, Point, Transform

offsets = st.integers(-4000, 4000)
sizes = st.integers(1, 3000)
boxes = st.builds(Box, offsets, offsets, sizes, sizes)


@given(
    corner=st.tuples(offsets, offsets),
    captured=st.builds(Box, st.integers(0, 500), st.integers(0, 500), sizes, sizes),
    scale=st.sampled_from((1.0, 1.25, 1.5, 1.75, 2.0)),
    screen=st.tuples(offsets, offsets),
)
def test_there_and_back_within_a_pixel(
    corner: tuple[int, int], captured: Box, scale: float, screen: tuple[int, int]
) -> None:
    chain = Transform(client=Box(*corner, 3000, 3000), captured=captured, scale=scale)
    point = Point(*screen)
    back = chain.to_screen(chain.to_capture(point))
    assert abs(back.x - point.x) <= 1
    assert abs(back.y - point.y) <= 1


def test_a_clipped_capture_on_the_left_hand_monitor() -> None:
    chain = Transform(client=Box(-500, -40, 400, 300), captured=Box(0, 40, 400, 260))
    assert chain.to_screen(Point(10, 5)) == Point(-490, 5)


@given(boxes, boxes)
def test_intersection_is_inside_both(a: Box, b: Box) -> None:
    common = a.intersection(b)
    assert common == b.intersection(a) or common.is_empty
    if not common.is_empty:
        for corner in (Point(common.left, common.top), Point(common.right - 1, common.bottom - 1)):
            assert a.contains(corner)
            assert b.contains(corner)


@given(boxes)
def test_the_center_is_inside(box: Box) -> None:
    assert box.contains(box.center)
