"""llguidance: compile a grammar, check that it lives, re-parse any text against it.

``LLMatcher`` never raises: its error state is read after construction and after every step. This is llguidance's one
home: a model that decodes in process takes the tokenizer and the matcher from here.
"""

from __future__ import annotations

import random
import re
import sys
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from llguidance import LLMatcher, LLTokenizer
from llguidance.gbnf_to_lark import gbnf_to_lark

from grammar.errors import GrammarBuildError
from grammar.reply import Artifact

__all__ = ["LLMatcher", "LLTokenizer", "Matcher", "Parse", "Verifier", "byte_tokenizer", "compile_lark"]

CACHED_MATCHERS = 32


@dataclass(frozen=True, slots=True)
class Parse:
    """How far a text is in a grammar's language.

    Attributes:
        outcome: ``sentence``: it is in the language. ``prefix``: it may go on, and has not ended. ``violated``: it
            left the language. ``unverifiable``: the engine died; says nothing about the text, and is not trusted.
        at: bytes that were consumed.
        detail: the engine's message when it died.
    """

    outcome: Literal["sentence", "prefix", "violated", "unverifiable"]
    at: int
    detail: str = ""


@cache
def byte_tokenizer() -> LLTokenizer:
    """The vocabulary of single bytes: for checking text, no model needed."""
    return LLTokenizer("byte")


def compile_lark(text: str, tokenizer: LLTokenizer) -> LLMatcher:
    """A matcher at the start of a grammar that is known to be ours, its first token mask computed.

    Raises:
        GrammarBuildError: it does not compile.
    """
    return _alive(LLMatcher(tokenizer, LLMatcher.grammar_from_lark(text), log_level=0), text)


def _alive(matcher: LLMatcher, text: str) -> LLMatcher:
    """A matcher that goes on, its token mask computed.

    Raises:
        GrammarBuildError: it is dead.
    """
    if not matcher.is_error():
        matcher.compute_bitmask()
    if matcher.is_error():
        raise GrammarBuildError(f"llguidance refuses this grammar: {matcher.get_error()}\n{text[:2000]}")
    return matcher


class Matcher:
    """A compiled grammar over the vocabulary of bytes: says of any text how far it is in the language."""

    def __init__(self, compiled: LLMatcher) -> None:
        self._start = compiled

    @classmethod
    def from_lark(cls, text: str) -> Matcher:
        """Compile Lark that is known to be ours.

        Raises:
            GrammarBuildError: it does not compile.
        """
        return cls(compile_lark(text, byte_tokenizer()))

    @classmethod
    def from_gbnf(cls, text: str) -> Matcher:
        """Compile GBNF that is known to be ours, by way of Lark.

        Raises:
            GrammarBuildError: it does not compile.
        """
        return cls(compile_lark(lark_of_gbnf(text), byte_tokenizer()))

    @classmethod
    def from_schema(cls, text: str) -> Matcher:
        """Compile a JSON schema that is known to be ours; no space is allowed between what it holds.

        Raises:
            GrammarBuildError: it does not compile.
        """
        options: Any = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
        grammar = LLMatcher.grammar_from_json_schema(text, overrides=options)
        return cls(_alive(LLMatcher(byte_tokenizer(), grammar, log_level=0), text))

    def sentence(self, rng: random.Random) -> str:
        """A sentence of the language, each byte drawn from those that may follow."""
        matcher, said = self._start.deep_copy(), bytearray()
        while not matcher.is_stopped():
            mask = _alive(matcher, said.decode("utf-8", "replace")).compute_bitmask()
            legal = [byte for byte in range(256) if mask[byte // 8] >> (byte % 8) & 1]
            if matcher.is_accepting() and (not legal or rng.random() < 0.5):
                break
            said.append(rng.choice(legal))
            matcher.consume_token(said[-1])
        return said.decode("utf-8", "surrogateescape")

    def parse(self, text: str) -> Parse:
        """Where a text stands in the language."""
        matcher = self._start.deep_copy()
        data = list(text.encode("utf-8", "surrogatepass"))
        # A look ahead tells a sentence at a third of the cost; of anything else it does not tell why, nor of a death.
        ended = matcher.validate_tokens([*data, byte_tokenizer().eos_token]) > len(data)
        if ended and not matcher.is_error():
            return Parse("sentence", len(data))
        consumed = matcher.try_consume_tokens(data)
        if matcher.is_error():
            return Parse("unverifiable", consumed, matcher.get_error())
        if consumed < len(data):
            return Parse("violated", consumed)
        return Parse("sentence" if matcher.is_accepting() else "prefix", consumed)


def lark_of_gbnf(text: str) -> str:
    """GBNF as Lark.

    Raises:
        GrammarBuildError: it is no GBNF.
    """
    try:
        return gbnf_to_lark(without_escapes(text))
    except Exception as problem:
        raise GrammarBuildError(f"no GBNF: {problem}\n{text[:2000]}") from problem


_LONG_ESCAPE = re.compile(r"(?P<even>(?<!\\)(?:\\\\)*)\\(?:u(?P<four>[0-9A-Fa-f]{4})|U(?P<eight>[0-9A-Fa-f]{8}))")


def without_escapes(text: str) -> str:
    """GBNF without its long escapes, whose leading zeros llguidance's converter loses."""
    return _LONG_ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    """The character that an escape stands for, or a shorter escape where it would mean something by itself."""
    code = int(found["four"] or found["eight"], 16)
    if code > sys.maxunicode:
        return found[0]  # the reader will refuse it
    return found["even"] + (f"\\x{code:02X}" if code < 0x100 else chr(code))


class Verifier:
    """Re-parses texts against artifacts, byte by byte; compiled grammars are kept by digest."""

    def __init__(self) -> None:
        self._matchers: OrderedDict[str, Matcher] = OrderedDict()

    def prepare(self, artifact: Artifact) -> None:
        """Compile a Lark artifact, so that the first check costs nothing more.

        Raises:
            GrammarBuildError: it does not compile.
        """
        self._matcher(artifact)

    def parse(self, artifact: Artifact, text: str) -> Parse:
        """Where a text stands in a Lark artifact's language.

        Raises:
            GrammarBuildError: the artifact does not compile.
        """
        return self._matcher(artifact).parse(text)

    def _matcher(self, artifact: Artifact) -> Matcher:
        digest = artifact.digest
        if digest not in self._matchers:
            self._matchers[digest] = Matcher.from_lark(artifact.text)
            while len(self._matchers) > CACHED_MATCHERS:
                self._matchers.popitem(last=False)
        self._matchers.move_to_end(digest)
        return self._matchers[digest]
