"""What reads text: engines from optional packages, behind one method."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import cv2
import numpy as np
from numpy.typing import NDArray

from perception.detect.text_lines import text_lines
from perception.errors import MissingExtra
from perception.geometry import Box

MARGIN = 3  # pixels left round a line that is read; engines lose glyphs that touch the edge
# Pixels that a line is enlarged to, margin included. Of 324 drawn lines, 9 to 28 pixels high and in six pairs of
# colours, Tesseract reads 270 as they are, and 310 enlarged to 32, 40, 48 or 52.
LINE_HEIGHT = 48
MOST_ENLARGED = 4  # times; a glyph of seven pixels has no more to tell
DPI = 150  # what an enlarged line would have been scanned at; unset, Tesseract guesses from the size of what it sees
TESSDATA = ("/usr/share/tesseract-ocr/*/tessdata", "/usr/share/tessdata", "/usr/local/share/tessdata")


class Word(NamedTuple):
    """A word, or a line where an engine does not part words.

    Attributes:
        box: in pixels of the picture that was read.
        text: never empty.
        confidence: the engine's own, 0 to 1.
    """

    box: Box
    text: str
    confidence: float


@runtime_checkable
class TextReader(Protocol):
    """Reads text. Called from the scheduler's thread; the same pixels must give the same text.

    What it raises stops the run: a sensor's says so as a ``SensorError``.
    """

    def read(self, pixels: NDArray[np.uint8]) -> str:
        """The text of one line or one block, ``(height, width, 3)``, uint8, BGR; empty where none can be read."""
        ...


class Tesseract:
    """Tesseract inside this process: about 2 ms for a short line, 10 ms for a long one. One thread at a time.

    It takes a lone large 0 for an O. Needs ``pip install 'onmark[ocr]'`` (the wheel holds Tesseract itself) and a
    language's data.

    Args:
        language: as Tesseract names it; ``eng``, or several as ``eng+deu``.
        floor: lines are left out when it is less sure of each of their words, 0 to 1. Icons seldom have more.
        data: the folder that holds ``eng.traineddata``. None: TESSDATA_PREFIX, or where Linux systems keep it.

    Raises:
        MissingExtra: the library or the language's data is not installed.
    """

    def __init__(self, language: str = "eng", *, floor: float = 0.4, data: Path | None = None) -> None:
        try:
            import tesserocr
        except ImportError as problem:
            raise _missing("Tesseract", "tesserocr", "ocr") from problem
        self.floor = floor
        self._library = tesserocr
        self._api: Any = tesserocr.PyTessBaseAPI(
            path=str(_language_data(language, data)),
            lang=language,
            oem=tesserocr.OEM.LSTM_ONLY,
            psm=tesserocr.PSM.SINGLE_LINE,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: the engine reads the same whoever asks, and takes 15 MB."""
        return self

    def read(self, pixels: NDArray[np.uint8]) -> str:
        """The text of one line or one block; lines are parted by line breaks."""
        lines = (" ".join(word.text for word in self._line(row)) for row in rows(pixels))
        return "\n".join(line for line in lines if line)

    def words(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The words of a picture of any size, line by line, wherever ``text_lines`` finds some."""
        return [
            Word(word.box.moved(wide.left, wide.top), *word[1:])
            for wide, patch in patches(pixels)
            for word in self._line(patch)
        ]

    def _line(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The words of a picture that shows one line."""
        scale = max(1.0, min(MOST_ENLARGED, LINE_HEIGHT / pixels.shape[0]))
        grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        height, width = grey.shape
        self._api.SetImageBytes(grey.tobytes(), width, height, 1, width)
        self._api.SetSourceResolution(DPI)
        self._api.Recognize()
        inside = Box(0, 0, pixels.shape[1], pixels.shape[0])
        found = [Word(box.scaled(1 / scale).intersection(inside), text, sure) for box, text, sure in self._found()]
        return found if any(word.confidence >= self.floor for word in found) else []

    def _found(self) -> Iterator[Word]:
        """The words of the last picture, in its pixels."""
        words = self._api.GetIterator()
        level = self._library.RIL.WORD
        for word in self._library.iterate_level(words, level) if words else ():
            try:
                text = word.GetUTF8Text(level).strip()
            except RuntimeError:  # how the library says that a place holds no text
                continue
            left, top, right, bottom = word.BoundingBox(level)
            if text:
                yield Word(Box(left, top, right - left, bottom - top), text, word.Confidence(level) / 100)


class RapidOcr:
    """PP-OCR's networks through ONNX Runtime, weights in the wheel: surer of lone digits, 10 to 40 ms a line.

    It reads Chinese and English, and drops spaces in small text. Its angle classifier takes a 9 for a 6 upside down,
    so it is off: text must be upright. Needs ``pip install 'onmark[rapidocr]'``, Python before 3.13.

    Args:
        floor: lines that it is less sure of are left out, 0 to 1.
        threads: of the networks.

    Raises:
        MissingExtra: the library is not installed.
    """

    def __init__(self, *, floor: float = 0.6, threads: int = 1) -> None:
        try:
            from rapidocr_onnxruntime import RapidOCR
        except ImportError as problem:
            raise _missing("RapidOCR", "rapidocr-onnxruntime", "rapidocr") from problem
        self.floor = floor
        # A picture keeps its size: by default a strip of 20 pixels is blown up to 736, and takes 4 s.
        self._engine: Any = RapidOCR(
            use_cls=False,
            text_score=floor,
            intra_op_num_threads=threads,
            inter_op_num_threads=1,
            det_limit_type="max",
            det_limit_side_len=2000,
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: the engine reads the same whoever asks, and takes 100 MB."""
        return self

    def read(self, pixels: NDArray[np.uint8]) -> str:
        """The text of one line or one block; lines are parted by line breaks."""
        lines = (self._line(row) for row in rows(pixels))
        return "\n".join(line for line in lines if line)

    def _line(self, pixels: NDArray[np.uint8]) -> str:
        """What a picture of one line says."""
        found, _ = self._engine(pixels, use_det=False, use_cls=False)
        return " ".join(text.strip() for text, sure in found or () if sure >= self.floor)

    def words(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The lines of a picture of any size as its own network finds them: 0.2 to 1 s for a window."""
        found, _ = self._engine(pixels, use_cls=False)
        inside = Box(0, 0, pixels.shape[1], pixels.shape[0])
        lines = [Word(_around(corners).intersection(inside), text.strip(), sure) for corners, text, sure in found or ()]
        return [line for line in lines if line.text and not line.box.is_empty]


def patches(pixels: NDArray[np.uint8]) -> list[tuple[Box, NDArray[np.uint8]]]:
    """Each line of a picture, box and pixels, both with a margin."""
    boxes = [with_margin(pixels, line) for line in text_lines(pixels)]
    return [(box, pixels[box.top : box.bottom, box.left : box.right]) for box in boxes]


def with_margin(pixels: NDArray[np.uint8], line: Box) -> Box:
    """A line's box, wider by what engines want to see round glyphs, inside the picture."""
    return line.shrunk(-MARGIN).intersection(Box(0, 0, pixels.shape[1], pixels.shape[0]))


def rows(pixels: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """The pixels of each row of text with their margin, from the top: lines side by side are one row.

    The whole picture where no line is found.
    """
    found: list[Box] = []
    for line in text_lines(pixels):
        beside = bool(found) and line.center.y < found[-1].bottom
        found[-1:] = [found[-1].union(line)] if beside else [*found[-1:], line]
    boxes = [with_margin(pixels, row) for row in found]
    return [pixels[box.top : box.bottom, box.left : box.right] for box in boxes] or [pixels]


def _around(corners: Sequence[Sequence[float]]) -> Box:
    """The upright box round four corners."""
    xs, ys = [int(x) for x, _ in corners], [int(y) for _, y in corners]
    return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))


def _language_data(language: str, folder: Path | None) -> Path:
    """The folder that holds the data of all languages asked for."""
    given = folder or (Path(os.environ["TESSDATA_PREFIX"]) if os.environ.get("TESSDATA_PREFIX") else None)
    folders = [given] if given else [found for where in TESSDATA for found in sorted(Path("/").glob(where[1:]))]
    names = language.split("+")
    for candidate in folders:
        if all((candidate / f"{name}.traineddata").is_file() for name in names):
            return candidate
    raise MissingExtra(
        f"Expected Tesseract's data for {language} in {', '.join(map(str, folders or TESSDATA))}, found none.",
        f"Install it: apt-get install {' '.join('tesseract-ocr-' + name for name in names)}, or name its folder.",
    )


def _missing(engine: str, package: str, extra: str) -> MissingExtra:
    return MissingExtra(
        f"{engine} needs the package {package}, which is not installed.", f"Install it: pip install 'onmark[{extra}]'"
    )
