"""Actions step by step on a clock that is moved by hand: what goes on, what is held, and what ends it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from actuation import (
    Click,
    DoubleClick,
    Drag,
    HoldKey,
    Move,
    PressKey,
    PressPointer,
    ReleasePointer,
    Scroll,
    Tool,
    TypeText,
)
from actuation.aim import aims
from actuation.backend import DryRun
from actuation.errors import UserHalt
from actuation.guard import Refusal
from actuation.person import InputState
from actuation.plan import Hands
from actuation.settings import Motion, Rules
from actuation.stepper import Running, Stepper
from agent.testing import StillEyes, observation
from perception.geometry import Box, Point
from perception.observation import WindowState

SEEN = observation({1: "one", 2: "two"})
ONE, TWO = Point(108, 58), Point(124, 58)
SCREEN = Box(0, 0, 1280, 800)


class Desk:
    """The display's keyboard and mouse as a test says they are, what the agent does included."""

    def __init__(self, backend: DryRun) -> None:
        self._backend = backend
        self.keys: set[str] = set()
        self.buttons: set[str] = set()
        self.moved_to: Point | None = None
        self.caps_lock = False
        self.lacks: set[str] = set()
        self.still: list[str] = []

    def read(self) -> InputState:
        keys, buttons, pointer = set(self.keys), set(self.buttons), Point(640, 400)
        for event in self._backend.events:
            if event[0] == "key_down":
                keys.add(event[1])
            elif event[0] == "key_up":
                keys.discard(event[1])
            elif event[0] == "release":
                buttons.discard(event[1])
            else:
                pointer = event[1]
                buttons |= {event[2]} if event[0] == "press" else set()
        where = self.moved_to or pointer
        return InputState(pointer=where, screen=SCREEN, buttons=frozenset(buttons), keys=frozenset(keys))

    def missing(self, key: str) -> str | None:
        return f"no {key}" if key in self.lacks else None

    def keep_from_repeating(self, key: str) -> None:
        self.still.append(key)

    def let_repeat(self, key: str) -> None:
        self.still.remove(key)

    def mistyped(self, text: str) -> str | None:
        return "caps lock is on" if self.caps_lock else None

    def close(self) -> None:
        pass


class Guarding:
    """A guardian that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.believes = True

    def pressing(self, kind: str, name: str) -> None:
        self.told.append(f"+{name}")

    def released(self, kind: str, name: str) -> None:
        self.told.append(f"-{name}")

    def beat(self) -> bool:
        self.told.append(".")
        return self.believes


class Bench:
    """A stepper and all that it stands on."""

    def __init__(self, rules: Rules | None = None, motion: Motion | None = None) -> None:
        self.now = 100.0
        self.dry, self.eyes, self.guardian = DryRun(), StillEyes(), Guarding()
        self.desk = Desk(self.dry)
        self.motion = motion or Motion()
        self.stepper = Stepper(
            self.dry,
            self.eyes,
            lambda: self.now,
            motion=self.motion,
            rules=rules or Rules(),
            keyboard=self.desk,
            watcher=self.guardian,
        )
        self.number = 0

    def begin(self, action: Tool) -> Running:
        targets = aims(action, SEEN)
        hands = Hands(self.motion, {aim.field: aim.point for aim in targets})
        action.perform(hands, targets[0].point if targets else None)
        self.number += 1
        running = Running(number=self.number, plan=hands.plan, aims=targets, transform=SEEN.frame.transform)
        self.stepper.begin(running)
        return running

    def go(self, seconds: float) -> None:
        """Let time pass, in beats."""
        end = self.now + seconds
        self.stepper.step()
        while self.now < end - 1e-9:
            self.now = min(end, self.now + max(0.001, self.stepper.rest_s()))
            self.stepper.step()

    def window(self, **change: object) -> None:
        assert isinstance(self.eyes.now, WindowState)
        self.eyes.now = replace(self.eyes.now, **change)  # type: ignore[arg-type]

    @property
    def kinds(self) -> list[str]:
        return [event[0] for event in self.dry.events]


def why(running: Running) -> str | None:
    return running.refusal.reason if running.refusal else None


def test_a_click_takes_its_time_and_is_over() -> None:
    bench = Bench()
    click = bench.begin(Click(mark=1))
    bench.go(0.01)
    assert (bench.dry.events, click.over) == ([("press", ONE, "left")], False)
    bench.go(0.02)
    assert (bench.kinds, click.over, click.events) == (["press", "release"], True, 2)
    assert bench.guardian.told[-3:] == ["+left", ".", "-left"] or bench.guardian.told[-1] == "-left"
    assert len(bench.stepper.ledger) == 0


def test_what_is_held_goes_on_while_other_things_are_done() -> None:
    bench = Bench()
    hold = bench.begin(HoldKey(key="up", seconds=1))
    bench.go(0.3)
    click = bench.begin(Click(mark=2))
    bench.go(0.3)
    assert (click.over, hold.over, bench.kinds) == (True, False, ["key_down", "press", "release"])
    bench.go(0.5)
    assert (hold.over, why(hold), bench.kinds[-1]) == (True, None, "key_up")
    assert bench.guardian.told.count(".") >= 25  # a sign of life at every beat


@pytest.mark.parametrize(
    ("going", "more", "conflict"),
    [
        (HoldKey(key="up", seconds=1), HoldKey(key="up", seconds=1), "the key 'up' is held already"),
        (HoldKey(key="up", seconds=1), PressKey(key="up"), "the key 'up' is held already"),
        (Drag(mark=1, onto=2), Click(mark=1), "the button 'left' is held already"),
        (Drag(mark=1, onto=2), Scroll(mark=1, notches=1), "the pointer is under way"),
        (PressPointer(mark=1), Click(mark=1), "the button 'left' is held already"),
        (HoldKey(key="up", seconds=1), HoldKey(key="down", seconds=1), None),
        (PressPointer(mark=1), Scroll(mark=1, notches=1), None),
    ],
)
def test_two_that_get_into_each_others_way(going: Tool, more: Tool, conflict: str | None) -> None:
    bench = Bench()
    bench.begin(going)
    bench.go(0.1)
    refusal = bench.begin(more).refusal
    assert refusal == (Refusal(reason="conflict", detail=conflict) if conflict else None)


def test_a_pressed_pointer_is_released_by_another_action() -> None:
    bench = Bench()
    assert bench.begin(PressPointer(mark=1)).over is False
    bench.go(0.2)
    assert bench.stepper.ledger.buttons == {"left"}
    bench.begin(ReleasePointer())
    bench.go(0.1)
    assert (bench.kinds, len(bench.stepper.ledger), bench.stepper.ended) == (["press", "release"], 0, [])


def test_nothing_is_held_for_longer_than_is_allowed() -> None:
    bench = Bench(Rules(max_hold_s=2))
    bench.begin(PressPointer(mark=1))
    bench.go(2.5)
    assert bench.kinds == ["press", "release"]
    ((number, ended),) = bench.stepper.ended
    assert (number, ended.reason, ended.detail) == (1, "held_too_long", "the button 'left' was held for 2 s")
    hold = bench.begin(HoldKey(key="up", seconds=3))
    bench.go(3)
    assert (why(hold), bench.kinds[-1]) == ("held_too_long", "key_up")


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"foreground": False}, "not_foreground"), ({"minimised": True}, "minimised")],
)
def test_what_is_held_is_let_go_when_the_game_does_not_get_it_any_more(change: dict[str, object], reason: str) -> None:
    bench = Bench()
    hold = bench.begin(HoldKey(key="up", seconds=5))
    bench.go(0.5)
    bench.window(**change)
    bench.go(0.05)
    assert (why(hold), bench.kinds) == (reason, ["key_down", "key_up"])


def test_a_drag_ends_where_the_window_moves_away_under_it() -> None:
    bench = Bench()
    drag = bench.begin(Drag(mark=1, onto=2))
    bench.go(0.1)
    bench.window(client=Box(101, 50, 320, 240))
    bench.go(0.4)
    assert (why(drag), bench.kinds[-1], len(bench.stepper.ledger)) == ("moved", "release", 0)


def test_a_button_is_let_go_when_the_window_moves_away_from_under_it() -> None:
    bench = Bench()
    bench.begin(PressPointer(mark=1))
    bench.go(0.1)
    bench.window(client=Box(101, 50, 320, 240))
    bench.go(0.1)
    assert bench.kinds == ["press", "release"]
    assert [ended.reason for _, ended in bench.stepper.ended] == ["moved"]


def test_a_drag_does_not_go_on_over_what_lies_over_the_game() -> None:
    bench = Bench()
    drag = bench.begin(Drag(mark=1, onto=2))
    bench.go(0.1)
    bench.eyes.over = "Pop-up"
    bench.go(0.4)
    assert (why(drag), bench.kinds[-1], len(bench.stepper.ledger)) == ("covered_by", "release", 0)


class KeyAndClick(Click):
    """Hold a key and click."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        hands.key_down("ctrl")
        hands.click(at)
        hands.key_up("ctrl")


def test_a_target_is_looked_at_before_the_pointers_first_event_whatever_keys_came_before() -> None:
    bench = Bench()
    bench.eyes.frame = observation({1: "one"}, shade=3).frame
    click = bench.begin(KeyAndClick(mark=1))
    bench.go(0.5)
    assert (why(click), bench.kinds) == ("stale_target", ["key_down", "key_up"])


def test_nobody_lets_go_of_what_another_action_still_needs() -> None:
    bench = Bench()
    bench.begin(Drag(mark=1, onto=2))
    hold = bench.begin(HoldKey(key="up", seconds=0.2))
    bench.go(0.05)
    assert why(bench.begin(ReleasePointer())) == "conflict"
    bench.go(0.6)
    assert why(hold) is None
    assert bench.kinds[-1] == "release"


def test_a_combination_counts_the_keys_that_a_person_holds() -> None:
    bench = Bench(Rules(yield_to_person=False))
    bench.desk.keys = {"alt"}
    bench.go(0.1)
    assert why(bench.begin(PressKey(key="f4"))) == "denied"
    click = bench.begin(Click(mark=1))
    bench.go(0.1)
    assert (why(click), bench.kinds) == ("denied", [])


def test_the_pointer_does_not_come_to_rest_on_a_strangers_window() -> None:
    bench = Bench(motion=Motion(travel_s=0.1))
    bench.eyes.over = "Pop-up"
    move = bench.begin(Move(mark=1))
    bench.go(0.3)
    assert why(move) == "covered_by"


class Two(Tool):
    """Hold two keys."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        hands.key_down("a")
        hands.key_down("b")
        hands.wait(5)


def test_an_action_that_holds_two_keys_for_too_long_ends_once() -> None:
    bench = Bench(Rules(max_hold_s=1))
    bench.begin(Two())
    bench.go(1.5)
    assert [number for number, _ in bench.stepper.ended] == [1]
    assert bench.kinds[2:] == ["key_up", "key_up"]


class LaterKey(Tool):
    """Press a key after a while."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        hands.wait(0.5)
        hands.key("a")


def test_a_key_that_somebody_will_press_is_taken() -> None:
    bench = Bench()
    bench.begin(LaterKey())
    bench.go(0.1)
    assert why(bench.begin(PressKey(key="a"))) == "conflict"
    bench.go(0.41)
    assert bench.desk.still == ["a"]  # it does not repeat while it is down
    bench.go(0.2)
    assert bench.desk.still == []
    assert bench.kinds == ["key_down", "key_up"]


def test_the_pointer_travels_from_where_it_is() -> None:
    bench = Bench(motion=Motion(travel_s=0.1))
    bench.go(0.05)
    bench.begin(Click(mark=1))
    bench.go(0.2)
    (first, second, last), rest = bench.dry.events[:3], bench.kinds[3:]
    assert (first, second, last) == (
        ("move", Point(640, 400).towards(ONE, 1 / 3)),
        ("move", Point(640, 400).towards(ONE, 2 / 3)),
        ("move", ONE),
    )
    assert rest == ["press", "release"]


def test_the_second_click_of_two_is_checked_too() -> None:
    bench = Bench()
    twice = bench.begin(DoubleClick(mark=1))
    bench.go(0.04)
    bench.eyes.over = "Pop-up"
    bench.go(0.3)
    assert (why(twice), bench.kinds, twice.events) == ("covered_by", ["press", "release"], 2)


def test_a_target_that_changed_before_the_first_event_is_not_clicked() -> None:
    bench = Bench()
    bench.eyes.frame = replace(bench.eyes.frame, pixels=np.zeros((240, 320, 3), np.uint8))
    click = bench.begin(Click(mark=1))
    bench.go(0.1)
    assert (why(click), bench.dry.events) == ("stale_target", [])
    bench = Bench(Rules(target_tolerance=1))
    bench.eyes.frame = replace(bench.eyes.frame, pixels=np.zeros((240, 320, 3), np.uint8))
    click = bench.begin(Click(mark=1))
    bench.go(0.1)
    assert why(click) is None


def test_a_point_outside_stops_all_of_it_before_it_begins() -> None:
    bench = Bench()
    bench.window(client=Box(100, 50, 320, 240), screen=Box(0, 0, 120, 800))
    drag = bench.begin(Drag(mark=1, onto=2))
    bench.go(0.1)
    assert (why(drag), bench.dry.events) == ("out_of_bounds", [])


def keys(*names: str) -> Running:
    hands = Hands(Motion())
    hands.chord(*names)
    return Running(number=7, plan=hands.plan)


def test_denied_combinations_count_what_others_hold() -> None:
    bench = Bench(Rules(denied=(("ctrl", "q"),)))
    hands = Hands(Motion())
    hands.hold("alt", 5)
    bench.stepper.begin(Running(number=50, plan=hands.plan))
    bench.go(0.1)
    f4 = keys("f4")
    bench.stepper.begin(f4)
    assert why(f4) == "denied"
    click = bench.begin(Click(mark=1))
    bench.go(0.1)
    assert (why(click), bench.kinds) == ("denied", ["key_down"])  # the window manager would take it
    bench.stepper.cancel([50])
    for denied in (keys("ctrl", "q"), keys("ctrl", "alt", "end"), keys("win")):
        bench.stepper.begin(denied)
        assert why(denied) == "denied"
    assert bench.kinds == ["key_down", "key_up"]


def test_no_second_sees_more_presses_than_are_allowed() -> None:
    bench = Bench(Rules(per_second=5, text_entry=True, target_tolerance=1))
    text = bench.begin(TypeText(text="abcdefgh"))
    bench.go(0.9)
    assert bench.kinds.count("key_down") == 5
    assert bench.begin(Click(mark=1)).refusal == Refusal(reason="rate", detail="5 presses in a second are the most")
    bench.go(1.2)
    assert (text.over, why(text), bench.kinds.count("key_down")) == (True, None, 8)


def test_a_text_is_not_typed_while_a_modifier_is_held() -> None:
    bench = Bench(Rules(text_entry=True))
    hands = Hands(Motion())
    hands.hold("shift", 1)
    bench.stepper.begin(Running(number=50, plan=hands.plan))
    bench.go(0.1)
    assert why(bench.begin(TypeText(text="go"))) == "conflict"


def test_the_wheel_turns_a_notch_at_a_time_within_the_rate() -> None:
    bench = Bench(Rules(per_second=4))
    scroll = bench.begin(Scroll(mark=1, notches=6))
    bench.go(0.9)
    assert bench.dry.events == [("scroll", ONE, 1)] * 4
    bench.go(1)
    assert (scroll.over, len(bench.dry.events)) == (True, 6)


def test_an_action_of_many_steps_does_not_keep_others_waiting() -> None:
    bench = Bench()
    hold = bench.begin(HoldKey(key="up", seconds=0.2))
    hands = Hands(Motion())
    for _ in range(5000):
        hands.move(ONE)
    moves = Running(number=50, plan=hands.plan, transform=SEEN.frame.transform)
    bench.stepper.begin(moves)
    move = bench.dry.move

    def slowly(point: Point) -> None:
        bench.now += 0.001
        move(point)

    bench.dry.move = slowly  # type: ignore[method-assign]
    while not hold.over:
        bench.stepper.step()
        bench.now += 0.001
    assert not moves.over


def test_presses_keep_their_distance() -> None:
    bench = Bench(motion=Motion(spacing_s=0.2))
    bench.begin(PressKey(key="left"))
    bench.go(0.05)
    bench.begin(PressKey(key="right"))
    bench.go(0.1)
    assert bench.kinds == ["key_down", "key_up"]
    bench.go(0.1)
    assert bench.kinds == ["key_down", "key_up"] * 2


def test_text_is_off_by_default_and_waits_for_caps_lock() -> None:
    bench = Bench()
    text = bench.begin(TypeText(text="go"))
    assert text.refusal == Refusal(reason="denied", detail="text entry is off")
    bench = Bench(Rules(text_entry=True))
    bench.desk.caps_lock = True
    assert bench.begin(TypeText(text="go")).refusal == Refusal(reason="unknown_key", detail="caps lock is on")
    bench.desk.lacks = {"up"}
    assert why(bench.begin(PressKey(key="up"))) == "unknown_key"


def a_moved_pointer(desk: Desk) -> None:
    desk.moved_to = Point(300, 300)


def a_held_key(desk: Desk) -> None:
    desk.keys.add("w")


def a_held_button(desk: Desk) -> None:
    desk.buttons.add("right")


def nothing(desk: Desk) -> None:
    desk.keys.clear()
    desk.buttons.clear()


@pytest.mark.parametrize(
    ("sign", "says"),
    [
        (a_moved_pointer, "somebody moved the pointer"),
        (a_held_key, "somebody holds the key 'w'"),
        (a_held_button, "somebody holds the right button"),
    ],
)
def test_a_person_is_made_way_for(sign: object, says: str) -> None:
    bench = Bench()
    hold = bench.begin(HoldKey(key="up", seconds=5))
    bench.go(0.5)
    sign(bench.desk)  # type: ignore[operator]
    bench.go(0.05)
    assert (why(hold), bench.kinds) == ("halted", ["key_down", "key_up"])
    refusal = bench.begin(Click(mark=1)).refusal
    assert refusal == Refusal(reason="halted", detail=f"{says}; the agent goes on 3 s later")
    nothing(bench.desk)
    bench.go(2.9)
    assert why(bench.begin(Click(mark=1))) == "halted"
    bench.go(0.2)
    assert why(bench.begin(Click(mark=1))) is None


def test_an_agent_that_waits_to_be_told_goes_on_when_told() -> None:
    bench = Bench(Rules(resume_after_s=None))
    bench.go(0.1)
    a_moved_pointer(bench.desk)
    bench.go(60)
    refusal = bench.begin(Click(mark=1)).refusal
    assert refusal is not None
    assert refusal.detail.endswith("the agent goes on when told to")
    bench.stepper.person.gone()
    assert why(bench.begin(Click(mark=1))) is None


def test_an_agent_that_shares_the_desk_goes_on() -> None:
    bench = Bench(Rules(yield_to_person=False))
    bench.go(0.1)
    a_moved_pointer(bench.desk)
    assert why(bench.begin(Click(mark=1))) is None


@pytest.mark.parametrize("corner", SCREEN.corners)
def test_a_pointer_thrown_into_a_corner_stops_it_for_good(corner: Point) -> None:
    bench = Bench(Rules(yield_to_person=False))
    bench.begin(HoldKey(key="up", seconds=5))
    bench.go(0.5)
    bench.desk.moved_to = corner
    with pytest.raises(UserHalt, match="corner of the screen"):
        bench.go(0.05)
    assert bench.kinds == ["key_down", "key_up"]


def test_panic_keys_stop_it_for_good() -> None:
    bench = Bench(Rules(yield_to_person=False, panic=("ctrl", "alt", "end")))
    bench.begin(HoldKey(key="up", seconds=5))
    bench.go(0.5)
    bench.desk.keys |= {"ctrl", "alt"}
    bench.go(0.1)
    bench.desk.keys.add("end")
    with pytest.raises(UserHalt, match=r"panic keys ctrl\+alt\+end"):
        bench.go(0.05)
    assert bench.kinds == ["key_down", "key_up"]


def test_an_agent_that_was_taken_for_dead_begins_anew() -> None:
    bench = Bench()
    hold = bench.begin(HoldKey(key="up", seconds=5))
    bench.go(0.5)
    bench.guardian.believes = False
    bench.go(0.05)
    assert (why(hold), bench.kinds[-1], len(bench.stepper.ledger)) == ("halted", "key_up", 0)


def held(bench: Bench, names: Sequence[str]) -> None:
    hands = Hands(Motion())
    for name in names:
        hands.key_down(name)
    hands.press(ONE)
    bench.stepper.begin(Running(number=9, plan=hands.plan, transform=SEEN.frame.transform))
    bench.go(0.01)


def test_all_is_released_once_the_modifiers_last() -> None:
    bench = Bench()
    held(bench, ["shift", "a", "ctrl", "b"])
    for _ in range(2):
        bench.stepper.stop(Refusal(reason="cancelled", detail="the run stopped"))
    released = [event[1] for event in bench.dry.events if event[0] in ("key_up", "release")]
    assert released == ["left", "b", "a", "ctrl", "shift"]
    assert [line for line in bench.guardian.told if line[0] == "-"] == ["-left", "-b", "-a", "-ctrl", "-shift"]
