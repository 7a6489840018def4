"""The third consumer of a declaration: from text to an action, against this tick's marks.

The parse refuses what pydantic would let pass: duplicate keys, other spellings, labels that belong to another mark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from grammar.shape import MarkNode, ToolShape
from grammar.spelling import spell
from perception.observation import Mark

MAX_REPLY_CHARS = 4096


class Invalid(Exception):
    """A text that is no action of this tick.

    Args:
        position: where in the reply.
        expected: what could stand there.
        found: what stands there.
    """

    def __init__(self, position: str, expected: str, found: str) -> None:
        super().__init__(f"{position}: expected {expected}, found {found}")
        self.position = position
        self.expected = expected
        self.found = found


def validate(text: str, shapes: Sequence[ToolShape], marks: Mapping[int, Mark]) -> BaseModel:
    """The action that a text spells.

    Args:
        text: a model's reply.
        shapes: the bot's tools.
        marks: what may be named now.

    Raises:
        Invalid: names the position, what was expected and what was found.
    """
    members = _members(text)
    shape = _tool(members, shapes)
    action = _action(shape, members, marks)
    canonical = spell(shape, action, marks)
    if canonical != text:
        raise Invalid("reply", canonical, _short(text))
    return action


def _members(text: str) -> dict[str, Any]:
    """The reply's object, each key once."""
    if len(text) > MAX_REPLY_CHARS:
        raise Invalid("reply", f"at most {MAX_REPLY_CHARS} characters", str(len(text)))
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise Invalid("reply", "one JSON object", f"{_short(text)} ({problem})") from problem
    if not isinstance(value, dict):
        raise Invalid("reply", "one JSON object", _short(text))
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key {key!r} stands there twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _tool(members: Mapping[str, Any], shapes: Sequence[ToolShape]) -> ToolShape:
    name = members.get("tool")
    for shape in shapes:
        if shape.name == name and isinstance(name, str):
            return shape
    raise Invalid("tool", "one of " + ", ".join(shape.name for shape in shapes), repr(name))


def _action(shape: ToolShape, members: Mapping[str, Any], marks: Mapping[int, Mark]) -> BaseModel:
    """The typed action; each mark that it names is on screen."""
    labels = {field.label_key for field in shape.fields if isinstance(field.node, MarkNode)}
    values = {key: value for key, value in members.items() if key != "tool" and key not in labels}
    try:
        action = shape.type.model_validate_json(json.dumps(values), strict=True, extra="forbid")
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "reply"
        raise Invalid(place, first["msg"], repr(first["input"])) from problem
    for field in shape.fields:
        if isinstance(field.node, MarkNode):
            _require_on_screen(field.name, getattr(action, field.name), marks)
    return action


def _require_on_screen(position: str, number: int, marks: Mapping[int, Mark]) -> None:
    if number not in marks:
        shown = ", ".join(map(str, marks)) or "none"
        raise Invalid(position, f"a mark that is on screen now ({shown})", str(number))


def _short(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "...")
