"""Replies from a recording, in order: the model of a replay."""

from __future__ import annotations

from collections.abc import Sequence

from agent.models.base import DecodeRequest, Dialect, Reply


class RecordedModel:
    """Gives recorded replies back, whatever it is asked. ``load`` puts in those of one tick."""

    name = "recorded"
    dialects: tuple[Dialect, ...] = ()

    def __init__(self) -> None:
        self._replies: list[Reply] = []

    def load(self, replies: Sequence[Reply]) -> None:
        """Take one tick's replies; what was left of the tick before is dropped."""
        self._replies = list(replies)

    def prepare(self, stable: str) -> None:
        """Nothing to read."""

    def complete(self, request: DecodeRequest) -> Reply:
        """The next reply; an empty one when more are asked for than were recorded, which no boundary lets pass."""
        return self._replies.pop(0) if self._replies else Reply(text="", finish="stop")

    def close(self) -> None:
        """Nothing is held."""
