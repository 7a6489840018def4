"""Time is a plug: the system's clock in a run, a manual one in tests and replays."""

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
