"""Sets of numbers as regexes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar.numbers import interval, regex_of


@given(st.sets(st.integers(-300, 12_000), min_size=1, max_size=60))
def test_exactly_the_set(numbers: set[int]) -> None:
    pattern = re.compile(regex_of(numbers))
    near = {n + d for n in numbers for d in (-100, -10, -1, 0, 1, 10, 100)}
    assert {n for n in near if pattern.fullmatch(str(n))} == numbers


@given(st.integers(-3000, 3000), st.integers(0, 3000))
def test_exactly_the_interval(low: int, length: int) -> None:
    pattern = re.compile("|".join(interval(low, low + length)))
    inside = [low, low + length, low + length // 2]
    assert all(pattern.fullmatch(str(n)) for n in inside)
    assert not any(pattern.fullmatch(str(n)) for n in (low - 1, low + length + 1))


@pytest.mark.parametrize("text", ["01", "+1", "-0", "1.0", "1e0", "", " 1"])
def test_other_spellings_are_out(text: str) -> None:
    assert not re.fullmatch(regex_of(range(-5, 6)), text)


def test_dense_sets_stay_short() -> None:
    assert regex_of(range(1, 5001)) == "[1-9]|[1-9][0-9]|[1-9][0-9][0-9]|[1-4][0-9][0-9][0-9]|5000"


def test_no_numbers_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one number"):
        regex_of([])
