"""HTTP with a host that may be slow, away, busy or hostile: bounded in time and size, ended when nobody waits."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from agent.models.base import ModelError, ModelUnavailable

CONNECT_S = 3.0
ANSWER_S = 300.0  # for one answer, whatever the run's own timeout is
MOST_BODY = 4 << 20  # bytes of an answer
MOST_MESSAGE = 300  # characters of what a host says of an error
LOOK_S = 0.02  # between two looks at whether somebody still waits
BUSY = (429, 502, 503, 504)
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0

LOOPBACK = ("127.0.0.1", "::1", "localhost")

T = TypeVar("T")


class HostBusy(ModelUnavailable):
    """A host says that it has no time now."""


class Wire:
    """One host, one request at a time, over a connection that is kept. Close it.

    Bodies are never inflated: a host that compresses all the same is refused. A host that says that it is busy is left
    alone for as long as it says, or for twice as long each time.

    Args:
        url: of the host, such as ``http://127.0.0.1:8080``.
        key: sent as a bearer token. Empty: none is.

    Raises:
        ModelError: no address.
    """

    def __init__(self, url: str, key: str = "") -> None:
        self.url = url.rstrip("/")
        headers = {"Accept-Encoding": "identity", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._loop = asyncio.new_event_loop()
        self._busy = threading.Lock()
        self._closed = threading.Event()
        self._not_before_s = 0.0
        self._pause_s = 0.0
        self._why_paused = ""
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=1),
            follow_redirects=False,
            trust_env=urlsplit(url).hostname not in LOOPBACK,  # no proxy leads to this machine
        )

    def get(self, path: str) -> Mapping[str, Any]:
        """What the host says at a path; errors as of ``post``."""
        return self._ask("GET", path, None, threading.Event())

    def post(self, path: str, body: Mapping[str, Any], cancelled: threading.Event) -> Mapping[str, Any]:
        """What the host answers.

        Args:
            path: after the url.
            body: sent as JSON.
            cancelled: once it is set, the connection is closed and nothing more is waited for.

        Raises:
            ModelError: the host refuses the request; holds what it says.
            ModelUnavailable: it does not answer, not in full, not in JSON, or has no time.
        """
        return self._ask("POST", path, body, cancelled)

    def close(self) -> None:
        """Close the connection; any number of times. A request that is under way is given up."""
        self._closed.set()
        with self._busy:
            if not self._loop.is_closed():
                self._loop.run_until_complete(self._client.aclose())
                self._loop.close()

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, cancelled: threading.Event
    ) -> Mapping[str, Any]:
        left_s = self._not_before_s - time.monotonic()
        if left_s > 0:
            raise HostBusy(f"{self._why_paused} It is asked again in {left_s:.1f} s.")
        with self._busy:
            if self._closed.is_set():
                raise ModelUnavailable(f"The connection to {self.url} is closed.")
            status, headers, content = self._loop.run_until_complete(
                self._unless(cancelled, self._exchange(method, path, body))
            )
        if status in BUSY:
            raise self._put_off(status, headers, content)
        self._pause_s = 0.0
        self._require_fine(status, f"{self.url}{path}", content)
        return self._parsed(content)

    async def _unless(self, cancelled: threading.Event, work: Coroutine[Any, Any, T]) -> T:
        """The work's result, unless nobody waits for it any more."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_S)
            if not task.done() and (cancelled.is_set() or self._closed.is_set()):
                task.cancel()
                await asyncio.wait({task})
                raise ModelUnavailable(f"The request to {self.url} was given up.")
        return task.result()

    async def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body, no more of it than is allowed."""
        try:
            async with asyncio.timeout(ANSWER_S):
                async with self._client.stream(method, self.url + path, json=body) as response:
                    if response.headers.get("Content-Encoding", "identity") != "identity":
                        raise self._odd("an answer that is not compressed", "one that is")
                    content = bytearray()
                    async for part in response.aiter_raw():
                        content += part
                        if len(content) > MOST_BODY:
                            raise self._odd(f"an answer of at most {MOST_BODY:,} bytes", "a longer one")
                    return response.status_code, response.headers, bytes(content)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as problem:
            raise ModelError(f"expected the address of a model host, found {self.url!r}: {problem}") from problem
        except (httpx.HTTPError, TimeoutError, OSError) as problem:
            what = str(problem) or type(problem).__name__
            raise self._odd(
                "an answer", f"{what} ({type(problem).__name__}); see whether the host runs there"
            ) from problem

    def _put_off(self, status: int, headers: Mapping[str, str], content: bytes) -> HostBusy:
        """Leave a busy host alone for a while."""
        self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s or FIRST_PAUSE_S)
        asked = headers.get("Retry-After", "")
        wait_s = min(LONGEST_PAUSE_S, float(asked)) if asked.isdigit() else self._pause_s
        self._not_before_s = time.monotonic() + wait_s
        self._why_paused = f"The host at {self.url} has no time: {status}{_message(content)}."
        return HostBusy(self._why_paused)

    def _require_fine(self, status: int, where: str, content: bytes) -> None:
        if 200 <= status < 300:
            return
        said = f"expected {where} to answer, found {status}{_message(content)}"
        if status >= 500:
            raise ModelUnavailable(said)
        cures = {
            401: "set ONMARK_API_KEY",
            403: "set ONMARK_API_KEY to one that may",
            404: "see whether the address, the kind of host and its model's name are right",
        }
        raise ModelError(f"{said}; {cures.get(status, 'see `onmark model list` for the kinds of host')}")

    def _parsed(self, content: bytes) -> Mapping[str, Any]:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as problem:
            raise self._odd("JSON", f"{problem}: {content[:60]!r}") from problem
        if not isinstance(value, dict):
            raise self._odd("a JSON object", f"{content[:60]!r}")
        return value

    def _odd(self, expected: str, found: str) -> ModelUnavailable:
        return ModelUnavailable(f"expected {expected} from {self.url}, found {one_line(found)}")


def _message(content: bytes) -> str:
    """What a host says of an error, in whichever of the usual places; nothing where it says nothing."""
    try:
        said: Any = json.loads(content)
    except (ValueError, RecursionError):
        said = content.decode("utf-8", "replace")
    for name in ("error", "message", "detail"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    return f": {one_line(str(said))}" if said else ""


def one_line(text: str) -> str:
    """A stranger's words on one line, without controls, and not long."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= MOST_MESSAGE else f"{clean[: MOST_MESSAGE - 3]}..."
