"""This tick's grammar: rebuilt from what is on screen, so that what is not there cannot be named."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import BaseModel

from grammar.certificate import Certificate, certify
from grammar.engine import Verifier
from grammar.errors import InadmissibleType
from grammar.language import Language, Plan, plan, with_proof
from grammar.nodes import NOTHING, Scope, inhabited
from grammar.shape import tool_shapes
from grammar.spelling import by_number
from perception.observation import GridCell, Mark

_NOT_YET: Any = object()


class TickLanguage(Language[BaseModel]):
    """A tick's language: the tools, and the marks and cells that can be named now.

    Attributes:
        certificate: the targets that the grammar's text can name; checked to be those on screen.
    """

    def __init__(self, planned: Plan[BaseModel], scope: Scope) -> None:
        super().__init__(planned, scope)
        lark = self.artifacts["lark"]
        self.certificate: Certificate = certify(lark.text, lark.digest, scope, planned.lark)


class TickGrammar:
    """Builds each tick's language for one set of tools.

    The tools are walked and printed once; only what can be named is printed again. Equal marks and cells give equal
    bytes, so an unchanged screen costs one look-up.

    Args:
        tools: the bot's; at least one that needs no target.
        verifier: compiles and keeps the grammars by digest.
        label_first: spell a mark's label in front of its number. A small model is right twice as often with it.
        proof: let each sentence end in a text that shows under which grammar it was decoded.

    Raises:
        InadmissibleType: a tool cannot be held to, or there is none that is always legal.
    """

    def __init__(
        self, tools: Sequence[type[BaseModel]], verifier: Verifier, *, label_first: bool = True, proof: bool = False
    ) -> None:
        node = tool_shapes(tools, label_first=label_first)
        if inhabited(node, NOTHING) is None:
            raise InadmissibleType(
                "tools",
                "tools",
                "Every tool needs a target, and a screen may show none.",
                "Declare one that needs none: Wait.",
            )
        self._node = with_proof(node) if proof else node
        self._verifier = verifier
        self._plans: dict[tuple[bool, bool], Plan[BaseModel]] = {}
        self._cells: tuple[object, dict[str, GridCell]] = (_NOT_YET, {})
        self._seen: tuple[object, object] = (_NOT_YET, _NOT_YET)
        self._last: tuple[object, TickLanguage] | None = None

    def for_tick(
        self,
        marks: Sequence[Mark],
        suppressed: Collection[int] = (),
        cells: Sequence[GridCell] = (),
        suppressed_cells: Collection[str] = (),
    ) -> TickLanguage:
        """The language for what is on screen, less what is suppressed, compiled and with its first mask.

        A tool whose targets are all gone is left out. Marks that differ in their boxes alone give the language of
        before, whose scope keeps the boxes of then: where a mark is now, the observation says.

        Raises:
            ValueError: two marks share a number.
            GrammarBuildError: our own grammar does not compile, or names what is not there.
        """
        offered = [mark for mark in marks if mark.number not in suppressed] if suppressed else marks
        table, names = self._named_cells(cells, suppressed_cells)
        key = ([(mark.number, mark.label) for mark in offered], names)
        if self._last is None or self._last[0] != key:
            self._last = (key, self._build(Scope(marks=by_number(offered), cells=table)))
        return self._last[1]

    def _named_cells(
        self, cells: Sequence[GridCell], suppressed: Collection[str]
    ) -> tuple[dict[str, GridCell], object]:
        """Cells by name, and what tells this geometry from another."""
        left_out = frozenset(suppressed)
        if not (isinstance(cells, tuple) and cells is self._seen[0] and left_out == self._seen[1]):
            places = ([(cell.column, cell.row) for cell in cells], left_out)
            if self._cells[0] != places:
                self._cells = (places, {cell.name: cell for cell in cells if cell.name not in suppressed})
            self._seen = (cells, left_out)
        return self._cells[1], self._cells[0]

    def _build(self, scope: Scope) -> TickLanguage:
        known = (bool(scope.marks), bool(scope.cells))
        if known not in self._plans:
            self._plans[known] = plan(self._node, scope, _as_it_is)
        language = TickLanguage(self._plans[known], scope)
        self._verifier.prepare(language.artifacts["lark"])
        return language


def _as_it_is(action: BaseModel) -> BaseModel:
    return action
