"""The official JSON Schema test suite: what a schema's grammar has, the validator takes.

The files are those of draft 2020-12 (json-schema-org/JSON-Schema-Test-Suite, commit 44401e0c, MIT, see its LICENSE).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grammar.constraints import DecodeConstraints
from grammar.engine import LLMatcher, Matcher, byte_tokenizer
from grammar.errors import ConstraintViolation
from grammar.gate_worker import ecma_pattern, engine_form

SUITE = Path(__file__).parent / "json_schema_suite"
FILES = sorted(SUITE.rglob("*.json"))


def groups(path: Path) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Each schema of a file with its cases."""
    for group in json.loads(path.read_text(encoding="utf-8")):
        yield group["schema"], group["tests"]


def compiled(schema: Any) -> Matcher | None:
    """The schema's grammar. None: the engine says that it cannot hold a model to it."""
    try:
        matcher = LLMatcher(byte_tokenizer(), engine_form(json.dumps(schema), "json_schema"), log_level=0)
    except ValueError:
        return None
    return None if matcher.is_error() else Matcher(matcher)


def takes(schema: Any, text: str) -> bool:
    try:
        DecodeConstraints(json_schema=schema).verify_output(text)
    except ConstraintViolation:
        return False
    return True


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SUITE)))
def test_the_grammar_has_nothing_that_the_validator_refuses(path: Path) -> None:
    for schema, cases in groups(path):
        grammar = compiled(schema)
        if grammar is None:
            continue
        for case in cases:
            text = json.dumps(case["data"], separators=(",", ":"), ensure_ascii=False)
            if grammar.parse(text).outcome == "sentence":
                assert takes(schema, text), (schema, text)


def test_the_suite_is_not_passed_by_refusing_everything() -> None:
    schemas = [(schema, cases) for path in FILES for schema, cases in groups(path)]
    grammars = [(compiled(schema), schema, cases) for schema, cases in schemas]
    taken = sum(
        grammar.parse(json.dumps(case["data"], separators=(",", ":"), ensure_ascii=False)).outcome == "sentence"
        for grammar, _, cases in grammars
        if grammar is not None
        for case in cases
    )
    assert sum(grammar is not None for grammar, _, _ in grammars) > 170
    assert taken > 350


@pytest.mark.parametrize("path", [path for path in FILES if path.parent == SUITE], ids=lambda path: path.name)
def test_the_validator_agrees_with_the_suite(path: Path) -> None:
    for schema, cases in groups(path):
        try:
            constraint = DecodeConstraints(json_schema=schema)
        except ValueError as problem:
            assert "localhost" in str(problem), (schema, problem)  # it refers to what is not in it
            continue
        for case in cases:
            assert takes(constraint.json_schema, json.dumps(case["data"])) == case["valid"], (schema, case)


@pytest.mark.parametrize(
    ("pattern", "written_out"),
    [("a.c", r"a[^\n\r\u2028\u2029]c"), (r"a\.c", r"a\.c"), ("[.]", "[.]"), (r"\\.", r"\\[^\n\r\u2028\u2029]")],
)
def test_a_dot_is_what_ecma_says(pattern: str, written_out: str) -> None:
    assert ecma_pattern(pattern) == written_out
    assert ecma_pattern(r"\s") == "[" + ecma_pattern(r"[\s]")[1:-1] + "]"
