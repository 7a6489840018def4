"""Performs actions on a thread with a beat of its own, 30 a second; nothing else calls the backend."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any, TypeVar

from actuation.backend import Backend
from actuation.errors import InputUnavailable, UserHalt
from actuation.guard import Eyes, Refusal
from actuation.ledger import Watcher
from actuation.person import Keyboard
from actuation.settings import Motion, Rules
from actuation.stepper import Performed, Running, Stepper

LONG_S = 0.4  # an action that takes longer goes on while the ticks go on
PATIENCE_S = 20.0  # for an answer of the thread, whose calls have limits of their own
STOPPED = Refusal(reason="cancelled", detail="the run stopped")

T = TypeVar("T")


class StepThread:
    """Performs actions on a thread of this process. Close it.

    Args:
        backend: what synthesises input.
        eyes: look at the window at the last moment.
        motion: the times that the game needs.
        rules: what is delivered at all.
        guardian: releases what is held when this process dies. None: nobody does.
        keyboard: the display's own state, for a person's hand and for keys that the layout lacks. None: not read.
        now_s: a monotonic clock.
    """

    def __init__(
        self,
        backend: Backend,
        eyes: Eyes,
        *,
        motion: Motion | None = None,
        rules: Rules | None = None,
        guardian: Watcher | None = None,
        keyboard: Keyboard | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.motion = motion or Motion()
        self._now_s = now_s
        self._stepper = Stepper(
            backend,
            eyes,
            now_s,
            motion=self.motion,
            rules=rules or Rules(),
            keyboard=keyboard,
            watcher=guardian,
        )
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._waiting: dict[int, tuple[Running, Future[Performed]]] = {}
        self._broken: BaseException | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="executor", daemon=True)
        self._thread.start()

    def perform(self, action: Running) -> Performed:
        """Perform an action, or refuse it; one that takes longer than 0.4 s goes on.

        Raises:
            UserHalt: the person at the desk stopped the agent.
            InputUnavailable: the display does not answer.
        """
        answer: Future[Performed] = Future()
        self._call(lambda: self._begin(action, answer))
        return _answered(answer)

    def ended(self) -> tuple[list[tuple[int, Refusal]], set[int]]:
        """The numbers of actions that ended before their time since this was asked last; those that go on."""
        return self._call(self._take_ended)

    def held(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys and the buttons that are down."""
        return self._stepper.ledger.keys, self._stepper.ledger.buttons

    def cancel(self, numbers: Collection[int]) -> None:
        """End actions, and release what they hold."""
        self._call(lambda: self._stepper.cancel(numbers))

    def resume(self) -> None:
        """Go on although a person was at the desk."""
        self._call(self._stepper.person.gone)

    def stop(self, why: Refusal = STOPPED) -> None:
        """End all actions, and release what the ledger holds. What could not be released stays in it.

        Raises:
            InputUnavailable: the display does not answer.
        """
        self._call(lambda: self._stepper.stop(why), whatever=True)

    def close(self) -> None:
        """Stop, and end the thread; any number of times."""
        if self._closing:
            return
        try:
            self.stop()
        finally:
            self._closing = True
            self._jobs.put((Future(), lambda: None))
            self._thread.join(PATIENCE_S)

    def _call(self, job: Callable[[], T], *, whatever: bool = False) -> T:
        """Do it on the thread.

        Args:
            job: what.
            whatever: also when the thread has failed before.
        """
        if self._closing:
            raise InputUnavailable("The executor is closed.", "Make a new one.")
        broken = self._broken
        if not isinstance(broken, UserHalt):  # which is for good
            self._broken = None
        if broken is not None and not whatever:
            raise broken
        answer: Future[T] = Future()
        self._jobs.put((answer, job))
        return _answered(answer)

    def _work(self) -> None:
        """The thread: jobs as they come, and a step at least every beat."""
        while not self._closing:
            try:
                answer, job = self._jobs.get(timeout=self._stepper.rest_s())
            except queue.Empty:
                pass
            else:
                try:
                    answer.set_result(job())
                except BaseException as problem:  # whatever it is, the caller's thread raises it
                    answer.set_exception(problem)
            try:
                self._stepper.step()
            except BaseException as problem:
                self._fail(problem)
            self._answer()

    def _fail(self, problem: BaseException) -> None:
        """Hand a failure to whoever waits, or to whoever asks next."""
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            answer.set_exception(problem)
        self._broken = None if waiting and not isinstance(problem, UserHalt) else problem

    def _begin(self, running: Running, answer: Future[Performed]) -> None:
        self._stepper.begin(running)
        self._waiting[running.number] = (running, answer)

    def _answer(self) -> None:
        """Answer those whose action is over, or takes long: nobody waits for it, whatever it waits for."""
        now_s = self._now_s()
        for number, (running, answer) in tuple(self._waiting.items()):
            long = now_s - running.began_s > LONG_S or (running.events and running.left_s(now_s) > LONG_S)
            if running.over or long:
                del self._waiting[number]
                answer.set_result(running.performed)
                if running.refusal is not None:
                    self._stepper.ended = [each for each in self._stepper.ended if each[0] != number]

    def _take_ended(self) -> tuple[list[tuple[int, Refusal]], set[int]]:
        ended, self._stepper.ended = self._stepper.ended, []
        return ended, self._stepper.numbers


def _answered(answer: Future[T]) -> T:
    try:
        return answer.result(PATIENCE_S)
    except TimeoutError as problem:
        raise InputUnavailable(
            f"The executor has not answered for {PATIENCE_S:g} s.", "Start the run again."
        ) from problem
