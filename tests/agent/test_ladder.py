"""The signals, and the rungs that they lead to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ladder import RUNGS, Ladder, Rung, Steps
from agent.signals import Limits, Outcome, Signals, Turn

ROWS, COLUMNS = 15, 20


def screen(*values: int) -> "np.typing.NDArray[np.uint64]":
    """A screen whose first tiles show these, and all others the same always."""
    tiles = np.zeros((ROWS, COLUMNS), np.uint64)
    tiles.flat[: len(values)] = values
    return tiles


def turn(*shown: int, does: str | None = "click", outcome: Outcome = "confirmed", progress: object = None) -> Turn:
    return Turn(
        tiles=screen(*shown),
        action=does,
        target=None if does is None else hash(does) % 1000,
        sent=does not in (None, "wait"),
        outcome="inconclusive" if does in (None, "wait") else outcome,
        progress=progress,
    )


def given_after(*turns: Turn) -> tuple[str, ...]:
    signals = Signals()
    for each in turns:
        signals.add(each)
        if signals.new:
            signals.start_again()
    return signals.given


START = Turn(tiles=screen(), decided=False)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([turn(does=f"c{i}", outcome="inconclusive") for i in range(5)], ()),
        ([turn(does=f"c{i}", outcome="inconclusive") for i in range(6)], ("stasis",)),
        ([turn(does="wait") for _ in range(50)], ()),
        ([turn(i, does=f"c{i}") for i in range(50)], ()),
        ([turn(does=f"c{i}", outcome="refuted") for i in range(5)], ()),
        ([turn(*[i % 2] * 30, does=f"c{i}", outcome="refuted") for i in range(6)], ("failures",)),
        ([turn(i, does=f"c{i}", outcome="refuted" if i % 2 else "confirmed") for i in range(40)], ()),
        ([turn(i % 2, does=f"c{i % 2}") for i in range(5)], ()),
        ([turn(*[i % 2] * 30, does=f"c{i % 2}") for i in range(8)], ("cycle",)),
        ([turn(i % 6, does=f"c{i % 6}") for i in range(14)], ()),
        ([turn(i % 6, does=f"c{i % 6}") for i in range(20)], ("cycle",)),
        ([turn(does=None) for _ in range(2)], ()),
        ([turn(does=None) for _ in range(3)], ("no_ops",)),
        ([turn(i, does=f"c{i}", progress=5) for i in range(20)], ()),
        ([turn(i, does=f"c{i}", progress=5) for i in range(21)], ("stall",)),
        ([turn(i, does=f"c{i}", progress=i // 10) for i in range(60)], ()),
        ([turn(i, does=f"c{i}", progress=i % 2) for i in range(60)], ("stall",)),
    ],
)
def test_each_signal(turns: list[Turn], expected: tuple[str, ...]) -> None:
    assert given_after(START, *turns) == expected


def clock(i: int) -> int:
    """Seconds, at two ticks a second."""
    return i // 2


def test_a_clock_as_the_only_change_is_no_change() -> None:
    keys = [turn(clock(i), does=f"k{i % 4}", outcome="confirmed") for i in range(16)]
    assert "stasis" in given_after(START, *keys)


def test_a_clock_that_was_seen_to_run_alone_is_known_at_once() -> None:
    signals = Signals()
    for each in [START, *[turn(i, does="wait") for i in range(1, 5)]]:
        signals.add(each)
    assert [tuple(where) for where in np.argwhere(signals.restless)] == [(0, 0)]


def test_a_small_thing_that_only_changes_when_something_is_done_is_no_clock() -> None:
    """Every second action moves it, and it stands still while nothing is done."""
    turns = [turn((i + 1) // 2, does=f"c{i}" if i % 2 else "wait", outcome="confirmed") for i in range(32)]
    signals = Signals()
    for each in [START, *turns]:
        signals.add(each)
    assert not signals.restless.any()


def test_a_small_thing_that_changes_now_and_then_is_no_clock() -> None:
    """A clock keeps time; this changes after one action, and then after four."""
    signals, shown = Signals(), 0
    signals.add(START)
    for i in range(1, 15):
        shown += i % 5 in (1, 2)
        signals.add(turn(shown, does=f"k{i}"))
        assert not signals.restless.any()


def test_a_window_of_another_size_is_another_screen() -> None:
    signals = Signals()
    for _ in range(8):
        signals.add(turn(does="c", outcome="refuted"))
    assert signals.given
    signals.add(Turn(tiles=np.zeros((3, 3), np.uint64)))
    assert signals.given == ()


def climbed(ladder: Ladder, turns: list[Turn]) -> list[Rung | None]:
    return [ladder.update(each) for each in turns]


def dead(n: int) -> list[Turn]:
    return [START, *[turn(does=f"c{i}", outcome="refuted") for i in range(n)]]


def test_the_rungs_are_climbed_in_order_each_once_and_it_ends() -> None:
    taken = climbed(Ladder(), dead(60))
    assert [rung for rung in taken if rung] == list(RUNGS)
    assert [i for i, rung in enumerate(taken) if rung] == [6, 10, 14, 18, 22, 26]


def test_progress_ends_the_episode_and_a_new_one_begins_below() -> None:
    ladder = Ladder()
    assert climbed(ladder, dead(10))[-4:] == [None, None, None, "suppress"]
    assert ladder.why == ("stasis", "failures")
    assert ladder.update(turn(1, does="new")) is None
    assert ladder.climbed == 0
    taken = [rung for rung in climbed(ladder, dead(10)[1:]) if rung]
    assert taken == ["retry", "suppress"]


def test_what_was_shown_before_is_no_progress() -> None:
    ladder = Ladder()
    climbed(ladder, [START, turn(1, does="a"), turn(2, does="b")])
    taken = climbed(ladder, [turn(i % 2, does=f"p{i % 2}") for i in range(1, 40)])
    assert [rung for rung in taken if rung] == list(RUNGS)


def test_with_a_sensor_of_progress_another_screen_does_not_end_a_stall() -> None:
    taken = climbed(Ladder(), [START, *[turn(i, does=f"c{i}", progress=1) for i in range(45)]])
    assert [rung for rung in taken if rung] == [rung for rung in RUNGS if rung != "suppress"]  # nothing was in vain
    assert taken.index("retry") == 21


def test_a_target_that_does_nothing_leaves_the_grammar_and_comes_back() -> None:
    ladder = Ladder()
    target = turn(does="c").target
    ladder.update(turn(does="c", outcome="refuted"))
    assert list(ladder.suppressed) == []
    ladder.update(turn(does="c", outcome="refuted"))
    for _ in range(6):
        assert list(ladder.suppressed) == [target]
        ladder.update(turn(does="wait"))
    assert list(ladder.suppressed) == []


def test_one_success_clears_a_targets_name() -> None:
    ladder = Ladder()
    for i, outcome in enumerate(("refuted", "confirmed", "refuted")):
        ladder.update(turn(i, does="c", outcome=outcome))  # type: ignore[arg-type]
    assert list(ladder.suppressed) == []


def test_the_second_rung_takes_out_the_targets_of_a_round() -> None:
    ladder = Ladder()
    turns = [START, *[turn(i % 2, does=f"p{i % 2}") for i in range(40)]]
    for each in turns:
        if ladder.update(each) == "suppress":
            break
    assert set(ladder.suppressed) == {turn(does="p0").target, turn(does="p1").target}


def test_waiting_is_no_failure_but_not_for_ever() -> None:
    ladder = Ladder(steps=Steps(idle=10))
    assert [ladder.update(turn(does="wait"), waited=True) for _ in range(11)] == [*[None] * 9, "give_up", "give_up"]


def test_thresholds_are_the_bots() -> None:
    ladder = Ladder.of(Limits(stasis=2, failures_least=99), Steps(dwell=1))
    taken = climbed(ladder, dead(10))
    assert [i for i, rung in enumerate(taken) if rung] == [2, 3, 4, 5, 6, 7]


TURNS = st.builds(
    lambda shown, does, outcome: turn(shown, does=does, outcome=outcome),
    st.integers(0, 3),
    st.sampled_from(["a", "b", "wait", None]),
    st.sampled_from(["confirmed", "refuted", "inconclusive"]),
)


@given(st.lists(TURNS, max_size=120))
def test_whatever_happens_no_rung_is_left_out_or_taken_twice_in_an_episode(turns: list[Turn]) -> None:
    ladder, taken = Ladder(), list[Rung]()
    for each in turns:
        rung = ladder.update(each)
        if ladder.climbed <= 1 and not (rung is None and ladder.climbed == 1):
            taken = []
        if rung:
            taken.append(rung)
        assert [*taken, *(["suppress"] if "suppress" not in taken else [])] == [
            *(rung for rung in RUNGS[: ladder.climbed] if rung in taken or rung != "suppress"),
            *(["suppress"] if "suppress" not in taken else []),
        ]


@pytest.mark.parametrize(("pending", "by_itself"), [(False, True), (True, False)])
def test_what_changes_while_an_action_may_still_have_its_effect_does_not_change_by_itself(
    pending: bool, by_itself: bool
) -> None:
    signals = Signals()
    for look in range(8):
        signals.add(Turn(tiles=screen(look), decided=False, pending=pending))
    assert bool(signals.restless_alone[0, 0]) == by_itself
    assert not signals.restless_alone[0, 1:].any()
