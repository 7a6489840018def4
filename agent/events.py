"""What happens in a run, as JSON lines for programs: ``onmark run BOT --log FILE``.

Each line has ``event``, ``timestamp`` (UTC, ISO 8601), ``tick`` and the fields of its event:

| event | when | fields |
|---|---|---|
| ``tick`` | each tick, last | ``times_ms``, ``marks``, ``action``, ``target``, ``verification``, ``cause`` |
| ``blocked`` | the window could not be seen | ``kind``, ``problem`` |
| ``fault`` | a reply was not held | ``kind``, ``message``, ``attempt`` |
| ``unanswered`` | the model did not answer | ``why`` |
| ``refused`` | an action was not delivered | ``reason``, ``detail`` |
| ``ended`` | an action ended before its time | ``tool``, ``reason``, ``detail`` |
| ``rung`` | a rung of the ladder was taken | ``rung``, ``signals`` |
| ``result`` | the game is over | ``result`` |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog

from agent.session.records import TickRecord
from perception.observation import Observation


class EventLog:
    """Writes a run's events, a line each, flushed at each tick. A watcher of the scheduler. Close it.

    Args:
        path: the file; what is there already stays, and lines are added.

    Raises:
        OSError: it cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._log = structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=[structlog.processors.TimeStamper(fmt="iso"), structlog.processors.JSONRenderer()],
        )

    def __call__(self, record: TickRecord, seen: Observation | None) -> None:
        """Write what happened in a tick."""
        for event, fields in events(record):
            self._log.info(event, tick=record.tick, **fields)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def events(record: TickRecord) -> list[tuple[str, dict[str, Any]]]:
    """What happened in a tick, in order."""
    happened: list[tuple[str, dict[str, Any]]] = []
    if record.blocked is not None:
        happened.append(("blocked", {"kind": record.blocked.kind, "problem": record.blocked.problem}))
    if record.rung is not None:
        happened.append(("rung", {"rung": record.rung, "signals": record.signals}))
    for number, attempt in enumerate(record.attempts):
        if attempt.fault is not None:
            happened.append(("fault", {"kind": attempt.fault[0], "message": attempt.fault[1], "attempt": number}))
    if record.unanswered is not None:
        happened.append(("unanswered", {"why": record.unanswered}))
    if record.delivery is not None and record.delivery.outcome == "refused":
        happened.append(("refused", {"reason": record.delivery.reason, "detail": record.delivery.detail}))
    happened += [("ended", each.model_dump()) for each in record.ended]
    if record.result is not None:
        happened.append(("result", {"result": record.result}))
    shown = {name: getattr(record, name) for name in ("times_ms", "action", "target", "verification", "cause")}
    happened.append(("tick", {"marks": len(record.marks), **shown}))
    return happened
