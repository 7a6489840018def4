"""Hold a real llama-server to the contract of model hosts, and keep what it said: ``make hosts``.

``python -m tests.hosts --llama-server PATH``, of any llama-server.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from agent.models import store
from agent.models.contract import Contract, Finding
from agent.models.server import HostName, ServerModel
from tests.hosts.llama_server import llama_server
from tests.hosts.transcript import Between, Recorder, nonces

HERE = Path(__file__).parent / "transcripts"

console = Console()


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
    parser.add_argument("--llama-server", type=Path, required=True, help="the program")
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
