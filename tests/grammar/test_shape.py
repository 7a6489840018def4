"""What may be declared, and how a refusal reads."""

from enum import Enum, IntFlag
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, PlainValidator, SkipValidation, field_validator, model_validator

from actuation.tools import Click, Tool, Wait
from grammar.engine import Verifier
from grammar.errors import InadmissibleType
from grammar.shape import IntRange, MarkNode, OneOf, tool_shape, tool_shapes, wire_name
from grammar.tick import TickGrammar
from perception.observation import MarkRef
from tests.grammar.tools import Press, Scroll


def declare(annotation: Any, default: Any = ...) -> type[BaseModel]:
    return type(
        "Tool", (BaseModel,), {"__annotations__": {"x": annotation}, **({} if default is ... else {"x": default})}
    )


def test_the_tree() -> None:
    assert [field.node for field in tool_shape(Scroll).fields] == [MarkNode(), IntRange(-3, 3), OneOf(("x", "y"))]
    assert [field.node for field in tool_shape(Press).fields] == [OneOf(("up", '"')), OneOf((False, True))]
    assert tool_shape(Click).doc == "Click a mark with the left button."


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (Any, "Tool.x: Found the type typing.Any."),
        (float, "Tool.x: Found the type <class 'float'>."),
        (str, "Tool.x: Found the type <class 'str'>."),
        (int, "Tool.x: Found a whole number between None and None."),
        (Annotated[int, Field(ge=0)], "Tool.x: Found a whole number between 0 and None."),
        (Annotated[int, Field(ge=3, le=2)], "Tool.x: Found a whole number between 3 and 2."),
        (Annotated[int, Field(ge=0, le=9, multiple_of=3)], "Tool.x: Found the limit MultipleOf(multiple_of=3)."),
        (Literal["a", None], "Tool.x: Found the values ('a', None)."),
        (int | None, "Tool.x: Found the type int | None."),
    ],
)
def test_refusals_name_position_reason_and_remedy(annotation: Any, says: str) -> None:
    with pytest.raises(InadmissibleType) as refusal:
        tool_shape(declare(annotation))
    assert str(refusal.value).startswith(says)
    assert refusal.value.position == "Tool.x"
    assert refusal.value.remedy


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


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (Open, "Found an enumeration of open values."),
        (Lenient, "Found an enumeration of open values."),
        (Annotated[Literal["a"], SkipValidation], "beside the type."),
        (Annotated[bool, PlainValidator(bool)], "beside the type."),
        (Annotated[MarkRef, Field(le=5)], "beside the type."),
        (Annotated[MarkRef, AfterValidator(lambda n: n + 11)], "beside the type."),
        (Literal[9223372036854775808], "Found the values (9223372036854775808,)."),
        (Literal["x" * 201], "Found the values"),
        (Annotated[int, Field(gt=5, ge=0, le=9)], "Found the limit Ge(ge=0)."),
        (Annotated[int, Field(ge=False, le=True)], "Found the limit Ge(ge=False)."),
        (Annotated[int, Field(ge=-(10**1000), le=0)], "Found a whole number between"),
    ],
)
def test_what_the_validator_would_judge_otherwise_than_the_grammar(annotation: Any, says: str) -> None:
    with pytest.raises(InadmissibleType, match=r"Tool\.x: ") as refusal:
        tool_shape(declare(annotation))
    assert says in str(refusal.value)


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

    class Late(Tool):
        """Changes what was said, later."""

        mark: MarkRef

        def model_post_init(self, context: Any) -> None:
            """Whatever."""

    for tool, rule in ((Drag, "differ"), (Clamp, "clamp"), (Late, "model_post_init")):
        with pytest.raises(InadmissibleType, match=rf"Found rules of its own \({rule}\)"):
            tool_shape(tool)


@pytest.mark.parametrize("name", ['Sa"y', "Back\\slash", "New\nLine", "Ünicode"])
def test_names_that_would_need_escapes_are_refused(name: str) -> None:
    with pytest.raises(InadmissibleType, match="Use ASCII letters"):
        tool_shape(type(name, (BaseModel,), {}))


def test_a_field_that_may_be_left_out_is_refused() -> None:
    with pytest.raises(InadmissibleType, match="may be left out"):
        tool_shape(declare(bool, default=True))


@pytest.mark.parametrize("name", ["tool", "target"])
def test_names_that_the_wire_needs_are_refused(name: str) -> None:
    clash = type("Clash", (BaseModel,), {"__annotations__": {"mark": MarkRef, name: bool}})
    with pytest.raises(InadmissibleType, match=rf"Clash\.{name}: The name is taken"):
        tool_shape(clash)


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
