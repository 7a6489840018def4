"""What is held, by whom, since when. The guardian is told before anything goes down and after it came up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from actuation.keys import modifiers_last


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A button or a key that is down.

    Attributes:
        kind: ``button`` or ``key``.
        name: which.
        owner: number of the action that holds it.
        since_s: when it went down, on the executor's clock.
    """

    kind: str
    name: str
    owner: int
    since_s: float


class Watcher(Protocol):
    """Keeps a copy of the ledger where this process's death does not reach."""

    def pressing(self, kind: str, name: str) -> None:
        """Told before something goes down."""
        ...

    def released(self, kind: str, name: str) -> None:
        """Told after something came up."""
        ...

    def beat(self) -> bool:
        """Told many times a second that this process lives. False: it was taken for dead, and all was released."""
        ...


class Ledger:
    """The buttons and keys that are down.

    Args:
        watcher: keeps a copy. None: nobody does.
    """

    def __init__(self, watcher: Watcher | None = None) -> None:
        self._watcher = watcher
        self._held: list[Held] = []

    def __len__(self) -> int:
        return len(self._held)

    @property
    def keys(self) -> frozenset[str]:
        """The keys that are down."""
        return frozenset(held.name for held in self._held if held.kind == "key")

    @property
    def buttons(self) -> frozenset[str]:
        """The buttons that are down."""
        return frozenset(held.name for held in self._held if held.kind == "button")

    def find(self, kind: str, name: str) -> Held | None:
        """The entry of a button or a key. None: it is up."""
        return next((held for held in self._held if (held.kind, held.name) == (kind, name)), None)

    def in_order_of_release(self) -> list[Held]:
        """All that is held: modifiers last, else what went down last first."""
        return modifiers_last(self._held, lambda held: held.name)

    def overdue(self, now_s: float, most_s: float) -> list[Held]:
        """What has been held for longer than is allowed."""
        return [held for held in self.in_order_of_release() if now_s - held.since_s > most_s]

    def down(self, held: Held) -> None:
        """Enter something, before it goes down."""
        if self._watcher is not None:
            self._watcher.pressing(held.kind, held.name)
        self._held.append(held)

    def up(self, held: Held) -> None:
        """Strike something, after it came up."""
        self._held.remove(held)
        if self._watcher is not None:
            self._watcher.released(held.kind, held.name)

    def beat(self) -> bool:
        """Say that this process lives, while something is held. False: it was taken for dead, and all was released."""
        return self._watcher is None or not self._held or self._watcher.beat()
