"""A grammar that is not ours, tried in a process that can be killed, before it comes near this one.

There are grammars on which llguidance never returns, holding the interpreter's lock, and others on which it dies some
steps later and goes on politely. A child process walks the grammar for a while; it is given two seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from grammar.engine import Parse, without_escapes
from grammar.errors import UnknownGrammarRefused

GrammarFormat = Literal["lark", "gbnf", "json_schema"]
PATIENCE_S = 2.0
MAX_GRAMMAR_CHARS = 1_000_000
MAX_OUTPUT_BYTES = 100_000
_WORKER = Path(__file__).with_name("gate_worker.py")


@dataclass(frozen=True, slots=True)
class UnknownGrammar:
    """A grammar that the gate let pass. It still never comes into this process: each text is parsed in a child.

    Attributes:
        form: the engine's own form of it.
    """

    form: str

    def parse(self, text: str) -> Parse:
        """Where a text stands in the language; ``unverifiable`` too when the child does not answer in time."""
        data = list(text.encode("utf-8", "surrogatepass"))
        if len(data) > MAX_OUTPUT_BYTES:
            return Parse("unverifiable", 0, f"the output is longer than {MAX_OUTPUT_BYTES:,} bytes")
        try:
            answer = _child({"grammar": self.form, "output": data})
        except UnknownGrammarRefused as problem:
            return Parse("unverifiable", 0, str(problem))
        if answer["died"]:
            return Parse("unverifiable", answer["consumed"], answer["died"])
        if answer["consumed"] < len(data):
            return Parse("violated", answer["consumed"])
        return Parse("sentence" if answer["accepting"] else "prefix", answer["consumed"])


@lru_cache(maxsize=64)
def compile_unknown(text: str, form: GrammarFormat = "lark") -> UnknownGrammar:
    """A grammar of unknown origin, once a child has walked it.

    Args:
        text: the grammar; for ``json_schema`` the schema as JSON.
        form: what it is written in.

    Raises:
        UnknownGrammarRefused: it is no grammar, does not compile within two seconds, or kills the engine.
    """
    if form not in get_args(GrammarFormat):
        raise UnknownGrammarRefused(f"Expected a grammar in one of {get_args(GrammarFormat)}, found {form!r}.")
    if len(text) > MAX_GRAMMAR_CHARS:
        raise UnknownGrammarRefused(
            f"Expected a grammar of at most {MAX_GRAMMAR_CHARS:,} characters, found {len(text):,}."
        )
    answer = _child({"text": without_escapes(text) if form == "gbnf" else text, "form": form})
    if answer["problem"]:
        raise UnknownGrammarRefused(f"llguidance refuses this grammar: {answer['problem']}")
    return UnknownGrammar(str(answer["grammar"]))


def _child(request: dict[str, Any]) -> dict[str, Any]:
    """What a child answers within two seconds."""
    command = [sys.executable, "-I", str(_WORKER)]
    said = json.dumps(request)
    try:
        done = subprocess.run(command, input=said, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise UnknownGrammarRefused(
            f"Expected a grammar that compiles within {PATIENCE_S:g} s, found one on which llguidance does not return. "
            'Look for a repetition whose end is not delimited, such as /a+/ before "ab", or a rule of many readings.'
        ) from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnknownGrammarRefused(f"The engine died of this grammar (exit {done.returncode}): {last[:300]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
