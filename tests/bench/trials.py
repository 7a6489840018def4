"""Trials and what they come to: shares with intervals, attempts, time, faults."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, median

from grammar.boundary import Fault, ask
from grammar.engine import Verifier
from grammar.reply import Reply
from tests.bench.arms import Arm, BenchModel
from tests.bench.requests import Request

RETRIES = (0, 1, 2)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One request, asked in one way, with the largest budget.

    A smaller budget makes the same attempts and stops earlier: what would have come of it is read off here.

    Attributes:
        arm: the way.
        kind: sort of type.
        task: what was asked.
        texts: the answers, in order.
        faults: the kind of each attempt's fault and its message; one less than attempts where the last one held.
        valid: the last attempt held.
        right: it held, and its value is the one that was asked for.
        milliseconds: of each attempt, the building of the constraint with it.
        tokens: written in each attempt.
    """

    arm: str
    kind: str
    task: str
    texts: list[str]
    faults: list[tuple[str, str]]
    valid: bool
    right: bool
    milliseconds: list[float]
    tokens: list[int]

    def within(self, retries: int) -> bool:
        """True when an attempt held under a budget."""
        return self.valid and len(self.texts) <= retries + 1

    def attempts(self, retries: int) -> int:
        """Attempts that were made under a budget."""
        return min(len(self.texts), retries + 1)


def run(arm: Arm, request: Request, index: int, model: BenchModel, verifier: Verifier) -> Trial:
    """Ask for one thing in one way."""
    milliseconds: list[float] = []
    tokens: list[int] = []
    asker = arm.asker(request, index)

    def complete(fault: Fault | None) -> Reply:
        started, written = time.perf_counter(), model.written
        reply = asker(fault)
        milliseconds.append(1000 * (time.perf_counter() - started))
        tokens.append(model.written - written)
        return reply

    outcome = ask(complete, request.language, verifier, max(RETRIES))
    faults = [attempt.verdict.fault for attempt in outcome.attempts]
    return Trial(
        arm=arm.name,
        kind=request.kind,
        task=request.task,
        texts=[attempt.reply.text for attempt in outcome.attempts],
        faults=[(fault.kind, fault.message) for fault in faults if fault is not None],
        valid=faults[-1] is None,
        right=faults[-1] is None and outcome.value == request.right,
        milliseconds=milliseconds,
        tokens=tokens,
    )


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What one way came to under one budget. ``right`` is of all requests, not of the valid ones."""

    arm: str
    retries: int
    requests: int
    valid: int
    low: float
    high: float
    right: int
    mean_attempts: float
    median_ms: float
    mean_tokens: float


def summarise(arm: str, trials: Sequence[Trial], retries: int) -> Summary:
    """The numbers of some trials under one budget."""
    valid = sum(trial.within(retries) for trial in trials)
    low, high = wilson(valid, len(trials))
    return Summary(
        arm=arm,
        retries=retries,
        requests=len(trials),
        valid=valid,
        low=low,
        high=high,
        right=sum(trial.right and trial.within(retries) for trial in trials),
        mean_attempts=mean(trial.attempts(retries) for trial in trials),
        median_ms=median(sum(trial.milliseconds[: retries + 1]) for trial in trials),
        mean_tokens=mean(sum(trial.tokens[: retries + 1]) for trial in trials),
    )


def wilson(hits: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def common_faults(trials: Sequence[Trial], most: int = 4) -> list[tuple[str, int]]:
    """The most frequent faults of first attempts, what was found left out."""
    firsts = [trial.faults[0] for trial in trials if trial.faults]
    return Counter(f"{kind}: {_kind_of(message)}" for kind, message in firsts).most_common(most)


def _kind_of(message: str) -> str:
    """A message without what differs from request to request."""
    said = re.sub(r"\([^()]*\)", "", message.partition(", found ")[0])
    said = re.sub(r"label of mark \d+, .*", "label of that mark", said)
    return re.sub(r"\d+", "#", said)[:70].strip()
