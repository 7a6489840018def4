"""Sets of whole numbers as runs, and runs as intervals of digits: short text, one terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

Run = tuple[int, int]
"""Consecutive numbers: first and last."""

Piece = tuple[str, str]
"""Two numerals of one length whose digits, place by place, bound the numerals between: ``("120", "499")`` is
``[1-4][2-9][0-9]``. Only pieces that cover a whole run are made."""


def runs(numbers: Iterable[int]) -> tuple[Run, ...]:
    """Numbers, each once, as ascending runs.

    Raises:
        ValueError: no numbers: an empty alternation would be the empty string.
    """
    ordered = sorted(numbers)
    if not ordered:
        raise ValueError("expected at least one number, found none")
    if ordered[-1] - ordered[0] == len(ordered) - 1:
        return ((ordered[0], ordered[-1]),)
    gaps = [(a, b) for a, b in pairwise(ordered) if b != a + 1]
    starts, ends = [b for _, b in gaps], [a for a, _ in gaps]
    return tuple(zip([ordered[0], *starts], [*ends, ordered[-1]], strict=True))


def pieces(low: int, high: int) -> Iterator[tuple[str, Piece]]:
    """Sign and pieces that together cover the whole numbers from ``low`` to ``high``, both ends included."""
    if low < 0:
        for _, piece in pieces(max(1, -high), -low):
            yield "-", piece
    low = max(low, 0)
    while low <= high:
        top = _same_shape(low, high)
        yield "", (str(low), str(top))
        low = top + 1


def _same_shape(low: int, high: int) -> int:
    """The largest number up to ``high`` such that ``low`` to it is one piece: fixed digits, a class, free digits."""
    free = 1
    while low and low % (free * 10) == 0 and low + free * 10 - 1 <= high:
        free *= 10
    digit = low // free % 10
    steps = min(9 - digit, (high - low - free + 1) // free)
    return low + (steps + 1) * free - 1


def regex_of(parts: Iterable[Run]) -> str:
    """A regex for exactly the numbers of some runs: ``7|1[0-9]``."""
    return _regex_of(tuple(parts))


@lru_cache(maxsize=64)
def _regex_of(parts: tuple[Run, ...]) -> str:
    """A tick spells the same marks for each member that names one."""
    return "|".join([str(low) if low == high else _run_regex(low, high) for low, high in parts])


def _run_regex(low: int, high: int) -> str:
    return "|".join(sign + digits(piece) for sign, piece in pieces(low, high))


def digits(piece: Piece) -> str:
    """The pattern of a piece."""
    return "".join([a if a == b else f"[{a}-{b}]" for a, b in zip(*piece, strict=True)])
