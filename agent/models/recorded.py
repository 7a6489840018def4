"""Replies from a recording, in order: the model of a replay."""

from __future__ import annotations

from collections.abc import Sequence

from agent.calls import NoAnswer, Unanswered
from agent.models.base import DecodeRequest, Dialect, Reply


class RecordedModel:
    """Gives recorded replies back, whatever it is asked. ``load`` puts in those of one tick."""

    name = "recorded"
    dialects: tuple[Dialect, ...] = ()

    def __init__(self) -> None:
        self._replies: list[Reply] = []
        self._unanswered: Unanswered | None = None

    def load(self, replies: Sequence[Reply], unanswered: Unanswered | None = None) -> None:
        """Take one tick's replies, or why there was none; what was left of the tick before is dropped."""
        self._replies = list(replies)
        self._unanswered = unanswered

    def prepare(self, stable: str) -> None:
        """Nothing to read."""

    def complete(self, request: DecodeRequest) -> Reply:
        """The next reply; an empty one when more are asked for than were recorded, which no boundary lets pass.

        Raises:
            NoAnswer: none was recorded.
        """
        if self._unanswered is not None:
            raise NoAnswer(self._unanswered)
        return self._replies.pop(0) if self._replies else Reply(text="", finish="stop")

    def close(self) -> None:
        """Nothing is held."""
