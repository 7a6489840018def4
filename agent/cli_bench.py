"""``onmark bench``: measurements, as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from agent.bench_choice import Row as ChoiceRow
from agent.bench_ladder import Row as LadderRow
from agent.console import console, errors
from agent.errors import WrongUse
from perception.score import Row

LABELLED = Path("tests/labelled")
TRACES = Path("tests/traces")
LADDER_MOST = 0.05  # of the traces, missed or told falsely, that ``--check`` lets pass
FLOORS = {"board": (0.9, 0.75), "cell kinds": (0.95, 0.95), "everything": (0.8, 0.8)}
"""Detector -> the precision and the recall, over all games, that ``--check`` holds it to."""

bench_app = typer.Typer(help="Measurements, as tables.", no_args_is_help=True)


@bench_app.command("perception")
def bench_perception(
    folder: Annotated[Path, typer.Argument(help="Labelled frames: GAME/NN.png and GAME/NN.json.")] = LABELLED,
    detector: Annotated[str, typer.Option(help="Only detectors whose name contains this.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table there.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks.")] = False,
) -> None:
    """Precision and recall of each detector on each game's labelled frames, with 95 % intervals.

    Example: onmark bench perception tests/labelled
    """
    from perception.labelled import frames
    from perception.score import DETECTORS, score

    chosen = {name: each for name, each in DETECTORS.items() if detector in name}
    if not chosen:
        raise WrongUse(f"Expected a detector out of {', '.join(DETECTORS)}, found {detector!r}.", "Choose one.")
    try:
        labelled = frames(folder)
    except ValueError as problem:
        raise WrongUse(f"{problem}.", "Correct it.") from problem
    if not labelled:
        raise WrongUse(f"Expected labelled frames in {folder}, found none.", f"Such as {LABELLED} of the repository.")
    rows = []
    for row in score(labelled, chosen):
        rows.append(row)
        if row.game == "all":
            errors.print(f"{row.detector}: done", highlight=False)
    console.print(score_table(rows))
    if json_file is not None:
        json_file.write_text(json.dumps([_as_json(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    missed = missed_floors(rows, FLOORS)
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True, markup=False)
    raise typer.Exit(1 if check and missed else 0)


@bench_app.command("ladder")
def bench_ladder(
    folder: Annotated[
        Path | None, typer.Argument(help="Recorded traces: NAME/ is a session with a label.json besides.")
    ] = None,
    drawn: Annotated[bool, typer.Option(help="Also the small worlds that are drawn.")] = True,
    names: Annotated[bool, typer.Option("--names", help="Name each trace that was missed or told falsely.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table there.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks.")] = False,
) -> None:
    """How often the ladder misses that an agent is stuck, or says so falsely; beside what others use.

    A trace of one's own is a session's folder with a label.json in it: "stuck_from" is the first tick of which nothing
    comes, or null. It may name sensors of the session as "progress" and "loading", and one that is true when an action
    did what it should as "effect". Without FOLDER, those of tests/traces are taken if they are here.

    Example: onmark bench ladder tests/traces
    """
    from agent.bench_ladder import measure
    from agent.testing.traces import recorded
    from agent.testing.worlds import drawn as worlds

    chosen = folder if folder is not None else TRACES if TRACES.is_dir() else None
    if folder is not None and not any(folder.glob("*/label.json")):
        raise WrongUse(f"Expected traces in {folder}, found no folder with a label.json.", f"Such as {TRACES}.")
    try:
        traces = [*(recorded(chosen) if chosen else ()), *(worlds() if drawn else ())]
    except ValueError as problem:
        raise WrongUse(f"{problem}.", "Correct it.") from problem
    if not traces:
        raise WrongUse("Expected traces, found none here.", "Name a folder, or leave out --no-drawn.")
    rows = measure(traces)
    console.print(_ladder_table(rows))
    for row in rows if names else ():
        for kind, traces in (("missed", row.missed), ("told falsely", row.false)):
            console.print(f"{row.way} {kind}: {', '.join(traces) or 'none'}", soft_wrap=True, markup=False)
    if json_file is not None:
        json_file.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n", encoding="utf-8")
    ours = rows[0]
    missed = [
        f"{name}: expected at most {LADDER_MOST:.0%}, found {share:.1%}"
        for name, share in (("missed", ours.missed_rate), ("told falsely", ours.false_rate))
        if share > LADDER_MOST
    ]
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True, markup=False)
    raise typer.Exit(1 if check and missed else 0)


@bench_app.command("choice")
def bench_choice(
    model: Annotated[str, typer.Option(help="embedded, or a host as `onmark model list` names them.")] = "embedded",
    cases: Annotated[int | None, typer.Option(help="Only so many, evenly out of all 120.", min=1)] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table there.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks.")] = False,
) -> None:
    """How well a model chooses, by how it is asked, over 120 fixed cases: spelling, decoding, order of the prompt.

    About ten minutes with the embedded model on two cores.

    Example: onmark bench choice --check
    """
    from rich.progress import Progress

    from agent import bench_choice as bench
    from agent.load import load_unbound_model

    every, digest = bench.read_cases()
    chosen = every[:: max(1, len(every) // cases)][:cases] if cases else every
    rows: list[bench.Row] = []
    with (
        closing(load_unbound_model(model, measure_mass=True)) as ready,
        Progress(console=errors, transient=True) as progress,
    ):
        arms = [arm for arm in bench.ARMS if bench.can(ready, arm)]
        task = progress.add_task("Choosing", total=len(arms) * len(chosen))
        for arm in arms:
            counted = list[bench.Row]()
            for so_far in bench.measure(ready, arm, chosen):
                counted = so_far
                progress.update(task, advance=1, description=str(arm))
            rows += counted
    console.print(_choice_table(rows, model, digest))
    if json_file is not None:
        told = {"model": model, "cases_sha256": digest, "rows": [row.as_json() for row in rows]}
        json_file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    missed = bench.missed_goals(rows)
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True, markup=False)
    raise typer.Exit(1 if check and missed else 0)


def _choice_table(rows: Sequence[ChoiceRow], model: str, digest: str) -> Table:
    """A line an arm; of each kind of case, how many were right."""
    kinds = list(dict.fromkeys(row.kind for row in rows if row.kind != "all"))
    every = [row for row in rows if row.kind == "all"]
    many, chance = every[0].cases, every[0].chance / every[0].cases
    title = f"{model}: right, per cent and the 95 % interval, of {many} cases ({digest[:8]}); by chance {chance:.1%}"
    table = Table(title=title, title_justify="left", box=SIMPLE)
    table.add_column("asked")
    for name in ("right", "first mark", "mass", "margin", "ms", *kinds):
        table.add_column(name, justify="right")
    for row in every:
        plain = row.as_json()
        low, high = row.interval
        of_kind = {each.kind: each for each in rows if each.arm == row.arm}
        table.add_row(
            row.arm,
            f"{row.accuracy:.0%} ({low:.0%}-{high:.0%})".replace("%", ""),
            f"{plain['first_mark_rate']:.0%}",
            *(_figure(plain[name]) for name in ("mass_p50", "margin_p50")),
            f"{plain['ms_p50']:.0f}",
            *(f"{of_kind[kind].hits}/{of_kind[kind].cases}" for kind in kinds),
        )
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _ladder_table(rows: Sequence[LadderRow]) -> Table:
    """A line a way of telling."""
    ours = rows[0]
    title = f"Is it stuck? {ours.stuck} traces in which it is, {ours.fine} in which it is not"
    table = Table(title=title, title_justify="left", box=SIMPLE)
    table.add_column("told by", no_wrap=True)
    for name in ("missed", "told falsely", "ticks to tell, median", "most"):
        table.add_column(name, justify="right")
    for row in rows:
        plain = row.as_json()
        ticks = [str(plain[name] if plain[name] is not None else "-") for name in ("ticks_median", "ticks_most")]
        shares = f"{len(row.missed)} ({row.missed_rate:.0%})", f"{len(row.false)} ({row.false_rate:.0%})"
        table.add_row(row.way, *shares, *ticks)
    return table


def missed_floors(rows: list[Row], floors: Mapping[str, tuple[float, float]]) -> list[str]:
    """The goals that are missed over all games."""
    missed = []
    for row in rows:
        if row.game != "all" or row.detector not in floors:
            continue
        count = row.count
        shares = (count.correct / max(1, count.found), count.reached / max(1, count.wanted))
        for name, share, floor in zip(("precision", "recall"), shares, floors[row.detector], strict=True):
            if share < floor:
                missed.append(f"{row.detector}: {name}: expected at least {floor}, found {share:.3f}")
    return missed


def score_table(rows: list[Row]) -> Table:
    """Precision and recall: a section a detector, a line a game."""
    table = Table(title="Perception: per cent, and the 95 % interval", title_justify="left", box=SIMPLE)
    table.add_column("detector", no_wrap=True)
    for name in ("frames", "found", "precision", "wanted", "recall"):
        table.add_column(name, justify="right", no_wrap=True)
    for detector, part in groupby(rows, key=lambda row: row.detector):
        table.add_row(detector, style="bold")
        for row in part:
            count = row.count
            precision, recall = _share(count.correct, count.found), _share(count.reached, count.wanted)
            cells = (Text(f"  {row.game}"), str(row.frames), str(count.found), precision, str(count.wanted), recall)
            table.add_row(*cells, style="bold" if row.game == "all" else None)
        table.add_section()
    return table


def _share(hits: int, of: int) -> str:
    """A share with its interval; nothing for a share of nothing."""
    from perception.score import wilson

    if not of:
        return ""
    low, high = wilson(hits, of)
    return f"{hits / of:.1%} ({low:.0%}-{high:.0%})".replace("%", "")


def _as_json(row: Row) -> dict[str, object]:
    return {"detector": row.detector, "game": row.game, "frames": row.frames, **row.count._asdict()}
