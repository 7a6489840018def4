"""Text found and read: drawn in game sizes, in frames of a recorded game, and in a game on a virtual display."""

import copy
import sys
from contextlib import closing
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from agent.bot import Game
from agent.desktop import game_window
from perception.capture import Capture
from perception.detect.conformance import check_detector
from perception.detect.text import RapidOcr, Tesseract, Text, TextReader, text_lines, whole
from perception.errors import MissingExtra
from perception.geometry import Box
from perception.image import read_png
from perception.window import Desktop

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

BLACK_ON_GREY: tuple[Colour, Colour] = ((0, 0, 0), (230, 230, 230))
GROUNDS = [BLACK_ON_GREY, ((255, 255, 255), (40, 60, 40)), ((255, 220, 0), (120, 20, 20))]
FRAMES = sorted((Path(__file__).parents[1] / "sessions" / "mines-lost" / "frames").glob("*.png"))
SUDOKU = (
    ".4.5..3.9",
    "..59.....",
    ".9...28..",
    "47..2....",
    "1..3.8..6",
    "....5..84",
    "..92...3.",
    ".....31..",
    "5.6..4.7.",
)


def drawn(
    *lines: tuple[str, int, int], size: int = 12, colours: tuple[Colour, Colour] = BLACK_ON_GREY, width: int = 320
) -> Pixels:
    """Text at places, ``(text, left, top)``; colours are RGB, ink and ground."""
    image = Image.new("RGB", (width, 80), colours[1])
    for text, left, top in lines:
        ImageDraw.Draw(image).text((left, top), text, fill=colours[0], font=ImageFont.load_default(size))
    return np.asarray(image)[:, :, ::-1].copy()


def ink(pixels: Pixels) -> Box:
    """The box round all that differs from the ground."""
    rows, columns = np.nonzero((pixels != pixels[0, 0]).any(axis=2))
    left, top = int(columns.min()), int(rows.min())
    return Box(left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top)


def within(one: Box, other: Box, by: int) -> bool:
    """True when no edge of the boxes is farther than ``by`` pixels from the other's."""
    edges = ((box.left, box.top, box.right, box.bottom) for box in (one, other))
    return all(abs(a - b) <= by for a, b in zip(*edges, strict=True))


def labels(detector: Text, pixels: Pixels) -> list[str | None]:
    return [mark.label for mark in detector.detect(pixels).marks]


def closed_up(text: str) -> str:
    """Without spaces: whether there is one beside a thin glyph is a matter of a pixel in these sizes."""
    return text.replace(" ", "")


class Counting:
    """Reads nothing, and remembers what it was shown."""

    def __init__(self, says: str = "text") -> None:
        self.says = says
        self.shown: list[Pixels] = []

    def read(self, pixels: Pixels) -> str:
        self.shown.append(pixels)
        return self.says


@pytest.fixture(scope="module", params=[Tesseract, RapidOcr])
def engine(request: pytest.FixtureRequest) -> Tesseract | RapidOcr:
    made: Tesseract | RapidOcr = request.param()
    return made


@pytest.fixture(scope="module")
def tesseract() -> Tesseract:
    return Tesseract()


@pytest.mark.parametrize("colours", GROUNDS)
@pytest.mark.parametrize("size", [9, 11, 14, 24])
def test_a_line_is_found_where_it_was_drawn(size: int, colours: tuple[Colour, Colour]) -> None:
    pixels = drawn(("Level 5: 80.", 20, 30), size=size, colours=colours)
    (line,) = text_lines(pixels)
    assert within(line, ink(pixels), by=2)


def test_words_far_apart_and_lines_below_each_other_are_lines_of_their_own() -> None:
    pixels = drawn(("Game", 10, 8), ("Help", 120, 8), ("Score 12", 10, 40))
    assert [(box.left // 100, box.top // 30) for box in text_lines(pixels)] == [(0, 0), (1, 0), (0, 1)]


def test_a_button_s_frame_and_the_holes_of_glyphs_are_no_lines() -> None:
    pixels = drawn(("80 New", 30, 30))
    alone = text_lines(pixels)
    cv2.rectangle(pixels, (18, 20), (110, 55), (90, 90, 90), 1)
    assert text_lines(pixels) == alone
    assert len(alone) == 1
    assert len(text_lines(drawn(("e", 30, 10), size=48))) == 1


@pytest.mark.parametrize("share", [0.01, 0.3])
def test_noise_takes_no_long_time_and_leaves_no_boxes_outside(share: float) -> None:
    noise = np.random.default_rng(1).random((400, 600, 1)) < share
    frame = Box(0, 0, 600, 400)
    assert all(box.intersection(frame) == box for box in text_lines((noise * 255).astype(np.uint8).repeat(3, axis=2)))


def test_an_unchanged_line_is_read_once() -> None:
    reader = Counting()
    detector = Text(reader)
    first = detector.detect(drawn(("Game", 10, 8), ("Score 12", 10, 40)))
    assert len(reader.shown) == 2
    assert detector.detect(drawn(("Game", 10, 8), ("Score 12", 10, 40))) == first
    assert len(reader.shown) == 2
    detector.detect(drawn(("Game", 60, 8), ("Score 13", 10, 40)))  # the same pixels in another place, and a new line
    assert len(reader.shown) == 3


def test_the_memory_forgets_what_was_not_seen_for_longest() -> None:
    reader = Counting()
    detector = Text(reader, memory=2)
    for text in ("one", "two", "one", "six", "one", "two"):
        detector.detect(drawn((text, 10, 8)))
    assert len(reader.shown) == 4  # "two" was forgotten for "six", "one" never was
    with pytest.raises(ValueError, match="a memory of at least 1 line, found 0"):
        Text(reader, memory=0)


def test_regions_are_all_that_is_looked_at() -> None:
    pixels = drawn(("Game", 10, 8), ("Score 12", 10, 40))
    reader = Counting()
    region = Box(0, 35, 2000, 30)
    (mark,) = Text(reader, regions=[region, region, Box(900, 0, 9, 9)]).detect(pixels).marks
    assert within(mark.box, ink(drawn(("Score 12", 10, 40))), by=2)
    outside = pixels.copy()
    outside[:35] = 7
    Text(reader, regions=[region]).detect(outside)
    assert np.array_equal(reader.shown[0], reader.shown[1])
    assert len(reader.shown) == 2
    assert Text(reader, regions=[]).detect(pixels).marks == ()


def test_a_region_can_be_read_as_one_line() -> None:
    reader = Counting()
    region = Box(5, 30, 100, 30)
    (mark,) = Text(reader, regions=[region], find=whole).detect(drawn(("Score 12", 10, 40))).marks
    assert mark.box == region
    assert reader.shown[0].shape == (30, 100, 3)


def test_labels_are_one_line_and_no_longer_than_a_label_may_be() -> None:
    assert labels(Text(Counting(" two \n lines ")), drawn(("x" * 9, 10, 8))) == ["two lines"]
    assert labels(Text(Counting("w" * 300)), drawn(("x" * 9, 10, 8))) == ["w" * 200]
    assert labels(Text(Counting(" ")), drawn(("x" * 9, 10, 8))) == []


def test_a_reader_of_one_s_own_keeps_the_contract() -> None:
    assert isinstance(Counting(), TextReader)
    frames = [drawn(("Game", 10, 8), ("Score 12", 10, 40)), drawn(("Game", 280, 60))]
    found = check_detector(Text(Counting()), frames)
    assert [len(one.marks) for one in found] == [2, 1, 0, 0]


@pytest.mark.parametrize("colours", GROUNDS)
@pytest.mark.parametrize("size", [9, 10, 11, 12, 14, 20, 32])
def test_game_text_is_read(engine: Tesseract | RapidOcr, size: int, colours: tuple[Colour, Colour]) -> None:
    pixels = drawn(("Level 5 Score 1280", 10, 12), size=size, colours=colours)
    assert [closed_up(label or "") for label in labels(Text(engine), pixels)] == ["Level5Score1280"]


def test_small_text_is_enlarged_before_it_is_read(tesseract: Tesseract) -> None:
    """As it is, Tesseract reads 45 of these 54 lines right."""
    texts = (
        "Level 5 Score 1280",
        "Health 75/100",
        "New Game",
        "Press any key to continue",
        "Gold: 1,204",
        "Wave 3 of 12",
    )
    asked = [(text, size) for text in texts for size in (9, 10, 11, 12, 13, 14, 16, 20, 28)]
    read = [tesseract.read(drawn((text, 10, 20), size=size, width=420)) for text, size in asked]
    wrong = [(text, said) for (text, _), said in zip(asked, read, strict=True) if closed_up(text) != closed_up(said)]
    assert len(wrong) <= 4, wrong


def test_a_block_is_read_line_by_line(engine: Tesseract | RapidOcr) -> None:
    assert engine.read(drawn(("Turn off", 10, 8), ("all the lights", 10, 40), size=16)) == "Turn off\nall the lights"
    assert closed_up(engine.read(drawn(("Game", 10, 20), ("Help", 200, 21), size=16))) == "GameHelp"
    assert engine.read(drawn(size=16)) == ""


def test_lone_digits_are_read(engine: Tesseract | RapidOcr) -> None:
    for digit in "0123456789":  # RapidOCR's angle classifier would turn a 9 into a 6
        assert labels(Text(engine), drawn((digit, 20, 20), size=18)) == [digit]


def test_a_recorded_game_is_read(engine: Tesseract | RapidOcr) -> None:
    status = Text(engine, regions=[Box(0, 400, 384, 46)])
    found = check_detector(status, [read_png(path) for path in FRAMES])
    read = {closed_up(mark.label or "") for one in found for mark in one.marks}
    assert "[0:00]Marked:0/10" in read
    assert {"[0:01]DEAD!", "Deaths:1"} <= read
    assert all("Marked:" in text for text in read - {"[0:01]DEAD!", "Deaths:1"})


def test_words_have_their_places(engine: Tesseract | RapidOcr) -> None:
    pixels = drawn(("Game", 10, 8), ("Help", 220, 50), size=16)
    found = {word.text: word for word in engine.words(pixels)}
    assert set(found) == {"Game", "Help"}
    assert within(found["Help"].box, ink(drawn(("Help", 220, 50), size=16)), by=6)  # RapidOCR leaves a margin
    assert all(0.5 < word.confidence <= 1 for word in found.values())


def test_words_of_one_line_are_parted(tesseract: Tesseract) -> None:
    first, second = tesseract.words(drawn(("Level", 10, 30), ("five", 58, 30), size=16))
    assert (first.text, second.text) == ("Level", "five")
    assert within(first.box, ink(drawn(("Level", 10, 30), size=16)), by=2)
    assert within(second.box, ink(drawn(("five", 58, 30), size=16)), by=2)


def test_a_line_below_the_floor_is_left_out(engine: Tesseract | RapidOcr) -> None:
    pixels = drawn(("Game", 10, 8))
    strict = type(engine)(floor=0.999999)
    assert (strict.read(pixels), strict.words(pixels)) == ("", [])
    assert (engine.read(pixels), len(engine.words(pixels))) == ("Game", 1)


def test_copies_share_the_engine_and_no_memory(engine: Tesseract | RapidOcr) -> None:
    detector = Text(engine)
    other = copy.deepcopy(detector)
    assert other.reader is engine
    assert labels(other, drawn(("Game", 10, 8))) == labels(detector, drawn(("Game", 10, 8))) == ["Game"]


@pytest.mark.parametrize(
    ("engine_class", "module", "extra"),
    [(Tesseract, "tesserocr", "ocr"), (RapidOcr, "rapidocr_onnxruntime", "rapidocr")],
)
def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, engine_class: type[Tesseract | RapidOcr], module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"not installed\. Install it: pip install 'onmark\[{extra}\]'"):
        engine_class()


def test_missing_language_data_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(
        MissingExtra, match=r"data for eng\+xxx in .*found none\. .*tesseract-ocr-eng tesseract-ocr-xxx"
    ):
        Tesseract("eng+xxx")
    with pytest.raises(MissingExtra, match=f"Expected Tesseract's data for eng in {tmp_path}, found none"):
        Tesseract(data=tmp_path)
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(MissingExtra, match=f"in {tmp_path}, found none"):
        Tesseract()


def solo_description(rows: tuple[str, ...]) -> str:
    """A board as Solo's game ID writes it: digits, and runs of empty squares as letters."""
    parts, empty = [], 0
    for square in "".join(rows):
        if square == ".":
            empty += 1
            continue
        parts.append(chr(ord("a") + empty - 1) if empty else "_")
        parts.append(square)
        empty = 0
    return "".join(parts).removeprefix("_") + (chr(ord("a") + empty - 1) if empty else "")


def test_every_digit_of_a_game_on_screen_is_read(desktop: Desktop, tesseract: Tesseract) -> None:
    """Tesseract by itself, shown the whole window, reads 12 of these 28 digits."""
    game = Game(title="Solo", command=("sgt-solo", f"3x3:{solo_description(SUDOKU)}"), package="sgt-puzzles")
    with game_window(game, 1, desktop) as window, closing(Capture()) as capture:
        frame = capture.grab(window.state(), 0)
        while len(text_lines(frame.pixels)) < 31:  # the window shows before the board is drawn
            frame = capture.grab(window.state(), 0)
    marks = Text(tesseract).detect(frame.pixels).marks
    assert [mark.label for mark in marks[:3]] == ["Game", "Type", "Help"]
    lines: dict[int, str] = {}
    for mark in marks[3:]:
        lines[mark.box.top // 10] = lines.get(mark.box.top // 10, "") + (mark.label or "")
    assert list(lines.values()) == [line.replace(".", "") for line in SUDOKU]
