"""A whole night: on a simulated clock over recorded frames, or in real time with a real game; with faults thrown in."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil

from actuation.executor import Delivery, Ended
from actuation.tools import Tool
from actuation.x11_keyboard import X11Keyboard
from agent.bot import Bot, asked
from agent.clock import ManualClock
from agent.desktop import Notice, display, unheard
from agent.ladder import Steps
from agent.load import load_model
from agent.metrics import RunReport
from agent.models.base import DecodeRequest, Dialect, Model, Reply
from agent.play import play
from agent.scheduler import Scheduler
from agent.session.reader import Session
from agent.session.records import TickRecord
from agent.signals import Limits
from perception.errors import NotObservable
from perception.geometry import Transform
from perception.observation import Frame, Observation
from perception.perceiver import Perceiver

NIGHT = 57_600  # ticks: eight hours at 2 Hz
WARM_UP = 0.1  # share of the ticks after which memory is measured first
GROWTH_MIB = 5.0
FAULT_EVERY = 97  # ticks
HANG_S = 30.0
TIMEOUT_S = 5.0
NEVER = 10**9

GARBAGE = (
    "",
    "done",
    '{"tool":"done"}',
    '{"tool":"wait","say":"done"}',
    '{"tool":"click","mark":999999}',
    "{" * 2000,
    "\x00\x01 \ud800",
)


@dataclass(slots=True, kw_only=True)
class Soaked:
    """What a night came to.

    Attributes:
        ticks: how many.
        seconds: on the wall.
        rss_mib: resident memory of this process after warm-up, and at the end.
        files: its open file descriptors, then and then.
        displays: its connections to X servers, then and then.
        children: its child processes, then and then.
        faults: what was thrown in, and how often.
        endings: how runs ended, where there were several.
        tick_ms: the middle, and the 99th per cent, of a tick's own time; on a simulated clock, of its averages in a
            hundred parts of the night.
        late_ms: how long after its deadline a tick began, likewise. None: the clock was simulated.
        held: something that was still held at an end.
        broken: what ended a run that should not have.
    """

    ticks: int = 0
    seconds: float = 0.0
    rss_mib: tuple[float, float] = (0.0, 0.0)
    files: tuple[int, int] = (0, 0)
    displays: tuple[int, int] = (0, 0)
    children: tuple[int, int] = (0, 0)
    faults: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    tick_ms: tuple[float, float] = (0.0, 0.0)
    late_ms: tuple[float, float] | None = None
    held: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def missed(self) -> list[str]:
        """The goals that were missed, each in a sentence."""
        grown = self.rss_mib[1] - self.rss_mib[0]
        goals = (
            (grown > GROWTH_MIB, f"memory: expected less than {GROWTH_MIB:g} MiB more, found {grown:.1f}"),
            (self.files[1] > self.files[0], f"files: expected no more than {self.files[0]}, found {self.files[1]}"),
            (self.displays[1] > self.displays[0], f"display connections: {self.displays[0]} became {self.displays[1]}"),
            (self.children[1] > self.children[0], f"child processes: {self.children[0]} became {self.children[1]}"),
            (bool(self.held), f"still held at an end: {', '.join(self.held)}"),
            (bool(self.broken), f"ended by: {'; '.join(self.broken)}"),
        )
        return [said for is_missed, said in goals if is_missed]

    def as_json(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "ticks": self.ticks,
            "seconds": round(self.seconds, 1),
            "rss_mib": [round(each, 1) for each in self.rss_mib],
            "files": list(self.files),
            "display_connections": list(self.displays),
            "child_processes": list(self.children),
            "faults": dict(self.faults),
            "endings": dict(self.endings),
            "tick_ms_p50_p99": [round(each, 2) for each in self.tick_ms],
            "began_late_ms_p50_p99": None if self.late_ms is None else [round(each, 2) for each in self.late_ms],
            "held": self.held,
            "broken": self.broken,
        }


def simulated(bot: Bot, session: Session, *, ticks: int = NIGHT, seed: int = 1) -> Iterator[Soaked]:
    """A night on a simulated clock: real perception, grammar, judgement and ladder over a session's frames.

    Actuation is dry. Every 97 ticks something goes wrong: the model hangs, or answers garbage; the window moves, is
    covered, or a delivery is refused.

    Yields:
        The figures so far, now and then; those at the end are the last.
    """
    world = _World(session, random.Random(seed))  # noqa: S311 - no secret
    clock = ManualClock()
    soaked = Soaked(faults=world.faults)
    tireless = _tireless(bot)
    with closing(load_model("random", tireless, seed)) as inner:
        model = _Faulty(inner, clock, world)
        scheduler = Scheduler(
            bot=tireless,
            perceiver=Perceiver(world, bot.detector, asked(bot.candidates), bot.sensors),
            model=model,
            actuator=world,
            recorder=world,
            clock=clock,
            model_timeout_s=TIMEOUT_S,
        )
        began, times = time.monotonic(), list[float]()
        marks = Marks(ticks)
        for report in _in_parts(scheduler, ticks, times):
            soaked.ticks, soaked.seconds = report.ticks, time.monotonic() - began
            marks.at(report.ticks, soaked)
            if report.ending not in (None, "ticks"):
                soaked.broken.append(f"{report.ending}: {report.detail}")
                break
            yield soaked
    soaked.tick_ms = _middle_and_tail(times)
    yield soaked


def real(bot: Bot, *, seconds: float, seed: int = 1, notice: Notice = unheard) -> Iterator[Soaked]:
    """Real time on a display of our own: game after game until the time is over.

    In every third game the game is stopped for two seconds, and in every third it is killed; a run must go on, or end
    with everything released.

    Yields:
        The figures after each game.
    """
    soaked, rng, began = Soaked(), random.Random(seed), time.monotonic()  # noqa: S311
    late, times = list[float](), list[float]()
    marks = Marks(seconds)
    with TemporaryDirectory() as folder, display(own=True):
        for number in range(NEVER):
            left = seconds - (time.monotonic() - began)
            if left <= 0:
                break
            trouble = _Trouble(("none", "frozen", "killed")[number % 3], rng.randint(4, 12), soaked.faults)
            report = RunReport()
            play(
                bot,
                model="scripted",
                seed=seed + number,
                seconds=left,
                folder=Path(folder) / str(number),
                watcher=trouble,
                report=report,
                notice=notice,
            )
            soaked.endings[report.ending or "error"] += 1
            soaked.held += _held()
            soaked.ticks += report.ticks
            late += report.began_late_ms
            times += report.times_ms.get("tick", [])
            soaked.seconds = time.monotonic() - began
            marks.at(soaked.seconds, soaked)
            soaked.late_ms, soaked.tick_ms = _middle_and_tail(late), _middle_and_tail(times)
            yield soaked


class Marks:
    """Measures this process after warm-up, and from then on.

    Args:
        whole: how far it is to the end, in whatever is counted.
    """

    def __init__(self, whole: float) -> None:
        self._warm = whole * WARM_UP
        self._first: tuple[float, int, int, int] | None = None

    def at(self, done: float, soaked: Soaked) -> None:
        """Measure, having come so far."""
        if done < self._warm:
            return
        now = _measured()
        self._first = self._first or now
        soaked.rss_mib = (self._first[0], now[0])
        soaked.files = (self._first[1], now[1])
        soaked.displays = (self._first[2], now[2])
        soaked.children = (self._first[3], now[3])


def _measured() -> tuple[float, int, int, int]:
    """Resident memory in MiB, open files, connections to X servers, child processes."""
    process = psutil.Process()
    with suppress(psutil.Error):
        sockets = [each for each in process.net_connections("unix") if ".X11-unix" in str(each.laddr or each.raddr)]
        return process.memory_info().rss / 2**20, process.num_fds(), len(sockets), len(process.children())
    return process.memory_info().rss / 2**20, 0, 0, 0


def _in_parts(scheduler: Scheduler, ticks: int, times: list[float]) -> Iterator[RunReport]:
    """Run to the end in a hundred parts; what a tick took on average in each goes to ``times``, in milliseconds."""
    every = max(1, ticks // 100)
    for done in range(every, ticks + every, every):
        limit = min(done, ticks)
        began = time.monotonic()
        before = scheduler.report.ticks
        scheduler.report.ending = None
        scheduler.run(limit)
        many = max(1, scheduler.report.ticks - before)
        times.append(1000 * (time.monotonic() - began) / many)
        yield scheduler.report


def _tireless(bot: Bot) -> Bot:
    """The same bot, which never takes itself for stuck and never sees an end."""

    class Tireless(type(bot)):  # type: ignore[misc]
        """Plays on."""

        name = bot.name
        limits = Limits(stasis=NEVER, stall=NEVER, repeats=NEVER, failures_least=NEVER, no_ops=NEVER)
        steps = Steps(idle=NEVER)

        def result(self, seen: Observation) -> None:
            """It is never over."""

    tireless: Bot = Tireless()
    return tireless


class _World:
    """A session's frames over and over, as a frame source, an actuator and a recorder, with faults."""

    def __init__(self, session: Session, rng: random.Random) -> None:
        records = [record for record in session.ticks if record.frame is not None]
        self._frames = [session.frame(record.frame) for record in records if record.frame is not None]
        self._rng = rng
        self._looks = 0
        self.faults: Counter[str] = Counter()
        self.fault = ""

    def grab(self) -> Frame:
        """The next frame."""
        self._looks += 1
        self.fault = ""
        if self._looks % FAULT_EVERY == 0:
            self.fault = self._rng.choice(("hang", "garbage", "covered", "moved", "refused"))
            self.faults[self.fault] += 1
        frame = self._frames[self._looks // 2 % len(self._frames)]  # each twice, as where nothing happens
        if self.fault == "covered":
            raise NotObservable("The window is covered by 'X'.", "Move it.", "covered")
        if self.fault == "moved":
            client = frame.transform.client
            return replace(frame, transform=Transform(client=client.moved(7, 3), captured=frame.transform.captured))
        return frame

    def submit(
        self, action: Tool, seen: Observation, tick: int = 0, *, spot: tuple[float, float] | None = None
    ) -> Delivery:
        """Deliver nothing."""
        if self.fault == "refused":
            return Delivery(outcome="refused", point=None, reason="covered_by", detail="covered by X")
        return Delivery(outcome="delivered", point=None, gap_ms=1.0 if action.target is not None else None)

    def ended(self) -> list[Ended]:
        """Nothing goes on."""
        return []

    def release_all(self) -> None:
        """Nothing is held."""

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """A night leaves no recording here."""

    def close(self) -> None:
        """Nothing is open."""


class _Faulty:
    """A model that hangs now and then, or answers garbage."""

    def __init__(self, model: Model, clock: ManualClock, world: _World) -> None:
        self.name = model.name
        self.dialects: tuple[Dialect, ...] = model.dialects
        self._model = model
        self._clock = clock
        self._world = world

    def prepare(self, stable: str) -> None:
        """As the model does."""
        self._model.prepare(stable)

    def complete(self, request: DecodeRequest) -> Reply:
        """As the model does, most of the time."""
        if self._world.fault == "hang":
            self._clock.advance(HANG_S)
        if self._world.fault == "garbage":
            self._world.faults["garbage answers"] += 1
            return Reply(text=GARBAGE[self._world.faults["garbage answers"] % len(GARBAGE)], finish="stop")
        return self._model.complete(request)

    def close(self) -> None:
        """As the model does."""
        self._model.close()


class _Trouble:
    """Does something to the real game at a tick."""

    def __init__(self, kind: str, tick: int, faults: Counter[str]) -> None:
        self._kind = kind
        self._tick = tick
        self._faults = faults

    def __call__(self, record: TickRecord, _: Observation | None) -> None:
        """Told of each tick."""
        if record.tick != self._tick or self._kind == "none":
            return
        self._faults[self._kind] += 1
        for game in _games():
            if self._kind == "killed":
                game.kill()
            else:
                os.kill(game.pid, signal.SIGSTOP)
                time.sleep(2)
                os.kill(game.pid, signal.SIGCONT)


def _held() -> list[str]:
    """What the X server holds, of keys and buttons."""
    with closing(X11Keyboard()) as keyboard:
        state = keyboard.read()
    return sorted(state.keys | state.buttons)


def _games() -> Sequence[psutil.Process]:
    """The games that this process started."""
    ours = ("Xvfb", "openbox", "python")
    return [each for each in psutil.Process().children() if not each.name().startswith(ours)]


def _middle_and_tail(values: Sequence[float]) -> tuple[float, float]:
    middle, tail = np.percentile(values, (50, 99)) if values else (0.0, 0.0)
    return float(middle), float(tail)
