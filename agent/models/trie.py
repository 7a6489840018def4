"""A finite language as a tree of tokens: what must be evaluated to score it, and the scores.

All sentences share one tree with the prompt before them, so whatever they have in common is read once. A
token that the language forces tells nothing about the choice: it adds nothing to a score, and where no choice
follows it, it is not evaluated at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.models.gguf_file import Floats

Logits = Callable[[Floats, NDArray[np.intp]], Floats]
"""States ``(width, n)`` and tokens to the tokens' scores ``(len(tokens), n)``."""


class Tree:
    """Sequences of tokens with their common beginnings told once. Every node comes after its parent."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.children: list[dict[int, int]] = []
        self._first: dict[int, int] = {}

    def grow(self, tokens: Sequence[int], start: int = -1) -> list[int]:
        """Add a sequence after node ``start`` (-1: at the root), and give its nodes, one a token."""
        path = []
        for token in tokens:
            below = self._first if start < 0 else self.children[start]
            if token not in below:
                below[token] = len(self.tokens)
                self.tokens.append(token)
                self.parents.append(start)
                self.children.append({})
            start = below[token]
            path.append(start)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run through the network for one language.

    Attributes:
        tokens: the tokens, each after its parent.
        parents: index of each token's parent, -1 for the first.
        trunk: how many of them, from the start, form the one line that all others grow out of.
        scored: indices of the tokens after which there is a choice.
    """

    tokens: list[int]
    parents: list[int]
    trunk: int
    scored: list[int]

    @classmethod
    def line(cls, tokens: list[int]) -> Plan:
        """One sequence without branches, of which the last token is asked about."""
        last = len(tokens) - 1
        return cls(tokens=tokens, parents=list(range(-1, last)), trunk=last + 1, scored=[last])


def preference(scores: NDArray[np.float64], kinds: Sequence[str]) -> NDArray[np.float64]:
    """How much a goal speaks for each sentence, in nats.

    What kind of sentence (which tool) is weighed by the goal alone; which one of its kind (which target), by
    the difference that the goal makes to its share of the kind. A difference over everything would prefer the
    kinds that are so unlikely without a goal that any goal makes them likelier, such as waiting.

    Args:
        scores: log-probabilities, ``(endings, sentences)``; the goal first, then the unknown goal if there is one.
        kinds: the kind of each sentence.

    Returns:
        Shape ``(sentences,)``.
    """
    goal: NDArray[np.float64] = scores[0]
    if len(scores) == 1:
        return goal
    unknown: NDArray[np.float64] = scores[1]
    alike = np.array([[kind == other for other in kinds] for kind in kinds])
    kind_unknown = np.array([np.logaddexp.reduce(unknown[row]) for row in alike])
    difference: NDArray[np.float64] = unknown - kind_unknown
    return goal - difference


class Scorer:
    """Scores the sentences of a finite language after one or more prompts that begin alike.

    Args:
        prompt: tokens that all prompts begin with.
        endings: the rest of each prompt. Where one is empty, ``prompt`` is not.
        sentences: tokens of each sentence. No sentence may be the beginning of another: end them all with the
            token that ends an answer.
    """

    def __init__(
        self, prompt: Sequence[int], endings: Sequence[Sequence[int]], sentences: Sequence[Sequence[int]]
    ) -> None:
        self._tree = Tree()
        start = self._tree.grow(prompt)[-1] if prompt else -1
        heads = [self._tree.grow(ending, start)[-1] if ending else start for ending in endings]
        self._paths = [[[head, *self._tree.grow(s, head)] for s in sentences] for head in heads]
        on_path = {node for paths in self._paths for path in paths for node in path}
        self._scored = [node for node in sorted(on_path) if len(self._tree.children[node]) > 1]

    def plan(self) -> Plan:
        """Only what leads to a choice."""
        tree, needed = self._tree, [False] * len(self._tree.tokens)
        for node in self._scored:
            needed[node] = True
        for node in reversed(range(len(needed))):
            if needed[node] and tree.parents[node] >= 0:
                needed[tree.parents[node]] = True
        kept = [node for node, use in enumerate(needed) if use]
        place = {node: index for index, node in enumerate(kept)} | {-1: -1}
        parents = [place[tree.parents[node]] for node in kept]
        return Plan(
            tokens=[tree.tokens[node] for node in kept],
            parents=parents,
            trunk=min((p + 1 for i, p in enumerate(parents) if p != i - 1), default=len(parents)),
            scored=[place[node] for node in self._scored],
        )

    @property
    def first_choice(self) -> tuple[int, NDArray[np.intp]]:
        """Where the first prompt's sentences first part: its index in the plan's ``scored``, and what may follow."""
        of_first = {node for path in self._paths[0] for node in path}
        column = next(i for i, node in enumerate(self._scored) if node in of_first)
        return column, np.array(sorted(self._tree.children[self._scored[column]]), dtype=np.intp)

    def scores(self, states: Floats, logits: Logits) -> NDArray[np.float64]:
        """Log-probability of each sentence among the legal ones, in nats.

        Args:
            states: final states of the plan's ``scored`` tokens, ``(width, len(scored))``.
            logits: the network's head.

        Returns:
            Shape ``(endings, sentences)``.
        """
        gains = self._gains(states, logits)
        totals = [[sum(gains.get(node, 0.0) for node in path[1:]) for path in paths] for paths in self._paths]
        return np.array(totals)

    def _gains(self, states: Floats, logits: Logits) -> dict[int, float]:
        """What each node after a choice adds to its sentences: its share among its siblings."""
        children = [self._tree.children[node] for node in self._scored]
        tokens = sorted({token for below in children for token in below})
        table = logits(states, np.array(tokens, dtype=np.intp)).astype(np.float64)
        row = {token: index for index, token in enumerate(tokens)}
        gains: dict[int, float] = {}
        for column, below in enumerate(children):
            values = table[[row[token] for token in below], column]
            values -= np.logaddexp.reduce(values)
            gains.update(zip(below.values(), values.tolist(), strict=True))
        return gains
