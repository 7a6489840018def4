"""The only way to the mouse and the keyboard: resolve the target, check everything at the last moment, deliver.

The executor has a thread and a beat of its own, 30 a second, on which it steps what goes on and looks after what is
held; it never waits for a model, and nothing else calls the backend.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from actuation.aim import Aim, aims
from actuation.backend import Backend
from actuation.errors import InputUnavailable
from actuation.guard import Eyes, Refusal, RefusalReason
from actuation.ledger import Watcher
from actuation.person import Keyboard
from actuation.plan import Hands
from actuation.settings import Motion, Rules
from actuation.stepper import Running, Stepper
from actuation.tools import Tool
from perception.geometry import Box, Point
from perception.observation import Observation

LONG_S = 0.4  # an action that takes longer goes on while the ticks go on
PATIENCE_S = 20.0  # for an answer of the executor's own thread, whose calls have limits of their own

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an action was decided on.

    Attributes:
        tick: in which.
        client: the client area then, in screen pixels.
        targets: the box of each target, in capture pixels, and the sha256 of what it looked like.
    """

    tick: int
    client: Box
    targets: tuple[tuple[Box, str], ...]

    @classmethod
    def of(cls, tick: int, seen: Observation, targets: Sequence[Aim]) -> Evidence:
        """What is known of an action's targets at the look."""
        return cls(
            tick=tick,
            client=seen.frame.transform.client,
            targets=tuple((aim.box, aim.digest) for aim in targets),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of an action.

    Attributes:
        outcome: ``delivered``, or ``refused`` with a reason. What takes long is delivered when it has begun.
        point: where, in screen pixels. None: the action has no target.
        reason: None when delivered; else one of ``guard.RefusalReason``.
        detail: the reason in words, for the model and for people. Where something had been sent before, it says so.
        evidence: what it was decided on. None: not known.
        gap_ms: the longest time from the first question of a check to the end of the event that it was for. None: no
            event.
    """

    outcome: Literal["delivered", "refused"]
    point: Point | None
    reason: str | None = None
    detail: str = ""
    evidence: Evidence | None = None
    gap_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An action that was delivered, and ended or was made to let go before its time.

    Attributes:
        action: which.
        reason: why.
        detail: the reason in words.
    """

    action: Tool
    reason: RefusalReason
    detail: str


class Actuator(Protocol):
    """Delivers actions. Called from the scheduler's thread; ``release_all`` any number of times."""

    def submit(self, action: Tool, seen: Observation, tick: int = 0) -> Delivery:
        """Deliver an action that was decided on an observation, or refuse it."""
        ...

    def ended(self) -> list[Ended]:
        """What ended before its time since this was asked last."""
        ...

    def release_all(self) -> None:
        """End what goes on, and release every button and key that is held."""
        ...


class Executor:
    """Delivers to the real game. Close it: it has a thread.

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
        self._now_s = now_s
        self._motion = motion or Motion()
        self._stepper = Stepper(
            backend,
            eyes,
            now_s,
            motion=self._motion,
            rules=rules or Rules(),
            keyboard=keyboard,
            watcher=guardian,
        )
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._waiting: dict[int, tuple[Running, Future[Running]]] = {}
        self._actions: dict[int, Tool] = {}
        self._broken: BaseException | None = None
        self._closing = False
        self._number = 0
        self._thread = threading.Thread(target=self._work, name="executor", daemon=True)
        self._thread.start()

    def submit(self, action: Tool, seen: Observation, tick: int = 0) -> Delivery:
        """Deliver an action, or refuse it with a typed reason. Nothing is clamped.

        Returns when all of it is delivered. What takes longer than 0.4 s goes on after that; ``ended`` tells of it if
        it comes to nothing.

        Raises:
            KeyError: it names a target that the observation does not hold.
            ValueError: the tool asks for a key or a button that there is none of.
            UserHalt: the person at the desk stopped the agent.
            InputUnavailable: the display does not answer.
        """
        if self._closing:
            raise InputUnavailable("The executor is closed.", "Make a new one.")
        targets = aims(action, seen)
        point = targets[0].point if targets else None
        hands = Hands(self._motion, {aim.field: aim.point for aim in targets})
        action.perform(hands, point)
        self._number += 1
        running = Running(number=self._number, plan=hands.plan, aims=targets, transform=seen.frame.transform)
        answer: Future[Running] = Future()
        self._actions[running.number] = action
        self._call(lambda: self._begin(running, answer))
        _answered(answer)
        return _delivery(running, point, Evidence.of(tick, seen, targets))

    def ended(self) -> list[Ended]:
        """What ended before its time since this was asked last."""
        return self._call(self._take_ended)

    def cancel(self, action: Tool) -> None:
        """End an action that goes on, and release what it holds; nothing where it does not go on."""
        numbers = [number for number, known in self._actions.items() if known is action]
        self._call(lambda: self._stepper.cancel(numbers))

    def resume(self) -> None:
        """Go on although a person was at the desk."""
        self._call(self._stepper.person.gone)

    def release_all(self) -> None:
        """End what goes on, and release what the ledger holds. What could not be released stays in the ledger.

        Raises:
            InputUnavailable: the display does not answer.
        """
        self._call(lambda: self._stepper.stop(Refusal(reason="cancelled", detail="the run stopped")), whatever=True)

    def close(self) -> None:
        """Release all, and end the thread; any number of times."""
        if self._closing:
            return
        try:
            self.release_all()
        finally:
            self._closing = True
            self._jobs.put((Future(), lambda: None))
            self._thread.join(PATIENCE_S)

    def _call(self, job: Callable[[], T], *, whatever: bool = False) -> T:
        """Do it on the executor's thread.

        Args:
            job: what.
            whatever: also when the thread has failed before.
        """
        broken, self._broken = self._broken, None
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
        self._broken = None if waiting else problem

    def _begin(self, running: Running, answer: Future[Running]) -> None:
        self._stepper.begin(running)
        self._waiting[running.number] = (running, answer)

    def _answer(self) -> None:
        """Answer those whose action is over, or takes long: nobody waits for it, whatever it waits for."""
        now_s = self._now_s()
        for number, (running, answer) in tuple(self._waiting.items()):
            long = now_s - running.began_s > LONG_S or (running.events and running.left_s(now_s) > LONG_S)
            if running.over or long:
                del self._waiting[number]
                answer.set_result(running)
                if running.refusal is not None:
                    self._stepper.ended = [each for each in self._stepper.ended if each[0] != number]

    def _take_ended(self) -> list[Ended]:
        ended, self._stepper.ended = self._stepper.ended, []
        found = [Ended(action=self._actions[n], reason=why.reason, detail=why.detail) for n, why in ended]
        going_on = self._stepper.numbers
        self._actions = {number: action for number, action in self._actions.items() if number in going_on}
        return found


def _answered(answer: Future[T]) -> T:
    try:
        return answer.result(PATIENCE_S)
    except TimeoutError as problem:
        raise InputUnavailable(
            f"The executor has not answered for {PATIENCE_S:g} s.", "Start the run again."
        ) from problem


def _delivery(running: Running, point: Point | None, evidence: Evidence) -> Delivery:
    why = running.refusal
    sent = f", after {running.events} of its events" if why is not None and running.events else ""
    return Delivery(
        outcome="delivered" if why is None else "refused",
        point=point,
        reason=None if why is None else why.reason,
        detail="" if why is None else f"{why.detail}{sent}",
        evidence=evidence,
        gap_ms=round(1000 * running.gap_s, 3) if running.gap_s else None,
    )
