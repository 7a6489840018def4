"""Where an action goes: the marks and cells that it names, as points on the screen, with what was seen there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from actuation.tools import Tool
from perception.geometry import Box, Point
from perception.observation import CellTarget, Frame, MarkTarget, Observation


@dataclass(frozen=True, eq=False)
class Aim:
    """One target of an action.

    Attributes:
        field: the action's field that names it.
        point: where the action goes, in screen pixels.
        box: the target, in capture pixels.
        on_screen: the same, in screen pixels.
        pixels: what it looked like, ``(height, width, 3)``, BGR.
    """

    field: str
    point: Point
    box: Box
    on_screen: Box
    pixels: NDArray[np.uint8]

    @cached_property
    def digest(self) -> str:
        """sha256 of what it looked like."""
        return Frame.of(self.pixels).digest


def aims(action: Tool, seen: Observation, spot: tuple[float, float] | None = None) -> tuple[Aim, ...]:
    """An action's targets, in the order of its fields.

    Args:
        action: what is to be done.
        seen: what it was decided on.
        spot: where in its targets, as shares of the width and the height. None: where the tool says.

    Raises:
        KeyError: it names a mark or a cell that the observation does not hold.
    """
    found = []
    for name, info in type(action).model_fields.items():
        value = getattr(action, name)
        for tag in info.metadata:
            if isinstance(tag, MarkTarget):
                found.append(_aim(name, seen.mark(value).box, seen, spot or action.spot))
            elif isinstance(tag, CellTarget):
                found.append(_aim(name, seen.cell(value).box, seen, spot or action.spot))
    return tuple(found)


def resolve(action: Tool, seen: Observation, spot: tuple[float, float] | None = None) -> Point | None:
    """Where an action goes first, in screen pixels; ``spot`` as for ``aims``. None: it has no target.

    Raises:
        KeyError: it names a mark or a cell that the observation does not hold.
    """
    return next((aim.point for aim in aims(action, seen, spot)), None)


def _aim(field: str, box: Box, seen: Observation, spot: tuple[float, float]) -> Aim:
    transform = seen.frame.transform
    return Aim(
        field=field,
        point=transform.to_screen(box.at(*spot)),
        box=box,
        on_screen=transform.box_to_screen(box),
        pixels=seen.frame.patch(box),
    )
