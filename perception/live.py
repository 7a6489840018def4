"""The live frame source: the game's window on the desktop."""

from __future__ import annotations

from collections.abc import Callable

from perception.capture import Capture
from perception.observation import Frame, WindowState
from perception.window import Desktop, Window


class LiveWindow:
    """A window's frames and states.

    Args:
        desktop: an open connection; the caller closes it.
        window: whose frames.
        now_ns: monotonic clock.
    """

    def __init__(self, desktop: Desktop, window: Window, now_ns: Callable[[], int]) -> None:
        self._window = window
        self._capture = Capture()
        self._now_ns = now_ns
        self.desktop = desktop

    def state(self) -> WindowState:
        """How the window stands now."""
        return self._window.state()

    def grab(self) -> Frame:
        """The client area as it is now."""
        return self._capture.grab(self.state(), self._now_ns())

    def close(self) -> None:
        """Close the capture's X connection."""
        self._capture.close()
