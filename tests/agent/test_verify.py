"""How an action turned out, and why it did not do what it should."""

from dataclasses import replace

import numpy as np
import pytest

from actuation.executor import Delivery
from actuation.tools import Click, PressKey, Tool, Wait
from agent.signals import Outcome
from agent.testing import frame, observation
from agent.verify import Cause, Done, Verdict, judge
from perception.geometry import Box
from perception.observation import Observation

DELIVERED = Delivery(outcome="delivered", point=None, gap_ms=1.0)
NOWHERE = np.zeros((0, 0), np.bool_)
BEFORE = observation({7: "safe"})
CLICK, KEY = Click(mark=7), PressKey(key="left")


def changed(row: int, column: int, labels: dict[int, str | None] | None = None) -> Observation:
    """The screen with one pixel changed."""
    after = observation({7: "safe"} if labels is None else labels)
    after.frame.pixels[row, column] = 0
    return after


def said(
    action: Tool,
    after: Observation,
    delivery: Delivery = DELIVERED,
    effect: str | None = None,
    *,
    ended_early: bool = False,
    failed_before: bool = False,
) -> tuple[Outcome, Cause | None]:
    done = Done(action=action, delivery=delivery, seen=BEFORE, ended_early=ended_early, failed_before=failed_before)
    found = judge(done, after, effect=effect, restless=NOWHERE)
    return found.outcome, found.cause


def test_a_change_at_the_target_or_beside_it_confirms() -> None:
    """The mark is at (0, 0) and 16 pixels wide; half of that on each side is its neighbourhood."""
    assert said(CLICK, changed(3, 3)) == ("confirmed", None)
    assert said(CLICK, changed(23, 3)) == ("confirmed", None)
    assert said(CLICK, changed(24, 3)) == ("refuted", "grounding")


def test_a_key_is_judged_by_the_whole_window() -> None:
    assert said(KEY, changed(200, 200)) == ("confirmed", None)
    assert said(KEY, BEFORE) == ("refuted", "game")


@pytest.mark.parametrize(
    ("told", "expected"), [(True, ("confirmed", None)), (False, ("refuted", "choice")), (None, ("inconclusive", None))]
)
def test_a_sensor_that_is_declared_decides_and_an_undefined_one_does_not(
    told: bool | None, expected: tuple[Outcome, Cause | None]
) -> None:
    after = replace(changed(3, 3), sensors={"score_rose": told})
    assert said(CLICK, after, effect="score_rose") == expected


def test_each_cause() -> None:
    assert said(CLICK, BEFORE) == ("refuted", "game")
    assert said(CLICK, BEFORE, failed_before=True) == ("refuted", "choice")
    assert said(CLICK, BEFORE, ended_early=True) == ("refuted", "execution")
    assert said(CLICK, BEFORE, replace(DELIVERED, outcome="refused", reason="covered_by")) == ("refuted", "execution")
    assert said(CLICK, replace(BEFORE, found=frozenset({8}))) == ("refuted", "perception")
    assert said(CLICK, replace(observation({8: "other"}), found=frozenset({7, 8}))) == ("refuted", "game")
    assert said(CLICK, changed(200, 200)) == ("refuted", "grounding")


def test_what_cannot_be_judged_counts_neither_way() -> None:
    moved = replace(BEFORE, frame=frame(client=Box(101, 50, 320, 240)))
    moving = replace(BEFORE, frame=replace(changed(3, 3).frame, moving=True))
    unknown = ("inconclusive", None)
    assert said(Wait(), changed(3, 3), replace(DELIVERED, gap_ms=None)) == unknown
    assert said(CLICK, BEFORE, replace(DELIVERED, outcome="refused", reason="halted")) == unknown
    assert said(CLICK, moved) == unknown
    assert said(CLICK, moving) == unknown
    assert said(CLICK, replace(BEFORE, frame=frame(width=336))) == unknown


def test_what_changes_by_itself_confirms_nothing() -> None:
    restless = np.zeros((15, 20), np.bool_)
    restless[0, 0] = True
    done = Done(action=CLICK, delivery=DELIVERED, seen=BEFORE)
    assert judge(done, changed(3, 3), restless=restless) == Verdict(outcome="refuted", cause="game")
    assert judge(done, changed(3, 17), restless=restless).outcome == "confirmed"
    done = replace(done, action=KEY)
    assert judge(done, changed(3, 3), restless=restless).outcome == "refuted"
