"""What a run looks like on the terminal: a line a tick, a report, a table of games."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent.controls import Controls
from agent.evaluate import Row
from agent.events import EventLog
from agent.metrics import RunReport
from agent.scheduler import Watcher
from agent.session.records import TickRecord
from perception.observation import Observation

console = Console()
errors = Console(stderr=True)


def notice(said: str) -> None:
    """A sentence for who waits; where results are read by a program, it is not among them."""
    errors.print(said, style="dim", soft_wrap=True, markup=False, highlight=False)


@contextmanager
def report_at_the_end(report: RunReport, folder: Path, bot_option: str) -> Iterator[None]:
    """Print the figures and where things are, also when the run broke, if it had begun."""
    try:
        yield
    finally:
        if report.ticks:
            console.print(report_table(report))
            where = f"Session  {folder}\nPicture  {folder / 'last.png'}\nReplay   onmark replay {folder}{bot_option}"
            console.print(where, soft_wrap=True, markup=False)


def stepped() -> Controls:
    """A run that is paused: a line of standard input is a tick, ``c`` goes on, ``q`` or the input's end ends it."""
    controls = Controls(paused=True)

    def listen() -> None:
        for line in sys.stdin:
            if line.strip() == "c":
                controls.resume()
            elif line.strip() == "q":
                break
            else:
                controls.step()
        controls.stop("It was told to stop.")

    notice("Enter: one tick. c and Enter: go on. q and Enter: end.")
    threading.Thread(target=listen, daemon=True).start()
    return controls


@contextmanager
def watchers(log: Path | None, metrics: int | None) -> Iterator[list[Watcher]]:
    """What else is told of each tick: a file of events, a server of figures."""
    with ExitStack() as stack:
        told = list[Watcher]()
        if log is not None:
            told.append(stack.enter_context(closing(EventLog(log))))
        if metrics is not None:
            from agent.prometheus import Metrics

            served = stack.enter_context(closing(Metrics(metrics)))
            notice(f"Metrics  http://127.0.0.1:{served.port}/metrics")
            told.append(served)
        yield told


def all_of(*told: Watcher) -> Watcher:
    """Several watchers as one."""

    def tell(record: TickRecord, seen: Observation | None) -> None:
        for each in told:
            each(record, seen)

    return tell


class StatusLine:
    """One live line a tick on a terminal; a plain line a tick elsewhere."""

    def __init__(self) -> None:
        self._live = Live(console=console, refresh_per_second=8, transient=False) if console.is_terminal else None

    def __enter__(self) -> StatusLine:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, record: TickRecord, seen: Observation | None) -> None:
        """Show one tick."""
        line = Text(status(record), no_wrap=True, overflow="ellipsis")
        if self._live:
            self._live.update(line)
        else:
            console.print(line, soft_wrap=True)


def status(record: TickRecord) -> str:
    """A tick in one line: its number, stage times, marks, action, outcome of the action before."""
    times = " ".join(f"{stage} {ms:.0f}" for stage, ms in record.times_ms.items())
    if record.blocked is not None:
        return f"tick {record.tick:4}  [{times} ms]  cannot see: {record.blocked.problem}"
    cause = f" ({record.cause})" if record.cause else ""
    last = f"  last {record.verification}{cause}" if record.tick else ""
    rung = f"  stuck ({', '.join(record.signals)}): {record.rung}" if record.rung else ""
    nothing = "a pause" if record.rung == "retry" else "no-op"
    did = record.result or record.action or (f"no answer ({record.unanswered})" if record.unanswered else nothing)
    refused = f" refused: {record.delivery.reason}" if record.delivery and record.delivery.reason else ""
    return f"tick {record.tick:4}  [{times} ms]  marks {len(record.marks)}{last}  {did}{refused}{rung}"


def report_table(report: RunReport) -> Table:
    """The run's figures."""
    figures = {name: value for name, value in report.summary().items() if name != "detail"}
    return figures_table(f"Run: {report.ending or 'error'}", figures)


def figures_table(title: str, figures: Mapping[str, Any]) -> Table:
    """A line a figure; those that are None are left out."""
    table = Table(title=title, show_header=False, title_justify="left")
    for name, value in figures.items():
        if value is not None:
            table.add_row(name.replace("_", " "), f"{value:.3g}" if isinstance(value, float) else str(value))
    return table


def eval_table(rows: list[Row]) -> Table:
    """One row a model."""
    table = Table(title="Games", title_justify="left")
    for heading in ("model", "won", "on time", "valid first", "model ms p50", "actions, and their targets' labels"):
        table.add_column(heading, no_wrap=heading == "model")
    for row in rows:
        figures = row.as_json()
        shares = figures["labels_by_tool"].items()
        said = [f"{tool}: " + ", ".join(f"{label} {share:.0%}" for label, share in of.items()) for tool, of in shares]
        model_ms = figures["model_ms_p50"]
        table.add_row(
            row.model,
            f"{row.endings['won']} of {row.games}",
            _percent(row.on_time_rate),
            _percent(figures["valid_first_rate"]),
            "-" if model_ms is None else f"{model_ms:.0f}",
            "\n".join([str(figures["actions"]), *said]),
        )
    return table


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
