"""Sets of numbers as runs, and runs as regexes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar.expression import MILLION, decimals
from grammar.lark import regex
from grammar.numbers import regex_of, runs
from grammar.spelling import dump


@given(st.sets(st.integers(-300, 12_000), min_size=1, max_size=60))
def test_exactly_the_set(numbers: set[int]) -> None:
    pattern = re.compile(regex_of(runs(numbers)))
    near = {n + d for n in numbers for d in (-100, -10, -1, 0, 1, 10, 100)}
    assert {n for n in near if pattern.fullmatch(str(n))} == numbers


@given(st.integers(-3000, 3000), st.integers(0, 3000))
def test_exactly_the_interval(low: int, length: int) -> None:
    pattern = re.compile(regex_of([(low, low + length)]))
    inside = [low, low + length, low + length // 2]
    assert all(pattern.fullmatch(str(n)) for n in inside)
    assert not any(pattern.fullmatch(str(n)) for n in (low - 1, low + length + 1))


@pytest.mark.parametrize("text", ["01", "+1", "-0", "1.0", "1e0", "", " 1"])
def test_other_spellings_are_out(text: str) -> None:
    assert not re.fullmatch(regex_of([(-5, 5)]), text)


def test_dense_sets_stay_short() -> None:
    assert regex_of(runs(range(1, 5001))) == "[1-9]|[1-9][0-9]|[1-9][0-9][0-9]|[1-4][0-9][0-9][0-9]|5000"


def test_no_numbers_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one number"):
        runs([])


def python_regex(low: int, high: int) -> re.Pattern[str]:
    text = regex(decimals(low, high))
    return re.compile(re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: re.escape(chr(int(code[1], 16))), text))


millionths = st.integers(-(10**15), 10**15) | st.integers(-3 * MILLION, 3 * MILLION) | st.integers(-12, 12)


@given(millionths, millionths, st.lists(millionths, max_size=8))
def test_exactly_the_decimals_between(low: int, high: int, others: list[int]) -> None:
    low, high = sorted((low, high))
    pattern = python_regex(low, high)
    for number in {low, high, low - 1, high + 1, (low + high) // 2, 0, *others}:
        assert bool(pattern.fullmatch(dump(number / MILLION))) == (low <= number <= high)


@pytest.mark.parametrize("text", ["-0.0", "1", "1.", ".5", "1.50", "01.5", "1.0000001", "1e0", "+1.5", "1.5 "])
def test_other_spellings_of_decimals_are_out(text: str) -> None:
    assert not python_regex(-2 * MILLION, 2 * MILLION).fullmatch(text)
