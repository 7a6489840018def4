"""What may be delivered, and what the refusal says."""

from dataclasses import replace

import pytest

from actuation.guard import check
from perception.geometry import Box, Point
from perception.observation import WindowState

CLIENT = Box(100, 50, 320, 240)
FINE = WindowState(client=CLIENT, screen=Box(0, 0, 1280, 800), minimised=False, foreground=True, covered_by=())
INSIDE = Point(110, 60)


def reason(now: WindowState, point: Point | None = INSIDE) -> str | None:
    refusal = check(point, CLIENT, now)
    return refusal.reason if refusal else None


def test_fine() -> None:
    assert reason(FINE) is None
    assert reason(FINE, None) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"minimised": True}, "minimised"),
        ({"client": Box(101, 50, 320, 240)}, "moved"),
        ({"client": Box(100, 50, 321, 240)}, "moved"),
        ({"foreground": False}, "not_foreground"),
        ({"covered_by": ("Pop-up",)}, "covered_by"),
    ],
)
def test_each_refusal_even_without_a_target(change: dict[str, object], expected: str) -> None:
    now = replace(FINE, **change)  # type: ignore[arg-type]
    assert reason(now) == expected
    assert reason(now, None) == expected


@pytest.mark.parametrize(
    ("x", "y", "fine"),
    [
        (100, 50, True),
        (419, 289, True),
        (99, 60, False),
        (420, 60, False),
        (110, 49, False),
        (110, 290, False),
        (6640, 60, False),
    ],
)
def test_points_outside_the_client_area(x: int, y: int, fine: bool) -> None:
    assert reason(FINE, Point(x, y)) == (None if fine else "out_of_bounds")


def test_points_off_the_screen_are_outside_too() -> None:
    half_out = Box(-50, 50, 320, 240)
    now = replace(FINE, client=half_out)
    assert check(Point(-1, 60), half_out, now) is not None
    assert check(Point(0, 60), half_out, now) is None
