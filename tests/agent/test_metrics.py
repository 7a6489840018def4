"""What a run's figures accuse: the grammar, the model, perception, or nobody."""

import pytest

from agent.metrics import RunReport
from agent.session.records import AttemptRecord, DeliveryRecord, MarkRecord, TickRecord, UsageRecord
from agent.verify import Cause

USAGE = UsageRecord(prompt_tokens=1, reused_tokens=0, evaluated_tokens=1, forward_passes=1)


def tick(
    target: int | None,
    marks: int = 4,
    *,
    cause: Cause | None = None,
    margin: float | None = None,
    mass: float | None = None,
) -> TickRecord:
    """A tick that chose one of some marks, or waited."""
    attempt = AttemptRecord(text="x", finish="stop", claim=None, fault=None, usage=USAGE, margin=margin, mass=mass)
    return TickRecord(
        tick=0,
        marks=[MarkRecord(number=n + 1, box=(0, 0, 1, 1), label="a") for n in range(marks)],
        verification="refuted" if cause else "confirmed",
        cause=cause,
        attempts=[attempt],
        action='{"tool":"x"}',
        target=target,
        delivery=DeliveryRecord(
            outcome="delivered", point=None, reason=None, detail="", gap_ms=None if target is None else 1.0
        ),
    )


def report(*ticks: TickRecord) -> RunReport:
    made = RunReport()
    for each in ticks:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("targets", "marks", "suspect"),
    [
        ([1] * 20, 4, True),
        ([1] * 19, 4, False),
        ([1] * 18 + [2] * 2, 4, True),
        ([1] * 17 + [2] * 3, 4, False),
        ([1] * 20, 2, True),
        ([1] * 20, 1, False),
        ([2] * 20, 4, False),
    ],
)
def test_a_model_that_takes_the_first_mark_always_is_suspect(targets: list[int], marks: int, suspect: bool) -> None:
    said = report(*(tick(target, marks) for target in targets)).suspicion
    assert (said is not None and said.startswith("The model is suspect")) == suspect


@pytest.mark.parametrize(("missed", "suspect"), [(5, False), (6, True)])
def test_perception_is_suspect_when_actions_hit_beside(missed: int, suspect: bool) -> None:
    causes: list[Cause] = ["grounding", "perception"] * 3
    ticks = [tick(2, cause=causes[i] if i < missed else None) for i in range(20)]
    said = report(*ticks).suspicion
    assert (said is not None and said.startswith("Perception is suspect")) == suspect


@pytest.mark.parametrize(
    ("margin", "mass", "many", "says"),
    [
        (0.29, None, 20, "a margin of 0.29 nats"),
        (0.31, None, 20, None),
        (0.29, None, 19, None),
        (None, 0.49, 20, "49% of its probability"),
        (None, 0.51, 20, None),
        (5.0, 0.49, 20, "49% of its probability"),
    ],
)
def test_a_model_that_hardly_prefers_or_hardly_means_what_it_says_is_suspect(
    margin: float | None, mass: float | None, many: int, says: str | None
) -> None:
    said = report(*[tick(2, margin=margin, mass=mass)] * many).suspicion
    assert (said is None) == (says is None)
    assert says is None or (said is not None and says in said)


def test_the_pressure_on_the_model_is_in_the_report() -> None:
    figures = report(tick(None), tick(1, margin=0.5), tick(2, margin=1.5), tick(1, 1)).summary()
    assert figures["wait_rate"] == 0.25
    assert figures["forced_rate"] == 0.25
    assert (figures["first_mark_rate"], figures["first_mark_rate_by_chance"]) == (0.5, 0.25)
    assert figures["margin_p50"] == 1.0
