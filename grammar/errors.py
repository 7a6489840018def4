"""What can be wrong with a declaration or a grammar. A model's faults are data (``boundary.Fault``), not these.

GrammarError
|- InadmissibleType        a type is declared in a way that no grammar can hold a model to
|- EmptyDomain             a type needs a mark or a cell, and there is none
|- GrammarBuildError       a grammar that we printed does not compile: our bug, the run stops
|- UnknownGrammarRefused   a grammar that is not ours does not compile in its time, or kills the engine
|- ConstraintViolation     an output is not what its constraint admits (carries ``output``)
|- Unverifiable            a check died: the output is not trusted, the model not blamed (carries ``output``)
"""

from __future__ import annotations

from typing import Literal

RefusalKind = Literal[
    "alias",
    "ambiguous null",
    "map keys",
    "may be absent",
    "name",
    "open enumeration",
    "partial field",
    "pattern",
    "recursion",
    "rules of its own",
    "tag",
    "too deep",
    "tools",
    "unbounded",
    "unknown limit",
    "unknown type",
    "unreadable",
    "untagged union",
    "values",
]


class GrammarError(Exception):
    """Base of all errors of this package."""


class InadmissibleType(GrammarError):
    """A declared type is refused before anything is derived from it.

    Args:
        kind: the rule that it breaks, for counting.
        position: where, such as ``Click.mark``.
        reason: what was found there.
        remedy: what to declare instead.
    """

    def __init__(self, kind: RefusalKind, position: str, reason: str, remedy: str) -> None:
        super().__init__(f"{position}: {reason} {remedy}")
        self.kind = kind
        self.position = position
        self.reason = reason
        self.remedy = remedy


class GrammarBuildError(GrammarError):
    """A grammar did not compile, or its engine died."""


class EmptyDomain(GrammarError):
    """A type needs something to name, and there is nothing.

    Args:
        kind: ``mark`` or ``cell``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"Expected at least one {kind} on screen, found none. Make the target Optional, or ask when there is one."
        )


class UnknownGrammarRefused(GrammarError):
    """A grammar that is not ours does not compile within its time, or kills the engine."""


class ConstraintViolation(GrammarError):
    """An output is not what its constraint admits.

    Args:
        message: what was expected, and where it fails.
        output: the offending text, to the letter.
    """

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output


class Unverifiable(GrammarError):
    """A check died: the output is not trusted, and nothing is said of the model.

    Args:
        message: what died, and of what.
        output: the text that could not be checked.
    """

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output
