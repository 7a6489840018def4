"""A finite language as a tree: nothing evaluated twice, nothing evaluated that no choice follows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.models.trie import Plan, Scorer, Tree, preference

END = 99
Floats = NDArray[np.float32]
Sentences = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=2, max_size=8, unique_by=tuple)


def paths(plan: Plan) -> list[list[int]]:
    """Tokens from the root to each scored token."""
    found = []
    for index in plan.scored:
        path, node = [], index
        while node >= 0:
            path.append(plan.tokens[node])
            node = plan.parents[node]
        found.append(path[::-1])
    return found


def logits_of(path: list[int], tokens: NDArray[np.intp]) -> Floats:
    """A network of our own: any fixed numbers that depend on the whole path."""
    rng = np.random.default_rng(abs(hash(tuple(path))))
    return rng.standard_normal(END + 1).astype(np.float32)[tokens]


def score(scorer: Scorer) -> NDArray[np.float64]:
    seen = paths(scorer.plan())

    def logits(states: Floats, tokens: NDArray[np.intp]) -> Floats:
        return np.stack([logits_of(seen[int(column)], tokens) for column in states[0]], axis=1)

    return scorer.scores(np.arange(len(seen), dtype=np.float32)[None], logits)


def by_hand(prompt: list[int], sentence: list[int], language: list[list[int]]) -> float:
    """Each token's share among the tokens that the language allows there."""
    total = 0.0
    for at, token in enumerate(sentence):
        legal = sorted({other[at] for other in language if other[:at] == sentence[:at]})
        values = logits_of(prompt + sentence[:at], np.array(legal)).astype(np.float64)
        total += values[legal.index(token)] - np.logaddexp.reduce(values)
    return total


def test_a_tree_tells_common_beginnings_once() -> None:
    tree = Tree()
    assert tree.grow([1, 2, 3]) == [0, 1, 2]
    assert tree.grow([1, 2, 4]) == [0, 1, 3]
    assert tree.grow([5], 3) == [4]
    assert tree.tokens == [1, 2, 3, 4, 5]
    assert tree.parents == [-1, 0, 1, 1, 3]


def test_only_what_leads_to_a_choice_is_evaluated() -> None:
    #  prompt 1 2 | goal 3, other 4 | sentences 5 6 7 END, 5 8 9 END, 5 8 10 END
    plan = Scorer([1, 2], [[3], [4]], [[5, 6, 7, END], [5, 8, 9, END], [5, 8, 10, END]]).plan()
    assert plan.tokens == [1, 2, 3, 4, 5, 8, 5, 8]
    assert plan.parents == [-1, 0, 1, 1, 2, 4, 3, 6]
    assert plan.trunk == 2
    assert plan.scored == [4, 5, 6, 7]


def test_a_language_of_one_needs_nothing() -> None:
    plan = Scorer([1, 2], [[3]], [[5, 6, END]]).plan()
    assert (plan.tokens, plan.scored) == ([], [])


def test_what_the_endings_share_belongs_to_the_trunk() -> None:
    plan = Scorer([1], [[2, 3], [2, 4]], [[5, END], [6, END]]).plan()
    assert plan.tokens[: plan.trunk] == [1, 2]
    assert plan.parents == [-1, 0, 1, 1]


def test_an_ending_may_be_empty() -> None:
    plan = Scorer([1, 2], [[]], [[5, END], [6, END]]).plan()
    assert (plan.tokens, plan.scored, plan.trunk) == ([1, 2], [1], 2)


@given(language=Sentences)
def test_scores_are_shares_among_the_legal_tokens(language: list[list[int]]) -> None:
    ended = [[*sentence, END] for sentence in language]
    scores = score(Scorer([50, 51], [[60], [61, 62]], ended))
    assert scores.shape == (2, len(ended))
    np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1.0)
    for row, ending in enumerate(([60], [61, 62])):
        expected = [by_hand([50, 51, *ending], sentence, ended) for sentence in ended]
        assert scores[row] == pytest.approx(expected)


@given(language=Sentences)
def test_every_token_stands_after_its_parent_and_the_trunk_carries_all(language: list[list[int]]) -> None:
    plan = Scorer([50, 51], [[60], [61]], [[*sentence, END] for sentence in language]).plan()
    assert all(parent < index for index, parent in enumerate(plan.parents))
    assert plan.parents[: plan.trunk] == list(range(-1, plan.trunk - 1))
    assert all(parent >= plan.trunk - 1 for parent in plan.parents[plan.trunk :])
    assert END not in plan.tokens


def test_the_kind_is_weighed_by_the_goal_and_the_target_by_the_difference() -> None:
    #                 click a, click b, wait
    goal = np.log([0.50, 0.45, 0.05])
    unknown = np.log([0.90, 0.10, 1e-9])
    scores = preference(np.array([goal, unknown]), ["click", "click", "wait"])
    assert scores.argsort().tolist() == [2, 0, 1]
    assert scores - goal == pytest.approx([-np.log(0.9), -np.log(0.1), 0.0])


def test_one_kind_is_weighed_by_the_difference_alone() -> None:
    both = np.log([[0.6, 0.4], [0.7, 0.3]])
    assert preference(both, ["", ""]) == pytest.approx(both[0] - both[1])


def test_without_an_unknown_goal_the_goal_decides() -> None:
    assert preference(np.log([[0.6, 0.4]]), ["", "x"]) == pytest.approx(np.log([0.6, 0.4]))
