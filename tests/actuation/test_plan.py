"""What tools ask for, as steps; and which keys there are."""

import string
from collections.abc import Callable
from typing import Any, Literal, cast, get_args

import numpy as np
import pytest

from actuation import (
    Chord,
    Click,
    ClickCell,
    Done,
    DoubleClick,
    Drag,
    GiveUp,
    Hands,
    HoldKey,
    PressKey,
    PressPointer,
    ReleasePointer,
    RightClick,
    Tool,
    TypeText,
    Wait,
)
from actuation import Move as MoveTo
from actuation import Scroll as Wheel
from actuation.aim import aims, resolve
from actuation.keys import KEYSYMS, Key, denied, strokes, unknown_key
from actuation.plan import KeyDown, Move, Pause, Plan, Press, Release, Scroll, Travel
from actuation.settings import Motion, Rules
from agent.testing import frame, observation
from grammar.engine import Verifier
from grammar.tick import TickGrammar
from perception.geometry import Box, Point
from perception.observation import GridCell, MarkRef, Observation

SEEN = observation({1: "one", 2: "two"})
ONE, TWO = Point(108, 58), Point(124, 58)
MOTION = Motion(press_s=0.02, drag_s=0.1)


def plan(action: Tool, motion: Motion = MOTION) -> Plan:
    targets = aims(action, SEEN)
    hands = Hands(motion, {aim.field: aim.point for aim in targets})
    action.perform(hands, targets[0].point if targets else None)
    return hands.plan


def click(point: Point, button: str = "left") -> list[object]:
    return [Press(point, button), Pause(0.02), Release("button", button)]


@pytest.mark.parametrize(
    ("action", "steps"),
    [
        (Click(mark=1), click(ONE)),
        (RightClick(mark=2), click(TWO, "right")),
        (DoubleClick(mark=1), [*click(ONE), Pause(0.06), *click(ONE)]),
        (PressPointer(mark=1), [Press(ONE, "left")]),
        (ReleasePointer(), [Release("button", "left")]),
        (MoveTo(mark=2), [Move(TWO)]),
        (Wheel(mark=1, notches=-3), [Scroll(ONE, -1)] * 3),
        (Wheel(mark=1, notches=0), []),
        (PressKey(key="left"), [KeyDown("left"), Pause(0.02), Release("key", "left")]),
        (HoldKey(key="up", seconds=1.5), [KeyDown("up"), Pause(1.5), Release("key", "up")]),
        (Wait(), []),
        (Done(), []),
        (GiveUp(), []),
    ],
)
def test_the_verbs(action: Tool, steps: list[object]) -> None:
    assert list(plan(action).steps) == steps


def test_a_drag_travels_on_a_straight_line_in_beats() -> None:
    press, _, travel, *rest = plan(Drag(mark=1, onto=2)).steps
    assert (press, travel, rest[-1]) == (Press(ONE, "left"), Travel(TWO, 0.1), Release("button", "left"))
    assert isinstance(travel, Travel)
    steps = travel.steps(ONE)
    assert [step.point for step in steps if isinstance(step, Move)] == [Point(113, 58), Point(119, 58), TWO]
    assert sum(step.seconds for step in steps if isinstance(step, Pause)) == pytest.approx(0.1, abs=0.04)


def test_a_click_travels_first_where_the_motion_says_so() -> None:
    steps = plan(Click(mark=1), Motion(travel_s=0.2)).steps
    assert steps[:2] == (Travel(ONE, 0.2), Press(ONE, "left"))


def test_a_text_is_typed_a_key_at_a_time() -> None:
    found = plan(TypeText(text="a B!"))
    down = [step.key for step in found.steps if isinstance(step, KeyDown)]
    assert (down, found.text) == (["a", "space", "shift", "b", "shift", "1"], "a B!")
    up = [step.name for step in found.steps if isinstance(step, Release)]
    assert up == ["a", "space", "b", "shift", "1", "shift"]


def test_a_tool_of_a_bots_own() -> None:
    class Swap(Tool):
        """Swap two."""

        first: MarkRef
        second: MarkRef
        spot = (0.0, 1.0)

        def perform(self, hands: Hands, at: Point | None) -> None:
            assert at == hands.where("first")
            hands.drag(hands.where("first"), hands.where("second"), seconds=0)
            with pytest.raises(KeyError, match=r"out of \['first', 'second'\], found 'third'"):
                hands.where("third")

    steps = plan(Swap(first=2, second=1)).steps
    assert steps[0] == Press(Point(116, 65), "left")
    assert steps[-3] == Move(Point(100, 65))


def test_a_cell_is_a_target_too() -> None:
    cell = GridCell(number=5, row=3, column=1, box=Box(40, 60, 20, 20), kind=None)
    seen = Observation(frame=frame(), cells=(cell,), marks=())
    assert resolve(ClickCell(cell="B4"), seen) == Point(150, 120)
    with pytest.raises(KeyError, match="cell 'B5' is not on screen; this tick shows 1 cells"):
        resolve(ClickCell(cell="B5"), seen)


def test_every_verb_has_a_grammar() -> None:
    class Undo(Chord):
        """Take it back."""

        keys = ("ctrl", "z")

    tools = (
        Click, ClickCell, DoubleClick, RightClick, PressPointer, ReleasePointer, Drag, Wheel, MoveTo, PressKey,
        HoldKey, Undo, TypeText, Wait, Done, GiveUp,
    )  # fmt: skip
    language = TickGrammar(tools, Verifier()).for_tick(SEEN.marks)
    for action in (Drag(mark=1, onto=2), Undo(), TypeText(text="go"), HoldKey(key="up", seconds=0.5), Done()):
        assert language.decode(language.spell(action)) == action


def test_a_tool_with_keys_of_its_own() -> None:
    class Steer(Tool):
        """Steer."""

        key: Literal["a", "d"]

        def perform(self, hands: Hands, at: Point | None) -> None:
            hands.hold(self.key, 0.3)

    assert plan(Steer(key="a")).steps[:2] == (KeyDown("a"), Pause(0.3))


def test_the_keys_of_the_type_are_those_there_are() -> None:
    assert set(get_args(Key)) == set(KEYSYMS) - {"win"}


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda h: h.click(ONE, "bogus"), r"expected a button out of .* found 'bogus'"),
        (lambda h: h.key("escpae"), r"expected a key, found 'escpae'; did you mean 'escape'"),
        (lambda h: h.type("naïve"), r"characters that a key gives, found \['ï'\]"),
        (lambda h: h.type("x" * 201), "at most 200 characters .* found 201"),
        (lambda h: h.scroll(ONE, 0), "1 to 20 notches"),
        (lambda h: [h.key_down("a"), h.key_down("a")], "key that is up, found 'a', which this action holds"),
        (lambda h: [h.press(ONE), h.click(ONE)], "button that is up, found 'left', which this action holds"),
        (lambda h: h.wait(-1), "0 to 3600 seconds"),
        (lambda h: h.hold("a", float("nan")), "0 to 3600 seconds"),
    ],
)
def test_what_there_is_none_of_is_an_error(ask: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ask(Hands(MOTION))  # type: ignore[operator]


def test_every_printable_character_has_its_keys() -> None:
    lacking = [character for character in string.printable if not strokes(character)]
    assert lacking == ["\r", "\x0b", "\x0c"]
    assert all(unknown_key(key) is None for character in " ~aZ" for key in strokes(character) or ())


@pytest.mark.parametrize(
    ("keys", "never"),
    [
        ({"win"}, "win"),
        ({"win", "a"}, "win"),
        ({"alt", "tab"}, "alt+tab"),
        ({"alt", "f4"}, "alt+f4"),
        ({"shift", "alt", "f4"}, "alt+f4"),
        ({"ctrl", "alt", "delete"}, "alt+ctrl+delete"),
        ({"ctrl", "alt", "t"}, "alt+ctrl+t"),
        ({"ctrl", "alt"}, None),
        ({"ctrl", "z"}, None),
        ({"alt", "a"}, None),
        ({"shift", "f4"}, None),
        ({"f4"}, None),
        (set(KEYSYMS) - {"alt", "win", "escape"}, None),
    ],
)
def test_combinations_that_are_never_pressed(keys: set[str], never: str | None) -> None:
    assert denied(keys) == never


def test_a_bots_own_denials() -> None:
    assert denied({"ctrl", "q"}, [("ctrl", "q")]) == "ctrl+q"
    assert denied({"q"}, [("ctrl", "q")]) is None


def test_a_chord_that_could_never_be_pressed_is_refused_where_it_is_declared() -> None:
    with pytest.raises(ValueError, match=r"Quit.keys: alt\+f4 is never pressed"):

        class Quit(Chord):
            """Close the game."""

            keys = ("alt", "f4")

    with pytest.raises(ValueError, match=r"Odd.keys: expected a key, found 'ctlr'"):

        class Odd(Chord):
            """Misspelt."""

            keys = ("ctlr", "z")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Motion(press_s=-1), "press_s of 0 to 60"),
        (lambda: Rules(max_hold_s=0), "max_hold_s above 0"),
        (lambda: Rules(target_tolerance=2), "target_tolerance from 0 to 1"),
        (lambda: Rules(denied=(("ctlr",),)), r"expected keys in denied and panic, found \['ctlr'\]"),
        (lambda: Rules(panic=()), "no panic keys"),
        (lambda: Rules(resume_after_s=-1), "resume_after_s of 0 or more"),
    ],
)
def test_settings_that_make_no_sense(make: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda hands: hands.move(Point(1, 1), float("nan")), "0 to 60 seconds to travel, found nan"),
        (lambda hands: hands.drag(Point(1, 1), Point(2, 2), seconds=-1), "0 to 60 seconds to travel, found -1"),
        (lambda hands: hands.move(Point(1, 1), 60_000), "0 to 60 seconds to travel"),
        (lambda hands: hands.click(Point(cast(int, 300.5), 2)), "a point of whole screen pixels, found Point"),
        (lambda hands: hands.click((3, 4)), r"a point of whole screen pixels, found \(3, 4\)"),
        (lambda hands: hands.click(None), "a point of whole screen pixels, found None"),
        (lambda hands: [hands.move(Point(1, 1)) for _ in range(20_001)], "at most 20000 steps of one action"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_asked_for(ask: Callable[[Any], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ask(Hands(Motion()))


def test_values_of_classes_of_ones_own_become_plain() -> None:
    class Spot(Point):
        """A point."""

    hands = Hands(Motion())
    hands.move(Spot(np.int64(3), 4))  # type: ignore[arg-type]
    (step,) = hands.plan.steps
    assert isinstance(step, Move)
    assert (type(step.point), type(step.point.x)) == (Point, int)


@pytest.mark.parametrize(
    "given",
    [
        {"max_hold_s": float("nan")},
        {"max_hold_s": float("inf")},
        {"resume_after_s": float("nan")},
        {"per_second": 2.5},
        {"denied": ("ctrl", "q")},
        {"panic": "end"},
    ],
)
def test_rules_that_would_switch_protection_off_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Rules(**given)


def test_a_button_that_comes_up_is_no_key() -> None:
    hands = Hands(Motion())
    hands.key_down("left")
    hands.release("left")
    hands.key_down("x")
    assert list(hands.plan.combinations) == [frozenset({"left"}), frozenset({"left", "x"})]
