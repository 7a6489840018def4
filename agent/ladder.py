"""The no-progress ladder: what is tried when nothing comes of what the agent does. Pure, with no clock of its own.

An episode begins with a signal and ends when something came of an action. In it the rungs are climbed in order, each
once, with some ticks between them; the last one ends the run.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from agent.signals import Limits, Signal, Signals, Turn

Rung = Literal[
    "retry",  # nothing is done for a tick, and then the target is hit elsewhere
    "suppress",  # what was tried leaves the grammar for a while
    "rethink",  # perception begins anew, and the model is told that it is stuck
    "recover",  # the bot's own way out
    "safe_state",  # the bot's way to a state that it knows
    "give_up",  # all is released, and the run ends
]
RUNGS: tuple[Rung, ...] = ("retry", "suppress", "rethink", "recover", "safe_state", "give_up")


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How the ladder is climbed, in ticks at 2 Hz.

    Attributes:
        dwell: from one rung to the next at least.
        suppress_after: refutations of one target in a row after which it leaves the grammar, episode or not.
        suppress_for: how long it stays out.
        idle: ticks in a row in which the model chose to wait; then the run ends.
    """

    dwell: int = 4
    suppress_after: int = 2
    suppress_for: int = 6
    idle: int = 120


@dataclass
class Ladder:
    """Watches the turns, and says which rung is to be taken.

    Attributes:
        signals: what the turns tell.
        steps: how it is climbed.
        climbed: rungs of this episode.
        why: the signals that were given in it.
        idle: ticks in a row that waited.
    """

    signals: Signals = field(default_factory=Signals)
    steps: Steps = field(default_factory=Steps)
    climbed: int = 0
    why: tuple[Signal, ...] = ()
    idle: int = 0
    _dwelt: int = 0
    _refuted: dict[int, int] = field(default_factory=dict)
    _suppressed: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, limits: Limits, steps: Steps) -> Ladder:
        """One with these thresholds."""
        return cls(signals=Signals(limits=limits), steps=steps)

    @property
    def suppressed(self) -> Collection[int]:
        """Targets that are out of the grammar now, ascending."""
        return tuple(sorted(self._suppressed))

    def amend(self, target: int | None) -> None:
        """The last action that was sent had its effect after all."""
        self.signals.amend()
        if target is not None:
            self._refuted.pop(target, None)

    def update(self, turn: Turn, *, waited: bool = False) -> Rung | None:
        """Take in a turn; called once a tick that could be judged.

        Args:
            turn: what was done, and what came of it.
            waited: the model chose an action that sends nothing: that is no failure, only not for ever.

        Returns:
            The rung to take now. None: none.
        """
        self._suppressed = {target: left - 1 for target, left in self._suppressed.items() if left > 1}
        self.signals.add(turn)
        self.idle = self.idle + 1 if waited else 0
        self._count(self.signals.turns[-1])
        if self.signals.new:
            self.signals.start_again()
            self.climbed, self.why = 0, ()
        if self.idle >= self.steps.idle:
            self.climbed = len(RUNGS)
            return "give_up"
        return self._climb()

    def _climb(self) -> Rung | None:
        self._dwelt += 1
        if self.climbed == len(RUNGS) or (self.climbed and self._dwelt < self.steps.dwell):
            return None
        given = self.signals.given
        if not given:
            return None
        self.why = tuple(dict.fromkeys((*self.why, *given)))
        self._dwelt = 0
        rung = RUNGS[self.climbed]
        self.climbed += 1
        if rung == "suppress":
            tried = self.signals.tried
            self._suppressed |= dict.fromkeys(tried, self.steps.suppress_for)
            return rung if tried else None
        return rung

    def _count(self, turn: Turn) -> None:
        """Refutations of one target in a row, and what follows from them whatever else happens."""
        if turn.target is None:
            return
        if turn.outcome == "confirmed":
            self._refuted.pop(turn.target, None)
        elif turn.outcome == "refuted":
            self._refuted[turn.target] = self._refuted.get(turn.target, 0) + 1
            if self._refuted[turn.target] >= self.steps.suppress_after:
                self._suppressed[turn.target] = self.steps.suppress_for
                del self._refuted[turn.target]
