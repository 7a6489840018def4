"""Play many games and count: one row a model, over the same seeds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.fleet import Fleet, Job
from agent.metrics import RunReport
from agent.session.reader import open_session

ON_TIME_FLOOR = 0.9  # share of ticks, on two cores that do nothing else


@dataclass(slots=True, kw_only=True)
class Row:
    """One model's games.

    Attributes:
        endings: how many games ended how.
        said: (tool, label of its target) -> delivered actions.
        late: ticks that ended after their deadline.
        valid_first: decisions whose first reply held.
    """

    model: str
    endings: Counter[str] = field(default_factory=Counter)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    ticks: int = 0
    late: int = 0
    decisions: int = 0
    valid_first: int = 0
    model_ms: list[float] = field(default_factory=list)

    @property
    def games(self) -> int:
        """How many were played."""
        return self.endings.total()

    @property
    def win_rate(self) -> float:
        """Share of the games that were won."""
        return self.endings["won"] / self.games if self.games else 0.0

    @property
    def on_time_rate(self) -> float:
        """Share of the ticks that ended before their deadline."""
        return 1 - self.late / self.ticks if self.ticks else 0.0

    def add(self, report: RunReport, folder: Path) -> None:
        """Count one game; what was said is read from its session."""
        self.endings[report.ending or "error"] += 1
        self.ticks += report.ticks
        self.late += report.late
        self.decisions += report.decisions
        self.valid_first += report.valid_first
        self.model_ms += report.times_ms.get("model", [])
        for record in open_session(folder).ticks:
            if record.action is not None and record.delivery is not None and record.delivery.outcome == "delivered":
                labels = {mark.number: mark.label for mark in record.marks}
                label = labels.get(record.target) if record.target is not None else None
                self.said[json.loads(record.action)["tool"], label or "-"] += 1

    def shares(self, tool: str) -> dict[str, float]:
        """For one tool: label -> share of its delivered actions."""
        counts = {label: n for (name, label), n in self.said.items() if name == tool}
        total = sum(counts.values())
        return {label: n / total for label, n in sorted(counts.items(), key=lambda item: -item[1])}

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        tools = sorted({tool for tool, _ in self.said})
        return {
            "model": self.model,
            "games": self.games,
            "endings": dict(self.endings),
            "win_rate": self.win_rate,
            "actions": self.said.total(),
            "labels_by_tool": {tool: self.shares(tool) for tool in tools},
            "ticks": self.ticks,
            "on_time_rate": self.on_time_rate,
            "valid_first_rate": self.valid_first / self.decisions if self.decisions else None,
            "model_ms_p50": _median(self.model_ms),
        }


def evaluate(
    bot: str,
    models: Sequence[str],
    seeds: Sequence[int],
    *,
    hz: float,
    ticks: int,
    folder: Path,
    fleet: Fleet,
    progress: Callable[[str, int, RunReport], None],
) -> list[Row]:
    """Play every seed with every model; each game leaves a session under ``folder/<model>/<seed>``.

    Args:
        bot: its name, folder or file.
        models: names.
        seeds: of the games.
        hz: ticks a second.
        ticks: stop each game after so many.
        folder: where the sessions go.
        fleet: what plays the games.
        progress: told of each game as it ends.

    Raises:
        CurableError, ModelError: a game could not be played.
    """
    jobs = [
        Job(bot=bot, model=model, seed=seed, hz=hz, ticks=ticks, folder=folder / _as_name(model) / str(seed))
        for model in models
        for seed in seeds
    ]
    reports: dict[Job, RunReport] = {}
    with closing(fleet(jobs)) as games:
        for played in games:
            if played.problem is not None:
                raise played.problem
            reports[played.job] = played.report
            progress(played.job.model, played.job.seed, played.report)
    rows = {model: Row(model=model) for model in models}
    for job in jobs:
        rows[job.model].add(reports[job], job.folder)
    return list(rows.values())


def _as_name(model: str) -> str:
    """A model's name as that of a folder: a host's holds what a path may not."""
    return re.sub(r"[^\w.+-]+", "-", model)


def missed_goals(rows: Sequence[Row], floors: Mapping[str, float]) -> list[str]:
    """The goals that were not reached, each in a sentence.

    Args:
        rows: what was played.
        floors: model -> the share of games that it must win.
    """
    missed = []
    for row in rows:
        floor = floors.get(row.model)
        if floor is not None and row.win_rate < floor:
            missed.append(
                f"{row.model}: expected at least {floor:.0%} of {row.games} games won, found {row.win_rate:.0%}"
            )
        if row.on_time_rate < ON_TIME_FLOOR:
            missed.append(
                f"{row.model}: expected {ON_TIME_FLOOR:.0%} of the ticks on time, found {row.on_time_rate:.1%}"
            )
    return missed


def _median(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None
