"""The proof: a text that stands in a tick's grammar and nowhere else, and shows which grammar a reply is of."""

import pytest
from pydantic import BaseModel

from agent.testing import marks
from grammar.boundary import Boundary, Verdict, judge
from grammar.engine import Verifier
from grammar.reply import Claim, Reply
from grammar.tick import TickGrammar, TickLanguage
from tests.grammar.test_any_type import Attack, Digit, Report
from tests.grammar.tools import Click, Wait

VERIFIER = Verifier()
GRAMMAR = TickGrammar((Click, Wait), VERIFIER, proof=True)
PLAIN = TickGrammar((Click, Wait), VERIFIER)


@pytest.fixture
def tick() -> TickLanguage:
    return GRAMMAR.for_tick(marks({7: "safe", 12: "mine"}))


def judged(tick: TickLanguage, text: str, *, claim: bool = False) -> Verdict[BaseModel]:
    lark = Claim(dialect="lark", digest=tick.artifacts["lark"].digest)
    return judge(Reply(text=text, finish="stop", claim=lark if claim else None), tick, VERIFIER)


def said(tick: TickLanguage) -> str:
    return f'{{"tool":"click","target":"safe","mark":7,"proof":"{tick.scope.proof}"}}'


def test_a_reply_shows_the_grammar_that_it_is_of(tick: TickLanguage) -> None:
    for claim in (True, False):
        verdict = judged(tick, said(tick), claim=claim)
        assert (verdict.value, verdict.proven, verdict.held) == (Click(mark=7), True, claim)
    assert tick.spell(Click(mark=7)) == said(tick)


def test_the_proof_changes_with_what_is_on_screen_and_with_nothing_else(tick: TickLanguage) -> None:
    others = [{7: "safe"}, {7: "safe", 12: "safe"}, {7: "mine", 12: "safe"}, {7: "safe", 13: "mine"}]
    proofs = {GRAMMAR.for_tick(marks(dict(other))).scope.proof for other in others}
    assert len(proofs) == 4
    assert tick.scope.proof not in proofs
    again = TickGrammar((Click, Wait), Verifier(), proof=True).for_tick(marks({7: "safe", 12: "mine"}))
    assert again.scope.proof == tick.scope.proof


def test_the_proof_of_another_tick_is_stale_even_for_a_good_value(tick: TickLanguage) -> None:
    old = GRAMMAR.for_tick(marks({7: "safe"}))
    for claim in (True, False):
        fault = judged(tick, said(old), claim=claim).fault
        assert fault is not None
        assert fault.kind == "stale_proof"
        assert tick.scope.proof not in fault.message


def test_a_host_that_ignored_the_grammar_is_judged_by_its_value_and_proves_nothing(tick: TickLanguage) -> None:
    verdict = judged(tick, '{"tool":"wait"}')
    assert (verdict.value, verdict.proven) == (Wait(), False)


def test_a_claim_without_a_proof_is_violated(tick: TickLanguage) -> None:
    fault = judged(tick, '{"tool":"wait"}', claim=True).fault
    assert fault is not None
    assert fault.kind == "claim_violated"


@pytest.mark.parametrize("text", ['{"tool":"wait", "proof":"%s"}', '{"tool":"click","proof":"%s"}', '"%s"', "%s"])
@pytest.mark.parametrize("claim", [True, False])
def test_no_fault_tells_the_proof(tick: TickLanguage, text: str, claim: bool) -> None:
    verdict = judged(tick, text % tick.scope.proof, claim=claim)
    assert verdict.fault is None or tick.scope.proof not in verdict.fault.message


@pytest.mark.parametrize("proof", ['""', "null", "7", '"xxxxxxxx"', '["x"]'])
def test_a_wrong_proof_is_no_proof(tick: TickLanguage, proof: str) -> None:
    verdict = judged(tick, f'{{"tool":"wait","proof":{proof}}}')
    assert verdict.fault is not None
    assert not verdict.proven


def test_all_dialects_hold_to_the_same_proof(tick: TickLanguage) -> None:
    for dialect in tick.artifacts:
        assert tick.scope.proof in tick.artifacts[dialect].text


def test_a_proof_in_an_envelope_is_seen(tick: TickLanguage) -> None:
    claim = Claim(dialect="json_schema_closed", digest=tick.artifacts["json_schema_closed"].digest)
    good = judge(Reply(text='{"value":' + said(tick) + "}", finish="stop", claim=claim), tick, VERIFIER)
    assert (good.held, good.proven) == (True, True)
    old = said(GRAMMAR.for_tick(marks({7: "safe"})))
    stale = judge(Reply(text='{"value":' + old + "}", finish="stop", claim=claim), tick, VERIFIER)
    assert stale.fault is not None
    assert stale.fault.kind == "stale_proof"


def test_a_class_that_has_a_field_of_that_name_cannot_be_proven() -> None:
    class Claimed(BaseModel):
        proof: Digit

    with pytest.raises(ValueError, match="without a field called 'proof'"):
        Boundary(Claimed, proof=True)


def test_a_cut_message_does_not_end_in_the_proof(tick: TickLanguage) -> None:
    for pad in range(60, 130):
        text = '{"tool":"click","target":"safe","mark":["' + "x" * pad + tick.scope.proof + '"]}'
        fault = judged(tick, text).fault
        assert fault is not None
        assert tick.scope.proof[:3] not in fault.message


def test_without_a_proof_the_member_is_unknown() -> None:
    plain = PLAIN.for_tick(marks({7: "safe"}))
    verdict = judged(plain, '{"tool":"wait","proof":"xxxxxxxx"}')
    assert verdict.fault is not None
    assert verdict.fault.kind == "invalid"


def test_any_class_may_be_proven() -> None:
    boundary = Boundary(Attack, proof=True)
    value = Attack(kind="attack", strength=3)
    assert boundary.decode(boundary.spell(value)) == value
    assert '"proof":' in boundary.spell(value)
    with pytest.raises(ValueError, match="to prove a reply by"):
        Boundary(Digit, proof=True)
    assert Boundary(Report, proof=True)
