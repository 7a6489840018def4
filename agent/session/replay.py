"""Replay: the same tick, fed from a recording, compared stage by stage. Sends no input and no request.

Frames and replies come from the session; perception, ladder, grammar, verdict, decision and resolved point are done
again. Not compared: the prompt's text, since the replies are the recorded ones whatever it says today; the wording of
messages; times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from actuation.aim import aims
from actuation.executor import Delivery, Ended, Evidence
from actuation.tools import Tool
from agent.bot import Bot, asked
from agent.clock import ManualClock
from agent.models.base import Claim, Reply, Usage
from agent.models.recorded import RecordedModel
from agent.scheduler import Scheduler
from agent.session.reader import Session
from agent.session.records import AttemptRecord, BlockedRecord, MarkRecord, TickRecord
from grammar.errors import GrammarError
from perception.errors import NotObservable, WindowClosed
from perception.observation import Frame, Observation
from perception.perceiver import Perceiver

STAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("perception", ("blocked", "frame", "kinds", "marks", "left_out", "sensors")),
    ("result", ("result",)),
    ("ladder", ("verification", "cause", "suppressed", "signals", "rung")),
    ("grammar", ("grammar",)),
    ("verdict", ("attempts", "unanswered")),
    ("decision", ("action", "target")),
    ("resolved point", ("delivery",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first thing that came out otherwise.

    Attributes:
        tick: where.
        stage: which stage of the tick.
        what: what was recorded, and what was found.
    """

    tick: int
    stage: str
    what: str

    def __str__(self) -> str:
        return f"tick {self.tick}, {self.stage}: {self.what}"


class _Recording:
    """A session as a frame source and an actuator: one tick at a time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.now: TickRecord = session.ticks[0]

    def grab(self) -> Frame:
        """The recorded frame, or what stood in its way."""
        if self.now.frame is not None:
            return self._session.frame(self.now.frame)
        blocked = self.now.blocked
        if blocked is None:
            raise ValueError(f"tick {self.now.tick} holds neither a frame nor the reason why there is none")
        if blocked.closed:
            raise WindowClosed(blocked.problem, blocked.cure, blocked.kind or "closed")
        raise NotObservable(blocked.problem, blocked.cure, blocked.kind or "not_found")

    def submit(
        self, action: Tool, seen: Observation, tick: int = 0, *, spot: tuple[float, float] | None = None
    ) -> Delivery:
        """The recorded delivery, at the point that the action resolves to today, of what was seen there today."""
        then, targets = self.now.delivery, aims(action, seen, spot)
        point = targets[0].point if targets else None
        if then is None:
            return Delivery(outcome="delivered", point=point, detail="not recorded")
        return Delivery(
            outcome=then.outcome,
            point=point,
            reason=then.reason,
            detail=then.detail,
            evidence=Evidence.of(tick, seen, targets) if then.targets else None,
            gap_ms=then.gap_ms,
        )

    def ended(self) -> list[Ended]:
        """Nothing goes on."""
        return []

    def release_all(self) -> None:
        """Nothing is held."""

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """A replay leaves no recording."""

    def close(self) -> None:
        """Nothing is open."""


def replay(session: Session, bot: Bot) -> Iterator[Difference | None]:
    """Replay tick by tick: None for each that agrees; ends with the first difference, or after the last tick.

    Raises:
        SessionError: a frame is missing or was changed.
    """
    if not session.ticks:
        return
    recording, model = _Recording(session), RecordedModel()
    scheduler = Scheduler(
        bot=bot,
        perceiver=Perceiver(recording, bot.detector, asked(bot.candidates), bot.sensors),
        model=model,
        actuator=recording,
        recorder=recording,
        clock=ManualClock(),
        hz=session.header.hz,
    )
    for recorded in session.ticks:
        recording.now = recorded
        model.load([_reply(attempt) for attempt in recorded.attempts], recorded.unanswered)
        difference = _once(scheduler, recorded)
        yield difference
        if difference is not None:
            return


def _once(scheduler: Scheduler, recorded: TickRecord) -> Difference | None:
    """One tick again, and its first difference."""
    try:
        return compare(recorded, scheduler.tick())
    except (GrammarError, ValueError, KeyError) as problem:
        return Difference(tick=recorded.tick, stage="error", what=f"{type(problem).__name__}: {problem}")


def compare(recorded: TickRecord, found: TickRecord) -> Difference | None:
    """The first stage of a tick that differs."""
    for stage, names in STAGES:
        for name in names:
            then, now = getattr(recorded, name), getattr(found, name)
            if _essence(then) != _essence(now):
                what = _marks(then, now) if name == "marks" else f"{name}: recorded {_say(then)}, found {_say(now)}"
                return Difference(tick=recorded.tick, stage=stage, what=what)
    return None


def _essence(value: Any) -> Any:
    """A field without the wording of messages, which may improve from one version to the next."""
    if isinstance(value, BlockedRecord):
        return value.closed
    if isinstance(value, AttemptRecord):
        return value.model_copy(update={"fault": value.fault and value.fault[0]})
    return [_essence(item) for item in value] if isinstance(value, list) else value


def _marks(then: list[MarkRecord], now: list[MarkRecord]) -> str:
    """How two lists of marks differ, by number: lost, added, moved, renamed."""
    before, after = ({mark.number: mark for mark in marks} for marks in (then, now))
    for number in sorted(before.keys() | after.keys()):
        old, new = before.get(number), after.get(number)
        if new is None:
            return f"mark {number} is lost"
        if old is None:
            return f"mark {number} is added"
        if old.box != new.box:
            return f"mark {number} moved: recorded {old.box}, found {new.box}"
        if old.label != new.label:
            return f"mark {number} is called otherwise: recorded {old.label!r}, found {new.label!r}"
    return "the marks stand in another order"


def _say(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:297] + "..."


def _reply(attempt: AttemptRecord) -> Reply:
    """A recorded reply as the model gave it."""
    claim = Claim(dialect=attempt.claim[0], digest=attempt.claim[1]) if attempt.claim else None
    return Reply(
        text=attempt.text,
        finish=attempt.finish,
        claim=claim,
        usage=Usage(**attempt.usage.model_dump()),
        margin=attempt.margin,
        mass=attempt.mass,
        sent=attempt.sent,
        aside=attempt.aside,
    )
