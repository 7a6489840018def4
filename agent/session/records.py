"""What a session's files hold. Version 1.

``session.json``: a ``SessionHeader``. ``ticks.jsonl``: a ``TickRecord`` a line, flushed each tick.
``frames/<digest>.png``: the frames, named by the sha256 of their pixels, so that an unchanged one costs nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from actuation.executor import Delivery, Ended
from agent.calls import Unanswered
from agent.ladder import Rung
from agent.signals import Signal
from agent.verify import Cause
from grammar.boundary import Attempt
from grammar.reply import Dialect
from grammar.shape import wire_name
from perception.errors import BlockedKind, NotObservable, WindowClosed
from perception.geometry import Box
from perception.observation import ChangeKind, Frame, Observation

FORMAT_VERSION = 1
MOST_ASIDE = 2000  # characters

Pixel = Annotated[int, Field(ge=-(10**6), le=10**6)]
BoxRecord = tuple[Pixel, Pixel, Pixel, Pixel]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Record(BaseModel):
    """Base: nothing may be there that is not declared, and each value is of the declared type already."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class SessionHeader(Record):
    """What was run, with what."""

    version: Literal[1] = 1
    onmark: str
    dependencies: dict[str, str]
    bot: str
    model: str
    seed: int
    hz: Annotated[float, Field(gt=0, le=1000)]
    started_utc: str
    tools: dict[str, dict[str, Any]]


class FrameRecord(Record):
    """Which pixels, and where they were on the screen: boxes are left, top, width, height.

    Attributes:
        moving: much of the picture was still changing when it was taken.
        title: of the window. None: not known.
    """

    digest: Digest
    client: BoxRecord
    captured: BoxRecord
    scale: Annotated[float, Field(ge=0.01, le=100)]
    moving: bool = False
    title: str | None = None


class MarkRecord(Record):
    """A mark as it was offered; see ``perception.observation.Mark``."""

    number: int
    box: BoxRecord
    label: str | None
    id: int | None = None


class BlockedRecord(Record):
    """Why nothing could be observed.

    Attributes:
        kind: in one word. None: recorded before there were such words.
    """

    closed: bool
    problem: str
    cure: str
    kind: BlockedKind | None = None


class UsageRecord(Record):
    """What the reply cost; see ``grammar.reply.Usage``."""

    prompt_tokens: int
    reused_tokens: int
    evaluated_tokens: int
    forward_passes: int


class AttemptRecord(Record):
    """A reply, to the letter, and its fault.

    Attributes:
        aside: what its host put beside the answer, its first 2,000 characters.
        sent: the dialect in which its host was given the constraint, whatever it claims. None: not recorded.
    """

    text: str
    finish: Literal["stop", "length"]
    claim: tuple[Dialect, str] | None
    fault: tuple[str, str] | None
    usage: UsageRecord
    margin: float | None
    mass: float | None = None
    sent: Dialect | None = None
    aside: str = ""


class DeliveryRecord(Record):
    """What became of the action.

    Attributes:
        targets: the box of each target, in capture pixels, and the sha256 of what it looked like at the look.
        gap_ms: the longest time from the first question of a check to the end of the event that it was for.
    """

    outcome: Literal["delivered", "refused"]
    point: tuple[Pixel, Pixel] | None
    reason: str | None
    detail: str
    targets: list[tuple[BoxRecord, Digest]] = []
    gap_ms: float | None = None


class EndedRecord(Record):
    """An action of an earlier tick that ended, or was made to let go, before its time."""

    tool: str
    reason: str
    detail: str


class TickRecord(Record):
    """One tick, from end to end.

    Attributes:
        blocked: why nothing could be observed; the stages after perception are empty then. ``frame`` is there all the
            same when it was the detector that found nothing.
        change: how the frame differs from the one before; left out of every comparison, since it follows from them.
        left_out: how many marks more than those of the detector there were.
        unseen: what could not be found; left out of every comparison, since it is told in words.
        sensors: what the bot's sensors said. None: it could not be told.
        kinds: what each cell shows, row by row, None where nothing is named.
        verification: how the action of the tick before turned out.
        cause: why it was refuted. None: it was not.
        signals: that nothing comes of what is done.
        rung: of the ladder, that was taken because of them. None: none.
        unanswered: why the model did not answer. None: it did, or was not asked.
        action: the decided action in its one spelling. None: a no-op.
        target: the mark that it names.
        ended: what went on until now, and does not any more; left out of every comparison.
        times_ms: by stage; left out of every comparison.
    """

    tick: int
    blocked: BlockedRecord | None = None
    frame: FrameRecord | None = None
    change: ChangeKind | None = None
    left_out: int = 0
    unseen: list[str] = []
    sensors: dict[str, bool | int | float | str | None] = {}
    kinds: list[str | None] = []
    marks: list[MarkRecord] = []
    verification: str = "inconclusive"
    cause: Cause | None = None
    suppressed: list[int] = []
    signals: list[Signal] = []
    rung: Rung | None = None
    prompt_digest: str | None = None
    grammar: dict[str, str] = {}
    attempts: list[AttemptRecord] = []
    unanswered: Unanswered | None = None
    action: str | None = None
    target: int | None = None
    delivery: DeliveryRecord | None = None
    ended: list[EndedRecord] = []
    result: Literal["won", "lost"] | None = None
    times_ms: dict[str, float] = {}


def box_record(box: Box) -> BoxRecord:
    """A box as it is written."""
    return (box.left, box.top, box.width, box.height)


def frame_record(frame: Frame) -> FrameRecord:
    """A frame as it is written."""
    where = frame.transform
    return FrameRecord(
        digest=frame.digest,
        client=box_record(where.client),
        captured=box_record(where.captured),
        scale=where.scale,
        moving=frame.moving,
        title=frame.title,
    )


def blocked_fields(problem: NotObservable) -> dict[str, Any]:
    """A record's fields of perception when nothing could be observed."""
    closed = isinstance(problem, WindowClosed)
    return {
        "blocked": BlockedRecord(closed=closed, problem=problem.problem, cure=problem.cure, kind=problem.kind),
        "frame": frame_record(problem.frame) if problem.frame else None,
    }


def seen_fields(seen: Observation) -> dict[str, Any]:
    """A record's fields of perception."""
    return {
        "frame": frame_record(seen.frame),
        "change": seen.change.kind,
        "left_out": seen.left_out,
        "unseen": list(seen.unseen),
        "sensors": dict(seen.sensors),
        "kinds": [cell.kind for cell in seen.cells],
        "marks": [MarkRecord(number=m.number, box=box_record(m.box), label=m.label, id=m.id) for m in seen.marks],
    }


def attempt_record(attempt: Attempt[BaseModel]) -> AttemptRecord:
    """One attempt as it is written."""
    reply, fault = attempt.reply, attempt.verdict.fault
    usage = {name: getattr(reply.usage, name) for name in reply.usage.__slots__}
    return AttemptRecord(
        text=reply.text,
        finish=reply.finish,
        claim=(reply.claim.dialect, reply.claim.digest) if reply.claim else None,
        fault=(fault.kind, fault.message) if fault else None,
        usage=UsageRecord(**usage),
        margin=reply.margin,
        mass=reply.mass,
        sent=reply.sent,
        aside=reply.aside[:MOST_ASIDE],
    )


def delivery_record(delivery: Delivery) -> DeliveryRecord:
    """One delivery as it is written."""
    point = delivery.point
    return DeliveryRecord(
        outcome=delivery.outcome,
        point=(point.x, point.y) if point else None,
        reason=delivery.reason,
        detail=delivery.detail,
        targets=[(box_record(box), digest) for box, digest in delivery.evidence.targets] if delivery.evidence else [],
        gap_ms=delivery.gap_ms,
    )


def ended_record(ended: Ended) -> EndedRecord:
    """One ending as it is written."""
    return EndedRecord(tool=wire_name(type(ended.action)), reason=ended.reason, detail=ended.detail)
