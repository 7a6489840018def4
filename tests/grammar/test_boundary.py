"""Judging replies: what a model or its host may say, and what becomes of it."""

import pytest

from agent.testing import marks
from grammar import boundary
from grammar.boundary import Boundary
from grammar.engine import Verifier
from grammar.reply import Artifact, Claim, Reply
from grammar.tick import TickArtifacts, TickGrammar
from tests.grammar.tools import Click, Wait

VERIFIER = Verifier()
GRAMMAR = TickGrammar((Click, Wait), VERIFIER)
GOOD = '{"tool":"click","target":"safe","mark":7}'


@pytest.fixture
def tick() -> TickArtifacts:
    return GRAMMAR.for_tick(marks({7: "safe", 12: "mine", 70: None}))


def judge(tick: TickArtifacts, text: str, claim: Claim | None = None, finish: str = "stop") -> str:
    """The action, or the fault's kind."""
    reply = Reply(text=text, finish="length" if finish == "length" else "stop", claim=claim)
    verdict = Boundary(VERIFIER).judge(reply, tick)
    assert (verdict.action is None) != (verdict.fault is None)
    if verdict.fault is not None:
        assert verdict.fault.output == text
        return verdict.fault.kind
    return repr(verdict.action)


def honest(tick: TickArtifacts) -> Claim:
    return Claim(dialect="lark", digest=tick.artifacts["lark"].digest)


def test_good_replies(tick: TickArtifacts) -> None:
    for claim in (None, honest(tick), Claim(dialect="choices", digest=tick.artifacts["choices"].digest)):
        assert judge(tick, GOOD, claim) == "Click(mark=7)"
        assert judge(tick, '{"tool":"click","mark":70}', claim) == "Click(mark=70)"
        assert judge(tick, '{"tool":"wait"}', claim) == "Wait()"


@pytest.mark.parametrize(
    "text",
    [
        '{"tool":"click","target":"safe","mark":8}',  # not on screen
        '{"tool":"click","target":"safe","mark":12}',  # on screen, under another label
        '{"tool":"click","mark":7}',  # its label left out
        '{"tool":"click","target":"safe","mark":-1}',
        '{"tool":"click","target":"safe","mark":07}',
        '{"tool":"click","target":"safe","mark":7.0}',
        '{"tool":"click","target":"safe","mark":7e0}',
        '{"tool":"click","target":"safe","mark":"7"}',
        '{"tool":"click","target":"safe","mark":true}',
        '{"tool":"click","target":"safe","mark":null}',
        '{"tool":"click","target":"safe","mark":7,"mark":7}',
        '{"tool":"click","target":"safe","mark":7,"extra":1}',
        '{"tool":"click","mark":7,"target":"safe"}',
        '{"tool": "click","target":"safe","mark":7}',
        '{"tool":"cl\\u0069ck","target":"safe","mark":7}',
        GOOD + " ",
        GOOD + GOOD,
        " " + GOOD,
        '{"tool":"clik"}',
        '{"tool":["click"]}',
        '{"tool":NaN}',
        "[]",
        "7",
        "All done.",
        "",
        "\n",
        "\ud800",
        '{"tool":"wait"',
        '{"tool":' + "[" * 2000,
        '{"tool":' + "9" * 4300 + "}",
        "x" * 10_000,
    ],
)
def test_bad_replies(tick: TickArtifacts, text: str) -> None:
    assert judge(tick, text) == "invalid"
    assert judge(tick, text, honest(tick)) == "claim_violated"


def test_a_cut_reply_is_no_answer_even_when_it_reads_like_one(tick: TickArtifacts) -> None:
    assert judge(tick, GOOD, honest(tick), finish="length") == "truncated"


def test_a_claim_on_another_grammar_is_refused_even_for_a_good_value(tick: TickArtifacts) -> None:
    stale = GRAMMAR.for_tick(marks({7: "safe"})).artifacts["lark"].digest
    assert judge(tick, GOOD, Claim(dialect="lark", digest=stale)) == "wrong_claim"
    assert judge(tick, GOOD, Claim(dialect="choices", digest=tick.artifacts["lark"].digest)) == "wrong_claim"


def test_a_dead_engine_is_never_the_models_fault(tick: TickArtifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead:
        def deep_copy(self) -> "Dead":
            return self

        def try_consume_tokens(self, tokens: list[int]) -> int:
            return len(tokens)

        def is_error(self) -> bool:
            return True

        def is_accepting(self) -> bool:
            return True

        def get_error(self) -> str:
            return "max is 2000"

    verifier = Verifier()
    monkeypatch.setattr(verifier, "_matcher", lambda artifact: Dead())
    verdict = Boundary(verifier).judge(Reply(text=GOOD, finish="stop", claim=honest(tick)), tick)
    assert verdict.fault is not None
    assert (verdict.fault.kind, verdict.fault.message) == (
        "unverifiable",
        f"the grammar engine died at byte {len(GOOD)}: max is 2000",
    )


def test_messages_say_position_expected_and_found(tick: TickArtifacts) -> None:
    fault = Boundary(VERIFIER).judge(Reply(text='{"tool":"click","target":"safe","mark":8}', finish="stop"), tick).fault
    assert fault is not None
    assert fault.message == "mark: expected a mark that is on screen now (7, 12, 70), found 8"
    fault = Boundary(VERIFIER).judge(Reply(text='{"tool":"jump"}', finish="stop"), tick).fault
    assert fault is not None
    assert fault.message == "tool: expected one of click, wait, found 'jump'"


def test_what_the_grammar_does_not_hold_is_no_action_even_if_the_validator_takes_it(
    tick: TickArtifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary, "validate", lambda text, shapes, marks: Wait())
    assert judge(tick, '{"tool":"click","target":"safe","mark":8}') == "invalid"


def test_a_key_that_stands_twice_is_named(tick: TickArtifacts) -> None:
    text = '{"tool":"click","target":"safe","mark":7,"mark":7}'
    fault = Boundary(VERIFIER).judge(Reply(text=text, finish="stop"), tick).fault
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
    assert one.artifacts == two.artifacts
    assert one.artifacts["lark"].digest != GRAMMAR.for_tick(marks({7: "safe"})).artifacts["lark"].digest


def test_choices_are_of_choices_alone(tick: TickArtifacts) -> None:
    with pytest.raises(ValueError, match="expected a choices artifact, found lark"):
        _ = tick.artifacts["lark"].choices
    assert Artifact(dialect="choices", root="", text='["a"]').choices == ("a",)


def test_a_large_language_is_not_written_out() -> None:
    tick = GRAMMAR.for_tick(marks(dict.fromkeys(range(1, 400), "x")))
    assert set(tick.artifacts) == {"lark"}
