"""Regular patterns of strings: from what ``Field(pattern=...)`` declares to the wire text between the quotes.

greenery reads the pattern; by construction it knows regular languages alone (no look-around, no back-references).
What it and pydantic's engine read differently is refused.
"""

from __future__ import annotations

import re

from greenery import Bound, Charclass, Multiplier, Pattern, parse
from greenery.rxelems import Conc, Mult

from grammar.expression import LAST, Expression, alternatives, json_character, repeat, sequence, without
from perception.observation import is_utf8

MAX_PATTERN = 500  # characters; greenery's reader is slow on long ones
_TOKEN = re.compile(r"(?P<cls>\[\^?(?:\\.|[^\]\\])+\])|(?P<esc>\\.)|(?P<char>.)", re.DOTALL)
_SHARED_ESCAPES = set("dwstnrfv\\.|?*+()[]{}")  # those that greenery and pydantic's engine read alike
_NEEDLESS_ESCAPES = set("^$/\"'- #%&,:;=@_`~!")  # those that greenery does not know, for what stands for itself
_SHORTHANDS = {r"\d": "0-9", r"\w": "0-9A-Za-z_", r"\s": r"\t-\r "}  # to some engines all of Unicode's
_OTHERWISE = re.compile(
    r"\(\?(?!:)"  # flags, look-around, names
    r"|[*+?}][?+*{]"  # lazy and possessive quantifiers
)


class NotRegular(ValueError):
    """A pattern that is not taken, and why."""


def read_pattern(pattern: str) -> Pattern:
    """The pattern between ``^`` and ``$``.

    Raises:
        NotRegular: it is not anchored, or not a regular pattern that both engines read alike.
    """
    if not re.fullmatch(r"\^(?:.*[^\\])?(?:\\\\)*\$", pattern, re.DOTALL):
        raise NotRegular("it is not anchored, so that it would match anywhere: write ^...$")
    body = pattern[1:-1]
    if not is_utf8(pattern):
        raise NotRegular("it holds half of a surrogate pair")
    if re.search(r"\((?:\?:)?\)", body):
        raise NotRegular("it has an empty group")
    if len(body) > MAX_PATTERN:
        raise NotRegular(f"it is longer than {MAX_PATTERN} characters")
    try:
        found = parse(_for_greenery(body))
    except NotRegular:
        raise
    except Exception as problem:
        raise NotRegular(f"it is no regular pattern ({type(problem).__name__})") from problem
    if not isinstance(found, Pattern):
        raise NotRegular("it is no regular pattern")
    if _forks(body):
        raise NotRegular("its alternatives are not in a group, so that ^ and $ belong to one each: write ^(?:a|b)$")
    return found


def portable(pattern: str) -> str:
    """A pattern that was taken, such that every engine of regular expressions reads it alike."""
    return "^" + _TOKEN.sub(_portable_token, pattern[1:-1]) + "$"


def _portable_token(token: re.Match[str]) -> str:
    if token["cls"]:
        return re.sub(r"\\.", lambda found: _SHORTHANDS.get(found[0], found[0]), token["cls"])
    if token["esc"] in _SHORTHANDS:
        return f"[{_SHORTHANDS[token['esc']]}]"
    return "[^\\n]" if token["char"] == "." else token[0]


def _forks(body: str) -> bool:
    """True where an alternative stands outside all groups."""
    depth = 0
    for token in _TOKEN.finditer(body):
        depth += {"(": 1, ")": -1}.get(token["char"] or "", 0)
        if token["char"] == "|" and depth == 0:
            return True
    return False


def _for_greenery(body: str) -> str:
    """The pattern with escapes that greenery knows; refuses what it and pydantic's engine read differently."""
    if found := _OTHERWISE.search(body):
        raise NotRegular(f"{found[0]!r} is not supported")
    return "".join(_token(token) for token in _TOKEN.finditer(body))


def _token(token: re.Match[str]) -> str:
    if token["cls"]:
        return _class(token["cls"])
    if token["esc"]:
        return _escape(token["esc"])
    if token["char"] in "^$":
        raise NotRegular(f"{token['char']!r} is not supported inside it")
    return token["char"]


def _escape(text: str) -> str:
    if text[1] in _SHARED_ESCAPES:
        return text
    if text[1] in _NEEDLESS_ESCAPES:
        return text[1]
    raise NotRegular(f"{text!r} is not supported")


def _class(text: str) -> str:
    """A class, its escapes such that greenery knows them."""
    negated = text.startswith("[^")
    if text == "[^]":
        raise NotRegular("the class '[^]' is not read alike by all engines")
    inside = text[2:-1] if negated else text[1:-1]
    if "[" in inside or re.search("&&|--|~~", inside) or (negated and re.search(r"\\[dws]", inside)):
        raise NotRegular(f"the class {text!r} is not read alike by all engines")
    known = re.sub(r"\\(.)", lambda found: found[0] if found[1] in "dwstnrfv\\]^-" else _escape(found[0])[-1], inside)
    return f"[{'^' if negated else ''}{known}]"


def lengths(pattern: Pattern) -> tuple[int, int | None]:
    """Fewest and most characters; None: no limit."""
    sizes = [_conc_lengths(conc) for conc in pattern.concs]
    if not sizes:
        raise NotRegular("nothing matches it")
    tops = [top for _, top in sizes if top is not None]
    return min(low for low, _ in sizes), max(tops) if len(tops) == len(sizes) else None


def _conc_lengths(conc: Conc) -> tuple[int, int | None]:
    low, high = 0, 0
    open_ended = False
    for mult in conc.mults:
        least, most = _mult_lengths(mult)
        low += least
        high += most or 0
        open_ended |= most is None
    return low, None if open_ended else high


def _mult_lengths(mult: Mult) -> tuple[int, int | None]:
    inner = (1, 1) if isinstance(mult.multiplicand, Charclass) else lengths(mult.multiplicand)
    fewest, most = _bounds(mult)
    if inner[1] == 0 or most == 0:
        return inner[0] * fewest, 0
    return inner[0] * fewest, None if most is None or inner[1] is None else inner[1] * most


def _bounds(mult: Mult) -> tuple[int, int | None]:
    fewest, most = mult.multiplier.min.v, mult.multiplier.max.v
    return fewest or 0, most


def within(pattern: Pattern, low: int, high: int | None) -> Pattern:
    """The pattern, held to a length where one repetition alone decides it.

    Raises:
        NotRegular: the length cannot be said in the pattern.
    """
    least, most = lengths(pattern)
    if least >= low and most is not None and (high is None or most <= high):
        return pattern
    mults = pattern_mults(pattern)
    open_ends = [i for i, mult in enumerate(mults) if _mult_lengths(mult)[0] != _mult_lengths(mult)[1]]
    if high is None or len(open_ends) != 1 or not isinstance(mults[open_ends[0]].multiplicand, Charclass):
        found = f"{least} to {'any number of' if most is None else most} characters"
        raise NotRegular(f"it matches {found}: bound its repetitions, such as {{1,9}}")
    at = open_ends[0]
    fixed = sum(_mult_lengths(mult)[0] for i, mult in enumerate(mults) if i != at)
    fewest, top = _bounds(mults[at])
    fewest = max(fewest, low - fixed)
    top = high - fixed if top is None else min(top, high - fixed)
    if top < fewest:
        raise NotRegular(f"nothing of {low} to {high} characters matches it")
    held = Mult(mults[at].multiplicand, Multiplier(Bound(fewest), Bound(top)))
    changed = [*mults[:at], held, *mults[at + 1 :]]
    return Pattern(Conc(*changed))


def pattern_mults(pattern: Pattern) -> list[Mult]:
    """The parts of a pattern that is one sequence, those in a group round it all included; none for any other."""
    if len(pattern.concs) != 1:
        return []
    (conc,) = pattern.concs
    mults = list(conc.mults)
    if len(mults) == 1 and isinstance(mults[0].multiplicand, Pattern) and _bounds(mults[0]) == (1, 1):
        return pattern_mults(mults[0].multiplicand)
    return mults


def on_the_wire(pattern: Pattern) -> Expression:
    """A bounded pattern as JSON spells the strings that match it.

    Raises:
        NotRegular: nothing that can be written matches.
    """
    return alternatives([_conc(conc) for conc in sorted(pattern.concs, key=repr)])


def _conc(conc: Conc) -> Expression:
    return sequence(*(_mult(mult) for mult in conc.mults))


def _mult(mult: Mult) -> Expression:
    inner = mult.multiplicand
    item = _characters(inner) if isinstance(inner, Charclass) else on_the_wire(inner)
    fewest, most = _bounds(mult)
    if most is None:
        raise NotRegular("it repeats without a bound")
    return repeat(item, fewest, most)


def _characters(inner: Charclass) -> Expression:
    try:
        return json_character(_ranges(inner))
    except ValueError as problem:
        raise NotRegular("a class in it holds nothing that can be written") from problem


def _ranges(inner: Charclass) -> tuple[tuple[int, int], ...]:
    """Code points of a class; ``.`` leaves the line feed out, as pydantic's engine does."""
    if not inner.negated:
        return tuple(inner.ord_ranges)
    return without([(0, LAST)], *(inner.ord_ranges or [(0x0A, 0x0A)]))
