"""What a run did, counted as it goes and printed at its end."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agent.session.records import TickRecord
from grammar.canary import Enforcement

Ending = Literal[
    "won", "lost", "done", "gave_up", "stuck", "blocked", "closed", "no_model", "stopped", "ticks", "time", "until"
]

VALID_FIRST_FLOOR = 0.98  # below it the grammar is suspect: it lets through what the validator refuses
ENOUGH = 20  # decisions, before the model or perception is accused
FIRST_CEILING = 0.9  # share of the decisions that fell on the first of the marks, where chance would be below a half
MARGIN_FLOOR = (
    0.3  # nats, median: the embedded model's is 0.12 where it chooses no better than chance, 0.6 and more else
)
MASS_FLOOR = 0.5  # median: of 120 cases the least that it put on what was legal was 0.81
MISSED_CEILING = 0.3  # share of the actions that hit beside, or whose target could not be found again


def _figures() -> array[float]:
    """Figures of a night: 4 bytes each."""
    return array("f")


@dataclass(slots=True, kw_only=True)
class RunReport:
    """A run's figures.

    Attributes:
        ending: ``won`` and ``lost`` are the bot's word, ``done`` and ``gave_up`` the model's; ``stuck``: no
            progress; ``blocked``: the window could not be seen for too long; ``closed``: the window is gone;
            ``no_model``: its host was away for too long; ``stopped``: by the user; ``ticks``, ``time``, ``until``:
            the limit is reached. None: it is not over, or something of ours broke.
        detail: the ending in words, with the cure where there is one.
        warnings: what the user should know besides.
        replies: what became of each reply -> how many: ``held`` to the grammar that its host claims, ``unclaimed``
            and right by its value, or the kind of its fault, see ``grammar.boundary.Fault``.
        held: decisions whose first reply's host claimed this tick's grammar, and kept to it.
        constraint: whether the model's host kept to the last canary. None: it takes no grammar.
        late: ticks that ended after their deadline.
        skipped: deadlines that no tick met.
        unanswered: why the model did not answer -> how often.
        slow: stage -> ticks in which it took longer than it should.
        refuted: cause -> how many actions did not do what they should.
        rungs: of the ladder -> how often it was taken.
        chosen_first: decisions among several marks that fell on the first of them, and those by chance, and all.
        waits: decisions for an action that sends nothing.
        none_of_these: of these, those that said that no mark fits.
        forced: decisions with one mark to choose.
        prompt_tokens: of each decision's first prompt, where its host counts them.
        masses: of each reply that says so, the probability that the model put on what was legal.
        margins: of each reply that says so, how far its choice was ahead of the next one, in nats.
        refusals: reason -> how many actions were not delivered, or ended early, because of it.
        gaps_ms: of each action, the longest time from a check's first question to the end of the event it was for.
        began_late_ms: of each tick but the first, how long after its deadline it began; in real time alone.
        times_ms: stage -> each tick's time.
    """

    ending: Ending | None = None
    detail: str = ""
    warnings: list[str] = field(default_factory=list)
    ticks: int = 0
    decisions: int = 0
    valid_first: int = 0
    replies: dict[str, int] = field(default_factory=dict)
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
    chosen_first: tuple[int, float, int] = (0, 0.0, 0)
    waits: int = 0
    none_of_these: int = 0
    forced: int = 0
    masses: array[float] = field(default_factory=_figures)
    margins: array[float] = field(default_factory=_figures)
    prompt_tokens: array[float] = field(default_factory=_figures)
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
        self._choice(record)
        first = record.attempts[0]
        if first.usage.prompt_tokens:
            self.prompt_tokens.append(first.usage.prompt_tokens)
        self.valid_first += first.fault is None
        self.held += first.fault is None and first.claim is not None
        self.repairs += len(record.attempts) > 1
        self.no_ops += record.action is None
        for attempt in record.attempts:
            _count(self.replies, attempt.fault[0] if attempt.fault else "held" if attempt.claim else "unclaimed")
        self.forward_passes += sum(attempt.usage.forward_passes for attempt in record.attempts)

    def _choice(self, record: TickRecord) -> None:
        """What was chosen, of what there was to choose."""
        margin, suppressed = record.attempts[-1].margin, set(record.suppressed)
        if margin is not None:
            self.margins.append(margin)
        if (mass := record.attempts[-1].mass) is not None:
            self.masses.append(mass)
        keys = {mark.number: mark.number if mark.id is None else mark.id for mark in record.marks}
        marks = [number for number, key in keys.items() if key not in suppressed]
        self.forced += len(marks) == 1
        if record.action is not None and record.target is None:
            self.waits += record.delivery is None or record.delivery.gap_ms is None
            self.none_of_these += '"none_of_these"' in record.action
        if record.target in marks and len(marks) > 1:
            first, chance, many = self.chosen_first
            self.chosen_first = (first + (record.target == marks[0]), chance + 1 / len(marks), many + 1)

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
            "replies": _told(self.replies),
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
            "wait_rate": self.waits / self.decisions if self.decisions else None,
            "none_of_these_rate": self.none_of_these / self.decisions if self.none_of_these else None,
            "forced_rate": self.forced / self.decisions if self.decisions else None,
            "first_mark_rate": self.chosen_first[0] / self.chosen_first[2] if self.chosen_first[2] else None,
            "first_mark_rate_by_chance": self.chosen_first[1] / self.chosen_first[2] if self.chosen_first[2] else None,
            "mass_p50": float(np.percentile(self.masses, 50)) if self.masses else None,
            "margin_p50": float(np.percentile(self.margins, 50)) if self.margins else None,
            "began_late_ms_p99": float(np.percentile(self.began_late_ms, 99)) if self.began_late_ms else None,
            "over_budget": _told(self.slow),
            "unanswered": _told(self.unanswered),
            "prompt_tokens_p50": float(np.percentile(self.prompt_tokens, 50)) if self.prompt_tokens else None,
            "prompt_tokens_most": max(self.prompt_tokens) if self.prompt_tokens else None,
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
        return self._suspect_model() or self._suspect_perception()

    def _suspect_model(self) -> str | None:
        if len(self.masses) >= ENOUGH and (mass := float(np.percentile(self.masses, 50))) < MASS_FLOOR:
            return (
                f"The model is suspect: it put {mass:.0%} of its probability on what was legal, and was forced to the "
                "rest. It may not understand what it is asked; see its prompt and examples."
            )
        if len(self.margins) >= ENOUGH and (margin := float(np.percentile(self.margins, 50))) < MARGIN_FLOOR:
            return (
                f"The model is suspect: it chose with a margin of {margin:.2f} nats, no better than one that guesses. "
                "Let labels say what the goal says, and see `label_first`."
            )
        first, chance, many = self.chosen_first
        if many < ENOUGH or first < FIRST_CEILING * many or chance > many / 2:
            return None
        return (
            f"The model is suspect: {first / many:.0%} of its choices fell on the first mark, where chance would be "
            f"{chance / many:.0%}. Valid as its answers are, it may not read the marks."
        )

    def _suspect_perception(self) -> str | None:
        known = self.confirmed + sum(self.refuted.values())
        missed = self.refuted.get("grounding", 0) + self.refuted.get("perception", 0)
        if known < ENOUGH or missed < MISSED_CEILING * known:
            return None
        return (
            f"Perception is suspect: {missed / known:.0%} of the actions hit beside what they were aimed at, or that "
            "could not be found again. See `onmark look`, or declare the tool's effect if it shows elsewhere."
        )


def _count(counts: dict[str, int], reason: str | None) -> None:
    if reason is not None:
        counts[reason] = counts.get(reason, 0) + 1


def _told(counts: dict[str, int]) -> str | None:
    """``covered_by 2, rate 1``. None: nothing was counted."""
    return ", ".join(f"{reason} {n}" for reason, n in sorted(counts.items())) or None
