"""The embedded model: a small network in this process, under this tick's grammar. No server, no compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.models.base import Artifact, Claim, DecodeRequest, Dialect, Prompt, Reply, Usage
from agent.models.decoder import Decoder
from agent.models.gguf_file import ModelError
from agent.models.tokens import Tokenizer
from agent.models.trie import Plan, Scorer, preference
from agent.models.weights import read
from grammar.engine import LLMatcher
from grammar.reply import Finish

_CHUNK = 256
_FEW = 512


class EmbeddedModel:
    """A llama-architecture GGUF file as a ``Model``.

    A finite language (``choices``) is scored whole in one pass, under the goal and under the unknown goal; what
    stands before a sentence's first comma is its kind (see ``trie.preference``). Any other (``lark``) is
    decoded greedily under llguidance's token masks, and what the grammar forces is never evaluated on its own.

    Same contract as every model: one thread, one call at a time.

    Args:
        path: the weights. ``agent.models.store`` finds the ones that come with Onmark.
        threads: threads of the linear algebra. None: all cores but one, which is the game's; at least one.
        context: most tokens of prompt and answer together.
        measure_mass: say of each answer how likely the model held what was legal; takes the whole vocabulary's scores,
            about 110 MB of memory and 10 ms a decision.

    Raises:
        ModelError: a file that is not read here.
    """

    dialects: tuple[Dialect, ...] = ("choices", "lark")

    def __init__(
        self, path: Path, threads: int | None = None, context: int = 2048, *, measure_mass: bool = False
    ) -> None:
        self.name = f"{path.stem} (embedded)"
        weights = read(path)
        self._tokens = Tokenizer(weights.vocabulary)
        self._decoder = Decoder(weights, context, threads or max(1, (os.cpu_count() or 1) - 1))
        self._held: list[int] = []
        self._measures_mass = measure_mass
        self._mass: float | None = None

    def prepare(self, stable: str) -> None:
        """Read the front of every prompt into the cache, so that the first tick need not."""
        front = [*self._opening(), *self._tokens.encode(stable, trusted=True)]
        if front:
            self._evaluate(Plan.line(front), self._reusable(front[:-1]))

    def complete(self, request: DecodeRequest) -> Reply:
        """Answer under the first of this model's dialects that the request supplies.

        Raises:
            ModelError: no dialect in common, no choices, a grammar that llguidance refuses or dies of, or
                more tokens than fit.
        """
        artifact = next((request.artifacts[d] for d in self.dialects if d in request.artifacts), None)
        if artifact is None:
            raise ModelError(f"expected an artifact in one of {list(self.dialects)}, found {sorted(request.artifacts)}")
        answer = self._choose if artifact.dialect == "choices" else self._decode
        self._mass = None
        return replace(answer(request, artifact), mass=self._mass)

    def count_tokens(self, text: str) -> int:
        """How many tokens a text is."""
        return len(self._tokens.encode(text, trusted=True))

    def close(self) -> None:
        """Forget what was read. The weights go with the object itself."""
        self._held = []

    def score(self, prompt: Prompt, sentences: Sequence[str]) -> tuple[NDArray[np.float64], Usage]:
        """How much the goal speaks for each sentence of a finite language, in nats.

        Without an unknown goal, or with the goal's own words for one, nothing is subtracted.

        Args:
            prompt: what to read.
            sentences: at least two, all different.

        Returns:
            Scores, shape ``(len(sentences),)``, and what they cost.
        """
        shared, goal, unknown = self._prompt(prompt)
        endings = [goal] if unknown in ([], goal) else [goal, unknown]
        ended = [[*self._tokens.encode(text), self._tokens.eos] for text in sentences]
        scorer = Scorer(shared, endings, ended)
        plan = scorer.plan()
        before, reused = self._spent(), self._reusable(plan.tokens[: min(plan.trunk, plan.scored[0])])
        states = self._evaluate(plan, reused)
        scores = scorer.scores(states, self._decoder.logits)
        column, legal = scorer.first_choice
        self._weigh(states[:, [column]], legal)
        kinds = [sentence.partition(",")[0] for sentence in sentences]
        return preference(scores, kinds), self._usage(before, len(shared) + len(goal), reused)

    def _choose(self, request: DecodeRequest, artifact: Artifact) -> Reply:
        """The best of a finite language; the first of equals."""
        sentences = artifact.choices
        if not sentences or len(set(sentences)) < len(sentences):
            raise ModelError(f"expected one or more different choices, found {list(sentences)[:5]}")
        if len(sentences) == 1:
            usage = Usage(prompt_tokens=len(self._whole(request.prompt)))
            best, margin = 0, None
        else:
            scores, usage = self.score(request.prompt, sentences)
            best = int(scores.argmax())
            margin = float(scores[best] - np.delete(scores, best).max())
        answer = self._tokens.encode(sentences[best])
        short = len(answer) <= request.max_tokens
        return Reply(
            text=sentences[best] if short else self._tokens.decode(answer[: request.max_tokens]),
            finish="stop" if short else "length",
            claim=Claim(dialect=artifact.dialect, digest=artifact.digest),
            usage=usage,
            margin=margin,
        )

    def _decode(self, request: DecodeRequest, artifact: Artifact) -> Reply:
        """Greedy under the grammar's token masks."""
        matcher = self._matcher(artifact)
        prompt = self._whole(request.prompt)
        before, reused = self._spent(), self._reusable(prompt[:-1])
        answer, finish = self._grow(prompt, matcher, request.max_tokens)
        return Reply(
            text=self._tokens.decode(answer),
            finish=finish,
            claim=Claim(dialect=artifact.dialect, digest=artifact.digest),
            usage=self._usage(before, len(prompt), reused),
        )

    def _grow(self, prompt: list[int], matcher: LLMatcher, limit: int) -> tuple[list[int], Finish]:
        """The answer's tokens, at most ``limit``, and how it ended."""
        answer = self._forced(matcher)
        while not matcher.is_stopped() and len(answer) < limit:
            token = self._best([*prompt, *answer], matcher)
            if token == self._tokens.eos:
                return answer, "stop"
            matcher.consume_token(token)
            answer += [token, *self._forced(matcher)]
        ended = matcher.is_stopped() and len(answer) <= limit
        return answer[:limit], "stop" if ended else "length"

    def _matcher(self, artifact: Artifact) -> LLMatcher:
        """The grammar at its first byte; never one that is dead already."""
        matcher = LLMatcher(self._tokens.engine, LLMatcher.grammar_from_lark(artifact.text), log_level=0)
        _alive(matcher)
        return matcher

    def _forced(self, matcher: LLMatcher) -> list[int]:
        """Consume what the grammar leaves no choice about."""
        _alive(matcher)
        forced = matcher.compute_ff_tokens()
        _alive(matcher)
        if forced:
            matcher.consume_tokens(forced)
            _alive(matcher)
        return forced

    def _best(self, sequence: list[int], matcher: LLMatcher) -> int:
        """The likeliest legal token after a sequence. The only legal one is not asked for."""
        token_mask = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        _alive(matcher)
        legal = np.flatnonzero(np.unpackbits(token_mask, bitorder="little"))
        if len(legal) == 1:
            return int(legal[0])
        states = self._evaluate(Plan.line(sequence), self._reusable(sequence[:-1]))
        self._weigh(states, legal)
        few = len(legal) <= _FEW
        logits = self._decoder.logits(states, legal if few else None)[:, 0]
        return int(legal[(logits if few else logits[legal]).argmax()])

    def _weigh(self, state: NDArray[np.float32], legal: NDArray[np.intp]) -> None:
        """Note the probability of what is legal after a state, ``(width, 1)``, if nothing was noted yet."""
        if self._measures_mass and self._mass is None:
            logits = self._decoder.logits(state)[:, 0].astype(np.float64)
            self._mass = float(np.exp(np.logaddexp.reduce(logits[legal]) - np.logaddexp.reduce(logits)))

    def _evaluate(self, plan: Plan, reused: int) -> NDArray[np.float32]:
        """Run a plan through the network after its first ``reused`` tokens; the states of what it scores.

        A long trunk goes in pieces, so that attention over it stays small in memory.
        """
        self._decoder.require(len(plan.tokens))
        self._held, start = plan.tokens[:reused], reused
        last = min(plan.trunk, plan.scored[0])
        while start + _CHUNK <= last:
            self._decoder.forward(plan.tokens[start : start + _CHUNK], start, range(-1, _CHUNK - 1), [])
            start += _CHUNK
        parents = [max(parent - start, -1) for parent in plan.parents[start:]]
        rows = [index - start for index in plan.scored]
        states = self._decoder.forward(plan.tokens[start:], start, parents, rows)
        self._held = plan.tokens[: plan.trunk]
        return states

    def _reusable(self, tokens: Sequence[int]) -> int:
        """How many of these the cache holds already, from the start."""
        pairs = zip(self._held, tokens, strict=False)
        shorter = min(len(self._held), len(tokens))
        return next((i for i, (held, token) in enumerate(pairs) if held != token), shorter)

    def _prompt(self, prompt: Prompt) -> tuple[list[int], list[int], list[int]]:
        """Tokens of the blocks: what comes before the goal, the goal, the unknown goal.

        Each block is cut into tokens on its own, so that one block's end never changes another's tokens.

        Raises:
            ModelError: there is nothing to read.
        """
        stable = self._tokens.encode(prompt.stable, trusted=True)
        shared = [*self._opening(), *stable, *self._tokens.encode(prompt.changing)]
        goal = self._tokens.encode(prompt.goal, trusted=True)
        if not shared and not goal:
            raise ModelError("expected a prompt, found an empty one; give at least a goal")
        return shared, goal, self._tokens.encode(prompt.unknown_goal, trusted=True)

    def _opening(self) -> list[int]:
        """What every prompt begins with, where the model was taught to expect something."""
        return [] if self._tokens.bos is None else [self._tokens.bos]

    def _whole(self, prompt: Prompt) -> list[int]:
        """Tokens of the whole prompt."""
        shared, goal, _ = self._prompt(prompt)
        return shared + goal

    def _spent(self) -> tuple[int, int]:
        """Passes and tokens so far."""
        return self._decoder.passes, self._decoder.evaluated

    def _usage(self, before: tuple[int, int], prompt: int, reused: int) -> Usage:
        """What has been spent since ``before``."""
        passes, evaluated = self._decoder.passes - before[0], self._decoder.evaluated - before[1]
        return Usage(
            prompt_tokens=prompt,
            reused_tokens=reused if passes else 0,
            evaluated_tokens=evaluated,
            forward_passes=passes,
        )


def _alive(matcher: LLMatcher) -> None:
    """A matcher that has died offers the end of the answer and nothing else, politely: ask it outright.

    Raises:
        ModelError: it is dead.
    """
    if matcher.is_error():
        first = (matcher.get_error().strip() or "no reason given").splitlines()[0]
        raise ModelError(f"expected a grammar that llguidance follows, found: {first}")
