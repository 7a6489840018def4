"""The sentences: what a model may say at this tick, and the proof that it said nothing else."""

from grammar.boundary import Attempt, Boundary, Fault, Outcome, Verdict
from grammar.canary import Canary, new_canary
from grammar.constraints import DecodeConstraints
from grammar.engine import Verifier
from grammar.errors import (
    ConstraintViolation,
    EmptyDomain,
    GrammarBuildError,
    GrammarError,
    InadmissibleType,
    UnknownGrammarRefused,
    Unverifiable,
)
from grammar.language import Language
from grammar.nodes import Scope
from grammar.reply import Artifact, Claim, Dialect, Reply, Usage
from grammar.tick import TickGrammar, TickLanguage
from grammar.validator import Invalid
from perception.observation import CellRef, MarkRef

__all__ = [
    "Artifact",
    "Attempt",
    "Boundary",
    "Canary",
    "CellRef",
    "Claim",
    "ConstraintViolation",
    "DecodeConstraints",
    "Dialect",
    "EmptyDomain",
    "Fault",
    "GrammarBuildError",
    "GrammarError",
    "InadmissibleType",
    "Invalid",
    "Language",
    "MarkRef",
    "Outcome",
    "Reply",
    "Scope",
    "TickGrammar",
    "TickLanguage",
    "UnknownGrammarRefused",
    "Unverifiable",
    "Usage",
    "Verdict",
    "Verifier",
    "new_canary",
]
