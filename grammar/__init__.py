"""The sentences: what a model may say at this tick, and the proof that it said nothing else."""

from grammar.boundary import Boundary, Fault, Verdict
from grammar.engine import Verifier
from grammar.errors import GrammarBuildError, GrammarError, InadmissibleType
from grammar.reply import Artifact, Claim, Reply, Usage
from grammar.tick import TickArtifacts, TickGrammar
from perception.observation import MarkRef

__all__ = [
    "Artifact",
    "Boundary",
    "Claim",
    "Fault",
    "GrammarBuildError",
    "GrammarError",
    "InadmissibleType",
    "MarkRef",
    "Reply",
    "TickArtifacts",
    "TickGrammar",
    "Usage",
    "Verdict",
    "Verifier",
]
