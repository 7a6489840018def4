"""Delivery: dry, and for real onto a window that writes down what it gets."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from actuation import backend
from actuation.backend import DryRun, PyAutoGui
from actuation.errors import InputSwitchedOff, InputUnavailable, UserHalt
from actuation.executor import Executor
from actuation.tools import Click, Hands, RightClick, Tool, Wait
from agent.testing import frame, observation
from perception.errors import WindowClosed
from perception.geometry import Box, Point, Transform
from perception.observation import Frame, Mark, Observation, WindowState
from perception.window import Desktop, Window
from tests.victim import victim

SEEN = observation({7: "safe"})


def standing(*, foreground: bool = True) -> Callable[[], WindowState]:
    client = Box(100, 50, 320, 240)
    state = WindowState(
        client=client, screen=Box(0, 0, 1280, 800), minimised=False, foreground=foreground, covered_by=()
    )
    return lambda: state


def test_an_action_goes_to_the_middle_of_its_mark() -> None:
    dry = DryRun()
    executor = Executor(dry, standing())
    assert executor.submit(Click(mark=7), SEEN).point == Point(108, 58)
    assert executor.submit(RightClick(mark=7), SEEN).outcome == "delivered"
    assert executor.submit(Wait(), SEEN).point is None
    assert dry.pressed == [(Point(108, 58), "left"), (Point(108, 58), "right")]


def test_a_refused_action_presses_nothing() -> None:
    dry = DryRun()
    delivery = Executor(dry, standing(foreground=False)).submit(Click(mark=7), SEEN)
    assert (delivery.outcome, delivery.reason, delivery.detail) == (
        "refused",
        "not_foreground",
        "another window has the keyboard",
    )
    assert dry.pressed == []


def test_a_window_that_closed_since_the_look_is_a_refusal() -> None:
    def gone() -> WindowState:
        raise WindowClosed("The window 'Game' was closed.", "Start the game again.")

    dry = DryRun()
    delivery = Executor(dry, gone).submit(Click(mark=7), SEEN)
    assert (delivery.outcome, delivery.reason) == ("refused", "closed")
    assert dry.pressed == []


def test_a_mark_that_is_not_there_is_an_error_not_a_click() -> None:
    dry = DryRun()
    with pytest.raises(KeyError, match=r"mark 8 is not on screen; this tick shows \[7\]"):
        Executor(dry, standing()).submit(Click(mark=8), SEEN)
    assert dry.pressed == []


class Sticky(DryRun):
    """A backend whose press fails half-way, and that says what it was asked to release."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def press(self, point: Point, button: str) -> None:
        super().press(point, button)
        raise UserHalt("The pointer is in a corner of the screen.")

    def release(self, button: str) -> None:
        self.released.append(button)


def test_whatever_happens_the_button_is_released() -> None:
    sticky = Sticky()
    executor = Executor(sticky, standing())
    with pytest.raises(UserHalt):
        executor.submit(Click(mark=7), SEEN)
    assert sticky.released == ["left"]
    executor.release_all()
    assert sticky.released == ["left"]


class Wild(Click):
    """Clicks beside its mark, or twice."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        hands.click(at, "left")
        hands.click(Point(at.x + 600, at.y), "left")


def test_each_click_of_a_tool_is_checked() -> None:
    dry = DryRun()
    delivery = Executor(dry, standing()).submit(Wild(mark=7), SEEN)
    assert (delivery.outcome, delivery.reason) == ("refused", "out_of_bounds")
    assert dry.pressed == [(Point(108, 58), "left")]


def test_there_is_no_other_button() -> None:
    class Odd(Click):
        """Clicks with a button that no mouse has."""

        def perform(self, hands: Hands, at: Point | None) -> None:
            hands.click(Point(108, 58), "bogus")

    executor = Executor(DryRun(), standing())
    with pytest.raises(ValueError, match=r"expected a button out of .* found 'bogus'"):
        executor.submit(Odd(mark=7), SEEN)
    executor.release_all()


def test_a_tool_without_perform_says_so() -> None:
    class Jump(Tool):
        """Jump."""

    with pytest.raises(TypeError, match="Jump declares no perform"):
        Executor(DryRun(), standing()).submit(Jump(), SEEN)


def seen_in(window: Window, box: Box) -> Observation:
    client = window.state().client
    where = Transform(client=client, captured=Box(0, 0, client.width, client.height))
    pixels = frame(width=client.width, height=client.height).pixels
    mark = Mark(number=1, box=box, label=None)
    return Observation(frame=Frame(pixels=pixels, transform=where, captured_ns=0), cells=(), marks=(mark,))


def in_front(desktop: Desktop, title: str) -> Window:
    window = desktop.find(title)
    window.activate()
    for _ in range(200):
        if window.state().foreground:
            return window
        time.sleep(0.02)
    raise AssertionError(f"{title} did not come to the front")


def test_three_hundred_clicks_arrive_at_their_pixel(real_input: str, desktop: Desktop) -> None:
    with victim("Game") as game:
        window = in_front(desktop, "Game")
        executor = Executor(PyAutoGui(), window.state)
        spots = [(i % 290 + 5, i * 7 % 190 + 5) for i in range(300)]
        for x, y in spots:
            assert executor.submit(Click(mark=1), seen_in(window, Box(x, y, 1, 1))).outcome == "delivered"
        events = game.events()
    assert [(e["x"], e["y"]) for e in events if e["kind"] == "press"] == spots
    assert [e["kind"] for e in events] == ["press", "release"] * 300


def test_a_click_meant_for_the_game_never_lands_on_a_pop_up(real_input: str, desktop: Desktop) -> None:
    with victim("Game") as game:
        window = in_front(desktop, "Game")
        executor = Executor(PyAutoGui(), window.state)
        seen = seen_in(window, Box(90, 70, 4, 4))
        client = window.state().client
        with victim("Pop-up", 100, 80, at=(client.left + 50, client.top + 40)) as popup:
            in_front(desktop, "Pop-up")
            delivery = executor.submit(Click(mark=1), seen)
            assert delivery.reason in ("not_foreground", "covered_by")
            assert popup.events() == []
        assert game.events() == []


def test_a_click_decided_before_the_window_moved_is_refused(real_input: str, desktop: Desktop) -> None:
    with victim("Game") as game:
        window = in_front(desktop, "Game")
        seen = seen_in(window, Box(90, 70, 4, 4))
        subprocess.run(["xdotool", "windowmove", str(window.id), "700", "400"], check=True, timeout=10)
        for _ in range(200):
            if window.state().client.left > 600:
                break
            time.sleep(0.02)
        assert Executor(PyAutoGui(), window.state).submit(Click(mark=1), seen).reason == "moved"
        assert game.events() == []


def test_the_pointer_in_a_corner_stops_the_agent_and_holds_nothing(real_input: str, desktop: Desktop) -> None:
    with victim("Game") as game:
        window = in_front(desktop, "Game")
        executor = Executor(PyAutoGui(), window.state)
        subprocess.run(["xdotool", "mousemove", "0", "0"], check=True, timeout=10)
        with pytest.raises(UserHalt, match="corner"):
            executor.submit(Click(mark=1), seen_in(window, Box(90, 70, 4, 4)))
        assert [event for event in game.events() if event["kind"] == "press"] == []


DEATH = """
import os, signal
from actuation import backend
from actuation.errors import InputUnavailable
from agent.desktop import display
from perception.geometry import Point
import subprocess

backend.PATIENCE_S = 1.0
with display(own=True):
    mouse = backend.PyAutoGui()
    mouse.press(Point(640, 400), "left")
    subprocess.run(["pkill", "-KILL", "-P", str(os.getpid()), "Xvfb"], check=True)
    for _ in range(2):
        try:
            mouse.release("left")
        except InputUnavailable as problem:
            print(problem)
"""


def test_a_display_that_dies_while_a_button_is_down_does_not_hang_the_release() -> None:
    done = subprocess.run([sys.executable, "-c", DEATH], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The X display") == 2


def test_a_call_that_never_comes_back_is_given_up(own_display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mouse = PyAutoGui()
    monkeypatch.setattr(backend, "PATIENCE_S", 0.2)
    monkeypatch.setattr(mouse._gui, "mouseUp", lambda button: threading.Event().wait(30))
    with pytest.raises(InputUnavailable, match=r"has not answered for 0\.2 s"):
        mouse.release("left")


def test_input_is_off_unless_a_test_asks(own_display: str) -> None:
    assert backend.ALLOW_REAL_INPUT is False
    with pytest.raises(InputSwitchedOff, match="expected no real input"):
        PyAutoGui().press(Point(5, 5), "left")
