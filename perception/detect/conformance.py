"""What every detector must do, as a check for those who write one."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected, Detector
from perception.errors import NotObservable
from perception.geometry import Box


def check_detector(detector: Detector, frames: Iterable[NDArray[np.uint8]]) -> list[Detected]:
    """Hold a detector to its contract, on frames of the game that it is for.

    Marks and cells lie inside the frame, numbers are unique and ascend, the frame is left as it was, a copy finds the
    same in the same frames, and whatever is on screen, an even grey frame of one pixel too, it finds something or
    raises ``NotObservable``.

    Args:
        detector: as a bot declares it.
        frames: ``(height, width, 3)``, uint8, BGR, in the order in which they were captured.

    Returns:
        What it found, frame by frame; frames in which it found no board are left out.

    Raises:
        AssertionError: says what was expected and what was found.
    """
    listed = [*frames, np.full((1, 1, 3), 128, np.uint8), np.full((40, 60, 3), 128, np.uint8)]
    first, second = copy.deepcopy(detector), copy.deepcopy(detector)
    found = [_once(first, pixels) for pixels in listed]
    again = [_once(second, pixels) for pixels in listed]
    for i, (one, other) in enumerate(zip(found, again, strict=True)):
        _require(one == other, f"frame {i}: expected a copy to find the same, found {one} and {other}")
    return [one for one in found if one is not None]


def _once(detector: Detector, pixels: NDArray[np.uint8]) -> Detected | None:
    before = pixels.copy()
    try:
        found = detector.detect(pixels)
    except NotObservable:
        return None
    _require(np.array_equal(before, pixels), "expected the frame to be left as it was, found other pixels")
    inside = Box(0, 0, pixels.shape[1], pixels.shape[0])
    for what, things in (("mark", found.marks), ("cell", found.cells)):
        numbers = [thing.number for thing in things]
        _require(numbers == sorted(set(numbers)), f"expected {what}s by ascending number, each once, found {numbers}")
        for thing in things:
            whole = not thing.box.is_empty and thing.box.intersection(inside) == thing.box
            _require(whole, f"expected {what} {thing.number} inside {inside}, found it at {thing.box}")
    return found


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
