"""The contestants' contract in the grammar benchmark, our own texts, and our own way."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from grammar.certificate import certify
from grammar.engine import LLMatcher, Verifier
from grammar.language import GBNF, Language, Plan, plan
from grammar.nodes import Scope
from grammar.printer import Skeleton, fill
from grammar.reply import Artifact
from grammar.shape import tool_shapes
from grammar.spelling import by_number
from grammar.tick import TickGrammar
from perception.observation import GridCell
from tests.bench.screens import TOOLS, Screen
from tests.bench.vocabularies import Vocabulary

Mask = NDArray[np.uint8]
"""One bit a token, lowest bit first."""


class Walk(Protocol):
    """One action, token by token."""

    def mask(self) -> Mask:
        """What may come next."""
        ...

    def take(self, token: int) -> None:
        """Go on by a token."""
        ...


class Contestant(Protocol):
    """One way to hold a model to what is on screen.

    Attributes:
        name: in the table.
        verifies: it can check a whole sentence.
    """

    name: str
    verifies: ClassVar[bool]

    def text(self, screen: Screen) -> str:
        """The grammar of a screen."""
        ...

    def compile(self, text: str) -> Any:
        """The grammar, ready for a walk."""
        ...

    def walk(self, compiled: Any) -> Walk:
        """The start of an action. An ``LLWalk`` wanders; any other is led where ours wandered."""
        ...

    def verify(self, compiled: Any, said: str) -> bool:
        """True for a whole sentence."""
        ...

    def clear(self) -> None:
        """Forget the screens of one kind."""
        ...


class Printer:
    """Our texts, printed as a tick prints them: the fixed part is there, the cells are a table that is kept."""

    def __init__(self) -> None:
        self._node = tool_shapes(TOOLS)
        self._cells: tuple[tuple[GridCell, ...], dict[str, GridCell]] = ((), {})
        self._plan: Plan[BaseModel] | None = None
        self.latest = Scope()

    def lark(self, screen: Screen) -> str:
        """The text that llguidance reads."""
        planned = self._planned(screen)
        return Language(planned, self.latest).artifacts["lark"].text

    def gbnf(self, screen: Screen) -> str:
        """The text that llama.cpp reads, and xgrammar too."""
        planned = self._planned(screen)
        return fill(planned.gbnf, self.latest, GBNF)

    @property
    def fixed(self) -> Skeleton:
        """The part of the latest text that names nothing."""
        assert self._plan is not None
        return self._plan.lark

    def _planned(self, screen: Screen) -> Plan[BaseModel]:
        """The plan, and what can be named as ``latest``."""
        if screen.cells is not self._cells[0]:
            self._cells = (screen.cells, {cell.name: cell for cell in screen.cells})
        self.latest = Scope(marks=by_number(screen.marks), cells=self._cells[1])
        if self._plan is None:
            self._plan = plan(self._node, self.latest, lambda action: action)
        return self._plan


class LLWalk:
    """A walk under llguidance."""

    def __init__(self, matcher: LLMatcher) -> None:
        self._matcher = matcher

    def mask(self) -> Mask:
        """What may come next."""
        return np.frombuffer(self._matcher.compute_bitmask(), np.uint8)

    def take(self, token: int) -> None:
        """Go on by a token."""
        self._matcher.consume_token(token)

    def forced(self) -> list[int]:
        """What must come next, taken."""
        tokens = self._matcher.compute_ff_tokens()
        self._matcher.consume_tokens(tokens)
        return list(tokens)

    @property
    def over(self) -> bool:
        """True at the end; also when the engine died, which no action survives."""
        return alive(self._matcher).is_stopped()


def alive(matcher: LLMatcher) -> LLMatcher:
    """The matcher; a dead one would answer politely.

    Raises:
        RuntimeError: it is dead.
    """
    if matcher.is_error():
        raise RuntimeError(matcher.get_error())
    return matcher


class Ours:
    """Our Lark under llguidance."""

    name = "onmark"
    verifies: ClassVar[bool] = True

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._engine = vocabulary.engine
        self._printer = Printer()
        self._verifier = Verifier()
        self._ticks = TickGrammar(TOOLS, self._verifier)
        self._artifact: Artifact | None = None

    def text(self, screen: Screen) -> str:
        """The Lark."""
        return self._printer.lark(screen)

    def certify(self, text: str, digest: str) -> None:
        """Read the latest text back, as every tick does."""
        certify(text, digest, self._printer.latest, self._printer.fixed)

    def compile(self, text: str) -> LLMatcher:
        """A matcher over the vocabulary."""
        return alive(LLMatcher(self._engine, LLMatcher.grammar_from_lark(text), log_level=0))

    def walk(self, compiled: LLMatcher) -> LLWalk:
        """The start of an action."""
        return LLWalk(compiled)

    def tick(self, screen: Screen) -> None:
        """All of ``for_tick``: text, digest, certificate, the verifier's grammar over bytes and its first mask."""
        self._artifact = self._ticks.for_tick(screen.marks, cells=screen.cells).artifacts["lark"]

    def verify(self, compiled: Any, said: str) -> bool:
        """Re-parse, byte by byte, under the grammar that the tick prepared."""
        return self._artifact is not None and self._verifier.parse(self._artifact, said).outcome == "sentence"

    def clear(self) -> None:
        """Nothing of ours outlives its tick but a few matchers."""
