"""Judging replies: what a model or its host may say, and what becomes of it."""

from typing import Any

import pytest

from agent.testing import marks
from grammar.boundary import judge as verdict_of
from grammar.engine import Matcher, Verifier
from grammar.reply import Artifact, Claim, Dialect, Reply
from grammar.tick import TickGrammar, TickLanguage
from tests.grammar.tools import Click, Wait

VERIFIER = Verifier()
GRAMMAR = TickGrammar((Click, Wait), VERIFIER)
GOOD = '{"tool":"click","target":"safe","mark":7}'


@pytest.fixture
def tick() -> TickLanguage:
    return GRAMMAR.for_tick(marks({7: "safe", 12: "mine", 70: None}))


def judge(tick: TickLanguage, text: str, claim: Claim | None = None, finish: str = "stop") -> str:
    """The action, or the fault's kind."""
    reply = Reply(text=text, finish="length" if finish == "length" else "stop", claim=claim)
    verdict = verdict_of(reply, tick, VERIFIER)
    assert (verdict.value is None) != (verdict.fault is None)
    if verdict.fault is not None:
        assert verdict.fault.output == text
        return verdict.fault.kind
    return repr(verdict.value)


def honest(tick: TickLanguage) -> Claim:
    return Claim(dialect="lark", digest=tick.artifacts["lark"].digest)


def test_good_replies(tick: TickLanguage) -> None:
    for claim in (None, honest(tick), Claim(dialect="choices", digest=tick.artifacts["choices"].digest)):
        assert judge(tick, GOOD, claim) == "Click(mark=7)"
        assert judge(tick, '{"tool":"click","mark":70}', claim) == "Click(mark=70)"
        assert judge(tick, '{"tool":"wait"}', claim) == "Wait()"


NO_VALUE = [
    '{"tool":"click","target":"safe","mark":8}',  # not on screen
    '{"tool":"click","target":"safe","mark":12}',  # on screen, under another label
    '{"tool":"click","mark":7}',  # its label left out
    '{"tool":"click","target":null,"mark":7}',
    '{"tool":"click","target":"x","mark":70}',  # nothing names it
    '{"tool":"click","target":"safe","mark":-1}',
    '{"tool":"click","target":"safe","mark":7.0}',
    '{"tool":"click","target":"safe","mark":7e0}',
    '{"tool":"click","target":"safe","mark":"7"}',
    '{"tool":"click","target":"safe","mark":true}',
    '{"tool":"click","target":"safe","mark":null}',
    '{"tool":"click","target":"safe","mark":7,"extra":1}',
    '{"tool":"clik"}',
    '{"tool":["click"]}',
    '{"mark":7}',
    "[]",
    "7",
]
OTHER_SPELLINGS = [
    '{"tool":"click","mark":7,"target":"safe"}',
    '{"tool": "click","target":"safe","mark":7}',
    '{"tool":"cl\\u0069ck","target":"safe","mark":7}',
    GOOD + " ",
    " " + GOOD,
]
MALFORMED = [
    '{"tool":"click","target":"safe","mark":07}',
    '{"tool":"click","target":"safe","mark":7,"mark":7}',
    GOOD + GOOD,
    '{"tool":NaN}',
    '{"tool":"\\ud800"}',
    "All done.",
    "\ud800",
    '{"tool":"wait"',
    '{"tool":' + "[" * 20_000,
    '{"tool":' + "9" * 4301 + "}",
    "x" * 1_000_001,
]


@pytest.mark.parametrize("text", NO_VALUE)
def test_what_is_no_value(tick: TickLanguage, text: str) -> None:
    assert judge(tick, text) == "invalid"
    assert judge(tick, text, honest(tick)) == "claim_violated"


@pytest.mark.parametrize("text", OTHER_SPELLINGS)
def test_a_host_that_claims_nothing_is_never_refused_for_the_spelling(tick: TickLanguage, text: str) -> None:
    assert judge(tick, text) == "Click(mark=7)"
    assert judge(tick, text, honest(tick)) == "claim_violated"


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_json_is_malformed_whatever_is_claimed(tick: TickLanguage, text: str) -> None:
    assert judge(tick, text) == "malformed"
    assert judge(tick, text, honest(tick)) == "malformed"


@pytest.mark.parametrize("text", ["", "\n", " \t "])
def test_nothing_is_told_from_something_said_elsewhere(tick: TickLanguage, text: str) -> None:
    assert judge(tick, text) == "empty"
    assert judge(tick, text, honest(tick)) == "empty"
    reply = Reply(text=text, finish="stop", aside="reasoning: " + GOOD)
    fault = verdict_of(reply, tick, VERIFIER).fault
    assert fault is not None
    assert fault.kind == "aside"


@pytest.mark.parametrize("dialect", ["json_schema", "json_schema_closed"])
def test_a_claim_on_a_schema_may_reorder_and_is_held_to_its_values(tick: TickLanguage, dialect: Dialect) -> None:
    claim = Claim(dialect=dialect, digest=tick.artifacts[dialect].digest)
    wrap = '{"value":%s}' if dialect == "json_schema_closed" else "%s"
    for text in (GOOD, *OTHER_SPELLINGS):
        assert judge(tick, wrap % text, claim) == "Click(mark=7)"
    for text in NO_VALUE:
        assert judge(tick, wrap % text, claim) == "claim_violated"
    assert judge(tick, '{"value":' + GOOD + ',"more":1}', claim) == "claim_violated"


def test_a_label_that_nothing_names_may_be_null_where_every_member_is_required(tick: TickLanguage) -> None:
    closed = tick.artifacts["json_schema_closed"]
    claim = Claim(dialect="json_schema_closed", digest=closed.digest)
    assert judge(tick, '{"value":{"tool":"click","target":null,"mark":70}}', claim) == "Click(mark=70)"


def test_what_was_sent_says_where_the_value_stands(tick: TickLanguage) -> None:
    text = '{"value":' + GOOD + "}"
    assert judge(tick, text) == "invalid"
    sent = Reply(text=text, finish="stop", sent="json_schema_closed")
    assert verdict_of(sent, tick, VERIFIER).value == Click(mark=7)


def test_a_cut_reply_is_no_answer_even_when_it_reads_like_one(tick: TickLanguage) -> None:
    assert judge(tick, GOOD, honest(tick), finish="length") == "truncated"


def test_a_claim_on_another_grammar_is_refused_even_for_a_good_value(tick: TickLanguage) -> None:
    stale = GRAMMAR.for_tick(marks({7: "safe"})).artifacts["lark"].digest
    assert judge(tick, GOOD, Claim(dialect="lark", digest=stale)) == "wrong_claim"
    assert judge(tick, GOOD, Claim(dialect="choices", digest=tick.artifacts["lark"].digest)) == "wrong_claim"


def test_a_dead_engine_is_never_the_models_fault(tick: TickLanguage, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead:
        def deep_copy(self) -> "Dead":
            return self

        def validate_tokens(self, tokens: list[int]) -> int:
            return len(tokens)

        def try_consume_tokens(self, tokens: list[int]) -> int:
            return len(tokens)

        def is_error(self) -> bool:
            return True

        def is_accepting(self) -> bool:
            return True

        def get_error(self) -> str:
            return "max is 2000"

    verifier = Verifier()
    monkeypatch.setattr(verifier, "_matcher", lambda artifact: Matcher(Dead()))  # type: ignore[arg-type]
    verdict = verdict_of(Reply(text=GOOD, finish="stop", claim=honest(tick)), tick, verifier)
    assert verdict.fault is not None
    assert (verdict.fault.kind, verdict.fault.message) == (
        "unverifiable",
        f"the grammar engine died at byte {len(GOOD)}: max is 2000",
    )


def test_messages_say_position_expected_and_found(tick: TickLanguage) -> None:
    fault = verdict_of(Reply(text='{"tool":"click","target":"safe","mark":8}', finish="stop"), tick, VERIFIER).fault
    assert fault is not None
    assert fault.message == "mark: expected a mark that is on screen now (7, 12, 70), found 8"
    fault = verdict_of(Reply(text='{"tool":"jump"}', finish="stop"), tick, VERIFIER).fault
    assert fault is not None
    assert fault.message == "tool: expected one of click, wait, found 'jump'"


def test_a_claim_is_held_to_the_grammar_even_if_the_validator_would_take_it(
    tick: TickLanguage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tick, "decode", lambda text, dialect: Wait())
    assert judge(tick, '{"tool":"click","target":"safe","mark":8}', honest(tick)) == "claim_violated"


def test_a_key_that_stands_twice_is_named(tick: TickLanguage) -> None:
    text = '{"tool":"click","target":"safe","mark":7,"mark":7}'
    fault = verdict_of(Reply(text=text, finish="stop"), tick, VERIFIER).fault
    assert fault is not None
    assert "the key 'mark' stands there twice" in fault.message


def test_a_new_label_on_an_old_number_is_a_new_grammar() -> None:
    one = GRAMMAR.for_tick(marks({7: "safe"}))
    two = GRAMMAR.for_tick(marks({7: "mine"}))
    assert judge(two, GOOD) == "invalid"
    assert one.artifacts["lark"].digest != two.artifacts["lark"].digest


def test_equal_screens_give_equal_bytes() -> None:
    one = TickGrammar((Click, Wait), Verifier()).for_tick(marks({7: "safe", 12: "mine"}))
    two = GRAMMAR.for_tick(marks({12: "mine", 7: "safe"}))
    assert dict(one.artifacts) == dict(two.artifacts)
    assert one.artifacts["lark"].digest != GRAMMAR.for_tick(marks({7: "safe"})).artifacts["lark"].digest


def test_choices_are_of_choices_alone(tick: TickLanguage) -> None:
    with pytest.raises(ValueError, match="expected a choices artifact, found lark"):
        _ = tick.artifacts["lark"].choices
    assert Artifact(dialect="choices", root="", text='["a"]').choices == ("a",)


def test_a_large_language_is_not_written_out() -> None:
    tick = GRAMMAR.for_tick(marks(dict.fromkeys(range(1, 400), "x")))
    assert set(tick.artifacts) == {"lark", "gbnf", "json_schema", "json_schema_closed"}
    with pytest.raises(KeyError):
        _ = tick.artifacts["choices"]


@pytest.mark.parametrize("odd", [{"text": b"{}"}, {"text": "{}", "claim": ("lark", "0")}])
def test_a_reply_that_is_none_is_refused_where_it_is_made(odd: Any) -> None:
    with pytest.raises(TypeError, match="expected a"):
        Reply(finish="stop", **odd)
