"""The tick loop. Everything in this repository happens between ``run``'s two lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import structlog

from actuation.errors import InputUnavailable, UserHalt
from actuation.executor import Actuator, Delivery, Ended
from actuation.tools import Tool
from agent.bot import Bot, Result, asked, described
from agent.budget import PROMPT_TOKENS
from agent.calls import PATIENCE_S, Calls, Inline, Runner
from agent.clock import SECOND_NS, Clock
from agent.controls import Controls
from agent.decide import Decider, Decision
from agent.errors import BotError
from agent.ladder import Rung
from agent.metrics import Ending, RunReport
from agent.models.base import Model
from agent.news import News, in_short, outcome
from agent.pace import Pace, RealTime
from agent.progress import Progress, Step
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
from grammar.engine import Verifier
from grammar.reply import Dialect
from grammar.shape import wire_name
from grammar.tick import TickGrammar, TickLanguage
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed
from perception.observation import Frame, Observation
from perception.perceiver import Perceiver

RECORDED: tuple[Dialect, ...] = (
    "lark",
    "choices",
)  # whose digests a session keeps: what models in process use
ELSEWHERE = ((0.35, 0.35), (0.65, 0.65), (0.65, 0.35), (0.35, 0.65))  # in a target, in turn
TOOL_MISTAKES = (TypeError, ValueError, AttributeError, NameError, LookupError, ArithmeticError)  # of a ``perform``
BLOCKED_LIMIT = 10  # ticks in a row without an observation; 5 s at 2 Hz

BUDGETS_MS: Mapping[str, float] = MappingProxyType({"observe": 100, "grammar": 20, "model": 300, "act": 100})

log = structlog.get_logger("onmark")

Watcher = Callable[[TickRecord, Observation | None], None]
"""Told of every tick after it was written: for a status line. Must not raise."""


class Scheduler:
    """Drives perception, grammar, model and actuation at a fixed rate, and owns the no-progress ladder.

    Args:
        bot: what is played.
        perceiver: where observations come from.
        model: what decides.
        actuator: what delivers.
        recorder: what keeps each tick.
        clock: whose time; a manual one in tests and replays.
        hz: ticks a second, where no pace is given.
        pace: when ticks begin. None: in real time, so many a second.
        runner: what does the asking of the model. None: this thread, which a model that hangs hangs too.
        model_timeout_s: how long the model may take to answer. None: as long as it likes.
        model_patience_s: how long its host may be away, with nothing done, before that ends the run.
        prompt_tokens: how many a prompt may take before there is a warning.
        budgets: stage -> milliseconds that it should take; ticks over it are counted by stage.
        controls: to pause, step and stop it. None: nobody does.
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
        pace: Pace | None = None,
        runner: Runner | None = None,
        model_timeout_s: float | None = None,
        model_patience_s: float = PATIENCE_S,
        prompt_tokens: int = PROMPT_TOKENS,
        budgets: Mapping[str, float] = BUDGETS_MS,
        controls: Controls | None = None,
        watcher: Watcher | None = None,
        report: RunReport | None = None,
    ) -> None:
        verifier = Verifier()
        self._bot = bot
        self._perceiver = perceiver
        self._pace = pace or RealTime(clock, hz)
        self._calls = Calls(model, clock, runner or Inline(), model_timeout_s)
        self._prompts = PromptBuilder(bot)
        self._decider = Decider(self._calls, self._prompts, verifier, self._pace.left_s, prompt_tokens)
        self._patience_ns = round(model_patience_s * SECOND_NS)
        self._away_since_ns: int | None = None
        self._budgets = budgets
        self._controls = controls or Controls()
        self._grammar = TickGrammar(bot.tools, verifier, label_first=bot.label_first, proof=bot.proof)
        self._actuator = actuator
        self._recorder = recorder
        self._clock = clock
        self._watcher = watcher
        self._progress = Progress(bot)
        self._last: Step | None = None
        self._elsewhere = False
        self._news = News()
        self._rungs: list[str] = []
        self._blocked = 0
        self._times_ms: dict[str, float] = {}
        self._record: TickRecord | None = None
        self.report = report or RunReport()

    def run(
        self,
        max_ticks: int | None = None,
        *,
        seconds: float | None = None,
        until: Callable[[TickRecord], bool] | None = None,
    ) -> RunReport:
        """Tick until the game or the run is over. Whatever happens, everything held is released.

        Args:
            max_ticks: stop after so many. None: no limit.
            seconds: stop after so long. None: no limit.
            until: stop after the first tick of which this is true. None: no limit.

        Returns:
            The figures; they are in ``report`` too when this raises.
        """
        try:
            self._decider.prepare()
            self.report.constraint, self.report.warnings = self._decider.enforcement, self._decider.warnings
            began_ns = self._clock.now_ns()
            self._pace.start()
            while self._may_begin() and not self._over(self.tick(), max_ticks):
                passed_s = (self._clock.now_ns() - began_ns) / SECOND_NS
                if self._limit_reached(passed_s, seconds, until):
                    break
                self._pace.wait()
            if self._controls.stopped is not None and self.report.ending is None:
                self._end("stopped", self._controls.stopped)
        except (KeyboardInterrupt, UserHalt) as stop:
            self._end("stopped", str(stop) or "Interrupted.")
        except (DisplayUnavailable, InputUnavailable) as problem:
            self._end("closed", str(problem))
        finally:
            self._release()
            self._calls.close()
            self._pace.count()
            self._recorder.close()
            self.report.late, self.report.skipped = self._pace.late, self._pace.skipped
            if isinstance(self._pace, RealTime):
                self.report.began_late_ms = self._pace.began_late_ms
            log.info("run", **self.report.summary())
        return self.report

    def _may_begin(self) -> bool:
        """Wait while the run is paused, and hold nothing; deadlines count anew afterwards. False: it is to end."""
        paused = self._controls.paused
        if paused:
            self._actuator.release_all()
        goes_on = self._controls.wait()
        if paused:
            self._pace.start()
        return goes_on

    def _limit_reached(
        self, passed_s: float, seconds: float | None, until: Callable[[TickRecord], bool] | None
    ) -> bool:
        if seconds is not None and passed_s >= seconds:
            self._end("time", f"The limit of {seconds:g} s is reached.")
        elif until is not None and self._record is not None and until(self._record):
            self._end("until", f"What was waited for is so at tick {self._record.tick}.")
        return self.report.ending is not None

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
        ended = self._actuator.ended()
        fields["ended"] = [ended_record(each) for each in ended]
        self._news.ended(ended)
        if seen is not None:
            rung = self._judge(seen, ended, fields)
            fields["result"] = self._result(seen)
            if fields["result"] is None and not self._climb(rung, seen, fields):
                self._act(seen, fields)
        self._times_ms["tick"] = (self._clock.now_ns() - began_ns) / 1e6
        record = TickRecord(**fields, times_ms={stage: round(ms, 3) for stage, ms in self._times_ms.items()})
        self._record = record
        self._recorder.append(record, frame)
        self.report.add(record)
        self.report.over_budget(record, self._budgets)
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

    def _judge(self, seen: Observation, ended: Sequence[Ended], fields: dict[str, Any]) -> Rung | None:
        """How the last action turned out, and the rung of the ladder that follows from it."""
        last, found = self._last, self._progress.judge(self._last, seen, ended)
        target = last.action.target if last is not None and last.action is not None else None
        if last is not None and last.spelling is not None:
            self._prompts.remember(last.spelling, outcome(found.verdict))
        if found.verdict.outcome == "confirmed":
            self._news.worked()
            if last is not None and target is not None:
                self._perceiver.confirmed(last.seen, target)
        fields.update(
            verification=found.verdict.outcome,
            cause=found.verdict.cause,
            suppressed=list(self._progress.suppressed),
            signals=list(found.signals),
            rung=found.rung,
        )
        return found.rung

    def _climb(self, rung: Rung | None, seen: Observation, fields: dict[str, Any]) -> bool:
        """Take a rung. True: that is all that is done in this tick."""
        if rung in ("retry", "suppress", "rethink"):
            self._rungs = [] if rung == "retry" else self._rungs
            self._rungs.append(f"{rung} at tick {self.report.ticks}")
        if rung == "retry":
            self._elsewhere = True
            self._last = Step(seen=seen, decided=False)
            return True
        if rung == "rethink":
            self._perceiver.forget()
            tried = ", ".join(self._progress.tried_in_vain)
            self._news.add(f"You are stuck: {self._progress.why}. Do something else than {in_short(tried)}.")
        if rung in ("recover", "safe_state"):
            way = asked(self._bot.recover if rung == "recover" else self._bot.safe_state)(seen)
            if way is None:
                fields["rung"] = None
                return False
            self._rungs.append(f"{rung} at tick {self.report.ticks}")
            self._take(way, seen, fields)
            return True
        if rung == "give_up":
            lately = ", ".join(self._progress.tried_in_vain)
            did = f" Of late: {in_short(lately)}." if lately else ""
            rungs = f" Tried: {', '.join(self._rungs)}." if self._rungs else ""
            why = f"It was stuck: {self._progress.why}.{did}{rungs}"
            self._end("stuck", f"{why} {self._news.trouble}".strip())
            asked(lambda now: self._bot.stuck(now, why))(seen)
            return True
        return False

    def _take(self, way: Tool, seen: Observation, fields: dict[str, Any]) -> None:
        """Do what the bot itself says."""
        if not isinstance(way, Tool):
            raise BotError(
                f"Expected a tool or None from recover() and safe_state(), found {way!r}.", "Correct the bot."
            )
        delivery = self._deliver(way, seen)
        spelling = json.dumps({"tool": wire_name(type(way)), **way.model_dump(mode="json")})
        self._last = Step(seen=seen, decided=False, action=way, spelling=spelling, delivery=delivery)
        self._news.delivered(delivery)
        fields.update(action=spelling, target=way.target, delivery=delivery_record(delivery))

    def _deliver(self, action: Tool, seen: Observation) -> Delivery:
        """Submit an action; after a rung that says so, elsewhere in its target than usual."""
        tick, elsewhere = self.report.ticks, self._elsewhere
        self._elsewhere = False
        with self._timed("act"):
            try:
                delivery = self._actuator.submit(action, seen, tick, spot=ELSEWHERE[tick % 4] if elsewhere else None)
            except TOOL_MISTAKES as problem:
                name = type(action).__name__
                raise BotError(f"{name} cannot be done: {described(problem)}.", "Correct the bot's tool.") from problem
        if delivery.outcome == "delivered":
            self._perceiver.acted()
        return delivery

    def _result(self, seen: Observation) -> Result | None:
        """The bot's word on whether the game is over."""
        said = asked(self._bot.result)(seen)
        if said not in (None, "won", "lost"):
            raise BotError(f"Expected result() to return 'won', 'lost' or None, found {said!r}.", "Correct the bot.")
        return said

    def _act(self, seen: Observation, fields: dict[str, Any]) -> None:
        """Say, ask, hold, act."""
        news = self._news.take()
        with self._timed("grammar"):
            suppressed = [mark.number for mark in seen.marks if mark.key in self._progress.suppressed]
            legal = self._grammar.for_tick(seen.marks, suppressed, seen.cells)
        with self._timed("model"):
            decision = self._decider.decide(seen, legal, news)
        self.report.constraint = self._decider.enforcement
        self.report.warnings = self._decider.warnings
        away = decision.unanswered == "unavailable"
        delivery = self._deliver(decision.action, seen) if decision.action else None
        spelling = legal.spell(decision.action) if decision.action else None
        self._last = Step(seen=seen, decided=not away, action=decision.action, spelling=spelling, delivery=delivery)
        self._news.decided(decision, delivery)
        self._wait_for_host(away, decision.detail)
        fields.update(self._decided_fields(decision, delivery, legal))
        ends = decision.action.ends if decision.action else None
        if ends is not None:
            self._end(ends, "By the model's word; nothing else says so.")

    def _wait_for_host(self, away: bool, detail: str) -> None:
        """End the run when the model's host has been away for longer than there is patience."""
        now_ns = self._clock.now_ns()
        if not away:
            self._away_since_ns = None
            return
        self._away_since_ns = self._away_since_ns or now_ns
        if now_ns - self._away_since_ns >= self._patience_ns:
            self._end("no_model", detail)

    def _decided_fields(self, decision: Decision, delivery: Delivery | None, legal: TickLanguage) -> dict[str, Any]:
        """The record's fields from the prompt to the delivery."""
        prompt = decision.prompt.text.encode("utf-8", "surrogatepass")
        return {
            "prompt_digest": hashlib.sha256(prompt).hexdigest(),
            "grammar": {dialect: legal.artifacts[dialect].digest for dialect in RECORDED if dialect in legal.artifacts},
            "attempts": [attempt_record(attempt) for attempt in decision.attempts],
            "unanswered": decision.unanswered,
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
