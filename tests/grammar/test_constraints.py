"""One completion's constraint: what may be given, and what is found out about an output."""

import json
from typing import Any

import pytest

from grammar.constraints import DecodeConstraints
from grammar.engine import Parse
from grammar.errors import ConstraintViolation, UnknownGrammarRefused, Unverifiable
from grammar.gate import UnknownGrammar, compile_unknown

LARK = 'start: "yes" | "no"'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"grammar": LARK, "choices": ["a"]}, "grammar and choices"),
        ({"json_schema": SCHEMA, "choices": ["a"]}, "json_schema and choices"),
        ({"grammar": LARK, "json_schema": {}, "choices": ["a"]}, "grammar and json_schema and choices"),
        ({"grammar": ""}, "found an empty text"),
        ({"grammar": " \n"}, "found an empty text"),
        ({"choices": []}, "found none"),
        ({"grammar": LARK, "grammar_format": "ebnf"}, "found 'ebnf'"),
        ({"extra_body": {1: 2}}, "plain texts, found 1"),
        ({"choices": ["a", "b", "a"]}, "found 'a' twice"),
        ({"choices": ["a", ""]}, "found ''"),
        ({"choices": "ab"}, "found the text 'ab'"),
        ({"choices": ["a", 1]}, "found 1"),
        ({"json_schema": {"type": "nonsense"}}, "found one that is none"),
        ({"json_schema": {"const": float("nan")}}, "found one that is none"),
        ({"json_schema": {"$schema": "http://json-schema.org/draft-07/schema#"}}, "found one of 'http"),
        ({"json_schema": {"const": {1, 2}}}, "found one that is none"),
        ({"json_schema": {"$ref": "http://127.0.0.1:1/elsewhere"}}, "found one that is none"),
    ],
)
def test_what_may_not_be_given(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        DecodeConstraints(**given)


RESERVED = [
    "grammar", "json_schema", "response_format", "tools", "format", "structured_outputs", "guided_json",
    "guided_anything", "Grammar", " grammar ", "ebnf", "regex", "response-format", "\uff47rammar", "structural_tag",
]  # fmt: skip


@pytest.mark.parametrize("key", RESERVED)
@pytest.mark.parametrize("door", ['{"%s": 1}', '{"extra_body": {"%s": 1}}', '{"a": [{"%s": 1}]}'])
def test_no_constraint_comes_in_by_another_door(key: str, door: str) -> None:
    body = json.loads(door.replace("%s", key))
    with pytest.raises(ValueError, match="which is a constraint: give it as"):
        DecodeConstraints(extra_body=body)
    with pytest.raises(ValueError, match="which is a constraint"):
        DecodeConstraints(grammar=LARK, extra_body=body)


def test_a_door_does_not_open_later() -> None:
    body: dict[str, Any] = {"options": {"seed": 1}}
    constraint = DecodeConstraints(extra_body=body)
    body["grammar"] = "x"
    body["options"]["format"] = "x"
    assert constraint.extra_body == {"options": {"seed": 1}}
    with pytest.raises(TypeError):
        constraint.extra_body["grammar"] = "x"  # type: ignore[index]
    body["options"]["again"] = body
    with pytest.raises(ValueError, match=r"at most 30 levels|is a constraint"):
        DecodeConstraints(extra_body={"a": body["options"]})


def outcome(constraint: DecodeConstraints, text: str, finish: Any = "stop") -> str:
    """Nothing, or the message of the violation; the text is carried to the letter."""
    try:
        constraint.verify_output(text, finish)
    except ConstraintViolation as violation:
        assert violation.output == text
        return str(violation)
    return ""


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (
            DecodeConstraints(grammar=LARK),
            ["yes", "no"],
            {
                "ye": "stops short at byte 2 of 2",
                "yess": "leaves the grammar at byte 3",
                "": "stops short",
                "\ud800": "leaves",
            },
        ),
        (
            DecodeConstraints(grammar='root ::= "é\\u00e9" [a-c]{2}', grammar_format="gbnf"),
            ["ééab"],
            {"éé": "stops short at byte 4 of 4", "ééad": "leaves the grammar at byte 5 of 6"},
        ),
        (DecodeConstraints(choices=["a", "ab"]), ["a", "ab"], {"b": "expected one of the 2 choices", "a ": "choices"}),
        (
            DecodeConstraints(json_schema=SCHEMA),
            ['{"a":1}', '{ "a" : 1 }', '{"a":1.0}'],
            {
                '{"a":"x"}': 'a: "x" is not of type "integer"',
                "{}": '"a" is a required property',
                '{"a":1,"a":2}': "stands there twice",
                '{"a":1': "one JSON value",
                '{"a":NaN}': "NaN is no JSON",
                "[" * 100_000: "one JSON value",
            },
        ),
        (DecodeConstraints(), ["anything", ""], {}),
    ],
)
def test_an_output_is_what_was_asked_for(constraint: DecodeConstraints, good: list[str], bad: dict[str, str]) -> None:
    for text in good:
        assert outcome(constraint, text) == ""
        if constraint.has_constraint():
            assert "a prefix of an answer" in outcome(constraint, text, "length")
    for text, says in bad.items():
        assert says in outcome(constraint, text)


def test_a_callers_check_comes_beside_ours_and_never_instead() -> None:
    asked: list[str] = []

    def picky(text: str) -> bool:
        asked.append(text)
        return text != "no"

    constraint = DecodeConstraints(grammar=LARK, verify=picky)
    assert outcome(constraint, "yes") == ""
    assert "the caller's check says no" in outcome(constraint, "no")
    assert "leaves the grammar" in outcome(constraint, "maybe")
    assert asked == ["yes", "no"]
    assert "IndexError" in outcome(DecodeConstraints(verify=lambda text: text[1]), "x")
    assert outcome(DecodeConstraints(verify=lambda text: None), "x") == ""


def test_a_dead_engine_is_unverifiable_and_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UnknownGrammar, "parse", lambda self, text: Parse("unverifiable", 1, "max is 2000\n<state>"))
    with pytest.raises(Unverifiable, match="the grammar engine died at byte 1: max is 2000") as problem:
        DecodeConstraints(grammar=LARK).verify_output("yes")
    assert problem.value.output == "yes"


def test_a_description_is_safe_as_json_and_holds_no_text() -> None:
    constraint = DecodeConstraints(grammar=LARK, tool_choice={"a": object()}, extra_body={"seed": 1}, verify=len)
    said = constraint.describe()
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["constraint"] == "grammar"
    assert said["bytes"] == len(LARK)
    assert LARK not in json.dumps(said)
    for other in (DecodeConstraints(choices=["a"]), DecodeConstraints(json_schema=SCHEMA), DecodeConstraints()):
        assert json.dumps(other.describe())
    assert DecodeConstraints(choices=["\ud800"]).describe()["bytes"] == 10


HANGS = ('start: /a+/ "ab"', 'start: "x" /a+/ "ab"')
DEADLY = "start: " + " | ".join(f'"a{i}" B' for i in range(2500)) + "\nB: /b/"


@pytest.mark.parametrize("text", HANGS)
def test_a_grammar_on_which_the_engine_does_not_return_is_refused(text: str) -> None:
    with pytest.raises(UnknownGrammarRefused, match="compiles within 2 s"):
        compile_unknown(text)


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        (DEADLY, "lark", "max is 2000"),
        ("nonsense", "lark", "Expected token ':'"),
        ("start: " + "(" * 5000 + '"a"' + ")" * 5000, "lark", "too deeply nested"),
        ("root ::= (", "gbnf", "Expected '\\)'"),
        ("{", "json_schema", "JSONDecodeError"),
        ('{"type":"string","pattern":"(?=a)"}', "json_schema", "look-around"),
        ('{"type":"object","unevaluatedProperties":false}', "json_schema", "unevaluatedProperties"),
        ("x" * 1_000_001, "lark", "at most 1,000,000 characters"),
        ('root ::= "\\UFFFFFFFF"', "gbnf", "llguidance refuses"),
        ('{"x-guidance":{"coerce_one_of":true}}', "json_schema", "x-guidance"),
        ('{"type":"string","pattern":"^[[:alpha:]]$"}', "json_schema", "a class in a class"),
    ],
)
def test_a_grammar_that_kills_the_engine_is_refused(text: str, form: Any, says: str) -> None:
    with pytest.raises(UnknownGrammarRefused, match=says):
        compile_unknown(text, form)


@pytest.mark.parametrize("text", ['start: "a" | start start', 'start: "a" | start start | start start start'])
def test_a_grammar_of_many_readings_cannot_hold_the_check_up(text: str) -> None:
    with pytest.raises(Unverifiable, match="compiles within 2 s"):
        DecodeConstraints(grammar=text).verify_output("a" * 2000)


def test_a_schema_of_many_readings_cannot_hold_the_check_up() -> None:
    arrays = [{"type": "array", "items": {"$ref": "#/$defs/a"}}] * 2
    schema = {"$defs": {"a": {"anyOf": [{"type": "string"}, *arrays]}}, "$ref": "#/$defs/a"}
    with pytest.raises(ConstraintViolation, match="a value that the schema admits"):
        DecodeConstraints(json_schema=schema).verify_output("[" * 30 + "1" + "]" * 30)
    with pytest.raises(ConstraintViolation):
        DecodeConstraints(json_schema={"items": {"type": "object"}}).verify_output("[" + "1," * 300_000 + "1]")


@pytest.mark.parametrize("schema", [{"maximum": 5}, {"not": {"type": "number"}}, {"multipleOf": 2}])
def test_a_number_that_no_float_holds_does_not_slip_through(schema: dict[str, Any]) -> None:
    with pytest.raises(ConstraintViolation, match="too large"):
        DecodeConstraints(json_schema=schema).verify_output("1e400")


def test_an_unknown_grammar_is_tried_once() -> None:
    assert compile_unknown(LARK) is compile_unknown(LARK)
    with pytest.raises(UnknownGrammarRefused):
        DecodeConstraints(grammar=HANGS[0]).verify_output("aab")
