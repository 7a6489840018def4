"""What a real host said to each request, kept and given again by a real HTTP server."""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

Exchange = dict[str, Any]  # method, path, digest of the body, status, answer
Answers = Callable[[str, str, bytes], tuple[int, bytes]]


def nonces() -> Iterator[str]:
    """The same for every check, so that its requests are the same to the last byte."""
    return (hashlib.sha256(str(number).encode()).hexdigest()[:16] for number in itertools.count())


class Between:
    """A server that has each request answered by a function. Close it.

    Attributes:
        url: where it listens.
    """

    def __init__(self, answers: Answers) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._answer("GET", b"")

            def do_POST(self) -> None:
                self._answer("POST", self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, method: str, body: bytes) -> None:
                status, answer = answers(method, self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Recorder:
    """Passes requests on to a host, and keeps what it said."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=600)
        self.exchanges: list[Exchange] = []

    def __call__(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        answer = self._client.request(method, path, content=body, headers={"Content-Type": "application/json"})
        kept = _without_figures(answer.json())
        self.exchanges.append(
            {"method": method, "path": path, "body": _digest(body), "status": answer.status_code, "answer": kept}
        )
        return answer.status_code, answer.content

    def close(self) -> None:
        self._client.close()


class Player:
    """Gives the answers of a transcript to the same requests in the same order, and 400 to any other."""

    def __init__(self, path: Path) -> None:
        self._left: list[Exchange] = json.loads(path.read_text(encoding="utf-8"))["exchanges"]

    def __call__(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        asked = {"method": method, "path": path, "body": _digest(body)}
        if not self._left or any(self._left[0][name] != value for name, value in asked.items()):
            return 400, json.dumps({"error": f"the transcript has another request here than {asked}"}).encode()
        exchange = self._left.pop(0)
        return exchange["status"], json.dumps(exchange["answer"]).encode()

    @property
    def is_over(self) -> bool:
        return not self._left


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _without_figures(answer: Any) -> Any:
    """An answer without the prompt that it repeats, and without times, which are others each time."""
    if not isinstance(answer, dict):
        return answer
    kept = {name: value for name, value in answer.items() if name not in ("prompt", "tokens", "created")}
    if isinstance(kept.get("generation_settings"), dict):
        kept["generation_settings"] = {"grammar": kept["generation_settings"].get("grammar", "")}
    if isinstance(kept.get("timings"), dict):
        kept["timings"] = {"prompt_n": kept["timings"].get("prompt_n", 0)}
    return kept
