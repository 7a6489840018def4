"""Validate and retry, with Instructor's own prompt, parser and words for a second attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from grammar.boundary import Fault
from grammar.reply import Reply
from tests.bench.arms import Asker, BenchModel, FreeSteer, bare
from tests.bench.requests import RULES, Request


class Instructor:
    """Instructor in its JSON mode, over the unconstrained decoder, greedily.

    That is the mode that does best here. Told of a code block (``MD_JSON``), this small model failed six of the seven
    requests that were tried, mostly by copying the schema; the mode for tools needs a model that was taught them.

    Its functions write the prompt with the schema, read the answer, and write the next messages; the loop around
    them is ``grammar.boundary.ask``, as for every arm. It is kinder than Instructor's own: an answer that was cut is
    tried again, where Instructor gives up; and what stands before an object is cut off before Instructor reads it.
    """

    name = "Instructor, JSON mode"

    def __init__(self, model: BenchModel, mode: str = "JSON") -> None:
        self._model = model
        self._handling = import_module("instructor.processing.response")
        self._mode = import_module("instructor").Mode[mode]
        self._completion = import_module("openai.types.chat").ChatCompletion

    def asker(self, request: Request, index: int) -> Asker:
        """Answers the attempts at one request."""
        asked = [
            {"role": "system", "content": RULES},
            {"role": "user", "content": f"{request.example}\n\nRequest:\n{request.task}\nAnswer:"},
        ]
        model, kwargs = self._handling.handle_response_model(request.peer, mode=self._mode, messages=asked)
        talk = _Talk(kwargs)

        def complete(fault: Fault | None) -> Reply:
            if fault is not None:
                problem = talk.problem or ValueError(fault.message)
                talk.kwargs = self._handling.handle_reask_kwargs(talk.kwargs, self._mode, talk.response, problem)
            reply = bare(self._model.write(_plain(talk.kwargs["messages"]), FreeSteer()))
            talk.response, talk.problem = self._response(reply), None
            return self._read(reply, model, talk)

        return complete

    def _read(self, reply: Reply, model: Any, talk: _Talk) -> Reply:
        """The value that Instructor hands out, written down again; the raw text where it hands out none."""
        if reply.finish == "length":
            return reply
        try:
            value = self._handling.process_response(
                talk.response, response_model=model, stream=False, mode=self._mode, strict=True
            )
        except (ValidationError, json.JSONDecodeError) as problem:
            talk.problem = problem
            return reply
        return Reply(text=value.model_dump_json(), finish="stop", usage=reply.usage)

    def _response(self, reply: Reply) -> Any:
        """A reply as a server of OpenAI's kind gives it."""
        message = {"role": "assistant", "content": reply.text}
        choice = {"index": 0, "finish_reason": reply.finish, "message": message}
        return self._completion.model_validate(
            {"id": "0", "object": "chat.completion", "created": 0, "model": "embedded", "choices": [choice]}
        )


class _Talk:
    """What was said so far, and what came of the last answer."""

    def __init__(self, kwargs: dict[str, Any]) -> None:
        self.kwargs = kwargs
        self.response: Any = None
        self.problem: Exception | None = None


def _plain(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    return [{"role": said["role"], "content": str(said["content"])} for said in messages]
