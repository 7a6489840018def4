"""The game's window for who is about to act on it: how it stands, who would take a click, what shows at a place."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from perception.capture import Capture
from perception.geometry import Box, Point
from perception.observation import WindowState
from perception.window import Desktop, Window, open_desktop


class Glance:
    """Asks the desktop through connections of its own. One thread: the first that looks, which opens them.

    Args:
        number: the system's number of the window.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._desktop: Desktop | None = None
        self._window: Window | None = None
        self._capture: Capture | None = None
        self._thread: int | None = None

    def state(self) -> WindowState:
        """How the window stands now.

        Raises:
            WindowClosed: it is gone.
            DisplayUnavailable: the display is gone.
        """
        return self._opened().state()

    def taker(self, point: Point) -> str:
        """Title of another program's window that a click at a screen pixel would reach; empty: the game's takes it."""
        return self._opened().taker(point)

    def pixels(self, box: Box) -> NDArray[np.uint8]:
        """What shows in a box of the screen now, ``(height, width, 3)``, BGR."""
        if self._capture is None:
            self._capture = Capture()
        return self._capture.pixels(box)

    def close(self) -> None:
        """Let go of the connections."""
        for held in (self._desktop, self._capture):
            if held is not None:
                held.close()

    def _opened(self) -> Window:
        if self._window is None:
            self._thread = threading.get_ident()
            self._desktop = self._desktop or open_desktop()
            self._window = self._desktop.window(self._number)
        if self._thread != threading.get_ident():
            raise RuntimeError("a Glance is for the one thread that looked through it first")
        return self._window
