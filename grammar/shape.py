"""One walk over a declared type, into the small tree of ``nodes``; admission: what cannot be held to is refused.

A type is taken when every value of it has exactly one spelling that a grammar can be held to, and every sentence of
the grammar is a value. Each refusal says where, what was found, and what to declare instead.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Annotated, Any, NewType, get_args, get_origin

from pydantic import BaseModel, RootModel
from typing_extensions import TypeAliasType

from grammar.bounds import MAX_ITEMS, base64_bytes, float_range, int_range, size_limits, text
from grammar.classes import adapter, is_word, record_fields, refuse_own_rules
from grammar.enumerations import one_of
from grammar.errors import InadmissibleType
from grammar.limits import Limits, Said, read_limits
from grammar.nodes import (
    CellNode,
    Field,
    ListOf,
    MapOf,
    MarkNode,
    Maybe,
    Node,
    OneOf,
    Record,
    Root,
    Text,
    TupleOf,
    Variants,
    admits_null,
)
from perception.observation import CellTarget, MarkTarget

MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_VARIANTS = 1000

_ALIASES = tuple({TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType)})
_UNIONS = (typing.Union, types.UnionType)


def shape(declared: Any, *, label_first: bool = True) -> Node:
    """The tree of a declared type.

    Args:
        declared: a type, as one would annotate it.
        label_first: spell a field's mark with its label in front of its number.

    Raises:
        InadmissibleType: names the position, what was found, and what to declare instead.
    """
    return _Walk(label_first).total(_name(declared), declared)


def _name(declared: Any) -> str:
    """What to call a type in messages."""
    try:
        name = getattr(declared, "__name__", None) if get_origin(declared) is None else None
    except Exception:
        name = None
    return name if isinstance(name, str) else "type"


def tool_shapes(tools: Sequence[type[BaseModel]], *, label_first: bool = True) -> Variants:
    """A bot's tools as one tagged union: the tool's name stands first.

    Raises:
        InadmissibleType: a tool cannot be held to, or two have one name.
    """
    if not tools:
        raise InadmissibleType("tools", "tools", "A bot without tools has nothing to say.", "Declare at least Wait.")
    walk = _Walk(label_first)
    records = tuple(_tool(walk, tool) for tool in tools)
    names = [record.name for record in records]
    for name in names:
        if names.count(name) > 1:
            raise InadmissibleType("tools", "tools", f"Two tools are called {name!r}.", "Give each class its own name.")
    return Variants("tool", records)


def _tool(walk: _Walk, tool: type[BaseModel]) -> Record:
    if not (isinstance(tool, type) and issubclass(tool, BaseModel)):
        raise InadmissibleType("tools", "tools", f"Found {tool!r}.", "Declare subclasses of Tool.")
    if not is_word(tool.__name__):
        reason = f"Found the name {tool.__name__!r}."
        raise InadmissibleType("name", "tools", reason, "Use ASCII letters, digits and _.")
    record = walk.total(tool.__name__, tool)
    if not isinstance(record, Record):
        raise InadmissibleType("tools", tool.__name__, "Found a RootModel.", "Declare a class with fields.")
    if any(each.name == "tool" for each in record.fields):
        raise InadmissibleType("name", f"{tool.__name__}.tool", "The name is taken on the wire.", "Choose another.")
    name = wire_name(tool)
    return Record(name, (Field("tool", OneOf.of(name), None), *record.fields), tool, record.doc)


def wire_name(tool: type[BaseModel]) -> str:
    """A tool's name in a reply: its class's name in snake case."""
    return snake_case(tool.__name__)


def snake_case(name: str) -> str:
    """A class's name as a word of the wire: ``RightClick`` is ``right_click``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class _Walk:
    """The walk's state: the classes above the one at hand, and those that are done."""

    def __init__(self, label_first: bool) -> None:
        self._label_first = label_first
        self._above: list[Any] = []
        self._done: dict[Any, Node] = {}
        self._nodes = 0

    def total(self, position: str, declared: Any) -> Node:
        """The tree, or the one kind of error that a declaration can give."""
        try:
            node = self.node(position, declared, ())
            adapter(declared)  # what pydantic cannot build is refused here, not when a reply is read
            return node
        except InadmissibleType:
            raise
        except Exception as problem:
            reason = f"It cannot be read ({type(problem).__name__}: {problem})."
            raise InadmissibleType("unreadable", position, reason, "Declare a type that pydantic takes.") from problem

    def node(self, position: str, declared: Any, notes: Iterable[Any]) -> Node:
        """The tree of one type with what was said beside it."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise InadmissibleType("too deep", position, f"It has more than {MAX_NODES:,} parts.", "Declare less.")
        if get_origin(declared) is Annotated:
            inner, *more = get_args(declared)
            return self.node(position, inner, [*more, *notes])
        if isinstance(declared, NewType):
            return self.node(position, declared.__supertype__, notes)
        if isinstance(declared, _ALIASES):
            with self._inside(position, declared):
                node = self.node(position, declared.__value__, notes)
            if isinstance(node, Maybe) and read_limits(position, notes).said:
                reason = "Found limits beside an alias of an optional, which pydantic does not pass on to its item."
                raise InadmissibleType("unknown limit", position, reason, "Put them inside the alias.")
            return node
        return self._plain(position, declared, read_limits(position, notes))

    def _plain(self, position: str, declared: Any, limits: Limits) -> Node:
        if declared in (int, float, str, bytes):
            return self._scalar(position, declared, limits)
        origin = get_origin(declared)
        if origin in _UNIONS:
            return self._union(position, declared, limits)
        if origin in (list, tuple, dict):
            with self._inside(position, declared):
                return self._container(position, origin, get_args(declared), limits)
        limits.require_only(position)
        if isinstance(declared, type) and not issubclass(declared, Enum) and _has_fields(declared):
            return self._class(position, declared)
        return one_of(position, declared)

    def _scalar(self, position: str, declared: Any, limits: Limits) -> Node:
        if limits.target is not None:
            limits.require_only(position)
            if (limits.target, declared) not in (("mark", int), ("cell", str)):
                raise InadmissibleType(
                    "unknown limit", position, "The target is of another type.", "Declare MarkRef or CellRef."
                )
            return MarkNode() if limits.target == "mark" else CellNode()
        if declared is int:
            return int_range(position, limits)
        if declared is float:
            return float_range(position, limits)
        return text(position, limits) if declared is str else base64_bytes(position, limits)

    def _union(self, position: str, declared: Any, limits: Limits) -> Node:
        arms = [arm for arm in get_args(declared) if arm not in (None, type(None))]
        optional = len(arms) < len(get_args(declared))
        if len(arms) == 1:
            with self._inside(position, declared):
                item = self.node(position, arms[0], _as_notes(limits))
        else:
            item = self._variants(position, arms, limits)
        if not optional:
            return item
        if admits_null(item):
            raise InadmissibleType(
                "ambiguous null",
                position,
                "Null could be the optional's or its item's own.",
                "Let one of the two admit null, not both.",
            )
        return Maybe(item)

    def _variants(self, position: str, arms: Sequence[Any], limits: Limits) -> Node:
        """A tagged union."""
        limits.require_only(position, "discriminator")
        tag = limits.said.get("discriminator")
        if not isinstance(tag, str):
            found = "a union without a tag" if tag is None else f"the discriminator {tag!r}"
            remedy = "Use Annotated[A | B, Field(discriminator='kind')], with kind: Literal['a'] in A, 'b' in B."
            raise InadmissibleType(
                "untagged union", position, f"Found {found}: nothing says which of the types a value is.", remedy
            )
        if len(arms) > MAX_VARIANTS:
            reason = f"Found {len(arms)} variants: llguidance dies of 2,000 and more."
            raise InadmissibleType("too deep", position, reason, f"Declare at most {MAX_VARIANTS}.")
        records = [self.node(f"{position}.{getattr(arm, '__name__', arm)}", arm, ()) for arm in arms]
        tags = [_tag(position, tag, record) for record in records]
        if len(set(tags)) < len(tags):
            raise InadmissibleType("tag", position, f"Two variants have one tag: {tags}.", "Give each its own.")
        return Variants(tag, tuple(record for record in records if isinstance(record, Record)))

    def _container(self, position: str, origin: Any, args: Sequence[Any], limits: Limits) -> Node:
        if origin is tuple and not (len(args) == 2 and args[1] is ...):
            limits.require_only(position)
            return TupleOf(tuple(self.node(f"{position}[{i}]", arg, ()) for i, arg in enumerate(args)))
        low, high = size_limits(position, limits, MAX_ITEMS, "items")
        if origin is dict:
            key = self.node(f"{position} (key)", args[0], ())
            if not (isinstance(key, Text) or (isinstance(key, OneOf) and all(isinstance(v, str) for v in key.values))):
                raise InadmissibleType(
                    "map keys", position, "Found a map whose keys are no strings.", "Declare dict[str, ...]."
                )
            most = MAX_ITEMS if isinstance(key, Text) else len(key.values)
            if low > 1 or low > most:
                reason = f"Found a map of at least {low} entries: nothing holds a model to keys that differ."
                raise InadmissibleType("map keys", position, reason, "Let it be of any length from 0 or 1.")
            return MapOf(key, self.node(f"{position}[...]", args[1], ()), low, high)
        return ListOf(self.node(f"{position}[...]", args[0], ()), low, high, origin)

    def _class(self, position: str, declared: type[Any]) -> Node:
        if declared in self._done:
            return self._done[declared]
        refuse_own_rules(position, declared)
        with self._inside(position, declared):
            if issubclass(declared, RootModel):
                info = declared.model_fields["root"]
                item = self.node(position, info.annotation, [info])
                self._done[declared] = Root(item, declared)
            else:
                doc = "" if declared.__doc__ is None or _is_signature(declared) else declared.__doc__.strip()
                self._done[declared] = Record(declared.__name__, self._fields(declared), declared, doc)
        return self._done[declared]

    def _fields(self, declared: type[Any]) -> tuple[Field, ...]:
        """The members, a mark's label among them."""
        fields = [self._field(declared, *each) for each in record_fields(declared)]
        taken = [each.name for each in fields]
        labels = [each.node.label_key for each in fields if isinstance(each.node, MarkNode)]
        for name in taken:
            if name in labels:
                where = f"{declared.__name__}.{name}"
                raise InadmissibleType("name", where, "The name is taken on the wire.", "Choose another.")
        return tuple(fields)

    def _field(self, declared: type[Any], name: str, annotation: Any, notes: Sequence[Any]) -> Field:
        node = self.node(f"{declared.__name__}.{name}", annotation, notes)
        if isinstance(node, MarkNode) and self._label_first:
            node = MarkNode("target" if name == "mark" else f"{name}_target")
        return Field(name, node, name, read_limits(name, notes).doc)

    @contextmanager
    def _inside(self, position: str, declared: Any) -> Iterator[None]:
        """What is below a type; refuses to come to it again, or too deep."""
        if isinstance(declared, (type, *_ALIASES)) and any(declared is other for other in self._above):
            where = getattr(declared, "__name__", declared)
            raise InadmissibleType(
                "recursion", position, f"{where} contains itself.", "Declare each level as a type of its own."
            )
        if len(self._above) > MAX_DEPTH:
            raise InadmissibleType(
                "too deep", position, f"It is nested deeper than {MAX_DEPTH} types.", "Declare it flatter."
            )
        self._above.append(declared)
        try:
            yield
        finally:
            self._above.pop()


def _has_fields(declared: type[Any]) -> bool:
    return issubclass(declared, BaseModel) or dataclasses.is_dataclass(declared)


def _is_signature(declared: type[Any]) -> bool:
    """True for the docstring that a dataclass without one is given."""
    return dataclasses.is_dataclass(declared) and (declared.__doc__ or "").startswith(f"{declared.__name__}(")


def _as_notes(limits: Limits) -> list[Any]:
    """What is said beside an optional is said of its item."""
    target = {"mark": MarkTarget(), "cell": CellTarget()}.get(limits.target or "")
    return [Said(name, value) for name, value in limits.said.items()] + ([target] if target else [])


def _tag(position: str, tag: str, record: Node) -> str:
    """The tag of one variant."""
    remedy = f"Declare {tag} as its first field, a Literal of one string."
    if not isinstance(record, Record):
        raise InadmissibleType("tag", position, "A variant is no class with fields.", remedy)
    if not record.fields or record.fields[0].name != tag:
        raise InadmissibleType("tag", f"{position}.{record.name}", "The tag does not stand first.", remedy)
    match record.fields[0].node:
        case OneOf((str(value),)):
            return value
    raise InadmissibleType("tag", f"{position}.{record.name}.{tag}", "The tag is not one string.", remedy)
