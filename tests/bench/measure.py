"""Times the contestants of the grammar benchmark, side by side in one loop, on screens that never repeat."""

from __future__ import annotations

import gc
import hashlib
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from tests.bench.ours import Contestant, LLWalk, Mask, Ours, Walk
from tests.bench.peers import MAKERS
from tests.bench.screens import Kind, Screen
from tests.bench.vocabularies import NotThere, Vocabulary

WARM_UP = 5  # rounds that are not counted
PATIENCE = 3.0  # seconds of one contestant on one kind of screen; it stops there, with what it has
LONGEST = 400  # tokens of an action; one that goes on, as a schema's numbers may, is cut and not verified

NEW_SCREEN = ("text", "digest", "compile", "first mask")
"""What a new screen costs before the first token, stage by stage: the total."""

T = TypeVar("T")
Led = list[tuple[int, bool]]
"""An action's tokens, and whether each was chosen, under a mask, or forced."""


@dataclass(slots=True)
class Row:
    """One contestant on one kind of screen.

    Attributes:
        stages: milliseconds of each round, by stage.
        masks: masks of each round's action.
        strayed: actions of ours that the contestant's masks or check refused.
        failed: why it stopped. Empty: it did not.
        seconds: that it took, all in all.
    """

    vocabulary: str
    kind: Kind
    contestant: str
    stages: dict[str, list[float]] = field(default_factory=dict)
    masks: list[int] = field(default_factory=list)
    strayed: int = 0
    failed: str = ""
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """True when it failed, or took longer than there is patience for."""
        return bool(self.failed) or self.seconds > PATIENCE

    @property
    def rounds(self) -> int:
        """How many rounds there are figures of."""
        return len(self.stages.get("total", ()))

    def timed(self, stage: str, work: Callable[..., T], *given: object) -> T:
        """Do some work, and note how long it took."""
        start = perf_counter()
        done = work(*given)
        self.note(stage, perf_counter() - start)
        return done

    def note(self, stage: str, seconds: float) -> None:
        """Count what a stage took."""
        self.seconds += seconds
        self.stages.setdefault(stage, []).append(seconds * 1000)


class Bench:
    """All contestants over one vocabulary.

    The garbage collector is on. Before each turn what others left is collected, so that nobody pays for it; the
    vocabularies are frozen, as in a process that has loaded its model they would soon be old.

    Args:
        vocabulary: what masks are over.
        rounds: how often each kind of screen is played.
        say: told who is left out, and why.
    """

    def __init__(self, vocabulary: Vocabulary, rounds: int, say: Callable[[str], None]) -> None:
        self._vocabulary = vocabulary
        self._rounds = rounds
        self._say = say
        self._present = list(self._made())
        gc.collect()
        gc.freeze()

    def _made(self) -> Iterator[Contestant]:
        for make in MAKERS:
            try:
                yield make(self._vocabulary)
            except NotThere as reason:
                self._say(str(reason))

    def play(self, kind: Kind) -> list[Row]:
        """The rows of one kind of screen, ours first; who took too long for one round sits out the kinds to come."""
        rng, cells = random.Random(str(kind)), kind.cells()
        rows = {each: self._row(each, kind) for each in self._present}
        for _ in range(WARM_UP):
            self._round(rows, kind.shown(cells, rng), rng)
        rows = {each: row if row.done else self._row(each, kind) for each, row in rows.items()}
        for _ in range(self._rounds):
            self._round(rows, kind.shown(cells, rng), rng)
        self._present = [each for each, row in rows.items() if not (row.done and row.rounds <= 1)]
        for each in rows:
            each.clear()
        return list(rows.values())

    def _row(self, each: Contestant, kind: Kind) -> Row:
        return Row(self._vocabulary.name, kind, each.name)

    def _round(self, rows: Mapping[Contestant, Row], screen: Screen, rng: random.Random) -> None:
        """One screen for all, as long as ours goes on; who is first changes, so that none has warm caches to itself."""
        waiting = [(each, row) for each, row in rows.items() if not row.done]
        if not any(isinstance(each, Ours) for each, _ in waiting):
            return
        first, compiled = rng.randrange(len(waiting)), dict[Contestant, Any]()
        for each, row in [*waiting[first:], *waiting[:first]]:
            gc.collect()
            compiled[each] = _tried(each, row, _first_mask, each, row, screen)
        led: Led = []
        for each, row in waiting:
            if not row.failed:
                led = _tried(each, row, self._action, each, row, compiled[each], led, rng) or led

    def _action(self, each: Contestant, row: Row, compiled: Any, led: Led, rng: random.Random) -> Led:
        """One whole action, and its check. Ours wanders first; whose language is ours is led the same way."""
        walk = each.walk(compiled)
        if isinstance(walk, LLWalk):
            said = _wander(walk, row, rng, self._vocabulary.end)
        else:
            said = led
            row.strayed += not _follow(walk, row, led)
        text = self._vocabulary.engine.decode_bytes([token for token, _ in said]).decode()
        whole = len(said) < LONGEST
        if each.verifies and whole and not row.timed("verify", each.verify, compiled, text):
            row.strayed += 1
        return said if isinstance(each, Ours) else led


def _tried(each: Contestant, row: Row, work: Callable[..., T], *given: object) -> T | None:
    """A peer's failure is a figure like others; ours is a bug of ours and stops the run."""
    try:
        return work(*given)
    except Exception as problem:
        if isinstance(each, Ours):
            raise
        row.failed = f"{type(problem).__name__}: {str(problem)[:200]}"
        return None


def _first_mask(each: Contestant, row: Row, screen: Screen) -> Any:
    """What a new screen costs, stage by stage; for ours also what a tick does besides, and the same screen again."""
    text = row.timed("text", each.text, screen)
    digest = row.timed("digest", lambda: hashlib.sha256(text.encode()).hexdigest())
    compiled = row.timed("compile", each.compile, text)
    row.timed("first mask", lambda: each.walk(compiled).mask())
    row.stages.setdefault("total", []).append(sum(row.stages[stage][-1] for stage in NEW_SCREEN))
    if isinstance(each, Ours):
        row.timed("certificate", each.certify, text, digest)
        row.timed("for_tick", each.tick, screen)
        row.timed("same screen", each.tick, screen.again())
    return compiled


def _wander(walk: LLWalk, row: Row, rng: random.Random, end: int) -> Led:
    """A random action: forced tokens are taken unasked, every other one is a random legal one under its own mask."""
    led: Led = []
    watch = _Watch()
    while len(led) < LONGEST:
        led += [(token, False) for token in watch(walk.forced)]
        if walk.over:
            break
        token = _any_of(watch(walk.mask), rng)
        watch.masks += 1
        if token == end:
            break
        watch(walk.take, token)
        led.append((token, True))
    watch.stop(row)
    return led


def _follow(walk: Walk, row: Row, led: Led) -> bool:
    """An action that ours walked, masks computed where ours computed one. False: one of them forbids its token."""
    watch, allowed = _Watch(), True
    for token, chosen in led:
        if chosen:
            bits = watch(walk.mask)
            watch.masks += 1
            allowed = bool(bits[token // 8] >> (token % 8) & 1)
        if not allowed:
            break
        watch(walk.take, token)
    watch.stop(row)
    return allowed


class _Watch:
    """Adds up what an action costs the engine, choosing tokens not counted."""

    def __init__(self) -> None:
        self.masks = 0
        self._seconds = 0.0

    def __call__(self, work: Callable[..., T], *given: object) -> T:
        start = perf_counter()
        done = work(*given)
        self._seconds += perf_counter() - start
        return done

    def stop(self, row: Row) -> None:
        row.note("action", self._seconds)
        row.masks.append(self.masks)


def _any_of(bits: Mask, rng: random.Random) -> int:
    legal = np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    return int(legal[rng.randrange(len(legal))])
