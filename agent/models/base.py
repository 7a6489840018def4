"""The model stage's contract: one request in, one reply out."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from grammar.reply import Artifact, Claim, Dialect, Reply, Usage
from perception.observation import Observation

__all__ = [
    "Artifact",
    "Claim",
    "DecodeRequest",
    "Dialect",
    "Model",
    "ModelError",
    "ModelUnavailable",
    "Prompt",
    "Reply",
    "Usage",
]


class ModelError(Exception):
    """A model, its file, its host or a request is not what it should be: expected, found, and what to do."""


class ModelUnavailable(ModelError):
    """A model's host cannot be reached now, or has no time; it may come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt in blocks, from what never changes to what changes most, so that a cache can reuse the front.

    Attributes:
        stable: rules, tools and examples; the same bytes for a whole run.
        changing: what happened last, and this tick's marks, those that changed at the end.
        goal: the goal and the opening of the answer; always last.
        unknown_goal: the same words with the goal left unknown. A model that scores alternatives subtracts
            what it would have answered without knowing the goal.
    """

    stable: str
    changing: str
    goal: str
    unknown_goal: str

    @property
    def text(self) -> str:
        """The whole prompt."""
        return self.stable + self.changing + self.goal


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeRequest:
    """One completion.

    Attributes:
        prompt: what to read.
        artifacts: the same constraint in each dialect that the grammar could print it in. A host uses exactly
            one, the first of its own list that is here, and claims that one.
        max_tokens: answers longer than this are cut (``finish="length"``).
        seen: what the tick saw, for a model that looks at pixels, or a script. None: not given.
        cancelled: set when nobody waits for the answer any more: a model that can end its work early should look.
    """

    prompt: Prompt
    artifacts: Mapping[Dialect, Artifact]
    max_tokens: int = 512
    seen: Observation | None = None
    cancelled: threading.Event = field(default_factory=threading.Event, compare=False)


class Model(Protocol):
    """Decodes an answer under a constraint.

    Called from one thread, which in a run is not the scheduler's, once a tick and once more for a repair, never twice
    at the same time. It must return within the tick if the tick is to be on time; an answer that comes after the
    run's timeout is not heard, and until it has come nothing else is asked. While it raises ``ModelUnavailable``
    nothing is done, for as long as the run has patience. Any other exception that it raises is the run's end:
    everything is released and the report is printed.
    """

    name: str
    dialects: tuple[Dialect, ...]

    def prepare(self, stable: str) -> None:
        """Read ahead what every prompt of the run will begin with. Called once, before the first tick."""
        ...

    def complete(self, request: DecodeRequest) -> Reply:
        """Answer one request under one of its artifacts."""
        ...

    def close(self) -> None:
        """Give back what the model holds. Called once, at the end of the run."""
        ...
