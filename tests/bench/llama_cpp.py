"""llama.cpp's own parser and matcher over the GBNF of every type that is admitted.

``python -m tests.bench.llama_cpp --server http://127.0.0.1:8080 --checker ./gbnf_check --transcript FILE``

The server is a llama-server with any model: each grammar is sent to it and must come back in its echo, since a grammar
that it does not take is a 400. The checker is ``gbnf_check.cpp`` beside this file, built against llama.cpp: documents
and mutants are put to its matcher, which must agree with the Lark grammar about every one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track

from grammar.errors import InadmissibleType
from grammar.sweep.consumers import Consumers
from grammar.sweep.documents import Values, mutants
from grammar.sweep.pool import build_pool
from grammar.sweep.run import SCOPE

console = Console()


@dataclass(frozen=True, slots=True)
class Asked:
    """One type: its grammar, and texts with what the Lark grammar says of each."""

    name: str
    grammar: str
    texts: dict[str, bool]


def asked_types() -> Iterator[Asked]:
    """Every admitted type of the sweep."""
    for case in build_pool().cases:
        try:
            consumers = Consumers(case.declared, SCOPE)
        except InadmissibleType:
            continue
        rng = random.Random(case.name)
        texts: dict[str, bool] = {}
        for _ in range(2):
            good = consumers.language.spell(Values(SCOPE, rng).draw(consumers.language.plan.node))
            texts |= {text: consumers.opinion(text).lark for text in (good, *mutants(good, rng)) if _sendable(text)}
        yield Asked(case.name, consumers.language.artifacts["gbnf"].text, texts)


def _sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refused_by_server(url: str, types: list[Asked]) -> list[str]:
    """The types whose grammar the server does not take, or does not say that it used."""
    refused = []
    with httpx.Client(base_url=url, timeout=60) as client:
        for each in track(types, "llama-server", console=Console(stderr=True), transient=True):
            body = {"prompt": "x", "n_predict": 1, "cache_prompt": True, "grammar": each.grammar}
            answer = client.post("/completion", json=body)
            echo = answer.json().get("generation_settings", {}).get("grammar") if answer.status_code == 200 else None
            if echo != each.grammar:
                refused.append(f"{each.name}: {answer.status_code} {answer.text[:200]}")
    return refused


def differences(checker: Path, types: list[Asked]) -> tuple[int, list[str]]:
    """How many texts were put to the matcher, and those about which it differs from the Lark grammar."""
    lines = [
        json.dumps({"id": each.name, "root": "root", "grammar": each.grammar, "texts": list(each.texts)})
        for each in types
    ]
    done = subprocess.run([checker], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    differ = []
    for each, answer in zip(types, answers, strict=True):
        if not answer["parsed"]:
            differ.append(f"{each.name}: does not parse: {answer['error']}")
        pairs = zip(each.texts.items(), answer["accepted"], strict=True)
        differ += [
            f"{each.name}: {text[:100]!r}: lark {lark}, llama.cpp {has}" for (text, lark), has in pairs if lark != has
        ]
    return sum(len(each.texts) for each in types), differ


def main() -> int:
    """Ask, print, and write the transcript. Exit 1: a grammar was refused, or a text judged otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of a llama-server")
    parser.add_argument("--checker", type=Path, required=True, help="the built gbnf_check")
    parser.add_argument("--transcript", type=Path, help="where to keep what was found")
    options = parser.parse_args()
    types = list(asked_types())
    build = httpx.get(f"{options.server}/props", timeout=60).json().get("build_info", "unknown")
    refused = refused_by_server(options.server, types)
    texts, differ = differences(options.checker, types)
    found = {
        "llama.cpp": build,
        "pool": build_pool().digest,
        "grammars": len(types),
        "grammars_digest": hashlib.sha256("".join(each.grammar for each in types).encode()).hexdigest(),
        "refused_by_the_server": refused,
        "texts": texts,
        "texts_in_the_language": sum(sum(each.texts.values()) for each in types),
        "judged_otherwise": differ,
    }
    console.print_json(json.dumps(found))
    if options.transcript is not None:
        options.transcript.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if refused or differ else 0


if __name__ == "__main__":
    sys.exit(main())
