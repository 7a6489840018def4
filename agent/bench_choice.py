"""How well a model chooses, beside how it is asked: over 120 fixed cases in which it is known what is right."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel

from actuation.tools import Click, Tool, Wait
from agent.bot import Bot, Example, Game
from agent.models.base import DecodeRequest, Model, Prompt
from agent.prompt import PromptBuilder
from agent.testing import FixedDetector
from grammar.boundary import judge
from grammar.engine import Verifier
from grammar.tick import TickGrammar, TickLanguage
from perception.geometry import Box
from perception.observation import Mark
from perception.score import wilson

CASES = "choice_cases.json"
KINDS = ("text", "distractors", "duplicates", "synonyms", "spatial", "game")
TWICE = 2.0  # what label first must be to number only

Decoding = Literal["greedy", "scored", "against unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One choice.

    Attributes:
        id: its kind and a number.
        kind: of ``KINDS``.
        goal: what is wanted.
        marks: number -> label, in reading order.
        right: the numbers of which any is right.
    """

    id: str
    kind: str
    goal: str
    marks: Mapping[int, str]
    right: Sequence[int]

    @property
    def chance(self) -> float:
        """The share of the marks that are right."""
        return len(self.right) / len(self.marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of asking.

    Attributes:
        label_first: a mark is spelt by its label and its number; otherwise by its number alone.
        decoding: ``greedy`` under the grammar, token by token; ``scored``: every alternative, whole; ``against
            unknown``: less its score under a goal that says nothing.
        goal_last: the goal stands after the marks; otherwise before them.
    """

    label_first: bool
    decoding: Decoding
    goal_last: bool

    def __str__(self) -> str:
        spelling = "label first" if self.label_first else "number only"
        return f"{spelling}, {self.decoding}, goal {'last' if self.goal_last else 'first'}"


DEFAULT = Arm(label_first=True, decoding="against unknown", goal_last=True)  # what a run does
PLAIN = Arm(label_first=False, decoding="greedy", goal_last=True)  # what constrained decoding usually is
ARMS = tuple(
    Arm(label_first=label_first, decoding=decoding, goal_last=goal_last)
    for label_first in (True, False)
    for goal_last in (True, False)
    for decoding in ("against unknown", "scored", "greedy")
    if goal_last or decoding != "against unknown"  # without the goal at the end there is nothing to score against
)


class Clicker(Bot):
    """What every case is asked as; its examples are of no case."""

    game = Game(title="Choices")
    detector = FixedDetector({})
    tools = (Click, Wait)
    goal = ""
    examples = (
        Example(marks={4: "red", 7: "blue", 9: "green"}, goal="click blue", action=Click(mark=7)),
        Example(marks={2: "fork", 3: "plate", 8: "cup", 11: "knife"}, goal="take the cup", action=Click(mark=8)),
        Example(marks={1: "Yes", 5: "No"}, goal="agree", action=Click(mark=1)),
    )


@dataclass(slots=True, kw_only=True)
class Row:
    """What became of some cases under one arm.

    Attributes:
        arm: how they were asked.
        kind: of which kind they are; ``all`` for all.
        cases: how many.
        hits: of these, those in which the choice was right.
        valid: those in which the answer was legal at all.
        first: those in which the first mark was chosen.
        chance: the share of the marks that are right, summed.
        first_chance: the share of the first mark, summed.
        margins: of each, how far the choice was ahead of the next one, in nats, where the model says so.
        masses: of each, the probability that the model put on what was legal, where it says so.
        took_ms: of each.
    """

    arm: str
    kind: str
    cases: int = 0
    hits: int = 0
    valid: int = 0
    first: int = 0
    chance: float = 0.0
    first_chance: float = 0.0
    margins: list[float] = field(default_factory=list)
    masses: list[float] = field(default_factory=list)
    took_ms: list[float] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        """The share that was right."""
        return self.hits / self.cases if self.cases else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval, by Wilson's score."""
        return wilson(self.hits, self.cases)

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        many = max(1, self.cases)
        return {
            "arm": self.arm,
            "kind": self.kind,
            "cases": self.cases,
            "right": self.hits,
            "accuracy": self.accuracy,
            "interval_95": list(self.interval),
            "chance": self.chance / many,
            "valid_rate": self.valid / many,
            "first_mark_rate": self.first / many,
            "first_mark_rate_by_chance": self.first_chance / many,
            "margin_p50": statistics.median(self.margins) if self.margins else None,
            "mass_p50": statistics.median(self.masses) if self.masses else None,
            "ms_p50": statistics.median(self.took_ms) if self.took_ms else None,
        }


def read_cases() -> tuple[list[Case], str]:
    """The fixed set, and the sha256 of its file."""
    data = files("agent").joinpath(CASES).read_bytes()
    cases = [
        Case(
            id=each["id"],
            kind=each["kind"],
            goal=each["goal"],
            marks={int(number): label for number, label in each["marks"].items()},
            right=each["right"],
        )
        for each in json.loads(data)
    ]
    return cases, hashlib.sha256(data).hexdigest()


def can(model: Model, arm: Arm) -> bool:
    """True when a model can be asked so: those that score alternatives can in every way, others greedily alone."""
    return arm.decoding == "greedy" or hasattr(model, "score")


def measure(model: Model, arm: Arm, cases: Sequence[Case]) -> Iterator[list[Row]]:
    """Ask each case once, and count: a row a kind, and one for all; given again after each case.

    Raises:
        ModelError: the model cannot be asked so: its host takes none of the dialects that the arm needs.
    """
    rows = {kind: Row(arm=str(arm), kind=kind) for kind in (*KINDS, "all")}
    asker = _Asker(model, arm)
    model.prepare(asker.stable)
    for case in cases:
        asker.ask(case, [rows[case.kind], rows["all"]])
        yield [row for row in rows.values() if row.cases]


class _Asker:
    """Asks under one arm."""

    def __init__(self, model: Model, arm: Arm) -> None:
        self._model = model
        self._arm = arm
        self._verifier = Verifier()
        self._grammar = TickGrammar(Clicker.tools, self._verifier, label_first=arm.label_first)
        self.stable = self._builder("").stable

    def _builder(self, goal: str) -> PromptBuilder:
        return PromptBuilder(type("Asked", (Clicker,), {"label_first": self._arm.label_first, "goal": goal})())

    def ask(self, case: Case, rows: Sequence[Row]) -> None:
        """Ask one case, and count what comes of it in some rows."""
        marks = [Mark(number=n, box=Box(0, 20 * n, 10, 10), label=label) for n, label in case.marks.items()]
        tick = self._grammar.for_tick(marks)
        request = self._request(self._builder(case.goal).build(marks), tick)
        began_s = time.perf_counter()
        reply = self._model.complete(request)
        took_ms = 1000 * (time.perf_counter() - began_s)
        value: BaseModel | None = judge(reply, tick, self._verifier).value
        chosen = value.target if isinstance(value, Tool) else None
        for row in rows:
            row.cases += 1
            row.hits += chosen in case.right
            row.valid += value is not None
            row.first += chosen == marks[0].number
            row.chance += case.chance
            row.first_chance += 1 / len(marks)
            row.took_ms.append(took_ms)
            row.margins += [] if reply.margin is None else [reply.margin]
            row.masses += [] if reply.mass is None else [reply.mass]

    def _request(self, prompt: Prompt, tick: TickLanguage) -> DecodeRequest:
        artifacts = dict(tick.artifacts)
        if self._arm.decoding == "greedy" and hasattr(self._model, "score"):
            artifacts.pop("choices", None)  # it would score them
        if self._arm.decoding != "against unknown":
            prompt = replace(prompt, unknown_goal=prompt.goal)
        if not self._arm.goal_last:
            prompt = replace(prompt, changing=prompt.goal + prompt.changing, goal="", unknown_goal="")
        return DecodeRequest(prompt=prompt, artifacts=artifacts)


def missed_goals(rows: Sequence[Row]) -> list[str]:
    """What ``--check`` wants and did not find, each in a sentence."""
    by_arm = {row.arm: row for row in rows if row.kind == "all"}
    missed = [
        f"{row.arm}: expected every answer to be legal, found {row.valid} of {row.cases}"
        for row in by_arm.values()
        if row.valid < row.cases
    ]
    ours, plain = by_arm.get(str(DEFAULT)), by_arm.get(str(PLAIN))
    if ours is not None and plain is not None and ours.hits < TWICE * plain.hits:
        missed.append(
            f"{ours.arm}: expected at least {TWICE:g} times as many right as {plain.arm}, "
            f"found {ours.hits} and {plain.hits} of {ours.cases}"
        )
    return missed
