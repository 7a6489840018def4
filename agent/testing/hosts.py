"""A model host that lies: a real HTTP server, for tests of what must not believe it.

It has no model. It answers with a sentence of the grammar that it is given, drawn at random, and then does with it what
its habit says. It speaks as llama-server does, with its echo of the grammar, and as OpenAI's chat interface does.
"""

from __future__ import annotations

import gzip
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

from agent.testing.habits import FREE, HABITS, Draft
from grammar.engine import Matcher

SLOW_S = 60.0
BYTES_PER_TOKEN = 4  # as this host counts

Wire = Callable[["_Handler", bytes], None]


def _closes_in_the_middle(to: _Handler, body: bytes) -> None:
    """Closes the connection in the middle of its answer."""
    to.head(200, len(body))
    to.wfile.write(body[: len(body) // 2])
    to.close_connection = True


def _is_slow(to: _Handler, body: bytes) -> None:
    """Answers after a minute."""
    to.ours.stopped.wait(SLOW_S)
    to.send(200, body)


def _trickles(to: _Handler, body: bytes) -> None:
    """Sends a byte now and then."""
    to.head(200, len(body))
    for byte in body:
        if to.ours.stopped.wait(0.2):
            return
        to.wfile.write(bytes([byte]))


def _never_ends(to: _Handler, body: bytes) -> None:
    """Sends without an end."""
    to.head(200, None)
    while not to.ours.stopped.is_set():
        to.wfile.write(b" " * 65536)


def _bombs(to: _Handler, body: bytes) -> None:
    """Sends a little that inflates to a gigabyte."""
    block = gzip.compress(b" " * (1 << 20))
    to.head(200, len(block) * 1000, ("Content-Encoding", "gzip"))
    to.wfile.write(block * 1000)


def _nests(to: _Handler, body: bytes) -> None:
    """Sends JSON that is a hundred thousand deep."""
    to.send(200, b'{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def _counts_far(to: _Handler, body: bytes) -> None:
    """Sends a number of a hundred thousand digits."""
    to.send(200, b'{"content":"x","tokens_predicted":' + b"9" * 100_000 + b"}")


def _sends_a_page(to: _Handler, body: bytes) -> None:
    """Sends a web page."""
    to.send(200, b"<!doctype html><title>Welcome</title>")


def _sends_a_list(to: _Handler, body: bytes) -> None:
    """Sends JSON of another form."""
    to.send(200, b"[1, 2, 3]")


def _sends_other_types(to: _Handler, body: bytes) -> None:
    """Sends numbers where texts belong."""
    to.send(200, b'{"content": 7, "stop_type": 1, "choices": [{"message": {"content": 7}}]}')


def _fails_politely(to: _Handler, body: bytes) -> None:
    """Says 200, and that it failed."""
    to.send(200, b'{"error": {"message": "the engine is on fire"}}')


def _breaks(to: _Handler, body: bytes) -> None:
    """Says 500."""
    to.send(500, b'{"error": {"code": 500, "message": "the engine is on fire"}}')


def _is_busy(to: _Handler, body: bytes) -> None:
    """Says 429."""
    to.send(429, b'{"error": {"message": "too many requests"}}')


def _refuses(to: _Handler, body: bytes) -> None:
    """Says 400."""
    to.send(400, b'{"error": {"message": "no such field"}}')


def _sends_elsewhere(to: _Handler, body: bytes) -> None:
    """Says 302."""
    to.head(302, 0, ("Location", "http://127.0.0.1:1/"))


def _says_more_than_it_was_asked(to: _Handler, body: bytes) -> None:
    """Sends its answer twice, the second unasked."""
    to.send(200, body)
    to.send(200, body)


WIRES: Mapping[str, Wire] = MappingProxyType(
    {
        wire.__name__.lstrip("_"): wire
        for wire in (
            _closes_in_the_middle,
            _is_slow,
            _trickles,
            _never_ends,
            _bombs,
            _nests,
            _counts_far,
            _sends_a_page,
            _sends_a_list,
            _sends_other_types,
            _fails_politely,
            _breaks,
            _is_busy,
            _refuses,
            _sends_elsewhere,
            _says_more_than_it_was_asked,
        )
    }
)


class DishonestHost:
    """A host with a habit, on a port of its own. Close it.

    Args:
        habit: of ``HABITS`` or ``WIRES``; ``honours`` lies about nothing.
        honest_for: requests for a completion that it answers honestly before it takes its habit up. A canary at connect
            is one, and another is sent before the first tick.
        port: where it is to listen. 0: any that is free.

    Attributes:
        url: where it listens.
        requests: the bodies that it was sent.

    Raises:
        KeyError: there is no such habit.
    """

    def __init__(self, habit: str, *, honest_for: int = 0, port: int = 0) -> None:
        self._habit = HABITS.get(habit)
        self._wire = None if self._habit else WIRES[habit]
        self._honest_for = honest_for
        self._before = ""
        self._rng = random.Random(7)  # noqa: S311 - no secret
        self.requests: list[Mapping[str, Any]] = []
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.host = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, whatever is under way."""
        self._server.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def answer(self, to: _Handler, path: str, asked: Mapping[str, Any]) -> None:
        """Answer one request for a completion."""
        self.requests.append(asked)
        chat = path.endswith("/chat/completions")
        text, constraints = self._sentence(asked)
        honest = len(self.requests) <= self._honest_for
        draft = Draft(text, asked.get("grammar"), self._before, constraints)
        most = BYTES_PER_TOKEN * int(asked.get("n_predict", asked.get("max_tokens", len(text))))
        if len(text) > most:
            draft.text, draft.finish = text[:most], "length"
        if self._habit is not None and not honest:
            self._habit(draft)
        self._before = draft.text
        body = json.dumps(_as_chat(draft) if chat else _as_llama(draft)).encode()
        if self._wire is None or honest:
            to.send(200, body)
        else:
            self._wire(to, body)

    def _sentence(self, asked: Mapping[str, Any]) -> tuple[str, list[str]]:
        """A sentence of the grammar that came, and the fields that constraints came in."""
        found = [name for name in ("grammar", "json_schema", "response_format", "tools", "format") if asked.get(name)]
        if asked.get("grammar"):
            return Matcher.from_gbnf(asked["grammar"]).sentence(self._rng), found
        if asked.get("response_format"):
            schema = asked["response_format"]["json_schema"]["schema"]
            return Matcher.from_schema(json.dumps(schema)).sentence(self._rng), found
        return FREE, found


class _Server(ThreadingHTTPServer):
    """Knows whose it is, and when to stop."""

    daemon_threads = True
    host: DishonestHost

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.stopped = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up has had enough."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for the one who asked to acknowledge its head

    @property
    def ours(self) -> _Server:
        """The server that this request came to."""
        assert isinstance(self.server, _Server)  # noqa: S101 - made by nothing else
        return self.server

    def do_GET(self) -> None:
        """Say that it is there."""
        known = {"/health": b'{"status":"ok"}', "/v1/models": b'{"data":[{"id":"liar"}]}'}
        self.send(200 if self.path in known else 404, known.get(self.path, b'{"error":"no such place"}'))

    def do_POST(self) -> None:
        """Answer."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.ours.host.answer(self, self.path, asked)

    def head(self, status: int, length: int | None, *more: tuple[str, str]) -> None:
        """The front of an answer. A length of None: until the connection is closed."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if length is None:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        for name, value in more:
            self.send_header(name, value)
        self.end_headers()

    def send(self, status: int, body: bytes) -> None:
        """A whole answer."""
        self.head(status, len(body))
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base names it
        """Nobody reads it."""


def _as_llama(draft: Draft) -> dict[str, Any]:
    return {
        "content": draft.text,
        "reasoning_content": draft.aside,
        "stop_type": "eos" if draft.finish == "stop" else "limit",
        "truncated": False,
        "generation_settings": {"grammar": draft.echo or ""},
        "tokens_evaluated": 100,
        "tokens_predicted": 10,
        "timings": {"prompt_n": 20},
    }


def _as_chat(draft: Draft) -> dict[str, Any]:
    message = {"role": "assistant", "content": draft.text or None, "reasoning_content": draft.aside}
    return {
        "id": f"{time.time_ns()}",
        "choices": [{"index": 0, "message": message, "finish_reason": draft.finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
