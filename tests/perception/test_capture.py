"""Pixels that can be those of the window, or a typed reason why not."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.testing.victim import victim
from perception.capture import Capture, picture, visible_area
from perception.errors import NotObservable
from perception.geometry import Box
from perception.observation import WindowState
from perception.window import open_desktop
from perception.x11 import X11Window

AREA = Box(200, 100, 4, 3)
STATE = WindowState(client=AREA, screen=Box(0, 0, 1280, 800), minimised=False, foreground=True, covered_by=())


def image(*, height: int = 3, width: int = 4, colour: int = 90, alpha: int = 255) -> NDArray[np.uint8]:
    made = np.full((height, width, 4), colour, np.uint8)
    made[:, :, 3] = alpha
    return made


def kind_of(captured: NDArray[np.uint8], *, area: Box = AREA, opacity: bool = True) -> str | None:
    try:
        picture(captured, area, opacity=opacity)
    except NotObservable as problem:
        return problem.kind
    return None


one_opaque_pixel = image(alpha=0)
one_opaque_pixel[2, 3, 3] = 1
one_grey_pixel = image(colour=0)
one_grey_pixel[2, 3, 1] = 1


@pytest.mark.parametrize(
    ("captured", "kind"),
    [
        (image(), None),
        (image(alpha=0), "transparent"),
        (one_opaque_pixel, None),
        (image(colour=0), "black"),
        (image(colour=0, alpha=0), "transparent"),
        (one_grey_pixel, None),
        (image(width=5), "wrong_size"),
        (image(height=2), "wrong_size"),
        (image(height=6, width=8), "wrong_size"),
        (np.zeros((0, 4, 4), np.uint8), "wrong_size"),
        (image()[:, :, :3], "wrong_size"),
        (np.asarray(None), "wrong_size"),
    ],
)
def test_a_capture_that_holds_no_picture_is_refused(captured: NDArray[np.uint8], kind: str | None) -> None:
    assert kind_of(captured) == kind


def test_a_fourth_byte_that_says_nothing_is_not_asked() -> None:
    assert kind_of(image(alpha=0), opacity=False) is None
    assert kind_of(image(colour=0, alpha=255), opacity=False) == "black"


def test_an_empty_area_is_refused_even_if_the_capture_agrees() -> None:
    assert kind_of(np.zeros((0, 4, 4), np.uint8), area=Box(0, 0, 4, 0)) == "wrong_size"


def test_the_colours_stay_in_their_order() -> None:
    captured = np.arange(4 * 3 * 4, dtype=np.uint8).reshape(3, 4, 4)
    assert (picture(captured, AREA, opacity=True) == captured[:, :, :3]).all()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (replace(STATE, minimised=True), "minimised"),
        (replace(STATE, client=Box(1280, 0, 10, 10)), "off_screen"),
        (replace(STATE, client=Box(0, -10, 10, 10)), "off_screen"),
        (replace(STATE, client=Box(50, 50, 0, 10)), "off_screen"),
        (replace(STATE, covered_by=("Pop-up",)), "covered"),
    ],
)
def test_a_window_that_cannot_be_seen_is_not_captured(state: WindowState, kind: str) -> None:
    with pytest.raises(NotObservable) as problem:
        visible_area(state)
    assert problem.value.kind == kind


def test_off_screen_and_black(own_display: str, capture: Capture) -> None:
    with pytest.raises(NotObservable, match=r"off the screen: 10x10 at \(2000, 0\) on a screen of 1280x800"):
        capture.grab(replace(STATE, client=Box(2000, 0, 10, 10)), 0)
    with pytest.raises(NotObservable, match="black"):
        capture.grab(replace(STATE, client=Box(900, 700, 50, 50)), 0)


def test_the_screens_fourth_byte_is_not_taken_for_opacity(own_display: str, capture: Capture) -> None:
    with victim("Game", colour=0x112233, at=(300, 200)):
        shot = capture._mss.grab({"left": 400, "top": 300, "width": 20, "height": 20})
        assert not np.asarray(shot)[:, :, 3].any()
        frame = capture.grab(replace(STATE, client=Box(400, 300, 20, 20)), 0)
        assert (frame.pixels == np.array([0x33, 0x22, 0x11])).all()


def test_looking_costs_no_connections(game: X11Window, capture: Capture) -> None:
    for _ in range(300):
        capture.grab(game.state(), 0)


def test_an_equal_picture_is_not_made_anew(own_display: str, capture: Capture) -> None:
    with victim("Game", 300, 200) as shown, closing(open_desktop()) as desktop:
        state = desktop.find(shown.title).state()
        first = capture.grab(state, 1)
        assert capture.grab(state, 2).pixels is first.pixels
        with victim("Other", 300, 200, at=(200, 150), colour=0x112233):
            changed = replace(state, covered_by=())
            assert capture.grab(changed, 3).pixels is not first.pixels
