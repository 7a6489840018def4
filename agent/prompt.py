"""The prompt, in blocks from what never changes to what changes most."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from agent.bot import Bot, Example
from agent.models.base import Prompt
from grammar.nodes import Scope
from grammar.shape import tool_shapes
from grammar.spelling import by_number, spell
from perception.geometry import Box
from perception.observation import Mark

MARKS = "Marks:\n"
UNKNOWN_GOAL = "win"  # says nothing about which mark; of nine wordings tried, the one that left most to the goal


class PromptBuilder:
    """Builds each tick's prompt for one bot.

    Attributes:
        stable: what every prompt begins with.
    """

    def __init__(self, bot: Bot) -> None:
        self._goal = bot.goal
        self._done = deque[str](maxlen=bot.history)
        self._shown: Sequence[str] = ()
        self.stable = _rules(bot) + "".join(_example(bot, example) for example in bot.examples)

    def remember(self, action: str, outcome: str) -> None:
        """Tell from now on that this was done, as one of the last that the bot wants to have told.

        Args:
            action: in its one spelling.
            outcome: what came of it, in a few words.
        """
        self._done.append(f"{action} {outcome}\n")

    def build(self, marks: Sequence[Mark], news: str = "") -> Prompt:
        """The prompt for this tick.

        Marks that stood in the prompt before with the same label stand where they stood, and the others after them:
        what a cache has read of the last prompt stays good up to the first mark that changed.

        Args:
            marks: what can be named now.
            news: what the model must know of the last tick: a refusal, a fault. Empty: nothing.
        """
        return Prompt(
            stable=self.stable,
            changing=self._history() + (f"Note: {_speakable(news)}\n" if news else "") + self._listed(marks),
            goal=_ask(self._goal),
            unknown_goal=_ask(UNKNOWN_GOAL),
        )

    def _history(self) -> str:
        return "Done:\n" + "".join(self._done) if self._done else ""

    def _listed(self, marks: Sequence[Mark]) -> str:
        lines = dict.fromkeys(_lines((mark.number, mark.label) for mark in marks))
        stayed = dict.fromkeys(line for line in self._shown if line in lines)
        self._shown = [*stayed, *(line for line in lines if line not in stayed)]
        return MARKS + "".join(self._shown)


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
    return MARKS + "".join(_lines(labels.items()))


def _lines(labels: Iterable[tuple[int, str | None]]) -> Iterable[str]:
    for number, label in labels:
        said = one_line(label or "")
        yield f"{number} {said}\n" if said else f"{number}\n"


def one_line(text: str) -> str:
    """A text that is read off the screen, on one line and without controls: it cannot write other lines of a prompt."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _speakable(text: str) -> str:
    """A text that has a UTF-8 form: it may quote a reply that has none."""
    return text.encode("utf-8", "replace").decode()


def _ask(goal: str) -> str:
    return f"Goal: {goal}\n"
