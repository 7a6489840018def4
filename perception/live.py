"""The live frame source: the game's window on the desktop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from perception.capture import Capture
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed
from perception.observation import Frame, WindowState
from perception.window import Window, WindowChange, changes, on_x11

if TYPE_CHECKING:
    from perception.hang import Pings

SPOILING: frozenset[WindowChange] = frozenset({"moved", "resized", "covered", "minimised"})
"""What makes a capture useless when it happens while it is taken."""


class Grabber(Protocol):
    """Takes the pixels of a window that stands as the state says."""

    def grab(self, state: WindowState, now_ns: int) -> Frame:
        """The client area; may raise ``NotObservable``."""
        ...

    def close(self) -> None:
        """Let go of the display; once."""
        ...


class LiveWindow:
    """A window's frames and states.

    Args:
        window: whose frames, on a connection that the caller closes.
        now_ns: monotonic clock.
        follow: when the window is closed, go on with a new one that fits the same query, as soon as there is one.
        covered: what to do about a window that is covered, or off the screen in part: refuse, or read what can't be
            seen through X11's Composite extension.

    Raises:
        DisplayUnavailable: no X server answers, or it lacks what ``covered`` asks for.
    """

    def __init__(
        self,
        window: Window,
        now_ns: Callable[[], int],
        *,
        follow: bool = False,
        covered: Literal["refuse", "composite"] = "refuse",
    ) -> None:
        self._window = window
        self._now_ns = now_ns
        self._follow = follow
        self._hidden = _composite(window) if covered == "composite" else None
        self._capture = Capture(window.display)
        self._pings: Pings | None = None
        self._looked_at: WindowState | None = None
        self._pixels: NDArray[np.uint8] | None = None

    def state(self) -> WindowState:
        """How the window stands now; the one that was looked at last, since an action is meant for that one.

        Raises:
            WindowClosed: it is gone.
        """
        return self._window.state()

    def answers(self) -> bool | None:
        """Whether the game's program answers, without waiting for it; see ``perception.hang``.

        Returns:
            None: it does not say that it answers, or this system has no such question.
        """
        if not on_x11():
            return None
        if self._pings is None:
            from perception.hang import Pings

            self._pings = Pings(self._window.id, self._now_ns, self._window.display)
        return self._pings.answers()

    def grab(self) -> Frame:
        """The client area as it is now.

        Raises:
            WindowClosed: the window is gone, and is not to be followed.
            NotObservable: it shows nothing that could be trusted; it changed while it was looked at; or it is gone,
                and no successor is there yet.
        """
        before = self._looked_at = self._followed()
        frame = self._grabber(before).grab(before, self._now_ns())
        if not (frame.pixels is self._pixels and self._window.place() == before.client):
            self._require_unspoilt(before)
        self._pixels = frame.pixels
        return replace(frame, title=before.title)

    def again(self, frame: Frame) -> Frame:
        """The pixels where those of the last frame came from, as they are now.

        Raises:
            WindowClosed: the window is gone, and is not to be followed.
            NotObservable: what is there now may be another window's.
        """
        if self._looked_at is None:
            return self.grab()
        pixels = self._grabber(self._looked_at).grab(self._looked_at, frame.captured_ns).pixels
        self._require_unspoilt(self._looked_at)
        return replace(frame, pixels=pixels)

    def _require_unspoilt(self, before: WindowState) -> None:
        """Return when the window stood still while it was captured."""
        try:
            happened = changes(before, self._window.state()) & SPOILING
        except WindowClosed as closed:
            if not self._follow:
                raise
            raise NotObservable(closed.problem, "Start the game again; it is waited for.", "closed") from closed
        if happened:
            self._pixels = None
            raise NotObservable(
                f"The window was {' and '.join(sorted(happened))} while it was looked at.", "Look again.", "stale"
            )

    def close(self) -> None:
        """Close the captures' X connections."""
        self._capture.close()
        for held in (self._hidden, self._pings):
            if held is not None:
                held.close()

    def _grabber(self, state: WindowState) -> Grabber:
        """The cheap capture of the screen, unless the screen does not show the whole window."""
        out_of_sight = state.clipped or state.covered_by
        return self._hidden if self._hidden is not None and out_of_sight else self._capture

    def _followed(self) -> WindowState:
        """How the window stands, or the one that took its place."""
        while True:
            try:
                return self._window.state()
            except WindowClosed as closed:
                if not self._follow:
                    raise
                if closed.successor is None:
                    raise NotObservable(closed.problem, "Start the game again; it is waited for.", "closed") from closed
                self._go_on_with(closed.successor)

    def _go_on_with(self, window: Window) -> None:
        self._window = window
        if self._hidden is not None:
            self._hidden.close()
            self._hidden = _composite(window)
        if self._pings is not None:
            self._pings.close()
            self._pings = None


def _composite(window: Window) -> Grabber:
    try:
        from perception.composite import Composite
    except ImportError as problem:
        raise DisplayUnavailable(
            "Expected an X display, whose Composite extension reads covered windows; this system has none.",
            "Leave covered='refuse'.",
        ) from problem
    return Composite(window.id, window.display)
