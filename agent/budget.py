"""What a prompt costs in tokens, and a warning when that is more than it should be."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agent.models.base import Model, Prompt
from agent.prompt import MARKS

PROMPT_TOKENS = 1500  # of the 2,048 that the embedded model holds, with room for an answer
BYTES_PER_TOKEN = 3.0  # of a prompt full of labels and JSON, where a model does not count
DEAREST = 5  # marks that a warning names


@runtime_checkable
class CountsTokens(Protocol):
    """A model that can tell how many tokens a text is, without asking anybody."""

    def count_tokens(self, text: str) -> int:
        """How many. Called from the scheduler's thread, also while the model is at work."""
        ...


class TokenBudget:
    """Weighs each prompt, and warns once.

    Args:
        model: counts, if it can; otherwise three bytes are taken for a token.
        tokens: how many a prompt may take.
    """

    def __init__(self, model: Model, tokens: int) -> None:
        self._model = model
        self._tokens = tokens
        self._warned = False

    def warning(self, prompt: Prompt) -> str | None:
        """What is too dear, part by part and mark by mark. None: nothing is, or it was said already."""
        text = prompt.text
        if self._warned or len(text.encode("utf-8", "surrogatepass")) <= self._tokens:  # a token is a byte at least
            return None
        total = self._count(text)
        if total <= self._tokens:
            return None
        self._warned = True
        news, _, listed = prompt.changing.rpartition(MARKS)
        lines = listed.splitlines()
        costs = {line.partition(" ")[0]: self._count(f"{line}\n") for line in lines}
        dearest = sorted(costs, key=lambda number: -costs[number])[:DEAREST]
        said = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
        about = "" if isinstance(self._model, CountsTokens) else "about "
        return (
            f"The prompt takes {about}{total:,} tokens of the {self._tokens:,} that it may: rules and examples "
            f"{self._count(prompt.stable):,}, history and notes {self._count(news):,}, {len(lines)} marks "
            f"{sum(costs.values()):,}, goal {self._count(prompt.goal):,}. The dearest marks: "
            + ", ".join(f"{number} {_short(said[number])!r} {costs[number]:,}" for number in dearest)
            + ". Offer fewer marks, or say less of each, in candidates()."
        )

    def _count(self, text: str) -> int:
        if isinstance(self._model, CountsTokens):
            return self._model.count_tokens(text)
        return round(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def _short(label: str) -> str:
    return label if len(label) <= 24 else f"{label[:21]}..."
