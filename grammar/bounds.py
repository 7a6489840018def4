"""Bounds of scalars and sizes: from what is said beside a type to the node that a grammar can hold to."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from grammar.errors import InadmissibleType
from grammar.expression import MILLION
from grammar.limits import Limits
from grammar.nodes import Base64, FloatRange, IntRange, Text
from grammar.patterns import NotRegular, lengths, on_the_wire, portable, read_pattern, within

INT_LIMIT = 2**63  # what pydantic's strict mode reads from JSON without loss
FLOAT_LIMIT = 10**9  # with six decimals, fifteen digits: what a float holds without loss
MAX_CHARACTERS = 1000  # llama.cpp takes a longer repetition for one without end
MAX_ITEMS = 1000


def int_range(position: str, limits: Limits) -> IntRange:
    """A whole number with two bounds.

    Raises:
        InadmissibleType: the bounds are missing, contradict each other, or are wider than can be held.
    """
    limits.require_only(position, "ge", "gt", "le", "lt")
    low, high = _bounds(position, limits, int)
    if low is None or high is None or low > high or max(-low, high) >= INT_LIMIT:
        found = f"Found a whole number between {low} and {high}."
        raise InadmissibleType("unbounded", position, found, "Give it two bounds: Annotated[int, Field(ge=0, le=9)].")
    return IntRange(int(low), int(high))


def float_range(position: str, limits: Limits) -> FloatRange:
    """A number of six decimals with two bounds.

    Raises:
        InadmissibleType: the bounds are missing, contradict each other, or are wider than can be held.
    """
    limits.require_only(position, "ge", "gt", "le", "lt")
    low, high = _bounds(position, limits, Decimal)
    if low is None or high is None or low > high or max(-low, high) > FLOAT_LIMIT * MILLION:
        sides = [None if side is None else side / MILLION for side in (low, high)]
        found = f"Found a number of six decimals between {sides[0]} and {sides[1]}."
        raise InadmissibleType("unbounded", position, found, "Give it two bounds: Annotated[float, Field(ge=0, le=1)].")
    return FloatRange(int(low), int(high))


def _bounds(position: str, limits: Limits, unit: type[Any]) -> tuple[Any, Any]:
    """The lowest and the highest value, in units of the last digit."""
    said = {name: limits.said[name] for name in ("ge", "gt", "le", "lt") if name in limits.said}
    for name, value in said.items():
        fits = type(value) is int or (unit is Decimal and type(value) is float and abs(value) <= FLOAT_LIMIT)
        if not fits:
            raise InadmissibleType(
                "unknown limit", position, f"Found the limit {name}={value!r}.", "Give a plain number."
            )
    if {"ge", "gt"} <= said.keys() or {"le", "lt"} <= said.keys():
        raise InadmissibleType(
            "unknown limit", position, f"Found the limits {said}.", "Use ge or gt once, le or lt once."
        )
    scaled = {name: Decimal(repr(value)) * MILLION if unit is Decimal else value for name, value in said.items()}
    low = _from(scaled.get("ge"), scaled.get("gt"), ROUND_CEILING, 1)
    high = _from(scaled.get("le"), scaled.get("lt"), ROUND_FLOOR, -1)
    return low, high


def _from(inclusive: Any, exclusive: Any, rounding: str, step: int) -> Any:
    """The nearest whole unit on the allowed side of a bound."""
    if inclusive is not None:
        return inclusive if isinstance(inclusive, int) else int(inclusive.to_integral_value(rounding))
    if exclusive is None or isinstance(exclusive, int):
        return None if exclusive is None else exclusive + step
    whole = int(exclusive.to_integral_value(rounding))
    return whole + step if whole == exclusive else whole


def size_limits(position: str, limits: Limits, most: int, unit: str) -> tuple[int, int]:
    """Fewest and most parts of a thing.

    Raises:
        InadmissibleType: the bounds are missing, contradict each other, or are wider than can be held.
    """
    limits.require_only(position, "min_length", "max_length")
    low, high = limits.said.get("min_length", 0), limits.said.get("max_length")
    if type(low) is not int or type(high) is not int or not 0 <= low <= high <= most:
        remedy = f"Give it bounds up to {most}: Field(max_length=9)."
        raise InadmissibleType(
            "unbounded", position, f"Found {low} to {'any number of' if high is None else high} {unit}.", remedy
        )
    return low, high


def text(position: str, limits: Limits) -> Text:
    """A string of bounded length, or of a regular pattern that bounds it.

    Raises:
        InadmissibleType: the bounds are missing, contradict each other, or are wider than can be held.
    """
    pattern = limits.said.get("pattern")
    if pattern is None:
        return Text(*size_limits(position, limits, MAX_CHARACTERS, "characters"))
    low, high = limits.said.get("min_length", 0), limits.said.get("max_length")
    limits.require_only(position, "min_length", "max_length", "pattern")
    if not isinstance(pattern, str) or type(low) is not int or low < 0 or not isinstance(high, int | None):
        raise InadmissibleType(
            "pattern", position, f"Found pattern={pattern!r}.", "Give the pattern as a string, without flags."
        )
    try:
        held = within(read_pattern(pattern), low, high)
        least, most = lengths(held)
        if most is None or most > MAX_CHARACTERS:
            raise NotRegular(f"it matches more than {MAX_CHARACTERS} characters")
        return Text(least, most, portable(pattern), on_the_wire(held))
    except NotRegular as problem:
        raise InadmissibleType(
            "pattern", position, f"The pattern {pattern!r} is not taken: {problem}.", "Correct it."
        ) from problem


def base64_bytes(position: str, limits: Limits) -> Base64:
    """Bytes of bounded length.

    Raises:
        InadmissibleType: the bounds are missing, contradict each other, or are wider than can be held.
    """
    return Base64(*size_limits(position, limits, MAX_CHARACTERS, "bytes"))
