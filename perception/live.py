"""The live frame source: the game's window on the desktop."""

from __future__ import annotations

from collections.abc import Callable

from perception.capture import Capture
from perception.observation import Frame, WindowState
from perception.window import Window


class LiveWindow:
    """A window's frames and states.

    Args:
        window: whose frames, on a connection that the caller closes.
        now_ns: monotonic clock.
    """

    def __init__(self, window: Window, now_ns: Callable[[], int]) -> None:
        self._window = window
        self._capture = Capture()
        self._now_ns = now_ns

    def state(self) -> WindowState:
        """How the window stands now."""
        return self._window.state()

    def grab(self) -> Frame:
        """The client area as it is now."""
        return self._capture.grab(self.state(), self._now_ns())

    def close(self) -> None:
        """Close the capture's X connection."""
        self._capture.close()
