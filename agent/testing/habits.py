"""What a dishonest model host does with a grammar, each habit a function; see ``agent.testing.hosts``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

FREE = "Sure! I would click the blue button, number 7."


class Draft:
    """What a host is about to answer.

    Attributes:
        text: a sentence of the grammar that it was given; ``FREE`` where it was given none.
        finish: ``stop`` or ``length``.
        aside: goes into the channel for reasoning.
        echo: the grammar that it says it used. None: it says nothing of one.
        before: what it answered last.
        constraints: the fields that carried constraints.
    """

    def __init__(self, text: str, echo: str | None, before: str, constraints: list[str]) -> None:
        self.text = text
        self.finish = "stop"
        self.aside = ""
        self.echo = echo
        self.before = before
        self.constraints = constraints


Habit = Callable[[Draft], None]


def _honours(draft: Draft) -> None:
    """Keeps to its grammar, and says so."""


def _ignores(draft: Draft) -> None:
    """Drops the grammar in silence."""
    draft.text, draft.echo = FREE, None


def _ignores_and_is_right(draft: Draft) -> None:
    """Drops the grammar, and happens to say something legal."""
    draft.echo = None


def _names_another_grammar(draft: Draft) -> None:
    """Says that it used a grammar that it was not given."""
    draft.echo = 'root ::= "{" "}"'


def _violates(draft: Draft) -> None:
    """Says that it kept to its grammar, and names what is not there."""
    draft.text = '{"tool":"click","target":"Start","mark":999}'


def _echoes_only(draft: Draft) -> None:
    """Says that it kept to its grammar, and talks freely."""
    draft.text = FREE


def _goes_free(draft: Draft) -> None:
    """Its engine dies half-way, and it goes on without."""
    draft.text = draft.text[: len(draft.text) // 2] + " and then I would click 7."


def _truncates(draft: Draft) -> None:
    """Stops at half of the answer, and says so."""
    draft.text, draft.finish = draft.text[: len(draft.text) // 2], "length"


def _truncates_in_silence(draft: Draft) -> None:
    """Stops at half of the answer, and says that it is whole."""
    draft.text, draft.finish = draft.text[: len(draft.text) // 2], "stop"


def _calls_it_cut(draft: Draft) -> None:
    """Says of a whole answer that it is cut."""
    draft.finish = "length"


def _reasons(draft: Draft) -> None:
    """Puts the answer into the channel for reasoning."""
    draft.text, draft.aside = "", draft.text


def _says_nothing(draft: Draft) -> None:
    """Answers nothing."""
    draft.text = ""


def _blanks(draft: Draft) -> None:
    """Answers with blanks."""
    draft.text = " \n\t "


def _repeats_itself(draft: Draft) -> None:
    """Answers as it did to the request before."""
    draft.text = draft.before


def _drops_two(draft: Draft) -> None:
    """Drops the grammar when it is sent two constraints."""
    if len(draft.constraints) > 1:
        _ignores(draft)


def _half_a_character(draft: Draft) -> None:
    """Ends in half a character."""
    draft.text += "\ud83d"


def _doubles_a_key(draft: Draft) -> None:
    """Says one key twice."""
    draft.text = '{"tool":"wait",' + draft.text[1:]


def _adds_a_key(draft: Draft) -> None:
    """Says more than it was asked."""
    draft.text = draft.text[:-1] + ',"why":"because"}'


def _talks_around(draft: Draft) -> None:
    """Wraps the answer into a fence and a friendly word."""
    draft.text = f"Sure!\n```json\n{draft.text}\n```"


def _says_done_inside(draft: Draft) -> None:
    """Says that all is done, as a text."""
    draft.text = '"All done, next wave."'


HABITS: Mapping[str, Habit] = MappingProxyType(
    {
        habit.__name__.lstrip("_"): habit
        for habit in (
            _honours,
            _ignores,
            _ignores_and_is_right,
            _names_another_grammar,
            _violates,
            _echoes_only,
            _goes_free,
            _truncates,
            _truncates_in_silence,
            _calls_it_cut,
            _reasons,
            _says_nothing,
            _blanks,
            _repeats_itself,
            _drops_two,
            _half_a_character,
            _doubles_a_key,
            _adds_a_key,
            _talks_around,
            _says_done_inside,
        )
    }
)
