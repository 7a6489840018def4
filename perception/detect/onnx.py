"""Marks from an object-detection network of the user's own, in ONNX form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.errors import MissingExtra, WrongModel
from perception.geometry import Box
from perception.marks import numbered

PADDING = 114  # grey level of the bars beside a letterboxed frame; the one that YOLO models are trained with
EXPORT_CURE = "Export it with one image as input, float32 (1, 3, height, width), and one output of boxes."


@dataclass(frozen=True, slots=True)
class Letterbox:
    """How a frame lies in a network's input: scaled evenly, centred, grey bars beside it.

    Attributes:
        scale: input pixels for one frame pixel.
        left: columns of the bar on the left.
        top: rows of the bar above.
    """

    scale: float
    left: int
    top: int

    @classmethod
    def of(cls, frame: tuple[int, int], size: tuple[int, int]) -> Self:
        """The largest fit of a frame into an input; both are ``(height, width)``."""
        scale = min(size[0] / frame[0], size[1] / frame[1])
        bars = [(inner - max(1, round(outer * scale))) // 2 for outer, inner in zip(frame, size, strict=True)]
        return cls(scale, bars[1], bars[0])

    def filled(self, pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float32]:
        """The input, ``(1, 3, height, width)``, RGB, 0 to 1, for a frame ``(height, width, 3)``, BGR."""
        height, width = (max(1, round(side * self.scale)) for side in pixels.shape[:2])
        canvas = np.full((*size, 3), PADDING, np.uint8)
        resized = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_LINEAR)
        inner = Box(self.left, self.top, width, height)
        canvas[inner.top : inner.bottom, inner.left : inner.right] = resized
        planes = canvas[None, :, :, ::-1].transpose(0, 3, 1, 2)
        return np.multiply(planes, np.float32(1 / 255), dtype=np.float32, order="C")

    def undone(self, corners: NDArray[np.float32]) -> NDArray[np.float32]:
        """Corners ``(n, 4)``, left, top, right, bottom, from input pixels to frame pixels."""
        bars = np.array([self.left, self.top] * 2, np.float32)
        return np.asarray((corners - bars) / self.scale, np.float32)


@dataclass(frozen=True, slots=True)
class Found:
    """What a network found, all of one length.

    Attributes:
        corners: ``(n, 4)``, left, top, right, bottom.
        scores: ``(n,)``, 0 to 1.
        classes: ``(n,)``, from 0.
    """

    corners: NDArray[np.float32]
    scores: NDArray[np.float32]
    classes: NDArray[Any]

    def only(self, chosen: NDArray[Any]) -> Found:
        """Those at some places, or where a mask is set."""
        return Found(self.corners[chosen], self.scores[chosen], self.classes[chosen])


class Onnx:
    """Objects that a network of the user's own finds, each a mark labelled with its class.

    Two layouts of the first output are understood, told apart by shape (C classes, N boxes):

    - ``(1, 4 + C, N)``: middle x, middle y, width, height, then a score for each class, as YOLOv8 and YOLO11 are
      exported. Of overlapping boxes of one class the surest is taken.
    - ``(1, N, 6)``: left, top, right, bottom, score, class, as a network that chooses itself gives it (YOLOv10,
      exports with NMS). It wins where both fit.

    All in input pixels. Frames are letterboxed, RGB, 0 to 1. The network is tried once when it is loaded. Needs
    ``pip install 'onmark[onnx]'``.

    Args:
        path: the ``.onnx`` file.
        labels: the classes' names, by number.
        size: ``(height, width)`` of the input, or one number for both; needed where the model leaves it open.
        floor: objects with a lesser score are left out, 0 to 1.
        overlap: intersection over union from which two boxes of a class are one object.
        threads: for one run of the network. More take cores from the game.

    Raises:
        MissingExtra: onnxruntime is not installed.
        WrongModel: there is no such file, it holds no model, or one of another kind; says what it is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        labels: Sequence[str],
        *,
        size: int | tuple[int, int] | None = None,
        floor: float = 0.25,
        overlap: float = 0.45,
        threads: int = 1,
    ) -> None:
        self.path = Path(path)
        self.labels = tuple(labels)
        self.floor = floor
        self.overlap = overlap
        self._network = _Network(_session(self.path, threads))
        self.size = _input_size(self.path, self._network.input_shape, (size, size) if isinstance(size, int) else size)
        self.detect(np.zeros((*self.size, 3), np.uint8))

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Run the network; nothing found, no marks.

        Raises:
            WrongModel: the output is in neither layout, or a class has no label.
        """
        fit = Letterbox.of(pixels.shape[:2], self.size)
        found = self._decoded(self._run(fit.filled(pixels, self.size)))
        frame = Box(0, 0, pixels.shape[1], pixels.shape[0])
        boxes = [_box(corners).intersection(frame) for corners in fit.undone(found.corners)]
        named = zip(boxes, (self.labels[int(number)] for number in found.classes), strict=True)
        return Detected(cells=(), marks=numbered((box, label) for box, label in named if not box.is_empty))

    def _run(self, image: NDArray[np.float32]) -> NDArray[np.float32]:
        try:
            return self._network.run(image)
        except Exception as problem:  # onnxruntime's errors have no base of their own
            raise WrongModel(
                f"The network {self.path} fails on an input of shape {image.shape}: {problem}.", EXPORT_CURE
            ) from problem

    def _decoded(self, output: NDArray[np.float32]) -> Found:
        """The objects in an output, those sure enough alone, in input pixels."""
        rows = 4 + len(self.labels)
        if output.ndim == 3 and output.shape[0] == 1 and output.shape[2] == 6:
            found = _chosen(output[0], self.floor)
        elif output.ndim == 3 and output.shape[:2] == (1, rows):
            found = _surest(_raw(output[0], self.floor), self.floor, self.overlap)
        else:
            raise WrongModel(
                f"Expected an output of shape (1, {rows}, boxes), 4 and {len(self.labels)} labels, or (1, boxes, 6) "
                f"from {self.path}, found {output.shape}.",
                "Name each class that the network was trained on, and no other, or export it in one of these layouts.",
            )
        strange = sorted({int(number) for number in found.classes if not 0 <= number < len(self.labels)})
        if strange:
            raise WrongModel(
                f"Expected classes 0 to {len(self.labels) - 1} from {self.path}, found {strange}.",
                "Name each class that the network was trained on.",
            )
        return found


class _Network:
    """A loaded network. Copies of a detector share it: it holds no state between runs."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._input = session.get_inputs()[0]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def input_shape(self) -> list[int | str | None]:
        """As the model declares it; what is no number is left open."""
        return list(self._input.shape)

    def run(self, image: NDArray[np.float32]) -> NDArray[np.float32]:
        """The first output for one input."""
        return np.asarray(self._session.run(None, {self._input.name: image})[0], np.float32)


def _session(path: Path, threads: int) -> Any:
    """The network in a file, on the processor."""
    try:
        import onnxruntime
    except ImportError as problem:
        raise MissingExtra(
            "A network in ONNX form needs the package onnxruntime, which is not installed.",
            "Install it: pip install 'onmark[onnx]'",
        ) from problem
    if not path.is_file():
        raise WrongModel(f"Expected a network at {path.absolute()}, found no file.", "Correct the path.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; warnings are about the file, go to standard error, and nobody asked
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # onnxruntime's errors have no base of their own
        raise WrongModel(f"Expected a network in ONNX form at {path}, found none: {problem}.", EXPORT_CURE) from problem


def _input_size(path: Path, shape: list[int | str | None], asked: tuple[int, int] | None) -> tuple[int, int]:
    """``(height, width)`` of the input: the model's where it is fixed, else what was asked for."""
    if len(shape) != 4 or (isinstance(shape[1], int) and shape[1] != 3):
        raise WrongModel(f"Expected an input of shape (1, 3, height, width) from {path}, found {shape}.", EXPORT_CURE)
    fixed = [side if isinstance(side, int) else None for side in shape[2:]]
    if asked is None and None in fixed:
        raise WrongModel(f"The network {path} leaves its input's size open: {shape}.", "Give it: size=640.")
    height, width = (own or given for own, given in zip(fixed, asked or (0, 0), strict=True))
    if asked is not None and asked != (height, width):
        raise WrongModel(
            f"Expected an input of {asked} (height, width) from {path}, found {(height, width)}.", "Leave size out."
        )
    return height, width


def _raw(rows: NDArray[np.float32], floor: float) -> Found:
    """Objects out of ``(4 + C, N)``: middle, size and the scores of the classes."""
    classes = rows[4:].argmax(axis=0)
    scores = rows[4:].max(axis=0)
    half = rows[2:4] / 2
    corners = np.concatenate([rows[:2] - half, rows[:2] + half]).T.astype(np.float32)
    return _sound(Found(corners, scores, classes), floor)


def _chosen(rows: NDArray[np.float32], floor: float) -> Found:
    """Objects out of ``(N, 6)``: corners, score and class."""
    return _sound(Found(rows[:, :4], rows[:, 4], rows[:, 5]), floor)


def _sound(found: Found, floor: float) -> Found:
    """Those that are sure enough and whose numbers are numbers."""
    sure = np.isfinite(found.corners).all(axis=1) & np.isfinite(found.classes) & (found.scores >= floor)
    return found.only(sure)


def _surest(found: Found, floor: float, overlap: float) -> Found:
    """One object for each heap of overlapping boxes of a class."""
    sizes = found.corners[:, 2:] - found.corners[:, :2]
    boxes = np.concatenate([found.corners[:, :2], sizes], axis=1)
    kept = cv2.dnn.NMSBoxesBatched(boxes.tolist(), found.scores.tolist(), found.classes.tolist(), floor, overlap)
    return found.only(np.asarray(kept, np.int64).reshape(-1))


def _box(corners: NDArray[np.float32]) -> Box:
    """The whole pixels nearest to corners."""
    left, top, right, bottom = (round(float(value)) for value in corners)
    return Box(left, top, right - left, bottom - top)
