"""A window that is looked at while it changes, and one that is followed to its successor."""

import os
import signal
import time
from contextlib import closing

import pytest

from agent.bot import Game
from agent.clock import ManualClock
from agent.desktop import game_window
from agent.testing.victim import until, victim, xdotool
from perception.errors import NotObservable, WindowClosed
from perception.live import LiveWindow
from perception.observation import Frame, WindowState
from perception.watch import Watched
from perception.window import Desktop
from perception.x11 import X11Desktop, X11Window


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


def test_a_game_that_hangs_is_frozen_and_one_that_is_still_is_not(desktop: Desktop) -> None:
    game = Game(title="Mines", command=("sgt-mines", "9x9n10#1"), package="sgt-puzzles")
    clock = ManualClock(1)
    with game_window(game, 1, desktop) as window, closing(LiveWindow(window, clock.now_ns)) as live:
        source = Watched(live, sleep=time.sleep, answers=live.answers)

        def look() -> str:
            clock.advance(1)
            try:
                source.grab()
            except NotObservable as problem:
                return problem.kind
            return "seen"

        assert [look() for _ in range(4)] == ["seen"] * 4
        until(lambda: live.answers() is True and live._pings is not None and not live._pings.waiting)
        pid = window.state().pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            assert "frozen" in [look() for _ in range(5)]
        finally:
            os.kill(pid, signal.SIGCONT)
        until(lambda: look() == "seen")


def test_what_came_to_lie_there_is_not_taken_again(game: X11Window) -> None:
    with closing(LiveWindow(game, lambda: 5)) as live:
        frame = live.grab()
        client = game.state().client
        xdotool("windowmove", game.id, 700, 500)
        until(lambda: game.state().client.left >= 700)
        with (
            victim("Other", client.width, client.height, at=(client.left, client.top), colour=0x112233),
            pytest.raises(NotObservable, match=r"was .*moved while it was looked at|black"),
        ):
            live.again(frame)
