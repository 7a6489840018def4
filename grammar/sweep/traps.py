"""Types that look harmless and are not, and types that no grammar can hold a model to."""

# ruff: noqa: UP007, UP045 - Optional and Union are ways in which a type may be declared

from __future__ import annotations

import dataclasses
import datetime
import decimal
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import pydantic
from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints
from typing_extensions import TypeAliasType

from perception.observation import MarkRef

Digit = Annotated[int, Field(ge=0, le=9)]
Word = Annotated[str, Field(max_length=5)]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """A declared type, and what the sweep calls it."""

    name: str
    declared: Any


class Impossible:
    """Stands for a type that cannot even be written down. ``reason``: what Python or pydantic said."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Color(Enum):
    """Strings and a number."""

    RED = "red"
    TWO = 2


class Level(IntEnum):
    """Numbers that begin alike."""

    ONE = 1
    TWELVE = 12


class Day(StrEnum):
    """Strings."""

    MON = "mon"
    MONDAY = "monday"


class Hidden(Enum):
    """Hides a null."""

    NOTHING = None
    ONE = 1


class Flags(Flag):
    """Values beyond its members."""

    A = 1
    B = 2


class Missing(Enum):
    """Takes anything for a member."""

    A = "a"

    @classmethod
    def _missing_(cls, value: object) -> Missing:
        return cls.A


class Pairs(Enum):
    """Values that are no JSON scalars."""

    A = (1, 2)


class Aliased(Enum):
    """Two names of one value."""

    A = 1
    B = 1


class Typed(TypedDict):
    """A dictionary with known keys."""

    x: int


class Named(NamedTuple):
    """A tuple with names."""

    x: int


class Anything(BaseModel, Generic[T]):
    """A model of anything."""

    item: T


class Chain(BaseModel):
    """Contains itself."""

    next: Optional[Chain]


class Tree(BaseModel):
    """Contains itself in a list."""

    below: Annotated[list[Tree], Field(max_length=2)]


class Ping(BaseModel):
    """Contains itself by way of another."""

    pong: Optional[Pong]


class Pong(BaseModel):
    """The other."""

    ping: Optional[Ping]


@dataclasses.dataclass
class Linked:
    """A dataclass that contains itself."""

    next: Optional[Linked]


class Nested(RootModel[Annotated[list["Nested"], Field(max_length=2)]]):
    """A root model that contains itself."""


def _model(**fields: Any) -> Any:
    return pydantic.create_model("Trap", **fields)


def _dataclass(*fields: Any, **options: Any) -> Any:
    return dataclasses.make_dataclass("TrapData", fields, **options)


def _own(**members: Any) -> Any:
    """A model with a rule of its own."""
    return type("Own", (BaseModel,), {"__annotations__": {"x": Digit}, "__module__": __name__, **members})


def _clamp(cls: Any, value: int) -> int:
    return min(value, 5)


def _own_init(self: Any, **data: Any) -> None:
    BaseModel.__init__(self, **data)


def _after(self: Any) -> Any:
    return self


REFUSED_SCALARS: tuple[Case, ...] = (
    Case("any", Any),
    Case("int without bounds", int),
    Case("float without bounds", float),
    Case("str without bounds", str),
    Case("bytes without bounds", bytes),
    Case("object", object),
    Case("complex", complex),
    Case("set", set[int]),
    Case("type variable", T),
    Case("decimal", decimal.Decimal),
    Case("datetime", datetime.datetime),
    Case("uuid", uuid.UUID),
    Case("callable", Callable[[], int]),
    Case("bare list", list),
    Case("untagged", Union[Digit, Word]),
    Case("flag", Flags),
    Case("literal of bytes", Literal[b"x"]),
    Case("half a bound", Annotated[int, Field(ge=0)]),
)
"""Types without parts that are refused."""

RECURSIVE: tuple[Case, ...] = (
    Case("chain", Chain),
    Case("tree", Tree),
    Case("ping", Ping),
    Case("linked", Linked),
    Case("nested", Nested),
)

_Maybe = Optional[Digit]
_Kind = Literal["k"]

TRAPS: tuple[Case, ...] = (
    Case("trap: optional of optional through NewType", Optional[NewType("Through", Optional[Digit])]),  # pyright: ignore[reportGeneralTypeIssues]
    Case("trap: optional of optional through alias", Optional[TypeAliasType("Through", Optional[Digit])]),  # pyright: ignore[reportGeneralTypeIssues]
    Case("trap: optional of optional through Annotated", Optional[Annotated[_Maybe, "note"]]),
    Case("trap: optional of optional through root", Optional[RootModel[Optional[Digit]]]),
    Case("trap: optional of root of root", Optional[RootModel[RootModel[Optional[Digit]]]]),
    Case("trap: optional of root of literal null", Optional[RootModel[Literal["a", None]]]),
    Case("trap: optional of root of enum null", Optional[RootModel[Hidden]]),
    Case("trap: optional of enum null", Optional[Hidden]),
    Case("trap: optional of literal null", Optional[Literal["a", None]]),
    Case("trap: list of root of optional", Annotated[list[RootModel[Optional[Digit]]], Field(max_length=2)]),
    Case("trap: true and 1", Literal[True, 1]),
    Case("trap: 1 and true", Literal[1, True]),
    Case("trap: 0, false and ''", Literal[0, False, ""]),
    Case("trap: '1', 1 and 'true'", Literal["1", 1, "true", True]),
    Case("trap: literal of members", Literal[Color.RED, Color.TWO, "blue"]),
    Case("trap: member and its value", Literal[Color.RED, "red"]),
    Case("trap: numbers that begin alike", Literal[1, 12, 123]),
    Case("trap: strings that begin alike", Literal["", "a", "aa", "aaa"]),
    Case("trap: surrogate", Literal["\ud800"]),
    Case("trap: long literal", Literal["x" * 201]),
    Case("trap: big literal", Literal[2**63]),
    Case("trap: enum of tuples", Pairs),
    Case("trap: enum with _missing_", Missing),
    Case("trap: enum of aliases", Aliased),
    Case("trap: bool bounds", Annotated[int, Field(ge=False, le=True)]),
    Case("trap: empty range", Annotated[int, Field(gt=3, lt=4)]),
    Case("trap: infinite bound", Annotated[float, Field(ge=0, le=float("inf"))]),
    Case("trap: nan bound", Annotated[float, Field(ge=float("nan"), le=1)]),
    Case("trap: minus zero", Annotated[float, Field(ge=-0.0, le=0.0)]),
    Case("trap: no millionth between", Annotated[float, Field(gt=0, lt=1e-6)]),
    Case("trap: multiple_of", Annotated[int, Field(ge=0, le=9, multiple_of=2)]),
    Case("trap: limits twice", Annotated[Digit, Field(ge=2)]),
    Case("trap: gt and ge", Annotated[int, Field(ge=2, gt=2, le=9)]),
    Case("trap: pydantic conint", pydantic.conint(ge=1, le=3)),
    Case("trap: positive int", pydantic.PositiveInt),
    Case("trap: strip whitespace", Annotated[str, StringConstraints(max_length=3, strip_whitespace=True)]),
    Case("trap: to upper", Annotated[str, StringConstraints(max_length=3, to_upper=True)]),
    Case("trap: base64 bytes", Annotated[pydantic.Base64Bytes, Field(max_length=3)]),
    Case("trap: secret", pydantic.SecretStr),
    Case("trap: json", pydantic.Json[Digit]),
    Case("trap: after validator", Annotated[Digit, pydantic.AfterValidator(lambda n: n + 1)]),
    Case("trap: before validator", Annotated[Digit, pydantic.BeforeValidator(int)]),
    Case("trap: skip validation", Annotated[Digit, pydantic.SkipValidation]),
    Case("trap: unanchored", Annotated[str, Field(pattern="[a-z]{3}")]),
    Case("trap: half anchored", Annotated[str, Field(pattern="^a|b$")]),
    Case("trap: look-ahead", Annotated[str, Field(pattern="^(?=a)a$")]),
    Case("trap: word boundary", Annotated[str, Field(pattern=r"^\ba$")]),
    Case("trap: negated word class", Annotated[str, Field(pattern=r"^\W{1,2}$")]),
    Case("trap: word class", Annotated[str, Field(pattern=r"^\w{1,2}\s\d$")]),
    Case("trap: case flag", Annotated[str, Field(pattern="^(?i)a$")]),
    Case("trap: intersection of classes", Annotated[str, Field(pattern="^[a-z&&[b]]$")]),
    Case("trap: nothing matches", Annotated[str, Field(pattern="^a{2,1}$")]),
    Case("trap: unbounded pattern", Annotated[str, Field(pattern="^a*$")]),
    Case("trap: pattern and length", Annotated[str, Field(pattern="^[a-z]+-[a-z]+$", max_length=9)]),
    Case("trap: pattern against length", Annotated[str, Field(pattern="^a{3}$", max_length=2)]),
    Case("trap: dollar and line feed", Annotated[str, Field(pattern="^[a\n]{1,2}$")]),
    Case("trap: empty pattern", Annotated[str, Field(pattern="^$")]),
    Case("trap: empty string", Annotated[str, Field(max_length=0)]),
    Case("trap: empty list", Annotated[list[Digit], Field(max_length=0)]),
    Case("trap: empty tuple", tuple[()]),
    Case("trap: empty model", _model()),
    Case("trap: empty dataclass", _dataclass()),
    Case("trap: long list", Annotated[list[Digit], Field(max_length=1001)]),
    Case("trap: list of lists", Annotated[list[Annotated[list[Word], Field(max_length=40)]], Field(max_length=40)]),
    Case("trap: long map", Annotated[dict[Word, tuple[Digit, bool]], Field(max_length=1000)]),
    Case("trap: long list of tuples", Annotated[list[tuple[Digit, Word, bool]], Field(max_length=1000)]),
    Case("trap: long list of optionals", Annotated[list[Optional[Word]], Field(max_length=1000)]),
    Case("trap: repeated repetition", Annotated[str, Field(pattern="^(?:[a-z]{1,30}-){1,30}$")]),
    Case("trap: long bytes", Annotated[bytes, Field(max_length=1000)]),
    Case("trap: long string", Annotated[str, Field(max_length=1000)]),
    Case("trap: list of exactly one", Annotated[list[Digit], Field(min_length=1, max_length=1)]),
    Case("trap: map with int keys", Annotated[dict[Digit, Digit], Field(max_length=1)]),
    Case("trap: map with literal keys", Annotated[dict[Literal["a", "b"], Digit], Field(max_length=2)]),
    Case("trap: map with null keys", Annotated[dict[Optional[Word], Digit], Field(max_length=1)]),
    Case("trap: map of nothing", Annotated[dict[Word, None], Field(max_length=1)]),
    Case("trap: abstract mapping", Mapping[str, int]),
    Case("trap: abstract sequence", Sequence[int]),
    Case("trap: typed dict", Typed),
    Case("trap: named tuple", Named),
    Case("trap: generic, filled", Anything[Digit]),
    Case("trap: generic, open", Anything),
    Case("trap: default", _model(x=(Digit, 1))),
    Case("trap: default factory", _model(x=(Digit, Field(default_factory=int)))),
    Case("trap: default in Annotated", _model(x=(Annotated[Digit, Field(default=3)], ...))),
    Case("trap: optional with default", _model(x=(Optional[Digit], None))),
    Case("trap: alias", _model(x=(Digit, Field(alias="y")))),
    Case("trap: validation alias", _model(x=(Digit, Field(validation_alias="y")))),
    Case("trap: excluded", _model(x=(Digit, Field(exclude=True)))),
    Case("trap: description", _model(x=(Digit, Field(description='a "b" ::= c')))),
    Case("trap: extra allowed", _own(model_config=ConfigDict(extra="allow"))),
    Case("trap: lower case", _own(model_config=ConfigDict(str_to_lower=True))),
    Case("trap: enum values", _own(model_config=ConfigDict(use_enum_values=True))),
    Case("trap: alias generator", _own(model_config=ConfigDict(alias_generator=str.upper))),
    Case("trap: frozen", _own(model_config=ConfigDict(frozen=True))),
    Case("trap: field validator", _own(clamp=pydantic.field_validator("x")(classmethod(_clamp)))),
    Case("trap: model validator", _own(after=pydantic.model_validator(mode="after")(_after))),
    Case("trap: post init", _own(model_post_init=lambda self, context: None)),
    Case("trap: own init", _own(__init__=_own_init)),
    Case("trap: private attribute", _own(_secret=pydantic.PrivateAttr(default=3))),
    Case("trap: computed field", _own(double=pydantic.computed_field(return_type=int)(property(_after)))),
    Case("trap: dataclass default", _dataclass(("x", Digit, 3))),
    Case("trap: dataclass init=False", _dataclass(("x", Digit, dataclasses.field(init=False)))),
    Case("trap: dataclass InitVar", _dataclass(("x", dataclasses.InitVar[int]))),
    Case("trap: dataclass ClassVar", _dataclass(("x", Digit), ("y", typing.ClassVar[int], 3))),
    Case("trap: dataclass frozen, slots, keywords", _dataclass(("x", Digit), frozen=True, slots=True, kw_only=True)),
    Case("trap: dataclass post init", _dataclass(("x", Digit), namespace={"__post_init__": lambda self: None})),
    Case("trap: dataclass own init", _dataclass(("x", Digit), namespace={"__init__": lambda self, x: None})),
    Case("trap: field called proof", _model(proof=(Digit, ...), value=(Digit, ...))),
    Case("trap: fields that begin alike", _model(a=(Digit, ...), aa=(Digit, ...), aaa=(Digit, ...))),
    Case("trap: field called schema words", _model(type=(Digit, ...), properties=(Digit, ...))),
    Case("trap: label taken", _model(mark=(MarkRef, ...), target=(Word, ...))),
    Case("trap: two marks", _model(source=(MarkRef, ...), destination=(MarkRef, ...))),
    Case("trap: mark and optional mark", _model(mark=(MarkRef, ...), other=(Optional[MarkRef], ...))),
    Case("trap: list of marks", Annotated[list[MarkRef], Field(max_length=2)]),
    Case("trap: bounded mark", Annotated[MarkRef, Field(le=5)]),
    Case(
        "trap: tag that does not stand first",
        Annotated[
            Union[_model(x=(Digit, ...), kind=(Literal["a"], ...)), _model(kind=(Literal["b"], ...))],
            Field(discriminator="kind"),
        ],
    ),
    Case(
        "trap: tags that begin alike",
        Annotated[
            Union[
                _model(kind=(Literal["a"], ...), x=(Digit, ...)),
                _model(kind=(Literal['a"'], ...)),
                _model(kind=(Literal["aa"], ...), x=(Word, ...)),
                _model(kind=(Literal[""], ...)),
            ],
            Field(discriminator="kind"),
        ],
    ),
    Case(
        "trap: two tags in one variant",
        Annotated[
            Union[_model(kind=(Literal["a", "b"], ...)), _model(kind=(Literal["c"], ...))], Field(discriminator="kind")
        ],
    ),
    Case(
        "trap: optional union",
        Annotated[
            Optional[Union[_model(kind=(Literal["a"], ...)), _model(kind=(Literal["b"], ...))]],
            Field(discriminator="kind"),
        ],
    ),
    Case("trap: one variant", Annotated[Union[_model(kind=(_Kind, ...))], "note"]),
    Case("trap: forward reference", "Nowhere"),
    Case("trap: class with a rude name", type('Ru"de', (BaseModel,), {"__annotations__": {"x": Digit}})),
    Case("trap: not a type", 3),
)
