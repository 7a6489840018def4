"""The one module that synthesises input, through pyautogui. Every call comes from one thread."""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from actuation.errors import InputSwitchedOff, InputUnavailable, UserHalt
from perception.geometry import Point

ALLOW_REAL_INPUT = True  # tests set this to False; a stray click is then an error, not a click


PATIENCE_S = 5.0  # for one press or release, which takes 1 ms, or the import, which takes up to 0.5 s

CURE = "Set DISPLAY to a running X server, or unset it and let onmark start its own."

T = TypeVar("T")

_loaded_on: dict[str, str | None] = {}


class Backend(Protocol):
    """Delivers input. Called from the scheduler's thread alone; a point is in screen pixels, already checked."""

    def press(self, point: Point, button: str) -> None:
        """Move to the point and press a button."""
        ...

    def release(self, button: str) -> None:
        """Release a button where the pointer is. Must not fail because of where that is."""
        ...


class PyAutoGui:
    """Real input.

    pyautogui's own pauses are off; its fail-safe stays on: the user throws the pointer into a corner of the screen
    and the next press raises ``UserHalt``. All calls are made on one thread of their own, because one that is under
    way when the display dies never comes back: it is given up after ``PATIENCE_S``.

    Raises:
        InputUnavailable: pyautogui cannot be loaded here, with the cure.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="input", daemon=True).start()
        self._gui = self._call(_load)
        self._gui.PAUSE = 0
        self._gui.FAILSAFE = True

    def press(self, point: Point, button: str) -> None:
        """Move and press in one call, so that a pointer which somebody else moves cannot come between.

        Raises:
            UserHalt: the pointer is in a corner of the screen.
            InputSwitchedOff: real input is off in this process.
            InputUnavailable: the display does not answer.
        """
        if not ALLOW_REAL_INPUT:
            raise InputSwitchedOff(f"expected no real input in this process, found a {button} press at {point}")
        self._send(lambda: self._gui.mouseDown(point.x, point.y, button=button))

    def release(self, button: str) -> None:
        """Release, with the fail-safe off: it would raise here too and leave the button held.

        Raises:
            InputUnavailable: the display does not answer.
        """
        self._gui.FAILSAFE = False
        try:
            self._send(lambda: self._gui.mouseUp(button=button))
        finally:
            self._gui.FAILSAFE = True

    def _send(self, event: Callable[[], None]) -> None:
        """Send one event; what fails then is the display, since the event's words are our own."""
        try:
            self._call(event)
        except self._gui.FailSafeException as stop:
            raise UserHalt("The pointer is in a corner of the screen.") from stop
        except InputUnavailable:
            raise
        except Exception as problem:
            raise InputUnavailable(f"The X display failed ({type(problem).__name__}: {problem}).", CURE) from problem

    def _call(self, job: Callable[[], T]) -> T:
        """Do it on the input thread."""
        answer: Future[T] = Future()
        self._jobs.put((answer, job))
        try:
            return answer.result(PATIENCE_S)
        except TimeoutError as problem:
            raise InputUnavailable(f"The X display has not answered for {PATIENCE_S} s.", CURE) from problem

    def _work(self) -> None:
        while True:
            answer, job = self._jobs.get()
            try:
                answer.set_result(job())
            except BaseException as problem:  # whatever it is, the caller's thread raises it
                answer.set_exception(problem)


class DryRun:
    """Keeps what would have been pressed, and presses nothing."""

    def __init__(self) -> None:
        self.pressed: list[tuple[Point, str]] = []

    def press(self, point: Point, button: str) -> None:
        """Note it."""
        self.pressed.append((point, button))

    def release(self, button: str) -> None:
        """Nothing is held."""


def _load() -> Any:
    """Import pyautogui, which connects to the display as it is imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # its import leaves pipes to the garbage collector
            import pyautogui
    except SystemExit as problem:  # raised by one of its dependencies where tkinter is missing
        raise InputUnavailable(
            "pyautogui needs tkinter, which this Python lacks.", "Install it: apt-get install python3-tk."
        ) from problem
    except Exception as problem:  # a dead display raises whatever its X library raises
        raise InputUnavailable(
            f"pyautogui cannot reach the display ({type(problem).__name__}: {problem}).", CURE
        ) from problem
    on = _loaded_on.setdefault("DISPLAY", os.environ.get("DISPLAY"))
    if on != os.environ.get("DISPLAY"):
        raise InputUnavailable(
            f"pyautogui connected to display {on} in this process and stays there; DISPLAY is now "
            f"{os.environ.get('DISPLAY')}.",
            "Use one process for one display.",
        )
    return pyautogui
