"""The minimal ladder, and the judgement that feeds it."""

from dataclasses import replace

import pytest

from actuation.executor import Delivery
from actuation.tools import Click, PressKey, Wait
from agent.ladder import Ladder, Outcome
from agent.testing import frame, observation
from agent.verify import judge
from perception.geometry import Box

DELIVERED = Delivery(outcome="delivered", point=None)
REFUSED = Delivery(outcome="refused", point=None, reason="moved")


def test_a_target_that_does_nothing_leaves_the_grammar_and_comes_back() -> None:
    ladder = Ladder()
    ladder.update("refuted", 7)
    assert list(ladder.suppressed) == []
    ladder.update("refuted", 7)
    assert list(ladder.suppressed) == [7]
    for _ in range(5):
        ladder.update("inconclusive", None)
        assert list(ladder.suppressed) == [7]
    ladder.update("inconclusive", None)
    assert list(ladder.suppressed) == []


def test_progress_resets_the_counts() -> None:
    ladder = Ladder()
    ladder.update("refuted", 7)
    ladder.update("confirmed", 7)
    ladder.update("refuted", 7)
    assert list(ladder.suppressed) == []
    assert ladder.flat == 1


@pytest.mark.parametrize("outcome", ["refuted", "inconclusive"])
def test_it_always_ends(outcome: Outcome) -> None:
    ladder = Ladder()
    for _ in range(19):
        ladder.update(outcome, 7)
        assert not ladder.stuck
    ladder.update(outcome, 7)
    assert ladder.stuck


def test_a_changed_target_confirms_an_unchanged_one_refutes() -> None:
    before, after = observation({7: "safe"}), observation({7: "safe"}, shade=129)
    assert judge(Click(mark=7), DELIVERED, before, after) == "confirmed"
    assert judge(Click(mark=7), DELIVERED, before, before) == "refuted"


def test_a_change_elsewhere_is_not_the_targets() -> None:
    before, after = observation({7: "safe"}), observation({7: "safe"})
    after.frame.pixels[200:, 200:] = 0
    assert judge(Click(mark=7), DELIVERED, before, after) == "refuted"


def test_a_key_is_judged_by_the_whole_window() -> None:
    before, after = observation({}), observation({})
    after.frame.pixels[200, 200] = 0
    sent = replace(DELIVERED, gap_ms=1.0)
    assert judge(PressKey(key="left"), sent, before, after) == "confirmed"
    assert judge(PressKey(key="left"), sent, before, before) == "refuted"
    assert judge(PressKey(key="left"), REFUSED, before, after) == "inconclusive"


def test_what_cannot_be_judged_counts_neither_way() -> None:
    seen = observation({7: "safe"})
    moved = replace(seen, frame=frame(client=Box(101, 50, 320, 240)))
    assert judge(None, None, seen, seen) == "inconclusive"
    assert judge(Wait(), DELIVERED, seen, seen) == "inconclusive"
    assert judge(Click(mark=7), REFUSED, seen, seen) == "inconclusive"
    assert judge(Click(mark=7), DELIVERED, seen, moved) == "inconclusive"
    assert judge(Click(mark=7), DELIVERED, None, seen) == "inconclusive"
