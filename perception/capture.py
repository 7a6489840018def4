"""Pixels of the game's window: the client area alone, never the desktop by accident."""

from __future__ import annotations

import sys

import cv2
import mss
import numpy as np
from mss.exception import ScreenShotError
from numpy.typing import NDArray

from perception.errors import DisplayUnavailable, NotObservable
from perception.geometry import Box, Transform
from perception.observation import Frame, WindowState

SAMPLE = 16  # every so many pixels of a picture
OPACITY_DEPTH = 32  # bits of a pixel in a visual whose fourth byte says how opaque it is


class Capture:
    """Grabs a window's client area through mss. One thread; close it, since each holds an X connection.

    Args:
        display: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: no X server answers.
    """

    def __init__(self, display: str | None = None) -> None:
        try:
            self._mss = mss.MSS() if display is None else mss.MSS(display=display)
        except (ScreenShotError, AssertionError) as problem:
            raise _gone(problem) from problem
        # At depth 24, which most X screens have, the fourth byte is whatever was drawn last; so it is on Windows.
        depth = getattr(self._mss._impl, "drawable_depth", None)
        self._opacity = sys.platform == "darwin" or depth == OPACITY_DEPTH
        self._last: tuple[bytearray, NDArray[np.uint8]] | None = None  # an equal picture is not made anew

    def grab(self, state: WindowState, now_ns: int) -> Frame:
        """The client area as it is on the screen now.

        Raises:
            NotObservable: the window is minimised, covered, off-screen, black or transparent all over, or what came
                back is not of its size.
            DisplayUnavailable: the X server is gone.
        """
        area = visible_area(state)
        try:
            shot = self._mss.grab({"left": area.left, "top": area.top, "width": area.width, "height": area.height})
        except (ScreenShotError, AssertionError, OSError) as problem:
            raise _gone(problem) from problem
        if self._last is None or self._last[0] != shot.raw or self._last[1].shape[:2] != (area.height, area.width):
            self._last = (shot.raw, picture(np.asarray(shot), area, opacity=self._opacity))
        pixels = self._last[1]
        return Frame(pixels=pixels, transform=Transform.showing(area, state.client), captured_ns=now_ns)

    def pixels(self, box: Box) -> NDArray[np.uint8]:
        """A box of the screen, ``(height, width, 3)``, BGR, whatever shows there.

        Raises:
            DisplayUnavailable: the X server is gone.
        """
        try:
            shot = self._mss.grab({"left": box.left, "top": box.top, "width": box.width, "height": box.height})
        except (ScreenShotError, AssertionError, OSError) as problem:
            raise _gone(problem) from problem
        return np.asarray(cv2.cvtColor(np.asarray(shot), cv2.COLOR_BGRA2BGR), dtype=np.uint8)

    def close(self) -> None:
        """Close the X connection."""
        self._mss.close()


def visible_area(state: WindowState) -> Box:
    """The part of the client area that is on the screen, in screen pixels; never empty.

    Raises:
        NotObservable: nothing of it can be seen, or something lies over it.
    """
    require_drawn(state)
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


def require_drawn(state: WindowState) -> None:
    """Return when the window has pixels at all.

    Raises:
        NotObservable: it is minimised.
    """
    if state.minimised:
        raise NotObservable("The window is minimised.", "Restore it and keep it on the screen.", "minimised")


def picture(image: NDArray[np.uint8], area: Box, *, opacity: bool) -> NDArray[np.uint8]:
    """The pixels of a capture, ``(height, width, 3)``, BGR, if they can be those of the area that was asked for.

    Args:
        image: ``(height, width, 4)``, BGRA.
        area: what was asked for; its size in capture pixels.
        opacity: the fourth byte says how opaque a pixel is. False: it says nothing.

    Raises:
        NotObservable: the capture has another size, is transparent or black all over.
    """
    if image.shape != (area.height, area.width, 4) or area.is_empty:
        raise NotObservable(
            f"Expected a capture of {area.width}x{area.height} pixels, found one of shape {image.shape}.",
            "Look again; if it stays so, set the desktop's scale to 100 %.",
            "wrong_size",
        )
    if opacity and not image[:, :, 3].any():
        raise NotObservable(
            "No pixel of the window is opaque.", "Wait until the game has drawn, or restart it.", "transparent"
        )
    pixels: NDArray[np.uint8] = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGRA2BGR), dtype=np.uint8)
    if not (pixels[::SAMPLE, ::SAMPLE].any() or pixels.any()):  # few pixels tell most pictures from black at once
        raise NotObservable(
            "Every pixel of the window is black.", "Wait until the game has drawn, or restart it.", "black"
        )
    return pixels


def _gone(problem: BaseException) -> DisplayUnavailable:
    return DisplayUnavailable(
        f"The X display cannot be captured ({type(problem).__name__}: {problem}).",
        "Start it again, or unset DISPLAY and let onmark start its own.",
    )
