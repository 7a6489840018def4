"""What a run did, counted as it goes and printed at its end."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agent.session.records import TickRecord
from grammar.canary import Enforcement

Ending = Literal["won", "lost", "done", "gave_up", "stuck", "blocked", "closed", "stopped", "ticks", "time", "until"]

VALID_FIRST_FLOOR = 0.98  # below it the grammar is suspect: it lets through what the validator refuses


def _figures() -> array[float]:
    """Figures of a night: 4 bytes each."""
    return array("f")


@dataclass(slots=True, kw_only=True)
class RunReport:
    """A run's figures.

    Attributes:
        ending: ``won`` and ``lost`` are the bot's word, ``done`` and ``gave_up`` the model's; ``stuck``: no
            progress; ``blocked``: the window could not be seen for too long; ``closed``: the window is gone;
            ``stopped``: by the user; ``ticks``, ``time``, ``until``: the limit is reached. None: it is not over, or
            something of ours broke.
        detail: the ending in words, with the cure where there is one.
        held: decisions whose first reply's host claimed this tick's grammar, and kept to it.
        constraint: whether the model's host kept to the last canary. None: it takes no grammar.
        late: ticks that ended after their deadline.
        skipped: deadlines that no tick met.
        unanswered: why the model did not answer -> how often.
        slow: stage -> ticks in which it took longer than it should.
        refuted: cause -> how many actions did not do what they should.
        rungs: of the ladder -> how often it was taken.
        refusals: reason -> how many actions were not delivered, or ended early, because of it.
        gaps_ms: of each action, the longest time from a check's first question to the end of the event it was for.
        began_late_ms: of each tick but the first, how long after its deadline it began; in real time alone.
        times_ms: stage -> each tick's time.
    """

    ending: Ending | None = None
    detail: str = ""
    ticks: int = 0
    decisions: int = 0
    valid_first: int = 0
    held: int = 0
    constraint: Enforcement | None = None
    repairs: int = 0
    no_ops: int = 0
    actions: int = 0
    refused: int = 0
    forward_passes: int = 0
    late: int = 0
    skipped: int = 0
    confirmed: int = 0
    unanswered: dict[str, int] = field(default_factory=dict)
    slow: dict[str, int] = field(default_factory=dict)
    refuted: dict[str, int] = field(default_factory=dict)
    rungs: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    gaps_ms: array[float] = field(default_factory=_figures)
    began_late_ms: array[float] = field(default_factory=_figures)
    times_ms: dict[str, array[float]] = field(default_factory=dict)

    def add(self, record: TickRecord) -> None:
        """Count one tick."""
        self.ticks += 1
        for stage, ms in record.times_ms.items():
            self.times_ms.setdefault(stage, _figures()).append(ms)
        self.confirmed += record.verification == "confirmed"
        _count(self.refuted, record.cause)
        _count(self.rungs, record.rung)
        for ended in record.ended:
            _count(self.refusals, ended.reason)
        if record.delivery is not None:
            _count(self.refusals, record.delivery.reason)
            self.actions += record.delivery.outcome == "delivered"
            self.refused += record.delivery.outcome == "refused"
            if record.delivery.gap_ms is not None:
                self.gaps_ms.append(record.delivery.gap_ms)
        _count(self.unanswered, record.unanswered)
        self.no_ops += record.unanswered is not None
        if not record.attempts:
            return
        self.decisions += 1
        first = record.attempts[0]
        self.valid_first += first.fault is None
        self.held += first.fault is None and first.claim is not None
        self.repairs += len(record.attempts) > 1
        self.no_ops += record.action is None
        self.forward_passes += sum(attempt.usage.forward_passes for attempt in record.attempts)

    def over_budget(self, record: TickRecord, budgets_ms: Mapping[str, float]) -> None:
        """Count the stages of a tick that took longer than they should."""
        for stage, ms in record.times_ms.items():
            if ms > budgets_ms.get(stage, float("inf")):
                _count(self.slow, stage)

    @property
    def valid_first_rate(self) -> float | None:
        """Share of decisions whose first reply held. None: nothing was decided."""
        return self.valid_first / self.decisions if self.decisions else None

    @property
    def on_time_rate(self) -> float | None:
        """Share of ticks that ended before their deadline. None: no tick."""
        return 1 - self.late / self.ticks if self.ticks else None

    def percentile(self, stage: str, q: float) -> float | None:
        """A percentile of a stage's time, in milliseconds. None: the stage never ran."""
        times = self.times_ms.get(stage)
        return float(np.percentile(times, q)) if times else None

    def summary(self) -> dict[str, float | int | str | None]:
        """The figures as one flat table, fit for JSON."""
        return {
            "ending": self.ending or "error",
            "detail": self.detail,
            "ticks": self.ticks,
            "decisions": self.decisions,
            "valid_first_rate": self.valid_first_rate,
            "held_rate": self.held / self.decisions if self.decisions else None,
            "constraint": self.constraint,
            "repairs": self.repairs,
            "no_ops": self.no_ops,
            "actions": self.actions,
            "refused": self.refused,
            "refused_for": _told(self.refusals),
            "confirmed": self.confirmed,
            "refuted": sum(self.refuted.values()),
            "refuted_for": _told(self.refuted),
            "ladder": _told(self.rungs),
            "check_to_event_ms_p50": float(np.percentile(self.gaps_ms, 50)) if self.gaps_ms else None,
            "check_to_event_ms_p99": float(np.percentile(self.gaps_ms, 99)) if self.gaps_ms else None,
            "late_ticks": self.late,
            "skipped_ticks": self.skipped,
            "on_time_rate": self.on_time_rate,
            "began_late_ms_p99": float(np.percentile(self.began_late_ms, 99)) if self.began_late_ms else None,
            "over_budget": _told(self.slow),
            "unanswered": _told(self.unanswered),
            "grammar_ms_p50": self.percentile("grammar", 50),
            "grammar_ms_p95": self.percentile("grammar", 95),
            "model_ms_p50": self.percentile("model", 50),
            "model_ms_p95": self.percentile("model", 95),
            "tick_ms_p50": self.percentile("tick", 50),
            "tick_ms_p95": self.percentile("tick", 95),
            "forward_passes_per_action": self.forward_passes / self.actions if self.actions else None,
        }

    @property
    def suspicion(self) -> str | None:
        """What the figures accuse. None: nothing."""
        if self.constraint == "dropped":
            return "The model's host drops its grammar: what it said was judged by its value alone."
        rate = self.valid_first_rate
        if rate is not None and rate < VALID_FIRST_FLOOR:
            return (
                f"The grammar is suspect: {rate:.0%} of the first replies held, expected at least "
                f"{VALID_FIRST_FLOOR:.0%}. Either the host does not constrain, or grammar and validator disagree."
            )
        return None


def _count(counts: dict[str, int], reason: str | None) -> None:
    if reason is not None:
        counts[reason] = counts.get(reason, 0) + 1


def _told(counts: dict[str, int]) -> str | None:
    """``covered_by 2, rate 1``. None: nothing was counted."""
    return ", ".join(f"{reason} {n}" for reason, n in sorted(counts.items())) or None
