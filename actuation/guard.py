"""What must hold at the moment of delivery. Each failure is a typed reason, told to the model on the next tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from actuation.aim import Aim
from perception.errors import WindowClosed
from perception.geometry import Box, Point
from perception.observation import WindowState

RefusalReason = Literal[
    "closed",  # the window is gone
    "minimised",
    "moved",  # it is elsewhere, or of another size, than when the model looked
    "not_foreground",  # another window has the keyboard
    "covered_by",  # a click there would reach another program's window
    "out_of_bounds",  # the point is outside the window, or off the screen
    "stale_target",  # the target's pixels are not what the model saw
    "rate",  # more input in a second than the rules allow
    "denied",  # the rules rule it out
    "unknown_key",  # the keyboard's layout has no such key, or gives another sign with it
    "conflict",  # something that is still going on holds what this needs
    "halted",  # a person is at the mouse or the keyboard, or stopped the agent
    "held_too_long",  # it was released after the longest time that the rules allow
    "cancelled",
]
"""Why something was not delivered, or ended before its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nothing was delivered."""

    reason: RefusalReason
    detail: str


class Eyes(Protocol):
    """Looks at the game's window at the last moment; from the executor's thread alone. See ``perception.glance``."""

    def state(self) -> WindowState:
        """How the window stands now; raises ``WindowClosed`` when it is gone."""
        ...

    def taker(self, point: Point) -> str:
        """Title of another program's window that a click at a screen pixel would reach; empty: the game's takes it."""
        ...

    def pixels(self, box: Box) -> NDArray[np.uint8]:
        """What shows in a box of the screen, ``(height, width, 3)``, BGR."""
        ...


def check_keyboard(eyes: Eyes) -> Refusal | None:
    """None when a key that is pressed now reaches the game."""
    try:
        now = eyes.state()
    except WindowClosed as problem:
        return Refusal(reason="closed", detail=problem.problem)
    return _check_state(now)


def check_pointer(eyes: Eyes, points: Sequence[Point], decided_on: Box) -> Refusal | None:
    """None when input at points of the screen reaches the game, at the places that were meant.

    Args:
        eyes: look now.
        points: in screen pixels; who would take a click is asked of the first.
        decided_on: the client area when the model looked, in screen pixels.
    """
    try:
        now = eyes.state()
    except WindowClosed as problem:
        return Refusal(reason="closed", detail=problem.problem)
    if now.client != decided_on and not now.minimised:
        return Refusal(reason="moved", detail=f"the window was {decided_on} at the look and is {now.client} now")
    refusal = _check_state(now)
    if refusal is not None:
        return refusal
    visible = now.client.intersection(now.screen)
    for point in points:
        if not visible.contains(point):
            return Refusal(reason="out_of_bounds", detail=f"({point.x}, {point.y}) is outside {visible}")
    taker = eyes.taker(points[0]) if points else ""
    return Refusal(reason="covered_by", detail=f"covered by {taker}") if taker else None


def check_target(eyes: Eyes, aim: Aim, tolerance: float) -> Refusal | None:
    """None when a target looks as it did when the model saw it.

    Args:
        eyes: look now.
        aim: the target.
        tolerance: share of its pixels that may have changed, 0 to 1.
    """
    before, now = aim.pixels, eyes.pixels(aim.on_screen)
    if before.shape != now.shape:
        return Refusal(
            reason="stale_target", detail=f"the target was {before.shape[:2]} pixels and is {now.shape[:2]} now"
        )
    changed = float((before != now).any(axis=2).mean()) if before.size else 0.0
    if changed <= tolerance:
        return None
    detail = f"{changed:.0%} of the target's pixels changed since the look; {tolerance:.0%} may (target_tolerance)"
    return Refusal(reason="stale_target", detail=detail)


def _check_state(now: WindowState) -> Refusal | None:
    if now.minimised:
        return Refusal(reason="minimised", detail="the window is minimised")
    if not now.foreground:
        return Refusal(reason="not_foreground", detail="another window has the keyboard")
    return None
