"""One decision: ask the model, hold the reply to this tick's grammar, repair once, or do nothing and say so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog
from pydantic import BaseModel

from actuation.tools import Tool
from agent.budget import PROMPT_TOKENS, TokenBudget
from agent.calls import Calls, NoAnswer, Unanswered
from agent.models.base import DecodeRequest, Prompt, Reply
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
    """What was decided.

    Attributes:
        action: None when no attempt held: the tick is a no-op.
        attempts: none when the model did not answer.
        prompt: what the first attempt was asked with.
        unanswered: why the model did not answer. None: it did.
        detail: of that, in words.
    """

    action: Tool | None
    attempts: tuple[Attempt[BaseModel], ...]
    prompt: Prompt
    unanswered: Unanswered | None = None
    detail: str = ""


class Decider:
    """Asks a model for one action a tick.

    Args:
        calls: of the model.
        prompts: what it is asked with.
        verifier: re-parses its answers.
        left_s: how long the tick may still take. None: as long as it likes.
        prompt_tokens: how many a prompt may take before there is a warning.

    Attributes:
        enforcement: whether the model's host held to the last canary. None: it was not asked.
        warnings: what the user should know, once each.
    """

    def __init__(
        self,
        calls: Calls,
        prompts: PromptBuilder,
        verifier: Verifier,
        left_s: Callable[[], float | None] = lambda: None,
        prompt_tokens: int = PROMPT_TOKENS,
    ) -> None:
        self._calls = calls
        self._model = calls.model
        self._left_s = left_s
        self._prompts = prompts
        self._verifier = verifier
        self._decisions = 0
        self._budget = TokenBudget(calls.model, prompt_tokens)
        self.enforcement: Enforcement | None = None
        self.warnings: list[str] = []

    def prepare(self) -> None:
        """Let the model read ahead what every prompt begins with, and see whether it is held to a grammar."""
        self._calls.prepare(self._prompts.stable)
        if caveat := getattr(self._model, "caveat", ""):
            self.enforcement = "unclaimed"
            self.warnings.append(caveat)
        with contextlib.suppress(NoAnswer):  # then it is not known whether it is; the ticks go on all the same
            self._probe(TYPICAL_GRAMMAR_BYTES)

    def _probe(self, size: int) -> None:
        """Ask under a grammar that has one sentence. A host that drops constraints in silence says something else."""
        if not self._model.dialects:
            return  # it takes no grammar, and says so
        canary = new_canary(size)
        prompt = Prompt(stable=self._prompts.stable, changing="", goal=CANARY_PROMPT, unknown_goal=CANARY_PROMPT)
        reply = self._calls.complete(DecodeRequest(prompt=prompt, artifacts=canary.artifacts))
        self.enforcement = canary.outcome(reply)
        if self.enforcement == "dropped":
            log.warning("The model's host drops its grammar.", model=self._model.name, said=reply.text[:80])

    def decide(self, seen: Observation, tick: TickLanguage, news: str) -> Decision:
        """One action that is legal now, after at most one repair. Nothing is done before it is validated.

        No repair is begun for which there is no time; the fault is news for the next tick.

        Args:
            seen: what the tick saw.
            tick: what the model is held to.
            news: what the model must know of the last tick.
        """
        self._decisions += 1
        legal = replace(seen, marks=tuple(tick.scope.marks.values()))
        first = self._prompts.build(legal.marks, news)
        if (warning := self._budget.warning(first)) is not None:
            log.warning(warning)
            self.warnings.append(warning)

        def complete(fault: Fault | None) -> Reply:
            said = f"Your answer was refused: {fault.message}." if fault else ""
            prompt = self._prompts.build(legal.marks, said) if fault else first
            return self._calls.complete(DecodeRequest(prompt=prompt, artifacts=tick.artifacts, seen=legal))

        def time_left() -> bool:
            left_s = self._left_s()
            return left_s is None or left_s >= self._calls.typical_s

        try:
            if self._decisions % PROBE_EVERY == 0:
                self._probe(len(tick.artifacts["lark"].text))
            outcome = ask(complete, tick, self._verifier, RETRIES, time_left)
        except NoAnswer as problem:
            return Decision(action=None, attempts=(), prompt=first, unanswered=problem.why, detail=problem.detail)
        action = outcome.value
        assert action is None or isinstance(action, Tool)  # noqa: S101 - the tools are Tool classes
        return Decision(action=action, attempts=outcome.attempts, prompt=first)
