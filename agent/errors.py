"""What stops a run before or beside its game; the command line prints the problem and the cure.

AgentError
|- MissingPiece   something is not installed or not to be had on this machine (exit 3)
|- WrongUse       the command, the bot or the session is named or written wrongly (exit 2)
|- BotError       a bot's method failed, or returned what it may not (exit 2)
"""

from __future__ import annotations

from perception.errors import CurableError


class AgentError(CurableError):
    """Base of this package's errors."""


class MissingPiece(AgentError):
    """Something is missing on this machine."""


class WrongUse(AgentError):
    """The user named something that is not there, or not what it should be."""


class BotError(AgentError):
    """A bot's method failed, or returned what it may not."""
