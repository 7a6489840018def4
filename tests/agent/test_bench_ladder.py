"""Labelled traces: what the ladder tells of them, and that the measure itself counts right."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agent.bench_ladder import OurLadder, Row, SameActions, SameHashes, first_told, measure
from agent.progress import Step
from agent.testing.traces import Trace, recorded
from agent.testing.worlds import LENGTH, World, drawn
from tests.agent.commands import onmark

TRACES = Path(__file__).parents[1] / "traces"
DRAWN = list(drawn())
RECORDED = list(recorded(TRACES))


@pytest.mark.parametrize("trace", [*DRAWN, *RECORDED], ids=lambda trace: trace.name)
def test_it_is_told_when_it_is_stuck_and_not_before(trace: Trace) -> None:
    told = first_told(OurLadder(trace), trace)
    if trace.stuck_from is None:
        assert told is None
    else:
        assert told is not None
        assert trace.stuck_from < told


def test_an_effect_that_comes_late_is_the_actions_own_and_nothing_that_changes_by_itself() -> None:
    late = next(each for each in DRAWN if each.name == "a game that reacts late 1")
    ladder = OurLadder(late)
    assert not any(ladder.stuck(step) for step in late.steps)
    signals = ladder._progress._ladder.signals
    assert not signals.restless_alone.any()
    assert {turn.outcome for turn in list(signals.turns)[:-3] if turn.sent} == {"confirmed"}


def test_there_are_sixty_traces_of_each_kind_and_they_are_the_same_each_time() -> None:
    assert len(DRAWN) + len(RECORDED) >= 120
    assert sum(trace.stuck_from is None for trace in (*DRAWN, *RECORDED)) >= 50
    again = list(drawn())
    assert [t.name for t in again] == [t.name for t in DRAWN]
    looks = [[step.seen.frame.digest for step in trace.steps] for trace in again]
    assert looks == [[step.seen.frame.digest for step in trace.steps] for trace in DRAWN]


def trace(name: str, *, stuck_from: int | None) -> Trace:
    world = World()
    for _ in range(LENGTH):
        world.click(0)
    return Trace(name=name, stuck_from=stuck_from, steps=world.steps)


def test_the_measure_counts_what_is_missed_false_and_late() -> None:
    row = Row(way="any")
    for name, stuck_from, told in (("a", 5, None), ("b", 5, 5), ("c", 5, 9), ("d", None, 7), ("e", None, None)):
        row.add(trace(name, stuck_from=stuck_from), told)
    assert (row.stuck, row.fine, row.missed, row.false, row.ticks) == (3, 2, ["a"], ["b", "d"], [4])
    assert row.missed_rate == pytest.approx(1 / 3)
    assert row.false_rate == pytest.approx(2 / 5)


def test_the_baselines_are_what_they_say() -> None:
    still = trace("still", stuck_from=0)
    assert first_told(SameHashes(still), still) == 9
    assert first_told(SameActions(still), still) == 11
    waits = replace(still, steps=[replace(step, spelling=str(i % 2)) for i, step in enumerate(still.steps)])
    assert first_told(SameActions(waits), waits) is None


class Never:
    """Tells nothing."""

    def stuck(self, step: Step) -> bool:
        return False


def test_an_agent_that_is_never_told_is_missed() -> None:
    (row,) = measure([trace("a", stuck_from=0)], {"never": lambda _: Never()})
    assert row.missed == ["a"]


def test_a_label_that_is_none_is_named(tmp_path: Path) -> None:
    shutil.copytree(TRACES / "mines-outside", tmp_path / "one")
    label = tmp_path / "one" / "label.json"
    for wrong in ({}, {"stuck_from": 3, "stuck": True}):
        label.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=r"one/label.json: expected stuck_from"):
            list(recorded(tmp_path))


def test_the_command_prints_the_table_and_the_names(tmp_path: Path) -> None:
    shutil.copytree(TRACES / "mines-outside", tmp_path / "one")
    (tmp_path / "one" / "label.json").write_text('{"stuck_from": null}')
    code, said = onmark("bench", "ladder", str(tmp_path), "--no-drawn", "--names", "--check")
    assert code == 1
    assert "the ladder told falsely: one" in said
    assert "missed: told falsely: expected at most 5%, found 100.0%" in said
    code, said = onmark("bench", "ladder", str(tmp_path / "none"))
    assert (code, "found no folder with a label.json" in said) == (2, True)
