"""Windows on Microsoft Windows and macOS, through PyWinCtl. None of this has run there yet.

It was written against PyWinCtl 0.4.1's source, and is tested against a stand-in for that package alone: what it asks
is known to exist, how it behaves on those systems is not.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Collection, Sequence
from typing import Any

from perception.errors import DisplayUnavailable, WindowClosed, WindowNotFound
from perception.geometry import Box, Point
from perception.observation import WindowState
from perception.window import WindowFacts, WindowQuery, newest


class OtherDesktop:
    """The windows of Microsoft Windows or macOS. Not tested on either: no such system was at hand.

    What is known to be worse than on X11: PyWinCtl does not tell a window's class; macOS does not tell which window
    lies over which, so that only the window in front is taken to cover, and each question there starts a program,
    which takes tenths of a second.

    Args:
        system: ``win32`` or ``darwin``.
        windows: the module ``pywinctl``. None: imported here.
        monitors: the module ``pymonctl``, which PyWinCtl brings. None: imported here.

    Raises:
        DisplayUnavailable: PyWinCtl is not installed, or finds no screen.
    """

    def __init__(self, system: str = sys.platform, windows: Any = None, monitors: Any = None) -> None:
        try:
            self.windows = windows or importlib.import_module("pywinctl")
            self._monitors = monitors or importlib.import_module("pymonctl")
        except ImportError as problem:
            raise DisplayUnavailable(f"Windows cannot be read here ({problem}).", "pip install pywinctl") from problem
        self.stacked = system == "win32"  # whether windows are listed by what lies over what

    @property
    def screen(self) -> Box:
        """The box round all monitors; its corner is negative where one is left of the primary one or above it."""
        return Box.around([_monitor_box(monitor) for monitor in self._monitors.getAllMonitorsDict().values()])

    def titles(self) -> list[str]:
        """Titles of the windows that the desktop lists."""
        return [window.title for window in self.listed()]

    def ids(self) -> set[int]:
        """Numbers of the windows that the desktop lists."""
        return {_number(window) for window in self.listed()}

    def find(self, wanted: str | WindowQuery, *, besides: Collection[int] = ()) -> OtherWindow:
        """The window that is meant; the topmost where several fit.

        Args:
            wanted: the window's exact title, or a query.
            besides: numbers of windows that are not meant, since they were there before the game.

        Raises:
            WindowNotFound: there is none; names the nearest.
        """
        query = WindowQuery(title=wanted) if isinstance(wanted, str) else wanted
        listed = self.listed()
        facts = [_facts(window, named=query.process is not None) for window in listed]
        found = newest(query, facts, besides)
        handle = listed[facts.index(found)]
        return OtherWindow(self, handle, found, query, {fact.number for fact in facts} - {found.number})

    def window(self, number: int) -> OtherWindow:
        """The window with this number.

        Raises:
            WindowClosed: it is gone.
        """
        listed = self.listed()
        handle = next((each for each in listed if _number(each) == number), None)
        if handle is None:
            raise WindowClosed.closed(f"window {number}")
        facts = _facts(handle, named=False)
        return OtherWindow(self, handle, facts, WindowQuery(title=facts.title), {_number(each) for each in listed})

    def require_window_manager(self) -> None:
        """These systems always list windows and hand out the keyboard."""

    def close(self) -> None:
        """Nothing is held."""

    def listed(self) -> list[Any]:
        """PyWinCtl's windows that have a title, topmost last; on Microsoft Windows without the parts of windows."""
        found = [window for window in self.windows.getAllWindows() if window.title]
        return [window for window in reversed(found) if not (self.stacked and window.getParent())]

    def covering(self, handle: Any, client: Box) -> tuple[str, ...]:
        """Titles of other programs' windows that lie over a window's client area, as far as the system tells."""
        over = self._over(handle)
        strangers = [other for other in over if other.getPID() != handle.getPID() and not other.isMinimized]
        parts = [(other, _box(other.rect).intersection(client)) for other in strangers]
        return tuple(other.title for other, part in parts if not part.is_empty and self._on_top(part, handle))

    def taker(self, point: Point, handle: Any) -> str:
        """Title of another program's window than a handle's that a click would reach; empty: that program's."""
        top = self.windows.getTopWindowAt(point.x, point.y)
        if top is None:
            return "the bare screen"
        return "" if top.getPID() == handle.getPID() else str(top.title)

    def scale(self, client: Box) -> float:
        """The scale of the monitor that shows the middle of an area."""
        for monitor in self._monitors.getAllMonitorsDict().values():
            if _monitor_box(monitor).contains(client.center):
                return float(monitor["scale"][0]) / 100
        return 1.0

    def _over(self, handle: Any) -> Sequence[Any]:
        """The windows above one, lowest first; on macOS the window in front."""
        if not self.stacked:
            front = self.windows.getActiveWindow()
            return [front] if front is not None else []
        listed = self.listed()
        return listed[listed.index(handle) + 1 :] if handle in listed else []

    def _on_top(self, part: Box, handle: Any) -> bool:
        """True when a click on the middle of an area goes to another program, where the system can be asked.

        Microsoft Windows lists windows that it hides ("cloaked") among those on top.
        """
        if not self.stacked:
            return True
        top = self.windows.getTopWindowAt(part.center.x, part.center.y)
        return top is not None and bool(top.getPID() != handle.getPID())


class OtherWindow:
    """One window on Microsoft Windows or macOS. Not tested on either.

    Attributes:
        id: the system's number for it; on macOS, which has none, one made of its program and title.
        title: its title when it was found.
        display: None: there is one alone.

    Args:
        desktop: where it is.
        handle: PyWinCtl's window.
        facts: what it is known by.
        query: how it was found.
        known: numbers of the other windows that were there then; none of them can be its successor.
    """

    def __init__(
        self, desktop: OtherDesktop, handle: Any, facts: WindowFacts, query: WindowQuery, known: set[int]
    ) -> None:
        self.id = facts.number
        self.title = facts.title
        self.display: str | None = None
        self._desktop = desktop
        self._handle = handle
        self._facts = facts
        self._query = query
        self._known = known

    def state(self) -> WindowState:
        """How the window stands now.

        Raises:
            WindowClosed: the window is gone; of kind ``replaced``, with its successor, when another one that fits the
                same query has appeared since.
        """
        try:
            state = self._read()
        except Exception:  # each system has errors of its own for a window that has just gone
            if self._alive():
                raise
            raise self._closed() from None
        if not self._alive():
            raise self._closed()
        return state

    def place(self) -> Box | None:
        """Where its client area is now, in screen pixels. None: it is gone."""
        return _box(self._handle.getClientFrame()) if self._alive() else None

    def taker(self, point: Point) -> str:
        """Title of another program's window that a click would reach, as far as the system tells."""
        return self._desktop.taker(point, self._handle)

    def activate(self) -> None:
        """Ask for the window to be raised and to get the keyboard."""
        self._handle.activate()

    def close(self) -> None:
        """Ask the program to close the window, as its frame's button does."""
        self._handle.close()

    def _alive(self) -> bool:
        """True while the window is the same one: a number may be given to another program's."""
        return bool(self._handle.isAlive) and self._handle.getPID() == self._facts.pid

    def _read(self) -> WindowState:
        client = _box(self._handle.getClientFrame())
        minimised = bool(self._handle.isMinimized) or not self._handle.visible
        return WindowState(
            client=client,
            screen=self._desktop.screen,
            minimised=minimised,
            foreground=bool(self._handle.isActive),
            covered_by=() if minimised else self._desktop.covering(self._handle, client),
            title=self._handle.title,
            pid=self._facts.pid,
            scale=self._desktop.scale(client),
        )

    def _closed(self) -> WindowClosed:
        with contextlib.suppress(WindowNotFound):
            return WindowClosed.replaced(self.title, self._desktop.find(self._query, besides=self._known))
        return WindowClosed.closed(self.title)


def _facts(handle: Any, *, named: bool) -> WindowFacts:
    """What a window is known by; its program's name, which is slow to get, where it is asked for."""
    process = handle.getAppName() if named else ""
    return WindowFacts(number=_number(handle), title=handle.title, process=process, pid=handle.getPID())


def _number(handle: Any) -> int:
    return hash(handle.getHandle())  # a number's hash is the number; macOS has the program's name and the title


def _box(rect: Any) -> Box:
    return Box.spanning(rect.left, rect.top, rect.right, rect.bottom)


def _monitor_box(monitor: Any) -> Box:
    place, size = monitor["position"], monitor["size"]
    return Box(place.x, place.y, size.width, size.height)
