"""A run's figures for Prometheus: ``onmark run BOT --metrics 9464``, with the ``metrics`` extra.

Counters are ``onmark_ticks_total``, ``onmark_actions_total{outcome}``, ``onmark_verifications_total{outcome,cause}``,
``onmark_faults_total{kind}``, ``onmark_unanswered_total{why}``, ``onmark_refusals_total{reason}``,
``onmark_rungs_total{rung}`` and ``onmark_blocked_total{kind}``; the histogram is ``onmark_stage_seconds{stage}``.
"""

from __future__ import annotations

from agent.errors import MissingPiece, WrongUse
from agent.events import events
from agent.session.records import TickRecord
from perception.observation import Observation

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTED = (
    ("fault", "faults", "kind", "Replies that were not held."),
    ("unanswered", "unanswered", "why", "Requests that the model did not answer."),
    ("refused", "refusals", "reason", "Actions that were not delivered."),
    ("rung", "rungs", "rung", "Rungs of the ladder taken."),
    ("blocked", "blocked", "kind", "Ticks in which the window could not be seen."),
)


class Metrics:
    """Serves the figures over HTTP, on this machine alone. A watcher of the scheduler. Close it.

    Args:
        port: 0: any that is free, see the attribute.

    Attributes:
        port: where it listens.

    Raises:
        MissingPiece: the extra is not installed.
        WrongUse: the port is taken.
    """

    def __init__(self, port: int) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
        except ImportError as problem:
            raise MissingPiece("Expected prometheus-client, found none.", "pip install 'onmark[metrics]'.") from problem
        ours = CollectorRegistry()
        outcomes = ["outcome", "cause"]
        self._ticks = Counter("onmark_ticks", "Ticks.", registry=ours)
        self._actions = Counter("onmark_actions", "Actions submitted.", ["outcome"], registry=ours)
        self._verified = Counter("onmark_verifications", "How actions turned out.", outcomes, registry=ours)
        self._counts = {
            event: (Counter(f"onmark_{name}", said, [label], registry=ours), label)
            for event, name, label, said in COUNTED
        }
        self._stages = Histogram(
            "onmark_stage_seconds", "Time of a tick's stages.", ["stage"], registry=ours, buckets=BUCKETS_S
        )
        try:
            self._server, self._thread = start_http_server(port, addr="127.0.0.1", registry=ours)
        except OSError as problem:
            raise WrongUse(f"Expected a free port, found {port} taken ({problem}).", "Name another.") from problem
        self.port = int(self._server.server_port)

    def __call__(self, record: TickRecord, seen: Observation | None) -> None:
        """Count a tick."""
        self._ticks.inc()
        if record.delivery is not None:
            self._actions.labels(record.delivery.outcome).inc()
        self._verified.labels(record.verification, record.cause or "").inc()
        for event, fields in events(record):
            if event in self._counts:
                counter, label = self._counts[event]
                counter.labels(fields[label] or "").inc()
        for stage, ms in record.times_ms.items():
            self._stages.labels(stage).observe(ms / 1000)

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
