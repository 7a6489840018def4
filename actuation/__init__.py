"""The verbs: deliver exactly what was decided, or refuse with a reason, and never keep a key."""

from actuation.aim import resolve
from actuation.executor import Actuator, Delivery, Ended, Executor
from actuation.plan import Hands
from actuation.settings import Motion, Rules
from actuation.tools import (
    Chord,
    Click,
    ClickCell,
    Done,
    DoubleClick,
    Drag,
    GiveUp,
    HoldKey,
    Move,
    NoneOfThese,
    PressKey,
    PressPointer,
    ReleasePointer,
    RightClick,
    Scroll,
    Tool,
    TypeText,
    Wait,
)

__all__ = [
    "Actuator",
    "Chord",
    "Click",
    "ClickCell",
    "Delivery",
    "Done",
    "DoubleClick",
    "Drag",
    "Ended",
    "Executor",
    "GiveUp",
    "Hands",
    "HoldKey",
    "Motion",
    "Move",
    "NoneOfThese",
    "PressKey",
    "PressPointer",
    "ReleasePointer",
    "RightClick",
    "Rules",
    "Scroll",
    "Tool",
    "TypeText",
    "Wait",
    "resolve",
]
