"""A connection to an X server that sends many questions at once and then waits for all answers.

One question at a time costs a round trip each; sent together they cost one, and the server answers them in one go,
so that they tell of one moment.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from Xlib import X, display, error
from Xlib.protocol import event as xevent
from Xlib.protocol import request, rq

from perception import xauthority
from perception.errors import DisplayUnavailable

GONE = (error.BadWindow, error.BadDrawable)
LOST = (error.ConnectionClosedError, OSError, TypeError)  # python3-xlib trips over the OSError that it would report
PROPERTY_WORDS = 1 << 16  # how much of a property is asked for, in units of four bytes: all of it
_kept: dict[str, type] = vars(display._BaseDisplay)["resource_classes"]  # of all connections
_plain = dict(_kept)
_opening = threading.Lock()
NO_DISPLAY_CURE = (
    "Set DISPLAY to a running X server, or unset it and let onmark start its own: onmark run BOT --display own."
)


class Server:
    """A connection to the X server. Not thread-safe: one thread, or one connection each.

    A window is given by its number. An answer about a window that is gone is None.

    Attributes:
        display: the X library's connection.
        root: number of the root window, which is the whole screen.
        lost: True once the server was found gone; the X library would wait for it without end.

    Args:
        name: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: nothing answers there; so does every method once the server is gone.
    """

    def __init__(self, name: str | None = None) -> None:
        xauthority.ensure_file()
        try:
            self.display = _open(name)
        except (error.DisplayError, error.XauthError, OSError) as problem:
            raise DisplayUnavailable(f"No X display answers ({problem}).", NO_DISPLAY_CURE) from problem
        self.root: int = self.display.screen().root.id
        self.lost = False

    def atom(self, name: str) -> int:
        """The number that stands for a name on this server."""
        with self.guarded():
            return int(self.display.get_atom(name))

    def ask(self, kind: type[rq.ReplyRequest], **fields: object) -> Any:
        """A question that waits to be sent; see ``answers``."""
        self._require()
        return kind(display=self.display.display, defer=True, **fields)

    def ask_geometry(self, window: int) -> Any:
        """Ask for a window's place in its parent, size, border and depth."""
        return self.ask(request.GetGeometry, drawable=window)

    def ask_attributes(self, window: int) -> Any:
        """Ask whether a window is drawn, among other things."""
        return self.ask(request.GetWindowAttributes, window=window)

    def ask_tree(self, window: int) -> Any:
        """Ask for a window's parent and its children, lowest first."""
        return self.ask(request.QueryTree, window=window)

    def ask_property(self, window: int, name: str) -> Any:
        """Ask for a property; see ``numbers`` and ``text``."""
        fields = {"property": self.atom(name), "type": X.AnyPropertyType, "long_offset": 0, "delete": False}
        return self.ask(request.GetProperty, window=window, long_length=PROPERTY_WORDS, **fields)

    def answers(self, *questions: Any) -> list[Any]:
        """Send what was asked, and wait for all of it."""
        with self.guarded():
            return [_answer(question) for question in questions]

    def events(self) -> Iterator[Any]:
        """The events that have come; does not wait for more."""
        with self.guarded():
            for _ in range(self.display.pending_events()):
                yield self.display.next_event()

    def select(self, window: int, mask: int) -> None:
        """Have the server tell of a window's events."""
        with self.guarded():
            target = self.display.create_resource_object("window", window)
            target.change_attributes(onerror=error.CatchError(*GONE), event_mask=mask)

    def send(self, to: int, about: int, kind: str, values: tuple[int, ...], mask: int = 0) -> None:
        """Send a client message.

        Args:
            to: the window whose owner, or whose watchers, get it.
            about: the window that it concerns.
            kind: the message's name.
            values: at most five numbers.
            mask: who gets it, by the events that they selected. 0: the program that made the window.
        """
        data = (32, [*values, 0, 0, 0, 0, 0][:5])
        message = xevent.ClientMessage(window=about, client_type=self.atom(kind), data=data)
        with self.guarded():
            target = self.display.create_resource_object("window", to)
            target.send_event(message, event_mask=mask, onerror=error.CatchError(*GONE))
            self.display.flush()

    def close(self) -> None:
        """Close the connection; one that is lost is closed already."""
        if not self.lost:
            self.lost = True
            with contextlib.suppress(*LOST):
                self.display.close()

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Around whatever talks to the server: a broken connection is not asked again."""
        self._require()
        try:
            yield
        except LOST as problem:
            if isinstance(problem, TypeError) and not isinstance(problem.__context__, OSError):
                raise  # a mistake of ours
            self.lost = True
            self.display.display.socket.close()  # which the X library leaves open
            raise DisplayUnavailable("The X display went away.", NO_DISPLAY_CURE) from problem

    def _require(self) -> None:
        if self.lost:
            raise DisplayUnavailable("The X display went away.", NO_DISPLAY_CURE)


def _open(name: str | None) -> display.Display:
    """A connection of the X library, with resource classes of its own.

    The library makes each connection's on top of those of the one before, and keeps them all for good: 8 KB each.
    """
    with _opening:
        try:
            connection = display.Display(name)
            vars(connection.display)["resource_classes"] = dict(_kept)
        finally:
            _kept.update(_plain)
    return connection


def numbers(answer: Any) -> list[int]:
    """A property's numbers: windows, atoms, counts. Empty where the window lacks it or is gone."""
    if answer is None or not answer.property_type or answer.value[0] != 32:
        return []
    return [int(value) for value in answer.value[1]]


def text(answer: Any) -> str:
    """A property's text; empty where the window lacks it or is gone."""
    if answer is None or not answer.property_type or answer.value[0] != 8:
        return ""
    value = answer.value[1]
    return value if isinstance(value, str) else bytes(value).decode("latin-1")  # what X calls STRING


def _answer(question: Any) -> Any:
    try:
        question.reply()
    except GONE:
        return None
    return question
