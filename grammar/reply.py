"""What crosses between the grammar and a model: the artifact that goes out, the reply that comes back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Dialect = Literal["choices", "lark", "gbnf", "json_schema", "json_schema_closed"]
Finish = Literal["stop", "length"]


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One constraint, ready for a model host.

    Attributes:
        dialect: ``lark`` for llguidance; ``gbnf`` for llama.cpp; ``json_schema`` (draft 2020-12) and
            ``json_schema_closed`` (all members required, nothing else: what hosted APIs take); ``choices`` for a
            finite language written out as a JSON array.
        root: name of the start rule (``start`` for Lark, ``root`` for GBNF, empty for the others).
        text: the exact text that is sent.
        invariant_digest: sha256 of what does not change from tick to tick: equal for equal declarations.
    """

    dialect: Dialect
    root: str
    text: str
    invariant_digest: str = ""

    @cached_property
    def digest(self) -> str:
        """sha256 of the exact bytes of ``text``, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def choices(self) -> tuple[str, ...]:
        """The sentences of a ``choices`` artifact, in order.

        Raises:
            ValueError: the artifact is of another dialect.
        """
        if self.dialect != "choices":
            raise ValueError(f"expected a choices artifact, found {self.dialect}")
        return tuple(json.loads(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A host's word that it decoded under exactly this artifact."""

    dialect: Dialect
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one completion cost.

    Attributes:
        prompt_tokens: length of the prompt, in tokens.
        reused_tokens: how many of those came from the cache.
        evaluated_tokens: tokens that went through the network, prompt and answer together.
        forward_passes: calls of the network, a batch counting as one.
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    evaluated_tokens: int = 0
    forward_passes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model returned.

    Attributes:
        text: the answer, as it came.
        finish: ``stop`` when the model ended, ``length`` when it was cut: a prefix of an answer is no answer.
        claim: None: the host makes no claim about a constraint.
        sent: the dialect that was sent, claimed or not. None: none was.
        aside: what its host put beside the answer, as into a channel for reasoning; never taken for the answer.
        usage: what it cost.
        mass: the probability that the model put on what was legal, where it first had a choice and before anything was
            masked: small where the grammar forces it to what it would not say. None: the host does not say.
        margin: score of the chosen alternative minus the runner-up's, in nats. None: the host gives no scores,
            or there was one alternative only.

    Raises:
        TypeError: the adapter hands over no text, or a claim that is none.
    """

    text: str
    finish: Finish
    claim: Claim | None = None
    sent: Dialect | None = None
    aside: str = ""
    usage: Usage = Usage()
    margin: float | None = None
    mass: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"expected a reply's text as str, found {type(self.text).__name__}")
        if self.claim is not None and not isinstance(self.claim, Claim):
            raise TypeError(f"expected a Claim or None, found {type(self.claim).__name__}")
