"""The child of ``gate``: compiles a grammar, walks it, and says whether the engine lived. Run by its path."""

from __future__ import annotations

import json
import random
import re
import resource
import sys
from typing import Any

from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import gbnf_to_lark

TOKEN = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.|.", re.DOTALL)
LINE_ENDS = r"\n\r\u2028\u2029"
BLANKS = r"\t\n\x0B\x0C\r \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF"
DATA = {"const", "enum", "default", "examples"}  # what stands there is a value, not a schema
NAMED = {"properties", "$defs", "definitions", "dependentSchemas"}  # whose keys are names, not keywords
MEMORY_BYTES = 2**31
WALKS = 4
STEPS = 60
SCHEMA_OPTIONS: Any = {
    "whitespace_flexible": False,
    "item_separator": ",",
    "key_separator": ":",
    "lenient": False,  # lenient, it accepts what the schema does not
}


def main() -> None:
    """Read a request from standard input, and answer on standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    request = json.loads(sys.stdin.read())
    if "grammar" in request:
        sys.stdout.write(json.dumps(parsed(request["grammar"], request["output"])))
        return
    try:
        grammar = engine_form(request["text"], request["form"])
        problem = first_problem(grammar)
    except Exception as refusal:
        grammar, problem = "", f"{type(refusal).__name__}: {refusal}"
    sys.stdout.write(json.dumps({"grammar": grammar, "problem": problem}))


def parsed(grammar: str, output: list[int]) -> dict[str, Any]:
    """How far an output is in a grammar's language: bytes consumed, whether it may end there, the engine's death."""
    matcher = LLMatcher(LLTokenizer("byte"), grammar, log_level=0)
    consumed = matcher.try_consume_tokens(output)
    died = str(matcher.get_error()) if matcher.is_error() else ""
    return {"consumed": consumed, "accepting": not died and matcher.is_accepting(), "died": died}


def engine_form(text: str, form: str) -> str:
    """What the engine's constructor takes."""
    if form == "json_schema":
        schema = with_ecma_patterns(json.loads(text))
        return str(LLMatcher.grammar_from_json_schema(schema, overrides=SCHEMA_OPTIONS))
    return str(LLMatcher.grammar_from_lark(gbnf_to_lark(text) if form == "gbnf" else text))


def with_ecma_patterns(schema: Any, *, names: bool = False) -> Any:
    """A schema whose patterns mean to llguidance what JSON Schema, by ECMA 262, says that they mean.

    Args:
        schema: the schema, or a part of it.
        names: its keys are names that the schema gives, and no keywords.
    """
    if isinstance(schema, list):
        return [with_ecma_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {}
    for key, value in schema.items():
        if names:
            changed[key] = with_ecma_patterns(value)
        elif key in DATA:
            changed[key] = value
        elif key in NAMED and isinstance(value, dict):
            changed[key] = with_ecma_patterns(value, names=True)
        elif key == "x-guidance":
            raise ValueError("x-guidance changes what the engine accepts, and is not supported")
        elif key == "pattern" and isinstance(value, str):
            changed[key] = ecma_pattern(value)
        elif key == "patternProperties" and isinstance(value, dict):
            changed[key] = {ecma_pattern(name): with_ecma_patterns(below) for name, below in value.items()}
        else:
            changed[key] = with_ecma_patterns(value)
    return changed


def ecma_pattern(pattern: str) -> str:
    """A dot and blanks written out: the engine and ECMA differ about which characters these are."""
    return TOKEN.sub(_ecma_token, pattern)


def _ecma_token(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("["):
        if "[" in text[1:]:
            raise ValueError(f"{text}: a class in a class is not supported")
        if "\\S" in text:
            raise ValueError(f"{text}: \\S in a class is not supported")
        return text.replace("\\s", BLANKS)
    return {".": f"[^{LINE_ENDS}]", "\\s": f"[{BLANKS}]", "\\S": f"[^{BLANKS}]"}.get(text, text)


def first_problem(grammar: str) -> str:
    """What the engine says, when it refuses the grammar or dies while it is walked. Empty: nothing."""
    start = LLMatcher(LLTokenizer("byte"), grammar, log_level=0)
    rng = random.Random(0)  # noqa: S311 - a walk, not a secret
    for _ in range(WALKS):
        if start.is_error():
            break
        matcher = start.deep_copy()
        walk(matcher, rng)
        if matcher.is_error():
            return str(matcher.get_error()).split("\n<state>")[0]
    return str(start.get_error()).split("\n<state>")[0] if start.is_error() else ""


def walk(matcher: LLMatcher, rng: random.Random) -> None:
    """Some legal bytes, the forced ones included."""
    for _ in range(STEPS):
        if matcher.is_stopped() or matcher.is_error():
            return
        mask = matcher.compute_bitmask()
        if matcher.is_error():
            return
        legal = [byte for byte in range(256) if mask[byte // 8] >> (byte % 8) & 1]
        if not legal or not matcher.consume_token(rng.choice(legal)):
            return
        forced = matcher.compute_ff_tokens()
        if forced:
            matcher.consume_tokens(forced)


if __name__ == "__main__":
    main()
