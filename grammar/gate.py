"""A grammar that is not ours, tried in a process that can be killed, before it comes near this one.

There are grammars on which llguidance never returns, holding the interpreter's lock, and others on which it dies some
steps later and goes on politely. A child process walks the grammar for a while; it is given two seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Literal

from grammar.engine import LLMatcher, Matcher, byte_tokenizer, without_escapes
from grammar.errors import UnknownGrammarRefused

GrammarFormat = Literal["lark", "gbnf", "json_schema"]
PATIENCE_S = 2.0
MAX_GRAMMAR_CHARS = 1_000_000
_WORKER = Path(__file__).with_name("gate_worker.py")


@lru_cache(maxsize=64)
def compile_unknown(text: str, form: GrammarFormat = "lark") -> Matcher:
    """A matcher for a grammar of unknown origin.

    Args:
        text: the grammar; for ``json_schema`` the schema as JSON.
        form: what it is written in.

    Raises:
        UnknownGrammarRefused: it is no grammar, does not compile within two seconds, or kills the engine.
    """
    if len(text) > MAX_GRAMMAR_CHARS:
        raise UnknownGrammarRefused(
            f"Expected a grammar of at most {MAX_GRAMMAR_CHARS:,} characters, found {len(text):,}."
        )
    engine_form = _tried(without_escapes(text) if form == "gbnf" else text, form)
    # Never asked for a mask or for forced tokens in this process: only those hang.
    return Matcher(LLMatcher(byte_tokenizer(), engine_form, log_level=0))


def _tried(text: str, form: str) -> str:
    """The engine's own form of a grammar that a child has survived."""
    request = json.dumps({"text": text, "form": form})
    command = [sys.executable, "-I", str(_WORKER)]
    try:
        done = subprocess.run(command, input=request, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise UnknownGrammarRefused(
            f"Expected a grammar that compiles within {PATIENCE_S:g} s, found one on which llguidance does not return. "
            'Look for a repetition whose end is not delimited, such as /a+/ before "ab".'
        ) from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnknownGrammarRefused(f"The engine died of this grammar (exit {done.returncode}): {last[:300]}")
    answer = json.loads(done.stdout)
    if answer["problem"]:
        raise UnknownGrammarRefused(f"llguidance refuses this grammar: {answer['problem']}")
    return str(answer["grammar"])
