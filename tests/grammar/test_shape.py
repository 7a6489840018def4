"""What may be declared, what tree comes of it, and how a refusal reads."""

# ruff: noqa: UP007, UP045 - Optional is one of the ways in which a type may be declared

import abc
import dataclasses
import typing
from collections.abc import Callable
from enum import Enum, IntEnum, IntFlag, StrEnum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import annotated_types
import pydantic
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    SkipValidation,
    StringConstraints,
    field_validator,
    model_validator,
)
from typing_extensions import TypeAliasType

from actuation.tools import Click, Tool, Wait
from grammar.engine import Verifier
from grammar.errors import InadmissibleType, RefusalKind
from grammar.nodes import (
    Base64,
    CellNode,
    FloatRange,
    IntRange,
    ListOf,
    MapOf,
    MarkNode,
    Node,
    OneOf,
    Record,
    Text,
    admits_null,
    children,
)
from grammar.shape import shape, tool_shapes, wire_name
from grammar.tick import TickGrammar
from perception.observation import CellRef, MarkRef
from tests.grammar.tools import Press, Scroll

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


def tree(node: Node) -> Any:
    """A tree as plain data, to compare with."""
    match node:
        case OneOf():
            return list(node.values)
        case Record():
            return {each.name: tree(each.node) for each in node.fields}
        case IntRange() | FloatRange() | Base64() | MarkNode() | CellNode():
            return node
        case Text():
            return (node.low, node.high, node.pattern)
        case ListOf() | MapOf():
            return (type(node).__name__, node.low, node.high, *map(tree, children(node)))
    return (type(node).__name__, *map(tree, children(node)))


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (bool, [False, True]),
        (None, [None]),
        (Literal["a", 1, True, None], ["a", 1, True, None]),
        (Literal[Color.RED, "x"], ["red", "x"]),
        (Color, ["red", 2]),
        (Size, [1]),
        (Day, ["mon"]),
        (Digit, IntRange(0, 9)),
        (Annotated[int, Field(gt=0, lt=9)], IntRange(1, 8)),
        (Annotated[int, annotated_types.Interval(ge=0, le=3)], IntRange(0, 3)),
        (pydantic.conint(ge=1, le=2), IntRange(1, 2)),
        (Annotated[float, Field(ge=0, le=1)], FloatRange(0, 1_000_000)),
        (Annotated[float, Field(gt=0, lt=0.5)], FloatRange(1, 499_999)),
        (Annotated[float, Field(ge=0.1 + 0.2, le=0.3000012)], FloatRange(300_001, 300_001)),
        (Word, (0, 5, None)),
        (Annotated[str, StringConstraints(min_length=1, max_length=3)], (1, 3, None)),
        (Annotated[str, Field(pattern="^[a-z]{2,4}$")], (2, 4, "^[a-z]{2,4}$")),
        (Annotated[str, Field(pattern="^[a-z]+$", max_length=4)], (1, 4, "^[a-z]+$")),
        (Annotated[str, Field(pattern=r"^.[\d.]\s\w$")], (4, 4, r"^[^\n][0-9.][\t-\r ][0-9A-Za-z_]$")),
        (Annotated[bytes, Field(max_length=4)], Base64(0, 4)),
        (Annotated[list[Digit], Field(max_length=4)], ("ListOf", 0, 4, IntRange(0, 9))),
        (Annotated[tuple[Digit, ...], Field(min_length=1, max_length=4)], ("ListOf", 1, 4, IntRange(0, 9))),
        (tuple[Digit, bool], ("TupleOf", IntRange(0, 9), [False, True])),
        (tuple[()], ("TupleOf",)),
        (Annotated[dict[Word, Digit], Field(max_length=2)], ("MapOf", 0, 2, (0, 5, None), IntRange(0, 9))),
        (Annotated[dict[Literal["a"], Digit], Field(max_length=2)], ("MapOf", 0, 2, ["a"], IntRange(0, 9))),
        (Optional[Digit], ("Maybe", IntRange(0, 9))),
        (Annotated[int | None, Field(ge=0, le=9)], ("Maybe", IntRange(0, 9))),
        (Alias, ("Maybe", IntRange(0, 9))),
        (Id, IntRange(0, 9)),
        (NullRoot, ("Root", ("Maybe", IntRange(0, 9)))),
        (Point, {"x": IntRange(0, 9), "label": (0, 5, None)}),
        (Pair, {"left": IntRange(0, 9), "right": {"x": IntRange(0, 9), "label": (0, 5, None)}}),
        (Box[Digit], {"content": IntRange(0, 9)}),
        (Shape, ("Variants", {"kind": ["circle"], "radius": IntRange(0, 9)}, {"kind": ["square"]})),
        (MarkRef, MarkNode()),
        (CellRef, CellNode()),
        (Optional[MarkRef], ("Maybe", MarkNode())),
    ],
)
def test_the_tree(declared: Any, expected: Any) -> None:
    assert tree(shape(declared)) == expected


def test_the_tree_of_tools() -> None:
    press, scroll, click = tool_shapes((Press, Scroll, Click)).records
    assert tree(press) == {"tool": ["press"], "key": ["up", '"'], "shift": [False, True]}
    assert tree(scroll) == {
        "tool": ["scroll"],
        "mark": MarkNode("target"),
        "clicks": IntRange(-3, 3),
        "axis": ["x", "y"],
    }
    assert click.doc == "Click a mark with the left button."
    assert tree(tool_shapes((Click,), label_first=False).records[0]) == {"tool": ["click"], "mark": MarkNode()}


def test_descriptions_are_kept() -> None:
    node = shape(Pair)
    assert isinstance(node, Record)
    assert node.doc == "Two."
    point = node.fields[1].node
    assert isinstance(point, Record)
    assert [each.doc for each in point.fields] == ["", "what it is called"]


def test_a_class_that_occurs_many_times_is_walked_once() -> None:
    declared: Any = Point
    for depth in range(20):  # a million leaves, were they all walked
        declared = type(f"Level{depth}", (BaseModel,), {"__annotations__": {"a": declared, "b": declared}})
    node = shape(declared)
    assert isinstance(node, Record)
    assert node.fields[0].node is node.fields[1].node


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, True),
        (Literal[None], True),
        (Literal["a", None], True),
        (Nothing, True),
        (Optional[Digit], True),
        (Alias, True),
        (NewType("Hidden", Digit | None), True),  # pyright: ignore[reportGeneralTypeIssues]
        (Annotated[Digit | None, "a note"], True),
        (NullRoot, True),
        (RootModel[NullRoot], True),
        (Digit, False),
        (Id, False),
        (Color, False),
        (Annotated[list[Alias], Field(max_length=1)], False),
        (Box[Alias], False),
        (RootModel[Digit], False),
    ],
)
def test_null_is_found_wherever_it_hides(declared: Any, expected: bool) -> None:
    assert admits_null(shape(declared)) is expected
    if expected:
        with pytest.raises(InadmissibleType, match="Null could be the optional's or its item's own") as refusal:
            shape(RootModel[Optional[RootModel[declared]]])
        assert refusal.value.kind == "ambiguous null"


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


@pytest.mark.parametrize(
    ("name", "wire"), [("Click", "click"), ("RightClick", "right_click"), ("HTTPGet2D", "http_get2_d")]
)
def test_wire_names(name: str, wire: str) -> None:
    assert wire_name(type(name, (BaseModel,), {})) == wire


def test_more_variants_than_the_engine_bears_are_refused() -> None:
    literal: Any = Literal
    tags = [literal[f"a{i}"] for i in range(1001)]
    arms: Any = tuple(pydantic.create_model(f"Arm{i}", kind=(tag, ...)) for i, tag in enumerate(tags))
    with pytest.raises(InadmissibleType, match="Found 1001 variants"):
        shape(Annotated[Union[arms], Field(discriminator="kind")])
