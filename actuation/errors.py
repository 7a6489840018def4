"""What stops actuation. A refused delivery is data (``guard.Refusal``), not one of these.

ActuationError
|- InputUnavailable   no input can be synthesised on this machine, with the cure
|- InputSwitchedOff   real input was asked for in a process that has switched it off (tests)
|- UserHalt           the person at the desk stopped the agent
"""

from __future__ import annotations

from perception.errors import CurableError


class ActuationError(Exception):
    """Base of all errors of this package."""


class InputUnavailable(ActuationError, CurableError):
    """No input can be synthesised here."""


class InputSwitchedOff(ActuationError):
    """Real input is off in this process."""


class UserHalt(ActuationError):
    """The person at the desk stopped the agent."""
