"""Hold a real llama-server to the contract of model hosts, and keep what it said: ``make hosts``.

``python -m tests.hosts --llama-server PATH``, of any llama-server.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from agent.models import store
from agent.models.contract import Contract, Finding
from agent.models.server import HostName, ServerModel
from tests.hosts.transcript import Between, Recorder, nonces

HERE = Path(__file__).parent / "transcripts"
START_S = 60.0

console = Console()


@contextmanager
def llama_server(program: Sequence[str], weights: Path) -> Iterator[str]:
    """A llama-server with these weights, on a port of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*program, "-m", str(weights), "--host", "127.0.0.1", "--port", str(port), "-t", "1", "-np", "1"]
    with subprocess.Popen([*command, "-c", "4096"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _await_health(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _await_health(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"llama-server ended with code {process.returncode} at its start")
        with suppress(httpx.HTTPError):
            if httpx.get(url, timeout=2).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit(f"llama-server was not ready after {START_S:g} s")


def check(url: str) -> tuple[list[Finding], Recorder]:
    """What was found, and all that was said."""
    recorder = Recorder(url)
    with closing(recorder), closing(Between(recorder)) as between:
        host = HostName(kind="llama-server", url=between.url)
        with closing(ServerModel(host, nonces=nonces())) as model:
            return list(Contract(model, nonces()).check()), recorder


def speed(url: str) -> list[Finding]:
    """What it takes, with nobody in between."""
    with closing(ServerModel(HostName(kind="llama-server", url=url))) as model:
        model.prepare("")
        return list(Contract(model).speed())


def main() -> int:
    """Exit 1: the host fails somewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama-server", required=True, nargs="+", help="the program, and words before its options")
    parser.add_argument(
        "--transcript", type=Path, default=HERE / "llama-server.json", help="where to keep what it said"
    )
    options = parser.parse_args()
    with llama_server(options.llama_server, store.locate(store.DEFAULT)) as url:
        build = httpx.get(f"{url}/props", timeout=60).json().get("build_info", "unknown")
        findings, recorder = check(url)
        times = speed(url)
    table = Table(title=f"llama-server {build}", title_justify="left")
    for heading in ("", "what a host must do", "found"):
        table.add_column(heading, overflow="fold")
    for finding in (*findings, *times):
        table.add_row({True: "fine", False: "FAILS", None: ""}[finding.fine], finding.name, finding.detail)
    console.print(table)
    found = [finding.as_json() for finding in findings]
    kept = {"host": "llama-server", "build": build, "found": found, "exchanges": recorder.exchanges}
    options.transcript.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if any(finding.fine is False for finding in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
