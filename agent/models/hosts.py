"""The kinds of model host: what each is sent, what it answers, and what it is known to drop in silence.

A profile says all that Onmark knows of a kind. Nothing outside of it is ever sent, and never two constraints.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from agent.models.base import DecodeRequest, ModelUnavailable
from grammar.reply import Artifact, Dialect, Finish

Json = Mapping[str, Any]
Style = Literal["llama", "completion", "chat", "ollama"]
Constraint = Callable[[Artifact], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture of what the agent sees, marks and all.

    Attributes:
        media_type: such as ``image/png``.
        data: its bytes.
    """

    media_type: str
    data: bytes

    @property
    def base64(self) -> str:
        """Its bytes as text."""
        return base64.b64encode(self.data).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a host answered, read out of its own form.

    Attributes:
        text: the answer.
        finish: ``length`` for every end but the model's own.
        aside: what it put elsewhere: reasoning, a refusal, a tool call.
        prompt_tokens: length of the prompt. 0: not said.
        reused_tokens: of these, those that it had read before.
        answer_tokens: length of the answer. 0: not said.
        echo: the constraint that it says it used. None: it does not say.
    """

    text: str
    finish: Finish
    aside: str = ""
    prompt_tokens: int = 0
    reused_tokens: int = 0
    answer_tokens: int = 0
    echo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One kind of host.

    Attributes:
        title: what it is called.
        url: where it usually listens.
        path: where it is asked.
        style: the form of its requests and answers.
        knows: dialect -> the fields that carry it; the first that it enforces is used.
        alive: asked at connect, to see that it is one.
        names: asked for its models' names. None: it has one.
        pictures: it can be sent one.
        echoes: it says which constraint it used, which is a claim that can be checked.
        drops: what it is known to drop in silence, in words; none of it is ever sent.
        proven: ``real``: tested against the real one; ``documented``: against answers as its documents have them.
    """

    title: str
    url: str
    path: str
    style: Style
    knows: Mapping[Dialect, Constraint]
    alive: str
    names: str | None = None
    pictures: bool = False
    echoes: bool = False
    drops: tuple[str, ...] = ()
    proven: Literal["real", "documented"] = "documented"


MEDIA = "<__media__>"  # where llama-server puts a picture into its prompt
MOST_TEXT = 1 << 16  # characters of an answer, and of what stands beside it
CONTROL_WORD = re.compile(r"(<)(?=[^\s<>]{1,40}>)|(\[)(?=/?[A-Z_]{1,40}\])")


def _schema(artifact: Artifact) -> Any:
    return json.loads(artifact.text)


def _structured(kind: str, value: Callable[[Artifact], Any]) -> Constraint:
    return lambda artifact: {"structured_outputs": {kind: value(artifact)}}


def _mistralrs(kind: str, value: Callable[[Artifact], Any]) -> Constraint:
    return lambda artifact: {"grammar": {"type": kind, "value": value(artifact)}}


def _response_format(artifact: Artifact) -> dict[str, Any]:
    described = {"name": "answer", "strict": True, "schema": _schema(artifact)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _text(artifact: Artifact) -> str:
    return artifact.text


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "llama-server": Profile(
            title="llama.cpp's llama-server",
            url="http://127.0.0.1:8080",
            path="/completion",
            style="llama",
            knows={"gbnf": lambda artifact: {"grammar": artifact.text}},
            alive="/health",
            pictures=True,
            echoes=True,
            drops=(
                "grammar, where response_format or json_schema is sent too",
                "response_format on /completion and /v1/completions",
                "a grammar that is empty or no string",
                "fields of other servers",
            ),
            proven="real",
        ),
        "vllm": Profile(
            title="vLLM, from 0.12 on",
            url="http://127.0.0.1:8000",
            path="/v1/completions",
            style="completion",
            knows={
                "choices": _structured("choice", lambda artifact: list(artifact.choices)),
                "gbnf": _structured("grammar", _text),
                "json_schema": _structured("json", _schema),
            },
            alive="/v1/models",
            names="/v1/models",
            drops=("guided_json, guided_choice and the like, since 0.12",),
        ),
        "sglang": Profile(
            title="SGLang",
            url="http://127.0.0.1:30000",
            path="/v1/completions",
            style="completion",
            knows={"gbnf": lambda artifact: {"ebnf": artifact.text}, "json_schema": _response_format},
            alive="/v1/models",
            names="/v1/models",
        ),
        "ollama": Profile(
            title="Ollama",
            url="http://127.0.0.1:11434",
            path="/api/generate",
            style="ollama",
            knows={"json_schema": lambda artifact: {"format": _schema(artifact)}},
            alive="/api/version",
            names="/api/tags",
            pictures=True,
            drops=("grammar",),
        ),
        "mistralrs": Profile(
            title="mistral.rs",
            url="http://127.0.0.1:1234",
            path="/v1/completions",
            style="completion",
            knows={"lark": _mistralrs("lark", _text), "json_schema": _mistralrs("json_schema", _schema)},
            alive="/v1/models",
            names="/v1/models",
        ),
        "openai": Profile(
            title="OpenAI, and what speaks its chat interface with strict JSON schemas",
            url="https://api.openai.com",
            path="/v1/chat/completions",
            style="chat",
            knows={"json_schema_closed": _response_format},
            alive="/v1/models",
            names="/v1/models",
            pictures=True,
        ),
        "unclaimed": Profile(
            title="any chat interface like OpenAI's, without a constraint: every answer is judged by its value alone",
            url="http://127.0.0.1:8000",
            path="/v1/chat/completions",
            style="chat",
            knows={},
            alive="/v1/models",
            names="/v1/models",
            pictures=True,
        ),
    }
)


def body(style: Style, model: str, request: DecodeRequest, constraint: Json, picture: Picture | None) -> dict[str, Any]:
    """What to send.

    Args:
        style: the form.
        model: its name. Empty: the host has one.
        request: what is asked.
        constraint: the fields that carry it; none for a host that takes none.
        picture: sent too. None: none is.
    """
    prompt = replace(request.prompt, changing=without_control_words(request.prompt.changing))
    sent = dict[str, Any]()
    named = {"model": model} if model else {}
    match style:
        case "llama":
            sent = {"prompt": _with_media(prompt.text, picture), "n_predict": request.max_tokens, "cache_prompt": True}
            sent |= {"temperature": 0, "stream": False}
        case "completion":
            sent = {"prompt": prompt.text, "max_tokens": request.max_tokens, "temperature": 0, "stream": False}
        case "chat":
            said = _with_picture(prompt.changing + prompt.goal, picture)
            system = [{"role": "system", "content": prompt.stable}] if prompt.stable else []
            sent = {"messages": [*system, {"role": "user", "content": said}], "max_tokens": request.max_tokens}
            sent |= {"temperature": 0, "stream": False}
        case "ollama":
            options = {"temperature": 0, "num_predict": request.max_tokens}
            sent = {"prompt": prompt.text, "raw": True, "stream": False, "options": options}
            sent |= {"images": [picture.base64]} if picture else {}
    return named | sent | dict(constraint)


def without_control_words(text: str) -> str:
    """A text read off the screen in which no host finds a word that ends a turn or stands for a picture."""
    return CONTROL_WORD.sub(lambda found: f"{found[0]} ", text)


def _with_media(text: str, picture: Picture | None) -> Any:
    if picture is None:
        return text
    return {"prompt_string": f"{MEDIA}\n{text}", "multimodal_data": [picture.base64]}


def _with_picture(text: str, picture: Picture | None) -> Any:
    if picture is None:
        return text
    url = f"data:{picture.media_type};base64,{picture.base64}"
    return [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text}]


def answer(style: Style, said: Json) -> Answer:
    """What a host answered.

    Raises:
        ModelUnavailable: that is no answer of this form.
    """
    match style:
        case "llama":
            return _of_llama(said)
        case "ollama":
            return Answer(
                text=_string(said, "response"),
                finish="stop" if said.get("done") is True and said.get("done_reason") == "stop" else "length",
                aside=_aside(said, ("thinking",)),
                prompt_tokens=_count(said.get("prompt_eval_count")),
                answer_tokens=_count(said.get("eval_count")),
            )
        case "completion" | "chat":
            return _of_openai(said, chat=style == "chat")


def _of_llama(said: Json) -> Answer:
    settings = said.get("generation_settings")
    echo = settings.get("grammar") if isinstance(settings, dict) else None
    ended = said.get("stop_type") == "eos" and said.get("truncated") is not True
    total, read = _count(said.get("tokens_evaluated")), _count(_within(said, "timings").get("prompt_n"))
    return Answer(
        text=_string(said, "content"),
        finish="stop" if ended else "length",
        aside=_aside(said, ("reasoning_content",)),
        prompt_tokens=total,
        reused_tokens=max(0, total - read),
        answer_tokens=_count(said.get("tokens_predicted")),
        echo=echo if isinstance(echo, str) and echo else None,
    )


def _of_openai(said: Json, *, chat: bool) -> Answer:
    choices = said.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    holder = first.get("message") if chat and isinstance(first, dict) else first
    if not isinstance(first, dict) or not isinstance(holder, dict):
        raise _no_answer("choices, and a message in the first" if chat else "choices", said)
    usage = _within(said, "usage")
    return Answer(
        text=_string(holder, "content" if chat else "text", optional=chat),
        finish="stop" if first.get("finish_reason") in ("stop", "tool_calls") else "length",
        aside=_aside(holder, ("reasoning_content", "reasoning", "refusal", "tool_calls", "function_call")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        reused_tokens=_count(_within(usage, "prompt_tokens_details").get("cached_tokens")),
        answer_tokens=_count(usage.get("completion_tokens")),
    )


def _string(said: Json, name: str, *, optional: bool = False) -> str:
    value = said.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise _no_answer(f"a text called {name!r}, of at most {MOST_TEXT:,} characters,", said)
    return value


def _aside(said: Json, names: Sequence[str]) -> str:
    """What stands in other channels, each under its name."""
    found = [f"{name}: {_plain(said[name])}" for name in names if said.get(name)]
    return " ".join(found)[:MOST_TEXT]


def _plain(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except RecursionError:
        return "something nested too deeply"


def _within(said: Json, name: str) -> Json:
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    """A number of tokens; 0 for anything that is none."""
    return value if type(value) is int and 0 <= value < 10**9 else 0


def _no_answer(expected: str, said: Json) -> ModelUnavailable:
    found = ", ".join(sorted(map(str, said)))[:100] or "an empty object"
    return ModelUnavailable(f"expected {expected} in the host's answer, found {found}; is it a host of another kind?")
