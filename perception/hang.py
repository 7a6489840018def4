"""Does the program still answer? It is asked by the window manager's own question, and never waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from Xlib import X

from perception.xserver import Server, numbers

PING = "_NET_WM_PING"
PROTOCOLS = "WM_PROTOCOLS"
EVERY_NS = 1_000_000_000  # at most one ping a second
PATIENCE_NS = 2_000_000_000  # a busy game answers within this; window managers wait five to ten seconds


@dataclass(slots=True)
class _Sent:
    """The last ping.

    Attributes:
        at_ns: monotonic clock.
        answered: its pong has come.
    """

    at_ns: int
    answered: bool = False


class Pings:
    """Asks a window's program for a sign of life. One thread; close it, since it holds an X connection.

    Args:
        window: its number on the display.
        now_ns: monotonic clock.
        name: an X display such as ``:0``. None: what DISPLAY says.

    Raises:
        DisplayUnavailable: no X server answers; so does every method once it is gone.
    """

    def __init__(self, window: int, now_ns: Callable[[], int], name: str | None = None) -> None:
        self._window = window
        self._now_ns = now_ns
        self._server = Server(name)
        self._ping = self._server.atom(PING)
        self._sent: _Sent | None = None
        self._server.select(self._server.root, X.SubstructureNotifyMask)  # pongs are sent to the root's watchers

    def answers(self) -> bool | None:
        """Whether the program answers, as far as is known now. Call it as often as you like; it does not wait.

        Returns:
            False: a ping has gone unanswered for two seconds. True: none has, so far. None: the program does not
            say that it answers pings, or its window is gone.
        """
        if not self._supported():
            return None
        self._take_pongs()
        now = self._now_ns()
        if self._sent is None or (self._sent.answered and now - self._sent.at_ns >= EVERY_NS):
            self._send(now)
            return True
        return self._sent.answered or now - self._sent.at_ns < PATIENCE_NS

    @property
    def waiting(self) -> bool:
        """True while the last ping has no pong."""
        return self._sent is not None and not self._sent.answered

    def close(self) -> None:
        """Close the X connection."""
        self._server.close()

    def _supported(self) -> bool:
        (protocols,) = self._server.answers(self._server.ask_property(self._window, PROTOCOLS))
        return self._ping in numbers(protocols)

    def _take_pongs(self) -> None:
        for event in self._server.events():
            if event.type == X.ClientMessage and event.client_type == self._server.atom(PROTOCOLS):
                values = [int(value) for value in event.data[1]]
                if self._sent is not None and values[:1] == [self._ping] and values[2] == self._window:
                    self._sent.answered = True

    def _send(self, now: int) -> None:
        self._sent = _Sent(now)
        self._server.send(self._window, self._window, PROTOCOLS, (self._ping, X.CurrentTime, self._window))
