"""Time is a plug: the system's clock in a run, a manual one in tests, and the pace that holds the ticks to it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

SECOND_NS = 1_000_000_000


class Clock(Protocol):
    """A monotonic clock that can wait."""

    def now_ns(self) -> int:
        """Nanoseconds since some fixed moment."""
        ...

    def sleep_until_ns(self, moment_ns: int) -> None:
        """Return at that moment, or at once when it has passed."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now_ns(self) -> int:
        """``time.monotonic_ns``."""
        return time.monotonic_ns()

    def sleep_until_ns(self, moment_ns: int) -> None:
        """Sleep, unless the moment has passed."""
        time.sleep(max(0, moment_ns - self.now_ns()) / SECOND_NS)

    def sleep(self, seconds: float) -> None:
        """``time.sleep``."""
        time.sleep(seconds)


@dataclass
class ManualClock:
    """A clock that moves only when told to; sleeping moves it at once.

    Attributes:
        slept_ns: length of each sleep, in order.
    """

    moment_ns: int = 0
    slept_ns: list[int] = field(default_factory=list)

    def now_ns(self) -> int:
        """The moment it was moved to."""
        return self.moment_ns

    def sleep_until_ns(self, moment_ns: int) -> None:
        """Move to that moment, and note how far it was."""
        if moment_ns > self.moment_ns:
            self.slept_ns.append(moment_ns - self.moment_ns)
            self.moment_ns = moment_ns

    def advance(self, seconds: float) -> None:
        """Move on."""
        self.moment_ns += round(seconds * SECOND_NS)


class Pace:
    """Deadlines at ``start + n / hz``. A slow tick borrows from no other: ticks that it overran are skipped.

    Args:
        clock: whose time.
        hz: ticks a second.

    Attributes:
        late: ticks that ended after their deadline.
        skipped: deadlines at which no tick began, because an earlier one was still running.
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

    def start(self) -> None:
        """Begin the first tick: all deadlines count from here."""
        self._start_ns = self._clock.now_ns()

    def wait(self) -> None:
        """End a tick: count it, and wait for the next deadline that has not passed."""
        self.count()
        self._clock.sleep_until_ns((self._start_ns or 0) + self._slot * self._period_ns)

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
