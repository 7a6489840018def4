"""What must hold at the moment of delivery. Each failure is a typed reason, told to the model on the next tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from perception.geometry import Box, Point
from perception.observation import WindowState

RefusalReason = Literal["closed", "minimised", "moved", "not_foreground", "covered_by", "out_of_bounds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nothing was delivered."""

    reason: RefusalReason
    detail: str


def check(point: Point | None, decided_on: Box, now: WindowState) -> Refusal | None:
    """None when an action may be delivered.

    Args:
        point: where, in screen pixels. None: the action has no target.
        decided_on: the client area when the model looked, in screen pixels.
        now: the window as it stands at this moment.
    """
    if now.minimised:
        return Refusal(reason="minimised", detail="the window is minimised")
    if now.client != decided_on:
        return Refusal(reason="moved", detail=f"the window was {decided_on} at the look and is {now.client} now")
    if not now.foreground:
        return Refusal(reason="not_foreground", detail="another window has the keyboard")
    if now.covered_by:
        return Refusal(reason="covered_by", detail="covered by " + ", ".join(now.covered_by))
    visible = now.client.intersection(now.screen)
    if point is not None and not visible.contains(point):
        return Refusal(reason="out_of_bounds", detail=f"({point.x}, {point.y}) is outside {visible}")
    return None
