"""The game's window, through X11: find it, and read how it stands, every tick."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Collection
from typing import Any

from Xlib import X, display, error
from Xlib.protocol import event as xevent

from perception import xauthority
from perception.errors import DisplayUnavailable, WindowClosed, WindowNotFound
from perception.geometry import Box
from perception.observation import WindowState

ICONIC = 3  # WM_STATE value of a minimised window (ICCCM 4.1.3.1)
GONE = (error.BadWindow, error.BadDrawable)
LOST = (error.ConnectionClosedError, OSError, TypeError)  # python3-xlib trips over the OSError that it would report
NO_DISPLAY_CURE = (
    "Set DISPLAY to a running X server, or unset it and let onmark start its own: onmark run BOT --display own."
)


class Desktop:
    """A connection to the X server. Not thread-safe: one thread, or one Desktop each.

    Attributes:
        lost: True once the server was found gone.

    Args:
        name: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: nothing answers there.
    """

    def __init__(self, name: str | None = None) -> None:
        xauthority.ensure_file()
        try:
            self._display = display.Display(name)
        except (error.DisplayError, error.XauthError, OSError) as problem:
            raise DisplayUnavailable(f"No X display answers ({problem}).", NO_DISPLAY_CURE) from problem
        self._root = self._display.screen().root
        self.lost = False

    @property
    def screen(self) -> Box:
        """The whole screen."""
        size = self._root.get_geometry()
        return Box(0, 0, size.width, size.height)

    def titles(self) -> list[str]:
        """Titles of the windows that the window manager shows."""
        return [self.title(window) for window in self._managed()]

    def ids(self) -> set[int]:
        """Numbers of the windows that the window manager shows."""
        return {window.id for window in self._managed()}

    def find(self, title: str, *, besides: Collection[int] = ()) -> Window:
        """The window with exactly this title; the newest where several have it.

        Args:
            title: the window's title.
            besides: numbers of windows that are not meant, since they were there before the game.

        Raises:
            WindowNotFound: there is none; names the nearest title.
        """
        matches = [w for w in self._managed() if w.id not in besides and self.title(w) == title]
        if matches:
            return Window(self, matches[-1], title)
        titles = self.titles()
        near = difflib.get_close_matches(title, titles, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Start the game, or correct the title in the bot."
        raise WindowNotFound(f"Expected a window titled {title!r}, found {titles or 'no windows'}.", hint)

    def title(self, window: Any) -> str:
        """A window's title; its number where it has none."""
        for name, kind in (("_NET_WM_NAME", "UTF8_STRING"), ("WM_NAME", "STRING")):
            value = self._property(window, name, kind)
            if value:
                return bytes(value).decode("utf-8", "replace") if not isinstance(value, str) else value
        return f"window {window.id:#x}"

    def require_window_manager(self) -> None:
        """Return when a window manager runs here: without one there is no window list and no keyboard focus.

        Raises:
            WindowNotFound: none runs.
        """
        if self._property(self._root, "_NET_SUPPORTING_WM_CHECK", "WINDOW") is None:
            raise WindowNotFound(
                "No window manager runs on this display.", "Start one there (openbox &), or leave it: --display own"
            )

    def close(self) -> None:
        """Close the connection; one that is lost is closed already."""
        if not self.lost:
            with contextlib.suppress(*LOST):
                self._display.close()

    def _managed(self) -> list[Any]:
        """The windows that the window manager lists, oldest first."""
        listed = self._property(self._root, "_NET_CLIENT_LIST", "WINDOW")
        return [self._display.create_resource_object("window", int(i)) for i in listed or ()]

    def _property(self, window: Any, name: str, kind: str) -> Any:
        """A property's value; None where the window lacks it or is gone."""
        try:
            found = window.get_full_property(
                self._display.get_atom(name),
                X.AnyPropertyType if kind == "STRING" else self._display.get_atom(kind),
            )
        except GONE:
            return None
        except LOST as problem:
            raise self._lost(problem) from problem
        return found.value if found is not None else None

    def _lost(self, problem: Exception) -> Exception:
        """What to raise for a broken connection, which is not asked again; a mistake of ours stays what it is."""
        if isinstance(problem, TypeError) and not isinstance(problem.__context__, OSError):
            return problem
        self.lost = True
        return DisplayUnavailable("The X display went away.", NO_DISPLAY_CURE)

    def _active(self, window: Any) -> bool:
        """True when the window gets the keyboard."""
        active = self._property(self._root, "_NET_ACTIVE_WINDOW", "WINDOW")
        return bool(active is not None and len(active) and int(active[0]) == window.id)

    def _above(self, window: Any, area: Box) -> tuple[str, ...]:
        """Titles of drawn windows of other programs that lie over an area of this window."""
        frame = self._top_level(window)
        stack = self._root.query_tree().children
        ids = [child.id for child in stack]
        if frame.id not in ids:
            return ("a window that is just changing",)
        above = stack[ids.index(frame.id) + 1 :]
        return tuple(
            self.title(self._client_of(other))
            for other in above
            if self._covers(other, area) and not self._same_program(other, window)
        )

    def _same_program(self, one: Any, other: Any) -> bool:
        """True when one X client made both windows, as a game makes its own menus and dialogs."""
        mask = ~int(self._display.display.info.resource_id_mask)
        return bool(self._client_of(one).id & mask == other.id & mask)

    def _covers(self, window: Any, area: Box) -> bool:
        """True when a window lies over part of an area; one that is not drawn takes the clicks all the same."""
        try:
            size = window.get_geometry()
            border = 2 * size.border_width
            if Box(size.x, size.y, size.width + border, size.height + border).intersection(area).is_empty:
                return False
            shown = window.get_attributes()
        except GONE:
            return False
        return bool(shown.map_state == X.IsViewable)

    def _top_level(self, window: Any) -> Any:
        """The ancestor directly under the root: the window manager's frame, or the window itself."""
        parent = window.query_tree().parent
        while parent and parent.id != self._root.id:
            window, parent = parent, parent.query_tree().parent
        return window

    def _client_of(self, frame: Any) -> Any:
        """The program's window inside a frame; the frame itself where it holds none."""
        managed = {window.id: window for window in self._managed()}
        try:
            inside = [child for child in frame.query_tree().children if child.id in managed]
        except GONE:
            return frame
        return inside[0] if inside else frame


class Window:
    """One window of the desktop."""

    def __init__(self, desktop: Desktop, handle: Any, title: str) -> None:
        self._desktop = desktop
        self._handle = handle
        self.title = title

    def state(self) -> WindowState:
        """How the window stands now: about ten round trips to the X server.

        Raises:
            WindowClosed: the window is gone.
            DisplayUnavailable: the X server is gone.
        """
        if self._desktop.lost:  # the X library would wait for an answer without end
            raise DisplayUnavailable("The X display went away.", NO_DISPLAY_CURE)
        try:
            return self._read()
        except GONE as problem:
            raise WindowClosed(
                f"The window {self.title!r} was closed.", "Start the game again, then the bot."
            ) from problem
        except LOST as problem:
            raise self._desktop._lost(problem) from problem

    def activate(self) -> None:
        """Ask the window manager to raise the window and give it the keyboard."""
        desktop, root = self._desktop, self._desktop._root
        message = xevent.ClientMessage(
            window=self._handle,
            client_type=desktop._display.get_atom("_NET_ACTIVE_WINDOW"),
            data=(32, [2, X.CurrentTime, 0, 0, 0]),
        )
        root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        desktop._display.sync()

    def _read(self) -> WindowState:
        size = self._handle.get_geometry()
        corner = self._handle.translate_coords(self._desktop._root, 0, 0)
        client = Box(-corner.x, -corner.y, size.width, size.height)
        drawn = self._handle.get_attributes().map_state == X.IsViewable
        wm_state = self._desktop._property(self._handle, "WM_STATE", "WM_STATE")
        iconic = wm_state is not None and int(wm_state[0]) == ICONIC
        return WindowState(
            client=client,
            screen=self._desktop.screen,
            minimised=iconic or not drawn,
            foreground=self._desktop._active(self._handle),
            covered_by=self._desktop._above(self._handle, client) if drawn else (),
        )
