"""What happens, for programs: lines of JSON, and figures for Prometheus."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import agent.events
from agent.errors import WrongUse
from agent.events import EventLog, events
from agent.prometheus import Metrics
from agent.session.records import (
    AttemptRecord,
    BlockedRecord,
    DeliveryRecord,
    EndedRecord,
    MarkRecord,
    TickRecord,
    UsageRecord,
)

USAGE = UsageRecord(prompt_tokens=1, reused_tokens=0, evaluated_tokens=1, forward_passes=1)


def attempt(fault: tuple[str, str] | None = None) -> AttemptRecord:
    return AttemptRecord(text="x", finish="stop", claim=None, fault=fault, usage=USAGE, margin=None)


EVERYTHING = TickRecord(
    tick=3,
    blocked=BlockedRecord(closed=False, problem="Covered.", cure="Move it.", kind="covered"),
    marks=[MarkRecord(number=1, box=(0, 0, 1, 1), label="a")],
    verification="refuted",
    cause="game",
    signals=["stasis"],
    rung="retry",
    attempts=[attempt(("invalid", "mark: expected 1, found 2")), attempt()],
    unanswered="timeout",
    action='{"tool":"wait"}',
    delivery=DeliveryRecord(outcome="refused", point=None, reason="moved", detail="it was there"),
    ended=[EndedRecord(tool="hold_key", reason="closed", detail="gone")],
    result="lost",
    times_ms={"tick": 12.0},
)


def test_each_thing_that_happens_is_an_event_and_the_tick_comes_last() -> None:
    names = [name for name, _ in events(EVERYTHING)]
    assert names == ["blocked", "rung", "fault", "unanswered", "refused", "ended", "result", "tick"]
    assert [name for name, _ in events(TickRecord(tick=0))] == ["tick"]


def test_the_documented_events_are_those_that_there_are() -> None:
    lines = (agent.events.__doc__ or "").splitlines()
    documented = {line.split("``")[1] for line in lines if line.startswith("| ``")}
    assert documented == {name for name, _ in events(EVERYTHING)}


def test_a_line_each_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("{}\n")
    log = EventLog(path)
    log(EVERYTHING, None)
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]  # before it is closed
    log.close()
    assert len(lines) == 9
    fault = {"kind": "invalid", "message": "mark: expected 1, found 2", "attempt": 0}
    assert lines[3] == {"event": "fault", "tick": 3, "timestamp": lines[3]["timestamp"], **fault}


def test_figures_are_served_to_prometheus() -> None:
    served = Metrics(0)
    served(EVERYTHING, None)
    served(TickRecord(tick=4, verification="confirmed"), None)
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/metrics", timeout=10) as answer:
        said = answer.read().decode()
    with pytest.raises(WrongUse, match="Expected a free port"):
        Metrics(served.port)
    served.close()
    for line in (
        "onmark_ticks_total 2.0",
        'onmark_verifications_total{cause="game",outcome="refuted"} 1.0',
        'onmark_faults_total{kind="invalid"} 1.0',
        'onmark_unanswered_total{why="timeout"} 1.0',
        'onmark_refusals_total{reason="moved"} 1.0',
        'onmark_rungs_total{rung="retry"} 1.0',
        'onmark_blocked_total{kind="covered"} 1.0',
        'onmark_stage_seconds_count{stage="tick"} 1.0',
    ):
        assert line in said
