"""Pictures of things, found wherever they are on the screen, at several sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.local import cropped, placed, whole
from perception.geometry import Box
from perception.image import read_png, require_folder
from perception.observation import Mark

SAME = 0.4  # overlap from which two finds are one thing
FLATTEST = 4.0  # levels of standard deviation; a flatter picture is found everywhere
MOST_FINDS = 200  # of one picture at one size
MOST_GROWN = 64  # pictures of an atlas that grows; the oldest goes

Picture = NDArray[np.uint8]
"""``(height, width, 3)``, BGR."""


class Templates:
    """Finds things by their pictures, each labelled by its picture's name.

    Args:
        pictures: name -> a PNG, or pixels ``(height, width, 3)`` BGR; or a folder of PNGs named by what they show.
        scales: sizes at which to look, 1.0 is the picture's own.
        floor: least likeness, as a normalised correlation of -1 to 1.
        grow: learn the picture of each labelled mark that was clicked and did something, until the run ends.

    Raises:
        OSError: a picture cannot be read.
        ValueError: a picture is so even that it would be found everywhere, or floor or scales make no sense.
    """

    def __init__(
        self,
        pictures: Mapping[str, Path | Picture] | Path | None = None,
        *,
        scales: Sequence[float] = (1.0,),
        floor: float = 0.92,
        grow: bool = False,
    ) -> None:
        if not 0 < floor <= 1 or not scales or min(scales) <= 0:
            raise ValueError(f"expected a floor of 0 to 1 and scales above 0, found {floor} and {tuple(scales)}")
        if isinstance(pictures, Path):
            require_folder(pictures)
            pictures = {path.stem: path for path in sorted(pictures.glob("*.png"))}
        self.scales = tuple(scales)
        self.floor = floor
        self.grow = grow
        self._atlas = {name: _loaded(name, each) for name, each in (pictures or {}).items()}
        self._grown: dict[str, tuple[str, Picture]] = {}

    @property
    def margin(self) -> int:
        """As far as a find may reach out of a part of the frame."""
        sides = [max(picture.shape[:2]) for _, picture in self._pictures()]
        return round(max(sides, default=0) * max(self.scales)) + 1

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """All finds; of finds that overlap, the likest."""
        return Detected(marks=tuple(self.detect_part(pixels, whole(pixels))))

    def detect_part(self, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
        """The finds in a part of the frame."""
        crop = cropped(pixels, part)
        finds = [find for name, picture in self._pictures() for find in self._finds(crop, name, picture)]
        kept: list[tuple[float, Box, str]] = []
        for find in sorted(finds, key=lambda find: (-find[0], find[1].top, find[1].left, find[2])):
            if not any(find[1].overlap(other[1]) >= SAME for other in kept):
                kept.append(find)
        return placed(((box, name) for _, box, name in kept), part)

    def confirmed(self, pixels: NDArray[np.uint8], mark: Mark) -> None:
        """Learn what a labelled mark looked like when a click on it did something."""
        box = mark.box
        patch = pixels[box.top : box.bottom, box.left : box.right]
        if not self.grow or mark.label is None or not patch.size or patch.std() < FLATTEST:
            return
        key = hashlib.sha256(f"{mark.label}{patch.shape}".encode() + patch.tobytes()).hexdigest()
        self._grown.pop(key, None)
        self._grown[key] = (mark.label, patch.copy())
        while len(self._grown) > MOST_GROWN:
            del self._grown[next(iter(self._grown))]

    def _pictures(self) -> list[tuple[str, Picture]]:
        return [*self._atlas.items(), *self._grown.values()]

    def _finds(self, pixels: NDArray[np.uint8], name: str, picture: Picture) -> list[tuple[float, Box, str]]:
        """Likeness, place and name of each find of one picture."""
        finds = []
        for scale in self.scales:
            sized = _resized(picture, scale)
            if sized.shape[0] > pixels.shape[0] or sized.shape[1] > pixels.shape[1] or sized.std() < FLATTEST:
                continue
            likeness = cv2.matchTemplate(pixels, sized, cv2.TM_CCOEFF_NORMED)
            peaks = (likeness >= self.floor) & (likeness >= cv2.dilate(likeness, np.ones((5, 5), np.uint8)))
            places = np.argwhere(peaks & np.isfinite(likeness))
            best = sorted(places, key=lambda place: -likeness[place[0], place[1]])[:MOST_FINDS]
            finds += [
                (float(likeness[y, x]), Box(int(x), int(y), sized.shape[1], sized.shape[0]), name) for y, x in best
            ]
        return finds


def _loaded(name: str, picture: Path | Picture) -> Picture:
    loaded = read_png(picture) if isinstance(picture, Path) else picture.copy()
    if loaded.std() < FLATTEST:
        raise ValueError(f"expected a picture with something on it for {name!r}, found an even one")
    return loaded


def _resized(picture: Picture, scale: float) -> Picture:
    if scale == 1.0:
        return picture
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR).astype(np.uint8)
