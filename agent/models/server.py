"""A model behind HTTP: six kinds of host, and none of them believed.

Each kind has its profile in ``agent.models.hosts``. What a host claims is passed on to be audited, and at connect it
must show that it enforces a grammar: see ``ServerModel.prepare``.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog

from agent.models.base import Claim, DecodeRequest, Dialect, ModelError, ModelUnavailable, Prompt, Reply, Usage
from agent.models.hosts import PROFILES, Answer, Picture, Profile, answer, body
from agent.models.wire import HostBusy, Wire, one_line
from grammar.canary import PROMPT, new_canary
from grammar.reply import Artifact
from perception.image import encoded
from perception.overlay import draw

log = structlog.get_logger("onmark")

KEY = "ONMARK_API_KEY"
LOADING_S = 120.0  # how long a host may take to load its model at connect
LOADING_LOOK_S = 0.5
CANARY_BYTES = 2000  # as a tick's grammar has
MOST_PICTURE = 400_000  # bytes
PICTURES = "+images"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostName:
    """A host as a user names it: ``KIND[+images]:URL[#MODEL]``.

    Attributes:
        kind: a key of ``PROFILES``.
        url: where it listens.
        model: which of its models. Empty: the only one.
        pictures: it is sent a picture with each tick.
    """

    kind: str
    url: str
    model: str = ""
    pictures: bool = False

    @classmethod
    def parse(cls, named: str) -> HostName:
        """The parts of ``llama-server:http://127.0.0.1:8080`` and the like.

        Raises:
            ModelError: no such kind, no address, or a kind that takes no pictures; names the nearest.
        """
        head, _, rest = named.partition(":")
        kind, pictures = head.removesuffix(PICTURES), head.endswith(PICTURES)
        if kind not in PROFILES:
            near = difflib.get_close_matches(kind, PROFILES, n=1)
            hint = f"did you mean {near[0]}?" if near else "see `onmark model list`"
            raise ModelError(f"expected a kind of host out of {', '.join(PROFILES)}, found {kind!r}; {hint}")
        url, _, model = (rest or PROFILES[kind].url).partition("#")
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise ModelError(f"expected no password in an address, which is recorded; put it into {KEY}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"expected {kind}:URL such as {kind}:{PROFILES[kind].url}, found {named!r}")
        if pictures and not PROFILES[kind].pictures:
            raise ModelError(f"{kind} is sent no pictures; leave out {PICTURES}")
        return cls(kind=kind, url=url.rstrip("/").removesuffix("/v1"), model=model, pictures=pictures)

    def __str__(self) -> str:
        return f"{self.kind}{PICTURES if self.pictures else ''}:{self.url}" + (f"#{self.model}" if self.model else "")


class ServerModel:
    """A model host over HTTP. Same contract as every model; see ``agent.models.base.Model``.

    Args:
        host: which.
        key: sent as a bearer token. None: what ``ONMARK_API_KEY`` says.
        nonces: of its canaries, for a connection that can be repeated. None: nobody can guess them.

    Attributes:
        dialects: those that its kind knows; once prepared, the one that it was seen to enforce.
        caveat: what every report of a run must say. Empty: nothing.

    Raises:
        ModelError: no address.
    """

    def __init__(self, host: HostName, key: str | None = None, nonces: Iterator[str] | None = None) -> None:
        self.host = host
        self._nonces = nonces
        self.profile: Profile = PROFILES[host.kind]
        self.name = str(host)
        self.dialects: tuple[Dialect, ...] = tuple(self.profile.knows)
        self.caveat = (
            "" if self.dialects else f"{self.name} is given no grammar: every answer was judged by its value alone."
        )
        self._stable = ""
        self._was_away = False
        self._model = host.model
        self._wire = Wire(host.url, os.environ.get(KEY, "") if key is None else key)

    def prepare(self, stable: str) -> None:
        """Connect, and find the first dialect that the host enforces: one whose canary it sings.

        Raises:
            ModelError: it refuses, or drops the constraint in every dialect.
            ModelUnavailable: it does not answer.
        """
        self._stable = stable
        self._connect()
        self._choose(threading.Event())

    def _choose(self, cancelled: threading.Event) -> None:
        """Find the first dialect that is enforced, for as long as somebody waits."""
        if not self.profile.knows:
            return
        said: dict[Dialect, str] = {}
        for dialect in self.profile.knows:
            reply = self._probe(dialect, cancelled)
            if reply is None:
                self.dialects = (dialect,)
                return
            said[dialect] = one_line(reply)[:60]
            log.warning("A host drops its constraint.", host=self.name, dialect=dialect, said=said[dialect])
        raise ModelError(
            f"expected {self.name} to answer within a grammar, found that it drops it as "
            + ", and as ".join(f"{dialect}: it said {text!r}" for dialect, text in said.items())
            + f"; use a host that does not, or name it unclaimed:{self.host.url} to run without"
        )

    def complete(self, request: DecodeRequest) -> Reply:
        """Ask under the first dialect that the request supplies. A host that was away sings another canary first.

        Raises:
            ModelError: the host refuses, the request supplies none of its dialects, or one that came back enforces
                none any more.
            ModelUnavailable: it does not answer.
        """
        if self._was_away:
            self._choose(request.cancelled)
            self._was_away = False
        artifact = next((request.artifacts[d] for d in self.dialects if d in request.artifacts), None)
        if artifact is None and self.dialects:
            wanted = " or ".join(self.dialects)
            raise ModelError(f"expected the tick's grammar as {wanted}, found {', '.join(request.artifacts)}")
        try:
            return self._asked(request, artifact)
        except ModelUnavailable as problem:
            gone = not isinstance(problem, HostBusy) and not request.cancelled.is_set()
            self._was_away = self._was_away or gone  # it may come back as another
            raise

    def _asked(self, request: DecodeRequest, artifact: Artifact | None) -> Reply:
        """What the host replies to one request."""
        constraint = self.profile.knows[artifact.dialect](artifact) if artifact else {}
        sent = body(self.profile.style, self._model, request, constraint, self._picture(request))
        heard = answer(self.profile.style, self._wire.post(self.profile.path, sent, request.cancelled))
        return Reply(
            text=heard.text,
            finish=heard.finish,
            claim=self._claim(heard, artifact),
            sent=artifact.dialect if artifact else None,
            aside=heard.aside,
            usage=Usage(
                prompt_tokens=heard.prompt_tokens,
                reused_tokens=heard.reused_tokens,
                evaluated_tokens=heard.prompt_tokens - heard.reused_tokens + heard.answer_tokens,
            ),
        )

    def close(self) -> None:
        """Close the connection."""
        self._wire.close()

    def _connect(self) -> None:
        """See that the host is there, waiting while it loads, and which model it has."""
        began_s = time.monotonic()
        while True:
            try:
                self._wire.get(self.profile.alive)
                break
            except HostBusy:
                if time.monotonic() - began_s > LOADING_S:
                    raise
            time.sleep(LOADING_LOOK_S)
        if self.profile.names is not None and not self._model:
            self._model = self._only_model(self.profile.names)

    def _only_model(self, path: str) -> str:
        said = self._wire.get(path)
        listed = said.get("data", said.get("models"))
        names = [
            str(each.get("id") or each.get("name"))
            for each in (listed if isinstance(listed, list) else [])
            if isinstance(each, dict)
        ]
        if len(names) != 1:
            known = one_line(", ".join(names[:20])) or "none"
            raise ModelError(f"expected one model at {self.host.url}, found {known}; name it: {self.name}#MODEL")
        return names[0]

    def _probe(self, dialect: Dialect, cancelled: threading.Event) -> str | None:
        """Ask under a grammar with one sentence. None: that is what the host said; otherwise what it said instead."""
        canary = new_canary(CANARY_BYTES, None if self._nonces is None else next(self._nonces))
        prompt = Prompt(stable=self._stable, changing="", goal=PROMPT, unknown_goal=PROMPT)
        artifacts: dict[Dialect, Artifact] = {dialect: canary.artifacts[dialect]}
        reply = self._asked(DecodeRequest(prompt=prompt, artifacts=artifacts, cancelled=cancelled), artifacts[dialect])
        return None if canary.outcome(reply) == "enforced" else (reply.text or reply.aside or "nothing")

    def _claim(self, heard: Answer, artifact: Artifact | None) -> Claim | None:
        """What the host says that it used, where it says so: another grammar than was sent is a claim too."""
        if artifact is None or not self.profile.echoes or heard.echo is None:
            return None
        return Claim(dialect=artifact.dialect, digest=hashlib.sha256(heard.echo.encode()).hexdigest())

    def _picture(self, request: DecodeRequest) -> Picture | None:
        """What this very tick saw, with its marks; never an older one."""
        if not self.host.pictures or request.seen is None:
            return None
        media_type, data = encoded(draw(request.seen), MOST_PICTURE)
        return Picture(media_type=media_type, data=data)
