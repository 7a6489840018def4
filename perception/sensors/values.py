"""What sensors look at, what they can say, and the logic of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from perception.observation import Frame, GridCell

Value = bool | int | float | str
"""What a sensor can say; a float is finite."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What sensors look at: one tick.

    Attributes:
        frame: the capture.
        cells: the board; empty where there is none.
        title: of the window. None: nobody asked for it.
    """

    frame: Frame
    cells: tuple[GridCell, ...] = ()
    title: str | None = None


def is_value(value: object) -> bool:
    """True for what a sensor can say when it is defined."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression.

    Raises:
        ValueError: it is none.
    """
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as problem:
        raise ValueError(f"expected a regular expression, found {pattern!r}: {problem}") from problem


def negated(value: object) -> bool:
    """True for false.

    Raises:
        TypeError: it is neither; so do those below.
    """
    return not _truth(value)


def both(left: object, right: object) -> bool:
    """True when both are."""
    return _truth(left) & _truth(right)


def either(left: object, right: object) -> bool:
    """True when one is, or both."""
    return _truth(left) | _truth(right)


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"expected true or false, found {value!r}")
