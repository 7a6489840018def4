"""Whether anything comes of what the agent does: each action judged at the next look, and the ladder fed with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actuation.aim import aims
from actuation.executor import Delivery, Ended
from actuation.tools import Tool
from agent.bot import Bot
from agent.errors import BotError
from agent.ladder import RUNGS, Ladder, Rung
from agent.signals import Signal, Turn
from agent.verify import CONFIRMED, UNKNOWN, Done, Verdict, judge, near
from perception.change import TileDigests, tiles_of
from perception.observation import Observation

CURE = "Write effects = {Click: 'name of a sensor'}."
LATEST = 4  # looks after an action, with nothing sent since, in which its effect may still come


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a tick did.

    Attributes:
        seen: what it saw.
        decided: something was to be decided. False: the ladder took the tick.
        action: what was decided. None: nothing that could be done.
        spelling: the action's one spelling.
        delivery: what became of it.
    """

    seen: Observation
    decided: bool = True
    action: Tool | None = None
    spelling: str | None = None
    delivery: Delivery | None = None

    @property
    def sent(self) -> bool:
        """Something was sent to the game."""
        if self.delivery is None or self.action is None:
            return False
        clicked = self.delivery.outcome == "delivered" and self.action.target is not None
        return clicked or self.delivery.gap_ms is not None

    @property
    def target(self) -> int | None:
        """What it was aimed at, by an identity that outlasts numbers."""
        number = self.action.target if self.action else None
        return None if number is None else self.seen.mark(number).key


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one look says of the tick before.

    Attributes:
        verdict: how its action turned out.
        signals: that nothing comes of what is done.
        rung: to be taken because of them. None: none.
    """

    verdict: Verdict = UNKNOWN
    signals: Sequence[Signal] = ()
    rung: Rung | None = None


class Progress:
    """Judges the ticks of one run.

    Args:
        bot: whose sensors tell what is an effect, progress and loading.

    Raises:
        BotError: it names a sensor that it does not have.
    """

    def __init__(self, bot: Bot) -> None:
        for said in (bot.progress, bot.loading, *bot.effects.values()):
            _require_sensor(bot, said)
        for tool in bot.effects:
            if tool not in bot.tools:
                names = ", ".join(each.__name__ for each in bot.tools)
                raise BotError(f"Expected effects of the bot's tools, classes out of {names}, found {tool!r}.", CURE)
        self._bot = bot
        self._ladder = Ladder.of(bot.limits, bot.steps)
        self._digests = TileDigests()
        self._tiles: NDArray[np.uint64] = np.zeros((0, 0), np.uint64)
        self._pending: Step | None = None
        self._pending_for = 0

    @property
    def suppressed(self) -> Collection[int]:
        """Targets that are out of the grammar now, by their identities."""
        return self._ladder.suppressed

    @property
    def why(self) -> str:
        """Why the last rung was taken, in words."""
        if not self._ladder.why:
            return f"{self._ladder.idle} ticks of waiting"
        return ", ".join(_WORDS[signal] for signal in self._ladder.why)

    @property
    def tried_in_vain(self) -> Sequence[str]:
        """What was done of late without an effect, or again and again, each once."""
        signals = self._ladder.signals
        turns = list(signals.turns)[-signals.limits.repeats_within :]
        return list(dict.fromkeys(turn.action for turn in turns if turn.action is not None and turn.sent))

    @property
    def exhausted(self) -> bool:
        """The last rung was taken."""
        return self._ladder.climbed == len(RUNGS)

    def judge(self, last: Step | None, seen: Observation, ended: Sequence[Ended]) -> Judgement:
        """Look at what came of the tick before. While the game loads, or a person is at the desk, nothing counts.

        An action that seems to have had no effect is looked at again for as long as nothing else is sent, four times.

        Args:
            last: the tick before. None: there was none, or the game could not be seen since.
            seen: this tick's look.
            ended: actions that ended before their time.
        """
        before, self._tiles = self._tiles, self._digests.of(seen.frame.pixels)
        if self._held(last, seen):
            return Judgement()
        verdict = self._verdict(last, seen, before, ended)
        if last is not None and last.sent:
            self._pending, self._pending_for = (None if verdict.outcome == "confirmed" else last), 0
        elif self._late(seen):
            verdict = CONFIRMED
        sent_nothing = last is not None and last.action is not None and not last.sent
        rung = self._ladder.update(
            self._turn(last, seen, verdict), waited=sent_nothing and verdict.outcome == "inconclusive"
        )
        return Judgement(verdict=verdict, signals=self._ladder.signals.given, rung=rung)

    def _turn(self, last: Step | None, seen: Observation, verdict: Verdict) -> Turn:
        progress = self._sensor(self._bot.progress, seen)
        if last is None:
            return Turn(tiles=self._tiles, decided=False, progress=progress)
        sensed = last.action is None or type(last.action) in self._bot.effects
        boxes = [] if sensed or last.action is None else [near(aim.box) for aim in aims(last.action, last.seen)]
        return Turn(
            tiles=self._tiles,
            action=last.spelling,
            target=last.target,
            sent=last.sent,
            decided=last.decided,
            near=tiles_of(boxes, self._tiles.shape) if boxes else None,
            pending=self._pending is not None,
            outcome=verdict.outcome,
            progress=progress,
        )

    def _late(self, seen: Observation) -> bool:
        """True when an action, after which nothing else was sent, has its effect only now."""
        pending = self._pending
        if pending is None or pending.action is None or pending.delivery is None:
            return False
        self._pending_for += 1
        done = Done(action=pending.action, delivery=pending.delivery, seen=pending.seen)
        effect = self._bot.effects.get(type(pending.action))
        late = judge(done, seen, effect=effect, restless=self._ladder.signals.restless_alone).outcome == "confirmed"
        if late:
            self._ladder.amend(pending.target)
        if late or self._pending_for >= LATEST:
            self._pending = None
        return late

    def _held(self, last: Step | None, seen: Observation) -> bool:
        if self._sensor(self._bot.loading, seen) is True:
            return True
        return last is not None and last.delivery is not None and last.delivery.reason == "halted"

    def _verdict(
        self, last: Step | None, seen: Observation, before: NDArray[np.uint64], ended: Sequence[Ended]
    ) -> Verdict:
        if last is None or last.action is None or last.delivery is None:
            return UNKNOWN
        signals = self._ladder.signals
        done = Done(
            action=last.action,
            delivery=last.delivery,
            seen=last.seen,
            ended_early=any(each.action is last.action for each in ended),
            failed_before=last.spelling is not None and signals.failed_before(last.spelling, before),
        )
        effect = self._bot.effects.get(type(last.action))
        if effect is not None and not isinstance(seen.sensors.get(effect), bool | None):
            told = f"{effect!r} says {seen.sensors[effect]!r}"
            raise BotError(f"Expected an effect's sensor to say true or false, but {told}.", "Compare it: gems < 7.")
        return judge(done, seen, effect=effect, restless=signals.restless_alone)

    @staticmethod
    def _sensor(name: str | None, seen: Observation) -> Any:
        return None if name is None else seen.sensors.get(name)


_WORDS: dict[Signal, str] = {
    "stasis": "the screen stays as it is",
    "stall": "no progress for long",
    "cycle": "the same again and again",
    "failures": "most actions have no effect",
    "no_ops": "no answer that could be used",
}


def _require_sensor(bot: Bot, name: str | None) -> None:
    if name is not None and not isinstance(name, str):
        raise BotError(f"Expected the name of a sensor, found the sensor {name}.", "Give it a name in sensors.")
    if name is not None and name not in bot.sensors:
        near = get_close_matches(name, bot.sensors, 1)
        cure = f"Did you mean {near[0]!r}?" if near else "Declare it in sensors."
        raise BotError(f"Expected a sensor of bot {bot.name!r} out of {sorted(bot.sensors)}, found {name!r}.", cure)
