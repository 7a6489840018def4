"""What stops actuation. A refused delivery is data (``guard.Refusal``), not one of these.

ActuationError
|- InputUnavailable   no input can be synthesised on this machine, with the cure
|- InputSwitchedOff   real input was asked for in a process that has switched it off (tests)
|- UserHalt           the person at the desk stopped the agent
"""

from __future__ import annotations


class ActuationError(Exception):
    """Base of all errors of this package."""


class InputUnavailable(ActuationError):
    """No input can be synthesised here.

    Args:
        problem: what was expected and what was found.
        cure: what the reader can do about it.
    """

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem} {cure}")
        self.problem = problem
        self.cure = cure


class InputSwitchedOff(ActuationError):
    """Real input is off in this process."""


class UserHalt(ActuationError):
    """The person at the desk stopped the agent."""
