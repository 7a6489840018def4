"""The no-progress ladder, minimal: suppress a target that does nothing, then stop. Pure, with no clock of its own.

Rungs so far: a refuted target leaves the grammar for some ticks; too many ticks in a row without a confirmed change
end the run. The rungs between come with the full ladder.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["confirmed", "refuted", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to climb, in ticks at 2 Hz.

    Attributes:
        suppress_after: refutations of one target in a row.
        suppress_for: ticks that a suppressed target stays out of the grammar.
        stuck_after: ticks in a row without a confirmed change in which something was tried, or nothing could be.
        idle_after: ticks in a row in which the model chose to wait.
    """

    suppress_after: int = 2
    suppress_for: int = 6
    stuck_after: int = 20
    idle_after: int = 120


@dataclass
class Ladder:
    """Counts what did not work.

    Attributes:
        flat: ticks since the last confirmed change, without those that waited.
        idle: ticks in a row that waited.
    """

    limits: Limits = field(default_factory=Limits)
    flat: int = 0
    idle: int = 0
    _refuted: dict[int, int] = field(default_factory=dict)
    _suppressed: dict[int, int] = field(default_factory=dict)

    @property
    def suppressed(self) -> Collection[int]:
        """Marks that are out of the grammar now, ascending."""
        return tuple(sorted(self._suppressed))

    @property
    def stuck(self) -> bool:
        """True when the last rung is reached: pause, release everything, say so."""
        return self.flat >= self.limits.stuck_after or self.idle >= self.limits.idle_after

    def update(self, outcome: Outcome, target: int | None, *, waited: bool = False) -> None:
        """Take in how the last action turned out. Called once a tick.

        Args:
            outcome: of the last action; ``inconclusive`` where nothing was done.
            target: the mark that it was aimed at.
            waited: True when the model chose an action without a target: that is no failure, only not for ever.
        """
        self._suppressed = {mark: left - 1 for mark, left in self._suppressed.items() if left > 1}
        if outcome == "confirmed":
            self.flat = self.idle = 0
            self._refuted.clear()
            return
        self.idle = self.idle + 1 if waited else 0
        self.flat += not waited
        if outcome == "refuted" and target is not None:
            self._refute(target)

    def _refute(self, target: int) -> None:
        self._refuted[target] = self._refuted.get(target, 0) + 1
        if self._refuted[target] >= self.limits.suppress_after:
            self._suppressed[target] = self.limits.suppress_for
            del self._refuted[target]
