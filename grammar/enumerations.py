"""Finite types: Literal, Enum, bool and None."""

from __future__ import annotations

from enum import Enum, Flag
from typing import Any, Literal, TypeVar, get_args, get_origin

from grammar.bounds import INT_LIMIT
from grammar.errors import InadmissibleType
from grammar.nodes import OneOf, Scalar
from perception.observation import MAX_TEXT, is_utf8

REMEDY = (
    "Declare a Literal, an Enum, bool, a bounded int, float, str or bytes, a list, tuple, dict[str, ...] or Optional "
    "of these, a dataclass, a pydantic model, MarkRef or CellRef."
)


def one_of(position: str, declared: Any) -> OneOf:
    """The values of a finite type.

    Raises:
        InadmissibleType: the type is not finite, or a value has no spelling of its own.
    """
    members = _members(position, declared)
    values = tuple(member.value if isinstance(member, Enum) else member for member in members)
    alike = {(type(value), value) for value in values}
    confused = len(set(members)) < len(members) and any(isinstance(member, Enum) for member in members)
    if not values or confused or len(alike) < len(values) or not all(_is_scalar(value) for value in values):
        remedy = f"Use strings of at most {MAX_TEXT} characters and whole numbers of 64 bits, at least one, each once."
        raise InadmissibleType("values", position, f"Found the values {_short(values)}.", remedy)
    return OneOf(values, members)


def _members(position: str, declared: Any) -> tuple[Any, ...]:
    if declared is bool:
        return (False, True)
    if declared in (None, type(None)):
        return (None,)
    if get_origin(declared) is Literal:
        members = get_args(declared)
        for kind in {type(member) for member in members if isinstance(member, Enum)}:
            _refuse_open(position, kind)
        return members
    if isinstance(declared, type) and issubclass(declared, Enum):
        _refuse_open(position, declared)
        return tuple(declared)
    raise InadmissibleType("unknown type", position, f"Found {_described(declared)}.", REMEDY)


def _refuse_open(position: str, declared: type[Enum]) -> None:
    """An enumeration that takes or makes values beyond those that it lists."""
    made = any("_missing_" in vars(base) for base in declared.__mro__ if base not in (Enum, *Enum.__mro__))
    made |= hasattr(declared, "__get_pydantic_core_schema__") or declared.__hash__ is None
    if issubclass(declared, Flag) or made:
        raise InadmissibleType(
            "open enumeration", position, "Found an enumeration of open values.", "Declare a plain Enum."
        )


def _described(declared: Any) -> str:
    if isinstance(declared, TypeVar):
        return f"the type variable {declared}, which nothing fills in"
    if isinstance(declared, str):
        return f"the name {declared!r}, which nothing resolves"
    if declared in (list, tuple, dict):
        return f"a {declared.__name__} of unknown items"
    return f"the type {declared!r}"


def _is_scalar(value: Scalar | object) -> bool:
    """True for what JSON and pydantic's strict mode read back as it was."""
    if isinstance(value, str):
        return type(value) is str and len(value) <= MAX_TEXT and is_utf8(value)
    if value is None or isinstance(value, bool):
        return True
    return type(value) is int and abs(value) < INT_LIMIT


def _short(values: tuple[Any, ...]) -> str:
    text = repr(values)
    return text if len(text) <= 200 else text[:200] + "..."
