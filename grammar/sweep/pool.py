"""The types of the sweep: scalars in wrappers, to depth three, and Python's own traps."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NewType, Optional

import pydantic
from pydantic import Field, RootModel
from typing_extensions import TypeAliasType

from grammar.sweep import traps
from grammar.sweep.traps import Case
from perception.observation import CellRef, MarkRef

SCALARS: tuple[Case, ...] = (
    Case("bool", bool),
    Case("digit", traps.Digit),
    Case("int -12..345", Annotated[int, Field(ge=-12, le=345)]),
    Case("int of 64 bits", Annotated[int, Field(gt=-(2**63), lt=2**63)]),
    Case("int 7..7", Annotated[int, Field(ge=7, le=7)]),
    Case("float 0..1", Annotated[float, Field(ge=0, le=1)]),
    Case("float -1.5..300.25", Annotated[float, Field(gt=-1.5, lt=300.25)]),
    Case("float of 15 digits", Annotated[float, Field(ge=-1e9, le=1e9)]),
    Case("float, a few millionths", Annotated[float, Field(ge=0.1 + 0.2, le=0.300009)]),
    Case("str ..5", traps.Word),
    Case("str 1..200", Annotated[str, Field(min_length=1, max_length=200)]),
    Case("str 2..2", Annotated[str, Field(min_length=2, max_length=2)]),
    Case("str hex", Annotated[str, Field(pattern="^#[0-9a-f]{6}$")]),
    Case("str words", Annotated[str, Field(pattern="^(?:up|down|left)(?: [a-z]{1,3}){0,2}$")]),
    Case("str held", Annotated[str, Field(pattern=r"^\$\d+\.\d{2}$", max_length=9)]),
    Case("str to escape", Annotated[str, Field(pattern='^["\\\\\\n/\u2028\x7f]{1,3}$')]),
    Case("str of all but", Annotated[str, Field(pattern='^[^a-z"]{0,4}$')]),
    Case("str dots", Annotated[str, Field(pattern="^.{1,3}$")]),
    Case("literal", Literal["a", "ab", "b"]),
    Case("literal, hostile", Literal['"', "\\", "::= // #", "\n\x00\x7f", "\u202e\u05d0", "\U0001f600", "", "null"]),
    Case("literal, mixed", Literal["1", 1, True, -3]),
    Case("literal, null", Literal["a", None]),
    Case("enum", traps.Color),
    Case("enum of ints", traps.Level),
    Case("enum of strs", traps.Day),
    Case("enum, null", traps.Hidden),
    Case("bytes ..4", Annotated[bytes, Field(max_length=4)]),
    Case("bytes 2..7", Annotated[bytes, Field(min_length=2, max_length=7)]),
    Case("mark", MarkRef),
    Case("cell", CellRef),
    Case("none", None),
)
"""Types without parts that are taken."""

Wrapper = Callable[[Any], Any]
_numbers = itertools.count()


def _model(item: Any) -> Any:
    return pydantic.create_model(f"Model{next(_numbers)}", item=(item, ...), last=(bool, ...))


def _dataclass(item: Any) -> Any:
    return dataclasses.make_dataclass(f"Data{next(_numbers)}", [("item", item), ("last", bool)])


def _pydantic_dataclass(item: Any) -> Any:
    fields = [("first", traps.Digit), ("item", item)]
    return pydantic.dataclasses.dataclass(dataclasses.make_dataclass(f"Checked{next(_numbers)}", fields))


def _variants(item: Any) -> Any:
    number = next(_numbers)
    left_tag: Any = Literal["left"]
    right_tag: Any = Literal["lef"]
    left = pydantic.create_model(f"Left{number}", kind=(left_tag, ...), item=(item, ...))
    right = pydantic.create_model(f"Right{number}", kind=(right_tag, ...), other=(traps.Word, ...))
    return Annotated[left | right, Field(discriminator="kind")]


WRAPPERS: dict[str, Wrapper] = {
    "optional": lambda item: Optional[item],  # noqa: UP045
    "list": lambda item: Annotated[list[item], Field(max_length=3)],  # type: ignore[valid-type]
    "list of some": lambda item: Annotated[tuple[item, ...], Field(min_length=1, max_length=2)],  # type: ignore[valid-type]
    "tuple": lambda item: tuple[item, bool],  # type: ignore[valid-type]
    "map": lambda item: Annotated[dict[traps.Word, item], Field(max_length=2)],  # type: ignore[valid-type]
    "model": _model,
    "dataclass": _dataclass,
    "pydantic dataclass": _pydantic_dataclass,
    "variants": _variants,
    "root model": lambda item: RootModel[item],  # type: ignore[valid-type]
    "new type": lambda item: NewType(f"New{next(_numbers)}", item),  # pyright: ignore[reportArgumentType]
    "alias": lambda item: TypeAliasType(f"Alias{next(_numbers)}", item),  # pyright: ignore[reportGeneralTypeIssues]
}


@dataclass(frozen=True, slots=True)
class Pool:
    """The types, by name.

    Attributes:
        cases: each once.
    """

    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        """sha256 of what the pool is composed of: a type that is lost or changed changes it."""
        return hashlib.sha256("\n".join(case.name for case in self.cases).encode()).hexdigest()


def build_pool() -> Pool:
    """All types of the sweep, made anew: the same ones each time."""
    return Pool((*_nested(), *traps.TRAPS))


def _nested() -> Iterator[Case]:
    leaves = (*SCALARS, *traps.REFUSED_SCALARS, *traps.RECURSIVE)
    yield from leaves
    for name in WRAPPERS:
        yield from (_wrapped(leaf, name) for leaf in leaves)
    few = [SCALARS[i] for i in (0, 3, 6, 9, 14, 19, 21, 25, 26, 28)] + [traps.REFUSED_SCALARS[0]]
    for names in itertools.product(WRAPPERS, repeat=2):
        yield from (_wrapped(leaf, *names) for leaf in few)
    turns = itertools.cycle(leaves)
    for i, names in enumerate(itertools.product(WRAPPERS, repeat=3)):
        leaf = next(turns)
        if i % 4 == 0:
            yield _wrapped(leaf, *names)


def _wrapped(leaf: Case, *names: str) -> Case:
    declared = leaf.declared
    for name in names:
        try:
            declared = WRAPPERS[name](declared)
        except Exception as problem:
            # Python or pydantic itself has no such type: the name stays in the pool, and so does the reason.
            return Case(f"{_path(names)} {leaf.name}", traps.Impossible(repr(problem)))
    return Case(f"{_path(names)} {leaf.name}", declared)


def _path(names: tuple[str, ...]) -> str:
    return " of ".join(reversed(names)) + " of"
