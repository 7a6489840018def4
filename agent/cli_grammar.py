"""Two commands about grammars alone, no game needed: ``onmark grammar`` and ``onmark sweep``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.progress import Progress
from rich.table import Table

from agent.console import console, errors
from agent.errors import WrongUse
from grammar.language import Language
from grammar.reply import Artifact, Dialect
from perception.geometry import Box
from perception.observation import GridCell, Mark

_NOWHERE = Box(0, 0, 0, 0)

JsonFile = Annotated[Path | None, typer.Option("--json", help="Write it there, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print tracebacks.")]


def grammar_command(
    what: Annotated[str, typer.Argument(help="A bot, or a type: FILE.py:NAME or MODULE:NAME.")],
    dialect: Annotated[str, typer.Option(help="lark, gbnf, json_schema, json_schema_closed or choices.")] = "lark",
    mark: Annotated[list[str] | None, typer.Option(help="NUMBER or NUMBER=LABEL; again for each mark.")] = None,
    cells: Annotated[str, typer.Option(help="A board, COLUMNSxROWS.")] = "0x0",
    suppress: Annotated[list[int] | None, typer.Option(help="A mark that the ladder took out.")] = None,
    number_only: Annotated[bool, typer.Option("--number-only", help="Spell marks without their labels.")] = False,
    proof: Annotated[bool, typer.Option("--proof", help="With the text that shows the grammar in the reply.")] = False,
    json_file: JsonFile = None,
    debug: Debug = False,
) -> None:
    """Print what a model is held to: the artifact on standard output, what is to know of it on standard error.

    Example: onmark grammar examples/mines --mark 7=safe --mark 12=mine --dialect gbnf
    """
    if dialect not in get_args(Dialect):
        raise WrongUse(f"Expected a dialect out of {', '.join(get_args(Dialect))}, found {dialect!r}.", "Choose one.")
    marks, board = _marks(mark or []), _board(cells)
    language = _language(what, marks, board, suppress or [], label_first=not number_only, proof=proof)
    artifact = language.artifacts.get(dialect)  # type: ignore[call-overload]  # checked above
    if artifact is None:
        raise WrongUse("The language is too large to be written out.", "Choose another --dialect.")
    facts = _facts(artifact, language)
    console.file.write(artifact.text if artifact.text.endswith("\n") else artifact.text + "\n")
    table = Table(show_header=False, title="Grammar", title_justify="left")
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _said(value))
    errors.print(table)
    if json_file is not None:
        json_file.write_text(json.dumps({**facts, "text": artifact.text}, indent=2) + "\n", encoding="utf-8")


def sweep_command(
    only: Annotated[str, typer.Option(help="Only types whose name contains this, such as 'optional of'.")] = "",
    seed: Annotated[int, typer.Option(help="Of the documents.")] = 0,
    json_file: JsonFile = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Debug = False,
) -> None:
    """Put thousands of declared types to every consumer: both grammars, both schemas, the validator.

    Example: onmark sweep --check
    """
    from grammar.sweep.pool import build_pool
    from grammar.sweep.run import sweep

    if json_file is not None and not json_file.parent.is_dir():
        raise WrongUse(f"Expected a folder to write {json_file.name} into, found none.", "Make it first.")
    pool = build_pool()
    cases = [case for case in pool.cases if only in case.name]
    if not cases:
        raise WrongUse(f"Expected types whose name contains {only!r}, found none.", f"One is {pool.cases[99].name!r}.")
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("types", total=len(cases))
        found = sweep(pool, cases, seed=seed, tell=lambda done: progress.update(task, completed=done))
    missed = found.missed(whole=not only)
    console.print(_sweep_table(found.as_json()))
    if json_file is not None:
        json_file.write_text(json.dumps(found.as_json(), indent=2) + "\n", encoding="utf-8")
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True, markup=False)
    for text in [text for texts in found.examples.values() for text in texts[:1]]:
        errors.print(f"  such as {text}", soft_wrap=True, markup=False)
    raise typer.Exit(1 if check and missed else 0)


def _language(
    what: str, marks: list[Mark], cells: list[GridCell], suppressed: list[int], *, label_first: bool, proof: bool
) -> Language[Any]:
    """The language of a bot's tools, or of any type."""
    from agent.load import load_bot, load_type
    from grammar.boundary import Boundary
    from grammar.engine import Verifier
    from grammar.nodes import Scope
    from grammar.spelling import by_number
    from grammar.tick import TickGrammar

    try:
        if ":" not in what:
            grammar = TickGrammar(load_bot(what).tools, Verifier(), label_first=label_first, proof=proof)
            return grammar.for_tick(marks, suppressed, cells)
        offered = by_number(mark for mark in marks if mark.number not in suppressed)
        scope = Scope(marks=offered, cells={cell.name: cell for cell in cells})
        return Boundary(load_type(what), label_first=label_first, proof=proof).language(scope)
    except ValueError as problem:
        raise WrongUse(f"{what}: {problem}.", "Say it otherwise.") from problem


def _marks(said: list[str]) -> list[Mark]:
    marks = []
    for text in said:
        number, equals, label = text.partition("=")
        if not number.isdecimal():
            raise WrongUse(f"Expected --mark NUMBER or NUMBER=LABEL, found {text!r}.", "Such as --mark 7=safe.")
        marks.append(Mark(number=int(number), box=_NOWHERE, label=label if equals else None))
    return marks


def _board(said: str) -> list[GridCell]:
    columns, _, rows = said.partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and int(columns) * int(rows) <= 10**5):
        raise WrongUse(f"Expected --cells COLUMNSxROWS, at most 100,000 cells, found {said!r}.", "Such as 16x9.")
    places = [(row, column) for row in range(int(rows)) for column in range(int(columns))]
    return [GridCell(number=i, row=row, column=c, box=_NOWHERE, kind=None) for i, (row, c) in enumerate(places, 1)]


def _facts(artifact: Artifact, language: Language[Any]) -> dict[str, Any]:
    """What is to know of an artifact."""
    from grammar.certificate import certify
    from grammar.choices import MANY, size

    lark = language.artifacts["lark"]
    certificate = certify(lark.text, lark.digest, language.scope, language.plan.lark)
    sentences = size(language.plan.node, language.scope)
    return {
        "dialect": artifact.dialect,
        "root": artifact.root,
        "bytes": len(artifact.text.encode()),
        "sentences": sentences if sentences < MANY else f"{MANY:,} or more",
        "digest": artifact.digest,
        "invariant_digest": artifact.invariant_digest,
        "proof": language.scope.proof or None,
        "can_name_marks": sorted(certificate.marks),
        "can_name_cells": sorted(certificate.cells),
    }


def _said(value: Any) -> str:
    if isinstance(value, list) and len(value) > 40:
        return ", ".join(map(str, value[:40])) + f" and {len(value) - 40} more"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _sweep_table(figures: dict[str, Any]) -> Table:
    """What the sweep counted."""
    table = Table(title="Sweep", show_header=False, title_justify="left")
    for name in ("types", "admitted", "impossible"):
        table.add_row(name, f"{figures[name]:,}")
    for kind, count in figures["refused"].items():
        table.add_row(f"refused: {kind}", f"{count:,}")
    table.add_row("documents and mutants", f"{figures['documents']:,}")
    table.add_row("of those in the grammars", f"{figures['accepted']:,}")
    for why, count in figures["other_spellings"].items():
        table.add_row(f"taken by the validator alone: {why}", f"{count:,}")
    table.add_row("taken by a schema alone", f"{figures['schema_wider']:,}")
    for what, count in figures["violations"].items():
        table.add_row(what, f"{count:,}", style="red")
    table.add_row("violations", f"{sum(figures['violations'].values()):,}")
    return table
