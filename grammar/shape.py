"""One walk over a declared tool: from a pydantic class to a small tree that the printers and the validator share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, Flag
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from grammar.errors import InadmissibleType
from perception.observation import MAX_TEXT, MarkTarget, is_utf8

INT_LIMIT = 2**63  # what pydantic's strict mode reads from JSON without loss


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of finitely many JSON scalars, in declared order."""

    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class IntRange:
    """A whole number, both ends included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class MarkNode:
    """The number of a mark of this tick."""


Node = OneOf | IntRange | MarkNode


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a tool's object."""

    name: str
    node: Node

    @property
    def label_key(self) -> str:
        """The member that spells a mark's label, in front of its number."""
        return "target" if self.name == "mark" else f"{self.name}_target"


@dataclass(frozen=True, slots=True)
class ToolShape:
    """A tool: its name on the wire, its fields in declared order, the class that holds it."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    type: type[BaseModel]

    @property
    def needs_mark(self) -> bool:
        """True when an action of this tool cannot be said without a mark."""
        return any(isinstance(field.node, MarkNode) for field in self.fields)


def tool_shapes(tools: Sequence[type[BaseModel]]) -> tuple[ToolShape, ...]:
    """The shapes of a bot's tools.

    Raises:
        InadmissibleType: a tool cannot be held to, or two have one name.
    """
    if not tools:
        raise InadmissibleType("tools", "A bot without tools has nothing to say.", "Declare at least Wait.")
    shapes = tuple(tool_shape(tool) for tool in tools)
    names = [shape.name for shape in shapes]
    for name in names:
        if names.count(name) > 1:
            raise InadmissibleType("tools", f"Two tools are called {name!r}.", "Give each class its own name.")
    return shapes


def tool_shape(tool: type[BaseModel]) -> ToolShape:
    """The shape of one tool.

    Raises:
        InadmissibleType: names the field, what was found, and what to declare instead.
    """
    _refuse_own_rules(tool)
    _refuse_odd_names(tool)
    fields = tuple(Field(name, _node(f"{tool.__name__}.{name}", info)) for name, info in tool.model_fields.items())
    _refuse_clashes(tool, fields)
    return ToolShape(name=wire_name(tool), doc=(tool.__doc__ or "").strip(), fields=fields, type=tool)


def _refuse_own_rules(tool: type[BaseModel]) -> None:
    """A validator of the tool's own could refuse, or change, what the grammar admits."""
    found = tool.__pydantic_decorators__
    rules = [*found.validators, *found.field_validators, *found.root_validators, *found.model_validators]
    if tool.model_post_init is not BaseModel.model_post_init:
        rules.append("model_post_init")
    if rules:
        raise InadmissibleType(
            tool.__name__,
            f"Found rules of its own ({', '.join(rules)}), to which a grammar cannot hold a model.",
            "Say it in the fields' types, or check it in perform().",
        )


def _refuse_odd_names(tool: type[BaseModel]) -> None:
    for name in (tool.__name__, *tool.model_fields):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise InadmissibleType(tool.__name__, f"Found the name {name!r}.", "Use ASCII letters, digits and _.")


def wire_name(tool: type[BaseModel]) -> str:
    """A tool's name in a reply: its class's name in snake case."""
    return snake_case(tool.__name__)


def snake_case(name: str) -> str:
    """A class's name as a word of the wire: ``RightClick`` is ``right_click``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _refuse_clashes(tool: type[BaseModel], fields: Sequence[Field]) -> None:
    """A member may not be spelt twice."""
    labels = [field.label_key for field in fields if isinstance(field.node, MarkNode)]
    for name in [field.name for field in fields]:
        if name == "tool" or name in labels:
            raise InadmissibleType(f"{tool.__name__}.{name}", "The name is taken on the wire.", "Choose another.")


def _node(position: str, info: FieldInfo) -> Node:
    """The node of one field."""
    if not info.is_required():
        raise InadmissibleType(position, "The field may be left out.", "Declare it without a default.")
    if info.alias is not None or info.validation_alias is not None:
        raise InadmissibleType(position, "The field has an alias.", "Call it on the wire what it is called here.")
    annotation = info.annotation
    is_mark = annotation is int and any(isinstance(note, MarkTarget) for note in info.metadata)
    if annotation is int and not is_mark:
        return _int_range(position, info.metadata)
    extra = [note for note in info.metadata if not (is_mark and isinstance(note, MarkTarget))]
    if extra:
        raise InadmissibleType(position, f"Found {extra!r} beside the type.", "Declare the type alone.")
    if is_mark:
        return MarkNode()
    if annotation is bool:
        return OneOf((False, True))
    return OneOf(_finite_values(position, annotation))


def _finite_values(position: str, annotation: Any) -> tuple[str | int, ...]:
    """The values of a Literal or an enumeration."""
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        if issubclass(annotation, Flag) or "_missing_" in vars(annotation):
            raise InadmissibleType(position, "Found an enumeration of open values.", "Declare a plain Enum.")
        values = tuple(member.value for member in annotation)
    else:
        raise InadmissibleType(
            position,
            f"Found the type {annotation!r}.",
            "Declare MarkRef, bool, a bounded int (Annotated[int, Field(ge=0, le=9)]), a Literal or an Enum.",
        )
    if not values or not all(_is_scalar(value) for value in values):
        remedy = f"Use strings of at most {MAX_TEXT} characters and whole numbers of 64 bits, at least one."
        raise InadmissibleType(position, f"Found the values {values!r}.", remedy)
    return values


def _is_scalar(value: object) -> bool:
    """True for what JSON and pydantic's strict mode read back as it was."""
    if isinstance(value, str):
        return len(value) <= MAX_TEXT and is_utf8(value)
    return isinstance(value, int) and abs(value) < INT_LIMIT


def _int_range(position: str, metadata: Sequence[Any]) -> IntRange:
    """The bounds of a whole number; refuses any other limit, which a grammar would not hold."""
    low: int | None = None
    high: int | None = None
    for note in metadata:
        match note:
            case annotated_types.Ge(ge=int(value)) if low is None and type(value) is int:
                low = value
            case annotated_types.Gt(gt=int(value)) if low is None and type(value) is int:
                low = value + 1
            case annotated_types.Le(le=int(value)) if high is None and type(value) is int:
                high = value
            case annotated_types.Lt(lt=int(value)) if high is None and type(value) is int:
                high = value - 1
            case _:
                raise InadmissibleType(position, f"Found the limit {note!r}.", "Use ge or gt once, le or lt once.")
    if low is None or high is None or low > high or max(-low, high) >= INT_LIMIT:
        found = f"Found a whole number between {low} and {high}."
        raise InadmissibleType(position, found, "Give it two bounds: Annotated[int, Field(ge=0, le=9)].")
    return IntRange(low, high)
