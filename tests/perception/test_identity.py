"""The same element keeps its number; another one does not get it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perception.geometry import Box
from perception.identity import MEMORY, Identity
from perception.marks import numbered
from tests.perception.drawn import button, screen

A, B, C = Box(20, 20, 60, 24), Box(120, 20, 60, 24), Box(20, 100, 60, 24)


def follow(identity: Identity, shown: dict[Box, int]) -> dict[Box, int]:
    """The number of each box, drawn in its shade."""
    pixels = screen()
    for box, shade in shown.items():
        button(pixels, box, shade)
    marks = numbered((box, None) for box in shown)
    return dict(zip([mark.box for mark in marks], identity.follow(marks, pixels), strict=True))


def test_new_elements_are_numbered_in_reading_order() -> None:
    assert follow(Identity(), {C: 230, B: 210, A: 220}) == {A: 1, B: 2, C: 3}


def test_what_stays_keeps_its_number_whatever_comes_before_it() -> None:
    identity = Identity()
    follow(identity, {B: 210, C: 220})
    assert follow(identity, {A: 230, B: 210, C: 220}) == {A: 3, B: 1, C: 2}


def test_a_redrawn_element_keeps_its_number() -> None:
    identity = Identity()
    follow(identity, {A: 210, B: 220})
    assert follow(identity, {A: 90, B: 220}) == {A: 1, B: 2}


def test_an_element_that_moves_keeps_its_number() -> None:
    identity = Identity()
    follow(identity, {A: 210, B: 220})
    assert follow(identity, {A.moved(40, 6): 210, B: 220}) == {A.moved(40, 6): 1, B: 2}


def test_an_element_that_moves_a_little_and_is_redrawn_keeps_its_number() -> None:
    identity = Identity()
    follow(identity, {A: 210})
    moved = A.moved(40, 0)
    assert follow(identity, {moved: 90}) == {moved: 1}


def test_another_element_far_away_gets_another_number() -> None:
    identity = Identity()
    follow(identity, {A: 210})
    assert follow(identity, {C.moved(200, 100): 210}) == {C.moved(200, 100): 2}


def test_elements_that_change_places_keep_their_numbers() -> None:
    identity = Identity()
    right = A.moved(70, 0)
    follow(identity, {A: 210, right: 90})
    assert follow(identity, {A: 90, right: 210}) == {A: 2, right: 1}


def test_places_keep_their_numbers_whatever_they_show() -> None:
    identity, cells = Identity(), [Box(x, 50, 40, 40) for x in (20, 60, 100)]
    for shades in ((210, 90, 90), (90, 210, 90), (90, 90, 210)):
        pixels = screen()
        for box, shade in zip(cells, shades, strict=True):
            button(pixels, box, shade)
        assert identity.follow(numbered((box, None) for box in cells), pixels, cells) == [1, 2, 3]


def test_an_element_that_flickers_comes_back_under_its_number_and_none_is_given_it_meanwhile() -> None:
    identity = Identity()
    follow(identity, {A: 210, B: 220})
    for _ in range(MEMORY):
        assert follow(identity, {B: 220, C: 215})[C] == 3
    assert follow(identity, {A: 210, B: 220, C: 215}) == {A: 1, B: 2, C: 3}


def test_a_number_is_free_again_after_a_while() -> None:
    identity = Identity()
    follow(identity, {A: 210, B: 220})
    for _ in range(MEMORY + 1):
        follow(identity, {B: 220})
    assert follow(identity, {A: 210, B: 220}) == {A: 1, B: 2}
    for _ in range(MEMORY + 1):
        follow(identity, {B: 220})
    assert follow(identity, {C: 215, B: 220}) == {C: 1, B: 2}


def test_what_stands_where_something_stood_long_ago_is_new() -> None:
    identity = Identity()
    follow(identity, {A: 210, B: 220})
    for _ in range(3):
        follow(identity, {B: 220})
    assert follow(identity, {A: 90, B: 220}) == {A: 3, B: 2}


def noise() -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (300, 400, 3), np.uint8)


boxes = st.builds(Box, st.integers(0, 330), st.integers(0, 230), st.integers(1, 70), st.integers(1, 70))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(boxes, max_size=12), min_size=1, max_size=5))
def test_numbers_are_unique_and_the_same_screen_gives_the_same(looks: list[list[Box]]) -> None:
    identity, pixels = Identity(), noise()
    for found in looks:
        marks = numbered((box, None) for box in found)
        numbers = identity.follow(marks, pixels)
        assert len(set(numbers)) == len(numbers)
        if len({mark.box for mark in marks}) == len(marks):
            assert identity.follow(marks, pixels) == numbers


def test_rows_of_a_list_keep_their_numbers_when_it_is_scrolled() -> None:
    """Rows are wide and low: the next row is not near, whatever their width says."""
    identity = Identity()
    rows = [Box(20, 20 + 32 * i, 200, 30) for i in range(5)]
    follow(identity, dict(zip(rows, (100, 120, 140, 160, 180), strict=True)))
    scrolled = follow(identity, dict(zip(rows, (120, 140, 160, 180, 200), strict=True)))
    assert [scrolled[row] for row in rows] == [2, 3, 4, 5, 6]
