"""Models without a language model: a bot's own script, and a uniform random choice. Both are held like any other."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from pydantic import BaseModel

from actuation.tools import Tool
from agent.errors import BotError
from agent.models.base import Claim, DecodeRequest, Dialect, Reply
from grammar.nodes import Scope
from grammar.shape import tool_shapes
from grammar.spelling import by_number, spell
from perception.observation import Observation


class ScriptedModel:
    """Plays what a function of the observation says.

    The action is spelt, and the spelling goes through the same verifier, validator and guards as any reply. It claims
    nothing: a script is not decoded under a grammar.

    Args:
        tools: the bot's tools.
        script: from an observation to an action on one of its marks.
        label_first: how the bot spells a mark.
    """

    name = "scripted"
    dialects: tuple[Dialect, ...] = ()

    def __init__(
        self, tools: Sequence[type[BaseModel]], script: Callable[[Observation], Tool], *, label_first: bool = True
    ) -> None:
        self._tools = tool_shapes(tools, label_first=label_first)
        self._script = script

    def prepare(self, stable: str) -> None:
        """Nothing to read."""

    def complete(self, request: DecodeRequest) -> Reply:
        """Spell what the script says.

        Raises:
            BotError: the script says what is no action of this tick.
        """
        if request.seen is None:
            raise ValueError("a scripted model needs the observation in its request")
        action, marks = self._script(request.seen), by_number(request.seen.marks)
        cells = {cell.name: cell for cell in request.seen.cells}
        try:
            text = spell(self._tools, action, Scope(marks=marks, cells=cells))
        except ValueError as problem:
            tools = [tool.type.__name__ for tool in self._tools.records if tool.type]
            raise BotError(
                f"Expected script() to return one of {tools} on one of the marks {list(marks)}, found {action!r}.",
                "Choose among seen.marks, and wait when nothing fits.",
            ) from problem
        return Reply(text=text, finish="stop")

    def close(self) -> None:
        """Nothing is held."""


class RandomModel:
    """Draws uniformly from the tick's language: what a model is worth that knows nothing. Repeatable by its seed."""

    name = "random"
    dialects: tuple[Dialect, ...] = ("choices",)

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a baseline, not a secret

    def prepare(self, stable: str) -> None:
        """Nothing to read."""

    def complete(self, request: DecodeRequest) -> Reply:
        """One sentence of the language.

        Raises:
            ValueError: the language is too large to be written out.
        """
        artifact = request.artifacts.get("choices")
        if artifact is None:
            raise ValueError("the random model needs a tick language that is small enough to write out")
        text = self._random.choice(artifact.choices)
        return Reply(text=text, finish="stop", claim=Claim(dialect="choices", digest=artifact.digest))

    def close(self) -> None:
        """Nothing is held."""
