"""What can be wrong with a declaration or a grammar. A model's faults are data (``boundary.Fault``), not these.

GrammarError
|- InadmissibleType    a tool is declared in a way that no grammar can hold a model to
|- GrammarBuildError   a grammar that we printed does not compile: our bug, the run stops
"""

from __future__ import annotations


class GrammarError(Exception):
    """Base of all errors of this package."""


class InadmissibleType(GrammarError):
    """A declared type is refused before anything is derived from it.

    Args:
        position: where, such as ``Click.mark``.
        reason: what was found there.
        remedy: what to declare instead.
    """

    def __init__(self, position: str, reason: str, remedy: str) -> None:
        super().__init__(f"{position}: {reason} {remedy}")
        self.position = position
        self.reason = reason
        self.remedy = remedy


class GrammarBuildError(GrammarError):
    """A grammar did not compile, or its engine died."""
