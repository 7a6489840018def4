"""Tools that the tests of this folder declare grammars for."""

from enum import Enum
from typing import Annotated, Literal

from pydantic import Field

from actuation.tools import Click, RightClick, Tool, Wait
from perception.observation import MarkRef

__all__ = ["Click", "Drag", "Press", "RightClick", "Scroll", "Wait"]


class Key(Enum):
    """Some keys."""

    UP = "up"
    QUOTE = '"'


class Press(Tool):
    """Press a key."""

    key: Key
    shift: bool


class Scroll(Tool):
    """Scroll over a mark."""

    mark: MarkRef
    clicks: Annotated[int, Field(ge=-3, le=3)]
    axis: Literal["x", "y"]


class Drag(Tool):
    """Drag one mark onto another."""

    source: MarkRef
    destination: MarkRef
