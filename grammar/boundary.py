"""Where a model's text becomes an action, or a fault that says what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from grammar.engine import Parse, Verifier
from grammar.reply import Artifact, Dialect, Reply
from grammar.tick import TickArtifacts
from grammar.validator import Invalid, validate

FaultKind = Literal["truncated", "wrong_claim", "claim_violated", "unverifiable", "invalid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a reply is no action.

    Attributes:
        kind: ``truncated``: cut before its end. ``wrong_claim``: the host says that it used a grammar that it was not
            given. ``claim_violated``: it claims the right grammar, and the text is not in it. ``unverifiable``: the
            check itself died. ``invalid``: no claim, and not an action of this tick.
        message: position, expected, found; fit for the model to read.
        output: the reply's text, to the letter.
    """

    kind: FaultKind
    message: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judged reply: exactly one of the two is set."""

    action: BaseModel | None = None
    fault: Fault | None = None


class Boundary:
    """Judges replies: audits the claim, re-parses the text, validates it against the tick."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def judge(self, reply: Reply, tick: TickArtifacts) -> Verdict:
        """The action that a reply spells, or its fault. Never raises for what a model said."""
        parse = self._verifier.parse(tick.artifacts["lark"], reply.text)
        fault = _audit(reply, tick, parse)
        if fault is not None:
            return Verdict(fault=fault)
        try:
            action = validate(reply.text, tick.shapes, tick.marks)
        except Invalid as problem:
            return Verdict(fault=_fault(reply, "invalid", str(problem)))
        if parse.outcome != "sentence":
            return Verdict(fault=_fault(reply, "invalid", "the validator accepts it and this tick's grammar does not"))
        return Verdict(action=action)


def _audit(reply: Reply, tick: TickArtifacts, parse: Parse) -> Fault | None:
    """What is wrong before the meaning is looked at."""
    if reply.finish == "length":
        return _fault(reply, "truncated", "the reply was cut; a prefix of an answer is not an answer")
    if reply.claim is not None:
        given = tick.artifacts.get(reply.claim.dialect)
        if given is None or given.digest != reply.claim.digest:
            return _fault(reply, "wrong_claim", _mismatch(reply.claim.dialect, reply.claim.digest, given))
    if parse.outcome == "unverifiable":
        return _fault(reply, "unverifiable", f"the grammar engine died at byte {parse.at}: {parse.detail}")
    if parse.outcome != "sentence" and reply.claim is not None:
        how = "stops short" if parse.outcome == "prefix" else "leaves the grammar"
        size = len(reply.text.encode("utf-8", "surrogatepass"))
        return _fault(reply, "claim_violated", f"{how} at byte {parse.at} of {size}")
    return None


def _fault(reply: Reply, kind: FaultKind, message: str) -> Fault:
    return Fault(kind=kind, message=message, output=reply.text)


def _mismatch(dialect: Dialect, digest: str, given: Artifact | None) -> str:
    expected = f"{given.dialect} {given.digest[:12]}" if given else "an artifact of this tick"
    return f"expected a claim on {expected}, found {dialect} {digest[:12]}"
