"""Windows, whatever the system: what is looked for, how one stands, and what happened to it between two looks."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, Protocol

from perception.errors import WindowNotFound
from perception.geometry import Box, Point
from perception.observation import WindowState

WindowChange = Literal[
    "moved",  # its client area is elsewhere
    "resized",  # by a pixel or more
    "rescaled",  # the desktop's scale changed
    "covered",  # another program's window came to lie over it
    "uncovered",
    "minimised",
    "restored",
    "clipped",  # a part of it left the screen
    "unclipped",
    "focus_lost",  # another window gets the keyboard
    "focus_gained",
]
"""What happened to a window, in one word that a program may go by."""


WORDS = {
    "title": "titled",
    "title_pattern": "with a title like",
    "class_name": "of class",
    "process": "of process",
    "pid": "of process number",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFacts:
    """What a window is known by.

    Attributes:
        number: the system's own number for it.
        title: what its frame says.
        class_names: its program's names for its kind: on X11 the instance and the class of WM_CLASS.
        process: file name of the program that made it. Empty: not known.
        pid: the program's process. None: not known.
    """

    number: int
    title: str
    class_names: tuple[str, ...] = ()
    process: str = ""
    pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuery:
    """Which window is meant: the one that fits all that is given.

    Attributes:
        title: its title, exactly.
        title_pattern: a regular expression that is found in its title.
        class_name: one of its class names, exactly.
        process: file name of its program, exactly.
        pid: its program's process.

    Raises:
        ValueError: nothing is given, an empty text is, or the pattern is no regular expression.
    """

    title: str | None = None
    title_pattern: str | None = None
    class_name: str | None = None
    process: str | None = None
    pid: int | None = None

    def __post_init__(self) -> None:
        given = self.given()
        if not given or "" in given.values():
            raise ValueError(f"expected a window's title, title_pattern, class_name, process or pid, found {given}")
        try:
            re.compile(self.title_pattern or "")
        except re.error as problem:
            raise ValueError(
                f"expected a regular expression as title_pattern, found {self.title_pattern!r}: {problem}"
            ) from problem

    def given(self) -> Mapping[str, str | int]:
        """What is given, by its name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def matches(self, window: WindowFacts) -> bool:
        """True when a window is the one that is meant."""
        return (
            self.title in (None, window.title)
            and (self.title_pattern is None or re.search(self.title_pattern, window.title) is not None)
            and (self.class_name is None or self.class_name in window.class_names)
            and self.process in (None, window.process)
            and self.pid in (None, window.pid)
        )

    def __str__(self) -> str:
        return " ".join(f"{WORDS[name]} {value!r}" for name, value in self.given().items())


class Window(Protocol):
    """One window of the desktop, used by the thread that opened the desktop.

    Attributes:
        id: the system's own number for it.
        title: its title when it was found.
        display: the X display that it is on, as its desktop was opened. None: what DISPLAY says, or not X.
    """

    @property
    def id(self) -> int: ...  # noqa: D102

    @property
    def display(self) -> str | None: ...  # noqa: D102

    @property
    def title(self) -> str: ...  # noqa: D102

    def state(self) -> WindowState:
        """How the window stands now. Called every tick, and before every action.

        Raises:
            WindowClosed: the window is gone; of kind ``replaced``, with its successor, when another one that fits the
                same query has appeared since.
            DisplayUnavailable: the desktop is gone.
        """
        ...

    def place(self) -> Box | None:
        """Where its client area is now, in screen pixels: less than ``state`` tells, and cheaper. None: it is gone."""
        ...

    def taker(self, point: Point) -> str:
        """Title of another program's window that a click at a screen pixel would reach; empty: this program's takes it.

        A window that lets clicks through takes none.
        """
        ...

    def activate(self) -> None:
        """Ask for the window to be raised and to get the keyboard."""
        ...

    def close(self) -> None:
        """Ask the program to close the window, as its frame's button does."""
        ...


class Desktop(Protocol):
    """The windows of a screen. Not thread-safe: one thread, or one desktop each."""

    @property
    def screen(self) -> Box:
        """The whole screen, all monitors, in screen pixels."""
        ...

    def titles(self) -> list[str]:
        """Titles of the windows that the desktop lists."""
        ...

    def ids(self) -> set[int]:
        """Numbers of the windows that the desktop lists."""
        ...

    def find(self, wanted: str | WindowQuery, *, besides: Collection[int] = ()) -> Window:
        """The window that is meant; the newest where several fit.

        Args:
            wanted: the window's exact title, or a query.
            besides: numbers of windows that are not meant, since they were there before the game.

        Raises:
            WindowNotFound: there is none; names the nearest.
        """
        ...

    def window(self, number: int) -> Window:
        """The window with this number.

        Raises:
            WindowClosed: it is gone.
        """
        ...

    def require_window_manager(self) -> None:
        """Return when something here lists windows and hands out the keyboard.

        Raises:
            WindowNotFound: nothing does.
        """
        ...

    def close(self) -> None:
        """Let go of the desktop; any number of times."""
        ...


def on_x11() -> bool:
    """True where windows are an X server's."""
    return sys.platform not in ("win32", "darwin")


def open_desktop(display: str | None = None) -> Desktop:
    """The desktop that this program runs on.

    Args:
        display: an X display such as ``:0``. None: what DISPLAY says, or not X.

    Raises:
        DisplayUnavailable: there is none.
    """
    if not on_x11():
        from perception.other_desktop import OtherDesktop

        return OtherDesktop()
    from perception.x11 import X11Desktop

    return X11Desktop(display)


def changes(before: WindowState, after: WindowState) -> frozenset[WindowChange]:
    """What happened to a window between two looks; empty when it stands as it stood.

    A window that is minimised is not uncovered by that.
    """
    one, two = before.client, after.client
    lay, lies = bool(before.covered_by), bool(after.covered_by)
    happened: dict[WindowChange, bool] = {
        "moved": (one.left, one.top) != (two.left, two.top),
        "resized": (one.width, one.height) != (two.width, two.height),
        "rescaled": before.scale != after.scale,
        "covered": lies and not lay,
        "uncovered": lay and not lies and not after.minimised,
        "minimised": after.minimised and not before.minimised,
        "restored": before.minimised and not after.minimised,
        "clipped": after.clipped and not before.clipped,
        "unclipped": before.clipped and not after.clipped,
        "focus_lost": before.foreground and not after.foreground,
        "focus_gained": after.foreground and not before.foreground,
    }
    return frozenset(change for change, did in happened.items() if did)


def newest(wanted: WindowQuery, listed: Sequence[WindowFacts], besides: Collection[int]) -> WindowFacts:
    """The window that is meant, out of those that are listed, oldest first.

    Raises:
        WindowNotFound: there is none; names the nearest.
    """
    matches = [window for window in listed if window.number not in besides and wanted.matches(window)]
    if not matches:
        raise not_found(wanted, listed)
    return matches[-1]


def not_found(wanted: WindowQuery, listed: Sequence[WindowFacts]) -> WindowNotFound:
    """What to raise when no window fits: says what there is of the kind that was asked for."""
    found: dict[str, list[str]] = {
        "title": [window.title for window in listed],
        "title_pattern": [window.title for window in listed],
        "class_name": [name for window in listed for name in dict.fromkeys(window.class_names)],
        "process": [window.process for window in listed if window.process],
        "pid": [str(window.pid) for window in listed if window.pid is not None],
    }
    asked = wanted.given()
    near = [n for name in asked for n in difflib.get_close_matches(str(asked[name]), found[name], n=1)]
    there = " and ".join(dict.fromkeys(str(found[name]) for name in asked if found[name]))
    hint = f"Did you mean {near[0]!r}?" if near else "Start the game, or correct the window in the bot."
    return WindowNotFound(f"Expected a window {wanted}, found {there or 'no windows'}.", hint)
