"""A network small enough to check by hand: written as a GGUF file, and computed again in plain float64."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

LAYERS, WIDTH, HEADS, KV_HEADS, FEED, WORDS = 2, 64, 4, 2, 96, 300
HEAD = WIDTH // HEADS
EPS, BASE, CONTEXT = 1e-5, 10000.0, 64

Tensors = dict[str, NDArray[np.float32]]


def tensors(seed: int = 1) -> Tensors:
    """Random weights in the layout that a GGUF file has, ``(out, in)``."""
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> NDArray[np.float32]:
        return rng.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    made: Tensors = {"token_embd.weight": matrix(WORDS, WIDTH), "output_norm.weight": _norm(rng)}
    for layer in range(LAYERS):
        made |= {
            f"blk.{layer}.attn_norm.weight": _norm(rng),
            f"blk.{layer}.attn_q.weight": matrix(WIDTH, WIDTH),
            f"blk.{layer}.attn_k.weight": matrix(KV_HEADS * HEAD, WIDTH),
            f"blk.{layer}.attn_v.weight": matrix(KV_HEADS * HEAD, WIDTH),
            f"blk.{layer}.attn_output.weight": matrix(WIDTH, WIDTH),
            f"blk.{layer}.ffn_norm.weight": _norm(rng),
            f"blk.{layer}.ffn_gate.weight": matrix(FEED, WIDTH),
            f"blk.{layer}.ffn_up.weight": matrix(FEED, WIDTH),
            f"blk.{layer}.ffn_down.weight": matrix(WIDTH, FEED),
        }
    return made


def _norm(rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.uniform(0.5, 1.5, WIDTH).astype(np.float32)


def write(
    path: Path,
    given: Tensors,
    *,
    arch: str = "llama",
    tokenizer: str = "gpt2",
    splitter: str = "gpt-2",
    extra: Mapping[str, str] | None = None,
    quantised: frozenset[str] = frozenset(),
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.Q8_0,
) -> Path:
    """Write a GGUF file; ``quantised`` tensors as of a kind, the rest as floats."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(EPS)
    writer.add_rope_freq_base(BASE)
    writer.add_tokenizer_model(tokenizer)
    writer.add_tokenizer_pre(splitter)
    writer.add_token_list([f"w{number}" for number in range(WORDS)])
    writer.add_token_types([3] + [1] * (WORDS - 1))
    writer.add_token_merges(["w 1", "w 2"])
    writer.add_eos_token_id(0)
    for key, value in (extra or {}).items():
        writer.add_string(key, value)
    for name, data in given.items():
        if name in quantised:
            writer.add_tensor(name, _rounded(data, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _rounded(data: NDArray[np.float32], kind: gguf.GGMLQuantizationType) -> NDArray[np.uint8]:
    """A matrix as a kind stores it; zeros for one that the package cannot write."""
    try:
        return np.asarray(gguf.quants.quantize(data, kind))
    except NotImplementedError:
        return np.zeros(gguf.quants.quant_shape_to_byte_shape(data.shape, kind), np.uint8)


def logits(given: Tensors, tokens: list[int]) -> NDArray[np.float64]:
    """Scores after each token of one sequence, ``(len(tokens), WORDS)``: slow, plain, and written apart."""
    w = {name: data.astype(np.float64) for name, data in given.items()}
    x = w["token_embd.weight"][tokens]
    for layer in range(LAYERS):
        p = f"blk.{layer}."
        h = _rms(x, w[p + "attn_norm.weight"])
        q, k, v = (h @ w[f"{p}attn_{part}.weight"].T for part in "qkv")
        x = x + _attention(q, k, v) @ w[p + "attn_output.weight"].T
        h = _rms(x, w[p + "ffn_norm.weight"])
        gate = h @ w[p + "ffn_gate.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w[p + "ffn_up.weight"].T)) @ w[p + "ffn_down.weight"].T
    result: NDArray[np.float64] = _rms(x, w["output_norm.weight"]) @ w["token_embd.weight"].T
    return result


def _rms(x: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS) * weight
    return scaled


def _attention(q: NDArray[np.float64], k: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.zeros_like(q)
    for head in range(HEADS):
        shared = head // (HEADS // KV_HEADS)
        mine, theirs = slice(head * HEAD, (head + 1) * HEAD), slice(shared * HEAD, (shared + 1) * HEAD)
        for now in range(len(q)):
            query = _turn(q[now, mine], now)
            marks = np.array([query @ _turn(k[then, theirs], then) for then in range(now + 1)])
            share = np.exp((marks - marks.max()) / np.sqrt(HEAD))
            out[now, mine] = share / share.sum() @ v[: now + 1, theirs]
    return out


def _turn(vector: NDArray[np.float64], position: int) -> NDArray[np.float64]:
    """Rotate neighbouring pairs as complex numbers."""
    pairs = vector[0::2] + 1j * vector[1::2]
    pairs = pairs * np.exp(1j * position * BASE ** (-np.arange(0, HEAD, 2) / HEAD))
    turned = np.empty_like(vector)
    turned[0::2], turned[1::2] = pairs.real, pairs.imag
    return turned
