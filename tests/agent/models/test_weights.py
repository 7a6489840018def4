"""Reading GGUF files: what is read is right, and what would be read wrongly is refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader

from agent.models import store, weights
from agent.models.gguf_file import ModelError, QuickReader
from agent.models.weights import read
from tests.agent.models import tiny_network as tiny


def refused(path: Path, words: str) -> None:
    with pytest.raises(ModelError, match=f"expected .*{words}"):
        read(path)


def test_the_quick_reader_reads_what_the_package_reads(tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", tiny.tensors())
    quick, plain = QuickReader(path), GGUFReader(path)
    assert {k: f.contents() for k, f in quick.fields.items()} == {k: f.contents() for k, f in plain.fields.items()}
    assert quick.data_offset == plain.data_offset
    for left, right in zip(quick.tensors, plain.tensors, strict=True):
        assert left.name == right.name
        assert np.array_equal(left.data, right.data)


def test_quantised_and_plain_tensors_may_stand_side_by_side(tmp_path: Path) -> None:
    given = tiny.tensors()
    some = frozenset({"blk.0.attn_q.weight", "blk.1.ffn_down.weight", "token_embd.weight"})
    plain = read(tiny.write(tmp_path / "a.gguf", given))
    mixed = read(tiny.write(tmp_path / "b.gguf", given, quantised=some))
    for left, right in zip(plain.blocks, mixed.blocks, strict=True):
        np.testing.assert_allclose(left.qkv, right.qkv, atol=0.01)
        np.testing.assert_allclose(left.down, right.down, atol=0.01)
    rows = mixed.embedding.rows([3, 299, 3])
    assert rows.shape == (3, tiny.WIDTH)
    np.testing.assert_allclose(rows, given["token_embd.weight"][[3, 299, 3]], atol=0.02)
    assert np.array_equal(mixed.embedding.whole()[[3, 299, 3]], rows)
    assert np.array_equal(mixed.embedding.rows([3, 299, 3]), rows)


def test_a_head_of_its_own(tmp_path: Path) -> None:
    given = tiny.tensors()
    given["output.weight"] = given["token_embd.weight"] * 2
    read_back = read(tiny.write(tmp_path / "m.gguf", given))
    assert np.array_equal(read_back.output.rows([4]), given["output.weight"][[4]])
    assert np.array_equal(read_back.embedding.rows([4]), given["token_embd.weight"][[4]])


def test_other_architectures_are_refused(tmp_path: Path) -> None:
    refused(tiny.write(tmp_path / "m.gguf", tiny.tensors(), arch="gemma"), "architecture llama, found gemma")


@pytest.mark.parametrize("name", ["rope_freqs.weight", "blk.0.attn_q.bias", "blk.2.attn_q.weight"])
def test_tensors_that_are_not_read_are_refused(name: str, tmp_path: Path) -> None:
    given = tiny.tensors() | {name: np.ones(tiny.WIDTH, np.float32)}
    refused(tiny.write(tmp_path / "m.gguf", given), rf"not read here \['{name}'\]")


def test_missing_tensors_are_named(tmp_path: Path) -> None:
    given = tiny.tensors()
    del given["blk.1.ffn_up.weight"]
    refused(tiny.write(tmp_path / "m.gguf", given), r"1 missing \['blk.1.ffn_up.weight'\]")


def test_tokenizers_of_another_kind_are_refused(tmp_path: Path) -> None:
    refused(tiny.write(tmp_path / "m.gguf", tiny.tensors(), tokenizer="llama"), "byte-level BPE.* found llama")


def test_scaled_positions_are_refused(tmp_path: Path) -> None:
    extra = {"llama.rope.scaling.type": "yarn"}
    refused(tiny.write(tmp_path / "m.gguf", tiny.tensors(), extra=extra), "no rope scaling, found yarn")


@pytest.mark.parametrize("cut", [0, 3, 40, 3000, 20000])
def test_files_that_are_no_gguf_or_only_its_beginning(cut: int, tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", tiny.tensors())
    path.write_bytes(path.read_bytes()[:cut])
    refused(path, "a whole GGUF file")
    refused(tmp_path / "absent.gguf", "a whole GGUF file")
    refused(tmp_path, "a whole GGUF file")


def test_a_file_with_a_bit_turned_over_is_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", tiny.tensors())
    whole, rng, refusals = path.read_bytes(), random.Random(3), 0
    for _ in range(300):
        data = bytearray(whole)
        data[rng.randrange(1500)] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            weights.read(path)
        except ModelError:
            refusals += 1
    assert refusals > 100


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", tiny.tensors())
    whole = path.read_bytes()
    last = max(int(tensor.data_offset) + int(tensor.n_bytes) for tensor in GGUFReader(path).tensors)  # padding follows
    for cut in (*range(0, last, 997), *range(last - 40, last)):
        path.write_bytes(whole[:cut])
        refused(path, "")
    path.write_bytes(whole[:last])
    read(path)


MATRICES = frozenset(name for name in tiny.tensors() if "norm" not in name)
ROUNDED = {"F16": 1e-3, "BF16": 8e-3, "Q4_0": 0.13, "Q4_1": 0.07, "Q5_0": 0.07, "Q5_1": 0.04, "Q8_0": 0.008}
"""Kind -> the most that a number is rounded by, of the largest in its block."""


@pytest.mark.parametrize("kind", ROUNDED)
def test_each_kind_is_read_as_it_was_rounded(kind: str, tmp_path: Path) -> None:
    given = tiny.tensors()
    path = tiny.write(tmp_path / "m.gguf", given, quantised=MATRICES, kind=GGMLQuantizationType[kind])
    found = read(path)
    for name, matrix in (("ffn_down", found.blocks[0].down), ("attn_output", found.blocks[0].attn_out)):
        wanted = given[f"blk.0.{name}.weight"]
        assert np.abs(matrix - wanted).max() <= ROUNDED[kind] * np.abs(wanted).max()
    table = found.embedding.rows(range(tiny.WORDS))
    assert np.abs(table - given["token_embd.weight"]).max() <= ROUNDED[kind] * np.abs(given["token_embd.weight"]).max()


def test_a_kind_that_was_never_compared_is_refused_at_once(tmp_path: Path) -> None:
    path = tiny.write(tmp_path / "m.gguf", tiny.tensors(), quantised=MATRICES, kind=GGMLQuantizationType.IQ4_NL)
    refused(path, "weights stored as one of F32, .*found .* as IQ4_NL")


def test_a_file_at_odds_with_itself_is_refused(tmp_path: Path) -> None:
    given = tiny.tensors()
    given["blk.1.attn_k.weight"] = given["blk.1.attn_k.weight"][:-1]
    refused(tiny.write(tmp_path / "m.gguf", given), r"blk.1.attn_k.weight of \(64, 32\) numbers, found \(64, 31\)")


def test_the_catalogue_s_weights_are_what_we_think() -> None:
    reader = QuickReader(store.locate(store.DEFAULT))
    vocabulary = weights.vocabulary(reader)
    assert len(vocabulary.words) == 49152
    assert len(vocabulary.merges) == 48900
    assert vocabulary.words[vocabulary.eos] == "<|im_end|>"
    assert vocabulary.splitter == "smollm"
