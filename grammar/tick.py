"""This tick's grammar: rebuilt from what is on screen, so that what is not there cannot be named."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from pydantic import BaseModel

from grammar.engine import Verifier
from grammar.errors import InadmissibleType
from grammar.lark import ROOT, print_lark
from grammar.reply import Artifact, Dialect
from grammar.shape import Field, IntRange, MarkNode, OneOf, ToolShape, tool_shapes
from grammar.spelling import by_number, spell
from perception.observation import Mark

MAX_CHOICES = 256  # a language up to this size is also written out, for models that score it whole


@dataclass(frozen=True, slots=True, kw_only=True)
class TickArtifacts:
    """What a model is held to at one tick.

    Attributes:
        shapes: the tools that can be used now.
        marks: the marks that can be named now, by number.
        artifacts: the language in each dialect; ``lark`` always, ``choices`` where the language is small.
    """

    shapes: tuple[ToolShape, ...]
    marks: Mapping[int, Mark]
    artifacts: Mapping[Dialect, Artifact]

    def spell(self, action: BaseModel) -> str:
        """An action of this tick in its one spelling.

        Raises:
            ValueError: its class is not among the usable tools, or it names a mark that is not here.
        """
        for shape in self.shapes:
            if shape.type is type(action):
                try:
                    return spell(shape, action, self.marks)
                except KeyError as problem:
                    raise ValueError(f"{action!r} names mark {problem}, this tick shows {list(self.marks)}") from None
        usable = [shape.type.__name__ for shape in self.shapes]
        raise ValueError(f"expected an action of {usable}, found {action!r}")


class TickGrammar:
    """Builds each tick's artifacts for one set of tools.

    The tools are walked once. Equal marks give equal bytes, so an unchanged screen costs one look-up.

    Raises:
        InadmissibleType: a tool cannot be held to, or there is none that is always legal.
    """

    def __init__(self, tools: Sequence[type[BaseModel]], verifier: Verifier) -> None:
        self._shapes = tool_shapes(tools)
        if all(shape.needs_mark for shape in self._shapes):
            raise InadmissibleType(
                "tools",
                "Every tool needs a mark, and a screen may show none.",
                "Declare one that needs none: Wait.",
            )
        self._verifier = verifier
        self._last: tuple[tuple[tuple[int, str | None], ...], TickArtifacts] | None = None

    def for_tick(self, marks: Sequence[Mark], suppressed: Collection[int] = ()) -> TickArtifacts:
        """The artifacts for the marks on screen, less the suppressed ones, compiled and with their first mask.

        Raises:
            ValueError: two marks share a number.
            GrammarBuildError: our own grammar does not compile.
        """
        named = by_number(mark for mark in marks if mark.number not in suppressed)
        key = tuple((mark.number, mark.label) for mark in named.values())
        if self._last is None or self._last[0] != key:
            self._last = (key, self._build(named))
        return self._last[1]

    def _build(self, marks: Mapping[int, Mark]) -> TickArtifacts:
        usable = tuple(shape for shape in self._shapes if marks or not shape.needs_mark)
        lark = Artifact(dialect="lark", root=ROOT, text=print_lark(self._shapes, tuple(marks.values())))
        self._verifier.prepare(lark)
        artifacts: dict[Dialect, Artifact] = {"lark": lark}
        if language_size(usable, len(marks)) <= MAX_CHOICES:
            text = json.dumps([spell(s, a, marks) for s, a in actions(usable, marks)], ensure_ascii=True)
            artifacts["choices"] = Artifact(dialect="choices", root="", text=text)
        return TickArtifacts(shapes=usable, marks=marks, artifacts=artifacts)


def language_size(shapes: Sequence[ToolShape], marks: int) -> int:
    """How many actions there are."""
    return sum(_product(_domain_size(field, marks) for field in shape.fields) for shape in shapes)


def actions(shapes: Sequence[ToolShape], marks: Mapping[int, Mark]) -> Iterator[tuple[ToolShape, BaseModel]]:
    """Every legal action: tools in declared order, marks in the order of the observation."""
    for shape in shapes:
        names = [field.name for field in shape.fields]
        for values in itertools.product(*(_domain(field, marks) for field in shape.fields)):
            yield shape, shape.type.model_validate(dict(zip(names, values, strict=True)))


def _domain_size(field: Field, marks: int) -> int:
    match field.node:
        case OneOf(values):
            return len(values)
        case IntRange(low, high):
            return high - low + 1
        case MarkNode():
            return marks
    assert_never(field.node)


def _domain(field: Field, marks: Mapping[int, Mark]) -> Sequence[Any]:
    match field.node:
        case OneOf(values):
            return values
        case IntRange(low, high):
            return range(low, high + 1)
        case MarkNode():
            return tuple(marks)
    assert_never(field.node)


def _product(sizes: Iterator[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
