"""Pictures found on the screen."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from perception.detect.conformance import check_detector
from perception.detect.templates import Templates
from perception.geometry import Box
from perception.image import write_png
from perception.observation import Mark
from tests.perception.drawn import screen


def coin(side: int = 24) -> NDArray[np.uint8]:
    pixels = np.full((side, side, 3), 200, np.uint8)
    cv2.circle(pixels, (side // 2, side // 2), side // 3, (0, 180, 220), -1)
    cv2.line(pixels, (side // 2, side // 3), (side // 2, side * 2 // 3), (20, 20, 20), 2)
    return pixels


def placed(*at: tuple[int, int], side: int = 24) -> NDArray[np.uint8]:
    pixels = screen()
    for x, y in at:
        pixels[y : y + side, x : x + side] = coin(side)
    return pixels


def test_every_find_once_under_its_name() -> None:
    found = Templates({"coin": coin()}).detect(placed((50, 40), (300, 40), (60, 200))).marks
    assert [(mark.label, mark.box) for mark in found] == [
        ("coin", Box(50, 40, 24, 24)),
        ("coin", Box(300, 40, 24, 24)),
        ("coin", Box(60, 200, 24, 24)),
    ]
    assert Templates({"coin": coin()}).detect(screen()).marks == ()


def test_other_sizes() -> None:
    pixels = placed((50, 40))
    pixels[100:148, 100:148] = cv2.resize(coin(), (48, 48), interpolation=cv2.INTER_LINEAR)
    one, both = Templates({"coin": coin()}), Templates({"coin": coin()}, scales=(1.0, 2.0))
    assert len(one.detect(pixels).marks) == 1
    assert [mark.box.width for mark in both.detect(pixels).marks] == [24, 48]


def test_pictures_from_a_folder(tmp_path: Path) -> None:
    write_png(tmp_path / "coin.png", coin())
    assert [mark.label for mark in Templates(tmp_path).detect(placed((50, 40))).marks] == ["coin"]


def test_an_atlas_grows_from_confirmed_clicks_and_not_otherwise() -> None:
    pixels = placed((50, 40))
    mark = Mark(number=1, box=Box(50, 40, 24, 24), label="coin")
    still = Templates()
    still.confirmed(pixels, mark)
    assert still.detect(pixels).marks == ()
    growing = Templates(grow=True)
    growing.confirmed(pixels, Mark(number=2, box=Box(200, 200, 24, 24), label="ground"))  # even: found everywhere
    growing.confirmed(pixels, Mark(number=3, box=Box(50, 40, 24, 24)))  # nothing to call it
    assert growing.detect(pixels).marks == ()
    growing.confirmed(pixels, mark)
    found = growing.detect(placed((310, 250))).marks
    assert [(mark.label, mark.box) for mark in found] == [("coin", Box(310, 250, 24, 24))]


def test_wrong_declarations(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="something on it for 'sky', found an even one"):
        Templates({"sky": np.full((9, 9, 3), 7, np.uint8)})
    with pytest.raises(ValueError, match="a floor of 0 to 1"):
        Templates({"coin": coin()}, floor=1.2)
    with pytest.raises(OSError, match="expected an image"):
        Templates({"coin": tmp_path / "none.png"})


def test_the_contract() -> None:
    found = check_detector(Templates({"coin": coin()}, scales=(0.5, 1, 3)), [placed((50, 40)), placed((376, 276))])
    assert [len(each.marks) for each in found[:2]] == [1, 1]
