"""Regular languages of wire text as small trees, and how JSON spells characters and numbers as such trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grammar.numbers import Run

Range = tuple[int, int]
"""Code points, both ends included."""

LAST = 0x10FFFF
SHORT_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
ESCAPED: tuple[Range, ...] = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x9F), (0x2028, 0x2029))
"""What the one spelling of a string never shows raw: quotes, backslashes, and what cannot be seen."""
SURROGATES: Range = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of these ranges, which ascend and do not touch."""

    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers in decimal, as ascending runs; no leading zeros, no plus sign."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these; at least one."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """An item between ``low`` and ``high`` times."""

    item: Expression
    low: int
    high: int


Expression = Literal | Chars | Numbers | Chain | Choice | Repeat

DIGIT = Chars(((0x30, 0x39),))
NOT_ZERO = Chars(((0x31, 0x39),))
DECIMALS = 6
MILLION = 10**DECIMALS


def alternatives(items: Iterable[Expression]) -> Expression:
    """One of these.

    Raises:
        ValueError: there are none: an empty choice would be the empty text.
    """
    found = tuple(items)
    if not found:
        raise ValueError("expected at least one alternative, found none")
    return found[0] if len(found) == 1 else Choice(found)


def sequence(*items: Expression) -> Expression:
    """One after the other."""
    said = tuple(item for item in items if item != Literal("")) or (Literal(""),)
    return said[0] if len(said) == 1 else Chain(said)


def repeat(item: Expression, low: int, high: int) -> Expression:
    """An item between ``low`` and ``high`` times."""
    if high == 0:
        return Literal("")
    return item if (low, high) == (1, 1) else Repeat(item, low, high)


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Ranges in ascending order, those that touch joined."""
    joined: list[Range] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def without(ranges: Iterable[Range], *out: Range) -> tuple[Range, ...]:
    """Ranges less other ranges."""
    cuts = merged(out)
    gaps = [(a[1] + 1, b[0] - 1) for a, b in pairwise([(0, -1), *cuts, (LAST + 1, LAST + 1)])]
    return common(ranges, gaps)


def common(left: Iterable[Range], right: Sequence[Range]) -> tuple[Range, ...]:
    """What two sets of ranges share."""
    pairs = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    return merged((low, high) for low, high in pairs if low <= high)


def json_character(ranges: Iterable[Range]) -> Expression:
    """One character of a JSON string, in its one spelling.

    Raises:
        ValueError: no character is left that could be written.
    """
    writable = without(ranges, SURROGATES)
    plain = without(writable, *ESCAPED)
    hidden = [point for low, high in common(writable, ESCAPED) for point in range(low, high + 1)]
    short = [Literal(SHORT_ESCAPES[point]) for point in hidden if point in SHORT_ESCAPES]
    long = list(_long_escapes([point for point in hidden if point not in SHORT_ESCAPES]))
    one = len(plain) == 1 and plain[0][0] == plain[0][1]
    shown: list[Expression] = [Literal(chr(plain[0][0])) if one else Chars(plain)] if plain else []
    return alternatives([*shown, *short, *long])


def _long_escapes(points: Sequence[int]) -> Iterator[Expression]:
    """Escapes by number, ``u001f`` and the like, grouped by their first three digits."""
    groups: dict[str, list[Range]] = {}
    for point in points:
        code = f"{point:04x}"
        groups.setdefault(code[:3], []).append((ord(code[3]), ord(code[3])))
    for start, digits in groups.items():
        yield Chain((Literal(f"\\u{start}"), Chars(merged(digits))))


ANY_CHARACTER = json_character([(0, LAST)])


def decimals(low: int, high: int) -> Expression:
    """Numbers with one to six decimals, bounds in millionths: ``-1.5``, ``3.0``; no zeros at the end, no ``-0.0``."""
    parts = []
    if low < 0:
        parts.append(sequence(Literal("-"), _positive(max(1, -high), -low)))
    if high >= 0:
        parts.append(_positive(max(low, 0), high))
    return alternatives(parts)


def _positive(low: int, high: int) -> Expression:
    (first, first_part), (last, last_part) = divmod(low, MILLION), divmod(high, MILLION)
    if first == last:
        return sequence(Literal(f"{first}."), _fraction(first_part, last_part))
    parts = [sequence(Literal(f"{first}."), _fraction(first_part, MILLION - 1))]
    if last > first + 1:
        parts.append(sequence(Numbers(((first + 1, last - 1),)), Literal("."), _fraction(0, MILLION - 1)))
    parts.append(sequence(Literal(f"{last}."), _fraction(0, last_part)))
    return alternatives(parts)


def _fraction(low: int, high: int) -> Expression:
    parts: list[Expression] = [Literal("0")] if low == 0 else []
    if high > 0:
        parts.append(_trimmed(max(low, 1), high, DECIMALS))
    return alternatives(parts)


def _trimmed(low: int, high: int, width: int) -> Expression:
    """Up to ``width`` digits that end in no zero and, filled up with zeros, lie between two numbers above 0."""
    unit = 10 ** (width - 1)
    if (low, high) == (1, unit * 10 - 1):
        return sequence(repeat(DIGIT, 0, width - 1), NOT_ZERO) if width > 1 else NOT_ZERO
    if width == 1:
        return Chars(((0x30 + low, 0x30 + high),))
    parts: list[Expression] = []
    for digit in range(low // unit, high // unit + 1):
        floor, ceiling = max(low - digit * unit, 0), min(high - digit * unit, unit - 1)
        head = Literal(str(digit))
        rest = _trimmed(max(floor, 1), ceiling, width - 1) if ceiling > 0 else None
        ends = floor == 0 and digit > 0
        if rest is None:
            parts += [head] if ends else []
        else:
            parts.append(sequence(head, Repeat(rest, 0, 1) if ends else rest))
    return alternatives(parts)


def base64(low: int, high: int) -> Expression:
    """Standard base64 of ``low`` to ``high`` bytes, padded, the unused bits zero."""
    letter = Chars(((0x2B, 0x2B), (0x2F, 0x39), (0x41, 0x5A), (0x61, 0x7A)))
    one_byte = sequence(letter, _of("AQgw"), Literal("=="))
    two_bytes = sequence(letter, letter, _of("AEIMQUYcgkosw048"), Literal("="))
    parts: list[Expression] = []
    for rest, ending in ((0, Literal("")), (1, one_byte), (2, two_bytes)):
        least, most = max(-(-(low - rest) // 3), 0), (high - rest) // 3
        if most >= least:
            parts.append(sequence(repeat(sequence(letter, letter, letter, letter), least, most), ending))
    return alternatives(parts)


def _of(letters: str) -> Chars:
    return Chars(merged((ord(letter), ord(letter)) for letter in letters))
