"""One decision: ask the model, hold the reply to this tick's grammar, repair once, or do nothing and say so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog
from pydantic import BaseModel

from actuation.tools import Tool
from agent.models.base import DecodeRequest, Model, Prompt, Reply
from agent.prompt import PromptBuilder
from grammar.boundary import Attempt, Fault, ask
from grammar.canary import PROMPT as CANARY_PROMPT
from grammar.canary import Enforcement, new_canary
from grammar.engine import Verifier
from grammar.tick import TickLanguage
from perception.observation import Observation

log = structlog.get_logger()

RETRIES = 1  # one structured repair
PROBE_EVERY = 1000  # decisions; eight minutes at 2 Hz
TYPICAL_GRAMMAR_BYTES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided. ``action`` is None when no attempt held: the tick is a no-op.

    ``prompt`` is what the first attempt was asked with.
    """

    action: Tool | None
    attempts: tuple[Attempt[BaseModel], ...]
    prompt: Prompt


class Decider:
    """Asks a model for one action a tick.

    Attributes:
        enforcement: whether the model's host held to the last canary. None: it was not asked.
    """

    def __init__(self, model: Model, prompts: PromptBuilder, verifier: Verifier) -> None:
        self._model = model
        self._prompts = prompts
        self._verifier = verifier
        self._decisions = 0
        self.enforcement: Enforcement | None = None

    def prepare(self) -> None:
        """Let the model read ahead what every prompt begins with, and see whether it is held to a grammar."""
        self._model.prepare(self._prompts.stable)
        self._probe(TYPICAL_GRAMMAR_BYTES)

    def _probe(self, size: int) -> None:
        """Ask under a grammar that has one sentence. A host that drops constraints in silence says something else."""
        if not self._model.dialects:
            return  # it takes no grammar, and says so
        canary = new_canary(size)
        prompt = Prompt(stable=self._prompts.stable, changing="", goal=CANARY_PROMPT, unknown_goal=CANARY_PROMPT)
        reply = self._model.complete(DecodeRequest(prompt=prompt, artifacts=canary.artifacts))
        self.enforcement = canary.outcome(reply)
        if self.enforcement == "dropped":
            log.warning("The model's host drops its grammar.", model=self._model.name, said=reply.text[:80])

    def decide(self, seen: Observation, tick: TickLanguage, news: str) -> Decision:
        """One action that is legal now, after at most one repair. Nothing is done before it is validated.

        Args:
            seen: what the tick saw.
            tick: what the model is held to.
            news: what the model must know of the last tick.
        """
        self._decisions += 1
        if self._decisions % PROBE_EVERY == 0:
            self._probe(len(tick.artifacts["lark"].text))
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
