"""Where a model's text becomes a value, or a fault that says what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar, overload

from grammar.engine import Parse, Verifier
from grammar.language import PROOF, Language, Plan, plan, with_proof
from grammar.nodes import NOTHING, Scope
from grammar.reply import Artifact, Dialect, Reply
from grammar.schema import ENVELOPE
from grammar.shape import shape
from grammar.validator import Invalid, checked, parse

FaultKind = Literal[
    "truncated",
    "empty",
    "aside",
    "malformed",
    "wrong_claim",
    "claim_violated",
    "stale_proof",
    "unverifiable",
    "invalid",
]
MAX_RETRIES = 10
MAX_MESSAGE = 600  # characters of a fault's message: it goes into a prompt

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a reply is no value.

    Attributes:
        kind: ``truncated``: cut before its end. ``empty``: nothing was said. ``aside``: it was said elsewhere, as in
            a channel for reasoning, which no grammar holds. ``malformed``: no JSON, whatever its host claims.
            ``wrong_claim``: the host says that it used a grammar that it was not given. ``claim_violated``: it claims
            the right grammar, and the text is not in it. ``stale_proof``: it shows the proof of another grammar.
            ``unverifiable``: the check itself died. ``invalid``: no claim, and no value of the type.
        message: position, expected, found; fit for the model to read.
        output: the reply's text, to the letter.
    """

    kind: FaultKind
    message: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Generic[T]):
    """A judged reply.

    Attributes:
        value: what it spells. None where there is a fault.
        fault: what is wrong with it. None: nothing.
        held: its host claims this very grammar, and the text is in it. A reply without a claim is judged by its
            value alone.
        proven: it shows the proof of this very grammar.
    """

    value: T | None = None
    fault: Fault | None = None
    held: bool = False
    proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[T]):
    """One reply and what was made of it."""

    reply: Reply
    verdict: Verdict[T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What came of asking. ``value`` is None when no attempt held; then ``attempts`` says why, one fault each."""

    value: T | None
    attempts: tuple[Attempt[T], ...]


class Budget:
    """Counts attempts against a ceiling that no path can pass.

    Args:
        retries: attempts after the first one.

    Raises:
        ValueError: not a whole number from 0 to 10.
    """

    def __init__(self, retries: int) -> None:
        if type(retries) is not int or not 0 <= retries <= MAX_RETRIES:
            raise ValueError(f"expected retries between 0 and {MAX_RETRIES}, found {retries!r}")
        self.ceiling = retries + 1
        self.spent = 0

    @property
    def left(self) -> bool:
        """True while another attempt may be made."""
        return self.spent < self.ceiling

    def spend(self) -> None:
        """Count one attempt.

        Raises:
            RuntimeError: there is none left: a bug of the caller, never to be passed over.
        """
        if not self.left:
            raise RuntimeError(f"attempt {self.spent + 1} of at most {self.ceiling}")
        self.spent += 1


def ask(
    complete: Callable[[Fault | None], Reply],
    language: Language[T],
    verifier: Verifier,
    retries: int = 1,
    go_on: Callable[[], bool] = lambda: True,
) -> Outcome[T]:
    """Ask until a reply holds, at most ``retries`` more times than once.

    Args:
        complete: asks the model once; it is given the fault of the attempt before, whose message the next prompt
            must hold, and None at first. What it raises is no fault of a reply: it is passed on, not tried again.
        language: what the model is held to.
        verifier: re-parses.
        retries: attempts after the first one.
        go_on: asked before each of them; False: there is no time for another.
    """
    budget, attempts = Budget(retries), list[Attempt[T]]()
    fault: Fault | None = None
    while budget.left:
        budget.spend()
        reply = complete(fault)
        verdict = judge(reply, language, verifier)
        attempts.append(Attempt(reply=reply, verdict=verdict))
        fault = verdict.fault
        if fault is None or (budget.left and not go_on()):
            break
    return Outcome(value=attempts[-1].verdict.value, attempts=tuple(attempts))


def judge(reply: Reply, language: Language[T], verifier: Verifier) -> Verdict[T]:
    """The value that a reply spells, or its fault. Never raises for what a model or its host said.

    A reply that claims nothing is judged by its value, in any order and spacing, and never refused for the grammar.
    One that claims a grammar is held to exactly that.
    """
    verdict = _judge(reply, language, verifier)
    fault, proof = verdict.fault, language.scope.proof
    if fault is None or not proof:
        return verdict
    # The message goes into a prompt, where the proof may not stand, not even its beginning at the end of a cut.
    message = re.sub(
        "|".join(re.escape(proof[:n]) + (r"(?=\.\.\.)" if n < len(proof) else "") for n in range(len(proof), 2, -1)),
        "(proof)",
        fault.message,
    )
    return Verdict(fault=replace(fault, message=message))


def _judge(reply: Reply, language: Language[T], verifier: Verifier) -> Verdict[T]:
    if reply.finish == "length":
        return _faulty(reply, "truncated", "the reply was cut; a prefix of an answer is not an answer")
    claimed = reply.claim.dialect if reply.claim is not None else None
    if reply.claim is not None:
        given = language.artifacts.get(reply.claim.dialect)
        if given is None or given.digest != reply.claim.digest:
            return _faulty(reply, "wrong_claim", _mismatch(reply.claim.dialect, reply.claim.digest, given))
    if not reply.text.strip():
        if reply.aside.strip():
            return _faulty(reply, "aside", "the answer is empty, and its host put something into another channel")
        return _faulty(reply, "empty", "the answer is empty")
    try:
        parsed = parse(reply.text)
    except Invalid as problem:
        return _faulty(reply, "malformed", str(problem))
    if claimed == "json_schema_closed" or (claimed is None and reply.sent == "json_schema_closed"):
        inner = parsed.get(ENVELOPE) if isinstance(parsed, dict) else None
        parsed = inner if isinstance(inner, dict) else parsed
    shown = parsed.get(PROOF) if isinstance(parsed, dict) and language.plan.proves else None
    if shown is not None and shown != language.scope.proof:
        return _faulty(reply, "stale_proof", f"{PROOF}: expected this tick's, found another")
    if claimed in ("lark", "gbnf", "choices"):
        broken = _outside(reply, language, verifier)
        if broken is not None:
            return broken
    try:
        value = language.decode(reply.text, claimed or reply.sent)
    except Invalid as problem:
        return _faulty(reply, "invalid" if claimed is None else "claim_violated", str(problem))
    return Verdict(value=value, held=claimed is not None, proven=shown is not None)


def _outside(reply: Reply, language: Language[T], verifier: Verifier) -> Verdict[T] | None:
    """The fault of a text that is not in the language whose grammar its host claims."""
    found: Parse = verifier.parse(language.artifacts["lark"], reply.text)
    if found.outcome == "sentence":
        return None
    if found.outcome == "unverifiable":
        return _faulty(reply, "unverifiable", f"the grammar engine died at byte {found.at}: {found.detail}")
    how = "stops short" if found.outcome == "prefix" else "leaves the grammar"
    size = len(reply.text.encode("utf-8", "surrogatepass"))
    return _faulty(reply, "claim_violated", f"{how} at byte {found.at} of {size}" + _because(reply.text, language))


def _because(text: str, language: Language[Any]) -> str:
    """What the validator says of it, which is more use to a model than a byte's number."""
    try:
        language.decode_exact(text)
    except Invalid as problem:
        return f"; {problem}"
    return ""


def _faulty(reply: Reply, kind: FaultKind, message: str) -> Verdict[Any]:
    message = message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "..."
    return Verdict(fault=Fault(kind=kind, message=message, output=reply.text))


def _mismatch(dialect: Dialect, digest: str, given: Artifact | None) -> str:
    expected = f"{given.dialect} {given.digest[:12]}" if given else "an artifact of this tick"
    return f"expected a claim on {expected}, found {dialect} {str(digest)[:12]}"


class Boundary(Generic[T]):
    """Any typed reply of a model: artifacts to hold it with, and the judgement of what comes back.

    Args:
        declared: the type; see ``grammar.shape`` for what is taken.
        retries: attempts after the first one, at most 10.
        label_first: spell a field's mark with its label in front.
        proof: let each sentence end in a text that shows under which grammar it was decoded; for classes with
            fields and tagged unions of them.

    Raises:
        InadmissibleType: no grammar can hold a model to the type; says where, why, and what to declare instead.
        ValueError: retries out of bounds, or no place for a proof.
    """

    @overload
    def __init__(
        self, declared: type[T], *, retries: int = 1, label_first: bool = True, proof: bool = False
    ) -> None: ...

    @overload
    def __init__(self, declared: Any, *, retries: int = 1, label_first: bool = True, proof: bool = False) -> None: ...

    def __init__(self, declared: Any, *, retries: int = 1, label_first: bool = True, proof: bool = False) -> None:
        self._declared = declared
        node = shape(declared, label_first=label_first)
        self._node = with_proof(node) if proof else node
        self._verifier = Verifier()
        self._plans: dict[tuple[bool, bool], Plan[T]] = {}
        self._retries = retries
        self.ceiling = Budget(retries).ceiling

    def language(self, scope: Scope = NOTHING) -> Language[T]:
        """What may be said in a scope.

        Raises:
            EmptyDomain: the type needs a mark or a cell, and the scope has none.
        """
        known = (bool(scope.marks), bool(scope.cells))
        if known not in self._plans:
            self._plans[known] = plan(self._node, scope, self._finished)
        return Language(self._plans[known], scope)

    def artifact(self, dialect: Dialect, scope: Scope = NOTHING) -> Artifact:
        """The constraint in one dialect.

        Raises:
            EmptyDomain: the type needs a mark or a cell, and the scope has none.
            KeyError: ``choices`` of a language that is too large to be written out.
        """
        return self.language(scope).artifacts[dialect]

    def decode(self, text: str, scope: Scope = NOTHING, dialect: Dialect | None = None) -> T:
        """The value that a text spells.

        Raises:
            Invalid: names the position, what was expected and what was found.
        """
        return self.language(scope).decode(text, dialect)

    def spell(self, value: T, scope: Scope = NOTHING) -> str:
        """A value in the one spelling of the grammars.

        Raises:
            ValueError: it is no value of the type, or names what is not in scope.
        """
        return self.language(scope).spell(value)

    def judge(self, reply: Reply, scope: Scope = NOTHING) -> Verdict[T]:
        """The value that a reply spells, or its fault. Never raises for what a model or its host said."""
        return judge(reply, self.language(scope), self._verifier)

    def ask(self, complete: Callable[[Fault | None], Reply], scope: Scope = NOTHING) -> Outcome[T]:
        """Ask until a reply holds, at most ``ceiling`` times; see ``grammar.boundary.ask``."""
        return ask(complete, self.language(scope), self._verifier, self._retries)

    def carry_out(
        self, complete: Callable[[Fault | None], Reply], effect: Callable[[T], R], scope: Scope = NOTHING
    ) -> tuple[Outcome[T], R | None]:
        """Ask, and do something with the value: once, after it is validated, and never when no attempt held.

        What ``effect`` raises is passed on: it is no fault of a reply, and nothing is asked or done again.
        """
        outcome = self.ask(complete, scope)
        if outcome.attempts[-1].verdict.fault is not None:
            return outcome, None
        return outcome, effect(outcome.value)  # type: ignore[arg-type]  # None is a value where T admits it

    def _finished(self, value: Any) -> T:
        result: T = checked(self._declared, value)
        return result
