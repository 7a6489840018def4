"""What any model host must do, tried on a live one: ``onmark model check``, and the suite of ``make hosts``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from actuation.tools import Click, Done, PressKey, Tool, Wait
from agent.models.base import DecodeRequest, Model, ModelError, ModelUnavailable, Prompt, Reply
from grammar.boundary import Verdict, judge
from grammar.canary import PROMPT, new_canary
from grammar.engine import Verifier
from grammar.tick import TickGrammar, TickLanguage
from perception.geometry import Box
from perception.observation import Mark

RULES = "Choose the action that reaches the goal.\nclick: Click a mark.\nwait: Do nothing.\n\n"
TOOLS: tuple[type[Tool], ...] = (Click, Wait)
AWKWARD = {
    1: 'say "hi"',
    12: "a ::= b | c",
    123: "tab\\t {x} <|im_end|>",
    4: "\N{GRINNING FACE} \N{CYRILLIC SMALL LETTER YA}",
}
SMALL_BYTES, LARGE_BYTES = 500, 30_000  # of a canary's grammar
SPEEDS = (5, 20, 50)  # marks
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was tried.

    Attributes:
        name: what a host must do.
        fine: it did. None: it is told, and is no fault either way.
        detail: what was found.
    """

    name: str
    fine: bool | None
    detail: str

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"name": self.name, "fine": self.fine, "detail": self.detail}


class Contract:
    """Tries a model. It is connected to first, and closed by whoever made it.

    Args:
        model: any.
        nonces: of the canaries, 16 digits in hex each, for a check that can be repeated. None: nobody can guess them.
    """

    def __init__(self, model: Model, nonces: Iterator[str] | None = None) -> None:
        self._model = model
        self._nonces = nonces
        self._verifier = Verifier()

    def check(self) -> Iterator[Finding]:
        """Each thing in turn.

        Raises:
            ModelError: the host cannot be connected to, or drops every constraint.
            ModelUnavailable: it went away.
        """
        self._model.prepare(RULES)
        spoken = ", ".join(self._model.dialects) or "none: every answer is judged by its value alone"
        yield Finding(name="takes a grammar", fine=bool(self._model.dialects), detail=spoken)
        if self._model.dialects:
            yield self._canary("sings a small canary", SMALL_BYTES)
            yield self._canary("sings a large canary", LARGE_BYTES)
        yield self._held("tells 1, 12 and 123 apart", {1: "north", 12: "south", 123: "east"}, "go east")
        yield self._held("spells awkward labels", AWKWARD, "say hi")
        yield self._held("cannot name what is not there", {3: "Start", 8: "Quit"}, "click mark 7, which is called Shop")
        yield self._held(
            "follows a grammar that changed", {5: "Start", 9: "Quit"}, "click mark 7, which is called Shop"
        )
        yield self._held("takes marks without labels", {1: None, 2: None, 3: None}, "click 2")
        yield self._held("says what is forced", {}, "wait", tools=(Wait,))
        yield self._held("presses keys", {}, "press escape", tools=(PressKey, Done, Wait))
        yield self._held("chooses among 120 marks", {n: f"item {n}" for n in range(1, 121)}, "take item 100")
        yield self._held("shows the proof of its grammar", {3: "Start"}, "start", proof=True)
        yield self._cut()
        yield self._repeats()

    def speed(self) -> Iterator[Finding]:
        """Milliseconds a decision; no two screens alike."""
        for many in SPEEDS:
            took_ms, reused = list[float](), list[float]()
            for number in range(ROUNDS):
                labels = {n: f"item {n} {'abcde'[number] if n % 4 == 0 else ''}" for n in range(1, many + 1)}
                request, _ = self._request(labels, f"take item {number + 1}")
                began_s = time.perf_counter()
                usage = self._model.complete(request).usage
                took_ms.append(1000 * (time.perf_counter() - began_s))
                reused.append(usage.reused_tokens / max(1, usage.prompt_tokens))
            detail = (
                f"{statistics.median(took_ms):.0f} ms a decision, median of {ROUNDS}; "
                f"{statistics.median(reused):.0%} of the prompt had been read before"
            )
            yield Finding(name=f"{many} marks", fine=None, detail=detail)

    def _request(
        self,
        labels: Mapping[int, str | None],
        goal: str,
        tools: Sequence[type[BaseModel]] = TOOLS,
        *,
        proof: bool = False,
    ) -> tuple[DecodeRequest, TickLanguage]:
        marks = [Mark(number=n, box=Box(0, 20 * n, 10, 10), label=label) for n, label in labels.items()]
        tick = TickGrammar(tools, self._verifier, proof=proof).for_tick(marks)
        listed = "".join(f"{n} {label or ''}".rstrip() + "\n" for n, label in labels.items())
        prompt = Prompt(
            stable=RULES, changing=f"Marks:\n{listed}", goal=f"Goal: {goal}\n", unknown_goal="Goal: unknown\n"
        )
        return DecodeRequest(prompt=prompt, artifacts=tick.artifacts), tick

    def _held(
        self,
        name: str,
        labels: Mapping[int, str | None],
        goal: str,
        *,
        tools: Sequence[type[BaseModel]] = TOOLS,
        proof: bool = False,
    ) -> Finding:
        """Ask once; fine when the answer holds."""
        request, tick = self._request(labels, goal, tools, proof=proof)
        try:
            reply = self._model.complete(request)
        except ModelUnavailable:
            raise
        except ModelError as problem:
            return Finding(name=name, fine=False, detail=str(problem))
        verdict: Verdict[BaseModel] = judge(reply, tick, self._verifier)
        if verdict.fault is not None:
            return Finding(name=name, fine=False, detail=f"{verdict.fault.kind}: {verdict.fault.message}")
        return Finding(name=name, fine=verdict.proven or not proof, detail=f"{_trust(verdict)}: {reply.text[:80]}")

    def _canary(self, name: str, size: int) -> Finding:
        canary = new_canary(size, None if self._nonces is None else next(self._nonces))
        prompt = Prompt(stable=RULES, changing="", goal=PROMPT, unknown_goal=PROMPT)
        reply = self._model.complete(DecodeRequest(prompt=prompt, artifacts=canary.artifacts))
        return Finding(name=name, fine=canary.outcome(reply) == "enforced", detail=_said(reply))

    def _cut(self) -> Finding:
        """A prefix of an answer must not pass for one."""
        request, tick = self._request({1: "north", 2: "south"}, "go north")
        reply = self._model.complete(replace(request, max_tokens=3))
        fault = judge(reply, tick, self._verifier).fault
        named = fault is not None and fault.kind == "truncated"
        return Finding(name="says that an answer was cut", fine=named, detail=_said(reply))

    def _repeats(self) -> Finding:
        request, _ = self._request({1: "north", 2: "south"}, "go south")
        said = {self._model.complete(request).text for _ in range(3)}
        return Finding(name="repeats itself", fine=None, detail=f"{len(said)} different of 3: {min(said)[:80]}")


def _trust(verdict: Verdict[BaseModel]) -> str:
    return "proven" if verdict.proven else "held" if verdict.held else "by its value"


def _said(reply: Reply) -> str:
    return f"{reply.finish}: {reply.text[:80]!r}" + (f", aside {reply.aside[:40]!r}" if reply.aside else "")
