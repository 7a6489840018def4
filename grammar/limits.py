"""What a declaration says beside a type: bounds, patterns, tags, descriptions; each understood, or refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import annotated_types
from pydantic.fields import FieldInfo
from pydantic.types import Strict
from pydantic_core import PydanticUndefined

from grammar.errors import InadmissibleType
from perception.observation import CellTarget, MarkTarget, is_utf8


@dataclass(frozen=True, slots=True)
class Said:
    """One limit, by its name."""

    name: str
    value: Any


@dataclass(slots=True)
class Limits:
    """What was said beside one type. Each limit may be said once.

    Attributes:
        said: ``ge``, ``gt``, ``le``, ``lt``, ``min_length``, ``max_length``, ``pattern``, ``discriminator``.
        target: the field names a ``mark`` or a ``cell``.
        doc: the description.
    """

    said: dict[str, Any] = field(default_factory=dict)
    target: str | None = None
    doc: str = ""

    def require_only(self, position: str, *allowed: str) -> None:
        """Return when nothing else was said.

        Raises:
            InadmissibleType: names what else there is.
        """
        extra = [f"{name}={value!r}" for name, value in self.said.items() if name not in allowed]
        if extra:
            raise InadmissibleType(
                "unknown limit", position, f"Found {', '.join(extra)} beside the type.", "Declare the type alone."
            )


def read_limits(position: str, notes: Iterable[Any]) -> Limits:
    """The limits among the annotations of a type.

    Raises:
        InadmissibleType: an annotation is unknown, so that it could change or refuse what the grammar admits.
    """
    limits = Limits()
    for note in _flat(position, notes):
        _add(position, limits, note)
    return limits


def _flat(position: str, notes: Iterable[Any]) -> Iterator[Any]:
    for note in notes:
        if isinstance(note, FieldInfo):
            yield from _of_field(position, note)
        elif isinstance(note, annotated_types.GroupedMetadata):
            yield from _flat(position, note)
        else:
            yield note


def _of_field(position: str, info: FieldInfo) -> Iterator[Any]:
    """What a ``Field(...)`` inside an ``Annotated`` says."""
    refuse_absence(position, info)
    if info.discriminator is not None:
        yield Said("discriminator", info.discriminator)
    if info.description:
        yield Said("description", info.description)
    yield from _flat(position, info.metadata)


def refuse_absence(position: str, info: FieldInfo) -> None:
    """Return when a field is always there, under its own name.

    Raises:
        InadmissibleType: it may be left out, is renamed, or is not read.
    """
    if info.default not in (PydanticUndefined, ...) or info.default_factory is not None:
        raise InadmissibleType("may be absent", position, "The field may be left out.", "Declare it without a default.")
    if not info.alias == info.validation_alias == info.serialization_alias is None:
        raise InadmissibleType(
            "alias", position, "The field has an alias.", "Call it on the wire what it is called here."
        )
    if info.init is False or info.init_var or info.exclude:
        raise InadmissibleType(
            "partial field", position, "The field is not read as the others are.", "Declare a plain field."
        )


def _add(position: str, limits: Limits, note: Any) -> None:
    if isinstance(note, MarkTarget | CellTarget):
        limits.target = "mark" if isinstance(note, MarkTarget) else "cell"
        return
    if note is None or isinstance(note, Strict | annotated_types.DocInfo | str):
        return  # the validator is always strict; the rest says nothing about values
    for name, value in _pairs(position, note):
        if name == "description":
            if not is_utf8(str(value)):
                reason = "Found a description with half of a surrogate pair."
                raise InadmissibleType("unknown limit", position, reason, "Describe it in text that can be written.")
            limits.doc = str(value)
        elif name in limits.said:
            raise InadmissibleType("unknown limit", position, f"Found the limit {name} twice.", "Say it once.")
        else:
            limits.said[name] = value


_KNOWN = {
    annotated_types.Ge: "ge",
    annotated_types.Gt: "gt",
    annotated_types.Le: "le",
    annotated_types.Lt: "lt",
    annotated_types.MinLen: "min_length",
    annotated_types.MaxLen: "max_length",
}
_HARMLESS = {"strict", "allow_inf_nan"}  # the validator is strict, and JSON has no infinity


def _pairs(position: str, note: Any) -> Iterator[tuple[str, Any]]:
    known = _KNOWN.get(type(note))
    if known is not None:
        yield known, getattr(note, known)
        return
    if isinstance(note, Said):
        yield note.name, note.value
        return
    content = getattr(note, "__dict__", None)
    if type(note).__name__ != "_PydanticGeneralMetadata" or content is None:
        refuse = f"Found {note!r} beside the type."
        raise InadmissibleType(
            "unknown limit", position, refuse, "Use ge, gt, le, lt, min_length, max_length or pattern, or nothing."
        )
    for name, value in content.items():
        if name == "pattern":
            yield name, value.pattern if isinstance(value, re.Pattern) and not value.flags & ~re.UNICODE else value
        elif value is not None and value is not False and name not in _HARMLESS:
            raise InadmissibleType(
                "unknown limit", position, f"Found {name}={value!r} beside the type.", "Declare the type alone."
            )
