"""The verbs: deliver exactly what was decided, or refuse with a reason."""

from actuation.executor import Actuator, Delivery, Executor, resolve
from actuation.tools import Click, Hands, NoneOfThese, RightClick, Tool, Wait

__all__ = ["Actuator", "Click", "Delivery", "Executor", "Hands", "NoneOfThese", "RightClick", "Tool", "Wait", "resolve"]
