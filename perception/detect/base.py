"""What a detector is, and what it may be besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box
from perception.observation import GridCell, Mark, WindowState


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a detector found in one frame.

    Attributes:
        cells: the board, row by row; empty when the detector looks for no board.
        marks: what could be acted on, by ascending number.
        left_out: how many more marks there were than may be.
        unseen: what could not be found, a sentence each: of several detectors, those that saw nothing.
    """

    cells: tuple[GridCell, ...] = ()
    marks: tuple[Mark, ...] = ()
    left_out: int = 0
    unseen: tuple[str, ...] = ()


@runtime_checkable
class Detector(Protocol):
    """Finds what could be acted on.

    Called from the scheduler's thread, once for each tick whose pixels changed; it must return within the tick,
    depend on this frame and those before it alone (a replay must find the same), and never call the actuator. It may
    raise ``NotObservable`` when the screen does not show what it looks for. A run works on a deep copy of what the bot
    declares, so what a detector learns ends with the run. ``check_detector`` holds one to this.
    """

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Look at one frame, ``(height, width, 3)``, BGR."""
        ...


@runtime_checkable
class Updating(Detector, Protocol):
    """A detector that keeps what it found, and looks again only where pixels changed."""

    def update(self, pixels: NDArray[np.uint8], dirty: Sequence[Box]) -> Detected:
        """What is in a frame that differs in ``dirty`` alone from the one that was looked at before."""
        ...


@runtime_checkable
class Local(Detector, Protocol):
    """A detector whose marks depend on the pixels near them alone, so that it can look at a part of the frame.

    Attributes:
        margin: how far round a change its marks may be other than before, in pixels.
    """

    def detect_part(self, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
        """The marks within a part of a frame, in the frame's coordinates.

        What the part's edge cuts is there too, even where what is left of it would be no mark by itself.
        """
        ...

    @property
    def margin(self) -> int:
        """Pixels."""
        ...


@runtime_checkable
class Reading(Detector, Protocol):
    """A detector whose marks are texts, which can be the labels of what they stand on.

    Attributes:
        reads_text: True.
    """

    @property
    def reads_text(self) -> bool:
        """True."""
        ...


@runtime_checkable
class Attachable(Detector, Protocol):
    """A detector that asks the window or its program besides. A replay has the pixels alone, and attaches nothing."""

    def attach(self, window: Callable[[], WindowState]) -> None:
        """Where to ask how the window stands; called once, before the first frame."""
        ...


@runtime_checkable
class Learning(Detector, Protocol):
    """A detector that is told when a click did something."""

    def confirmed(self, pixels: NDArray[np.uint8], mark: Mark) -> None:
        """A mark of an earlier frame was acted on, and its pixels changed."""
        ...
