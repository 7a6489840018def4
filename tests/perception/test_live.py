"""A window that is looked at while it changes, and one that is followed to its successor."""

from contextlib import closing

import pytest

from perception.errors import NotObservable, WindowClosed
from perception.live import LiveWindow
from perception.observation import Frame, WindowState
from perception.x11 import X11Desktop, X11Window
from tests.victim import until, victim, xdotool


def test_a_window_that_moves_while_it_is_looked_at_gives_no_frame(
    game: X11Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(LiveWindow(game, lambda: 5)) as live:
        grab = live._capture.grab

        def slow(state: WindowState, now_ns: int) -> Frame:
            xdotool("windowmove", game.id, 500, 400)
            until(lambda: game.state().client.left >= 500)
            return grab(state, now_ns)

        assert live.grab().captured_ns == 5
        monkeypatch.setattr(live._capture, "grab", slow)
        # The old place shows the bare screen now, unless that is black, which is told first.
        with victim("Desktop", 600, 400, at=(150, 100)), pytest.raises(NotObservable) as problem:
            game.activate()
            until(lambda: game.state().covered_by == ())
            live.grab()
    assert str(problem.value) == "The window was moved while it was looked at. Look again."
    assert problem.value.kind == "stale"


def test_focus_that_goes_while_it_is_looked_at_does_not_spoil_the_frame(
    game: X11Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(LiveWindow(game, lambda: 5)) as live, victim("Other", at=(800, 400)):
        game.activate()
        until(lambda: game.state().foreground)
        grab = live._capture.grab

        def slow(state: WindowState, now_ns: int) -> Frame:
            xdotool("search", "--name", "^Other$", "windowactivate")
            until(lambda: not game.state().foreground)
            return grab(state, now_ns)

        monkeypatch.setattr(live._capture, "grab", slow)
        assert live.grab().pixels.shape == (200, 300, 3)


def test_a_window_that_is_replaced_ends_the_look(desktop: X11Desktop) -> None:
    with victim("Game"):
        live = LiveWindow(desktop.find("Game"), lambda: 5)
    with closing(live), victim("Game", 120, 90):
        with pytest.raises(WindowClosed) as closed:
            live.grab()
        assert closed.value.kind == "replaced"


def test_a_window_that_is_replaced_is_followed_if_asked(desktop: X11Desktop) -> None:
    with victim("Game"):
        live = LiveWindow(desktop.find("Game"), lambda: 5, follow=True)
        assert live.grab().pixels.shape == (200, 300, 3)
    with closing(live):
        with pytest.raises(NotObservable, match=r"was closed\. Start the game again; it is waited for") as problem:
            live.grab()
        assert not isinstance(problem.value, WindowClosed)
        with victim("Game", 120, 90):
            with pytest.raises(WindowClosed):  # an action that was meant for the old one
                live.state()
            frame = live.grab()
            assert frame.pixels.shape == (90, 120, 3)
            assert frame.transform.client == live.state().client == desktop.find("Game").state().client
