"""How an action is written: the one spelling that the grammar admits and the validator demands.

``{"tool":"reveal","target":"safe","mark":12}``: compact, the tool first, fields in declared order; a mark's label
stands in front of its number, so that a model first says what it means and the number follows from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum

from pydantic import BaseModel

from grammar.shape import MarkNode, ToolShape
from perception.observation import Mark

_NEEDS_ESCAPE = re.compile("[\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def spell(shape: ToolShape, action: BaseModel, marks: Mapping[int, Mark]) -> str:
    """An action in its one spelling.

    Raises:
        KeyError: it names a mark that is not among these.
    """
    members = [f'"tool":"{shape.name}"']
    for field in shape.fields:
        value = getattr(action, field.name)
        if isinstance(field.node, MarkNode):
            members.append(spell_target(field.label_key, field.name, marks[value]))
        else:
            members.append(f'"{field.name}":{spell_scalar(value)}')
    return "{" + ",".join(members) + "}"


def spell_target(label_key: str, name: str, mark: Mark) -> str:
    """A mark: its label, where it has one, and its number."""
    label = "" if mark.label is None else f'"{label_key}":{spell_scalar(mark.label)},'
    return f'{label}"{name}":{mark.number}'


def spell_scalar(value: object) -> str:
    """A JSON scalar in its one spelling; strings as they are, but for what could not be seen or sent."""
    plain = value.value if isinstance(value, Enum) else value
    text = json.dumps(plain, ensure_ascii=False)
    return _NEEDS_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def by_number(marks: Iterable[Mark]) -> dict[int, Mark]:
    """Marks by their number.

    Raises:
        ValueError: two marks share a number.
    """
    table: dict[int, Mark] = {}
    for mark in marks:
        if mark.number in table:
            raise ValueError(f"expected each mark's number once, found {mark.number} twice")
        table[mark.number] = mark
    return table
