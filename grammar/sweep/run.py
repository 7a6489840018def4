"""Put every type of the pool to every consumer, and count."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grammar.errors import GrammarBuildError, InadmissibleType
from grammar.nodes import Scope
from grammar.sweep.consumers import Consumers, Opinion, other_spelling
from grammar.sweep.documents import Values, mutants
from grammar.sweep.pool import Pool
from grammar.sweep.traps import Case, Impossible
from perception.geometry import Box
from perception.observation import GridCell, Mark

POOL_SIZE = 1872
"""Fewest types of a whole sweep."""
POOL_DIGEST = "657bb5b99b6cf20456360d1dc20cd318c9115a6bf21851097574dfec90458de0"
"""What the whole pool is composed of. A change of the pool is a change of this line."""
VALUES_EACH = 3
EXAMPLES_KEPT = 5

_NOWHERE = Box(0, 0, 1, 1)
_LABELS = ("safe", 'say "::=" // #\\', None, "safe", "\u05d0\x7f\n\U0001f600")
SCOPE = Scope(
    marks={n: Mark(number=n, box=_NOWHERE, label=t) for n, t in zip((1, 12, 123, 7, 70), _LABELS, strict=True)},
    cells={
        cell.name: cell
        for cell in (
            GridCell(number=1, row=row, column=column, box=_NOWHERE, kind=None)
            for row in range(12)
            for column in (0, 1, 26)
            if (row, column) != (3, 1)
        )
    },
)
"""What the types of the pool can name: numbers that begin alike, hostile labels, a board with a hole."""


@dataclass(slots=True)
class Sweep:
    """What a sweep found. Every count under ``violations`` must be 0.

    Attributes:
        types: types asked about.
        admitted: types that were taken.
        refused: by the rule that they break.
        impossible: types that Python or pydantic does not let one declare.
        documents: texts that were put to all consumers.
        accepted: of those, texts that the grammars have.
        violations: by what went wrong.
        other_spellings: texts that the validator takes and the grammars do not, by why.
        schema_wider: texts that the schemas take and the validator does not: what a schema cannot say.
        examples: of each violation, a few.
        pool_digest: what the pool was composed of.
    """

    types: int = 0
    admitted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    impossible: int = 0
    documents: int = 0
    accepted: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    other_spellings: Counter[str] = field(default_factory=Counter)
    schema_wider: int = 0
    examples: dict[str, list[str]] = field(default_factory=dict)
    pool_digest: str = ""

    def violated(self, what: str, case: Case, text: str) -> None:
        """Count one, and keep it as an example."""
        self.violations[what] += 1
        kept = self.examples.setdefault(what, [])
        if len(kept) < EXAMPLES_KEPT:
            kept.append(f"{case.name}: {text[:200]}")

    def missed(self, *, whole: bool) -> list[str]:
        """The goals that were not met, each in a sentence. ``whole``: the whole pool was asked about."""
        goals = [f"{what}: expected 0, found {count}" for what, count in sorted(self.violations.items()) if count]
        if whole and self.types < POOL_SIZE:
            goals.append(f"types: expected at least {POOL_SIZE}, found {self.types}")
        if whole and self.pool_digest != POOL_DIGEST:
            goals.append(f"composition of the pool: expected {POOL_DIGEST[:12]}, found {self.pool_digest[:12]}")
        return goals

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        counts = {name: getattr(self, name) for name in ("types", "admitted", "impossible", "documents", "accepted")}
        return {
            **counts,
            "refused": dict(self.refused.most_common()),
            "violations": dict(self.violations),
            "other_spellings": dict(self.other_spellings.most_common()),
            "schema_wider": self.schema_wider,
            "examples": self.examples,
            "pool_digest": self.pool_digest,
        }


def sweep(
    pool: Pool, cases: Sequence[Case] | None = None, *, seed: int = 0, tell: Callable[[int], None] | None = None
) -> Sweep:
    """Ask every consumer about every type.

    Args:
        pool: the types.
        cases: some of them only. None: all.
        seed: of the documents; each type's are its own, whatever else is asked about.
        tell: called after each type with how many are done.
    """
    found = Sweep(pool_digest=pool.digest)
    for done, case in enumerate(pool.cases if cases is None else cases, 1):
        _one_type(case, found, random.Random(f"{seed} {case.name}"))  # noqa: S311 - documents, not secrets
        if tell is not None:
            tell(done)
    return found


def _one_type(case: Case, found: Sweep, rng: random.Random) -> None:
    found.types += 1
    if isinstance(case.declared, Impossible):
        found.impossible += 1
        return
    try:
        consumers = Consumers(case.declared, SCOPE)
    except InadmissibleType as refusal:
        found.refused[refusal.kind] += 1
        return
    except (GrammarBuildError, TypeError, ValueError, RecursionError) as problem:
        found.violated("the gate takes it and a printer or an engine does not", case, repr(problem))
        return
    found.admitted += 1
    values = Values(SCOPE, rng)
    for _ in range(VALUES_EACH):
        _one_value(case, values.draw(consumers.language.plan.node), consumers, found, rng)


def _one_value(case: Case, value: Any, consumers: Consumers, found: Sweep, rng: random.Random) -> None:
    """A value's own text, and texts near it."""
    text = consumers.language.spell(value)
    opinion = consumers.opinion(text)
    found.documents += 1
    for name in ("lark", "gbnf", "exact", "free", "schema"):
        if not getattr(opinion, name):
            found.violated(f"a good document is refused by {name}", case, text)
    if opinion.free:
        back = consumers.language.decode(text)
        if back != value or repr(back) != repr(value):
            found.violated("a value is not what its text is read as", case, f"{value!r} {text}")
    found.accepted += opinion.lark
    for near in mutants(text, rng):
        _one_mutant(case, near, consumers, found)


def _one_mutant(case: Case, text: str, consumers: Consumers, found: Sweep) -> None:
    opinion = consumers.opinion(text)
    found.documents += 1
    found.accepted += opinion.lark
    for what in _disagreements(opinion):
        found.violated(what, case, text)
    if opinion.schema and not opinion.free:
        found.schema_wider += 1
    if opinion.free and not (opinion.lark or opinion.gbnf):
        why = other_spelling(text, consumers.language)
        found.other_spellings[why] += 1
        if why == "other":
            found.violated("the validator takes what the grammars do not have, for no known reason", case, text)
        elif opinion.schema is False and why != "map as an object":
            found.violated("the validator takes what a schema refuses", case, text)


def _disagreements(opinion: Opinion) -> list[str]:
    """What must never be."""
    found = []
    for name in ("lark", "gbnf"):
        if getattr(opinion, name) and not opinion.free:
            found.append(f"accepted by the {name} grammar, refused by the validator")
    if opinion.lark != opinion.gbnf:
        found.append("the two grammars differ")
    if opinion.exact != opinion.lark:
        found.append("the validator's one spelling is not the grammar's")
    if opinion.lark and opinion.schema is False:
        found.append("accepted by the grammars, refused by a schema")
    return found
