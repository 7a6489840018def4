"""``onmark look``: what the agent would see, in a window or a picture, before there is an agent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agent.bot import Bot, asked
from agent.clock import SystemClock
from agent.console import console, errors, notice
from agent.desktop import display, game_window, wants_own
from agent.errors import WrongUse
from agent.look import Picture, described, differences, read_expected
from agent.prompt import one_line
from perception.detect.base import Detector, Reading
from perception.detect.everything import everything
from perception.errors import NotObservable
from perception.image import write_png
from perception.live import LiveWindow
from perception.observation import Observation
from perception.overlay import draw
from perception.perceiver import Candidates, FrameSource, Perceiver
from perception.watch import Watched
from perception.window import WindowQuery, open_desktop

ROWS = 60  # of the table on a terminal; all marks are in the picture and under --json


def look_command(
    target: Annotated[str | None, typer.Argument(help="A PNG, or a window's title. None: the bot's game.")] = None,
    bot: Annotated[str | None, typer.Option(help="Look with this bot's detector and candidates.")] = None,
    class_name: Annotated[str | None, typer.Option("--class", help="The window of this class.")] = None,
    process: Annotated[str | None, typer.Option(help="The window of this program.")] = None,
    out: Annotated[Path, typer.Option(help="Where the picture with the marks goes.")] = Path("look.png"),
    save: Annotated[Path | None, typer.Option(help="Where the bare picture goes, to be a test later.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between looks under --watch.", min=0.05, max=60)] = 0.5,
    expect: Annotated[Path | None, typer.Option(help="Marks that should be there; exit 1 if they are not.")] = None,
    seed: Annotated[int, typer.Option(help="Of the bot's game.")] = 1,
    display_choice: Annotated[str, typer.Option("--display", help="auto, or own: our own display.")] = "auto",
    kinds: Annotated[Path | None, typer.Option(help="A folder for a picture of each kind of cell.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the marks there.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks.")] = False,
) -> None:
    """Look once at a window or a PNG: print the marks, and draw them into look.png.

    Example: onmark look shot.png --expect marks.json
    """
    from agent.load import load_bot

    if watch and expect:
        raise WrongUse("Expected --watch or --expect, found both.", "Look once to compare.")

    player = load_bot(bot) if bot else None
    wanted = read_expected(expect) if expect else None
    for path in (out, save, json_file):
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise WrongUse(f"Expected a file to write, found no place for it at {path}.", "Name a file in a folder.")
    meant = _meant(target, class_name, process)
    with _source(meant, player, seed, own=wants_own(display_choice)) as source:
        perceiver = Perceiver(source, *_eyes(player), player.sensors if player else {})
        if watch:
            _watch(perceiver, out, every)
            return
        seen = perceiver.observe()
    _write(seen, out, save, json_file)
    if kinds is not None:
        _write_kinds(seen, kinds)
    missing = differences(wanted, seen) if wanted is not None else []
    console.print(look_table(seen))
    notes = look_notes(seen) if player else _without_texts()
    for line in [*notes, f"Picture  {out}"]:
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    for line in missing:
        errors.print(line, style="red", soft_wrap=True, markup=False)
    raise typer.Exit(1 if missing else 0)


def look_table(seen: Observation) -> Table:
    """The marks of a look, and the cells that have a kind."""
    board = f", {len(seen.cells)} cells" if seen.cells else ""
    more = f", {seen.left_out} more left out (Fusion(most=...))" if seen.left_out else ""
    count = f"{len(seen.marks)} mark{'' if len(seen.marks) == 1 else 's'}"
    table = Table(title=f"{count}{board}{more}", title_justify="left")
    for name in ("mark", "cell", "label", "left", "top", "width", "height"):
        table.add_column(name, justify="left" if name in ("cell", "label") else "right")
    cells = {cell.number: cell.name for cell in seen.cells}
    for mark in seen.marks[:ROWS]:
        place = map(str, (mark.box.left, mark.box.top, mark.box.width, mark.box.height))
        table.add_row(str(mark.number), cells.get(mark.number, ""), Text(one_line(mark.label or "")), *place)
    table.caption = f"{len(seen.marks) - ROWS} more" if len(seen.marks) > ROWS else None
    return table


def look_notes(seen: Observation) -> list[str]:
    """What the sensors say, and what could not be found: a line each."""
    told = {name: "cannot be told" if value is None else value for name, value in seen.sensors.items()}
    sensors = [f"Sensor   {name}: {one_line(str(value))}" for name, value in told.items()]
    return [*sensors, *(f"Unseen   {one_line(problem)}" for problem in seen.unseen)]


def _eyes(bot: Bot | None) -> tuple[Detector, Candidates]:
    """What looks, and what of it is shown: the bot's choice, or all that there is."""
    if bot is not None:
        return bot.detector, asked(bot.candidates)
    return everything(), lambda seen: {mark.number: mark.label or "" for mark in seen.marks}


def _without_texts() -> list[str]:
    """A line that says so, where the default eyes read no text."""
    if any(isinstance(each, Reading) for each in everything().detectors):
        return []
    return ["Texts    are not read: pip install 'onmark[ocr]', and apt-get install tesseract-ocr-eng"]


@contextmanager
def _source(query: WindowQuery | Path | None, bot: Bot | None, seed: int, *, own: bool) -> Iterator[FrameSource]:
    """Where to look: a picture, a window that is there, or the bot's game, which is started."""
    if isinstance(query, Path):
        yield Picture.read(query)
        return
    if query is not None and (own or not os.environ.get("DISPLAY")):
        raise WrongUse("A display of our own shows no window yet.", "Set DISPLAY, or let a --bot start its game.")
    clock = SystemClock()
    with ExitStack() as stack:
        stack.enter_context(display(own=own))
        desktop = stack.enter_context(closing(open_desktop()))
        desktop.require_window_manager()
        if query is not None:
            window = desktop.find(query)
        elif bot is not None:
            window = stack.enter_context(game_window(bot.game, seed, desktop, notice))
        else:
            raise WrongUse("Expected a PNG, a window or a bot to look with, found none.", "onmark look shot.png")
        live = stack.enter_context(closing(LiveWindow(window, clock.now_ns, covered="composite")))
        yield Watched(live, sleep=clock.sleep)


def _meant(target: str | None, class_name: str | None, process: str | None) -> WindowQuery | Path | None:
    """What is to be looked at. None: nothing was said, so it is the bot's game.

    Raises:
        WrongUse: a picture and a window at once.
    """
    if target is not None and (target.endswith(".png") or Path(target).is_file()):
        if class_name or process:
            raise WrongUse(f"Expected a picture or a window, found {target} and a window's.", "Leave one out.")
        return Path(target)
    if target or class_name or process:
        return WindowQuery(title=target, class_name=class_name, process=process)
    return None


def _write(seen: Observation, out: Path, save: Path | None, json_file: Path | None) -> None:
    write_png(out, draw(seen))
    if save is not None:
        write_png(save, seen.frame.pixels)
    if json_file is not None:
        json_file.write_text(json.dumps(described(seen), indent=1) + "\n", encoding="utf-8")


def _write_kinds(seen: Observation, folder: Path) -> None:
    """A picture of the first cell of each kind, to be renamed and given to ``CellKinds``."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, cell in {cell.kind: cell for cell in reversed(seen.cells) if cell.kind}.items():
        write_png(folder / f"{kind}.png", seen.frame.patch(cell.box.shrunk(1)))


def _watch(perceiver: Perceiver, out: Path, every: float) -> None:
    """Look until interrupted: the table on the terminal, the picture in its file, where a viewer shows it anew."""
    clock = SystemClock()
    with Live(console=console, screen=False, refresh_per_second=8) as live:
        while True:
            try:
                seen = perceiver.observe()
                write_png(out, draw(seen))
                live.update(Group(*map(Text, look_notes(seen)), look_table(seen)))
            except NotObservable as problem:
                live.update(Text(one_line(str(problem))))
            clock.sleep(every)
