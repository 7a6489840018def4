"""Pixels of the game's window: the client area alone, never the desktop by accident."""

from __future__ import annotations

import mss
import numpy as np
from mss.exception import ScreenShotError
from numpy.typing import NDArray

from perception.errors import DisplayUnavailable, NotObservable
from perception.geometry import Box, Transform
from perception.observation import Frame, WindowState


class Capture:
    """Grabs a window's client area through mss. One thread; close it, since each holds an X connection.

    Raises:
        DisplayUnavailable: no X server answers.
    """

    def __init__(self) -> None:
        try:
            self._mss = mss.MSS()
        except (ScreenShotError, AssertionError) as problem:
            raise _gone(problem) from problem

    def grab(self, state: WindowState, now_ns: int) -> Frame:
        """The client area as it is on the screen now.

        Raises:
            NotObservable: the window is minimised, covered, off-screen, or black all over.
            DisplayUnavailable: the X server is gone.
        """
        area = visible_area(state)
        try:
            pixels = self._pixels(area)
        except (ScreenShotError, AssertionError, OSError) as problem:
            raise _gone(problem) from problem
        if not pixels.any():
            raise NotObservable(
                "Every pixel of the window is black.", "Wait until the game has drawn, or restart it.", "black"
            )
        return Frame(
            pixels=pixels,
            transform=Transform(client=state.client, captured=_inside(area, state)),
            captured_ns=now_ns,
        )

    def close(self) -> None:
        """Close the X connection."""
        self._mss.close()

    def _pixels(self, area: Box) -> NDArray[np.uint8]:
        shot = self._mss.grab({"left": area.left, "top": area.top, "width": area.width, "height": area.height})
        return np.ascontiguousarray(np.asarray(shot)[:, :, :3])


def visible_area(state: WindowState) -> Box:
    """The part of the client area that is on the screen, in screen pixels.

    Raises:
        NotObservable: nothing of it can be seen, or something lies over it.
    """
    if state.minimised:
        raise NotObservable("The window is minimised.", "Restore it and keep it on the screen.", "minimised")
    area = state.client.intersection(state.screen)
    if area.is_empty:
        raise NotObservable(
            f"The window is off the screen: {state.client} on a screen of {state.screen}.",
            "Move it back.",
            "off_screen",
        )
    if state.covered_by:
        names = ", ".join(repr(title) for title in state.covered_by)
        raise NotObservable(
            f"The window is covered by {names}.",
            "Move or close what lies over it, or give the game its own display.",
            "covered",
        )
    return area


def _inside(area: Box, state: WindowState) -> Box:
    """A part of the client area, in client pixels."""
    return Box(area.left - state.client.left, area.top - state.client.top, area.width, area.height)


def _gone(problem: BaseException) -> DisplayUnavailable:
    return DisplayUnavailable(
        f"The X display cannot be captured ({type(problem).__name__}: {problem}).",
        "Start it again, or unset DISPLAY and let onmark start its own.",
    )
