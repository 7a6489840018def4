"""Labelled traces: what an agent saw and did, and from when on it was stuck. For measuring whatever tells.

``agent.testing.worlds`` draws some; ``recorded`` reads those that were recorded in games.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actuation.executor import Delivery
from actuation.tools import Click, Tool
from agent.progress import Step
from agent.session.reader import Session, open_session
from agent.session.records import TickRecord
from perception.geometry import Box, Point
from perception.observation import Mark, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What an agent saw and did.

    Attributes:
        name: of what happens.
        stuck_from: the first tick of which nothing comes, nor of any after it. None: there is none.
        steps: each tick: what was seen, and what was done then.
        progress: name of the sensor whose new values are progress. None: there is none.
        loading: name of the sensor that is true while the game cannot react. None: there is none.
        effect: name of the sensor that is true when an action did what it should. None: there is none.
    """

    name: str
    stuck_from: int | None
    steps: Sequence[Step]
    progress: str | None = None
    loading: str | None = None
    effect: str | None = None


class Acted(Tool):
    """An action of a recording that is aimed at nothing."""


def recorded(folder: Path) -> Iterator[Trace]:
    """The traces in the folders of a folder: each a session, and ``label.json`` with ``stuck_from`` beside it.

    ``label.json`` may also name sensors of the session: ``progress``, ``loading``, ``effect``.

    Raises:
        ValueError: a label is none.
        SessionError: a session cannot be read.
    """
    for label in sorted(folder.glob("*/label.json")):
        known = json.loads(label.read_text(encoding="utf-8"))
        strange = set(known) - {"stuck_from", "progress", "loading", "effect"}
        if strange or "stuck_from" not in known:
            raise ValueError(f"{label}: expected stuck_from, and progress, loading or effect besides, found {known}")
        session = open_session(label.parent)
        sensors = {name for record in session.ticks for name in record.sensors}
        for role in sorted(set(known) - {"stuck_from"}):
            if known[role] is not None and (not isinstance(known[role], str) or known[role] not in sensors):
                raise ValueError(
                    f"{label}: expected {role} to name a sensor out of {sorted(sensors)}, found {known[role]!r}"
                )
        steps = [_recorded(session, record) for record in session.ticks if record.frame is not None]
        yield Trace(name=label.parent.name, steps=steps, **known)


def _recorded(session: Session, record: TickRecord) -> Step:
    """One tick of a session."""
    assert record.frame is not None  # noqa: S101 - the caller looked
    marks = tuple(Mark(number=m.number, box=Box(*m.box), label=m.label, id=m.id) for m in record.marks)
    frame = replace(session.frame(record.frame), moving=record.frame.moving)
    seen = Observation(frame=frame, cells=(), marks=marks, sensors=record.sensors)
    if record.action is None or record.delivery is None:
        return Step(seen=seen, decided=record.rung is None)
    then = record.delivery
    return Step(
        seen=seen,
        action=Acted() if record.target is None else Click(mark=record.target),
        spelling=record.action,
        delivery=Delivery(
            outcome=then.outcome,
            point=None if then.point is None else Point(*then.point),
            reason=then.reason,
            gap_ms=then.gap_ms,
        ),
    )
