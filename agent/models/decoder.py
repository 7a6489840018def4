"""The forward pass of a llama network in numpy, and the cache of what it has read.

States are kept feature-major, ``(features, tokens)``: with the weights as ``(out, in)`` that is the fastest
of the four ways to write the products at the batch sizes of a tick (OpenBLAS, 1 and 2 threads).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from agent.models.gguf_file import Floats, ModelError
from agent.models.weights import Block, Weights

_FEW = 8
_ROWS = 64


class Decoder:
    """Runs tokens through the network, after those that the cache already holds.

    Args:
        weights: the network.
        context: most tokens that the cache holds.
        threads: threads of the linear algebra while a pass runs; outside of it nothing is limited.
    """

    def __init__(self, weights: Weights, context: int, threads: int) -> None:
        self.weights = weights
        self.context = min(context, weights.shape.context)
        self.passes = 0
        self.evaluated = 0
        shape = weights.shape
        room = (shape.layers, shape.kv_heads, shape.head, self.context)
        self._keys = np.zeros(room, np.float32)
        self._values = np.zeros(room, np.float32)
        self._cos, self._sin = _angles(shape.head, shape.rope_base, self.context)
        self._threads = threads
        self._pools = ThreadpoolController()

    def forward(self, tokens: Sequence[int], held: int, parents: Sequence[int], rows: Sequence[int]) -> Floats:
        """Evaluate a tree of tokens that grows out of the first ``held`` tokens of the cache.

        Afterwards the cache holds token ``i`` at ``held + i``. Of these, the ones that form one chain from
        the start may count as held in the next call, which overwrites the others.

        Args:
            tokens: the new tokens, each after its parent.
            held: how many tokens of the cache stand before them.
            parents: index in ``tokens`` of each token's parent; -1 for a token right after the held ones.
            rows: which of ``tokens`` the caller wants to know the next token of.

        Returns:
            Final states of ``rows``, shape ``(width, len(rows))``.

        Raises:
            ModelError: more tokens than the cache has room for.
        """
        self.require(held + len(tokens))
        seen, depth = _ancestry(parents)
        with self._pools.limit(limits=self._threads, user_api="blas"):
            state = self._layers(tokens, held, depth, seen)[:, list(rows)]
        self.passes += 1
        self.evaluated += len(tokens)
        return _normed(state, self.weights.output_norm, self.weights.shape.eps)

    def require(self, count: int) -> None:
        """See that this many tokens fit into the cache, before any is evaluated.

        Raises:
            ModelError: they do not.
        """
        if count > self.context:
            raise ModelError(
                f"expected at most {self.context} tokens of prompt and answer, found {count}; "
                "shorten the prompt, offer fewer targets, or give the model a larger context"
            )

    def logits(self, states: Floats, tokens: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Scores of the next token.

        Args:
            states: what ``forward`` returned, ``(width, n)``.
            tokens: whose scores to compute. None: the whole vocabulary's.

        Returns:
            Logits, shape ``(len(tokens), n)``.
        """
        table = self.weights.output
        with self._pools.limit(limits=self._threads, user_api="blas"):
            return (table.whole() if tokens is None else table.rows(tokens)) @ states

    def _layers(self, tokens: Sequence[int], held: int, depth: NDArray[np.intp], seen: NDArray[np.bool_]) -> Floats:
        """The state after the last layer, ``(width, len(tokens))``."""
        shape, end = self.weights.shape, held + len(tokens)
        turn = (self._cos[:, held + depth], self._sin[:, held + depth])
        hidden = np.where(seen, np.float32(0), np.float32(-np.inf))[:, None, :]
        state = np.ascontiguousarray(self.weights.embedding.rows(tokens).T)
        for block, keys, values in zip(self.weights.blocks, self._keys, self._values, strict=True):
            heads = _product(block.qkv, _normed(state, block.attn_norm, shape.eps))
            query, key, value = self._split(heads, turn)
            keys[:, :, held:end], values[:, :, held:end] = key, value
            mixed = _attend(query, keys[:, :, :end], values[:, :, :end], hidden)
            state += _product(block.attn_out, mixed)
            state += _feed(block, _normed(state, block.ffn_norm, shape.eps))
        return state

    def _split(self, heads: Floats, turn: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        """Queries ``(kv_heads, group, head, n)``, scaled, keys and values ``(kv_heads, head, n)``."""
        shape, count = self.weights.shape, heads.shape[1]
        first, second = shape.heads * shape.head, (shape.heads + shape.kv_heads) * shape.head
        turned = _rotate(heads[:second].reshape(-1, shape.head, count), *turn)
        query = turned[: shape.heads] * np.float32(shape.head**-0.5)
        return (
            query.reshape(shape.kv_heads, -1, shape.head, count),
            turned[shape.heads :],
            heads[first + second - first :].reshape(shape.kv_heads, shape.head, count),
        )


def _product(matrix: Floats, states: Floats) -> Floats:
    """Matrix times states. A few columns go faster through blocks of rows small enough not to be repacked."""
    rows, count = matrix.shape[0], states.shape[1]
    if count == 1 or count > _FEW or rows % _ROWS:
        return matrix @ states
    return (matrix.reshape(-1, _ROWS, matrix.shape[1]) @ states).reshape(rows, count)


def _normed(states: Floats, weight: Floats, eps: float) -> Floats:
    """Root-mean-square norm of each column."""
    power = np.einsum("wn,wn->n", states, states) / len(states)
    scale: Floats = (1 / np.sqrt(power + eps)).astype(np.float32)
    result = states * scale
    result *= weight
    return result


def _rotate(heads: Floats, cos: Floats, sin: Floats) -> Floats:
    """Turn each head ``(head, n)`` by its position; a pair's halves lie half a head apart."""
    half = heads.shape[1] // 2
    left, right = heads[:, :half], heads[:, half:]
    turned = np.empty_like(heads)
    np.subtract(left * cos, right * sin, out=turned[:, :half])
    np.add(left * sin, right * cos, out=turned[:, half:])
    return turned


def _attend(query: Floats, keys: Floats, values: Floats, hidden: Floats) -> Floats:
    """Attention of new tokens over held and new ones.

    Args:
        query: ``(kv_heads, group, head, n)``.
        keys: ``(kv_heads, head, held + n)``.
        values: like ``keys``.
        hidden: ``(n, 1, n)``, what is added for a new token (first axis) seen from another (last): 0 or -inf.

    Returns:
        ``(kv_heads * group * head, n)``.
    """
    kv_heads, group, head, count = query.shape
    flat = np.ascontiguousarray(query.transpose(0, 2, 1, 3)).reshape(kv_heads, head, group * count)
    weight = keys.transpose(0, 2, 1) @ flat
    if count > 1:
        weight[:, -count:].reshape(kv_heads, count, group, count)[...] += hidden
    weight -= weight.max(axis=1, keepdims=True)
    np.exp(weight, out=weight)
    mixed = values @ weight
    mixed /= weight.sum(axis=1, keepdims=True)
    return mixed.reshape(kv_heads, head, group, count).transpose(0, 2, 1, 3).reshape(-1, count)


def _feed(block: Block, states: Floats) -> Floats:
    """The gated feed-forward part."""
    both = _product(block.gate_up, states)
    gate, up = np.split(both, 2)
    open_ = np.exp(-gate)
    open_ += 1
    np.divide(gate, open_, out=gate)
    gate *= up
    return _product(block.down, gate)


def _angles(head: int, base: float, context: int) -> tuple[Floats, Floats]:
    """Cosine and sine of each position's angles, ``(head / 2, context)``."""
    speed = base ** (-np.arange(0, head, 2) / head)
    angle = np.outer(speed, np.arange(context))
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def _ancestry(parents: Sequence[int]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Who sees whom in a tree.

    Returns:
        ``seen[a, b]``: token ``a`` is token ``b`` or before it on its path; and each token's depth from 0.
    """
    count = len(parents)
    sees = np.eye(count, dtype=np.bool_)
    for index, parent in enumerate(parents):
        if parent >= 0:
            sees[index] |= sees[parent]
    return np.ascontiguousarray(sees.T), sees.sum(axis=1) - 1
