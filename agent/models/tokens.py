"""Text to tokens and back, through the tokenizer inside llguidance."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from typing import Any

from agent.models.gguf_file import ModelError
from agent.models.weights import Vocabulary
from grammar.engine import LLTokenizer

_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
_DIGITS = {"type": "Digits", "individual_digits": True}
_SPLITTERS: dict[str, list[dict[str, Any]]] = {
    "smollm": [_DIGITS, _BYTE_LEVEL],
    "gpt-2": [_BYTE_LEVEL],
}


class Tokenizer:
    """One per process and model: building it takes about half a second.

    Inside the engine the control tokens go by names that nobody can guess. So no text, from a screen or from a
    grammar, turns into one of them; only ``encode`` does that, where it is told to.

    A few bytes that never occur in ordinary text (some C0 controls, planes 4 and up) have no token in most
    vocabularies; they are left out.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.eos = vocabulary.eos
        self.bos = vocabulary.bos
        self.engine = LLTokenizer(_describe(vocabulary), eos_token=vocabulary.eos)
        self._control = {vocabulary.words[number]: number for number in vocabulary.control}
        words = "|".join(re.escape(word) for word in self._control)
        self._cut = re.compile(f"({words or '(?!)'})")

    def encode(self, text: str, *, trusted: bool = False) -> list[int]:
        """Tokens of a text.

        Args:
            text: what to read.
            trusted: words like ``<|im_end|>`` become the control tokens that they name. Otherwise they are
                text like any other: what is read off a screen must not end a turn.

        Raises:
            ModelError: the text holds a lone surrogate, which has no UTF-8.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelError(f"expected text with a UTF-8 form, found {text!r}: {error.reason}") from error
        if not trusted:
            return list(self.engine.tokenize_str(text))
        return [token for piece in self._cut.split(text) for token in self._piece(piece)]

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of some tokens; bytes that are not UTF-8, as in half a character, become U+FFFD."""
        return self.engine.decode_bytes(list(tokens)).decode(errors="replace")

    def _piece(self, piece: str) -> list[int]:
        """A control word as its token, any other text as its tokens."""
        return [self._control[piece]] if piece in self._control else self.engine.tokenize_str(piece)


def _describe(vocabulary: Vocabulary) -> str:
    """The vocabulary in the form that llguidance reads, JSON of the Hugging Face kind."""
    if vocabulary.splitter not in _SPLITTERS:
        raise ModelError(
            f"expected a tokenizer that cuts like one of {sorted(_SPLITTERS)}, found {vocabulary.splitter}; "
            "use another file or a server"
        )
    secret = secrets.token_hex(8)
    hidden = {number: f"<{secret}:{number}>" for number in vocabulary.control}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [_control(number, name) for number, name in hidden.items()],
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": _SPLITTERS[vocabulary.splitter]},
            "decoder": _BYTE_LEVEL,
            "model": {
                "type": "BPE",
                "vocab": {hidden.get(number, word): number for number, word in enumerate(vocabulary.words)},
                "merges": vocabulary.merges,
            },
        }
    )


def _control(number: int, name: str) -> dict[str, Any]:
    """One control token."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": name, "special": True, **flags}
