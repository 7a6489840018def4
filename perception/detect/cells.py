"""What a cell shows: by its colours, or by pictures of which like ones have one name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.colour import parse_colour
from perception.image import read_png, require_folder, write_png

COLOUR_TOLERANCE = 12  # levels a channel may differ; toolkits round 0.5 to 127 or 128
COLOUR_SHARE = 0.01  # of a cell's pixels; the thinnest digit of a 32-pixel cell covers 0.04
ALIKE = 0.004  # share of pixels that may differ between two pictures of one kind; the least stroke of a digit is more
DIFFERENT = 32  # levels of a channel from which a pixel differs; smoothing differs by less
RIM = 10  # of its side, this part of a cell is left out at each edge: lines and neighbours reach into it
ROUNDING = 2  # pixels by which cells of one board may differ in size
THUMB = 8  # pixels of a side of a picture seen from afar
NEAREST = 4  # pictures that are compared pixel by pixel
MOST_KINDS = 200  # a board of noise would be learned without end

Patch = NDArray[np.uint8]
"""``(height, width, 3)``, BGR: a cell without its outermost pixels."""


def is_learned(kind: str) -> bool:
    """True for a kind that nobody has named: ``kind 1``, ``kind 2`` and so on."""
    word, _, number = kind.partition(" ")
    return word == "kind" and number.isdecimal()


class CellNamer(Protocol):
    """Names what a cell shows. It may learn: a run works on a copy of its own."""

    def kind(self, patch: Patch) -> str | None:
        """The kind. None: nothing that has a name."""
        ...


class ColourKinds:
    """Kinds by colours.

    Args:
        kinds: kind -> colours that a cell of that kind shows, as ``#rrggbb`` (several, separated by spaces, must all
            be there). The first kind that fits is taken.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = {kind: tuple(parse_colour(c) for c in colours.split()) for kind, colours in kinds.items()}

    def kind(self, patch: Patch) -> str | None:
        """The first kind whose colours the patch shows."""
        levels = patch.astype(np.int16)
        for kind, colours in self._kinds.items():
            if all(_share(levels, colour) >= COLOUR_SHARE for colour in colours):
                return kind
        return None


class CellKinds:
    """Kinds by pictures. Like cells of a rendered board are alike to the byte, so no text needs to be read.

    Args:
        examples: kind -> a picture of such a cell, with its rim or without; or a folder of PNGs named by their kinds,
            such as ``save`` writes. A cell that is like none of them gets a kind of its own: ``kind 1``, ``kind 2``,
            in the order of appearance.
        learn: False: a cell that is like no example has kind None.

    Raises:
        OSError: an example is no picture.
    """

    def __init__(self, examples: Mapping[str, Path | Patch] | Path | None = None, *, learn: bool = True) -> None:
        if isinstance(examples, Path):
            require_folder(examples)
            examples = {path.stem: path for path in sorted(examples.glob("*.png"))}
        self._learn = learn
        self._pictures: dict[str, Patch] = {
            kind: read_png(each) if isinstance(each, Path) else each.copy() for kind, each in (examples or {}).items()
        }
        self._seen: dict[bytes, str | None] = {}
        self._thumbs: list[NDArray[np.float32]] = []
        self._learned = 0

    def kind(self, patch: Patch) -> str | None:
        """The kind of the picture that a patch is like; a new one where there is none."""
        key = hashlib.sha256(repr(patch.shape).encode() + patch.tobytes()).digest()
        if key not in self._seen:
            if len(self._seen) >= 10 * MOST_KINDS:
                self._seen.clear()
            core = _core(patch)
            self._seen[key] = self._like(core) or self._like(patch) or self._new(core)
        return self._seen[key]

    def save(self, folder: Path) -> list[Path]:
        """Write a picture of each kind, ``<kind>.png``: rename the files, and give the folder as ``examples``.

        Raises:
            OSError: the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{kind}.png" for kind in self._pictures]
        for path, picture in zip(paths, self._pictures.values(), strict=True):
            write_png(path, picture)
        return paths

    def _like(self, patch: Patch) -> str | None:
        """The kind of the picture that a patch is like, out of those that look most like it from afar."""
        if not self._pictures or not patch.size:
            return None
        names = list(self._pictures)
        while len(self._thumbs) < len(names):
            self._thumbs.append(_thumb(self._pictures[names[len(self._thumbs)]]))
        far = np.abs(np.stack(self._thumbs) - _thumb(patch)).mean(axis=1)
        near = [names[i] for i in np.argsort(far, kind="stable")[:NEAREST]]
        differences = [(_difference(patch, self._pictures[name]), name) for name in near]
        difference, kind = min(differences, key=lambda pair: pair[0])
        return kind if difference <= ALIKE else None

    def _new(self, patch: Patch) -> str | None:
        if not self._learn or len(self._pictures) >= MOST_KINDS:
            return None
        self._learned += 1
        while f"kind {self._learned}" in self._pictures:
            self._learned += 1
        kind = f"kind {self._learned}"
        self._pictures[kind] = patch.copy()
        return kind


def _thumb(patch: Patch) -> NDArray[np.float32]:
    """A picture as it looks from afar."""
    return cv2.resize(patch, (THUMB, THUMB), interpolation=cv2.INTER_AREA).astype(np.float32).ravel()


def _core(patch: Patch) -> Patch:
    """A cell without its rim."""
    rim = min(patch.shape[:2]) // RIM
    return np.ascontiguousarray(patch[rim : patch.shape[0] - rim, rim : patch.shape[1] - rim])


def _difference(one: Patch, other: Patch) -> float:
    """Share of pixels that differ, as one lies best on the other; all of them where their sizes are far apart."""
    height, width = (min(a, b) for a, b in zip(one.shape[:2], other.shape[:2], strict=True))
    if max(abs(one.shape[0] - other.shape[0]), abs(one.shape[1] - other.shape[1])) > ROUNDING or not height * width:
        return 1.0
    pairs = [(a, b) for a in _windows(one, height, width) for b in _windows(other, height, width)]
    return min(float((cv2.absdiff(a, b).max(axis=2) >= DIFFERENT).mean()) for a, b in pairs)


def _windows(patch: Patch, height: int, width: int) -> list[Patch]:
    """All parts of a patch that have a size."""
    tops, lefts = range(patch.shape[0] - height + 1), range(patch.shape[1] - width + 1)
    return [patch[top : top + height, left : left + width] for top in tops for left in lefts]


def _share(patch: NDArray[np.int16], colour: tuple[int, int, int]) -> float:
    """Fraction of a patch's pixels that have a colour, within the tolerance."""
    near = (np.abs(patch - np.array(colour, np.int16)) <= COLOUR_TOLERANCE).all(axis=2)
    return float(near.mean()) if near.size else 0.0
