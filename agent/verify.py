"""Whether the last action did what it should, and where it went wrong when it did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from actuation.aim import aims
from actuation.executor import Delivery
from actuation.tools import Tool
from agent.signals import Outcome
from perception.change import TILE, changed_tiles
from perception.geometry import Box
from perception.observation import Observation

Cause = Literal[
    "execution",  # it was not delivered, or ended before its time
    "perception",  # what it was aimed at is not found any more, though nothing changed there
    "grounding",  # something changed, but not where it was aimed
    "choice",  # it was known to do nothing here, or what it did is not what it should do
    "game",  # the game did not react
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How an action turned out.

    Attributes:
        outcome: ``confirmed``, ``refuted``, or ``inconclusive`` where it cannot be told.
        cause: why it was refuted. None: it was not.
    """

    outcome: Outcome
    cause: Cause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An action, and what became of it.

    Attributes:
        action: what was decided.
        delivery: what the executor said.
        seen: what it was decided on.
        ended_early: it was made to let go before its time.
        failed_before: it was refuted on this very screen already.
    """

    action: Tool
    delivery: Delivery
    seen: Observation
    ended_early: bool = False
    failed_before: bool = False


UNKNOWN = Verdict(outcome="inconclusive")
CONFIRMED = Verdict(outcome="confirmed")


def judge(done: Done, after: Observation, *, effect: str | None = None, restless: NDArray[np.bool_]) -> Verdict:
    """How an action turned out, by the first look after it.

    By default it is confirmed when a pixel changed in the neighbourhood of one of its targets, which is the target and
    half its size on each side; of an action without a target, such as a key, anywhere in the window. Tiles that
    change by themselves do not count.

    Args:
        done: the action.
        after: the look.
        effect: the sensor that is true when it did what it should. None: the default.
        restless: tiles of 16 x 16 pixels that change by themselves, ``(rows, columns)``; none when it is empty.
    """
    if done.delivery.outcome == "refused":
        # With a person there, nothing fails.
        return UNKNOWN if done.delivery.reason == "halted" else _refuted("execution")
    targets = aims(done.action, done.seen)
    nothing_sent = not targets and done.delivery.gap_ms is None
    if nothing_sent or done.seen.frame.transform != after.frame.transform or after.frame.moving:
        return UNKNOWN
    before, now = done.seen.frame.pixels, after.frame.pixels
    changed = changed_tiles(before, now)
    if restless.shape == changed.shape:
        changed &= ~restless
    if effect is not None:
        hit = after.sensors.get(effect)
    elif targets:
        hit = any(_changed_in(near(aim.box), changed, before, now) for aim in targets)
    else:
        hit = bool(changed.any())
    if hit is None:
        return UNKNOWN
    return CONFIRMED if hit else _refuted(_cause(done, after, changed, sensed=effect is not None))


def near(box: Box) -> Box:
    """The neighbourhood of a target: half its size more on each side."""
    return box.grown(min(box.width, box.height) // 2)


def _cause(done: Done, after: Observation, changed: NDArray[np.bool_], *, sensed: bool) -> Cause:
    if done.ended_early:
        return "execution"
    if changed.any():
        return "choice" if sensed else "grounding"
    if _lost(done, after):
        return "perception"
    return "choice" if done.failed_before else "game"


def _lost(done: Done, after: Observation) -> bool:
    """True when the mark that it was aimed at is not found any more, offered or not."""
    target = done.action.target
    return target is not None and bool(after.found) and done.seen.mark(target).key not in after.found


def _changed_in(box: Box, tiles: NDArray[np.bool_], before: NDArray[np.uint8], now: NDArray[np.uint8]) -> bool:
    """True when a pixel of a box differs, in one of these tiles."""
    height, width = before.shape[:2]
    inside = box.intersection(Box(0, 0, width, height))
    where = np.s_[inside.top : inside.bottom, inside.left : inside.right]
    differs = (before[where] != now[where]).any(axis=2)
    return bool((differs & tiles.repeat(TILE, axis=0).repeat(TILE, axis=1)[where]).any())


def _refuted(cause: Cause) -> Verdict:
    return Verdict(outcome="refuted", cause=cause)
