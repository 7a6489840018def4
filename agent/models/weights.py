"""Reads a GGUF file into what the decoder multiplies with, and refuses what it would get wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
from gguf import GGUFReader, ReaderTensor
from numpy.typing import NDArray

from agent.models.gguf_file import KINDS, Floats, ModelError, QuickReader, field, floats

_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_BLOCK_PARTS = frozenset(f"{part}.weight" for part in (*_MATRICES, "attn_norm", "ffn_norm"))
_TOP = frozenset({"token_embd.weight", "output_norm.weight", "output.weight"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a llama network.

    Attributes:
        layers: blocks, one after another.
        width: numbers in a token's state.
        heads: query heads.
        kv_heads: key and value heads, each serving ``heads / kv_heads`` query heads.
        head: numbers in one head, even.
        eps: what is added under the root of a norm.
        rope_base: base of the rotary position angles.
        context: longest sequence that the network was trained for, in tokens.
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    eps: float
    rope_base: float
    context: int


class Table:
    """A table with one row a token, kept as stored; rows become float32 when somebody asks for them."""

    def __init__(self, tensor: ReaderTensor) -> None:
        self._tensor = tensor
        self._whole: Floats | None = None

    def rows(self, tokens: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Rows of some tokens, shape ``(len(tokens), width)``."""
        picked = np.asarray(tokens, dtype=np.intp)
        if self._whole is not None:
            return np.asarray(self._whole[picked], dtype=np.float32)
        return floats(self._tensor.data[picked], self._tensor.tensor_type)

    def whole(self) -> Floats:
        """All rows, shape ``(vocabulary, width)``; the first call takes half a second, later ones none."""
        if self._whole is None:
            self._whole = floats(self._tensor.data, self._tensor.tensor_type)
        return self._whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One layer. Matrices are ``(out, in)``, contiguous; norms are columns ``(width, 1)``.

    Attributes:
        attn_norm: weights of the norm before attention.
        qkv: query, key and value projections under one another; in each query and key head the even rows
            come first and the odd rows after them, so that rotary pairs lie half a head apart.
        attn_out: projection of the heads' output.
        ffn_norm: weights of the norm before the feed-forward part.
        gate_up: gate and up projections under one another.
        down: projection back to the width.
    """

    attn_norm: Floats
    qkv: Floats
    attn_out: Floats
    ffn_norm: Floats
    gate_up: Floats
    down: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What the tokenizer is made of.

    Attributes:
        words: tokens in byte-level spelling; the index is the token's number.
        merges: pairs in order of rank, ``left right``.
        control: numbers of the tokens that are not text.
        eos: the token that ends an answer.
        bos: the token that every prompt starts with. None: there is none.
        splitter: name of the rule that cuts text before merging.
    """

    words: list[str]
    merges: list[str]
    control: tuple[int, ...]
    eos: int
    bos: int | None
    splitter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A whole model, ready to run."""

    shape: Shape
    embedding: Table
    blocks: tuple[Block, ...]
    output_norm: Floats
    output: Table
    vocabulary: Vocabulary


def read(path: Path) -> Weights:
    """Read a llama-architecture GGUF file. Takes a second or so for a hundred million weights.

    Raises:
        ModelError: not a GGUF file, another architecture, tensors or a quantisation that are not read here.
    """
    try:
        return _read(path)
    except ModelError:
        raise
    except Exception as error:  # whatever the gguf package stumbles over
        raise ModelError(f"expected a whole GGUF file at {path}, found: {error}; fetch it again") from error


def _read(path: Path) -> Weights:
    reader = QuickReader(path)
    shape = _shape(reader)
    tensors = _tensors(reader, shape)
    output = tensors.get("output.weight", tensors["token_embd.weight"])
    return Weights(
        shape=shape,
        embedding=Table(tensors["token_embd.weight"]),
        blocks=tuple(_block(tensors, f"blk.{layer}.", shape) for layer in range(shape.layers)),
        output_norm=_column(tensors["output_norm.weight"]),
        output=Table(output),
        vocabulary=vocabulary(reader),
    )


def _shape(reader: GGUFReader) -> Shape:
    """Sizes from the metadata; refuses what this decoder does not compute."""
    architecture = field(reader, "general.architecture")
    if architecture != "llama":
        raise ModelError(
            f"expected a GGUF file of architecture llama, found {architecture}; "
            "use a llama-architecture file, or serve this one and connect to the server"
        )
    if (scaling := field(reader, "llama.rope.scaling.type", "none")) != "none":
        raise ModelError(f"expected no rope scaling, found {scaling}; use another file or a server")
    heads = field(reader, "llama.attention.head_count")
    width = field(reader, "llama.embedding_length")
    shape = Shape(
        layers=field(reader, "llama.block_count"),
        width=width,
        heads=heads,
        kv_heads=field(reader, "llama.attention.head_count_kv", heads),
        head=field(reader, "llama.attention.key_length", width // heads),
        eps=field(reader, "llama.attention.layer_norm_rms_epsilon"),
        rope_base=field(reader, "llama.rope.freq_base", 10000.0),
        context=field(reader, "llama.context_length"),
    )
    if (turned := field(reader, "llama.rope.dimension_count", shape.head)) != shape.head:
        raise ModelError(f"expected rope over a whole head ({shape.head}), found {turned}; use another file")
    return shape


def _tensors(reader: GGUFReader, shape: Shape) -> dict[str, ReaderTensor]:
    """Tensors by name: exactly those that the decoder reads, none missing and none left over."""
    found = {tensor.name: tensor for tensor in reader.tensors}
    blocks = {f"blk.{layer}.{part}" for layer in range(shape.layers) for part in _BLOCK_PARTS}
    missing = sorted((blocks | _TOP - {"output.weight"}) - set(found))
    unread = sorted(set(found) - blocks - _TOP)
    if missing or unread:
        raise ModelError(
            f"expected the plain llama tensors, found {len(unread)} that are not read here {unread[:3]} "
            f"and {len(missing)} missing {missing[:3]}; use another file or a server"
        )
    for name, tensor in found.items():
        if tensor.tensor_type.name not in KINDS:
            raise ModelError(
                f"expected weights stored as one of {', '.join(KINDS)}, found {name} as {tensor.tensor_type.name}; "
                "use another file, or serve this one and connect to the server"
            )
    _require_sizes(found, shape, len(field(reader, "tokenizer.ggml.tokens")))
    return found


def _require_sizes(tensors: Mapping[str, ReaderTensor], shape: Shape, words: int) -> None:
    """See that each tensor is as large as the metadata says."""
    queries, keys = shape.heads * shape.head, shape.kv_heads * shape.head
    feed = int(tensors["blk.0.ffn_gate.weight"].shape[-1])
    wanted = {
        "token_embd": (shape.width, words),
        "output": (shape.width, words),
        "output_norm": (shape.width,),
        "attn_norm": (shape.width,),
        "ffn_norm": (shape.width,),
        "attn_q": (shape.width, queries),
        "attn_k": (shape.width, keys),
        "attn_v": (shape.width, keys),
        "attn_output": (queries, shape.width),
        "ffn_gate": (shape.width, feed),
        "ffn_up": (shape.width, feed),
        "ffn_down": (feed, shape.width),
    }
    for name, tensor in tensors.items():
        sizes = tuple(map(int, tensor.shape))
        part = name.removesuffix(".weight").rpartition(".")[2]
        if sizes != wanted[part]:
            raise ModelError(
                f"expected {name} of {wanted[part]} numbers, found {sizes}; the file is at odds with itself"
            )


def _block(tensors: dict[str, ReaderTensor], prefix: str, shape: Shape) -> Block:
    """Fuse and dequantise one layer."""
    q, k, v, out, gate, up, down = (tensors[f"{prefix}{part}.weight"] for part in _MATRICES)
    pairs = np.concatenate([np.arange(0, shape.head, 2), np.arange(1, shape.head, 2)])
    return Block(
        attn_norm=_column(tensors[f"{prefix}attn_norm.weight"]),
        qkv=_stack([q, k, v], [_by_head(pairs, shape.heads), _by_head(pairs, shape.kv_heads), None]),
        attn_out=_stack([out]),
        ffn_norm=_column(tensors[f"{prefix}ffn_norm.weight"]),
        gate_up=_stack([gate, up]),
        down=_stack([down]),
    )


def _by_head(order: NDArray[np.intp], heads: int) -> NDArray[np.intp]:
    """The same order of rows within each head."""
    return (np.arange(heads)[:, None] * len(order) + order).reshape(-1)


def _stack(tensors: Sequence[ReaderTensor], orders: Sequence[NDArray[np.intp] | None] = ()) -> Floats:
    """Matrices under one another, their rows reordered; quantised rows move cheaper than floats do."""
    raw = [
        np.asarray(t.data)[slice(None) if o is None else o]
        for t, o in zip(tensors, orders or repeat(None), strict=False)
    ]
    kinds = [tensor.tensor_type for tensor in tensors]
    if len(set(kinds)) == 1:
        return floats(np.concatenate(raw), kinds[0])
    return np.concatenate([floats(rows, kind) for rows, kind in zip(raw, kinds, strict=True)])


def _column(tensor: ReaderTensor) -> Floats:
    """A vector as a column."""
    return floats(tensor.data, tensor.tensor_type).reshape(-1, 1)


def vocabulary(reader: GGUFReader) -> Vocabulary:
    """The tokenizer's parts; refuses tokenizers of another kind."""
    if (kind := field(reader, "tokenizer.ggml.model")) != "gpt2":
        raise ModelError(f"expected a byte-level BPE tokenizer (gpt2), found {kind}; use another file")
    kinds = field(reader, "tokenizer.ggml.token_type")
    starts = field(reader, "tokenizer.ggml.add_bos_token", False)
    return Vocabulary(
        words=field(reader, "tokenizer.ggml.tokens"),
        merges=field(reader, "tokenizer.ggml.merges"),
        control=tuple(number for number, kind in enumerate(kinds) if kind != 1),
        eos=field(reader, "tokenizer.ggml.eos_token_id"),
        bos=field(reader, "tokenizer.ggml.bos_token_id") if starts else None,
        splitter=field(reader, "tokenizer.ggml.pre", "gpt-2"),
    )
