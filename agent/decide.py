"""One decision: ask the model, hold the reply to this tick's grammar, repair once, or do nothing and say so."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import BaseModel

from actuation.tools import Tool
from agent.models.base import DecodeRequest, Model, Prompt, Reply
from agent.prompt import PromptBuilder
from grammar.boundary import Attempt, Fault, ask
from grammar.engine import Verifier
from grammar.tick import TickLanguage
from perception.observation import Observation

RETRIES = 1  # one structured repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided. ``action`` is None when no attempt held: the tick is a no-op.

    ``prompt`` is what the first attempt was asked with.
    """

    action: Tool | None
    attempts: tuple[Attempt[BaseModel], ...]
    prompt: Prompt


class Decider:
    """Asks a model for one action a tick."""

    def __init__(self, model: Model, prompts: PromptBuilder, verifier: Verifier) -> None:
        self._model = model
        self._prompts = prompts
        self._verifier = verifier

    def prepare(self) -> None:
        """Let the model read ahead what every prompt begins with."""
        self._model.prepare(self._prompts.stable)

    def decide(self, seen: Observation, tick: TickLanguage, news: str) -> Decision:
        """One action that is legal now, after at most one repair. Nothing is done before it is validated.

        Args:
            seen: what the tick saw.
            tick: what the model is held to.
            news: what the model must know of the last tick.
        """
        legal = replace(seen, marks=tuple(tick.scope.marks.values()))
        first = self._prompts.build(legal.marks, news)

        def complete(fault: Fault | None) -> Reply:
            said = f"Your answer was refused: {fault.message}." if fault else ""
            prompt = self._prompts.build(legal.marks, said) if fault else first
            return self._model.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts, seen=legal))

        outcome = ask(complete, tick, self._verifier, RETRIES)
        action = outcome.value
        assert action is None or isinstance(action, Tool)  # noqa: S101 - the tools are Tool classes
        return Decision(action=action, attempts=outcome.attempts, prompt=first)
