"""The command line: ``onmark``, which is ``python -m agent``.

Exit codes: 0 fine; 1 the game was not won, a replay differs, or a goal of ``--check`` was missed; 2 wrong use, or
a bot that is wrong;
3 something is missing on this machine, or the game's window cannot be played (the message says the cure);
4 a bug in Onmark; 130 interrupted.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import structlog
import typer

from actuation.errors import ActuationError
from agent.bot import Bot, described
from agent.cli_bench import bench_app
from agent.cli_grammar import grammar_command, sweep_command
from agent.cli_look import look_command
from agent.cli_model import model_app
from agent.console import (
    StatusLine,
    all_of,
    console,
    errors,
    eval_table,
    figures_table,
    notice,
    report_at_the_end,
    stepped,
    watchers,
)
from agent.desktop import wants_own
from agent.errors import BotError, MissingPiece, WrongUse
from agent.evaluate import evaluate, missed_goals
from agent.metrics import RunReport
from agent.models.base import ModelError
from agent.session.reader import SessionError
from grammar.errors import GrammarError
from perception.errors import OfferError, PerceptionError, SensorError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
app.add_typer(model_app, name="model")
app.command("grammar")(grammar_command)
app.command("sweep")(sweep_command)
app.command("look")(look_command)
app.add_typer(bench_app, name="bench")

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_BY_ENDING = {"won": 0, "blocked": 3, "closed": 3, "no_model": 3, "stopped": 130}  # of all others: 1

Debug = Annotated[bool, typer.Option("--debug", help="Print tracebacks and the event log.")]
DisplayChoice = Annotated[
    str, typer.Option("--display", help="auto: DISPLAY if it is set, else our own; own: our own.")
]


def main() -> None:
    """Run the command line; every expected error is one message with its cure."""
    debug = "--debug" in sys.argv
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO if debug else logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    # SIGINT too: a script that started us in its background left it ignored, and what clicks must stop when told to.
    for sign in STOP_SIGNALS:
        signal.signal(sign, _interrupt)
    try:
        app(prog_name="onmark")
    except (WrongUse, BotError, OfferError, SensorError, SessionError, GrammarError) as problem:
        _fail(problem, 2, debug)
    except (MissingPiece, ModelError, PerceptionError, ActuationError, OSError) as problem:
        _fail(problem, 3, debug)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as problem:
        _fail(RuntimeError(f"This is a bug in Onmark: {described(problem)}. --debug prints more."), 4, debug, problem)


@app.command()
def run(
    bot: Annotated[str, typer.Argument(help="A folder with bot.py, a file, or the name of an example.")],
    model: Annotated[str | None, typer.Option(help="embedded, scripted, random, a host. [default: embedded]")] = None,
    seed: Annotated[int, typer.Option(help="Put into the game's command.")] = 1,
    hz: Annotated[float | None, typer.Option(help="Ticks a second. [default: 2]", min=0.1, max=60)] = None,
    ticks: Annotated[int | None, typer.Option(help="Stop after so many.", min=1)] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after so long.", min=0.1)] = None,
    lock_step: Annotated[
        bool | None, typer.Option("--lock-step", help="Tick when the screen has settled: for turn-based games.")
    ] = None,
    model_timeout: Annotated[
        float | None, typer.Option(help="Seconds that the model may take to answer. [default: 10]", min=0.01)
    ] = None,
    step: Annotated[
        bool, typer.Option("--step", help="A tick for each Enter; c and Enter goes on, q and Enter ends it.")
    ] = False,
    config: Annotated[Path | None, typer.Option(help="Settings. [default: onmark.toml, if there is one]")] = None,
    session: Annotated[Path | None, typer.Option(help="Where the session goes; an empty or new folder.")] = None,
    display: DisplayChoice = "auto",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report there.")] = None,
    log: Annotated[Path | None, typer.Option(help="Add what happens to this file, a line of JSON each.")] = None,
    metrics: Annotated[
        int | None, typer.Option(help="Serve figures for Prometheus at this port.", min=0, max=65535)
    ] = None,
    debug: Debug = False,
) -> None:
    """Play a game to its end. Example: onmark run examples/mines --seed 3."""
    from agent.config import load_config
    from agent.load import load_bot
    from agent.play import default_folder, play

    settings = load_config(config).with_options(
        model=model, hz=hz, ticks=ticks, seconds=seconds, lock_step=lock_step, model_timeout_s=model_timeout
    )
    player = load_bot(bot)
    settings.apply(player)
    folder = session or default_folder(player, settings.model)
    _require_parent(json_file)
    report = RunReport()
    with (
        watchers(log, metrics) as others,
        report_at_the_end(report, folder, _bot_option(bot, player.name)),
        StatusLine() as status,
    ):
        play(
            player,
            model=settings.model,
            seed=seed,
            hz=settings.hz,
            ticks=settings.ticks,
            seconds=settings.seconds,
            lock_step=settings.lock_step,
            model_timeout_s=settings.model_timeout_s,
            model_patience_s=settings.model_patience_s,
            prompt_tokens=settings.prompt_tokens,
            controls=stepped() if step else None,
            folder=folder,
            own_display=wants_own(display),
            watcher=all_of(status, *others),
            report=report,
            notice=notice,
        )
    for message in ("" if report.ending in ("won", "lost") else report.detail, report.suspicion, *report.warnings):
        if message:
            errors.print(f"onmark: {message}", style="bold", soft_wrap=True, markup=False, highlight=False)
    _write_json(json_file, report.summary())
    nothing_to_win = report.ending in ("ticks", "time") and type(player).result is Bot.result
    raise typer.Exit(0 if nothing_to_win else EXIT_BY_ENDING.get(report.ending or "", 1))


@app.command()
def replay(
    session: Annotated[Path, typer.Argument(help="A session's folder.")],
    bot: Annotated[str | None, typer.Option(help="The bot; by default the example that the session names.")] = None,
    debug: Debug = False,
) -> None:
    """Do a session's ticks again from its frames and replies; no display is needed. Exit 1: something differs.

    Perception, ladder, grammar, verdict, decision and resolved point are compared; the prompt's text and times are not.

    Example: onmark replay tests/sessions/mines-won.
    """
    from agent.load import load_bot, load_bot_by_name
    from agent.session.reader import open_session
    from agent.session.replay import replay as replayed

    recorded = open_session(session)
    player = load_bot(bot) if bot else load_bot_by_name(recorded.header.bot, session)
    if not recorded.ticks:
        raise SessionError(f"{session}: expected ticks, found none: nothing was recorded, so nothing can agree.")
    done = 0
    for difference in replayed(recorded, player):
        done += 1
        if difference is not None:
            errors.print(f"{session}: differs at {difference}", soft_wrap=True, markup=False)
            raise typer.Exit(1)
    note = " The last line was cut off and is left out." if recorded.cut else ""
    end = recorded.ticks[-1].result
    ending = f"the game is {end}" if end else "the game is not over"
    ending += f"; the run ended as {recorded.ended.removesuffix('.')}" if recorded.ended and not end else ""
    console.print(f"{session}: {done} ticks agree; {ending}.{note}", soft_wrap=True, markup=False)


@app.command("eval")
def evaluate_command(
    bot: Annotated[str, typer.Argument(help="A folder with bot.py, a file, or the name of an example.")],
    models: Annotated[str, typer.Option(help="Comma-separated.")] = "scripted,embedded,random",
    seeds: Annotated[str, typer.Option(help="Such as 1-10 or 1,4,7.")] = "1-10",
    hz: Annotated[float, typer.Option(help="Ticks a second.", min=0.1, max=60)] = 2.0,
    ticks: Annotated[int, typer.Option(help="Stop each game after so many.", min=1)] = 150,
    sessions: Annotated[Path | None, typer.Option(help="Where the sessions go.")] = None,
    display: DisplayChoice = "own",
    workers: Annotated[
        int, typer.Option(help="So many games at once, each in a process with a display of its own.", min=1)
    ] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="On a Ray cluster, or one that is started here.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table there.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Debug = False,
) -> None:
    """Play many seeds with several models and print one table. Example: onmark eval examples/mines --check.

    Games that are played at once take time from each other: what is on time is what the machine can bear.
    """
    from datetime import datetime

    from agent import fleet
    from agent.load import load_bot

    player = load_bot(bot)
    _require_parent(json_file)
    folder = sessions or Path("runs") / datetime.now().strftime("eval-%Y%m%d-%H%M%S")
    play_all: fleet.Fleet = partial(fleet.in_order, own_display=wants_own(display))
    if ray:
        play_all = partial(fleet.on_ray, workers=workers if workers > 1 else None)
    elif workers > 1:
        play_all = partial(fleet.in_processes, workers=workers)
    rows = evaluate(
        bot,
        models.split(","),
        _seeds(seeds),
        hz=hz,
        ticks=ticks,
        folder=folder,
        fleet=play_all,
        progress=lambda name, seed, report: errors.print(
            f"{name} seed {seed}: {report.ending}, {report.ticks} ticks, {report.late} late. {report.detail}",
            soft_wrap=True,
        ),
    )
    console.print(eval_table(rows))
    _write_json(json_file, [row.as_json() for row in rows])
    console.print(f"Sessions {folder}/MODEL/SEED", soft_wrap=True, markup=False)
    missed = missed_goals(rows, player.win_floors)
    if check:
        goals = ", ".join(f"{name} wins {share:.0%}" for name, share in player.win_floors.items())
        console.print(f"Checked  90% of the ticks on time; {goals or 'the bot declares no win_floors'}")
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True)
    raise typer.Exit(1 if check and missed else 0)


@app.command("soak")
def soak_command(
    bot: Annotated[str, typer.Argument(help="A folder with bot.py, a file, or the name of an example.")] = "mines",
    session: Annotated[Path, typer.Option(help="Whose frames are looked at.")] = Path("tests/sessions/mines-won"),
    ticks: Annotated[int, typer.Option(help="Simulated ticks; 57,600 are eight hours.", min=100)] = 57_600,
    real: Annotated[float | None, typer.Option(help="Play for so many seconds in real time instead.", min=1)] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures there.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 and name each goal that is missed.")] = False,
    debug: Debug = False,
) -> None:
    """A whole night, with faults thrown in: memory, files, connections and times at its end.

    On a simulated clock, real perception, grammar and ladder work on a session's frames, and nothing is clicked; with
    --real a real game is played on a display of our own, stopped and killed now and then.

    Example: onmark soak mines --real 3600 --check
    """
    from rich.progress import Progress

    from agent import soak
    from agent.load import load_bot
    from agent.session.reader import open_session

    player = load_bot(bot)
    _require_parent(json_file)
    if real is None:
        night, whole = soak.simulated(player, open_session(session), ticks=ticks), float(ticks)
    else:
        night, whole = soak.real(player, seconds=real, notice=notice), real
    soaked = soak.Soaked()
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("Soaking", total=whole)
        for soaked in night:
            progress.update(task, completed=soaked.ticks if real is None else soaked.seconds)
    console.print(figures_table("Soak", soaked.as_json()))
    _write_json(json_file, soaked.as_json())
    missed = soaked.missed()
    for goal in missed:
        errors.print(f"missed: {goal}", style="red", soft_wrap=True, markup=False)
    raise typer.Exit(1 if check and missed else 0)


def _bot_option(named: str, name: str) -> str:
    """What a replay must be told, when the session's own word for its bot does not lead there."""
    from agent.load import EXAMPLES, bot_file

    by_name = EXAMPLES / name / "bot.py"
    return "" if by_name.is_file() and bot_file(named).samefile(by_name) else f" --bot {named}"


def _seeds(text: str) -> list[int]:
    """``1-10`` or ``1,4,7``."""
    try:
        parts = [part.split("-") for part in text.split(",")]
        seeds = [seed for part in parts for seed in range(int(part[0]), int(part[-1]) + 1)]
    except ValueError:
        seeds = []
    if not seeds:
        raise WrongUse(f"Expected seeds such as 1-10 or 1,4,7, found {text!r}.", "Give numbers, the smaller first.")
    return seeds


def _require_parent(path: Path | None) -> None:
    """Refuse a report that could not be written, before the game is played."""
    if path is not None and not path.parent.is_dir():
        raise WrongUse(f"Expected a folder to write {path.name} into, found none at {path.parent}.", "Make it first.")


def _write_json(path: Path | None, value: object) -> None:
    if path is not None:
        path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _interrupt(sign: int, _: FrameType | None) -> None:
    """End a run: everything is released and the report is printed."""
    for other in STOP_SIGNALS:  # while things are put in order, which takes no longer than a few seconds
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt(f"Ended by {signal.Signals(sign).name}.")


def _fail(problem: Exception, code: int, debug: bool, cause: Exception | None = None) -> NoReturn:
    """One message, or the traceback under --debug."""
    if debug:
        raise cause or problem
    errors.print(f"onmark: {problem}", soft_wrap=True, markup=False, highlight=False)
    raise SystemExit(code) from problem
