"""The prompt, in blocks from what never changes to what changes most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent.bot import Bot, Example
from agent.models.base import Prompt
from grammar.nodes import Scope
from grammar.shape import tool_shapes
from grammar.spelling import by_number, spell
from perception.geometry import Box
from perception.observation import Mark

UNKNOWN_GOAL = "win"  # says nothing about which mark; of nine wordings tried, the one that left most to the goal


class PromptBuilder:
    """Builds each tick's prompt for one bot.

    Attributes:
        stable: what every prompt begins with.
    """

    def __init__(self, bot: Bot) -> None:
        self._goal = bot.goal
        self.stable = _rules(bot) + "".join(_example(bot, example) for example in bot.examples)

    def build(self, marks: Sequence[Mark], news: str = "") -> Prompt:
        """The prompt for this tick.

        Args:
            marks: what can be named now.
            news: what the model must know of the last tick: a refusal, a fault. Empty: nothing.
        """
        return Prompt(
            stable=self.stable,
            changing=(f"Note: {news}\n" if news else "") + _marks({mark.number: mark.label for mark in marks}),
            goal=_ask(self._goal),
            unknown_goal=_ask(UNKNOWN_GOAL),
        )


def _rules(bot: Bot) -> str:
    """What can be done, from the tools' own docstrings."""
    tools = "".join(f"{shape.name}: {shape.doc}\n" for shape in tool_shapes(bot.tools).records)
    return f"Choose the action that reaches the goal.\n{tools}\n"


def _example(bot: Bot, example: Example) -> str:
    """A worked example, spelt exactly as an answer is."""
    nowhere = Box(0, 0, 0, 0)
    marks = by_number(Mark(number=n, box=nowhere, label=label) for n, label in example.marks.items())
    answer = spell(tool_shapes(bot.tools, label_first=bot.label_first), example.action, Scope(marks=marks))
    return _marks(example.marks) + _ask(example.goal) + answer + "\n\n"


def _marks(labels: Mapping[int, str | None]) -> str:
    """The marks, one a line."""
    return "Marks:\n" + "".join(_lines(labels.items()))


def _lines(labels: Iterable[tuple[int, str | None]]) -> Iterable[str]:
    for number, label in labels:
        said = one_line(label or "")
        yield f"{number} {said}\n" if said else f"{number}\n"


def one_line(text: str) -> str:
    """A text that is read off the screen, on one line and without controls: it cannot write other lines of a prompt."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _ask(goal: str) -> str:
    return f"Goal: {goal}\n"
