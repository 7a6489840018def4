"""Backends deliver what they are told, and the check that says so can fail."""

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from actuation import backend
from actuation.backend import DryRun, PyAutoGui
from actuation.errors import InputSwitchedOff, InputUnavailable
from agent.testing import backends
from agent.testing.backends import check_backend
from perception.geometry import Point


def test_pyautogui_delivers_what_it_is_told(real_input: str) -> None:
    check_backend(PyAutoGui())


class Sloppy(PyAutoGui):
    """Clicks a pixel beside."""

    def press(self, point: Point, button: str) -> None:
        super().press(Point(point.x + 1, point.y), button)


class Forgetful(PyAutoGui):
    """Loses a key."""

    def key_down(self, key: str) -> None:
        if key != "f7":
            super().key_down(key)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Sloppy, r"expected \('press', 7, 7, 1\) as event 0, found \('press', 8, 7, 1\)"),
        (Forgetful, "the key 'f7': expected 2 events, found 0"),
        (DryRun, "expected 4 events, found 0"),
    ],
)
def test_a_backend_that_does_otherwise_is_found_out(
    real_input: str, monkeypatch: pytest.MonkeyPatch, made: type[DryRun], says: str
) -> None:
    monkeypatch.setattr(backends, "WAIT_S", 0.5)
    with pytest.raises(AssertionError, match=says):
        check_backend(made(), clicks=2)


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
    mouse = PyAutoGui()
    events: list[Callable[[], None]] = [
        lambda: mouse.press(Point(5, 5), "left"),
        lambda: mouse.move(Point(5, 5)),
        lambda: mouse.scroll(Point(5, 5), 1),
        lambda: mouse.key_down("a"),
    ]
    for event in events:
        with pytest.raises(InputSwitchedOff, match="expected no real input"):
            event()
