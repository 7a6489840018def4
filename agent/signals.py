"""The signs that nothing comes of what the agent does, each for itself: pure, with no clock and no screen of its own.

A turn is one tick's look, what was done before it, and how that turned out. Of what the screen shows, a turn keeps one
number for each tile of 16 x 16 pixels, so that two looks can be compared wherever the screen is not restless by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Signal = Literal[
    "stasis",  # the screen stays as it is, whatever is done
    "stall",  # the sensor of progress, or the screen where there is none, has not shown anything new
    "cycle",  # the same is done on the same screen again and again
    "failures",  # most of what is done does not have its effect
    "no_ops",  # nothing that could be done was decided
]
Outcome = Literal["confirmed", "refuted", "inconclusive"]

MEMORY = 64  # turns that are looked back on
RESTLESS_OVER = 16  # turns over which a tile's changes are counted
COUNTS = 6  # different things that a tile shows, which make it a counter
RESTLESS_AREA = 0.05  # share of the screen; what is larger is the game


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a signal is given, in ticks at 2 Hz.

    Attributes:
        stasis: actions in a row after which nothing changed.
        stall: actions without a new value of the progress sensor, or without a new screen where there is none.
        repeats: times that the same was done on the same screen.
        repeats_within: the ticks in which that is counted: room for three rounds of six steps.
        failures: share of the actions whose outcome is known that were refuted.
        failures_of: how many of the last are looked at.
        failures_least: how many there must be.
        no_ops: ticks in a row without a decision.
    """

    stasis: int = 6
    stall: int = 20
    repeats: int = 3
    repeats_within: int = 18
    failures: float = 0.6
    failures_of: int = 10
    failures_least: int = 6
    no_ops: int = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """One tick's look, and what the tick before did.

    Attributes:
        tiles: a number for each tile of the screen, ``(rows, columns)``; see ``perception.change.tile_digests``.
        action: what was done in its one spelling, which is the same again for the same. None: nothing was decided.
        target: what it was aimed at, by an identity that outlasts numbers. None: at nothing.
        sent: it sent something to the game.
        decided: something was to be decided, whatever came of it.
        near: tiles in the neighbourhood of what it was aimed at, whose changes are its own. None: it was aimed at
            nothing, or a sensor says whether it had its effect.
        pending: the last action that was sent has not had its effect yet, so that what changes may be that.
        outcome: how it turned out.
        progress: what the bot's sensor of progress says. None: there is none, or it cannot be told.
    """

    tiles: NDArray[np.uint64]
    action: str | None = None
    target: int | None = None
    sent: bool = False
    decided: bool = True
    near: NDArray[np.bool_] | None = None
    pending: bool = False
    outcome: Outcome = "inconclusive"
    progress: Any = None


@dataclass
class Signals:
    """What the last turns tell.

    Attributes:
        limits: when a signal is given.
        turns: what is looked back on, the latest last.
        restless: tiles that change by themselves, such as a clock's; none before there is reason to think so.
    """

    limits: Limits = field(default_factory=Limits)
    turns: deque[Turn] = field(default_factory=lambda: deque(maxlen=MEMORY))
    restless: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    _known: deque[Any] = field(default_factory=lambda: deque(maxlen=MEMORY))
    _still: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    _novel: bool = True
    _since_new: int = 0
    _since: int = 0

    def add(self, turn: Turn) -> None:
        """Take in a turn. A change of the window's size forgets what the screen showed.

        An action whose target shows nothing of it is not counted as failed while the screen shows something new.
        """
        if self.turns and self.turns[-1].tiles.shape != turn.tiles.shape:
            self.turns.clear()
            self._since = 0
        self.turns.append(turn)
        self.restless = self.restless_alone | self._restless_too()
        self._still = ~(self.restless | self._counting())
        self._since += 1
        self._since_new += turn.sent
        self._novel = not any(_alike(earlier, turn, self._still) for earlier in list(self.turns)[:-1])
        if turn.outcome == "refuted" and turn.near is not None and self._new_elsewhere(turn):
            self.turns[-1] = replace(turn, outcome="inconclusive")
        if turn.progress is not None and turn.progress not in self._known:
            self._known.append(turn.progress)
            self._since_new = 0
        elif self._novel and not self._known:
            self._since_new = 0

    def amend(self) -> None:
        """The last action that was sent had its effect after all, one look or some later than expected."""
        for place in range(len(self.turns) - 1, -1, -1):
            if self.turns[place].sent:
                self.turns[place] = replace(self.turns[place], outcome="confirmed")
                return

    def failed_before(self, action: str, tiles: NDArray[np.uint64]) -> bool:
        """True when this was done on this very screen already, without its effect."""
        return any(
            turn.action == action and turn.outcome == "refuted" and bool((screen.tiles == tiles)[~self.restless].all())
            for screen, turn in zip(self.turns, list(self.turns)[1:], strict=False)
            if screen.tiles.shape == tiles.shape
        )

    def start_again(self) -> None:
        """Something came of it: what was before counts no more, but is remembered as known."""
        self._since = 1

    @property
    def new(self) -> bool:
        """New progress; without a sensor of it, an action had its effect, and the screen shows what it never did."""
        if self._since_new == 0 and len(self._known) > 1:
            return True
        return self._novel and self.turns[-1].outcome == "confirmed" and not self._stall()

    @property
    def given(self) -> tuple[Signal, ...]:
        """The signals that the last turns give."""
        asked: Sequence[tuple[Signal, bool]] = (
            ("stasis", self._stasis()),
            ("stall", self._stall()),
            ("cycle", bool(self.repeated)),
            ("failures", self._failures()),
            ("no_ops", self._no_ops()),
        )
        return tuple(name for name, given in asked if given)

    @property
    def restless_alone(self) -> NDArray[np.bool_]:
        """Tiles that were seen to change when nothing was done: twice, and in a third of such turns."""
        if not self.turns:
            return np.zeros((0, 0), np.bool_)
        changed, idle = self._changes()
        quiet = changed[idle]
        return np.asarray((quiet.sum(axis=0) >= 2) & (quiet.sum(axis=0) * 3 >= len(quiet)))

    def _restless_too(self) -> NDArray[np.bool_]:
        """Tiles of a small part of the screen that change at regular intervals, though not at each action."""
        changed, idle = self._changes()
        for place, turn in enumerate(list(self.turns)[len(self.turns) - len(changed) :]):
            if turn.near is not None:
                changed[place] &= ~turn.near
        counts = changed.sum(axis=0)
        often = (counts >= 3) & (counts * 3 >= len(changed)) & (counts + 2 <= len(changed))
        if idle.sum() >= 4:  # enough was seen of the screen left alone
            often &= changed[idle].any(axis=0)
        if len(changed) < self.limits.stasis or often.mean() > RESTLESS_AREA:
            return np.zeros_like(often)
        for row, column in np.argwhere(often):
            intervals = np.diff(np.flatnonzero(changed[:, row, column]))
            often[row, column] = intervals.max() - intervals.min() <= 1
        return np.asarray(often)

    def _counting(self) -> NDArray[np.bool_]:
        """Tiles of a small part of the screen that show something new with nearly each action, as a counter does.

        None where nothing else changes: then what they show is what happens.
        """
        acted = self._changes_by_actions()
        often = acted.sum(axis=0) * 10 >= len(acted) * 9
        for row, column in np.argwhere(often):
            shown = {int(turn.tiles[row, column]) for turn in list(self.turns)[-RESTLESS_OVER - 1 :]}
            often[row, column] = len(shown) >= min(COUNTS, acted[:, row, column].sum() + 1)
        if len(acted) < self.limits.stasis or often.mean() > RESTLESS_AREA:
            return np.zeros_like(often)
        besides = acted[-self.limits.stasis :, ~(often | self.restless)].any(axis=1)
        return often if besides.mean() > 0.5 else np.zeros_like(often)

    @property
    def repeated(self) -> list[Turn]:
        """The turns of which the latest is one more repetition: the same done on the same screen."""
        pairs = list(self._pairs())[-self.limits.repeats_within :]
        if not pairs:
            return []
        before, last = pairs[-1]
        if not last.sent:
            return []
        same = [
            number
            for number, (screen, turn) in enumerate(pairs)
            if turn.sent and turn.action == last.action and _alike(screen, before, self._still)
        ]
        return [turn for _, turn in pairs[same[-2] + 1 :]] if len(same) >= self.limits.repeats else []

    @property
    def tried(self) -> set[int]:
        """What the last actions were aimed at without any effect, or in a round that leads nowhere."""
        last = [turn for turn in self._recent() if turn.sent][-self.limits.stasis :]
        failed = {turn.target for turn in last if turn.outcome == "refuted"}
        return {target for target in failed | {turn.target for turn in self.repeated} if target is not None}

    def _recent(self) -> list[Turn]:
        """The turns since something came of it."""
        return list(self.turns)[-self._since :]

    def _pairs(self) -> Iterator[tuple[Turn, Turn]]:
        """Each turn since something came of it with the one before it, whose screen it was decided on."""
        recent = list(self.turns)[-self._since - 1 :]
        return pairwise(recent)

    def _changes(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Of the last turns: which tiles changed, ``(turns, rows, columns)``, and whether nothing was the cause."""
        turns = list(self.turns)[-RESTLESS_OVER - 1 :]
        shape = (0, *turns[-1].tiles.shape)
        changed = [one.tiles != other.tiles for one, other in pairwise(turns)]
        return np.array(changed, np.bool_).reshape(-1, *shape[1:]), np.array(
            [not turn.sent and not turn.pending for turn in turns[1:]], np.bool_
        )

    def _changes_by_actions(self) -> NDArray[np.bool_]:
        """Which tiles changed at each of the last turns that something was sent before, ``(turns, rows, columns)``."""
        changed, _ = self._changes()
        return changed[[turn.sent for turn in list(self.turns)[len(self.turns) - len(changed) :]]]

    def _new_elsewhere(self, turn: Turn) -> bool:
        """Something shows that never did, where not every action changes something: it may well be this one's doing."""
        acted = self._changes_by_actions()
        seldom = self._still
        if len(acted) >= self.limits.stasis:
            seldom = seldom & (acted.sum(axis=0) * 10 < len(acted) * 7)
        return not any(_alike(earlier, turn, seldom) for earlier in list(self.turns)[:-1])

    def _stasis(self) -> bool:
        pairs = [(before, turn) for before, turn in self._pairs() if turn.sent][-self.limits.stasis :]
        if len(pairs) < self.limits.stasis:
            return False
        return all(_alike(before, turn, ~self.restless) for before, turn in pairs)

    def _stall(self) -> bool:
        told = self.turns[-1].progress is not None or not self._known
        return told and self._since_new >= self.limits.stall

    def _failures(self) -> bool:
        known = [turn.outcome for turn in self._recent() if turn.outcome != "inconclusive"][-self.limits.failures_of :]
        failed = sum(outcome == "refuted" for outcome in known)
        return len(known) >= self.limits.failures_least and failed >= self.limits.failures * len(known)

    def _no_ops(self) -> bool:
        last = self._recent()[-self.limits.no_ops :]
        return len(last) == self.limits.no_ops and all(turn.decided and turn.action is None for turn in last)


def _alike(one: Turn, other: Turn, where: NDArray[np.bool_]) -> bool:
    """True when two looks show the same at these tiles."""
    return bool((one.tiles == other.tiles)[where].all())
