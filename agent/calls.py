"""Calls of a model, one at a time, none of which keeps the loop waiting for longer than it is allowed to."""

from __future__ import annotations

import queue
import statistics
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal, Protocol, TypeVar

from agent.clock import SECOND_NS, Clock
from agent.models.base import DecodeRequest, Model, ModelUnavailable, Reply

Unanswered = Literal[
    "timeout",  # it did not answer in time; what it says later is not heard
    "busy",  # it is still at an earlier request that it did not answer in time
    "unavailable",  # its host cannot be reached, or has no time
]

PATIENCE_S = 120.0  # with a host that is away: one that is started again reads gigabytes first
REMEMBERED = 20  # calls, of which the typical one is the median

T = TypeVar("T")


class NoAnswer(Exception):
    """A model did not answer.

    Attributes:
        why: in one word.
        detail: in more. Empty: there is no more to say.
    """

    def __init__(self, why: Unanswered, detail: str = "") -> None:
        super().__init__(detail or why)
        self.why: Unanswered = why
        self.detail = detail


class Runner(Protocol):
    """Does a job, and waits for it no longer than it is allowed to."""

    def run(self, job: Callable[[], T], timeout_s: float | None) -> T:
        """The job's answer; raises what it raises, or ``NoAnswer``."""
        ...

    def close(self) -> None:
        """Let go of what it holds. A job that is under way is not waited for."""
        ...


class Inline:
    """Does the job where it is asked for: one that hangs hangs the loop. For tests, replays and simulated clocks."""

    def run(self, job: Callable[[], T], timeout_s: float | None) -> T:
        """The job's answer, however long it takes."""
        return job()

    def close(self) -> None:
        """Nothing is held."""


class InThread:
    """Does jobs on one thread of their own. While one is under way that was given up, no other is begun."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._under_way: Future[object] | None = None
        threading.Thread(target=self._work, name="model", daemon=True).start()

    def run(self, job: Callable[[], T], timeout_s: float | None) -> T:
        """The job's answer.

        Raises:
            NoAnswer: it takes too long, or an earlier one still does.
        """
        if self._under_way is not None and not self._under_way.done():
            raise NoAnswer("busy")
        answer: Future[T] = Future()

        def work() -> None:
            try:
                answer.set_result(job())
            except BaseException as problem:  # whatever it is, who asked raises it
                answer.set_exception(problem)

        self._under_way = answer  # type: ignore[assignment]
        self._jobs.put(work)
        try:
            return answer.result(timeout_s)
        except TimeoutError:
            if answer.done():  # the job's own
                raise
            raise NoAnswer("timeout") from None

    def close(self) -> None:
        """End the thread, unless a job hangs there."""
        self._jobs.put(_end)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is _end:
                return
            job()


def _end() -> None:
    """What tells the thread to end."""


class Calls:
    """Asks a model, and knows how long it takes as a rule.

    Args:
        model: what is asked.
        clock: whose time.
        runner: what does the asking.
        timeout_s: how long one call may take. None: as long as it likes.
    """

    def __init__(self, model: Model, clock: Clock, runner: Runner, timeout_s: float | None = None) -> None:
        if timeout_s is not None and not timeout_s > 0:
            raise ValueError(f"expected a timeout above 0 s, found {timeout_s}")
        self.model = model
        self._clock = clock
        self._runner = runner
        self._timeout_s = timeout_s
        self._took_s: deque[float] = deque(maxlen=REMEMBERED)

    @property
    def typical_s(self) -> float:
        """The median of the last calls that were answered; 0 before the first."""
        return statistics.median(self._took_s) if self._took_s else 0.0

    def prepare(self, stable: str) -> None:
        """Let the model read ahead; that takes as long as it takes."""
        self._runner.run(lambda: self.model.prepare(stable), None)

    def complete(self, request: DecodeRequest) -> Reply:
        """Ask once. A request that is given up is told so (``request.cancelled``), and its answer is not heard.

        Raises:
            NoAnswer: it took too long, is still at an earlier request, or its host is away.
        """
        began_ns = self._clock.now_ns()
        try:
            reply = self._runner.run(lambda: self.model.complete(request), self._timeout_s)
        except NoAnswer:
            request.cancelled.set()
            raise
        except ModelUnavailable as problem:
            raise NoAnswer("unavailable", str(problem)) from problem
        took_s = (self._clock.now_ns() - began_ns) / SECOND_NS
        if self._timeout_s is not None and took_s > self._timeout_s:
            request.cancelled.set()
            raise NoAnswer("timeout")
        self._took_s.append(took_s)
        return reply

    def close(self) -> None:
        """Ask no more."""
        self._runner.close()
