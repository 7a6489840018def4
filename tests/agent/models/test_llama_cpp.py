"""The embedded model beside llama.cpp, on the same weights: its tokens, its probabilities, its greedy words.

What llama.cpp says was asked once, by ``python -m tests.hosts.fixtures``. It rounds its states to 8 bits and ours does
not, so that probabilities are near each other and not the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.models import store
from agent.models.decoder import Decoder
from agent.models.tokens import Tokenizer
from agent.models.trie import Plan
from agent.models.weights import Weights, read

KEPT: dict[str, Any] = json.loads(Path(__file__).with_name("llama_cpp.json").read_text())
MOST_KL = 0.01  # nats; the most of any prompt is 0.006
CLEAR = 0.5  # nats: a choice that llama.cpp makes by more is ours too


@pytest.fixture(scope="module")
def weights() -> Weights:
    return read(store.locate(store.DEFAULT))


@pytest.fixture(scope="module")
def tokens(weights: Weights) -> Tokenizer:
    return Tokenizer(weights.vocabulary)


def logs(weights: Weights, said: list[int]) -> NDArray[np.float64]:
    """Logarithms of the next token's probabilities, ``(vocabulary,)``."""
    decoder = Decoder(weights, 256, 1)
    plan = Plan.line(said)
    logits = decoder.logits(decoder.forward(plan.tokens, 0, plan.parents, plan.scored))[:, 0].astype(np.float64)
    return np.asarray(logits - np.logaddexp.reduce(logits))


def test_it_is_about_these_weights() -> None:
    assert KEPT["weights_sha256"] == store.entry(store.DEFAULT).sha256
    assert len(KEPT["tokens"]) > 40


@pytest.mark.parametrize("text", KEPT["tokens"], ids=ascii)
def test_a_text_is_cut_into_the_same_tokens(text: str, tokens: Tokenizer) -> None:
    assert tokens.encode(text) == KEPT["tokens"][text]


@pytest.mark.parametrize("prompt", KEPT["next"], ids=ascii)
def test_the_next_token_is_as_likely(prompt: str, weights: Weights, tokens: Tokenizer) -> None:
    ours = logs(weights, tokens.encode(prompt))
    top = KEPT["next"][prompt]["top"]
    theirs = np.array(list(top.values()))
    assert divergence(theirs, ours[[int(token) for token in top]]) < MOST_KL


def divergence(theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> float:
    """Of ours from theirs, in nats, all tokens but the likeliest taken for one."""
    one, two = (np.append(np.exp(logs), 1 - np.exp(logs).sum()) for logs in (theirs, ours))
    return float((one * np.log(one / two)).sum())


@pytest.mark.parametrize("prompt", KEPT["next"], ids=ascii)
def test_greedy_words_are_the_same_wherever_the_choice_is_clear(
    prompt: str, weights: Weights, tokens: Tokenizer
) -> None:
    said, kept = tokens.encode(prompt), KEPT["next"][prompt]
    clear = 0
    for token, margin in zip(kept["greedy"], kept["margins"], strict=True):
        if margin > CLEAR:
            assert int(logs(weights, said).argmax()) == token
            clear += 1
        said = [*said, token]
    assert clear >= 5
