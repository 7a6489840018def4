"""What a detector is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from perception.observation import GridCell, Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a detector found in one frame.

    Attributes:
        cells: the board, row by row; empty when the detector looks for no board.
        marks: what could be acted on, by ascending number.
    """

    cells: tuple[GridCell, ...]
    marks: tuple[Mark, ...]


@runtime_checkable
class Detector(Protocol):
    """Finds what could be acted on.

    Called from the scheduler's thread, once for each tick whose pixels changed; it must return within the tick,
    depend on the pixels alone (a replay must find the same), and never call the actuator. It may raise
    ``NotObservable`` when the screen does not show what it looks for.
    """

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Look at one frame, ``(height, width, 3)``, BGR."""
        ...
