"""What a tool does, as steps that are known before the first of them is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import index
from types import MappingProxyType
from typing import Literal

from actuation.keys import strokes, unknown_key
from actuation.settings import Motion
from perception.geometry import Point

BEAT_S = 1 / 30  # of what goes on: a drag's moves, a look at what is held

BUTTONS = ("left", "middle", "right")
MOST_NOTCHES = 20  # of the wheel at once
MOST_TEXT = 200  # characters at once
MOST_STEPS = 20_000  # of one action
MOST_TRAVEL_S = 60.0


@dataclass(frozen=True, slots=True)
class Press:
    """A button goes down at a point, in screen pixels."""

    point: Point
    button: str


@dataclass(frozen=True, slots=True)
class Move:
    """The pointer goes to a point, in screen pixels."""

    point: Point


@dataclass(frozen=True, slots=True)
class Travel:
    """The pointer goes from where it is to a point, in screen pixels, on a straight line and in so many seconds."""

    point: Point
    seconds: float

    def steps(self, start: Point) -> tuple[Step, ...]:
        """The moves from a point; the last one ends at the other."""
        beats = round(self.seconds / BEAT_S)
        between = [(Move(start.towards(self.point, beat / beats)), Pause(BEAT_S)) for beat in range(1, beats)]
        return (*(step for pair in between for step in pair), Move(self.point))


@dataclass(frozen=True, slots=True)
class Scroll:
    """The wheel turns by a notch at a point, in screen pixels: 1 is up, -1 down."""

    point: Point
    notch: int


@dataclass(frozen=True, slots=True)
class KeyDown:
    """A key goes down."""

    key: str


@dataclass(frozen=True, slots=True)
class Release:
    """A button or a key comes up."""

    kind: Literal["button", "key"]
    name: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Time passes."""

    seconds: float


Step = Press | Move | Travel | Scroll | KeyDown | Release | Pause


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All steps of one action.

    Attributes:
        steps: in order.
        text: what it types.
    """

    steps: tuple[Step, ...]
    text: str = ""

    @property
    def points(self) -> list[Point]:
        """Where the pointer goes."""
        return [step.point for step in self.steps if isinstance(step, Press | Move | Travel | Scroll)]

    @property
    def pressed(self) -> set[tuple[str, str]]:
        """The buttons and keys that go down, each with its kind."""
        return {held for step in self.steps if (held := goes_down(step)) is not None}

    @property
    def combinations(self) -> Iterator[frozenset[str]]:
        """The keys that are down together after each key of the plan's that goes down."""
        down: list[str] = []
        for step in self.steps:
            if isinstance(step, KeyDown):
                down.append(step.key)
                yield frozenset(down)
            elif isinstance(step, Release) and step.kind == "key" and step.name in down:
                down.remove(step.name)


def goes_down(step: Step) -> tuple[str, str] | None:
    """The kind and the name of what a step presses."""
    if isinstance(step, Press):
        return "button", step.button
    return ("key", step.key) if isinstance(step, KeyDown) else None


class Hands:
    """What a tool may do. Each call adds steps; nothing is done before ``perform`` has returned.

    Points are screen pixels, as ``where`` gives them.

    Args:
        motion: the times.
        targets: where on the screen the action's targets are, by the field that names them.
    """

    def __init__(self, motion: Motion, targets: Mapping[str, Point] = MappingProxyType({})) -> None:
        self._motion = motion
        self._targets = targets
        self._steps: list[Step] = []
        self._text = ""
        self._down: set[tuple[str, str]] = set()

    @property
    def plan(self) -> Plan:
        """What was asked for so far."""
        return Plan(steps=tuple(self._steps), text=self._text)

    def where(self, field: str) -> Point:
        """The point on the screen that one of the action's targets stands for.

        Raises:
            KeyError: the field names no target; says which do.
        """
        if field not in self._targets:
            raise KeyError(f"expected a field that names a target, out of {sorted(self._targets)}, found {field!r}")
        return self._targets[field]

    def click(self, point: Point, button: str = "left") -> None:
        """Press and release a button: ``left``, ``middle`` or ``right``.

        Raises:
            ValueError: there is no such button.
        """
        self._arrive(_point(point))
        self.press(point, button)
        self.wait(self._motion.press_s)
        self.release(button)

    def double_click(self, point: Point, button: str = "left") -> None:
        """Click twice, as fast as it takes to be one double click."""
        self.click(point, button)
        self.wait(max(0.0, self._motion.double_click_s - self._motion.press_s))
        self.press(point, button)
        self.wait(self._motion.press_s)
        self.release(button)

    def press(self, point: Point, button: str = "left") -> None:
        """Press a button; it stays down until it is released, or for the longest that is allowed.

        Raises:
            ValueError: there is no such button, or this action holds it already.
        """
        self._goes_down("button", _button(button))
        self._add(Press(_point(point), _button(button)))

    def release(self, button: str = "left") -> None:
        """Release a button, where the pointer is; nothing happens where it is not held."""
        self._down.discard(("button", _button(button)))
        self._add(Release("button", _button(button)))

    def move(self, point: Point, seconds: float | None = None) -> None:
        """Move the pointer, at once or in so many seconds, 60 at most.

        Raises:
            ValueError: that is no time, or no point.
        """
        seconds = self._motion.travel_s if seconds is None else seconds
        if not 0 <= seconds <= MOST_TRAVEL_S:
            raise ValueError(f"expected 0 to {MOST_TRAVEL_S:g} seconds to travel, found {seconds}")
        self._add(Travel(_point(point), seconds) if seconds else Move(_point(point)))

    def drag(self, start: Point, end: Point, button: str = "left", seconds: float | None = None) -> None:
        """Press at one point, travel, release at the other."""
        self._arrive(start)
        self.press(start, button)
        self.wait(self._motion.press_s)
        self.move(end, self._motion.drag_s if seconds is None else seconds)
        self.wait(self._motion.press_s)
        self.release(button)

    def scroll(self, point: Point, notches: int) -> None:
        """Turn the wheel, up when positive.

        Raises:
            ValueError: no notches, or too many at once.
        """
        if not 1 <= abs(notches) <= MOST_NOTCHES:
            raise ValueError(f"expected 1 to {MOST_NOTCHES} notches up or down, found {notches}")
        for _ in range(abs(notches)):
            self._add(Scroll(_point(point), 1 if notches > 0 else -1))

    def key(self, key: str) -> None:
        """Press and release a key.

        Raises:
            ValueError: there is no such key.
        """
        self.hold(key, self._motion.press_s)

    def hold(self, key: str, seconds: float) -> None:
        """Hold a key down for a time."""
        self.key_down(key)
        self.wait(seconds)
        self.key_up(key)

    def chord(self, *keys: str) -> None:
        """Press keys one after the other and release them, the last one first."""
        for key in keys:
            self.key_down(key)
        self.wait(self._motion.press_s)
        for key in reversed(keys):
            self.key_up(key)

    def key_down(self, key: str) -> None:
        """Press a key; it stays down until it is released, or for the longest that is allowed.

        Raises:
            ValueError: there is no such key, or this action holds it already.
        """
        self._goes_down("key", _key(key))
        self._add(KeyDown(_key(key)))

    def key_up(self, key: str) -> None:
        """Release a key; nothing happens where it is not held."""
        self._down.discard(("key", _key(key)))
        self._add(Release("key", _key(key)))

    def type(self, text: str) -> None:
        """Type a text, a key at a time. Refused unless the bot's rules allow it.

        Raises:
            ValueError: it is too long, or holds what no key gives.
        """
        found = [strokes(character) for character in text]
        strange = sorted({character for character, keys in zip(text, found, strict=True) if keys is None})
        if strange or len(text) > MOST_TEXT:
            raise ValueError(f"expected at most {MOST_TEXT} characters that a key gives, found {strange or len(text)}")
        self._text += text
        for keys in found:
            self.chord(*(keys or ()))

    def wait(self, seconds: float) -> None:
        """Let time pass before what comes next.

        Raises:
            ValueError: that is no time.
        """
        if not 0 <= seconds <= 3600:
            raise ValueError(f"expected 0 to 3600 seconds, found {seconds}")
        self._add(Pause(float(seconds)))

    def _add(self, step: Step) -> None:
        if len(self._steps) >= MOST_STEPS:
            raise ValueError(f"expected at most {MOST_STEPS} steps of one action, found more; do less at once")
        self._steps.append(step)

    def _goes_down(self, kind: str, name: str) -> None:
        if (kind, name) in self._down:
            raise ValueError(f"expected a {kind} that is up, found {name!r}, which this action holds already")
        self._down.add((kind, name))

    def _arrive(self, point: Point) -> None:
        """Travel to where a button is to go down, if the motion says so."""
        if self._motion.travel_s:
            self.move(point)


def _button(button: str) -> str:
    if button not in BUTTONS:
        raise ValueError(f"expected a button out of {BUTTONS}, found {button!r}")
    return str.__str__(button)  # of an enumeration's member too


def _point(point: Point) -> Point:
    try:
        return Point(index(point.x), index(point.y))
    except (AttributeError, TypeError):
        raise ValueError(f"expected a point of whole screen pixels, found {point!r}") from None


def _key(key: str) -> str:
    problem = unknown_key(key)
    if problem:
        raise ValueError(problem)
    return str.__str__(key)
