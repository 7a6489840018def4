"""What a bot declares: the game, what to look for, what can be done, what for, and how to tell that it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Literal

from actuation.tools import Tool
from perception.detect.base import Detector
from perception.observation import Observation

Result = Literal["won", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game: how to start it, and the title of its window.

    Attributes:
        title: the window's title, exactly.
        command: program and arguments; ``{seed}`` is replaced by the run's seed. Empty: it is started by hand.
        env: variables to set for it.
        package: the Debian package that holds it, for the message when it is missing.
    """

    title: str
    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    package: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked example for the model: these marks, this goal, that action.

    Attributes:
        marks: number -> label.
        goal: what was wanted.
        action: what was right; it names one of the marks, or none.
    """

    marks: Mapping[int, str]
    goal: str
    action: Tool


class Bot:
    """Base of all bots. The class attributes are the declaration; the methods may be overridden.

    All methods are called from the scheduler's thread, once a tick, and must depend on the observation alone: a
    replay calls them again and compares.
    """

    name: ClassVar[str]
    game: ClassVar[Game]
    detector: ClassVar[Detector]
    tools: ClassVar[tuple[type[Tool], ...]]
    goal: ClassVar[str]
    examples: ClassVar[tuple[Example, ...]] = ()
    win_floors: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """Model -> the share of games that it must win: what ``onmark eval --check`` holds the bot to."""

    def candidates(self, seen: Observation) -> Mapping[int, str]:
        """Which marks to offer the model and what to call them; all that the detector found, unless overridden."""
        return {mark.number: mark.label or f"mark {mark.number}" for mark in seen.marks}

    def result(self, seen: Observation) -> Result | None:
        """How the game ended. None: it goes on."""
        return None

    def script(self, seen: Observation) -> Tool:
        """What ``--model scripted`` plays: an action on one of the observation's marks."""
        raise NotImplementedError(f"bot {self.name!r} declares no script(); use --model embedded, or write one")
