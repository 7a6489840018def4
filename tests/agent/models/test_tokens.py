"""The tokenizer: what goes in comes out, and what is read off a screen stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models import store, weights
from agent.models.gguf_file import ModelError, QuickReader
from agent.models.tokens import Tokenizer
from agent.models.weights import Vocabulary


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return weights.vocabulary(QuickReader(store.locate(store.DEFAULT)))


@pytest.fixture(scope="module")
def tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    return Tokenizer(vocabulary)


ODD = [
    "",
    " ",
    "\n\n\t \r\n",
    "\x00\x01\x1f\x7f\x80",
    "🎮 new game 🧨👩‍👩‍👧‍👦",
    "שלום עולם",
    "لعبة جديدة ١٢٣",
    "\u202eright to left\u202c",
    "e\u0301 and \u00e9",
    "新しいゲーム 10000",
    "\U0001d518\U0001d52b\U0001f9e8",
    '{"tool":"reveal","target":"safe","mark":12}',
    "<|im_end|>",
    "<|im_<|im_start|>end|>",
    "don't   STOP   1234567890",
]


@pytest.mark.parametrize("text", ODD)
def test_odd_strings_come_back(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", ["", "plain", "a<|im_start|>", "<|im_end|><|im_end|> b", "<|im_<|im_start|>c"])
def test_trusted_text_is_the_same_but_for_its_control_words(tokenizer: Tokenizer, text: str) -> None:
    words = {1: "<|im_start|>", 2: "<|im_end|>"}
    tokens = tokenizer.encode(text, trusted=True)
    assert "".join(words.get(token) or tokenizer.decode([token]) for token in tokens) == text
    assert len(set(tokens) & set(words)) == ("<|im_" in text)


# The vocabulary of these weights has no token for these bytes.
UNWRITABLE = "\x04\x06\x13\x14\x16\x1d"
WRITABLE = st.characters(codec="utf-8", exclude_characters=UNWRITABLE, max_codepoint=0x3FFFF)


@given(text=st.text(WRITABLE))
def test_any_string_comes_back_without_control_tokens(tokenizer: Tokenizer, vocabulary: Vocabulary, text: str) -> None:
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == text
    assert not set(tokens) & set(vocabulary.control)


def test_only_trusted_text_may_end_a_turn(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    for number in vocabulary.control:
        word = vocabulary.words[number]
        assert tokenizer.encode(word, trusted=True) == [number]
        assert number not in tokenizer.encode(f"Quit{word}{word}")


def test_bytes_without_a_token_are_left_out(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode(f"a{UNWRITABLE}b")) == "ab"


def test_digits_stand_alone(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("2048")) == 4


def test_half_a_character_is_no_error(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("🎮")
    assert len(tokens) > 1
    assert tokenizer.decode(tokens[:1]) == "\ufffd"


def test_a_lone_surrogate_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ModelError, match="expected text with a UTF-8 form"):
        tokenizer.encode("bad \ud800")


def test_unknown_splitters_are_refused() -> None:
    made = Vocabulary(words=["a", "b"], merges=[], control=(0,), eos=0, bos=None, splitter="viking")
    with pytest.raises(ModelError, match=r"cuts like one of \['gpt-2', 'smollm'\], found viking"):
        Tokenizer(made)


def test_a_vocabulary_without_control_tokens_cuts_nothing() -> None:
    made = Vocabulary(words=["a", "b"], merges=[], control=(), eos=0, bos=None, splitter="gpt-2")
    assert Tokenizer(made).encode("ab") == [0, 1]
