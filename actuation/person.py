"""The person at the desk: a hand on the mouse or the keyboard that is not ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from actuation.settings import Rules
from perception.geometry import Box, Point


@dataclass(frozen=True, slots=True, kw_only=True)
class InputState:
    """The mouse and the keyboard at one moment, whoever holds them.

    Attributes:
        pointer: in screen pixels.
        screen: all of it.
        buttons: those that are down.
        keys: those that are down; one without a name of ours as ``keycode 94``.
        caps_lock: it is on.
    """

    pointer: Point
    screen: Box
    buttons: frozenset[str]
    keys: frozenset[str]
    caps_lock: bool = False


class Keyboard(Protocol):
    """Reads the mouse and the keyboard; from the executor's thread alone."""

    def read(self) -> InputState:
        """How they stand now."""
        ...

    def missing(self, key: str) -> str | None:
        """Why the key cannot be pressed here. None: it can."""
        ...

    def mistyped(self, text: str) -> str | None:
        """What this layout would type otherwise. None: nothing."""
        ...

    def keep_from_repeating(self, key: str) -> None:
        """A key that is held does not repeat by itself: that would go to whatever window has the keyboard then."""
        ...

    def let_repeat(self, key: str) -> None:
        """It may again, if it did before."""
        ...

    def close(self) -> None:
        """Let go of the display."""
        ...


class Person:
    """Tells a person's input from the agent's: what the display holds, and the agent's ledger does not, is theirs.

    So is a pointer that is not where the agent left it. A tap that is shorter than the time between two looks may be
    missed; a game that moves the pointer by itself looks like a person (``Rules.yield_to_person``).

    Attributes:
        says: what was noticed last, in words.
        keys: that were down when it was last looked at, whoever holds them.
        pointer: where it was last seen, or moved to by the agent. None: not known.

    Args:
        keyboard: the display's own state. None: it cannot be read, and nobody is ever noticed.
        rules: what to do about a person.
    """

    def __init__(self, keyboard: Keyboard | None, rules: Rules) -> None:
        self._keyboard = keyboard
        self._rules = rules
        self.pointer: Point | None = None
        self.keys: frozenset[str] = frozenset()
        self._last_s: float | None = None
        self.says = ""

    def we_moved_to(self, point: Point) -> None:
        """The agent itself moved the pointer."""
        self.pointer = point

    def notice(self, keys: frozenset[str], buttons: frozenset[str], now_s: float) -> str | None:
        """Look at the mouse and the keyboard.

        Args:
            keys: that the agent holds.
            buttons: that the agent holds.
            now_s: on the executor's clock.

        Returns:
            Why the agent is to stop for good. None: it is not.
        """
        if self._keyboard is None:
            return None
        found = self._keyboard.read()
        self.keys = found.keys
        if set(self._rules.panic) <= found.keys:
            return f"The panic keys {'+'.join(self._rules.panic)} were pressed."
        moved = self.pointer is not None and found.pointer != self.pointer
        self.pointer = found.pointer
        if moved and found.pointer in found.screen.corners:
            return "The pointer is in a corner of the screen."
        sign = _sign(found, keys, buttons, moved=moved)
        if sign and self._rules.yield_to_person:
            self._last_s = now_s
            again = "when told to" if self._rules.resume_after_s is None else f"{self._rules.resume_after_s:g} s later"
            self.says = f"{sign}; the agent goes on {again}"
        return None

    def at_desk(self, now_s: float) -> bool:
        """True while the agent keeps its hands off."""
        if self._last_s is None:
            return False
        rest = self._rules.resume_after_s
        return rest is None or now_s - self._last_s < rest

    def gone(self) -> None:
        """The person says that the agent may go on."""
        self._last_s = None


def _sign(found: InputState, keys: frozenset[str], buttons: frozenset[str], *, moved: bool) -> str:
    """What a person did; empty: nothing."""
    if moved:
        return "somebody moved the pointer"
    if found.buttons - buttons:
        return f"somebody holds the {min(found.buttons - buttons)} button"
    return f"somebody holds the key {min(found.keys - keys)!r}" if found.keys - keys else ""
