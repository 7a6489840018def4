"""The tick loop. Everything in this repository happens between ``run``'s two lines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from actuation.errors import InputUnavailable, UserHalt
from actuation.executor import Actuator, Delivery, Ended
from actuation.tools import Tool
from agent.bot import Bot, Result, asked
from agent.clock import Clock, Pace
from agent.decide import Decider, Decision
from agent.errors import BotError
from agent.ladder import Ladder
from agent.metrics import Ending, RunReport
from agent.models.base import Model
from agent.prompt import PromptBuilder
from agent.session.records import (
    TickRecord,
    attempt_record,
    blocked_fields,
    delivery_record,
    ended_record,
    seen_fields,
)
from agent.session.writer import Recorder
from agent.verify import judge
from grammar.engine import Verifier
from grammar.reply import Dialect
from grammar.shape import wire_name
from grammar.tick import TickGrammar, TickLanguage
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed
from perception.observation import MAX_TEXT, Frame, Observation
from perception.perceiver import Perceiver

RECORDED: tuple[Dialect, ...] = (
    "lark",
    "choices",
)  # whose digests a session keeps: what models in process use
BLOCKED_LIMIT = 10  # ticks in a row without an observation; 5 s at 2 Hz

log = structlog.get_logger("onmark")

Watcher = Callable[[TickRecord, Observation | None], None]
"""Told of every tick after it was written: for a status line. Must not raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Last:
    """What the tick before did."""

    seen: Observation
    action: Tool | None
    delivery: Delivery | None
    news: str


class Scheduler:
    """Drives perception, grammar, model and actuation at a fixed rate, and owns the no-progress ladder.

    Args:
        bot: what is played.
        perceiver: where observations come from.
        model: what decides.
        actuator: what delivers.
        recorder: what keeps each tick.
        clock: whose time; a manual one in tests and replays.
        hz: ticks a second.
        watcher: told of every tick. None: nobody watches.
        report: where the figures go, for who wants them when a run breaks too. None: a new one.
    """

    def __init__(
        self,
        *,
        bot: Bot,
        perceiver: Perceiver,
        model: Model,
        actuator: Actuator,
        recorder: Recorder,
        clock: Clock,
        hz: float = 2.0,
        watcher: Watcher | None = None,
        report: RunReport | None = None,
    ) -> None:
        verifier = Verifier()
        self._bot = bot
        self._perceiver = perceiver
        self._decider = Decider(model, PromptBuilder(bot), verifier)
        self._grammar = TickGrammar(bot.tools, verifier, label_first=bot.label_first, proof=bot.proof)
        self._actuator = actuator
        self._recorder = recorder
        self._clock = clock
        self._pace = Pace(clock, hz)
        self._watcher = watcher
        self._ladder = Ladder()
        self._last: _Last | None = None
        self._news: list[str] = []
        self._blocked = 0
        self._times_ms: dict[str, float] = {}
        self.report = report or RunReport()

    def run(self, max_ticks: int | None = None) -> RunReport:
        """Tick until the game or the run is over. Whatever happens, everything held is released.

        Args:
            max_ticks: stop after so many. None: no limit.

        Returns:
            The figures; they are in ``report`` too when this raises.
        """
        try:
            self._decider.prepare()
            self.report.constraint = self._decider.enforcement
            self._pace.start()
            while not self._over(self.tick(), max_ticks):
                self._pace.wait()
        except (KeyboardInterrupt, UserHalt) as stop:
            self._end("stopped", str(stop) or "Interrupted.")
        except (DisplayUnavailable, InputUnavailable) as problem:
            self._end("closed", str(problem))
        finally:
            self._release()
            self._pace.count()
            self._recorder.close()
            self.report.late, self.report.skipped = self._pace.late, self._pace.skipped
            log.info("run", **self.report.summary())
        return self.report

    def _release(self) -> None:
        """Release everything; a display that is gone holds nothing any more."""
        try:
            self._actuator.release_all()
        except InputUnavailable as problem:
            self._end("closed", str(problem))

    def tick(self) -> TickRecord:
        """One tick, from end to end: observe, judge, climb, say, ask, hold, act, write."""
        self._times_ms = {}
        began_ns = self._clock.now_ns()
        fields: dict[str, Any] = {"tick": self.report.ticks}
        seen, frame = self._observe(fields)
        if seen is not None:
            self._judge(seen, fields)
            fields["result"] = self._result(seen)
        ended = self._actuator.ended()
        fields["ended"] = [ended_record(each) for each in ended]
        self._news += [_ending(each) for each in ended]
        if seen is not None and fields["result"] is None:
            self._act(seen, fields)
        self._times_ms["tick"] = (self._clock.now_ns() - began_ns) / 1e6
        record = TickRecord(**fields, times_ms={stage: round(ms, 3) for stage, ms in self._times_ms.items()})
        self._recorder.append(record, frame)
        self.report.add(record)
        if self._watcher is not None:
            self._watcher(record, seen)
        return record

    def _observe(self, fields: dict[str, Any]) -> tuple[Observation | None, Frame | None]:
        """What is on screen, and the pixels; no observation, and the reason in the record, when it cannot be seen."""
        try:
            with self._timed("observe"):
                seen = self._perceiver.observe()
        except NotObservable as problem:
            self._blocked += 1
            fields.update(blocked_fields(problem))
            self._last = None
            if isinstance(problem, WindowClosed):
                self._end("closed", str(problem))
            elif self._blocked >= BLOCKED_LIMIT:
                self._end("blocked", str(problem))
            return None, problem.frame
        self._blocked = 0
        fields.update(seen_fields(seen))
        return seen, seen.frame

    def _judge(self, seen: Observation, fields: dict[str, Any]) -> None:
        """How the last action turned out, and what the ladder makes of it."""
        last = self._last
        if last is not None:
            outcome = judge(last.action, last.delivery, last.seen, seen)
            target = last.action.target if last.action else None
            if outcome == "confirmed" and target is not None:
                self._perceiver.confirmed(last.seen, target)
            key = None if target is None else last.seen.mark(target).key
            if last.delivery is None or last.delivery.reason != "halted":  # while a person is there, nothing fails
                self._ladder.update(outcome, key, waited=_waited(last))
            fields["verification"] = outcome
        fields["suppressed"] = list(self._ladder.suppressed)

    def _result(self, seen: Observation) -> Result | None:
        """The bot's word on whether the game is over."""
        said = asked(self._bot.result)(seen)
        if said not in (None, "won", "lost"):
            raise BotError(f"Expected result() to return 'won', 'lost' or None, found {said!r}.", "Correct the bot.")
        return said

    def _act(self, seen: Observation, fields: dict[str, Any]) -> None:
        """Say, ask, hold, act."""
        news = " ".join([*self._news, self._last.news if self._last else ""]).strip()
        self._news = []
        with self._timed("grammar"):
            suppressed = [mark.number for mark in seen.marks if mark.key in self._ladder.suppressed]
            legal = self._grammar.for_tick(seen.marks, suppressed, seen.cells)
        with self._timed("model"):
            decision = self._decider.decide(seen, legal, news)
        self.report.constraint = self._decider.enforcement
        with self._timed("act"):
            tick = self.report.ticks
            delivery = self._actuator.submit(decision.action, seen, tick) if decision.action else None
        if delivery is not None and delivery.outcome == "delivered":
            self._perceiver.acted()
        self._last = _Last(seen=seen, action=decision.action, delivery=delivery, news=_news(decision, delivery))
        fields.update(self._decided_fields(decision, delivery, legal))
        ends = decision.action.ends if decision.action else None
        if ends is not None:
            self._end(ends, "By the model's word; nothing else says so.")
        elif self._ladder.stuck:
            why = f"No target changed in {self._ladder.flat} tries, after {self._ladder.idle} ticks of waiting."
            self._end("stuck", f"{why} {self._last.news}".strip())

    def _decided_fields(self, decision: Decision, delivery: Delivery | None, legal: TickLanguage) -> dict[str, Any]:
        """The record's fields from the prompt to the delivery."""
        prompt = decision.prompt.text.encode("utf-8", "surrogatepass")
        return {
            "prompt_digest": hashlib.sha256(prompt).hexdigest(),
            "grammar": {dialect: legal.artifacts[dialect].digest for dialect in RECORDED if dialect in legal.artifacts},
            "attempts": [attempt_record(attempt) for attempt in decision.attempts],
            "action": legal.spell(decision.action) if decision.action else None,
            "target": decision.action.target if decision.action else None,
            "delivery": delivery_record(delivery) if delivery else None,
        }

    def _over(self, record: TickRecord, max_ticks: int | None) -> bool:
        """True when this tick was the last."""
        if record.result is not None:
            self._end(record.result, f"The game says so at tick {record.tick}.")
        elif self.report.ending is None and max_ticks is not None and self.report.ticks >= max_ticks:
            self._end("ticks", f"The limit of {max_ticks} ticks is reached.")
        return self.report.ending is not None

    def _end(self, ending: Ending, detail: str) -> None:
        self.report.ending, self.report.detail = ending, detail

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began_ns = self._clock.now_ns()
        try:
            yield
        finally:
            self._times_ms[stage] = (self._clock.now_ns() - began_ns) / 1e6


def _waited(last: _Last) -> bool:
    """True when the tick before chose to send nothing."""
    return (
        last.action is not None
        and last.action.target is None
        and (last.delivery is None or last.delivery.gap_ms is None)
    )


def _news(decision: Decision, delivery: Delivery | None) -> str:
    """What the model must know on the next tick. Empty: nothing."""
    if delivery is not None and delivery.outcome == "refused":
        return f"Your last action was not delivered ({delivery.reason}): {_in_short(delivery.detail)}."
    fault = decision.attempts[-1].verdict.fault
    return f"Your last answer was refused: {fault.message}." if fault else ""


def _ending(ended: Ended) -> str:
    """What the model must know of an action that went on, and does not any more."""
    return f"Your action {wire_name(type(ended.action))} ended early ({ended.reason}): {_in_short(ended.detail)}."


def _in_short(detail: str) -> str:
    return " ".join(detail.split())[:MAX_TEXT]  # it may quote the title of a stranger's window
