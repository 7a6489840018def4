"""Frames that lie, told from a game that is just still; and frames taken while the picture was still changing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, runtime_checkable

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.change import LARGE, changed_tiles
from perception.errors import NotObservable
from perception.observation import Frame
from perception.perceiver import FrameSource

SETTLE_S = 0.05  # between two looks at a picture that changes
SETTLES = 4  # looks at most; a game that moves for ever is seen in motion
DOUBT_S = 1.0  # how long a game may stand still before it is asked whether it answers
LATE = 2  # changes in a row that a capture showed one look late; once, the game may have moved just then


@runtime_checkable
class Again(Protocol):
    """A frame source that can take a frame once more for less than another look at the window costs."""

    def again(self, frame: Frame) -> Frame:
        """The pixels where those of the last frame came from, as they are now."""
        ...


class Watched:
    """A frame source whose frames are not believed.

    A frame that differs much from the one before is taken again until two are alike, so that what is seen is a settled
    picture; one that goes on changing is marked as moving. A frame that shows nothing new after something was done is
    taken once more: if that one differs, and so twice in a row, the capture is a look behind.

    Args:
        source: where frames come from.
        sleep: takes seconds.
        answers: whether the game still answers; None: it cannot be asked.
        moves_every_s: the game never stands still for so many seconds, since a clock runs or something moves. None: it
            may.
    """

    def __init__(
        self,
        source: FrameSource,
        *,
        sleep: Callable[[float], None],
        answers: Callable[[], bool | None] = lambda: None,
        moves_every_s: float | None = None,
    ) -> None:
        if moves_every_s is not None and moves_every_s <= 0:
            raise ValueError(f"expected moves_every_s above 0, found {moves_every_s}")
        self._source = source
        self._sleep = sleep
        self._answers = answers
        self._moves_every_s = moves_every_s
        self._last: Frame | None = None
        self._still_since_ns = 0
        self._late = 0
        self._acted = False

    def acted(self) -> None:
        """Something was done to the game since the last frame: one that shows nothing of it is doubted."""
        self._acted = True

    def grab(self) -> Frame:
        """The next frame.

        Raises:
            NotObservable: the capture is a look behind, the game is frozen, or the source says why not.
        """
        frame, last = self._source.grab(), self._last
        acted, self._acted = self._acted, False
        if last is not None and _same(frame.pixels, last.pixels):
            frame = self._confirmed(frame.sharing(last)) if acted or self._late else frame.sharing(last)
        elif last is not None:
            self._late = 0
            frame = self._settled(frame, last)
        self._watch(frame)
        return frame

    def _confirmed(self, frame: Frame) -> Frame:
        """A frame that shows nothing new, once it is sure that there is nothing new."""
        again = self._source.again(frame) if isinstance(self._source, Again) else self._source.grab()
        if _same(frame.pixels, again.pixels):
            self._late = 0
            return frame
        self._late += 1
        return again

    def _settled(self, frame: Frame, last: Frame) -> Frame:
        """A frame after which nothing much changes; one that is marked as moving where that does not come."""
        if not _differs_much(frame.pixels, last.pixels):
            return frame
        for _ in range(SETTLES):
            self._sleep(SETTLE_S)
            again = self._source.grab()
            if not _differs_much(again.pixels, frame.pixels):
                return again
            frame = again
        return replace(frame, moving=True)

    def _watch(self, frame: Frame) -> None:
        """Return when the frame may be believed."""
        if self._last is None or not _same(frame.pixels, self._last.pixels):
            self._still_since_ns = frame.captured_ns
        self._last = frame
        if self._late >= LATE:
            raise NotObservable(
                f"The capture showed {self._late} changes in a row one look late.",
                "Capture in another way, or update the display's driver.",
                "stale",
            )
        still_s = (frame.captured_ns - self._still_since_ns) / 1e9
        if still_s >= DOUBT_S and self._answers() is False:
            raise NotObservable(f"The game does not answer; nothing moved for {still_s:.1f} s.", FROZEN_CURE, "frozen")
        if self._moves_every_s is not None and still_s > self._moves_every_s:
            expected = f"Expected something to move every {self._moves_every_s:g} s"
            raise NotObservable(f"{expected}, found nothing moving for {still_s:.1f} s.", FROZEN_CURE, "frozen")


FROZEN_CURE = "See whether the game hangs or is paused; start it again."


def _same(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    return one is other or (one.shape == other.shape and cv2.norm(one, other, cv2.NORM_INF) == 0)


def _differs_much(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    return one.shape != other.shape or bool(changed_tiles(one, other).mean() >= LARGE)
