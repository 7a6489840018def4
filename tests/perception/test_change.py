"""What counts as a change, and how large it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perception.change import ChangeMeter, TileDigests, changed_tiles, merged, tiles_of
from perception.geometry import Box, Transform
from perception.observation import Frame


def frame(pixels: NDArray[np.uint8], *, moving: bool = False) -> Frame:
    box = Box(0, 0, pixels.shape[1], pixels.shape[0])
    return Frame(pixels=pixels, transform=Transform(client=box, captured=box), captured_ns=0, moving=moving)


def noise(height: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)


@settings(max_examples=60, deadline=None)
@given(
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    spots=st.sets(st.tuples(st.integers(0, 69), st.integers(0, 69), st.integers(0, 2)), max_size=6),
)
def test_every_tile_with_another_level_is_found_and_no_other(
    height: int, width: int, spots: set[tuple[int, int, int]]
) -> None:
    before = noise(height, width)
    after = before.copy()
    inside = {(y, x, c) for y, x, c in spots if y < height and x < width}
    for spot in inside:
        after[spot] ^= 1
    found = {(int(y), int(x)) for y, x in np.argwhere(changed_tiles(before, after))}
    assert found == {(y // 16, x // 16) for y, x, _ in inside}


def test_the_kinds_of_change() -> None:
    meter, pixels = ChangeMeter(), noise(160, 160)
    assert meter.measure(frame(pixels)).kind == "scene"
    assert meter.measure(frame(pixels)).kind == "unchanged"
    assert meter.measure(frame(pixels.copy())).dirty == ()
    spot = pixels.copy()
    spot[40, 70, 1] ^= 1
    change = meter.measure(frame(spot))
    assert (change.kind, change.dirty) == ("local", (Box(70, 40, 1, 1),))
    assert change.touches(Box(60, 30, 11, 11))
    assert not change.touches(Box(48, 32, 22, 16))
    assert meter.measure(frame(noise(160, 160) ^ np.uint8(1))).kind == "scene"
    assert meter.measure(frame(pixels, moving=True)).kind == "motion"
    assert meter.measure(frame(pixels[:-1], moving=True)).kind == "scene"  # another size: nothing can be compared


def test_dirty_boxes_are_clipped_and_apart() -> None:
    pixels = noise(200, 200)
    meter = ChangeMeter()
    meter.measure(frame(pixels))
    after = pixels.copy()
    after[199, 199] ^= 1
    after[0:40, 0] ^= 1
    after[5, 0:60] ^= 1
    change = meter.measure(frame(after))
    assert set(change.dirty) == {Box(199, 199, 1, 1), Box(0, 0, 60, 40)}


@pytest.mark.parametrize(
    ("boxes", "apart"),
    [
        ([Box(0, 0, 4, 4), Box(4, 0, 4, 4)], 2),
        ([Box(0, 0, 5, 4), Box(4, 0, 4, 4)], 1),
        ([Box(0, 0, 2, 2), Box(8, 8, 2, 2), Box(1, 1, 8, 8)], 1),
        ([Box(0, 0, 4, 4), Box(6, 0, 4, 4), Box(3, 0, 4, 1)], 1),
    ],
)
def test_boxes_that_overlap_become_one(boxes: list[Box], apart: int) -> None:
    assert len(merged(boxes)) == apart
    assert {(b.left, b.top) for b in merged(boxes)} == {(b.left, b.top) for b in merged(boxes[::-1])}


def test_tiles_are_numbered_by_what_they_show() -> None:
    """Whatever the order of looks: like tiles, like numbers; a change of one pixel, another number, at its place."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 255, (50, 70, 3), np.uint8)  # tiles at the edges are smaller
    digests = TileDigests()
    first = digests.of(pixels)
    assert first.shape == (4, 5)
    assert len(set(first.flat)) == 20
    other = pixels.copy()
    other[33, 69, 1] ^= 128
    second = digests.of(other)
    assert [tuple(place) for place in np.argwhere(first != second)] == [(2, 4)]
    assert (digests.of(pixels.copy()) == first).all()
    assert (TileDigests().of(other) == second).all()
    other[33, 68, 1] ^= 128
    assert digests.of(other[:40]).shape == (3, 5)


def test_a_change_of_the_highest_bit_in_two_words_does_not_cancel_out() -> None:
    pixels = np.zeros((16, 16, 3), np.uint8)
    before = TileDigests().of(pixels)
    for row in range(1, 16):
        other = pixels.copy()
        other.reshape(16, -1)[[0, row], 7] = 128
        assert TileDigests().of(other) != before


def test_the_tiles_of_boxes() -> None:
    held = tiles_of([Box(15, 0, 2, 1), Box(60, 40, 99, 99), Box(-9, -9, 5, 5)], (4, 5))
    assert [tuple(place) for place in np.argwhere(held)] == [(0, 0), (0, 1), (2, 3), (2, 4), (3, 3), (3, 4)]
