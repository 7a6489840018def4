"""llguidance: compile a grammar, check that it lives, re-parse any text against it.

``LLMatcher`` never raises: its error state is read after construction and after every step. This is llguidance's one
home: a model that decodes in process takes the tokenizer and the matcher from here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Literal

from llguidance import LLMatcher, LLTokenizer

from grammar.errors import GrammarBuildError
from grammar.reply import Artifact

__all__ = ["LLMatcher", "LLTokenizer", "Parse", "Verifier", "byte_tokenizer", "compile_lark"]

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
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(text), log_level=0)
    if not matcher.is_error():
        matcher.compute_bitmask()
    if matcher.is_error():
        raise GrammarBuildError(f"llguidance refuses this grammar: {matcher.get_error()}\n{text[:2000]}")
    return matcher


class Verifier:
    """Re-parses texts against artifacts, byte by byte; compiled grammars are kept by digest."""

    def __init__(self) -> None:
        self._matchers: OrderedDict[str, LLMatcher] = OrderedDict()

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
        matcher = self._matcher(artifact).deep_copy()
        data = list(text.encode("utf-8", "surrogatepass"))
        consumed = matcher.try_consume_tokens(data)
        if matcher.is_error():
            return Parse("unverifiable", consumed, matcher.get_error())
        if consumed < len(data):
            return Parse("violated", consumed)
        return Parse("sentence" if matcher.is_accepting() else "prefix", consumed)

    def _matcher(self, artifact: Artifact) -> LLMatcher:
        digest = artifact.digest
        if digest not in self._matchers:
            self._matchers[digest] = compile_lark(artifact.text, byte_tokenizer())
            while len(self._matchers) > CACHED_MATCHERS:
                self._matchers.popitem(last=False)
        self._matchers.move_to_end(digest)
        return self._matchers[digest]
