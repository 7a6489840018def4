"""One model for several agents of a process."""

from __future__ import annotations

import threading

from agent.models.base import DecodeRequest, Dialect, Model, Reply


class SharedModel:
    """A model that several threads ask, one at a time. Whoever made the inner one closes it.

    What an agent waits while another is answered counts as the model's time.

    Args:
        model: what answers.
    """

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.dialects: tuple[Dialect, ...] = model.dialects
        self.caveat: str = getattr(model, "caveat", "")
        self._model = model
        self._asking = threading.Lock()

    def prepare(self, stable: str) -> None:
        """Let the inner one read ahead; agents of one bot share what it has read."""
        with self._asking:
            self._model.prepare(stable)
            self.dialects = self._model.dialects  # which it may know only now

    def complete(self, request: DecodeRequest) -> Reply:
        """Ask the inner one, when nobody else does."""
        with self._asking:
            return self._model.complete(request)

    def close(self) -> None:
        """Nothing: others may still ask."""
