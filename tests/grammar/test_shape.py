"""What may be declared, and what tree comes of it."""

# ruff: noqa: UP045 - Optional is one of the ways in which a type may be declared

from typing import Annotated, Any, Literal, NewType, Optional

import annotated_types
import pydantic
import pytest
from pydantic import (
    BaseModel,
    Field,
    RootModel,
    StringConstraints,
)

from actuation.tools import Click
from grammar.errors import InadmissibleType
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
from perception.observation import CellRef, MarkRef
from tests.grammar.declared import (
    Alias,
    Box,
    Color,
    Day,
    Digit,
    Id,
    Nothing,
    NullRoot,
    Pair,
    Point,
    Required,
    Shape,
    Size,
    Word,
)
from tests.grammar.tools import Press, Scroll


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
        (Required, {"x": IntRange(0, 9)}),
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


@pytest.mark.parametrize(
    ("name", "wire"), [("Click", "click"), ("RightClick", "right_click"), ("HTTPGet2D", "http_get2_d")]
)
def test_wire_names(name: str, wire: str) -> None:
    assert wire_name(type(name, (BaseModel,), {})) == wire
