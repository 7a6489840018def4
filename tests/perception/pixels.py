"""Frames for tests of sensors."""

import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box, Transform
from perception.observation import Frame

Pixels = NDArray[np.uint8]


def framed(pixels: Pixels) -> Frame:
    """A frame of these pixels."""
    area = Box(0, 0, pixels.shape[1], pixels.shape[0])
    return Frame(pixels=pixels, transform=Transform(client=area, captured=area), captured_ns=0)


def noise(seed: int, height: int, width: int) -> Pixels:
    """Pixels of random colours."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
