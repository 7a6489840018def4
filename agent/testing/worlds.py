"""Small worlds, drawn: agents that are stuck in them in ways that are known, and others that only look as if."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actuation.executor import Delivery
from actuation.tools import Click, PressKey, Tool, Wait
from agent.progress import Step
from agent.testing.traces import Trace
from perception.geometry import Box, Point, Transform
from perception.observation import Frame, Mark, Observation

ROWS, COLUMNS, TILE = 15, 20, 16
LENGTH = 48  # ticks of a trace, where it does not end by itself
BUTTONS = 6


@dataclass
class World:
    """A screen of tiles, six buttons on it, and an agent that acts as it is told to.

    Attributes:
        clock_hz: how often a clock's tile changes; 0: there is none.
        blinks: rows of tiles that are on at one tick and off at the next.
        counts: moves are counted on a tile.
        noisy: a few pixels of the upper right corner are never the same.
        sensors: what the bot's sensors say.
    """

    seed: int = 0
    clock_hz: float = 0.0
    blinks: Sequence[int] = ()
    counts: bool = False
    noisy: bool = False
    moving: bool = False
    sensors: dict[str, Any] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)  # noqa: S311 - no secret
        self.board: NDArray[np.int64] = np.zeros((ROWS, COLUMNS), np.int64)
        self._noise = np.random.default_rng(self.seed)

    def click(self, button: int, effect: Callable[[], None] | None = None, refused: str | None = None) -> None:
        """A tick in which a button is clicked; it has its effect before the next look."""
        self._do(Click(mark=button + 1), refused)
        if effect is not None and refused is None:
            effect()

    def key(self, key: Any, effect: Callable[[], None] | None = None) -> None:
        """A tick in which a key is pressed."""
        self._do(PressKey(key=key), None)
        if effect is not None:
            effect()

    def wait(self, ticks: int = 1) -> None:
        """Ticks in which the agent waits."""
        for _ in range(ticks):
            self._do(Wait(), None)

    def nothing(self) -> None:
        """A tick in which nothing could be decided."""
        self.steps.append(Step(seen=self.look()))

    def set(self, row: int, column: int, value: int, high: int = 1, wide: int = 1) -> None:
        """Give tiles another colour."""
        self.board[row : row + high, column : column + wide] = value

    def toggle(self, button: int) -> Callable[[], None]:
        """The effect of a button that changes its own look."""
        left = 1 + 3 * button
        return lambda: self.set(2, left, 1 - int(self.board[2, left]), wide=2)

    def lights(self, at: int) -> Callable[[], None]:
        """The effect of a button, the next one at each tick, that shows what none showed before."""
        return lambda: self.set(2, 1 + 3 * (at % BUTTONS), 300 + at, wide=2)

    def look(self) -> Observation:
        """What is on the screen now."""
        tick, shown = len(self.steps), self.board.copy()
        if self.clock_hz:
            shown[0, COLUMNS - 1] = 1000 + int(tick / 2 * self.clock_hz)
        if self.counts:
            shown[ROWS - 1, 0] = 2000 + sum(step.sent for step in self.steps)
        for row in self.blinks:
            shown[row] += tick % 2 * 7
        colours = np.stack([shown * 37 % 251, shown * 101 % 241, shown * 59 % 239], axis=2).astype(np.uint8)
        pixels = colours.repeat(TILE, axis=0).repeat(TILE, axis=1)
        if self.noisy:
            pixels[:32, -64:] ^= self._noise.integers(0, 2, (32, 64, 3), np.uint8)
        box = Box(0, 0, COLUMNS * TILE, ROWS * TILE)
        frame = Frame(pixels=pixels, transform=Transform(client=box, captured=box), captured_ns=0, moving=self.moving)
        marks = tuple(
            Mark(number=i + 1, box=Box((1 + 3 * i) * TILE, 2 * TILE, 2 * TILE, TILE), label=f"button {i + 1}")
            for i in range(BUTTONS)
        )
        return Observation(frame=frame, cells=(), marks=marks, sensors=dict(self.sensors))

    def _do(self, action: Tool, refused: str | None) -> None:
        self.steps.append(_step(self.look(), action, sends=not isinstance(action, Wait), refused=refused))


def _step(seen: Observation, action: Tool, *, sends: bool, refused: str | None) -> Step:
    delivery = Delivery(
        outcome="refused" if refused else "delivered",
        point=Point(0, 0) if action.target is not None else None,
        reason=refused,
        gap_ms=1.0 if sends and refused is None else None,
    )
    spelling = json.dumps({"tool": type(action).__name__, **action.model_dump()})
    return Step(seen=seen, action=action, spelling=spelling, delivery=delivery)


Story = Callable[[World], None]


def drawn() -> Iterator[Trace]:
    """The traces of small worlds: the same each time."""
    for name, told in _STUCK.items():
        for number, (world, beginning) in enumerate(_worlds(len(name))):
            start = _progress(world, beginning)
            for _ in range(LENGTH):
                told(world)
            yield _trace(f"{name} {number + 1}", world, start)
    for name, told in _FINE.items():
        for number, (world, _) in enumerate(_worlds(len(name))):
            for _ in range(LENGTH):
                told(world)
            yield _trace(f"{name} {number + 1}", world, None)


def _worlds(seed: int) -> Iterator[tuple[World, int]]:
    """A bare world at once; and one with a clock, after some time in which all went well."""
    yield World(seed=seed), 0
    yield World(seed=seed + 1, clock_hz=1.0), 12


def _trace(name: str, world: World, stuck_from: int | None) -> Trace:
    sensors = world.steps[-1].seen.sensors
    return Trace(
        name=name,
        stuck_from=stuck_from,
        steps=world.steps[:LENGTH] if stuck_from is None else world.steps[: stuck_from + LENGTH],
        progress="score" if "score" in sensors else None,
        loading="loading" if "loading" in sensors else None,
        effect="worked" if "worked" in sensors else None,
    )


def _progress(world: World, ticks: int) -> int:
    """Some time in which all goes well."""
    for i in range(ticks):
        world.click(i % BUTTONS, lambda i=i: world.set(2, 1 + 3 * (i % BUTTONS), 100 + i, wide=2))  # type: ignore[misc]
    return ticks


def _round(*buttons: int) -> Story:
    """Buttons that each undo themselves, one after the other."""

    def told(world: World) -> None:
        button = buttons[len(world.steps) % len(buttons)]
        world.click(button, world.toggle(button))

    return told


def _circle(keys: Sequence[str], places: Sequence[tuple[int, int]]) -> Story:
    """Steps of a figure that come back to where they began."""

    def told(world: World) -> None:
        step = len(world.steps) % len(places)
        here, there = places[step], places[(step + 1) % len(places)]

        def walk() -> None:
            world.set(*here, 0)
            world.set(*there, 9)

        world.key(keys[step % len(keys)], walk)

    return told


def _counted(told: Story) -> Story:
    """The same under a counter of moves."""

    def counted(world: World) -> None:
        world.counts = True
        told(world)

    return counted


def _refused(reason: str) -> Story:
    return lambda world: world.click(len(world.steps) % 2, refused=reason)


def _some_dead(world: World) -> None:
    world.click(world.rng.randrange(3))


def _dead_and_waits(world: World) -> None:
    world.click(0) if len(world.steps) % 2 else world.wait()


def _dead_keys(world: World) -> None:
    world.key(world.rng.choice(["up", "down", "left", "right"]))


def _timer_and_dead_keys(world: World) -> None:
    """A fast timer; the agent waits now and then."""
    world.clock_hz = 2.0
    world.wait() if len(world.steps) % 4 == 0 else world.key(world.rng.choice(["up", "down"]))


def _blinking_and_dead(world: World) -> None:
    world.blinks = (9,)
    world.click(len(world.steps) % 3)


def _blinking_target(world: World) -> None:
    world.blinks = (2,)
    world.click(1)


def _noisy_and_dead(world: World) -> None:
    world.noisy = True
    world.click(0)


def _elsewhere(world: World) -> None:
    """Each click lights up something far from it, of three."""
    at = len(world.steps)
    world.click(at % 2, lambda: world.set(12, 5 * (at % 3), 200 - int(world.board[12, 5 * (at % 3)])))


def _hover(world: World) -> None:
    """The button lights up under the pointer, once."""
    world.click(4, lambda: world.set(2, 13, 5, wide=2))


def _wandering(world: World) -> None:
    """All sorts of things happen, and the score stays."""
    world.sensors["score"] = 40
    at = len(world.steps)
    world.click(at % BUTTONS, world.lights(at))


def _worthless(world: World) -> None:
    """The target changes, but the sensor says that it did not do what it should."""
    world.sensors["worked"] = False
    at = len(world.steps)
    world.click(at % 3, lambda: world.set(2, 1 + 3 * (at % 3), 300 + at, wide=2))


def _animated_and_dead(world: World) -> None:
    """A third of the screen is never still."""
    world.board[8:13] = [[world.rng.randrange(99) for _ in range(COLUMNS)] for _ in range(5)]
    world.click(len(world.steps) % 4)


_STUCK: Mapping[str, Story] = {
    "a dead button": lambda world: world.click(0),
    "three dead buttons": _some_dead,
    "a dead button and waits": _dead_and_waits,
    "dead keys": _dead_keys,
    "dead keys beside a fast timer": _timer_and_dead_keys,
    "a round of two": _round(0, 1),
    "a round of three": _round(0, 1, 2),
    "a round of four": _round(0, 3, 1, 2),
    "a round of six": _round(0, 1, 2, 3, 4, 5),
    "one switch, on and off": _round(3),
    "walking in a square": _circle(["right", "down", "left", "up"], [(6, 6), (6, 7), (7, 7), (7, 6)]),
    "walking to and fro": _circle(["right", "left"], [(6, 6), (6, 7)]),
    "walking round a block": _circle(
        ["right", "right", "down", "left", "left", "up"], [(6, 6), (6, 7), (6, 8), (7, 8), (7, 7), (7, 6)]
    ),
    "a round of two, moves counted": _counted(_round(0, 1)),
    "walking to and fro, moves counted": _counted(_circle(["right", "left"], [(6, 6), (6, 7)])),
    "a blinking row and dead buttons": _blinking_and_dead,
    "a dead button in a blinking row": _blinking_target,
    "noise and a dead button": _noisy_and_dead,
    "clicks that hit beside": _elsewhere,
    "a button that only lights up": _hover,
    "wandering without a point": _wandering,
    "effects that are none": _worthless,
    "an animation and dead buttons": _animated_and_dead,
    "covered for ever": _refused("covered_by"),
    "a target that will not hold still": _refused("stale_target"),
    "no answer that could be used": World.nothing,
}


def _toggles(world: World) -> None:
    """A field of 20 x 15 switches, each switched once."""
    at = len(world.steps)

    def switch() -> None:
        world.set(4 + at // COLUMNS, at % COLUMNS, 1)
        world.toggle(0)()

    world.click(0, switch)


def _field(world: World) -> None:
    """A field of switches, by keys: the cursor moves on, and each is switched."""
    at = len(world.steps)
    world.key("space", lambda: world.set(4 + at // COLUMNS, at % COLUMNS, 1))


def _long_animation(world: World) -> None:
    """A film of 30 ticks, which the agent waits for; then the game goes on."""
    at = len(world.steps)
    world.board[4:14] = at if 6 < at < 36 else 0
    if 6 < at < 36:
        world.wait()
    else:
        world.click(at % BUTTONS, world.lights(at))


def _clicks_into_motion(world: World) -> None:
    """A film of 15 ticks into which the agent clicks, without an effect."""
    at = len(world.steps)
    world.moving = 10 < at < 25
    world.board[4:14] = world.rng.randrange(99) if world.moving else 0
    world.click(at % BUTTONS, None if world.moving else world.lights(at))


def _every_second_click(world: World) -> None:
    """A game that drops every second click."""
    at = len(world.steps)
    world.click(at // 2 % BUTTONS, (lambda: world.set(2, 1 + 3 * (at // 2 % 6), 300 + at, wide=2)) if at % 2 else None)


def _first_click_dropped(world: World) -> None:
    at = len(world.steps)
    world.click(at % BUTTONS, world.lights(at) if at else None)


def _loading(world: World) -> None:
    """A loading screen of 15 ticks, which the bot knows; the agent clicks all the same."""
    at = len(world.steps)
    world.sensors["loading"] = 8 < at < 24
    world.click(at % BUTTONS, None if 8 < at < 24 else world.lights(at))


def _sliding(world: World) -> None:
    """A board that changes with most keys, and not with some."""

    def slide() -> None:
        world.board[4:14, 4:14] = np.array([[world.rng.randrange(9) for _ in range(10)] for _ in range(10)])

    world.key(world.rng.choice(["up", "left"]), slide if world.rng.random() < 0.8 else None)


def _walk(world: World) -> None:
    """One key, again and again, and a figure that walks on."""
    at = len(world.steps)

    def walk() -> None:
        world.board[6:10] = 0
        world.set(6 + at // COLUMNS, at % COLUMNS, 9)

    world.key("right", walk)


def _counter(world: World) -> None:
    """One key, again and again, and a small number that grows."""
    at = len(world.steps)
    world.key("up", lambda: world.set(5, 5, at + 1))


def _effects_elsewhere(world: World) -> None:
    """Arrows beside rows: each changes its row, which is far from it."""
    at = len(world.steps)
    world.click(at % 4, lambda: world.set(6 + at % 4, 3, 100 + at, wide=12))


def _opponent(world: World) -> None:
    """Ten ticks of waiting for each move of one's own, the screen still."""
    at = len(world.steps)
    if at % 11:
        world.wait()
    else:
        world.click(at % BUTTONS, world.lights(at))


def _menu(world: World) -> None:
    """Open a menu, tick one of its entries, close it: the main screen is the same each time."""
    at, phase = len(world.steps) // 3, len(world.steps) % 3

    def open_() -> None:
        world.board[5:12] = 50
        for entry in range(20):
            world.set(6, entry, 60 + (entry < at))
        world.set(2, 1, 3, wide=2)

    def close() -> None:
        world.set(5, 0, 0, high=7, wide=COLUMNS)
        world.set(2, 1, 0, wide=2)

    if phase == 0:
        world.click(0, open_)
    elif phase == 1:
        world.key("space", lambda: world.set(6, at % 20, 61))
    else:
        world.click(0, close)


def _depth_first(world: World) -> None:
    """A walk through a tree and back again, each time into another branch."""
    at = len(world.steps)
    depth = [1, 2, 3, 2, 3, 2, 1, 0][at % 8]
    world.key("right" if at % 8 < 3 else "left", lambda: world.set(6 + at // 8, depth + 3 * (at % 4), 9 + at % 3))


def _person(world: World) -> None:
    """A person at the desk for ten ticks."""
    at = len(world.steps)
    halted = "halted" if 6 < at < 17 else None
    world.click(at % BUTTONS, world.lights(at), refused=halted)


def _now_and_then_refused(world: World) -> None:
    at = len(world.steps)
    refused = "stale_target" if at % 4 == 3 else None
    world.click(at % BUTTONS, world.lights(at), refused=refused)


def _rising(world: World) -> None:
    """A score that rises every tenth tick, and cannot be read half of the time."""
    at = len(world.steps)
    world.sensors["score"] = None if at % 2 else at // 10
    world.click(at % BUTTONS, world.lights(at))


def _blinking_and_fine(world: World) -> None:
    world.blinks = (9, 10)
    at = len(world.steps)
    world.click(at % BUTTONS, world.lights(at))


def _noisy_and_fine(world: World) -> None:
    world.noisy = True
    _walk(world)


def _slow_reaction(world: World) -> None:
    """What is clicked shows two ticks later; the agent waits in between."""
    at = len(world.steps)
    if at % 3 == 0:
        world.click(at // 3 % 6)
    else:
        world.wait()
    if at % 3 == 1:
        world.set(2, 1 + 3 * (at // 3 % 6), 300 + at, wide=2)


_FINE: Mapping[str, Story] = {
    "a field of switches, by clicks": _toggles,
    "a field of switches, by keys": _field,
    "a long film that is waited for": _long_animation,
    "clicks into a film": _clicks_into_motion,
    "every second click is dropped": _every_second_click,
    "the first click is dropped": _first_click_dropped,
    "a loading screen": _loading,
    "sliding tiles": _sliding,
    "walking on": _walk,
    "counting up": _counter,
    "walking on, moves counted": _counted(_walk),
    "sliding tiles, moves counted": _counted(_sliding),
    "arrows that shift rows": _effects_elsewhere,
    "waiting for an opponent": _opponent,
    "a menu again and again": _menu,
    "depth first": _depth_first,
    "a person at the desk": _person,
    "refused now and then": _now_and_then_refused,
    "a score that rises": _rising,
    "a blinking row and progress": _blinking_and_fine,
    "noise and progress": _noisy_and_fine,
    "a game that reacts late": _slow_reaction,
}
