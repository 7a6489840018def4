"""Sensors: expressions, the tick before, and that what cannot be told stays undefined."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.testing import frame
from perception.errors import CurableError, SensorError
from perception.geometry import Box
from perception.sensors import (
    CellCount,
    ColourShare,
    Constant,
    Leaf,
    Sensor,
    Sensors,
    Title,
    View,
)

VIEW = View(frame=frame())


class Plays(Leaf[Any]):
    """Says what it is told to, tick by tick, then the last again; an exception in it is raised. Counts its looks."""

    def __init__(self, *values: Any) -> None:
        self.values, self.looks = values, 0

    def look(self, view: View) -> Any:
        value = self.values[min(self.looks, len(self.values) - 1)]
        self.looks += 1
        if isinstance(value, Exception):
            raise value
        return value


class UndefinedHere(Exception):
    """A leaf has no value."""


def played(sensor: Sensor[Any], ticks: int, view: View = VIEW) -> list[Any]:
    sensors = Sensors({"it": sensor})
    return [sensors.evaluate(view)["it"] for _ in range(ticks)]


# Expressions: each is a sensor, and the same thing in plain Python, which knows no undefined value.

Both = tuple[Sensor[Any], Callable[[], Any]]


def leaf(value: Any) -> Both:
    def plain() -> Any:
        if value is None:
            raise UndefinedHere
        return value

    return Plays(value), plain


def applied(function: Callable[..., Any], plain: Callable[..., Any], *operands: Both) -> Both:
    values = [operand[1] for operand in operands]
    return function(*(operand[0] for operand in operands)), lambda: plain(*[value() for value in values])


def constants_right(function: Callable[..., Any], left: Both, value: Any) -> Both:
    return function(left[0], value), lambda: function(left[1](), value)


def constants_left(function: Callable[..., Any], value: Any, right: Both) -> Both:
    return function(value, right[0]), lambda: function(value, right[1]())


SUMS = st.sampled_from([operator.add, operator.sub])
COMPARISONS = st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
LOGIC = st.sampled_from([operator.and_, operator.or_])
INTEGERS = st.integers(-3, 3)
NUMBERS = st.recursive(
    st.builds(leaf, st.none() | INTEGERS),
    lambda inner: (
        SUMS.flatmap(lambda f: st.builds(applied, st.just(f), st.just(f), inner, inner))
        | st.builds(constants_right, SUMS, inner, INTEGERS)
        | st.builds(constants_left, SUMS, INTEGERS, inner)
    ),
    max_leaves=5,
)
CONDITIONS = st.recursive(
    st.builds(leaf, st.none() | st.booleans())
    | COMPARISONS.flatmap(lambda f: st.builds(applied, st.just(f), st.just(f), NUMBERS, NUMBERS))
    | st.builds(constants_right, COMPARISONS, NUMBERS, INTEGERS)
    | st.builds(constants_left, COMPARISONS, INTEGERS, NUMBERS),
    lambda inner: (
        LOGIC.flatmap(lambda f: st.builds(applied, st.just(f), st.just(f), inner, inner))
        | st.builds(constants_right, LOGIC, inner, st.booleans())
        | st.builds(constants_left, LOGIC, st.booleans(), inner)
        | st.builds(lambda one: applied(operator.invert, operator.not_, one), inner)
    ),
    max_leaves=6,
)


@given(NUMBERS | CONDITIONS)
def test_an_expression_is_plain_python_or_undefined_where_one_leaf_is(expression: Both) -> None:
    sensor, plain = expression
    try:
        expected = plain()
    except UndefinedHere:
        expected = None
    found = sensor.read(VIEW)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("other", [True, False, None])
def test_and_and_or_are_undefined_even_where_the_other_operand_would_decide(other: bool | None) -> None:
    unknown, known = Plays(None), Plays(other)
    made = [unknown & known, known & unknown, unknown | known, known | unknown, unknown & False, True | unknown]
    assert [sensor.read(VIEW) for sensor in made] == [None] * 6


@given(st.lists(st.none() | INTEGERS, min_size=1, max_size=8), st.integers(0, 4))
def test_previous_is_the_value_as_many_ticks_before(history: list[int | None], back: int) -> None:
    sensor: Sensor[Any] = Plays(*history)
    for _ in range(back):
        sensor = sensor.previous()
    expected = [None] * back + history
    assert played(sensor, len(history)) == expected[: len(history)]


@given(st.lists(st.none() | INTEGERS, min_size=1, max_size=8))
def test_changed_compares_with_the_tick_before(history: list[int | None]) -> None:
    pairs = zip([None, *history], history, strict=False)
    expected = [None if None in pair else pair[0] != pair[1] for pair in pairs]
    assert played(Plays(*history).changed(), len(history)) == expected


def test_previous_of_an_expression_is_of_the_whole_of_it() -> None:
    score = Plays(1, 4, 9)
    assert played(score - score.previous(), 3) == [None, 3, 5]
    again = Plays(1, 4, 9)
    assert played((again > 3).previous(), 3) == [None, False, True]


def test_previous_steps_once_a_tick_however_often_it_is_used_or_read() -> None:
    score = Plays(1, 2, 3)
    before = score.previous()
    sensors = Sensors({"now": score, "sum": before + before, "before": before, "other": score.previous()})
    assert sensors.evaluate(VIEW) == {"now": 1, "sum": None, "before": None, "other": None}
    assert before.read(VIEW) is None  # alone: no tick before; the set does not notice, but the score was looked at
    assert sensors.evaluate(VIEW) == {"now": 3, "sum": 2, "before": 1, "other": 1}


def test_two_sets_have_two_memories() -> None:
    score = Plays(1, 2, 3, 4)
    one, two = Sensors({"before": score.previous()}), Sensors({"before": score.previous()})
    seen = [each.evaluate(VIEW)["before"] for each in (one, two, one, two)]
    assert seen == [None, None, 1, 2]


def test_a_tick_that_failed_does_not_count() -> None:
    sensors = Sensors({"before": Plays(1, 2, 3).previous(), "late": Plays(0, ValueError("no"), 0)})
    assert sensors.evaluate(VIEW)["before"] is None
    with pytest.raises(SensorError):
        sensors.evaluate(VIEW)
    assert sensors.evaluate(VIEW)["before"] == 1


def test_after_a_reset_there_is_no_tick_before() -> None:
    sensors = Sensors({"before": Plays(1, 2, 3).previous()})
    seen = [sensors.evaluate(VIEW)["before"] for _ in range(2)]
    sensors.reset()
    assert [*seen, sensors.evaluate(VIEW)["before"]] == [None, 1, None]


def test_shared_sensors_are_looked_at_once_a_tick() -> None:
    score = Plays(5)
    high = score > 3
    sensors = Sensors({"score": score, "both": high & high, "either": high | (score == 5), "before": score.previous()})
    assert sensors.evaluate(VIEW) == {"score": 5, "both": True, "either": True, "before": None}
    assert score.looks == 1


def test_sensors_are_evaluated_in_the_order_of_declaration() -> None:
    looked = list[str]()

    class Notes(Leaf[str]):
        def __init__(self, name: str) -> None:
            self.name = name

        def look(self, view: View) -> str:
            looked.append(self.name)
            return self.name

    a, b, c = Notes("a"), Notes("b"), Notes("c")
    values = Sensors({"second": b + c, "first": a, "third": c}).evaluate(VIEW)
    assert list(values) == ["second", "first", "third"]
    assert looked == ["b", "c", "a"]


def test_long_expressions_need_no_deep_stack() -> None:
    assert reduce(operator.or_, [Plays(False) for _ in range(3000)]).read(VIEW) is False


@pytest.mark.parametrize(
    "use",
    [bool, lambda s: s and True, lambda s: not s, lambda s: 0 < s < 5, lambda s: s in [Plays(1)]],
    ids=["bool", "and", "not", "chain", "in"],
)
def test_a_sensor_itself_is_neither_true_nor_false(use: Callable[[Sensor[Any]], object]) -> None:
    with pytest.raises(TypeError, match=re.escape("write &, | and ~ for and, or and not")):
        use(Plays(1))


def test_sensors_are_keys_by_identity() -> None:
    one, two = Plays(1), Plays(1)
    assert {one: "one", two: "two"}[two] == "two"
    assert len({one, two, one}) == 2


@pytest.mark.parametrize("operand", [None, [], float("nan"), float("inf"), np.int64(3), object()])
def test_operands_that_are_no_values(operand: Any) -> None:
    for function in (operator.eq, operator.ne, operator.lt, operator.add, operator.sub):
        with pytest.raises(ValueError, match="expected a sensor, true, false, a finite number or a text, found"):
            function(Plays(1), operand)
    with pytest.raises(ValueError, match="expected a sensor, true, false, a finite number or a text, found"):
        Constant(operand)


def test_logic_beside_a_number_asks_for_brackets() -> None:
    sensor: Any = Plays(True)
    for function in (operator.and_, operator.or_):
        for operands in ((sensor, 3), (3, sensor)):
            with pytest.raises(ValueError, match=re.escape("found 3; put brackets: (a > 3) & b")):
                function(*operands)
    for wrong in (~Plays(3), Plays(3) & True, Plays("yes") | False):
        with pytest.raises(SensorError, match=r"failed with TypeError: expected true or false, found (3|'yes')\."):
            wrong.read(VIEW)


@pytest.mark.parametrize("name", ["", "two words", "7th", "class", "a-b", 3])
def test_names_that_are_none(name: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"expected a sensor's name such as 'score', found {name!r}")):
        Sensors({name: Title()})


def test_declarations_that_are_none() -> None:
    with pytest.raises(ValueError, match="expected a sensor as 'score', found 3"):
        Sensors({"score": 3})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="expected names and their sensors, found"):
        Sensors([("score", Title())])  # type: ignore[arg-type]


def test_a_declaration_is_copied() -> None:
    declared: dict[str, Sensor[Any]] = {"title": Title()}
    sensors = Sensors(declared)
    declared["late"] = Title()
    assert list(sensors.evaluate(VIEW)) == ["title"]


def test_a_failing_sensor_is_named_with_its_cause() -> None:
    score = Plays(ZeroDivisionError("by nought"))
    with pytest.raises(SensorError) as failure:
        Sensors({"fine": Title(), "hurt": score < 3}).evaluate(VIEW)
    assert failure.value.problem == "Sensor 'hurt': Plays() failed with ZeroDivisionError: by nought."
    assert isinstance(failure.value, CurableError)
    assert isinstance(failure.value.__cause__, ZeroDivisionError)


def test_a_comparison_of_unlike_values_says_what_was_compared() -> None:
    with pytest.raises(SensorError, match=re.escape("Sensor 'odd': (Title() < 3) failed with TypeError: '<' not")):
        Sensors({"odd": Title() < 3}).evaluate(View(frame=frame(), title="x"))
    assert (Title() < 3).read(VIEW) is None


@pytest.mark.parametrize("value", [[], np.int64(3), np.bool_(True), float("nan"), float("inf")])
def test_what_a_sensor_gives_must_be_a_value(value: Any) -> None:
    with pytest.raises(SensorError, match=re.escape(f"Sensor 'it': Plays() gave {value!r}, not true, false,")):
        Sensors({"it": Plays(value)}).evaluate(VIEW)


def test_expressions_are_written_out_for_messages() -> None:
    area = Box(1, 2, 3, 4)
    one = (ColourShare("#000001", region=area) > 0.5) & ~Title().contains("x") | (CellCount("a").previous() == 3)
    assert str(one) == (
        "(((ColourShare('#000001', '#000001', 3x4 at (1, 2), tolerance=0) > 0.5) & ~Title().contains('x')) | "
        "(CellCount(kind='a').previous() == 3))"
    )
    assert len(str(sum([Title()] * 500, start=Constant("")))) == 200
