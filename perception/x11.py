"""Windows on X11: found through the window manager's list, and read whole at every tick."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

from Xlib import X
from Xlib.protocol import request

from perception.errors import WindowClosed, WindowNotFound
from perception.geometry import Box, Point
from perception.observation import WindowState
from perception.window import WindowFacts, WindowQuery, newest
from perception.xserver import Server, numbers, text

ICONIC = 3  # WM_STATE value of a minimised window (ICCCM 4.1.3.1)
USUAL_DPI = 96.0  # the resolution at which a desktop's scale is 1
XFT_DPI = re.compile(r"^Xft\.dpi:[ \t]*(\d+(?:\.\d+)?)[ \t]*$", re.MULTILINE)
FROM_A_PAGER = 2  # who asks: a tool that the user directs (EWMH, source indication)
TO_MANAGER = X.SubstructureRedirectMask | X.SubstructureNotifyMask
# What the server is to tell of: of the screen, how all windows stand on it, and what the window manager says there.
OF_SCREEN = X.StructureNotifyMask | X.SubstructureNotifyMask | X.PropertyChangeMask
OF_WINDOW = X.StructureNotifyMask | X.PropertyChangeMask
JUST_CHANGING = "a window that is just changing"
OWN_FRAME = "its own frame, which is rolled up or just changing"


class X11Desktop:
    """The windows of an X display. Not thread-safe: one thread, or one X11Desktop each.

    Attributes:
        name: the display, as it was given.
        server: the connection.
        happenings: how many events the server has told of; what was read stays true until there are more.

    Args:
        name: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: nothing answers there; so does every method once the server is gone.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.server = Server(name)
        self.happenings = 0
        self._found: WeakSet[X11Window] = WeakSet()
        self.server.select(self.server.root, OF_SCREEN)

    @property
    def screen(self) -> Box:
        """The whole screen."""
        (size,) = self.server.answers(self.server.ask_geometry(self.server.root))
        return Box(0, 0, size.width, size.height)

    def titles(self) -> list[str]:
        """Titles of the windows that the window manager shows."""
        return [window.title for window in self._facts(self.managed())]

    def ids(self) -> set[int]:
        """Numbers of the windows that the window manager shows."""
        return set(self.managed())

    def find(self, wanted: str | WindowQuery, *, besides: Collection[int] = ()) -> X11Window:
        """The window that is meant; the newest where several fit.

        Args:
            wanted: the window's exact title, or a query.
            besides: numbers of windows that are not meant, since they were there before the game.

        Raises:
            WindowNotFound: there is none; names the nearest.
        """
        query = WindowQuery(title=wanted) if isinstance(wanted, str) else wanted
        listed = self._facts(self.managed())
        facts = newest(query, listed, besides)
        for window in listed:  # an X server gives the number of a window that is gone to a new one
            self.server.select(window.number, OF_WINDOW if window is facts else X.StructureNotifyMask)
        self.take_events()
        found = X11Window(self, facts, query, {window.number for window in listed})
        self._found.add(found)
        return found

    def window(self, number: int) -> X11Window:
        """The window with this number.

        Raises:
            WindowClosed: it is gone.
        """
        managed = self.managed()
        if number not in managed:
            raise WindowClosed.closed(f"window {number:#x}")
        (facts,) = self._facts([number])
        self.server.select(number, OF_WINDOW)
        self.take_events()
        found = X11Window(self, facts, WindowQuery(title=facts.title), set(managed))
        self._found.add(found)
        return found

    def taker(self, point: Point, client: int) -> str:
        """Title of another program's window than a client's that a click would reach; empty: that program's."""
        server, root = self.server, self.server.root
        (hit,) = server.answers(
            server.ask(request.TranslateCoords, src_wid=root, dst_wid=root, src_x=point.x, src_y=point.y)
        )
        frame = _number(hit.child) if hit else 0
        if not frame:
            return "the bare screen"
        taking = self._client_of(frame)
        return "" if self._same_program(taking, client) else self._facts([taking])[0].title

    def require_window_manager(self) -> None:
        """Return when a window manager runs here: without one there is no window list and no keyboard focus.

        Raises:
            WindowNotFound: none runs.
        """
        (check,) = self.server.answers(self.server.ask_property(self.server.root, "_NET_SUPPORTING_WM_CHECK"))
        if not numbers(check):
            raise WindowNotFound(
                "No window manager runs on this display.", "Start one there (openbox &), or leave it: --display own"
            )

    def close(self) -> None:
        """Close the connection; any number of times."""
        self.server.close()

    def managed(self) -> list[int]:
        """The windows that the window manager lists, oldest first."""
        (listed,) = self.server.answers(self.server.ask_property(self.server.root, "_NET_CLIENT_LIST"))
        return numbers(listed)

    def take_events(self) -> None:
        """Count what the server tells of, and tell the windows that were found which ones it has destroyed."""
        for event in self.server.events():
            self.happenings += 1
            if event.type == X.DestroyNotify:
                for window in self._found:
                    window.note_destroyed(event.window.id)

    def above(self, frame: int, stack: list[int], area: Box, client: int) -> tuple[str, ...]:
        """Titles of other programs' windows that lie over an area of a window.

        Args:
            frame: the window's frame.
            stack: all frames, lowest first.
            area: in screen pixels.
            client: the program's window in that frame.
        """
        over = self._covering(stack[stack.index(frame) + 1 :], area)
        programs = {other: self._client_of(other) for other in over}
        strangers = [window for window in programs.values() if not self._same_program(window, client)]
        return tuple(facts.title for facts in self._facts(strangers))

    def frames_of(self, window: int, parent: int, stack: Collection[int]) -> list[int] | None:
        """The windows from this one to the one directly under the root. None: it is just changing its frame."""
        around = [window]
        while around[-1] not in stack:
            if not parent or parent == self.server.root:
                return None
            (tree,) = self.server.answers(self.server.ask_tree(parent))
            around.append(parent)
            parent = _number(tree.parent) if tree else 0
        return around

    def places(self, windows: Sequence[int]) -> list[Box | None]:
        """The insides of windows, in screen pixels: one round trip. None: it is gone."""
        server = self.server
        asked = [(server.ask_geometry(window), self._ask_corner(window)) for window in windows]
        answers = server.answers(*[question for pair in asked for question in pair])
        return [
            Box(corner.x, corner.y, size.width, size.height) if size and corner else None
            for size, corner in zip(answers[::2], answers[1::2], strict=True)
        ]

    def _ask_corner(self, window: int) -> Any:
        return self.server.ask(request.TranslateCoords, src_wid=window, dst_wid=self.server.root, src_x=0, src_y=0)

    def _covering(self, windows: list[int], area: Box) -> list[int]:
        """Those that lie over part of an area; one that is not drawn takes the clicks all the same."""
        sizes = self.server.answers(*[self.server.ask_geometry(window) for window in windows])
        near = [
            w for w, size in zip(windows, sizes, strict=True) if size and not _outer(size).intersection(area).is_empty
        ]
        shown = self.server.answers(*[self.server.ask_attributes(window) for window in near])
        return [w for w, state in zip(near, shown, strict=True) if state and state.map_state == X.IsViewable]

    def _client_of(self, frame: int) -> int:
        """The program's window inside a frame; the frame itself where it holds none."""
        (tree,) = self.server.answers(self.server.ask_tree(frame))
        managed = set(self.managed())
        inside = [child.id for child in tree.children if child.id in managed] if tree else []
        return inside[0] if inside else frame

    def _same_program(self, one: int, other: int) -> bool:
        """True when one X client made both windows, as a game makes its own menus and dialogs."""
        mask = ~int(self.server.display.display.info.resource_id_mask)
        return one & mask == other & mask

    def _facts(self, windows: list[int]) -> list[WindowFacts]:
        """What windows are known by; one that is gone has a number for its title."""
        names = ("_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID")
        asked = [self.server.ask_property(window, name) for window in windows for name in names]
        answers = self.server.answers(*asked)
        return [_facts(w, *answers[i : i + 4]) for w, i in zip(windows, range(0, len(answers), 4), strict=True)]


class X11Window:
    """One window of an X display.

    Attributes:
        id: its number on the display.
        title: its title when it was found.
        display: the desktop's name, as it was given.

    Args:
        desktop: where it is.
        facts: what it is known by.
        query: how it was found.
        known: numbers of the windows that were there then; none of them can be its successor.
    """

    def __init__(self, desktop: X11Desktop, facts: WindowFacts, query: WindowQuery, known: set[int]) -> None:
        self.id = facts.number
        self.title = facts.title
        self.display = desktop.name
        self._desktop = desktop
        self._facts = facts
        self._query = query
        self._known = known
        self._destroyed = False
        self._state: WindowState | None = None
        self._stands_since = -1

    def state(self) -> WindowState:
        """How the window stands now: one round trip to the X server while nothing happens on the screen.

        Raises:
            WindowClosed: the window is gone; of kind ``replaced``, with its successor, when another one that fits the
                same query has appeared since.
            DisplayUnavailable: the X server is gone.
        """
        place = self.place()
        self._desktop.take_events()  # all that happened before that answer
        if self._state is None or place != self._state.client or self._desktop.happenings != self._stands_since:
            self._stands_since = self._desktop.happenings
            self._state = self._read() if place and not self._destroyed else None
            self._desktop.take_events()
        if self._state is None or self._destroyed:
            self._state = None
            raise self._closed()
        return self._state

    def place(self) -> Box | None:
        """Where its client area is now, in screen pixels: one round trip. None: it is gone."""
        return self._desktop.places([self.id])[0]

    def taker(self, point: Point) -> str:
        """Title of another program's window that a click at a screen pixel would reach; empty: this program's takes it.

        The server is asked, so that a window's shape counts, and one that lets clicks through takes none.
        """
        return self._desktop.taker(point, self.id)

    def activate(self) -> None:
        """Ask the window manager to raise the window and give it the keyboard."""
        self._ask_manager("_NET_ACTIVE_WINDOW", (FROM_A_PAGER, X.CurrentTime))

    def close(self) -> None:
        """Ask the window manager to close the window, as its frame's button does."""
        self._ask_manager("_NET_CLOSE_WINDOW", (X.CurrentTime, FROM_A_PAGER))

    def note_destroyed(self, number: int) -> None:
        """Take note that a window is gone: a later one of the same number is another one."""
        self._destroyed = self._destroyed or number == self.id
        self._known.discard(number)

    def _ask_manager(self, message: str, values: tuple[int, ...]) -> None:
        server = self._desktop.server
        server.send(server.root, self.id, message, values, TO_MANAGER)

    def _closed(self) -> WindowClosed:
        with contextlib.suppress(WindowNotFound):
            return WindowClosed.replaced(self.title, self._desktop.find(self._query, besides=self._known))
        return WindowClosed.closed(self.title)

    def _read(self) -> WindowState | None:
        """All that is known of it. None: the window is gone."""
        server, me, root = self._desktop.server, self.id, self._desktop.server.root
        shown, tree, wm_state, net_name, name, frames, active, resources = server.answers(
            server.ask_attributes(me),
            server.ask_tree(me),
            server.ask_property(me, "WM_STATE"),
            server.ask_property(me, "_NET_WM_NAME"),
            server.ask_property(me, "WM_NAME"),
            server.ask_tree(root),
            server.ask_property(root, "_NET_ACTIVE_WINDOW"),
            server.ask_property(root, "RESOURCE_MANAGER"),
        )
        stack = [frame.id for frame in frames.children]
        around = self._desktop.frames_of(me, _number(tree.parent), stack) if tree else None
        for frame in (around or [])[1:-1]:  # of which the screen does not tell
            server.select(frame, OF_WINDOW)
        screen, client, *frame_places = self._desktop.places([root, *(around or [me])])
        if shown is None or client is None or screen is None:
            return None
        drawn = shown.map_state == X.IsViewable
        return WindowState(
            client=client,
            screen=screen,
            minimised=not drawn or numbers(wm_state)[:1] == [ICONIC],
            foreground=numbers(active)[:1] == [me],
            covered_by=self._covered_by(client, around, frame_places, stack) if drawn else (),
            title=_title(me, net_name, name),
            class_name=self._facts.class_names[-1] if self._facts.class_names else "",
            pid=self._facts.pid,
            scale=scale_of(text(resources)),
        )

    def _covered_by(
        self, client: Box, around: list[int] | None, frame_places: list[Box | None], stack: list[int]
    ) -> tuple[str, ...]:
        """What keeps the client area from being seen whole: its frame, which a program may outgrow, or other windows.

        Where a frame is smaller than the client area, the rest of that area shows what lies behind.
        """
        if around is None or None in frame_places:
            return (JUST_CHANGING,)
        if not all(frame is not None and frame.holds(client) for frame in frame_places):
            return (OWN_FRAME,)
        return self._desktop.above(around[-1], stack, client, self.id)


def scale_of(resources: str) -> float:
    """The desktop's scale by its X resources; 1 where they do not say, or say nothing that could be meant."""
    found = XFT_DPI.search(resources)
    return (float(found[1]) / USUAL_DPI if found else 1.0) or 1.0


def process_name(pid: int | None) -> str:
    """File name of a process's program; empty where it cannot be told."""
    try:
        return (Path("/proc") / str(pid) / "exe").readlink().name.removesuffix(" (deleted)")
    except OSError:
        return ""


def _facts(window: int, net_name: Any, name: Any, class_names: Any, pid: Any) -> WindowFacts:
    process = next(iter(numbers(pid)), None)
    return WindowFacts(
        number=window,
        title=_title(window, net_name, name),
        class_names=tuple(part for part in text(class_names).split("\0") if part),
        process=process_name(process),
        pid=process,
    )


def _title(window: int, net_name: Any, name: Any) -> str:
    return text(net_name) or text(name) or f"window {window:#x}"


def _outer(size: Any) -> Box:
    """A window's place with its border."""
    border = 2 * size.border_width
    return Box(size.x, size.y, size.width + border, size.height + border)


def _number(window: Any) -> int:
    """A window's number; 0 for none."""
    return int(getattr(window, "id", window))
