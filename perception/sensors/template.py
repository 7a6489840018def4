"""Is a picture on the screen? A few of its pixels rule out most places, which makes a search of a frame cheap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.geometry import Box
from perception.image import read_png
from perception.sensors.expressions import Leaf
from perception.sensors.leaves import Pixels, checked, pixels_of
from perception.sensors.values import View

MATCH_FLOOR = 0.95  # normalised correlation; the same glyphs give 1.0, other words of the same font below 0.7
HIGHEST_FLOOR = 0.999  # single precision may fall short of 1 by as much
PLAIN = 2.0  # levels; a picture in which no channel deviates by more has one colour
PLAIN_SLACK = 8  # levels that a channel may be off a picture's one colour
PROBES = 24  # pixels of the picture that are compared before all are
SLACK = 0.9  # of the picture's deviation that a probe may be off; from 1 on, plain places could pass
FEW = 2000  # places that are sooner sifted one by one than plane by plane
HANDFUL = 4  # places that are not worth sifting
MANY = 1000  # places that are sooner compared in one sweep of the frame than one by one

Places = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows and columns of a picture's left top corner."""


class TemplateShown(Leaf[bool]):
    """Is a picture on the screen, at its own size, in about its own colours?

    A place shows it when the correlation with the picture, each channel about its mean, is ``floor`` or more, and each
    of 24 pixels, chosen among those that stand out, is off by at most 0.9 of the standard deviation of the channel
    that varies most. So a picture that is dimmed, or partly covered, may be missed. A picture of one colour is shown
    where every pixel is within 8 levels of it.

    Undefined where its region is not all in the frame; False where the frame is smaller than the picture.

    Args:
        picture: a PNG cut out of a frame, or its pixels, ``(height, width, 3)``, uint8, BGR.
        region: where to look, in capture pixels. None: the whole frame.
        floor: the least correlation, above 0, up to 1.

    Raises:
        OSError: there is no image there.
        ValueError: the pixels are no picture, the region cannot hold it, or the floor is no correlation.
    """

    def __init__(self, picture: Path | str | Pixels, region: Box | None = None, floor: float = MATCH_FLOOR) -> None:
        pixels = read_png(Path(picture)) if isinstance(picture, Path | str) else _picture(picture)
        self._height, self._width = pixels.shape[:2]
        if not 0 < floor <= 1:
            raise ValueError(f"expected a floor above 0 and up to 1, found {floor}")
        self._region = checked(region)
        if region is not None and (region.width < self._width or region.height < self._height):
            raise ValueError(f"expected a region for {self._width}x{self._height} pixels, found {region}")
        name = picture if isinstance(picture, Path | str) else f"{self._width}x{self._height} pixels"
        self._text = f"TemplateShown({name}, {region}, floor={floor})"
        plain = pixels.std(axis=(0, 1)).max() < PLAIN
        self._picture: _Plain | _Textured = _Plain(pixels) if plain else _Textured(pixels, floor)
        self._last = 0, 0  # where it was found last, it is likely to be again

    def look(self, view: View) -> bool | None:
        """True when the picture is there."""
        pixels = pixels_of(view.frame, self._region)
        if pixels is None:
            return None
        if pixels.shape[0] < self._height or pixels.shape[1] < self._width:
            return False
        if self._picture.fits(_patch(pixels, self._last, (self._height, self._width))):
            return True
        place = self._picture.search(pixels)
        self._last = place or self._last
        return place is not None

    def __repr__(self) -> str:
        return self._text


class _Plain:
    """A picture of one colour."""

    def __init__(self, pixels: Pixels) -> None:
        colour = pixels.mean(axis=(0, 1))
        self._low, self._high = colour - PLAIN_SLACK, colour + PLAIN_SLACK
        self._shape = pixels.shape[0], pixels.shape[1]

    def fits(self, patch: Pixels) -> bool:
        """True when a patch shows the picture."""
        return patch.shape[:2] == self._shape and bool(((patch >= self._low) & (patch <= self._high)).all())

    def search(self, pixels: Pixels) -> tuple[int, int] | None:
        """Row and column of the first place that shows the picture."""
        height, width = self._shape
        lattice = np.ascontiguousarray(pixels[height - 1 :: height, width - 1 :: width])  # meets any place once
        if not cv2.inRange(lattice, self._low, self._high).any():
            return None
        alike = cv2.inRange(pixels, self._low, self._high)
        kernel = np.ones((height, width), np.uint8)
        corners = cv2.erode(alike, kernel, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT, borderValue=0.0)
        row, column = divmod(int(corners.argmax()), corners.shape[1])
        return (row, column) if corners[row, column] else None


class _Textured:
    """A picture of more than one colour."""

    def __init__(self, pixels: Pixels, floor: float) -> None:
        self._pixels, self._floor = pixels, min(floor, HIGHEST_FLOOR)
        self._shape = pixels.shape[0], pixels.shape[1]
        centred = pixels - pixels.mean(axis=(0, 1))
        self._unit = (centred / np.linalg.norm(centred)).astype(np.float32).ravel()
        self._set_probes(np.abs(centred).sum(axis=2).ravel())
        self._plane: NDArray[Any] | None = None
        self._mask: NDArray[Any] | None = None
        self._spare: NDArray[Any] | None = None

    def _set_probes(self, weights: NDArray[np.float64]) -> None:
        """Choose pixels at random, the same at each start, those more likely that are far from the mean."""
        count = min(PROBES, int(np.count_nonzero(weights)))
        chosen = np.random.default_rng(0).choice(len(weights), count, replace=False, p=weights / weights.sum())
        self._rows, self._columns = np.divmod(chosen, self._shape[1])
        levels, deviation = self._pixels[self._rows, self._columns], self._pixels.std(axis=(0, 1))
        slack = SLACK * deviation.max()
        self._low = np.ceil(levels - slack).clip(0, 255).astype(np.uint8)
        self._high = np.floor(levels + slack).clip(0, 255).astype(np.uint8)
        self._channel = int(deviation.argmax())  # the one that tells most

    def fits(self, patch: Pixels) -> bool:
        """True when a patch shows the picture."""
        if patch.shape[:2] != self._shape:
            return False
        probes = patch[self._rows, self._columns]
        return bool(((probes >= self._low) & (probes <= self._high)).all()) and self._correlation(patch) >= self._floor

    def search(self, pixels: Pixels) -> tuple[int, int] | None:
        """Row and column of a place that shows the picture."""
        rows, columns = self._sifted(pixels, self._places(pixels))
        if len(rows) > MANY:
            scores = cv2.matchTemplate(pixels, self._pixels, cv2.TM_CCOEFF_NORMED)[rows, columns]
            best = int(scores.argmax())
            return (int(rows[best]), int(columns[best])) if scores[best] >= self._floor else None
        places = zip(rows.tolist(), columns.tolist(), strict=True)
        return next((place for place in places if self.fits(_patch(pixels, place, self._shape))), None)

    def _places(self, pixels: Pixels) -> Places:
        """Places that some probes do not rule out in one channel: a few, or all that no probe rules out there."""
        self._plane = plane = cv2.extractChannel(pixels, self._channel, self._plane)
        mask: NDArray[Any] | None = None
        for probe in self._rarest_first(plane):
            mask = self._narrowed(mask, plane, probe)
            if cv2.countNonZero(mask) <= FEW:
                break
        assert mask is not None  # noqa: S101 - a picture of more than one colour has a probe
        return np.divmod(np.flatnonzero(np.bitwise_and(mask, 1, out=mask).view(np.bool_)), mask.shape[1])

    def _narrowed(self, mask: NDArray[Any] | None, plane: NDArray[Any], probe: int) -> NDArray[Any]:
        """255 at the places that one more probe does not rule out, in memory that is kept from tick to tick."""
        height, width = plane.shape[0] - self._shape[0] + 1, plane.shape[1] - self._shape[1] + 1
        row, column = self._rows[probe], self._columns[probe]
        window = plane[row : row + height, column : column + width]
        limits = int(self._low[probe, self._channel]), int(self._high[probe, self._channel])
        if mask is None:
            self._mask = cv2.inRange(window, *limits, self._mask)
            return self._mask
        self._spare = cv2.inRange(window, *limits, self._spare)
        return cv2.bitwise_and(mask, self._spare, mask)

    def _rarest_first(self, plane: NDArray[Any]) -> list[int]:
        """The probes, by how many of the frame's pixels have their level; one pixel in 64 is counted."""
        counts = np.bincount(plane[::8, ::8].ravel(), minlength=256)
        below = np.concatenate(([0], counts.cumsum()))
        low, high = self._low[:, self._channel], self._high[:, self._channel]
        return [int(probe) for probe in (below[high.astype(int) + 1] - below[low]).argsort(kind="stable")]

    def _sifted(self, pixels: Pixels, places: Places) -> Places:
        """Those of the places that no probe rules out; of a handful, all."""
        rows, columns = places
        for row, column, low, high in zip(self._rows, self._columns, self._low, self._high, strict=True):
            if len(rows) <= HANDFUL:
                break
            levels = pixels[rows + row, columns + column]
            passed = ((levels >= low) & (levels <= high)).all(axis=1)
            rows, columns = rows[passed], columns[passed]
        return rows, columns

    def _correlation(self, patch: Pixels) -> float:
        """From -1 to 1; 0 for a patch of one colour."""
        deviation = np.linalg.norm(cv2.meanStdDev(patch)[1]) * np.sqrt(self._shape[0] * self._shape[1])
        return float(patch.ravel().astype(np.float32) @ self._unit / deviation) if deviation else 0.0


def _patch(pixels: Pixels, place: tuple[int, int], shape: tuple[int, int]) -> Pixels:
    return pixels[place[0] : place[0] + shape[0], place[1] : place[1] + shape[1]]


def _picture(pixels: Pixels) -> Pixels:
    """A copy of a picture's pixels.

    Raises:
        ValueError: they are none.
    """
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        found = f"{pixels.dtype} of shape {pixels.shape}" if isinstance(pixels, np.ndarray) else repr(pixels)
        raise ValueError(f"expected pixels of shape (height, width, 3), uint8, found {found}")
    if not pixels.size:
        raise ValueError(f"expected at least one pixel, found an array of shape {pixels.shape}")
    return pixels.copy()
