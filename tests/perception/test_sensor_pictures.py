"""Is a picture on the screen?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from perception.geometry import Box
from perception.image import write_png
from perception.sensors import TemplateShown
from tests.perception.pixels import Pixels, framed, noise


def glyphs(text: str, ink: tuple[int, int, int] = (0, 0, 0)) -> Pixels:
    pixels = np.full((20, 90, 3), 200, np.uint8)
    cv2.putText(pixels, text, (2, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.5, ink, 1, cv2.LINE_AA)
    return pixels


def scene(kind: str) -> Pixels:
    """A frame of 200x300 pixels: noise, an even colour, text, a gradient or tiles."""
    if kind == "noise":
        return noise(3, 200, 300)
    if kind == "text":
        return np.tile(np.concatenate([glyphs("Computed"), glyphs("Deleted")], axis=1), (10, 2, 1))[:, :300]
    if kind == "gradient":
        return np.repeat(np.tile(np.linspace(0, 255, 300).astype(np.uint8), (200, 1))[:, :, None], 3, axis=2)
    if kind == "tiles":
        return np.tile(noise(4, 10, 10), (20, 30, 1))
    return np.full((200, 300, 3), 200, np.uint8)


SCENES = ["noise", "text", "gradient", "tiles", "even"]
PICTURES = {
    "word": glyphs("Completed"),
    "noise": noise(5, 12, 30),
    "faint": (noise(6, 16, 16) // 32 + 120).astype(np.uint8),
    "checks": (np.indices((16, 16)).sum(axis=0) % 2 * 255).astype(np.uint8)[:, :, None].repeat(3, axis=2),
    "one dot": np.pad(np.full((1, 1, 3), 255, np.uint8), ((9, 10), (30, 29), (0, 0))),
    "one colour": np.full((14, 18, 3), (90, 20, 160), np.uint8),
    "one pixel": np.full((1, 1, 3), (90, 20, 161), np.uint8),
}


@pytest.mark.parametrize("kind", SCENES)
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_found_wherever_it_is_and_only_there(name: str, kind: str) -> None:
    picture = PICTURES[name]
    height, width = picture.shape[:2]
    shown = TemplateShown(picture)
    for row, column in ((0, 0), (0, 300 - width), (200 - height, 0), (200 - height, 300 - width), (77, 101)):
        pixels = scene(kind)
        without = shown(framed(pixels))
        pixels[row : row + height, column : column + width] = picture
        assert without is (name == "one pixel" and kind in ("noise", "tiles"))  # of many colours one is like it
        assert shown(framed(pixels)) is True


def test_places_that_no_probe_rules_out_are_compared_in_one_sweep() -> None:
    """In a gradient all places are alike; with a line through the picture none is it."""
    shade = scene("gradient")
    piece = shade[:20, 100:160].copy()
    assert TemplateShown(piece)(framed(shade)) is True
    rough = (piece + np.where(np.indices((20, 60))[0] % 2, 9, -9)[:, :, None]).clip(0, 255).astype(np.uint8)
    shown = TemplateShown(rough)
    rough[:] = 0  # what was given may change later
    assert shown(framed(shade)) is False


def test_a_picture_is_found_through_some_noise_but_not_when_it_is_another() -> None:
    shown, wobble = TemplateShown(glyphs("Completed")), np.random.default_rng(1).normal(0, 6, (200, 300, 3))
    for text, there in (("Completed", True), ("Destroyed", False), ("Complete", False), ("Completes", False)):
        pixels = scene("text")
        pixels[60:80, 120:210] = glyphs(text)
        noisy = (pixels + wobble).clip(0, 255).astype(np.uint8)
        assert shown(framed(pixels)) is shown(framed(noisy)) is there


def test_colours_count() -> None:
    red, green = glyphs("Go", (0, 0, 180)), glyphs("Go", (0, 92, 0))  # of nearly the same grey
    pixels = scene("even")
    pixels[60:80, 120:210] = red
    assert TemplateShown(red)(framed(pixels)) is True
    assert TemplateShown(green)(framed(pixels)) is False


def test_a_dimmed_picture_is_not_shown_also_where_it_was_just_found() -> None:
    shown, pixels = TemplateShown(glyphs("Completed")), scene("even")
    pixels[60:80, 120:210] = glyphs("Completed")
    assert shown(framed(pixels)) is True
    pixels[60:80, 120:210] //= 2
    assert shown(framed(pixels)) is TemplateShown(glyphs("Completed"))(framed(pixels)) is False


def test_one_colour_is_shown_where_a_place_is_all_of_about_it() -> None:
    shown, pixels = TemplateShown(np.full((20, 30, 3), (40, 80, 120), np.uint8)), scene("even")
    pixels[50:70, 60:90] = (47, 73, 120)
    assert shown(framed(pixels)) is True
    pixels[69, 89] = (50, 80, 120)
    assert shown(framed(pixels)) is False
    pixels[49:69, 60:90] = (40, 80, 120)
    assert shown(framed(pixels)) is True
    edges = scene("even")
    edges[:19] = edges[181:] = edges[:, :29] = edges[:, 271:] = (40, 80, 120)
    assert shown(framed(edges)) is False


def test_the_highest_floor_takes_the_picture_itself_alone() -> None:
    word, pixels = glyphs("Completed"), scene("even")
    shown = TemplateShown(word, floor=1)
    pixels[60:80, 120:210] = word
    assert shown(framed(pixels)) is True
    pixels[65:69, 130:160] = 200
    assert shown(framed(pixels)) is False


def test_a_picture_is_looked_for_in_its_region_alone() -> None:
    word, pixels = glyphs("Completed"), scene("even")
    pixels[60:80, 120:210] = word
    for region, there in ((Box(120, 60, 90, 20), True), (Box(100, 50, 150, 60), True), (Box(121, 60, 90, 20), False)):
        assert TemplateShown(word, region)(framed(pixels)) is there


def test_frames_of_other_sizes() -> None:
    """Too small for the picture is False, not undefined; memory that was kept does not mislead."""
    word = glyphs("Completed")
    shown, large = TemplateShown(word), np.pad(word, ((30, 9), (40, 9), (0, 0)))
    seen = [shown(framed(pixels)) for pixels in (large, word, word[:, 1:], word[1:], large[:-10], large)]
    assert seen == [True, True, False, False, False, True]


def test_a_picture_from_a_file_and_from_pixels(tmp_path: Path) -> None:
    word, seen = glyphs("Completed"), framed(np.tile(glyphs("Completed"), (3, 2, 1)))
    write_png(tmp_path / "word.png", word)
    sensors = [TemplateShown(tmp_path / "word.png"), TemplateShown(str(tmp_path / "word.png")), TemplateShown(word)]
    assert [sensor(seen) for sensor in sensors] == [True] * 3


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.zeros((3, 3), np.uint8), "expected pixels of shape (height, width, 3), uint8, found uint8 of shape (3, 3)"),
        (np.zeros((3, 3, 3)), "uint8, found float64 of shape (3, 3, 3)"),
        (7, "expected pixels of shape (height, width, 3), uint8, found 7"),
        (np.zeros((0, 3, 3), np.uint8), "expected at least one pixel, found an array of shape (0, 3, 3)"),
    ],
)
def test_pictures_that_are_none(picture: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        TemplateShown(picture)


def test_regions_and_floors_that_are_none() -> None:
    with pytest.raises(ValueError, match=re.escape("expected a region for 90x20 pixels, found 89x20 at (0, 0)")):
        TemplateShown(glyphs("x"), Box(0, 0, 89, 20))
    for floor in (0, 1.01):
        with pytest.raises(ValueError, match=f"expected a floor above 0 and up to 1, found {floor}"):
            TemplateShown(glyphs("x"), floor=floor)
