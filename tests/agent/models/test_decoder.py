"""The forward pass against a slow one written apart, and every way of cutting the same work into pieces."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from agent.models import decoder as module
from agent.models.decoder import Decoder
from agent.models.gguf_file import ModelError
from agent.models.weights import Weights, read
from tests.agent.models import tiny_network as tiny

SEQUENCE = [7, 250, 31, 8, 8, 299, 4, 16, 77, 5, 120, 3]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    return read(tiny.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf", tiny.tensors()))


def fresh(weights: Weights, threads: int = 1) -> Decoder:
    return Decoder(weights, context=64, threads=threads)


def line(count: int) -> range:
    return range(-1, count - 1)


def test_same_numbers_as_the_plain_formula(weights: Weights) -> None:
    expected = tiny.logits(tiny.tensors(), SEQUENCE)
    decoder = fresh(weights)
    states = decoder.forward(SEQUENCE, 0, line(12), range(12))
    np.testing.assert_allclose(decoder.logits(states).T, expected, atol=2e-4)
    np.testing.assert_allclose(decoder.logits(states, [5, 299]).T, expected[:, [5, 299]], atol=2e-4)


def test_scores_too_large_for_an_exponential_do_no_harm(tmp_path: Path) -> None:
    given = tiny.tensors()
    for layer in range(tiny.LAYERS):
        given[f"blk.{layer}.attn_q.weight"] *= 300
    loud = fresh(read(tiny.write(tmp_path / "loud.gguf", given)))
    states = loud.forward(SEQUENCE, 0, line(12), range(12))
    np.testing.assert_allclose(loud.logits(states).T, tiny.logits(given, SEQUENCE), atol=2e-2)


@pytest.mark.parametrize("cuts", [[0, 1, 12], [0, 5, 12], [0, 11, 12], list(range(13)), [0, 2, 4, 12]])
def test_in_pieces_as_in_one(weights: Weights, cuts: list[int]) -> None:
    whole = fresh(weights).forward(SEQUENCE, 0, line(12), [11])
    decoder = fresh(weights)
    pieces = [
        decoder.forward(SEQUENCE[start:end], start, line(end - start), [end - start - 1])
        for start, end in pairwise(cuts)
    ]
    np.testing.assert_allclose(pieces[-1], whole, atol=1e-4)
    assert (decoder.passes, decoder.evaluated) == (len(cuts) - 1, 12)


def test_what_was_held_and_dropped_leaves_no_trace(weights: Weights) -> None:
    decoder = fresh(weights)
    decoder.forward([9] * 40, 0, line(40), [])
    decoder.forward(SEQUENCE[:6], 0, line(6), [])
    states = decoder.forward(SEQUENCE[6:], 6, line(6), [5])
    np.testing.assert_allclose(states, fresh(weights).forward(SEQUENCE, 0, line(12), [11]), atol=1e-4)


def test_each_branch_sees_its_own_path_only(weights: Weights) -> None:
    #        held: 7 250    then 31 -+- 8 --- 8
    #                                +- 299 -+- 4
    #                                        +- 16
    tokens, parents = [31, 8, 299, 8, 4, 16], [-1, 0, 0, 1, 2, 2]
    decoder = fresh(weights)
    decoder.forward([7, 250], 0, line(2), [])
    states = decoder.forward(tokens, 2, parents, [3, 4, 5])
    paths = [[7, 250, 31, 8, 8], [7, 250, 31, 299, 4], [7, 250, 31, 299, 16]]
    for column, path in enumerate(paths):
        alone = fresh(weights).forward(path, 0, line(5), [4])
        np.testing.assert_allclose(states[:, [column]], alone, atol=1e-4)


@pytest.mark.parametrize("count", [1, 2, 8, 9, 33])
def test_products_in_blocks_are_the_product(count: int) -> None:
    rng = np.random.default_rng(count)
    for rows in (64, 192, 96, 100):
        matrix = rng.standard_normal((rows, 48)).astype(np.float32)
        states = rng.standard_normal((48, count)).astype(np.float32)
        np.testing.assert_allclose(module._product(matrix, states), matrix @ states, atol=1e-4)


def test_more_than_the_cache_holds_is_refused(weights: Weights) -> None:
    decoder = fresh(weights)
    decoder.forward([1] * 60, 0, line(60), [])
    with pytest.raises(ModelError, match=r"at most 64 tokens .* found 65; shorten"):
        decoder.forward([1] * 5, 60, line(5), [4])
    assert Decoder(weights, context=9999, threads=1).context == tiny.CONTEXT


def test_threads_are_limited_in_a_pass_and_nowhere_else(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    inside: list[list[int]] = []
    attend = module._attend

    def spy(*args: Any) -> Any:
        inside.append(threads())
        return attend(*args)

    before = threads()
    monkeypatch.setattr(module, "_attend", spy)
    fresh(weights, threads=1).forward([1, 2], 0, line(2), [1])
    assert before
    assert inside == [[1] * len(before)] * tiny.LAYERS
    assert threads() == before
