"""Sets of whole numbers as regular expressions, by intervals of digits: short text, one terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def regex_of(numbers: Iterable[int]) -> str:
    """A regex for exactly these numbers in decimal, without leading zeros or a plus sign.

    Raises:
        ValueError: no numbers: an empty alternation would be the empty string.
    """
    runs = list(_runs(sorted(set(numbers))))
    if not runs:
        raise ValueError("expected at least one number, found none")
    return "|".join(piece for low, high in runs for piece in interval(low, high))


def interval(low: int, high: int) -> Iterator[str]:
    """Regexes that together match the whole numbers from ``low`` to ``high``, both ends included."""
    if low < 0:
        for piece in interval(max(1, -high), -low):
            yield "-" + piece
    low = max(low, 0)
    while low <= high:
        top = _same_shape(low, high)
        yield _digits(low, top)
        low = top + 1


def _runs(ordered: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers, as first and last."""
    run: tuple[int, int] | None = None
    for number in ordered:
        if run and number == run[1] + 1:
            run = (run[0], number)
            continue
        if run:
            yield run
        run = (number, number)
    if run:
        yield run


def _same_shape(low: int, high: int) -> int:
    """The largest number up to ``high`` such that ``low`` to it is one pattern: fixed digits, a class, free digits."""
    free = 1
    while low and low % (free * 10) == 0 and low + free * 10 - 1 <= high:
        free *= 10
    digit = low // free % 10
    steps = min(9 - digit, (high - low - free + 1) // free)
    return low + (steps + 1) * free - 1


def _digits(low: int, high: int) -> str:
    """The pattern of two numbers of one shape."""
    pieces = []
    for a, b in zip(str(low), str(high), strict=True):
        pieces.append(a if a == b else f"[{a}-{b}]")
    return "".join(pieces)
