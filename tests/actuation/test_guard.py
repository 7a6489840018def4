"""What may be delivered, and what the refusal says."""

from dataclasses import replace

import numpy as np
import pytest

from actuation.aim import aims
from actuation.guard import Refusal, check_keyboard, check_pointer, check_target
from actuation.tools import Click
from agent.testing import StillEyes, frame, observation
from perception.errors import WindowClosed
from perception.geometry import Box, Point
from perception.observation import WindowState

CLIENT = Box(100, 50, 320, 240)
INSIDE = Point(110, 60)


def eyes(**change: object) -> StillEyes:
    found = StillEyes()
    assert isinstance(found.now, WindowState)
    found.now = replace(found.now, **change)  # type: ignore[arg-type]
    return found


def reason(refusal: Refusal | None) -> str | None:
    return refusal.reason if refusal else None


@pytest.mark.parametrize(
    ("change", "keys", "click"),
    [
        ({}, None, None),
        ({"minimised": True}, "minimised", "minimised"),
        ({"client": Box(101, 50, 320, 240)}, None, "moved"),
        ({"client": Box(100, 50, 321, 240)}, None, "moved"),
        ({"foreground": False}, "not_foreground", "not_foreground"),
        ({"covered_by": ("Pop-up",)}, None, None),  # who takes a click is asked for the very point
    ],
)
def test_what_each_state_of_the_window_allows(change: dict[str, object], keys: str | None, click: str | None) -> None:
    now = eyes(**change)
    assert reason(check_keyboard(now)) == keys
    assert reason(check_pointer(now, [INSIDE], CLIENT)) == click


def test_a_window_that_is_gone() -> None:
    now = StillEyes()
    now.now = WindowClosed("The window 'Game' was closed.", "Start the game again.")
    assert reason(check_keyboard(now)) == reason(check_pointer(now, [INSIDE], CLIENT)) == "closed"


def test_who_lies_over_the_point_is_named() -> None:
    now = StillEyes()
    now.over = "Pop-up"
    assert check_pointer(now, [INSIDE], CLIENT) == Refusal(reason="covered_by", detail="covered by Pop-up")


@pytest.mark.parametrize(
    ("point", "inside"),
    [
        (Point(100, 50), True),
        (Point(419, 289), True),
        (Point(99, 50), False),
        (Point(420, 50), False),
        (Point(100, 290), False),
        (Point(6640, 100), False),
    ],
)
def test_a_point_outside_is_refused_and_not_clamped(point: Point, inside: bool) -> None:
    assert reason(check_pointer(StillEyes(), [INSIDE, point], CLIENT)) == (None if inside else "out_of_bounds")


def test_the_part_of_a_window_that_is_off_the_screen_is_out_of_bounds() -> None:
    client = Box(1200, 50, 320, 240)
    now = eyes(client=client)
    assert reason(check_pointer(now, [Point(1279, 60)], client)) is None
    assert reason(check_pointer(now, [Point(1280, 60)], client)) == "out_of_bounds"


def test_a_target_that_changed_is_stale_by_its_share() -> None:
    (aim,) = aims(Click(mark=7), observation({7: "safe"}))
    now = StillEyes()
    assert check_target(now, aim, 0.0) is None
    pixels = frame().pixels.copy()
    pixels[0:4, 0:16] = 0  # a quarter of the mark's 16 x 16
    now.frame = replace(now.frame, pixels=pixels)
    refusal = check_target(now, aim, 0.2)
    assert refusal is not None
    assert refusal.reason == "stale_target"
    assert refusal.detail.startswith("25% of the target's pixels changed since the look; 20% may")
    assert check_target(now, aim, 0.25) is None
    now.frame = replace(now.frame, pixels=np.roll(frame().pixels, 100, axis=1))
    assert check_target(now, aim, 0.0) is None
