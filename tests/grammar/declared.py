"""Declared types that the grammar's tests share."""

# ruff: noqa: UP045 - Optional is one of the ways in which a type may be declared

import dataclasses
import typing
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Generic, Literal, NewType, Optional, TypeVar

import pydantic
from pydantic import (
    BaseModel,
    Field,
    RootModel,
)
from typing_extensions import TypeAliasType

Digit = Annotated[int, Field(ge=0, le=9)]
Word = Annotated[str, Field(max_length=5)]
T = TypeVar("T")


class Color(Enum):
    """A plain enumeration."""

    RED = "red"
    BLUE = 2


class Size(IntEnum):
    """Members that are numbers."""

    SMALL = 1


class Day(StrEnum):
    """Members that are strings."""

    MON = "mon"


class Nothing(Enum):
    """An enumeration that hides a null."""

    NONE = None
    ONE = 1


class Point(BaseModel):
    """A point."""

    x: Digit
    label: Word = Field(description="what it is called")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two."""

    left: Digit
    right: Point
    kind: typing.ClassVar[int] = 3


class Circle(BaseModel):
    """One variant."""

    kind: Literal["circle"]
    radius: Digit


class Square(BaseModel):
    """Another."""

    kind: Literal["square"]


class Box(BaseModel, Generic[T]):
    """A generic one."""

    content: T


class NullRoot(RootModel[Digit | None]):
    """A root that hides a null."""


Floats = Annotated[dict[Word, float], Field(max_length=1)]
Shape = Annotated[Circle | Square, Field(discriminator="kind")]
Id = NewType("Id", Digit)  # pyright: ignore[reportGeneralTypeIssues]  # pydantic takes it
Alias = TypeAliasType("Alias", Digit | None)
Hid = TypeAliasType("Hid", Optional[str])


@pydantic.dataclasses.dataclass
class Required:
    """A dataclass of pydantic's whose field cannot be left out."""

    x: int = Field(ge=0, le=9)


@pydantic.dataclasses.dataclass
class Absent:
    """A dataclass of pydantic's whose field may be left out."""

    x: int = Field(default=3, ge=0, le=9)
