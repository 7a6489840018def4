"""The only way to the mouse: resolve the target, check everything at the last moment, deliver, keep the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from actuation.backend import Backend
from actuation.guard import Refusal, check
from actuation.guardian import Guardian
from actuation.tools import Tool
from perception.errors import WindowClosed
from perception.geometry import Box, Point
from perception.observation import Observation, WindowState

PRESS_S = 0.02  # how long a button is down; at 0 s openbox lost 9 of 300 clicks in a row, at 0.005 s none

BUTTONS = ("left", "middle", "right")


class _Refused(Exception):
    """Ends a tool's perform at the click that may not be delivered."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of an action.

    Attributes:
        outcome: ``delivered``, or ``refused`` with a reason; nothing reached the game then.
        point: where, in screen pixels. None: the action has no target.
        reason: None when delivered.
        detail: the reason in words, for the model and for people.
    """

    outcome: Literal["delivered", "refused"]
    point: Point | None
    reason: str | None = None
    detail: str = ""


class Actuator(Protocol):
    """Delivers actions. Called from the scheduler's thread; ``release_all`` any number of times."""

    def submit(self, action: Tool, seen: Observation) -> Delivery:
        """Deliver an action that was decided on an observation, or refuse it."""
        ...

    def release_all(self) -> None:
        """Release every button that is held."""
        ...


class Executor:
    """Delivers to the real game.

    Args:
        backend: what synthesises input.
        probe: reads how the window stands now.
        guardian: releases what is held when this process is killed. None: nobody does.
        sleep: takes seconds; how long a button stays down is slept, on the caller's thread.
    """

    def __init__(
        self,
        backend: Backend,
        probe: Callable[[], WindowState],
        guardian: Guardian | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._backend = backend
        self._probe = probe
        self._guardian = guardian
        self._sleep = sleep
        self._decided_on = Box(0, 0, 0, 0)
        self._held: list[str] = []

    def submit(self, action: Tool, seen: Observation) -> Delivery:
        """Deliver an action, or refuse it with a typed reason. Nothing is clamped and nothing is half done.

        Raises:
            UserHalt: the person at the desk stopped the agent.
        """
        point = resolve(action, seen)
        try:
            now = self._probe()
        except WindowClosed as problem:
            return Delivery(outcome="refused", point=point, reason="closed", detail=problem.problem)
        self._decided_on = seen.frame.transform.client
        refusal = check(point, self._decided_on, now)
        if refusal is None:
            refusal = self._perform(action, point)
        if refusal is not None:
            return Delivery(outcome="refused", point=point, reason=refusal.reason, detail=refusal.detail)
        return Delivery(outcome="delivered", point=point)

    def _perform(self, action: Tool, point: Point | None) -> Refusal | None:
        """Let the tool act; what a click of its is refused for."""
        try:
            action.perform(self, point)
        except _Refused as refused:
            return refused.refusal
        except WindowClosed as problem:
            return Refusal(reason="closed", detail=problem.problem)
        finally:
            self.release_all()
        return None

    def click(self, point: Point, button: str) -> None:
        """Press and release, if all still holds at this moment; the button stands in the ledger in between.

        Raises:
            ValueError: there is no such button.
        """
        if button not in BUTTONS:
            raise ValueError(f"expected a button out of {BUTTONS}, found {button!r}")
        refusal = check(point, self._decided_on, self._probe())
        if refusal is not None:
            raise _Refused(refusal)
        self._held.append(button)
        if self._guardian is not None:
            self._guardian.pressing(button)
        self._backend.press(point, button)
        self._sleep(PRESS_S)
        self.release_all()

    def release_all(self) -> None:
        """Release what the ledger holds, last pressed first. What could not be released stays in the ledger."""
        while self._held:
            self._backend.release(self._held[-1])
            button = self._held.pop()
            if self._guardian is not None:
                self._guardian.released(button)


def resolve(action: Tool, seen: Observation) -> Point | None:
    """Where an action goes, in screen pixels: the middle of its mark. None: it has no target.

    Raises:
        KeyError: it names a mark that the observation does not hold.
    """
    if action.target is None:
        return None
    return seen.frame.transform.to_screen(seen.mark(action.target).box.center)
