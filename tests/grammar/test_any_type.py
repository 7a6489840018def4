"""``Boundary[T]`` for any typed reply: artifacts, decoding, the retry budget, effects."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Annotated, Any, Literal, get_args

import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel, Field, create_model

from agent.testing import marks
from grammar.boundary import Boundary, Budget, Fault
from grammar.engine import Matcher
from grammar.errors import EmptyDomain, InadmissibleType
from grammar.nodes import Scope
from grammar.reply import Claim, Dialect, Reply
from grammar.spelling import by_number
from grammar.validator import Invalid
from perception.observation import CellRef, MarkRef

Digit = Annotated[int, Field(ge=0, le=9)]


class Mood(Enum):
    """How it looks."""

    CALM = "calm"
    TENSE = "tense"


class Attack(BaseModel):
    """Strike."""

    kind: Literal["attack"]
    strength: Digit = Field(description="how hard")


class Retreat(BaseModel):
    """Go back."""

    kind: Literal["retreat"]


@dataclasses.dataclass
class Report:
    """What a scout says."""

    mood: Mood
    enemies: Annotated[list[Digit], Field(max_length=3)]
    note: Annotated[str, Field(max_length=20)] | None
    plan: Annotated[Attack | Retreat, Field(discriminator="kind")]
    odds: Annotated[float, Field(ge=0, le=1)]
    seen: Annotated[dict[Annotated[str, Field(pattern="^[a-z]{1,5}$")], Digit], Field(max_length=2)]
    raw: Annotated[bytes, Field(max_length=3)]


SCOUT = Boundary(Report)
TEXT = (
    '{"mood":"tense","enemies":[3,0],"note":null,"plan":{"kind":"attack","strength":7},"odds":0.25,'
    '"seen":[{"key":"orc","value":2}],"raw":"AP8="}'
)
VALUE = Report(Mood.TENSE, [3, 0], None, Attack(kind="attack", strength=7), 0.25, {"orc": 2}, b"\x00\xff")


def test_one_value_one_text_in_every_dialect() -> None:
    assert SCOUT.decode(TEXT) == VALUE
    assert SCOUT.spell(VALUE) == TEXT
    assert Matcher.from_lark(SCOUT.artifact("lark").text).parse(TEXT).outcome == "sentence"
    assert Matcher.from_gbnf(SCOUT.artifact("gbnf").text).parse(TEXT).outcome == "sentence"
    for dialect in ("json_schema", "json_schema_closed"):
        validator = Draft202012Validator(json.loads(SCOUT.artifact(dialect).text))
        assert validator.is_valid(json.loads(TEXT))
        assert not validator.is_valid({**json.loads(TEXT), "more": 1})


@pytest.mark.parametrize(
    ("change", "position", "expected"),
    [
        ({"mood": "angry"}, "mood", 'one of "calm", "tense"'),
        ({"enemies": [3, 10]}, "enemies[1]", "a whole number from 0 to 9"),
        ({"enemies": [3, True]}, "enemies[1]", "a whole number from 0 to 9"),
        ({"enemies": [1, 2, 3, 4]}, "enemies", "an array of 0 to 3 items"),
        ({"note": 7}, "note", "a string of 0 to 20 characters"),
        ({"plan": {"kind": "hide"}}, "plan.kind", "one of attack, retreat"),
        ({"plan": {"kind": "retreat", "strength": 1}}, "plan.strength", "only kind"),
        ({"plan": {"kind": "attack"}}, "plan.strength", "a value"),
        ({"odds": 1.5}, "odds", "a number from 0.0 to 1.0"),
        ({"odds": "0.5"}, "odds", "a number from 0.0 to 1.0"),
        ({"seen": [{"key": "Orc", "value": 1}]}, "seen (key)", "a string that matches ^[a-z]{1,5}$"),
        ({"seen": [{"key": "orc"}]}, "seen[0].value", "a value"),
        ({"raw": "AP8"}, "raw", "base64 of 0 to 3 bytes"),
        ({"raw": "AP9="}, "raw", "base64 whose unused bits are zero"),
    ],
)
def test_a_wrong_value_is_named_by_position_expected_and_found(
    change: dict[str, Any], position: str, expected: str
) -> None:
    with pytest.raises(Invalid) as problem:
        SCOUT.decode(json.dumps({**json.loads(TEXT), **change}))
    assert (problem.value.position, problem.value.expected) == (position, expected)
    assert problem.value.found


def test_spelling_is_free_where_no_grammar_is_claimed() -> None:
    value = json.loads(TEXT)
    value["seen"] = {"orc": 2}
    value["odds"] = 2.5e-1
    assert SCOUT.decode(json.dumps(dict(reversed(list(value.items()))), indent=2)) == VALUE


def test_of_two_entries_with_one_key_the_later_one_counts() -> None:
    twice = TEXT.replace('[{"key":"orc","value":2}]', '[{"key":"orc","value":1},{"key":"orc","value":2}]')
    assert SCOUT.decode(twice) == SCOUT.decode(TEXT)
    assert Matcher.from_lark(SCOUT.artifact("lark").text).parse(twice).outcome == "sentence"


def test_a_type_is_not_printed_for_another_that_equals_it() -> None:
    for declared in (Literal[0, 1], bool, Literal[1], Literal[True]):
        boundary: Boundary[Any] = Boundary(declared)
        for value in get_args(declared) or (False, True):
            text = boundary.spell(value)
            assert Matcher.from_lark(boundary.artifact("lark").text).parse(text).outcome == "sentence"


def test_classes_that_occur_very_often_are_printed_once() -> None:
    declared: Any = Attack
    for i in range(28):
        declared = create_model(f"Level{i}", a=(declared, ...), b=(declared, ...))
    assert len(Boundary(declared).artifact("gbnf").text) < 5000


@pytest.mark.parametrize("pattern", ["^(|b)?$", "^(?:b?)?$", "^(?:|[a-c]{0,2})$", "^(?:[a-c]{2}){3}$"])
def test_a_repetition_of_a_repetition_is_read_by_all(pattern: str) -> None:
    artifact = Boundary(Annotated[str, Field(pattern=pattern)]).artifact("gbnf")
    assert Matcher.from_gbnf(artifact.text).parse('"d"').outcome == "violated"


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "[" * 980 + "]" * 980,
        '{"' + "a" * 100_000 + '":1}',
        "{" + ",".join(f'"{i:x}":1' for i in range(95_000)) + ',"17317":1}',
    ],
)
def test_no_reply_is_too_odd_to_be_judged(text: str) -> None:
    for boundary in (SCOUT, Boundary(Digit)):
        verdict = boundary.judge(Reply(text=text, finish="stop"))
        assert verdict.fault is not None
        assert len(verdict.fault.message) < 700


def test_more_decimals_than_six_are_rounded() -> None:
    assert SCOUT.decode(TEXT.replace("0.25", "0.33333333333")).odds == 0.333333


@pytest.mark.parametrize("declared", [Digit, Mood, Attack | None, Annotated[list[Digit], Field(max_length=2)], None])
def test_any_type_may_stand_at_the_root(declared: Any) -> None:
    boundary: Boundary[Any] = Boundary(declared)
    for dialect in get_args(Dialect):
        if dialect in boundary.language().artifacts:
            assert boundary.artifact(dialect).digest
    closed = json.loads(boundary.artifact("json_schema_closed").text)
    assert (closed["type"], closed["required"]) == ("object", ["value"])
    assert boundary.decode('{"value":null}', dialect="json_schema_closed") is None if declared is None else True


def test_equal_declarations_share_what_does_not_change() -> None:
    tick: Boundary[Any] = Boundary(Annotated[list[MarkRef], Field(max_length=2)])
    one, two = (tick.artifact("lark", Scope(marks=by_number(marks({n: None})))) for n in (1, 2))
    assert one.digest != two.digest
    assert one.invariant_digest == two.invariant_digest != SCOUT.artifact("lark").invariant_digest


def test_nothing_to_name_is_an_error_and_never_an_empty_choice() -> None:
    with pytest.raises(EmptyDomain, match="Expected at least one mark on screen, found none"):
        Boundary(MarkRef).artifact("lark")
    with pytest.raises(EmptyDomain):
        Boundary(Annotated[list[CellRef], Field(min_length=1, max_length=2)]).artifact("gbnf")
    optional: Boundary[Any] = Boundary(MarkRef | None)
    assert optional.artifact("choices").choices == ("null",)
    empty_list: Boundary[Any] = Boundary(Annotated[list[MarkRef], Field(max_length=2)])
    assert empty_list.artifact("choices").choices == ("[]",)


@pytest.mark.parametrize("retries", [-1, 11, 1.0, True])
def test_a_budget_is_a_small_whole_number(retries: Any) -> None:
    with pytest.raises(ValueError, match="expected retries between 0 and 10"):
        Boundary(Digit, retries=retries)


def test_a_type_that_cannot_be_held_is_refused_when_it_is_declared() -> None:
    with pytest.raises(InadmissibleType, match=r"Found the type typing\.Any"):
        Boundary(tuple[Any, int])


class Host:
    """Says what it is told, in order, and keeps the faults that it was told of."""

    def __init__(self, texts: Iterable[str | Exception | Reply]) -> None:
        self._texts = iter(texts)
        self.told: list[Fault | None] = []

    def __call__(self, fault: Fault | None) -> Reply:
        self.told.append(fault)
        text = next(self._texts)
        if isinstance(text, Exception):
            raise text
        return text if isinstance(text, Reply) else Reply(text=text, finish="stop")


@pytest.mark.parametrize("retries", [0, 1, 2, 5])
@pytest.mark.parametrize("good_at", [0, 1, 2, 9])
def test_attempts_never_pass_the_ceiling(retries: int, good_at: int) -> None:
    boundary: Boundary[int] = Boundary(Digit, retries=retries)
    host = Host(["7" if i == good_at else "11" for i in range(20)])
    outcome = boundary.ask(host)
    assert boundary.ceiling == retries + 1
    assert len(outcome.attempts) == len(host.told) == min(good_at, retries) + 1
    assert outcome.value == (7 if good_at <= retries else None)


def test_the_next_attempt_is_told_what_was_wrong() -> None:
    host = Host(["{}", "[3", "7"])
    outcome = Boundary(Digit, retries=2).ask(host)
    assert outcome.value == 7
    told = [fault and fault.kind for fault in host.told]
    assert told == [None, "invalid", "malformed"]
    assert host.told[1] is not None
    assert host.told[1].message == "reply: expected a whole number from 0 to 9, found {}"


def test_all_kinds_of_fault_share_the_budget() -> None:
    boundary: Boundary[int] = Boundary(Digit, retries=5)
    lark = boundary.artifact("lark")
    right, wrong = Claim(dialect="lark", digest=lark.digest), Claim(dialect="lark", digest="0" * 64)
    host = Host(
        [
            Reply(text="7", finish="length"),
            Reply(text="x", finish="stop", claim=right),
            Reply(text="7", finish="stop", claim=wrong),
            Reply(text="77", finish="stop", claim=right),
            Reply(text="77", finish="stop"),
            Reply(text="7", finish="stop", claim=right),
        ]
    )
    outcome = boundary.ask(host)
    kinds = [attempt.verdict.fault and attempt.verdict.fault.kind for attempt in outcome.attempts]
    assert kinds == ["truncated", "malformed", "wrong_claim", "claim_violated", "invalid", None]
    assert outcome.attempts[-1].verdict.held
    assert outcome.value == 7


def test_a_host_that_dies_half_way_is_not_asked_again() -> None:
    host = Host(["11", ConnectionResetError("gone"), "7"])
    with pytest.raises(ConnectionResetError):
        Boundary(Digit, retries=5).ask(host)
    assert len(host.told) == 2


def test_a_budget_that_is_spent_cannot_be_passed() -> None:
    budget = Budget(1)
    budget.spend()
    budget.spend()
    with pytest.raises(RuntimeError, match="attempt 3 of at most 2"):
        budget.spend()


def carried(texts: list[str], effect: Callable[[int], str]) -> tuple[str | None, list[Any]]:
    host = Host(texts)
    outcome, result = Boundary(Digit, retries=1).carry_out(host, effect)
    return result, [outcome.value, len(host.told)]


def test_an_effect_happens_exactly_once_and_only_after_validation() -> None:
    done: list[int] = []

    def effect(value: int) -> str:
        done.append(value)
        return f"did {value}"

    assert carried(["7"], effect) == ("did 7", [7, 1])
    assert carried(["11", "0"], effect) == ("did 0", [0, 2])
    assert done == [7, 0]
    assert carried(["11", "12", "7"], effect) == (None, [None, 2])
    assert done == [7, 0]


def test_an_effect_that_fails_is_not_done_again() -> None:
    done: list[int] = []

    def effect(value: int) -> str:
        done.append(value)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        carried(["7", "8"], effect)
    assert done == [7]


def test_none_is_a_value_where_the_type_admits_it() -> None:
    seen: list[Any] = []
    optional: Boundary[Any] = Boundary(Digit | None)
    outcome, _ = optional.carry_out(Host(["null"]), seen.append)
    assert seen == [None]
    assert outcome.attempts[-1].verdict.fault is None
