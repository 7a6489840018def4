"""The only way to the mouse and the keyboard: resolve the target, have everything checked at the last moment, deliver.

What goes on is stepped beside the ticks, 30 times a second, and never waits for a model: in a process of its own
(``actuation.process``), or in a thread of this one (``actuation.thread``).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from actuation.aim import Aim, aims
from actuation.guard import Refusal, RefusalReason
from actuation.plan import Hands
from actuation.settings import Motion
from actuation.stepper import Performed, Running
from actuation.tools import Tool
from perception.geometry import Box, Point
from perception.observation import Observation

REMEMBERED = 1000  # actions, for telling which one ended


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

    def submit(
        self, action: Tool, seen: Observation, tick: int = 0, *, spot: tuple[float, float] | None = None
    ) -> Delivery:
        """Deliver an action that was decided on an observation, or refuse it.

        Args:
            action: what.
            seen: what it was decided on.
            tick: in which.
            spot: where in its targets, as shares of their width and height. None: where the tool says.
        """
        ...

    def ended(self) -> list[Ended]:
        """What ended before its time since this was asked last."""
        ...

    def release_all(self) -> None:
        """End what goes on, and release every button and key that is held."""
        ...


class Steps(Protocol):
    """Performs actions, step by step. Called from any thread."""

    @property
    def motion(self) -> Motion:
        """The times that the game needs."""
        ...

    def perform(self, action: Running) -> Performed:
        """Perform an action: to its end, or until it has begun when it takes long."""
        ...

    def ended(self) -> tuple[list[tuple[int, Refusal]], set[int]]:
        """The numbers of actions that ended before their time since this was asked last; those that go on."""
        ...

    def held(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys and the buttons that are down."""
        ...

    def cancel(self, numbers: Collection[int]) -> None:
        """End actions, and release what they hold."""
        ...

    def resume(self) -> None:
        """Go on although a person was at the desk."""
        ...

    def stop(self) -> None:
        """End all actions, and release all that is held."""
        ...

    def close(self) -> None:
        """Stop, and let go of everything; any number of times."""
        ...


class Executor:
    """Delivers to the real game. Close it.

    Args:
        steps: what performs the actions.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._actions: dict[int, Tool] = {}
        self._number = 0
        self._lock = threading.Lock()
        self._closed = False

    def submit(
        self, action: Tool, seen: Observation, tick: int = 0, *, spot: tuple[float, float] | None = None
    ) -> Delivery:
        """Deliver an action, or refuse it with a typed reason. Nothing is clamped.

        Returns when all of it is delivered. What takes longer than 0.4 s goes on after that; ``ended`` tells of it if
        it comes to nothing.

        Args:
            action: what.
            seen: what it was decided on.
            tick: in which.
            spot: where in its targets, as shares of their width and height. None: where the tool says.

        Raises:
            KeyError: it names a target that the observation does not hold.
            TypeError: the tool's ``perform`` returned something: it is no generator and no coroutine.
            ValueError: the tool asks for a key or a button that there is none of, or for no time or point.
            UserHalt: the person at the desk stopped the agent.
            InputUnavailable: the display does not answer.
        """
        targets = aims(action, seen, spot)
        point = targets[0].point if targets else None
        hands = Hands(self._steps.motion, {aim.field: aim.point for aim in targets})
        # A tool may be wrong about what it returns: a generator or a coroutine would have done nothing.
        left: object = action.perform(hands, point)  # type: ignore[func-returns-value]
        if left is not None:
            raise TypeError(f"expected perform() of {type(action).__name__} to return None, found {left!r}")
        with self._lock:
            self._number += 1
            number = self._number
            self._actions[number] = action
            self._actions.pop(number - REMEMBERED, None)
        running = Running(number=number, plan=hands.plan, aims=targets, transform=seen.frame.transform)
        return _delivery(self._steps.perform(running), point, Evidence.of(tick, seen, targets))

    def ended(self) -> list[Ended]:
        """What ended before its time since this was asked last."""
        if self._closed:
            return []
        with self._lock:
            ended, going_on = self._steps.ended()
            known = dict(self._actions)
            self._actions = {number: action for number, action in known.items() if number in going_on}
        return [Ended(action=known[n], reason=why.reason, detail=why.detail) for n, why in ended if n in known]

    def held(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys and the buttons that are down."""
        return (frozenset(), frozenset()) if self._closed else self._steps.held()

    def cancel(self, action: Tool) -> None:
        """End an action that goes on, and release what it holds; nothing where it does not go on."""
        with self._lock:
            numbers = [number for number, known in self._actions.items() if known is action]
        self._steps.cancel(numbers)

    def resume(self) -> None:
        """Go on although a person was at the desk."""
        self._steps.resume()

    def release_all(self) -> None:
        """End what goes on, and release what the ledger holds. What could not be released stays in the ledger.

        Raises:
            InputUnavailable: the display does not answer.
        """
        if not self._closed:
            self._steps.stop()

    def close(self) -> None:
        """Release all, and let go of everything; any number of times."""
        self._closed = True
        self._steps.close()


def _delivery(performed: Performed, point: Point | None, evidence: Evidence) -> Delivery:
    why = performed.refusal
    sent = f", after {performed.events} of its events" if why is not None and performed.events else ""
    return Delivery(
        outcome="delivered" if why is None else "refused",
        point=point,
        reason=None if why is None else why.reason,
        detail="" if why is None else f"{why.detail}{sent}",
        evidence=evidence,
        gap_ms=round(1000 * performed.gap_s, 3) if performed.gap_s else None,
    )
