"""What may not be declared, and how a refusal reads."""

# ruff: noqa: UP007, UP045 - Optional is one of the ways in which a type may be declared

import abc
import dataclasses
from collections.abc import Callable
from enum import Enum, IntFlag
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

import pydantic
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    SkipValidation,
    StringConstraints,
    field_validator,
    model_validator,
)
from typing_extensions import TypeAliasType

from actuation.tools import Click, Tool, Wait
from grammar.engine import Verifier
from grammar.errors import InadmissibleType, RefusalKind
from grammar.shape import shape, tool_shapes
from grammar.tick import TickGrammar
from perception.observation import MarkRef
from tests.grammar.declared import Absent, Box, Circle, Digit, Hid, Point, Size, Square, T, Word


class Chain(BaseModel):
    """Contains itself."""

    next: Optional["Chain"]


class Ping(BaseModel):
    """Contains itself through another."""

    pong: Optional["Pong"]


class Pong(BaseModel):
    """The other."""

    ping: Annotated[list[Ping], Field(max_length=1)]


@dataclasses.dataclass
class Recursive:
    """A dataclass that contains itself."""

    next: Optional["Recursive"]


Json = TypeAliasType("Json", "Annotated[list[Json], Field(max_length=2)]")


class Open(IntFlag):
    """Values beyond its members."""

    A = 1
    B = 2


class Lenient(Enum):
    """Takes anything for its member."""

    A = "a"

    @classmethod
    def _missing_(cls, value: object) -> "Lenient":
        return cls.A


class Typed(TypedDict):
    """A dictionary."""

    x: int


class Named(NamedTuple):
    """A tuple."""

    x: int


class Extra(BaseModel):
    """Its setting changes what it is given."""

    model_config = ConfigDict(str_to_lower=True)
    x: Word


class Late(BaseModel):
    """Changes what was said, later."""

    x: Digit

    def model_post_init(self, context: Any) -> None:
        """Whatever."""


class OwnInit(BaseModel):
    """Does something of its own."""

    x: Digit

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)


@dataclasses.dataclass
class PostInit:
    """Does something of its own."""

    x: Digit

    def __post_init__(self) -> None:
        self.x += 1


class Twin(BaseModel):
    """Has another's tag."""

    kind: Literal["circle"]


class Abstract(BaseModel, abc.ABC):
    """Cannot be made."""

    x: Digit

    @abc.abstractmethod
    def act(self) -> None:
        """Whatever."""


class Loose(BaseModel):
    """Takes more than it declares."""

    model_config = ConfigDict(extra="allow")
    x: Digit


class Unhashable(Enum):
    """Pydantic looks its values up."""

    A = "a"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


def model(**fields: Any) -> type[BaseModel]:
    return pydantic.create_model("Model", **fields)


def dataclass_of(*fields: Any) -> type[Any]:
    return dataclasses.make_dataclass("Data", fields)


REFUSED: list[tuple[Any, RefusalKind, str]] = [
    (Any, "unknown type", "Found the type typing.Any"),
    (object, "unknown type", "Found the type <class 'object'>"),
    (complex, "unknown type", "complex"),
    (set[Digit], "unknown type", "set["),
    (Callable[[], int], "unknown type", "Callable"),
    (Typed, "unknown type", "Typed"),
    (Named, "unknown type", "Named"),
    (T, "unknown type", "the type variable ~T, which nothing fills in"),
    (Box, "unknown type", "the type variable ~T"),
    (list, "unknown type", "a list of unknown items"),
    (dict, "unknown type", "a dict of unknown items"),
    ("Nowhere", "unknown type", "the name 'Nowhere', which nothing resolves"),
    (int, "unbounded", "a whole number between None and None"),
    (Annotated[int, Field(ge=0)], "unbounded", "between 0 and None"),
    (Annotated[int, Field(ge=3, le=2)], "unbounded", "between 3 and 2"),
    (Annotated[int, Field(ge=-(10**1000), le=0)], "unbounded", "Found a whole number"),
    (float, "unbounded", "between None and None"),
    (Annotated[float, Field(ge=0, le=1e10)], "unknown limit", "le=10000000000.0"),
    (Annotated[float, Field(ge=0, le=float("inf"))], "unknown limit", "le=inf"),
    (Annotated[float, Field(ge=float("nan"), le=1)], "unknown limit", "ge=nan"),
    (Annotated[float, Field(gt=0, lt=1e-7)], "unbounded", "between 1e-06 and 0.0"),
    (str, "unbounded", "0 to any number of characters"),
    (Annotated[str, Field(max_length=10_000)], "unbounded", "0 to 10000 characters"),
    (bytes, "unbounded", "0 to any number of bytes"),
    (list[Digit], "unbounded", "0 to any number of items"),
    (dict[Word, Digit], "unbounded", "0 to any number of items"),
    (Annotated[dict[Digit, Digit], Field(max_length=1)], "map keys", "keys are no strings"),
    (Annotated[dict[Literal["a", 1], Digit], Field(max_length=1)], "map keys", "keys are no strings"),
    (Annotated[str, Field(pattern="[a-z]{3}")], "pattern", "not anchored"),
    (Annotated[str, Field(pattern="^[a-z]+$")], "pattern", "1 to any number of characters"),
    (Annotated[str, Field(pattern="^(?=a)a$")], "pattern", "'(?' is not supported"),
    (Annotated[str, Field(pattern="^a{3}$", max_length=2)], "pattern", "it matches 3 to 3 characters"),
    (Annotated[int, Field(ge=0, le=9, multiple_of=3)], "unknown limit", "MultipleOf"),
    (Annotated[int, Field(gt=5, ge=0, le=9)], "unknown limit", "Use ge or gt once"),
    (Annotated[int, Field(ge=False, le=True)], "unknown limit", "ge=False"),
    (Annotated[Digit, Field(ge=3)], "unknown limit", "the limit ge twice"),
    (Annotated[Literal["a"], SkipValidation], "unknown limit", "beside the type"),
    (Annotated[bool, PlainValidator(bool)], "unknown limit", "beside the type"),
    (Annotated[str, StringConstraints(max_length=3, strip_whitespace=True)], "unknown limit", "strip_whitespace"),
    (Annotated[MarkRef, Field(le=5)], "unknown limit", "le=5 beside the type"),
    (Annotated[MarkRef, AfterValidator(lambda n: n + 11)], "unknown limit", "beside the type"),
    (Literal[9223372036854775808], "values", "(9223372036854775808,)"),
    (Literal["x" * 201], "values", "Found the values"),
    (Literal["\ud800"], "values", "Found the values"),
    (Literal[b"x"], "values", "Found the values"),
    (Open, "open enumeration", "open values"),
    (Lenient, "open enumeration", "open values"),
    (Literal[Lenient.A], "open enumeration", "open values"),
    (int | str, "untagged union", "a union without a tag"),
    (Optional[Union[Digit, Word]], "untagged union", "a union without a tag"),
    (Circle | Square, "untagged union", "a union without a tag"),
    (Annotated[Circle | Point, Field(discriminator="kind")], "tag", "does not stand first"),
    (Annotated[Circle | Twin, Field(discriminator="kind")], "tag", "Two variants have one tag"),
    (Annotated[dict[Word, Digit], Field(min_length=2, max_length=3)], "map keys", "keys that differ"),
    (Annotated[str, Field(pattern=r"^\<a\>$")], "pattern", "is not supported"),
    (Annotated[str, Field(pattern="^[^]$")], "pattern", "'[^]' is not read alike"),
    (Annotated[str, Field(pattern="^a{1,2}|a{1,2}$")], "pattern", "not in a group"),
    (Annotated[str, Field(pattern="^(?:){2}$")], "pattern", "an empty group"),
    (Annotated[str, Field(pattern="^[\ud800-\ue000]$")], "pattern", "half of a surrogate pair"),
    (Annotated[str, Field(pattern="^a$", min_length=-1)], "pattern", "Found pattern"),
    (
        Annotated[Hid, Field(max_length=3)],
        "unknown limit",
        "beside an alias of an optional",
    ),
    (Annotated[int, Field(ge=0, le=9, description="\ud800")], "unknown limit", "half of a surrogate pair"),
    (Abstract, "rules of its own", "abstract methods"),
    (Loose, "rules of its own", "extra='allow'"),
    (Unhashable, "open enumeration", "open values"),
    (model(x=(Digit, 3)), "may be absent", "Model.x: The field may be left out"),
    (model(x=(Digit, Field(default_factory=int))), "may be absent", "may be left out"),
    (model(x=(Digit, Field(alias="y"))), "alias", "has an alias"),
    (dataclass_of(("x", Digit, 3)), "may be absent", "Data.x: The field may be left out"),
    (Absent, "may be absent", "Absent.x: The field may be left out"),
    (Literal[Size.SMALL, True], "values", "Found the values (1, True)"),
    (dataclass_of(("x", Digit, dataclasses.field(init=False))), "partial field", "not read as the others"),
    (dataclass_of(("x", dataclasses.InitVar[int])), "partial field", "not kept"),
    (Chain, "recursion", "Chain contains itself"),
    (Ping, "recursion", "Ping contains itself"),
    (Recursive, "recursion", "Recursive contains itself"),
    (Extra, "rules of its own", "str_to_lower=True"),
    (Late, "rules of its own", "model_post_init"),
    (OwnInit, "rules of its own", "__init__"),
    (PostInit, "rules of its own", "__post_init__"),
    (dataclass_of(("ünicode", Digit)), "name", "Found the name 'ünicode'"),
]


@pytest.mark.parametrize(("declared", "kind", "says"), REFUSED, ids=lambda value: None)
def test_refusals_name_position_reason_and_remedy(declared: Any, kind: RefusalKind, says: str) -> None:
    with pytest.raises(InadmissibleType) as refusal:
        shape(declared)
    assert refusal.value.kind == kind
    assert says in str(refusal.value)
    assert refusal.value.position
    assert refusal.value.remedy


def test_a_refusal_says_where_in_a_nested_type() -> None:
    with pytest.raises(InadmissibleType) as refusal:
        shape(
            model(
                items=(
                    Annotated[list[Box[Annotated[dict[Word, float], Field(max_length=1)]]], Field(max_length=1)],
                    ...,
                )
            )
        )
    assert refusal.value.position.endswith("content[...]")


def test_a_type_that_cannot_be_asked_anything_is_refused() -> None:
    class Hostile(type):
        def __getattribute__(cls, name: str) -> Any:
            if name == "__class__":
                return type
            raise RuntimeError("no answer")

    with pytest.raises(InadmissibleType, match="It cannot be read") as refusal:
        shape(Hostile("Broken", (), {}))
    assert refusal.value.kind == "unreadable"


def test_an_alias_that_contains_itself_is_refused() -> None:
    with pytest.raises(InadmissibleType):
        shape(Json)


def test_types_of_very_many_parts_are_refused_at_once() -> None:
    declared: Any = Digit
    for _ in range(25):
        declared = tuple[declared, declared]
    with pytest.raises(InadmissibleType, match="more than 20,000 parts"):
        shape(declared)


def test_a_nest_without_end_is_refused() -> None:
    declared: Any = Digit
    for _ in range(40):
        declared = Annotated[list[declared], Field(max_length=1)]
    with pytest.raises(InadmissibleType, match="nested deeper than 32") as refusal:
        shape(declared)
    assert refusal.value.kind == "too deep"


def test_rules_of_a_tools_own_are_refused() -> None:
    class Drag(Tool):
        """Refuses what the grammar admits."""

        source: MarkRef
        destination: MarkRef

        @model_validator(mode="after")
        def differ(self) -> "Drag":
            """No drag onto itself."""
            assert self.source != self.destination
            return self

    class Clamp(Tool):
        """Changes what was said."""

        mark: MarkRef

        @field_validator("mark")
        @classmethod
        def clamp(cls, mark: int) -> int:
            """At most five."""
            return min(mark, 5)

    for tool, rule in ((Drag, "differ"), (Clamp, "clamp")):
        with pytest.raises(InadmissibleType, match=rf"Found rules of its own \({rule}\)"):
            tool_shapes((tool,))


@pytest.mark.parametrize("name", ['Sa"y', "Back\\slash", "New\nLine", "Ünicode"])
def test_names_that_would_need_escapes_are_refused(name: str) -> None:
    with pytest.raises(InadmissibleType, match="Use ASCII letters"):
        tool_shapes((type(name, (BaseModel,), {}),))


@pytest.mark.parametrize("name", ["tool", "target"])
def test_names_that_the_wire_needs_are_refused(name: str) -> None:
    clash = type("Clash", (BaseModel,), {"__annotations__": {"mark": MarkRef, name: bool}})
    with pytest.raises(InadmissibleType, match=rf"Clash\.{name}: The name is taken"):
        tool_shapes((clash,))


def test_no_tools_and_two_of_one_name_are_refused() -> None:
    with pytest.raises(InadmissibleType, match="nothing to say"):
        tool_shapes(())
    with pytest.raises(InadmissibleType, match="Two tools are called 'wait'"):
        tool_shapes((Wait, type("Wait", (Tool,), {})))


def test_something_must_always_be_legal() -> None:
    with pytest.raises(InadmissibleType, match="Wait"):
        TickGrammar((Click,), Verifier())


def test_more_variants_than_the_engine_bears_are_refused() -> None:
    literal: Any = Literal
    tags = [literal[f"a{i}"] for i in range(1001)]
    arms: Any = tuple(pydantic.create_model(f"Arm{i}", kind=(tag, ...)) for i, tag in enumerate(tags))
    with pytest.raises(InadmissibleType, match="Found 1001 variants"):
        shape(Annotated[Union[arms], Field(discriminator="kind")])
