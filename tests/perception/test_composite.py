"""Pixels of windows that others cover, through X11's Composite extension."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from agent.bot import Game
from agent.desktop import game_window
from agent.testing.victim import until, victim, xdotool, xvfb
from perception.capture import Capture
from perception.composite import Composite
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed
from perception.geometry import Box, Point
from perception.live import LiveWindow
from perception.x11 import X11Desktop, X11Window


@pytest.fixture
def mines(desktop: X11Desktop) -> Iterator[X11Window]:
    """A game whose picture is not of one colour."""
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop):
        window = desktop.find("Mines")
        until(lambda: window.state().foreground)
        xdotool("mousemove", 5, 790)  # nothing is to light up under the pointer
        yield window


def test_what_is_covered_or_off_the_screen_is_seen_as_if_it_were_not(mines: X11Window, capture: Capture) -> None:
    until(lambda: shown(mines, capture))
    plain = capture.grab(mines.state(), 0).pixels
    with closing(Composite(mines.id)) as composite:
        until(lambda: np.array_equal(composite.grab(mines.state(), 0).pixels, plain))
        assert mines.state().foreground
        xdotool("windowmove", mines.id, -60, 300)
        until(lambda: mines.state().clipped)
        state = mines.state()
        with victim("Pop-up", 150, 150, at=(0, state.client.top + 20)):
            until(lambda: mines.state().covered_by == ("Pop-up",))
            frame = composite.grab(mines.state(), 7)
        assert np.array_equal(frame.pixels, plain)
        assert frame.captured_ns == 7
        assert frame.transform.captured == Box(0, 0, state.client.width, state.client.height)
        assert frame.transform.to_screen(Point(0, 0)) == Point(state.client.left, state.client.top)


def shown(window: X11Window, capture: Capture) -> bool:
    """True once the game has drawn more than its background."""
    return len(np.unique(capture.grab(window.state(), 0).pixels)) > 5


def test_a_window_that_is_resized_gets_a_new_picture(game: X11Window) -> None:
    with closing(Composite(game.id)) as composite:
        before = game.state()
        assert composite.grab(before, 0).pixels.shape == (200, 300, 3)
        xdotool("windowsize", game.id, 301, 199)
        until(lambda: game.state().client.width == 301)
        assert composite.grab(game.state(), 0).pixels.shape == (199, 301, 3)
        with pytest.raises(NotObservable, match="picture at 300x200, found that it changed") as problem:
            composite.grab(before, 0)
        assert problem.value.kind == "wrong_size"


def test_a_minimised_window_stays_unseen(game: X11Window) -> None:
    with closing(Composite(game.id)) as composite:
        drawn = game.state()
        xdotool("windowminimize", game.id)
        until(lambda: game.state().minimised)
        with pytest.raises(NotObservable, match="The window is minimised"):
            composite.grab(game.state(), 0)
        with pytest.raises(NotObservable, match="changed just now"):
            composite.grab(drawn, 0)


@pytest.mark.parametrize(("colour", "kind"), [(0xFF112233, None), (0x00112233, "transparent"), (0xFF000000, "black")])
def test_a_window_that_knows_opacity(desktop: X11Desktop, colour: int, kind: str | None) -> None:
    with victim("Game", colour=colour, depth=32):
        game = desktop.find("Game")
        with closing(Composite(game.id)) as composite:
            assert kind_of(composite, game) == kind


def kind_of(composite: Composite, window: X11Window) -> str | None:
    try:
        composite.grab(window.state(), 0)
    except NotObservable as problem:
        return problem.kind
    return None


def test_pixels_that_happen_to_be_text(desktop: X11Desktop) -> None:
    with victim("Game", colour=0x224466):
        game = desktop.find("Game")
        with closing(Composite(game.id)) as composite:
            pixels = composite.grab(game.state(), 0).pixels
    assert (pixels == np.array([0x66, 0x44, 0x22])).all()


def test_a_picture_of_many_bands_is_whole(desktop: X11Desktop, capture: Capture) -> None:
    with victim("Game", 1000, 600, at=(100, 100)):
        game = desktop.find("Game")
        with victim("Below", 200, 100, at=(300, 300)), closing(Composite(game.id)) as composite:
            pixels = composite.grab(game.state(), 0).pixels
        assert pixels.shape == (600, 1000, 3)
        assert (pixels == np.array([0xCC, 0x66, 0x33])).all()


def test_looking_keeps_no_names(game: X11Window) -> None:
    with closing(Composite(game.id)) as composite:
        held = composite._server.display.display.resource_ids
        before = len(held)
        for _ in range(300):
            composite.grab(game.state(), 0)
        assert len(held) == before


def test_a_server_that_cannot(own_display: str) -> None:
    says = r"Expected an X server with Composite 0\.2 or newer, found none\. Leave covered='refuse'"
    with xvfb("-extension", "Composite") as (name, _), pytest.raises(DisplayUnavailable, match=says):
        Composite(1, name)


def test_an_extension_that_is_too_old(own_display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perception.composite.NAMED_PIXMAPS", (9, 0))  # no server is that old any more
    with pytest.raises(DisplayUnavailable, match=r"found \(0, 4\)"):
        Composite(1)


def test_a_live_window_looks_under_what_covers_it_if_asked(game: X11Window) -> None:
    with (
        closing(LiveWindow(game, lambda: 5, covered="composite")) as live,
        closing(LiveWindow(game, lambda: 5)) as plain,
        victim("Pop-up", 80, 60, at=(game.state().client.left + 50, game.state().client.top + 50)),
    ):
        until(lambda: game.state().covered_by == ("Pop-up",))
        assert (live.grab().pixels == np.array([0xCC, 0x66, 0x33])).all()
        with pytest.raises(NotObservable, match="covered by 'Pop-up'"):
            plain.grab()


def test_a_live_window_follows_under_cover(desktop: X11Desktop) -> None:
    with victim("Game"):
        live = LiveWindow(desktop.find("Game"), lambda: 5, follow=True, covered="composite")
    with closing(live), victim("Game", 120, 90), victim("Pop-up", at=(200, 150)):
        until(lambda: desktop.find("Game").state().covered_by == ("Pop-up",))
        assert live.grab().pixels.shape == (90, 120, 3)


def test_a_window_that_is_gone(desktop: X11Desktop) -> None:
    with victim("Game"):
        game = desktop.find("Game")
        state = game.state()
        composite = Composite(game.id)
    with closing(composite):
        until(lambda: gone(game))
        with pytest.raises(NotObservable, match="changed just now"):
            composite.grab(replace(state, covered_by=()), 0)


def gone(window: X11Window) -> bool:
    try:
        window.state()
    except WindowClosed:
        return True
    return False
