"""Colours, numbers, cells and titles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.testing import frame
from perception.errors import SensorError
from perception.geometry import Box
from perception.observation import GridCell
from perception.sensors import CellCount, ColourShare, Number, Sensors, TemplateShown, Title, View
from tests.perception.pixels import Pixels, framed, noise

AREA = Box(0, 0, 320, 240)
VIEW = View(frame=frame())


class Reads:
    """A reader that says what it is told to, whatever it sees."""

    def __init__(self, *texts: Any) -> None:
        self.texts, self.seen = list(texts), list[Pixels]()

    def read(self, pixels: Pixels) -> str:
        self.seen.append(pixels)
        text: str = self.texts[min(len(self.seen), len(self.texts)) - 1]
        return text


# Colours


def test_the_share_of_a_colour() -> None:
    pixels = np.zeros((10, 20, 3), np.uint8)
    pixels[:5, :4] = (0x30, 0x20, 0x10)  # BGR of #102030
    seen = framed(pixels)
    assert ColourShare("#102030")(seen) == 0.1
    assert ColourShare("#302010")(seen) == 0.0
    assert ColourShare("#102030", region=Box(0, 0, 8, 5))(seen) == 0.5
    assert ColourShare("#112030")(seen) == ColourShare("#132030", tolerance=2)(seen) == 0.0
    assert ColourShare("#112130", tolerance=1)(seen) == ColourShare("#0f1f2f", "#112030")(seen) == 0.1
    assert ColourShare("#0f1f2f", tolerance=1)(seen) == ColourShare("#0f1f2f", "#0f1f2f", tolerance=1)(seen) == 0.1
    assert ColourShare("#000000", "#ffffff")(seen) == 1.0


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 500), st.integers(1, 40), st.integers(0, 9), st.tuples(*[st.integers(0, 255)] * 6))
def test_the_share_is_the_mean_over_the_pixels(height: int, width: int, seed: int, limits: tuple[int, ...]) -> None:
    low, high = np.minimum(limits[:3], limits[3:]), np.maximum(limits[:3], limits[3:])
    least, most = ("#" + bytes(int(level) for level in reversed(limit)).hex() for limit in (low, high))
    sensor, other = ColourShare(least, most), noise(seed + 1, 3, 5)
    for pixels in (noise(seed, height, width), other, noise(seed, height, width)):  # its memory fits each size
        inside = ((pixels >= low) & (pixels <= high)).all(axis=2)
        assert sensor(framed(pixels)) == pytest.approx(inside.mean())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("red",), "expected a colour such as #ff0000, found 'red'"),
        (("#ff 00 ",), "expected a colour such as #ff0000, found '#ff 00 '"),
        (("#000000", 3), "expected a colour such as #ff0000, found 3"),
        (("#000002", "#ff0001"), "expected no channel of #000002 above that of #ff0001"),
        (("#000000", None, Box(3, 3, 0, 5)), "expected a region of at least one pixel, found 0x5 at (3, 3)"),
    ],
)
def test_colours_that_are_none(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ColourShare(*arguments)


@pytest.mark.parametrize("tolerance", [-1, 256])
def test_tolerances_that_are_none(tolerance: int) -> None:
    with pytest.raises(ValueError, match=f"expected a tolerance from 0 to 255, found {tolerance}"):
        ColourShare("#000000", tolerance=tolerance)


@pytest.mark.parametrize(
    "region", [Box(-1, 0, 30, 30), Box(0, -1, 30, 30), Box(300, 0, 30, 30), Box(0, 220, 30, 30), Box(900, 900, 30, 30)]
)
def test_regions_that_are_not_all_in_the_frame_are_undefined(region: Box) -> None:
    sensors = {
        "share": ColourShare("#808080", region=region),
        "number": Number(region, Reads("7")),
        "shown": TemplateShown(noise(1, 5, 5), region),
        "plain": TemplateShown(np.full((5, 5, 3), 128, np.uint8), region),
    }
    assert Sensors(sensors).evaluate(VIEW) == dict.fromkeys(sensors)


def test_a_frame_without_pixels_has_no_share() -> None:
    assert ColourShare("#000000")(framed(np.zeros((0, 5, 3), np.uint8))) is None


# Text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("12", 12), (" 12\n", 12), ("-3", -3), ("+3", 3), ("007", 7), ("1,234", 1234), ("-1,234,567", -1234567)],
        *[("0", 0), ("", None), ("x", None), ("Score: 12", None), ("12 13", None), ("12.5", None), ("1,23", None)],
        *[("1,2345", None), (",234", None), ("12-", None), ("- 3", None), ("0x1f", None), ("9" * 5000, None)],
    ],
)
def test_a_number_is_an_integer_that_stands_alone(text: str, number: int | None) -> None:
    assert Number(AREA, Reads(text))(frame()) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("Score: 1,200 Lives: 3", 1200), ("Score: none", None), ("Score: 1 Score: 2", None), ("Lives: 3", None)],
)
def test_a_number_may_stand_in_a_pattern(text: str, number: int | None) -> None:
    assert Number(AREA, Reads(text), pattern=r"Score: (\S+)")(frame()) == number


def test_a_group_that_takes_no_part_is_no_number() -> None:
    assert Number(AREA, Reads("Over"), pattern=r"Over|Score: (\d+)")(frame()) is None


def test_an_unchanged_region_is_not_read_again() -> None:
    region, reader = Box(10, 20, 30, 40), Reads("1", "none", "3")
    number = Number(region, reader)
    one, same, two = frame(10), frame(10), frame(11)
    same.pixels[0, 0] = 255  # outside of the region
    assert [number(each) for each in (one, same, one, two, two, one)] == [1, 1, 1, None, None, 3]
    assert [pixels.shape for pixels in reader.seen] == [(40, 30, 3)] * 3


def test_a_reader_cannot_write_on_the_frame() -> None:
    class Scribbles:
        def read(self, pixels: Pixels) -> str:
            pixels[:] = 0
            return "1"

    seen = frame(10)
    assert Number(Box(0, 0, 9, 9), Scribbles())(seen) == 1
    assert (seen.pixels == 10).all()


def test_a_reader_that_fails_stops_the_run_and_is_asked_again() -> None:
    class Fails:
        def read(self, pixels: Pixels) -> str:
            raise RuntimeError("no engine")

    sensors = Sensors({"score": Number(Box(0, 0, 9, 9), Fails())})
    for _ in range(2):
        with pytest.raises(SensorError, match=r"Sensor 'score': Number\(9x9 at .* failed with RuntimeError: no engine"):
            sensors.evaluate(VIEW)
    with pytest.raises(SensorError, match="failed with TypeError"):
        Number(AREA, Reads(None))(frame())


def test_number_declarations_that_are_none() -> None:
    for pattern in ("x", "(a)(b)"):
        with pytest.raises(ValueError, match="expected a pattern with one group, found"):
            Number(AREA, Reads(""), pattern)
    with pytest.raises(ValueError, match=re.escape("expected a regular expression, found '(': ")):
        Number(AREA, Reads(""), "(")
    with pytest.raises(ValueError, match="expected a reader with a method read, found 3"):
        Number(AREA, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected a region of at least one pixel"):
        Number(Box(0, 0, 5, 0), Reads(""))


# Cells and titles


def board(kinds: Iterable[str | None]) -> View:
    cells = (GridCell(number=i + 1, row=0, column=i, box=AREA, kind=kind) for i, kind in enumerate(kinds))
    return View(frame=frame(), cells=tuple(cells))


def test_cells_are_counted_where_there_is_a_board() -> None:
    view = board(["mine", None, "mine", "flag"])
    assert [CellCount(kind).read(view) for kind in ("mine", "flag", "safe", None)] == [2, 1, 0, 1]
    assert CellCount("mine").read(VIEW) is None


def test_titles() -> None:
    title = Title()
    made = {
        "title": title,
        "holds": title.contains("vel 3"),
        "lacks": title.contains("VEL"),
        "fits": title.matches(r"Level \d"),
        "part": title.matches("Level"),
        "same": title == "Level 3",
        "longer": title + "!",
        "asked": "So: " + title,
    }
    expected = ["Level 3", True, False, True, False, True, "Level 3!", "So: Level 3"]
    assert list(Sensors(made).evaluate(View(frame=frame(), title="Level 3")).values()) == expected
    assert Sensors(made).evaluate(VIEW) == dict.fromkeys(made)
    with pytest.raises(ValueError, match=re.escape("expected a regular expression, found '['")):
        title.matches("[")
    with pytest.raises(ValueError, match="expected a text, found 3"):
        title.contains(3)  # type: ignore[arg-type]
