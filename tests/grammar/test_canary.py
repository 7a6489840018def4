"""The canary, and hosts that drop it."""

import json
from typing import get_args

import pytest

from grammar.canary import PROMPT, new_canary
from grammar.engine import Matcher
from grammar.reply import Claim, Dialect, Reply

CANARY = new_canary(4000, nonce="0123456789abcdef")


def said(text: str, dialect: Dialect | None = None, **more: str) -> Reply:
    claim = Claim(dialect=dialect, digest=CANARY.artifacts[dialect].digest) if dialect else None
    return Reply(text=text, finish="length" if more else "stop", claim=claim)


def test_each_grammar_has_one_sentence_and_is_as_long_as_a_ticks() -> None:
    assert set(CANARY.artifacts) == set(get_args(Dialect))
    for matcher in (
        Matcher.from_lark(CANARY.artifacts["lark"].text),
        Matcher.from_gbnf(CANARY.artifacts["gbnf"].text),
    ):
        assert matcher.parse(CANARY.sentence).outcome == "sentence"
        assert matcher.parse(new_canary().sentence).outcome == "violated"
    assert CANARY.artifacts["choices"].choices == (CANARY.sentence,)
    for dialect in ("lark", "gbnf", "json_schema", "json_schema_closed"):
        assert 4000 <= len(CANARY.artifacts[dialect].text) < 8000
        assert CANARY.sentence[9:-2] not in PROMPT


def test_an_honest_host() -> None:
    for dialect in get_args(Dialect):
        assert CANARY.outcome(said(CANARY.sentence, dialect)) == "enforced"
    spaced = json.dumps(json.loads(CANARY.sentence), indent=2)
    assert CANARY.outcome(said(spaced, "json_schema")) == "enforced"


@pytest.mark.parametrize(
    "text", ["blue", "", "{}", new_canary(nonce="f" * 16).sentence, '{"tool":"blue"}', CANARY.sentence + " ", "["]
)
@pytest.mark.parametrize("dialect", [None, "lark", "gbnf", "choices"])
def test_a_host_that_drops_the_grammar_whatever_it_claims(text: str, dialect: Dialect | None) -> None:
    assert CANARY.outcome(said(text, dialect)) == "dropped"


def test_a_cut_answer_shows_nothing() -> None:
    assert CANARY.outcome(said(CANARY.sentence, "lark", cut="yes")) == "dropped"


def test_no_two_are_alike() -> None:
    assert len({new_canary().sentence for _ in range(20)}) == 20
