"""The verbs. A tool is a class, an action is an instance of one; its docstring is what the model reads of it.

A bot gives a verb the game's word by subclassing it::

    class Reveal(Click):
        "Uncover a cell."
"""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel, ConfigDict

from perception.geometry import Point
from perception.observation import MarkRef, MarkTarget


class Hands(Protocol):
    """What a tool may do, at a point that the executor has already checked."""

    def click(self, point: Point, button: str) -> None:
        """Press and release a button: ``left``, ``middle`` or ``right``; the point in screen pixels."""
        ...


class Tool(BaseModel):
    """Base of all tools."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def target(self) -> int | None:
        """The mark that the action is aimed at. None: it needs none."""
        for name, info in type(self).model_fields.items():
            if any(isinstance(note, MarkTarget) for note in info.metadata):
                return int(getattr(self, name))
        return None

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do it, once. ``at`` is the middle of the target on the screen; None for a tool without a target."""
        raise TypeError(
            f"{type(self).__name__} declares no perform(); subclass Click, RightClick or Wait, or write one"
        )


class Click(Tool):
    """Click a mark with the left button."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click at the target."""
        hands.click(_aimed(self, at), "left")


class RightClick(Tool):
    """Click a mark with the right button."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click at the target."""
        hands.click(_aimed(self, at), "right")


class Wait(Tool):
    """Do nothing this time."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing."""


class NoneOfThese(Tool):
    """None of the marks fits the goal."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing: it is said, recorded and counted."""


def _aimed(tool: Tool, at: Point | None) -> Point:
    if at is None:
        raise ValueError(f"{tool!r} needs a target; its point could not be resolved")
    return at
