"""One decision: ask the model, hold the reply to this tick's grammar, repair once, or do nothing and say so."""

from __future__ import annotations

from dataclasses import dataclass, replace

from actuation.tools import Tool
from agent.models.base import DecodeRequest, Model, Prompt, Reply
from agent.prompt import PromptBuilder
from grammar.boundary import Boundary, Fault
from grammar.tick import TickArtifacts
from perception.observation import Observation

MAX_ATTEMPTS = 2  # the answer, and one structured repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One reply and what was wrong with it. ``fault`` is None when nothing was."""

    reply: Reply
    fault: Fault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided. ``action`` is None when no attempt held: the tick is a no-op.

    ``prompt`` is what the first attempt was asked with.
    """

    action: Tool | None
    attempts: tuple[Attempt, ...]
    prompt: Prompt


class Decider:
    """Asks a model for one action a tick."""

    def __init__(self, model: Model, prompts: PromptBuilder, boundary: Boundary) -> None:
        self._model = model
        self._prompts = prompts
        self._boundary = boundary

    def prepare(self) -> None:
        """Let the model read ahead what every prompt begins with."""
        self._model.prepare(self._prompts.stable)

    def decide(self, seen: Observation, tick: TickArtifacts, news: str) -> Decision:
        """One action that is legal now, after at most one repair. Nothing is done before it is validated.

        Args:
            seen: what the tick saw.
            tick: what the model is held to.
            news: what the model must know of the last tick.
        """
        legal = replace(seen, marks=tuple(tick.marks.values()))
        attempts: list[Attempt] = []
        first = prompt = self._prompts.build(legal.marks, news)
        while len(attempts) < MAX_ATTEMPTS:
            reply = self._model.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts, seen=legal))
            verdict = self._boundary.judge(reply, tick)
            attempts.append(Attempt(reply=reply, fault=verdict.fault))
            if verdict.fault is None:
                assert isinstance(verdict.action, Tool)  # noqa: S101 - the tools are Tool classes
                return Decision(action=verdict.action, attempts=tuple(attempts), prompt=first)
            prompt = self._prompts.build(legal.marks, f"Your answer was refused: {verdict.fault.message}.")
        return Decision(action=None, attempts=tuple(attempts), prompt=first)
