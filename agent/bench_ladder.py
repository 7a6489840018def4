"""How well the ladder tells that an agent is stuck, beside what others use: over labelled traces."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from actuation.tools import Tool
from agent.bot import Bot
from agent.progress import Progress, Step
from agent.testing.traces import Trace
from perception.sensors import Sensor, Title


class Tells(Protocol):
    """Is fed a trace tick by tick, and says when it takes the agent for stuck."""

    def stuck(self, step: Step) -> bool:
        """Take in a tick: what is seen before it acts, and what it does then. True: the agent is stuck."""
        ...


class OurLadder:
    """The first rung, whichever signal leads to it, with the thresholds that a bot has by default."""

    def __init__(self, trace: Trace) -> None:
        self._progress = Progress(_bot(trace))
        self._last: Step | None = None

    def stuck(self, step: Step) -> bool:
        """True when a rung is to be taken."""
        last, self._last = self._last, step
        return self._progress.judge(last, step.seen, ()).rung is not None


class SameHashes:
    """Ten looks in a row of which the pixels are the same."""

    def __init__(self, _: Trace) -> None:
        self._last: deque[str] = deque(maxlen=10)

    def stuck(self, step: Step) -> bool:
        """True when the ten last looks are one."""
        self._last.append(step.seen.frame.digest)
        return len(self._last) == 10 and len(set(self._last)) == 1


class SameActions:
    """Twelve of the last fifteen actions the same."""

    def __init__(self, _: Trace) -> None:
        self._last: deque[str | None] = deque(maxlen=15)

    def stuck(self, step: Step) -> bool:
        """True when one action is twelve of the last fifteen."""
        self._last.append(step.spelling)
        return any(self._last.count(action) >= 12 for action in set(self._last))


WAYS: Mapping[str, Callable[[Trace], Tells]] = MappingProxyType(
    {
        "the ladder": OurLadder,
        "10 looks the same": SameHashes,
        "12 of 15 actions the same": SameActions,
    }
)


@dataclass(slots=True, kw_only=True)
class Row:
    """What one way told.

    Attributes:
        way: its name.
        stuck: traces in which the agent is stuck.
        fine: traces in which it never is.
        missed: of those, the ones that it never told.
        false: traces in which it told too early, or at all.
        ticks: of each that it told, from the first tick of which nothing came to the one that it told at.
    """

    way: str
    stuck: int = 0
    fine: int = 0
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)

    def add(self, trace: Trace, told_at: int | None) -> None:
        """Count a trace."""
        start = trace.stuck_from
        self.stuck += start is not None
        self.fine += start is None
        if told_at is None:
            if start is not None:
                self.missed.append(trace.name)
        elif start is None or told_at <= start:
            self.false.append(trace.name)
        else:
            self.ticks.append(told_at - start)

    @property
    def missed_rate(self) -> float:
        """Of the traces in which the agent is stuck, how many were not told, 0 to 1."""
        return len(self.missed) / self.stuck if self.stuck else 0.0

    @property
    def false_rate(self) -> float:
        """Of all traces, in how many it was told where it was not so, 0 to 1."""
        return len(self.false) / (self.stuck + self.fine) if self.stuck + self.fine else 0.0

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "way": self.way,
            "stuck": self.stuck,
            "fine": self.fine,
            "missed": self.missed,
            "missed_rate": self.missed_rate,
            "false": self.false,
            "false_rate": self.false_rate,
            "ticks_median": statistics.median(self.ticks) if self.ticks else None,
            "ticks_most": max(self.ticks, default=None),
        }


def measure(traces: Iterable[Trace], ways: Mapping[str, Callable[[Trace], Tells]] = WAYS) -> Sequence[Row]:
    """One row a way, over the same traces."""
    rows = {name: Row(way=name) for name in ways}
    for trace in traces:
        for name, way in ways.items():
            rows[name].add(trace, first_told(way(trace), trace))
    return list(rows.values())


def first_told(way: Tells, trace: Trace) -> int | None:
    """The first tick of a trace at which the agent is taken for stuck. None: none."""
    return next((tick for tick, step in enumerate(trace.steps) if way.stuck(step)), None)


def _bot(trace: Trace) -> Bot:
    """A bot that knows what the trace's bot knew."""
    named = {name: Title() for name in (trace.progress, trace.loading, trace.effect) if name is not None}
    used = {type(step.action) for step in trace.steps if step.action is not None}

    class Traced(Bot):
        """Has the sensors' names; the traces hold what they said."""

        sensors: ClassVar[Mapping[str, Sensor[Any]]] = named
        progress = trace.progress
        loading = trace.loading
        tools = tuple(used)
        effects: ClassVar[Mapping[type[Tool], str]] = dict.fromkeys(used, trace.effect) if trace.effect else {}

    return Traced()
