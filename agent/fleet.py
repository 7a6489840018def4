"""Many games at once, each on a display of its own: in threads that share one model, in processes, or on Ray."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from agent.controls import Controls
from agent.desktop import display, virtual_display
from agent.errors import MissingPiece
from agent.load import load_bot, load_model, load_unbound_model
from agent.metrics import RunReport
from agent.models.base import Model, ModelError
from agent.models.shared import SharedModel
from agent.play import play
from perception.errors import CurableError

OF_A_BOT = ("scripted", "random")  # models that are made anew for each game


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A game to play.

    Attributes:
        bot: its name, folder or file.
        model: its name.
        seed: of the game, and of a random model.
        hz: ticks a second.
        ticks: stop after so many.
        folder: where the session goes.
    """

    bot: str
    model: str
    seed: int
    hz: float = 2.0
    ticks: int | None = None
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What became of a job.

    Attributes:
        job: which.
        report: its figures.
        problem: why it could not be played. None: it was.
    """

    job: Job
    report: RunReport
    problem: CurableError | ModelError | None = None


Fleet = Callable[[Sequence[Job]], Generator[Played, None, None]]
"""Plays jobs, and gives each as it ends. One that cannot be played does not end the others."""


def in_order(jobs: Sequence[Job], *, own_display: bool = True) -> Generator[Played, None, None]:
    """One after another, here."""
    with display(own=own_display):
        for job in jobs:
            yield _played(job, None, None)


def in_threads(jobs: Sequence[Job], workers: int) -> Generator[Played, None, None]:
    """So many at once in this process, each thread with a display of its own, all with one model.

    Ends all games, with everything released, when it is closed or interrupted.
    """
    todo = queue.SimpleQueue[Job]()
    for job in jobs:
        load_bot(job.bot)  # here first: two threads must not run one file at the same time
        todo.put(job)
    done, controls = queue.SimpleQueue[Played | BaseException](), Controls()
    with ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        models = {
            name: SharedModel(stack.enter_context(closing(load_unbound_model(name))))
            for name in {job.model for job in jobs} - {*OF_A_BOT}
        }
        for _ in range(min(workers, len(jobs))):
            pool.submit(_work, todo, done, models, controls)
        try:
            for _ in jobs:
                played = done.get()
                if isinstance(played, BaseException):
                    raise played
                yield played
        finally:
            while not todo.empty():
                todo.get()
            controls.stop("The fleet was ended.")


def _work(
    todo: queue.SimpleQueue[Job],
    done: queue.SimpleQueue[Played | BaseException],
    models: dict[str, SharedModel],
    controls: Controls,
) -> None:
    """A thread of the fleet: jobs until there are none."""
    try:
        with virtual_display() as name:
            while not todo.empty() and controls.stopped is None:
                job = todo.get_nowait()
                done.put(_played(job, models.get(job.model), name, controls))
    except queue.Empty:
        return
    except BaseException as problem:  # whatever it is, whoever asked for the games raises it
        done.put(problem)


def in_processes(jobs: Sequence[Job], workers: int) -> Generator[Played, None, None]:
    """So many at once, each in a process with a display and a model of its own; a host over HTTP is shared by all."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    todo, playing = list(reversed(jobs)), set[Future[Played]]()
    try:
        while todo or playing:
            while todo and len(playing) < workers:  # no more: what is handed over cannot be taken back
                playing.add(pool.submit(play_job, todo.pop()))
            ended, playing = wait(playing, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ended)
    except BaseException:
        for worker in active_children():
            if worker.pid is not None:
                os.kill(worker.pid, signal.SIGINT)  # its game ends, with everything released
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def on_ray(jobs: Sequence[Job], workers: int | None = None) -> Generator[Played, None, None]:
    """On a Ray cluster, or on one that is started on this machine; the same as in processes.

    Sessions are written where a game is played: on several machines, name a folder that they share.

    Args:
        jobs: what to play.
        workers: how many at once. None: as many as the cluster has processors.

    Raises:
        MissingPiece: Ray is not installed.
    """
    try:
        import ray
    except ImportError as problem:
        raise MissingPiece("Expected Ray, found none.", "pip install 'onmark[ray]'.") from problem
    if not ray.is_initialized():
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        task: Any = ray.remote(play_job)
        left = [task.remote(job) for job in jobs]
        while left:
            ready, left = ray.wait(left)
            yield from ray.get(ready)
    finally:
        ray.shutdown()


def play_job(job: Job) -> Played:
    """Play one job in this process, on its own display, with a model that is kept for its next job."""
    with display(own=True):
        model = None if job.model in OF_A_BOT else _kept_model(job.model)
        return _played(job, model, None)


@cache
def _kept_model(name: str) -> Model:
    return load_unbound_model(name)


def _played(job: Job, model: Model | None, on_display: str | None, controls: Controls | None = None) -> Played:
    """One game; a model that is given stays open."""
    report = RunReport()
    try:
        bot = load_bot(job.bot)
        with ExitStack() as stack:
            ready = model or stack.enter_context(closing(load_model(job.model, bot, job.seed)))
            play(
                bot,
                model=ready,
                seed=job.seed,
                hz=job.hz,
                ticks=job.ticks,
                folder=job.folder,
                on_display=on_display,
                controls=controls,
                report=report,
            )
    except (CurableError, ModelError) as problem:
        return Played(job=job, report=report, problem=problem)
    return Played(job=job, report=report)
