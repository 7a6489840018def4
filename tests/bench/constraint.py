"""What the constraint is worth: a hundred typed requests to the embedded model, with and without it.

    python -m tests.bench.constraint [--requests 100] [--json FILE] [--quick]

Same decoder, same types, same judge for all. The peers need ``pip install -e '.[bench]'``; without them their arms
are left out, and that is said. Validity is exact and repeatable; times depend on the machine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agent.models import store
from grammar.engine import Verifier
from tests.bench.arms import LIMIT, TEMPERATURE, Arm, BenchModel, Constrained, Free, Outlines
from tests.bench.requests import Request, build
from tests.bench.retrying import Instructor
from tests.bench.trials import RETRIES, Summary, Trial, common_faults, run, summarise

CONTEXT = 4096  # Instructor's third prompt holds the schema and two answers with their faults
QUICK = 10


def main() -> None:
    """Run, print, and write down."""
    options = _options()
    console = Console(width=150)
    requests = build(QUICK if options.quick else options.requests)
    model = BenchModel(store.locate(store.DEFAULT), threads=1, context=CONTEXT)
    trials = [trial for arm in _arms(model, console) for trial in _trials(arm, requests, model, console)]
    for table in (_totals(trials), _by_kind(trials), _faults(trials)):
        console.print(table)
    if options.json:
        options.json.write_text(json.dumps(_report(trials), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=100, help="how many")
    parser.add_argument("--json", type=Path, help="write everything here, each answer with it")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} requests, to see that it runs")
    options = parser.parse_args()
    if not 10 <= options.requests <= 300:
        parser.error(f"expected 10 to 300 requests, found {options.requests}")
    return options


def _arms(model: BenchModel, console: Console) -> Iterator[Arm]:
    """The ways to ask, those of the peers that are installed among them."""
    yield Constrained(model)
    yield Free(model)
    yield Free(model, TEMPERATURE)
    try:
        yield Instructor(model)
    except ImportError as missing:
        console.print(f"Instructor is left out: {missing}")
    try:
        yield Outlines(model, import_module("outlines_core"))
    except ImportError as missing:
        console.print(f"outlines-core is left out: {missing}")


def _trials(arm: Arm, requests: Sequence[Request], model: BenchModel, console: Console) -> Iterator[Trial]:
    """All requests in one way, from an empty cache."""
    model.close()
    verifier = Verifier()
    for index, request in enumerate(requests):
        console.print(f"{arm.name}: {index + 1} of {len(requests)}", end="\r", highlight=False)
        yield run(arm, request, index, model, verifier)


def _names(trials: Sequence[Trial]) -> list[str]:
    return list(dict.fromkeys(trial.arm for trial in trials))


def _summaries(trials: Sequence[Trial]) -> list[Summary]:
    named = [(name, [trial for trial in trials if trial.arm == name]) for name in _names(trials)]
    return [summarise(name, its, retries) for name, its in named for retries in RETRIES]


def _totals(trials: Sequence[Trial]) -> Table:
    table = Table(title=f"N retries after the first attempt; answers of at most {LIMIT} tokens")
    table.add_column("arm")
    for heading in ("N", "valid", "95 %", "right", "attempts", "median ms", "tokens"):
        table.add_column(heading, justify="right")
    for each in _summaries(trials):
        table.add_row(
            each.arm,
            str(each.retries),
            f"{each.valid}/{each.requests}",
            f"{100 * each.low:.1f} to {100 * each.high:.1f} %",
            str(each.right),
            f"{each.mean_attempts:.2f}",
            f"{each.median_ms:.0f}",
            f"{each.mean_tokens:.1f}",
            end_section=each.retries == RETRIES[-1],
        )
    return table


def _by_kind(trials: Sequence[Trial]) -> Table:
    kinds = list(dict.fromkeys(trial.kind for trial in trials))
    table = Table(title="First attempts: valid, right, of all")
    table.add_column("arm")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for name in _names(trials):
        rows = [[t for t in trials if t.arm == name and t.kind == kind] for kind in kinds]
        firsts = [summarise(name, row, 0) for row in rows]
        table.add_row(name, *(f"{each.valid}, {each.right}, {each.requests}" for each in firsts))
    return table


def _faults(trials: Sequence[Trial]) -> Table:
    table = Table("arm", "first fault", title="Most frequent faults of first attempts")
    table.add_column("times", justify="right")
    for name in _names(trials):
        for said, times in common_faults([trial for trial in trials if trial.arm == name]):
            table.add_row(name, said, str(times))
    return table


def _report(trials: Sequence[Trial]) -> dict[str, object]:
    return {
        "summaries": [asdict(each) for each in _summaries(trials)],
        "trials": [asdict(trial) for trial in trials],
    }


if __name__ == "__main__":
    main()
