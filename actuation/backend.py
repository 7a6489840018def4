"""The one module that synthesises input, through pyautogui. Every call comes from one thread."""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from actuation.errors import InputSwitchedOff, InputUnavailable, UserHalt
from perception.geometry import Point

ALLOW_REAL_INPUT = True  # tests set this to False; a stray click is then an error, not a click


PATIENCE_S = 5.0  # for one press or release, which takes 1 ms, or the import, which takes up to 0.5 s

CURE = "Set DISPLAY to a running X server, or unset it and let onmark start its own."

T = TypeVar("T")

_loaded_on: dict[str, str | None] = {}


class Backend(Protocol):
    """Delivers input, already checked. Called from the executor's thread alone; a point is in the units of input.

    Each event is delivered before its method returns, or something is raised. See ``agent.testing.backends`` for the
    check that a backend must pass.
    """

    def press(self, point: Point, button: str) -> None:
        """Move to the point and press a button: ``left``, ``middle`` or ``right``."""
        ...

    def release(self, button: str) -> None:
        """Release a button where the pointer is. Must not fail because of where that is."""
        ...

    def move(self, point: Point) -> None:
        """Move the pointer."""
        ...

    def scroll(self, point: Point, notches: int) -> None:
        """Move to the point and turn the wheel, up when positive."""
        ...

    def key_down(self, key: str) -> None:
        """Press a key, by its name in ``actuation.keys``."""
        ...

    def key_up(self, key: str) -> None:
        """Release a key. Must not fail because of where the pointer is."""
        ...


class PyAutoGui:
    """Real input.

    pyautogui's own pauses are off; its fail-safe stays on unless told otherwise: the user throws the pointer into a
    corner of the screen and the next press raises ``UserHalt``. All calls are made on one thread of their own, because
    one that is under way when the display dies never comes back: it is given up after ``PATIENCE_S``.

    Args:
        buttons: the button to press for another one, where the desk's mouse is set up for the left hand.
        fail_safe: raise where the pointer is in a corner, whoever put it there.

    Raises:
        InputUnavailable: pyautogui cannot be loaded here, with the cure.
    """

    def __init__(self, buttons: Mapping[str, str] = MappingProxyType({}), *, fail_safe: bool = True) -> None:
        self._buttons = buttons
        self._fail_safe = fail_safe
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="input", daemon=True).start()
        self._gui = self._call(_load)
        self._gui.PAUSE = 0
        self._gui.FAILSAFE = fail_safe

    def press(self, point: Point, button: str) -> None:
        """Move and press in one call, so that a pointer which somebody else moves cannot come between.

        Raises:
            UserHalt: the pointer is in a corner of the screen.
            InputSwitchedOff: real input is off in this process.
            InputUnavailable: the display does not answer.
        """
        _require_allowed(f"a {button} press at {point}")
        self._send(lambda: self._gui.mouseDown(point.x, point.y, button=self._buttons.get(button, button)))

    def move(self, point: Point) -> None:
        """Move the pointer. Raises as ``press`` does."""
        _require_allowed(f"a move to {point}")
        self._send(lambda: self._gui.moveTo(point.x, point.y))

    def scroll(self, point: Point, notches: int) -> None:
        """Turn the wheel. Raises as ``press`` does."""
        _require_allowed(f"the wheel at {point}")
        self._send(lambda: self._gui.scroll(notches, point.x, point.y))

    def key_down(self, key: str) -> None:
        """Press a key. Raises as ``press`` does."""
        _require_allowed(f"the key {key!r}")
        self._send(lambda: self._gui.keyDown(key))

    def key_up(self, key: str) -> None:
        """Release a key, with the fail-safe off.

        Raises:
            InputUnavailable: the display does not answer.
        """
        self._release(lambda: self._gui.keyUp(key))

    def release(self, button: str) -> None:
        """Release, with the fail-safe off: it would raise here too and leave the button held.

        Raises:
            InputUnavailable: the display does not answer.
        """
        self._release(lambda: self._gui.mouseUp(button=self._buttons.get(button, button)))

    def _release(self, event: Callable[[], None]) -> None:
        self._gui.FAILSAFE = False
        try:
            self._send(event)
        finally:
            self._gui.FAILSAFE = self._fail_safe

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
    """Keeps what would have been delivered, and delivers nothing.

    Attributes:
        events: ``("press", Point(9, 9), "left")``, ``("release", "left")``, ``("key_down", "a")`` and so on, in order.
    """

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    @property
    def pressed(self) -> list[tuple[Point, str]]:
        """Where buttons went down, and which."""
        return [event[1:] for event in self.events if event[0] == "press"]

    def press(self, point: Point, button: str) -> None:
        """Note it."""
        self.events.append(("press", point, button))

    def release(self, button: str) -> None:
        """Note it."""
        self.events.append(("release", button))

    def move(self, point: Point) -> None:
        """Note it."""
        self.events.append(("move", point))

    def scroll(self, point: Point, notches: int) -> None:
        """Note it."""
        self.events.append(("scroll", point, notches))

    def key_down(self, key: str) -> None:
        """Note it."""
        self.events.append(("key_down", key))

    def key_up(self, key: str) -> None:
        """Note it."""
        self.events.append(("key_up", key))


def _require_allowed(event: str) -> None:
    if not ALLOW_REAL_INPUT:
        raise InputSwitchedOff(f"expected no real input in this process, found {event}")


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
