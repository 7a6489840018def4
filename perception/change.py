"""What changed from one frame to the next, by tiles, and what is worth looking at again because of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box
from perception.observation import Change, Frame

TILE = 16  # pixels; a mark is seldom smaller
LARGE = 0.35  # share of the tiles from which a change is more than local
_MIX = np.uint64(0x9E3779B97F4A7C15)
_WEIGHTS = np.random.default_rng(16).integers(0, 2**64, 3 * TILE * TILE // 8, np.uint64) | np.uint64(1)
MOTIONS = 3  # frames in motion in a row; then it is looked at all the same, or a game that never rests is never seen


class ChangeMeter:
    """Compares each frame with the one before, pixel by pixel: a change of one level in one pixel is a change."""

    def __init__(self) -> None:
        self._last: NDArray[np.uint8] | None = None
        self._motions = 0

    def measure(self, frame: Frame) -> Change:
        """What changed since the frame that was given before."""
        last, self._last = self._last, frame.pixels
        height, width = frame.pixels.shape[:2]
        change = _change(last, frame, Box(0, 0, width, height))
        if change.kind == "motion" and self._motions >= MOTIONS:
            change = Change(kind="scene", dirty=(Box(0, 0, width, height),))
        self._motions = self._motions + 1 if change.kind == "motion" else 0
        return change


def _change(last: NDArray[np.uint8] | None, frame: Frame, whole: Box) -> Change:
    if last is None or last.shape != frame.pixels.shape:
        return Change(kind="scene", dirty=(whole,))
    if last is frame.pixels or cv2.norm(last, frame.pixels, cv2.NORM_INF) == 0:
        return Change(kind="unchanged")
    differs = cv2.absdiff(last, frame.pixels)
    tiles = _tiles(differs)
    if tiles.mean() < LARGE:
        return Change(kind="local", dirty=_boxes(tiles, differs, whole))
    if frame.moving:
        return Change(kind="motion", dirty=_boxes(tiles, differs, whole))
    return Change(kind="scene", dirty=(whole,))


def changed_tiles(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which tiles of 16 x 16 pixels differ, ``(rows, columns)``; those at the right and lower edge may be smaller."""
    return _tiles(cv2.absdiff(before, after))


class TileDigests:
    """Numbers tiles by what they show: like tiles, like numbers; other pixels, as good as surely another number.

    Only tiles that changed since the look before are worked on.
    """

    def __init__(self) -> None:
        self._pixels: NDArray[np.uint8] | None = None
        self._digests: NDArray[np.uint64] = np.zeros((0, 0), np.uint64)

    def of(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """The numbers of a look's tiles of 16 x 16 pixels, ``(rows, columns)``; not to be written to.

        Args:
            pixels: ``(height, width, 3)``; tiles at the right and lower edge may be smaller.
        """
        before, self._pixels = self._pixels, pixels
        if before is pixels:
            return self._digests
        if before is None or before.shape != pixels.shape:
            changed = np.ones((-(-pixels.shape[0] // TILE), -(-pixels.shape[1] // TILE)), np.bool_)
            self._digests = np.zeros(changed.shape, np.uint64)
        else:
            changed = changed_tiles(before, pixels)
        if changed.any():
            self._digests = self._digests.copy()
            self._digests[changed] = _digests(pixels, changed)
        return self._digests


def _digests(pixels: NDArray[np.uint8], which: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The numbers of some tiles, in their order."""
    height, width = pixels.shape[:2]
    padded = cv2.copyMakeBorder(pixels, 0, -height % TILE, 0, -width % TILE, cv2.BORDER_CONSTANT, value=0)
    rows, columns = np.nonzero(which)
    tiles = padded.reshape(which.shape[0], TILE, which.shape[1], 3 * TILE)[rows, :, columns]
    words = tiles.reshape(len(rows), -1).view(np.uint64) * _MIX  # each word's bits are spread before they are summed
    words ^= words >> np.uint64(29)
    return np.asarray((words * _WEIGHTS).sum(axis=1, dtype=np.uint64))


def _tiles(differs: NDArray[Any]) -> NDArray[np.bool_]:
    height, width = differs.shape[:2]
    rows, columns = -(-height // TILE), -(-width // TILE)
    padding = (0, rows * TILE - height, 0, columns * TILE - width)
    padded = cv2.copyMakeBorder(differs, *padding, cv2.BORDER_CONSTANT, value=0)
    bands = padded.reshape(rows, TILE, -1).max(axis=1)
    return np.asarray(bands.reshape(rows, columns, -1).max(axis=2) > 0)


def tiles_of(boxes: Sequence[Box], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which tiles hold a pixel of some boxes, of ``shape`` (rows, columns)."""
    held = np.zeros(shape, np.bool_)
    for box in boxes:
        held[box.tiles(TILE)] = True
    return held


def _boxes(tiles: NDArray[np.bool_], differs: NDArray[Any], frame: Box) -> tuple[Box, ...]:
    """Boxes round the pixels that differ, one for tiles that touch one another, corners too; no two overlap."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(tiles.astype(np.uint8), connectivity=8)
    boxes = [Box(*(int(value) for value in row[:4])).scaled(TILE).intersection(frame) for row in stats[1:]]
    return tuple(_tight(box, differs) for box in merged(boxes))


def _tight(box: Box, differs: NDArray[Any]) -> Box:
    """The smallest box round the pixels of a box that differ."""
    inside = np.asarray(differs[box.top : box.bottom, box.left : box.right].any(axis=2), np.uint8)
    return Box(*cv2.boundingRect(inside)).moved(box.left, box.top)


def merged(boxes: list[Box]) -> list[Box]:
    """Boxes, those that overlap put together until none do."""
    apart: list[Box] = []
    for box in boxes:
        grown, rest = box, apart
        while True:
            hit = [other for other in rest if other.touches(grown)]
            if not hit:
                break
            for other in hit:
                grown = grown.union(other)
            rest = [other for other in rest if other not in hit]
        apart = [*rest, grown]
    return apart
