"""When the next tick begins: at a fixed rate, or when the screen has settled. Ticks never queue, burst or overlap."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent.clock import SECOND_NS, Clock
from perception.errors import NotObservable


class Pace(Protocol):
    """Says when ticks begin. Called from the scheduler's thread.

    Attributes:
        late: ticks that ended after their deadline.
        skipped: deadlines at which no tick began, because an earlier one was still running.
    """

    late: int
    skipped: int

    def start(self) -> None:
        """Begin the first tick, or the first after a pause."""
        ...

    def wait(self) -> None:
        """End a tick, and return when the next one is to begin."""
        ...

    def count(self) -> None:
        """End the last tick."""
        ...

    def left_s(self) -> float | None:
        """How long this tick may still take. None: as long as it likes."""
        ...


class RealTime:
    """Deadlines at ``start + n / hz``. A slow tick borrows from no other: ticks that it overran are skipped.

    Args:
        clock: whose time.
        hz: ticks a second.

    Attributes:
        began_late_ms: of each tick but the first, how long after its deadline it began.
    """

    def __init__(self, clock: Clock, hz: float) -> None:
        if not 0 < hz <= 1000:
            raise ValueError(f"expected between 0 and 1000 ticks a second, found {hz}")
        self._clock = clock
        self._period_ns = round(SECOND_NS / hz)
        self._start_ns: int | None = None
        self._slot = 0
        self.late = 0
        self.skipped = 0
        self.began_late_ms: array[float] = array("f")

    def start(self) -> None:
        """Begin a series of ticks: all deadlines count from here."""
        self._start_ns, self._slot = self._clock.now_ns(), 0

    def wait(self) -> None:
        """End a tick: count it, and wait for the next deadline that has not passed."""
        self.count()
        due_ns = (self._start_ns or 0) + self._slot * self._period_ns
        self._clock.sleep_until_ns(due_ns)
        self.began_late_ms.append((self._clock.now_ns() - due_ns) / 1e6)

    def count(self) -> None:
        """Count the tick that just ended as late or not, and the deadlines that it missed as skipped."""
        if self._start_ns is None:
            return
        elapsed = self._clock.now_ns() - self._start_ns
        next_slot = max(self._slot + 1, -(-elapsed // self._period_ns))
        missed = next_slot - self._slot - 1
        self.late += bool(missed)
        self.skipped += missed
        self._slot = next_slot

    def left_s(self) -> float | None:
        """Until the next tick is due; below 0 when that has passed."""
        if self._start_ns is None:
            return None
        due_ns = self._start_ns + (self._slot + 1) * self._period_ns
        return (due_ns - self._clock.now_ns()) / SECOND_NS


class LockStep:
    """For turn-based games: the next tick begins when the screen has settled after the last one.

    Args:
        clock: whose time.
        look: what is on the screen now, any array of pixels; may raise ``NotObservable``.
        still_s: how long the screen must stay the same.
        most_s: after so long it begins all the same.
    """

    POLL_S = 0.05

    def __init__(
        self, clock: Clock, look: Callable[[], NDArray[np.uint8]], *, still_s: float = 0.2, most_s: float = 5.0
    ) -> None:
        if not 0 < still_s <= most_s:
            raise ValueError(f"expected still_s above 0 and up to most_s, found {still_s} and {most_s}")
        self._clock = clock
        self._look = look
        self._still_ns = round(still_s * SECOND_NS)
        self._most_ns = round(most_s * SECOND_NS)
        self.late = 0
        self.skipped = 0

    def start(self) -> None:
        """Nothing to wait for."""

    def wait(self) -> None:
        """Return when nothing has changed for long enough."""
        began_ns = since_ns = self._clock.now_ns()
        shown = self._seen()
        while self._clock.now_ns() - since_ns < self._still_ns and self._clock.now_ns() - began_ns < self._most_ns:
            self._clock.sleep_until_ns(self._clock.now_ns() + round(self.POLL_S * SECOND_NS))
            now = self._seen()
            if now is None or shown is None or now.shape != shown.shape or not np.array_equal(now, shown):
                shown, since_ns = now, self._clock.now_ns()

    def count(self) -> None:
        """No tick is late."""

    def left_s(self) -> float | None:
        """A tick may take as long as it likes."""
        return None

    def _seen(self) -> NDArray[np.uint8] | None:
        try:
            return self._look()
        except NotObservable:
            return None
