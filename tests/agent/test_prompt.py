"""The prompt: what stands where, what stays where it stood, and what it costs."""

from collections.abc import Callable

import pytest

from agent.budget import TokenBudget
from agent.models.base import Model
from agent.prompt import MARKS, PromptBuilder
from agent.testing import FixedReplies, marks
from tests.agent.bots import START, Buttons


class Remembering(Buttons):
    history = 2


def listed(text: str) -> list[str]:
    return text.rpartition(MARKS)[2].splitlines()


def test_marks_that_changed_stand_last_and_the_others_where_they_stood() -> None:
    builder = PromptBuilder(Buttons())
    assert listed(builder.build(marks({1: "a", 2: "b", 3: "c"})).changing) == ["1 a", "2 b", "3 c"]
    assert listed(builder.build(marks({1: "x", 2: "b", 3: "c", 4: "d"})).changing) == ["2 b", "3 c", "1 x", "4 d"]
    assert listed(builder.build(marks({1: "x", 2: "b", 4: "d"})).changing) == ["2 b", "1 x", "4 d"]
    assert listed(builder.build(marks({1: "x", 2: "b", 3: "c", 4: "d"})).changing) == ["2 b", "1 x", "4 d", "3 c"]


def test_an_unchanged_screen_gives_the_same_prompt_to_the_last_byte() -> None:
    builder = PromptBuilder(Buttons())
    builder.build(marks({1: "a", 2: "b"}))
    first = builder.build(marks({1: "z", 2: "b"})).text
    assert builder.build(marks({1: "z", 2: "b"})).text == first


def test_the_last_actions_are_told_with_what_came_of_them_before_the_marks() -> None:
    builder = PromptBuilder(Remembering())
    assert "Done:" not in builder.build(marks({3: "Start"})).text
    for outcome in ("worked", "did nothing", "hit something else"):
        builder.remember(START, outcome)
    changing = builder.build(marks({3: "Start"}), "Hurry.").changing
    assert changing == f"Done:\n{START} did nothing\n{START} hit something else\nNote: Hurry.\n{MARKS}3 Start\n"


def test_a_bot_that_wants_no_history_told_has_none() -> None:
    builder = PromptBuilder(Buttons())
    builder.remember(START, "worked")
    assert "Done:" not in builder.build(marks({3: "Start"})).text


class Counting(FixedReplies):
    """Takes each word for a token."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_a_prompt_that_is_too_dear_is_told_once_with_the_dearest_marks() -> None:
    prompt = PromptBuilder(Buttons()).build(marks({1: "Start", 2: "a very long " * 12, 3: "two words"}))
    budget = TokenBudget(Counting([]), 60)
    said = budget.warning(prompt)
    assert said is not None
    total = len(prompt.text.split())
    assert said.startswith(f"The prompt takes {total} tokens of the 60 that it may: rules and examples ")
    assert (
        "3 marks 42, goal 4. The dearest marks: 2 'a very long a very lo...' 37, 3 'two words' 3, 1 'Start' 2" in said
    )
    assert budget.warning(prompt) is None


@pytest.mark.parametrize("model", [FixedReplies, Counting])
def test_a_prompt_that_is_cheap_enough_is_not_told(model: Callable[[list[str]], Model]) -> None:
    prompt = PromptBuilder(Buttons()).build(marks({1: "Start"}))
    assert TokenBudget(model([]), len(prompt.text)).warning(prompt) is None


def test_without_a_count_a_token_is_taken_for_three_bytes() -> None:
    prompt = PromptBuilder(Buttons()).build(marks(dict.fromkeys(range(1, 16), "x" * 200)))
    said = TokenBudget(FixedReplies([]), 1000).warning(prompt)
    assert said is not None
    assert "takes about 1," in said
    assert "15 marks 1,020" in said
