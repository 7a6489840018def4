"""Play a game: put the parts together, run, and leave a session."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from actuation.executor import Executor
from actuation.process import StepProcess
from agent.bot import Bot, asked
from agent.budget import PROMPT_TOKENS
from agent.calls import PATIENCE_S, InThread
from agent.clock import SystemClock
from agent.controls import Controls
from agent.desktop import Notice, display, game_window, unheard
from agent.errors import WrongUse
from agent.load import load_model
from agent.metrics import RunReport
from agent.models.base import Model
from agent.pace import LockStep, RealTime
from agent.scheduler import Scheduler, Watcher
from agent.session.records import SessionHeader, TickRecord
from agent.session.writer import SessionWriter
from grammar.shape import wire_name
from perception.image import write_png
from perception.live import LiveWindow
from perception.observation import Observation
from perception.overlay import draw
from perception.perceiver import Perceiver
from perception.watch import Watched
from perception.window import open_desktop

REPORT = "report.json"  # in a session's folder: the figures that are printed at the end
RECORDED_DEPENDENCIES = ("llguidance", "mss", "numpy", "opencv-python", "pyautogui", "pydantic")


def play(
    bot: Bot,
    *,
    model: str | Model = "embedded",
    seed: int = 1,
    hz: float = 2.0,
    ticks: int | None = None,
    seconds: float | None = None,
    until: Callable[[TickRecord], bool] | None = None,
    lock_step: bool = False,
    model_timeout_s: float | None = 10.0,
    model_patience_s: float = PATIENCE_S,
    prompt_tokens: int = PROMPT_TOKENS,
    controls: Controls | None = None,
    folder: Path | None = None,
    own_display: bool = False,
    on_display: str | None = None,
    watcher: Watcher | None = None,
    report: RunReport | None = None,
    notice: Notice = unheard,
) -> RunReport:
    """Play one game from start to end.

    Args:
        bot: what is played.
        model: ``embedded``, ``scripted``, ``random``, a host such as ``llama-server:http://127.0.0.1:8080``, or a model
            of your own, which stays open.
        seed: put into the game's command, and the random model's seed.
        hz: ticks a second.
        ticks: stop after so many. None: no limit.
        seconds: stop after so long. None: no limit.
        until: stop after the first tick of which this is true. None: no limit.
        lock_step: begin each tick when the screen has settled, for a turn-based game, instead of so many a second.
        model_timeout_s: how long the model may take to answer; then nothing is done in that tick. None: for ever.
        model_patience_s: how long its host may be away, with nothing done, before that ends the run.
        prompt_tokens: how many a prompt may take before there is a warning.
        controls: to pause, step and stop it from elsewhere.
        folder: where the session goes; it must be empty. None: ``runs/<time>-<bot>-<model>``.
        own_display: start a display of our own even when DISPLAY names one.
        on_display: play on this X display, whatever DISPLAY says; see ``agent.desktop.virtual_display``.
        watcher: told of every tick.
        report: where the figures go, for who wants them when the run breaks too. None: a new one.
        notice: told what is being waited for before the first tick.

    Returns:
        The figures.

    Raises:
        WrongUse: the folder is not empty, or the model is unknown.
        MissingPiece: something is not installed.
        PerceptionError: no display, or no window of that title.
        ActuationError: input cannot be synthesised here.
    """
    folder = folder or default_folder(bot, model if isinstance(model, str) else "custom")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongUse(f"Expected a new or empty folder for the session, found {folder}.", "Name another, or move it.")
    with ExitStack() as stack:
        ready = stack.enter_context(_model(model, bot, seed))
        if on_display is None:
            stack.enter_context(display(own=own_display))
        desktop = stack.enter_context(closing(open_desktop(on_display)))
        desktop.require_window_manager()
        window = stack.enter_context(game_window(bot.game, seed, desktop, notice, on_display))
        clock = SystemClock()
        live = stack.enter_context(closing(LiveWindow(window, clock.now_ns)))
        source = Watched(live, sleep=clock.sleep, answers=live.answers, moves_every_s=bot.moves_every_s)
        steps = StepProcess(window.id, motion=bot.motion, rules=bot.rules, display=on_display)
        executor = stack.enter_context(closing(Executor(steps)))
        recorder = SessionWriter(folder, header(bot, ready, seed, hz))
        figures = report or RunReport()
        stack.callback(_write_report, folder / REPORT, figures)
        snapshot = _Snapshot(folder / "last.png", watcher)
        perceiver = Perceiver(source, bot.detector, asked(bot.candidates), bot.sensors)
        perceiver.attach(live.state)
        scheduler = Scheduler(
            bot=bot,
            perceiver=perceiver,
            model=ready,
            actuator=executor,
            recorder=recorder,
            clock=clock,
            pace=LockStep(clock, lambda: live.grab().pixels) if lock_step else RealTime(clock, hz),
            runner=InThread(),
            model_timeout_s=model_timeout_s,
            model_patience_s=model_patience_s,
            prompt_tokens=prompt_tokens,
            controls=controls,
            watcher=snapshot,
            report=figures,
        )
        try:
            return scheduler.run(ticks, seconds=seconds, until=until)
        finally:
            snapshot.save()


def default_folder(bot: Bot, model: str) -> Path:
    """A new folder under ``runs/``."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return Path("runs") / f"{stamp}-{bot.name}-{model}"


def header(bot: Bot, model: Model, seed: int, hz: float) -> SessionHeader:
    """A session's header."""
    return SessionHeader(
        onmark=importlib.metadata.version("onmark"),
        dependencies={name: importlib.metadata.version(name) for name in RECORDED_DEPENDENCIES},
        bot=bot.name,
        model=model.name,
        seed=seed,
        hz=hz,
        started_utc=datetime.now(UTC).isoformat(timespec="seconds"),
        tools={wire_name(tool): tool.model_json_schema() for tool in bot.tools},
    )


def _write_report(path: Path, figures: RunReport) -> None:
    """Leave the figures, with how it ended, in the session; a full disk is the session's to tell of."""
    with contextlib.suppress(OSError):
        path.write_text(json.dumps(figures.summary(), indent=2) + "\n", encoding="utf-8")


class _Snapshot:
    """Keeps the last observation that offered marks, or the last where none did, and writes it as a picture."""

    def __init__(self, path: Path, watcher: Watcher | None) -> None:
        self._path = path
        self._watcher = watcher
        self._last: tuple[Observation, int | None] | None = None

    def __call__(self, record: TickRecord, seen: Observation | None) -> None:
        if seen is not None and (seen.marks or self._last is None or not self._last[0].marks):
            self._last = (seen, record.target)
        if self._watcher is not None:
            self._watcher(record, seen)

    def save(self) -> None:
        """Write the picture, if anything was seen; a full disk is the session's to tell of."""
        if self._last is not None:
            with contextlib.suppress(OSError):
                write_png(self._path, draw(*self._last))


@contextmanager
def _model(named: str | Model, bot: Bot, seed: int) -> Iterator[Model]:
    """A model that was named is closed at the end; one that was given is its giver's."""
    if not isinstance(named, str):
        yield named
        return
    with closing(load_model(named, bot, seed)) as model:
        yield model
