"""The ways to ask that are compared. Each gives one reply to one attempt; ``grammar.boundary.ask`` counts them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agent.models.base import Artifact, DecodeRequest, Dialect, Prompt
from agent.models.embedded import EmbeddedModel
from agent.models.trie import Plan
from grammar.boundary import Fault
from grammar.reply import Finish, Reply
from tests.bench.requests import Request

LIMIT = 96
"""Most tokens of an answer; the longest right one has 45."""
TEMPERATURE = 0.7

Asker = Callable[[Fault | None], Reply]


class Arm(Protocol):
    """One way to ask."""

    name: str

    def asker(self, request: Request, index: int) -> Asker:
        """Answers the attempts at one request, which has this number."""
        ...


class Steer(Protocol):
    """What stands between the network and the answer."""

    def choose(self, scores: Callable[[Sequence[int] | None], NDArray[np.float32]]) -> int:
        """The next token, given what gives the scores of some tokens, or of all."""
        ...

    def ended(self, token: int, text: str) -> bool:
        """Take note of a token; True when the answer, as it now reads, is at its end."""
        ...


class BenchModel(EmbeddedModel):
    """The embedded model, its constraint left off or another's put in its place.

    Attributes:
        written: tokens of all answers so far.
    """

    written = 0

    def constrained(self, request: DecodeRequest) -> Reply:
        """What the model does as it is shipped."""
        reply = self.complete(request)
        self.written += len(self._tokens.encode(reply.text))
        return reply

    def write(self, prompt: Prompt | Sequence[Mapping[str, str]], steer: Steer) -> Reply:
        """An answer that no grammar of ours holds: no claim."""
        start = self._whole(prompt) if isinstance(prompt, Prompt) else self._chat(prompt)
        before, reused = self._spent(), self._reusable(start[:-1])
        answer, finish = self._steered(start, steer)
        self.written += len(answer)
        return Reply(text=self._tokens.decode(answer), finish=finish, usage=self._usage(before, len(start), reused))

    def vocabulary(self) -> dict[bytes, list[int]]:
        """Tokens by the bytes that they stand for, without those that are no text."""
        words = self._decoder.weights.vocabulary
        table: dict[bytes, list[int]] = {}
        for token in range(len(words.words)):
            if token not in words.control:
                table.setdefault(self._tokens.engine.decode_bytes([token]), []).append(token)
        return table

    @property
    def eos(self) -> int:
        """The token that ends an answer."""
        return self._tokens.eos

    def _steered(self, start: list[int], steer: Steer) -> tuple[list[int], Finish]:
        answer: list[int] = []
        control = self._decoder.weights.vocabulary.control
        while len(answer) < LIMIT:
            token = steer.choose(lambda some: self._scores([*start, *answer], some))
            if token in control:
                return answer, "stop"
            answer.append(token)
            if steer.ended(token, self._tokens.decode(answer)):
                return answer, "stop"
        return answer, "length"

    def _scores(self, sequence: list[int], some: Sequence[int] | None) -> NDArray[np.float32]:
        states = self._evaluate(Plan.line(sequence), self._reusable(sequence[:-1]))
        return self._decoder.logits(states, some)[:, 0]

    def _chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Tokens of a conversation, in the form that the model was taught."""
        tokens: list[int] = []
        for said in messages:
            tokens += self._tokens.encode(f"<|im_start|>{said['role']}\n", trusted=True)
            tokens += self._tokens.encode(said["content"])
            tokens += self._tokens.encode("<|im_end|>\n", trusted=True)
        return tokens + self._tokens.encode("<|im_start|>assistant\n", trusted=True)


class Constrained:
    """Under the request's Lark grammar, with the claim that it was held."""

    name = "constrained (Onmark)"

    def __init__(self, model: BenchModel) -> None:
        self._model = model

    def asker(self, request: Request, index: int) -> Asker:
        """Answers the attempts at one request."""
        artifacts: dict[Dialect, Artifact] = {"lark": request.language.artifacts["lark"]}

        def complete(fault: Fault | None) -> Reply:
            prompt = request.prompt(fault.message if fault else "")
            return self._model.constrained(DecodeRequest(prompt=prompt, artifacts=artifacts, max_tokens=LIMIT))

        return complete


class Free:
    """The same prompt and decoder without a constraint. What is said around the object is cut off, kindly.

    Args:
        model: the decoder.
        temperature: 0: greedy. Else seeded by the request's number and the attempt's.
    """

    def __init__(self, model: BenchModel, temperature: float = 0.0) -> None:
        self._model = model
        self._temperature = temperature
        self.name = f"unconstrained, temperature {temperature:g}"

    def asker(self, request: Request, index: int) -> Asker:
        """Answers the attempts at one request."""
        rng = np.random.default_rng(index)

        def complete(fault: Fault | None) -> Reply:
            prompt = request.prompt(fault.message if fault else "")
            return bare(self._model.write(prompt, FreeSteer(self._temperature, rng)))

        return complete


class FreeSteer:
    """No constraint; the answer ends with its first whole object, or with a blank line once there is a brace."""

    def __init__(self, temperature: float = 0.0, rng: np.random.Generator | None = None) -> None:
        self._temperature = temperature
        self._rng = rng or np.random.default_rng(0)

    def choose(self, scores: Callable[[Sequence[int] | None], NDArray[np.float32]]) -> int:
        """The likeliest token, or one by chance."""
        logits = scores(None).astype(np.float64)
        if self._temperature == 0:
            return int(logits.argmax())
        shares = np.exp((logits - logits.max()) / self._temperature)
        return int(self._rng.choice(len(shares), p=shares / shares.sum()))

    def ended(self, token: int, text: str) -> bool:
        """True after the object."""
        start, end = object_span(text)
        return end is not None or (start is not None and "\n\n" in text[start:])


class Outlines:
    """outlines-core, which Outlines holds local models to JSON schemas with: its index under our decoder.

    Args:
        model: the decoder.
        core: the module ``outlines_core``.
    """

    name = "outlines-core index, our decoder"

    def __init__(self, model: BenchModel, core: Any) -> None:
        self._model = model
        self._core = core
        self._vocabulary = core.Vocabulary(model.eos, model.vocabulary())
        self._indices: dict[str, Any] = {}

    def asker(self, request: Request, index: int) -> Asker:
        """Answers the attempts at one request."""

        def complete(fault: Fault | None) -> Reply:
            guide = self._core.Guide(self._index(json.dumps(request.peer.model_json_schema())))
            return self._model.write(request.prompt(fault.message if fault else ""), GuideSteer(guide))

        return complete

    def _index(self, schema: str) -> Any:
        """The index of a schema; compiled once, as a program would."""
        if schema not in self._indices:
            expression = self._core.json_schema.build_regex_from_schema(schema)
            self._indices[schema] = self._core.Index(expression, self._vocabulary)
        return self._indices[schema]


class GuideSteer:
    """Greedy among what a guide allows."""

    def __init__(self, guide: Any) -> None:
        self._guide = guide

    def choose(self, scores: Callable[[Sequence[int] | None], NDArray[np.float32]]) -> int:
        """The likeliest token that is allowed. The only one is not asked for."""
        legal: list[int] = self._guide.get_tokens()
        if len(legal) == 1:
            return legal[0]
        few = len(legal) <= 512
        logits = scores(legal if few else None)
        return legal[int((logits if few else logits[legal]).argmax())]

    def ended(self, token: int, text: str) -> bool:
        """The guide offers the token that ends an answer; so it need not be looked for here."""
        self._guide.advance(token, return_tokens=False)
        return False


def object_span(text: str) -> tuple[int | None, int | None]:
    """Where the first object of a text begins, and where its braces are even again; None where that is not."""
    start, depth, quoted, escaped = text.find("{"), 0, False, False
    if start < 0:
        return None, None
    for at, character in enumerate(text[start:], start):
        if quoted:
            quoted, escaped = escaped or character != '"', not escaped and character == "\\"
        elif character == '"':
            quoted = True
        else:
            depth += (character == "{") - (character == "}")
            if depth == 0:
                return start, at + 1
    return start, None


def bare(reply: Reply) -> Reply:
    """A reply without what stands before its object."""
    start, _ = object_span(reply.text)
    return Reply(text=reply.text[start or 0 :], finish=reply.finish, usage=reply.usage)
