"""Real windows on a virtual display: each way in which one can stand, told apart."""

import time

import numpy as np
import pytest
from Xlib import X

from agent.bot import Game
from agent.desktop import game_window
from perception.capture import Capture
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed, WindowNotFound
from perception.geometry import Box
from perception.observation import WindowState
from perception.x11 import X11Desktop, X11Window
from tests.victim import until, victim, xdotool


def test_a_window_in_front(game: X11Window, capture: Capture) -> None:
    state = game.state()
    assert (state.client.width, state.client.height) == (300, 200)
    assert state.screen == Box(0, 0, 1280, 800)
    assert (state.minimised, state.foreground, state.covered_by) == (False, True, ())
    frame = capture.grab(state, now_ns=5)
    assert frame.pixels.shape == (200, 300, 3)
    assert (frame.pixels == np.array([0xCC, 0x66, 0x33])).all()  # BGR
    assert frame.captured_ns == 5


def test_a_window_that_moves_and_grows_by_a_pixel(game: X11Window) -> None:
    before = game.state().client
    xdotool("windowmove", game.id, 400, 300, "windowsize", game.id, 301, 200)
    until(lambda: game.state().client.left not in (before.left,) and game.state().client.width == 301)


def test_a_covered_window_names_what_covers_it(game: X11Window, capture: Capture, desktop: X11Desktop) -> None:
    client = game.state().client
    with victim("Pop-up", 80, 60, at=(client.left + 50, client.top + 50)):
        desktop.find("Pop-up").activate()
        until(lambda: game.state().covered_by == ("Pop-up",))
        assert not game.state().foreground
        with pytest.raises(NotObservable, match=r"covered by 'Pop-up'\. Move or close"):
            capture.grab(game.state(), 0)
    until(lambda: game.state().covered_by == ())


def test_a_window_that_is_not_drawn_covers_too(game: X11Window, desktop: X11Desktop) -> None:
    client = game.state().client
    invisible = desktop.server.display.screen().root.create_window(
        client.left, client.top, 50, 50, 0, 0, window_class=X.InputOnly, override_redirect=True
    )
    invisible.map()
    until(lambda: len(game.state().covered_by) == 1)
    invisible.destroy()
    until(lambda: game.state().covered_by == ())


def test_a_window_that_was_there_before_is_not_meant(game: X11Window, desktop: X11Desktop) -> None:
    before = desktop.ids()
    with pytest.raises(WindowNotFound):
        desktop.find("Game", besides=before)
    with victim("Game", 120, 90):
        assert desktop.find("Game", besides=before).state().client.width == 120


def test_a_window_that_lies_beside_does_not_cover(game: X11Window, desktop: X11Desktop) -> None:
    client = game.state().client
    with victim("Neighbour", 80, 60, at=(client.right + 40, client.top)):
        desktop.find("Neighbour").activate()
        until(lambda: not game.state().foreground)
        assert game.state().covered_by == ()


def test_a_games_own_menu_does_not_cover_it(desktop: X11Desktop) -> None:
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop) as mines:
        until(lambda: mines.state().foreground)
        client = mines.state().client
        xdotool("mousemove", str(client.left + 20), str(client.top + 12), "click", "1")
        until(lambda: len(menus(desktop, client)) > 0)
        assert mines.state().covered_by == ()
        xdotool("key", "Escape")


def menus(desktop: X11Desktop, client: Box) -> list[int]:
    """Windows that the window manager does not manage, over an area."""
    tops = desktop.server.display.screen().root.query_tree().children
    return desktop._covering([w.id for w in tops if w.get_attributes().override_redirect], client)


def test_a_minimised_window(game: X11Window, capture: Capture) -> None:
    xdotool("windowminimize", game.id)
    until(lambda: game.state().minimised)
    with pytest.raises(NotObservable, match="minimised"):
        capture.grab(game.state(), 0)


def test_a_window_half_outside_is_clipped(game: X11Window, capture: Capture) -> None:
    xdotool("windowmove", game.id, "-100", "150")
    until(lambda: game.state().client.left < 0)
    state = game.state()
    frame = capture.grab(state, 0)
    assert frame.pixels.shape == (200, 300 + state.client.left, 3)
    assert frame.transform.captured == Box(-state.client.left, 0, 300 + state.client.left, 200)


def test_a_closed_window(desktop: X11Desktop) -> None:
    with victim("Game") as process:
        window = desktop.find("Game")
        process.process.kill()
        process.process.wait()
    with pytest.raises(WindowClosed, match=r"'Game' was closed\. Start the game again"):
        for _ in range(200):
            window.state()
            time.sleep(0.02)


def test_a_missing_window_names_the_nearest_title(game: X11Window, desktop: X11Desktop) -> None:
    with pytest.raises(WindowNotFound, match=r"titled 'game', found \['Game'\]\. Did you mean 'Game'\?"):
        desktop.find("game")


# The X library leaves the socket of a refused connection to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(DisplayUnavailable, match=r"No X display answers .*unset it"):
        X11Desktop()


def state(client: Box) -> WindowState:
    return WindowState(client=client, screen=Box(0, 0, 1280, 800), minimised=False, foreground=True, covered_by=())


def test_off_screen_and_black(own_display: str, capture: Capture) -> None:
    with pytest.raises(NotObservable, match=r"off the screen: 10x10 at \(2000, 0\) on a screen of 1280x800"):
        capture.grab(state(Box(2000, 0, 10, 10)), 0)
    with pytest.raises(NotObservable, match="black"):
        capture.grab(state(Box(900, 700, 50, 50)), 0)


def test_looking_costs_no_connections(game: X11Window, capture: Capture) -> None:
    for _ in range(300):
        capture.grab(game.state(), 0)
