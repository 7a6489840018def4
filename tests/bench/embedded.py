"""What a decision of the embedded model takes, and what bounds it: its products of matrices, beside numpy's alone.

``python -m tests.bench.embedded [--check]``. The peer is numpy itself, multiplying matrices of the layers' sizes by as
many columns as the decision evaluated tokens, on as many threads: a decision cannot be faster than that. Exit 1 with
``--check``: a decision takes more than three times as long.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from actuation.tools import Click, Wait
from agent.models import store
from agent.models.base import DecodeRequest, Prompt
from agent.models.embedded import EmbeddedModel
from agent.models.weights import Weights, read
from grammar.engine import Verifier
from grammar.tick import TickGrammar
from perception.geometry import Box
from perception.observation import Mark

MARKS = (5, 10, 20, 40)
ROUNDS = 9
MOST = 3.0  # times the products alone
RULES = "Choose the action that reaches the goal.\nclick: Click a mark.\nwait: Do nothing.\n\n"

console = Console()


def decide(model: EmbeddedModel, grammar: TickGrammar, many: int, number: int) -> tuple[float, int]:
    """Milliseconds and evaluated tokens of a decision on a screen of which a mark in four has changed."""
    labels = [f"item {n} {'abcdefghi'[number] if n % 4 == 0 else ''}".strip() for n in range(1, many + 1)]
    marks = [Mark(number=n, box=Box(0, 20 * n, 10, 10), label=label) for n, label in enumerate(labels, 1)]
    changed = sorted(marks, key=lambda mark: mark.number % 4 == 0)  # those last, as a prompt has them
    listed = "".join(f"{mark.number} {mark.label}\n" for mark in changed)
    prompt = Prompt(
        stable=RULES, changing=f"Marks:\n{listed}", goal=f"Goal: take item {number + 1}\n", unknown_goal="Goal: win\n"
    )
    request = DecodeRequest(prompt=prompt, artifacts=grammar.for_tick(marks).artifacts)
    began_s = time.perf_counter()
    usage = model.complete(request).usage
    return 1000 * (time.perf_counter() - began_s), usage.evaluated_tokens


def products(weights: Weights, columns: int) -> Callable[[], None]:
    """All products of a pass over so many tokens, and nothing else."""
    states = {block.down.shape[1]: np.ones((block.down.shape[1], columns), np.float32) for block in weights.blocks[:1]}
    states[weights.shape.width] = np.ones((weights.shape.width, columns), np.float32)

    def multiply() -> None:
        for block in weights.blocks:
            for matrix in (block.qkv, block.attn_out, block.gate_up, block.down):
                matrix @ states[matrix.shape[1]]

    return multiply


def alone(work: Callable[[], None], threads: int) -> float:
    """Milliseconds, the median of several."""
    took = []
    with threadpool_limits(threads, user_api="blas"):
        for _ in range(ROUNDS):
            began_s = time.perf_counter()
            work()
            took.append(1000 * (time.perf_counter() - began_s))
    return statistics.median(took)


def main() -> int:
    """Print a line a number of marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 where a goal is missed")
    check = parser.parse_args().check
    threads = max(1, (os.cpu_count() or 1) - 1)
    path = store.locate(store.DEFAULT)
    began_s = time.perf_counter()
    model = EmbeddedModel(path)
    console.print(f"Loaded in {time.perf_counter() - began_s:.2f} s; {threads} threads.")
    weights, grammar = read(path), TickGrammar((Click, Wait), Verifier())
    model.prepare(RULES)
    table = Table(title="A decision, a mark in four changed: medians", title_justify="left")
    for heading in ("marks", "ms", "tokens evaluated", "ms a token", "products alone, ms", "times as long"):
        table.add_column(heading, justify="right")
    missed = False
    for many in MARKS:
        decided = [decide(model, grammar, many, number) for number in range(ROUNDS)][1:]
        took_ms, tokens = statistics.median(ms for ms, _ in decided), round(statistics.median(n for _, n in decided))
        bound_ms = alone(products(weights, tokens), threads)
        missed = missed or took_ms > MOST * bound_ms
        figures = (
            f"{took_ms:.0f}",
            str(tokens),
            f"{took_ms / tokens:.2f}",
            f"{bound_ms:.0f}",
            f"{took_ms / bound_ms:.2f}",
        )
        table.add_row(str(many), *figures)
    console.print(table)
    return 1 if check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
