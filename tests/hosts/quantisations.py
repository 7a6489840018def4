"""The embedded model beside llama.cpp on each quantisation: both read the same file.

``python -m tests.hosts.quantisations --bin FOLDER``, the folder of ``llama-server`` and ``llama-quantize``. The weights
that come with Onmark are quantised anew as each kind, which makes them no better; what counts is that both agree.
Exit 1: they do not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from agent.models import store
from agent.models.gguf_file import QuickReader
from agent.models.tokens import Tokenizer
from agent.models.weights import read
from tests.agent.models.test_llama_cpp import divergence, logs
from tests.hosts.fixtures import PROMPTS, next_of
from tests.hosts.llama_server import llama_server

KINDS = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K_M", "Q5_K_M", "Q6_K", "F16", "BF16", "F32")
MOST_KL = 0.02

console = Console()


def compared(programs: Path, folder: Path, kind: str) -> tuple[str, float, int]:
    """The tensors' types, the most that the two differ by over all prompts, in nats, and how many choices agree."""
    path = folder / f"{kind}.gguf"
    words = ("--allow-requantize", str(store.locate(store.DEFAULT)), str(path), kind)
    subprocess.run(
        [programs / "llama-quantize", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with (
        llama_server(programs / "llama-server", path) as url,
        httpx.Client(base_url=url, timeout=120) as client,
    ):
        theirs = {prompt: next_of(client, prompt)["top"] for prompt in PROMPTS}
    types = Counter(tensor.tensor_type.name for tensor in QuickReader(path).tensors)
    weights = read(path)
    tokens, most, same = Tokenizer(weights.vocabulary), 0.0, 0
    for prompt, top in theirs.items():
        ours = logs(weights, tokens.encode(prompt))
        most = max(most, divergence(np.array(list(top.values())), ours[[int(token) for token in top]]))
        same += int(ours.argmax()) == int(next(iter(top)))
    path.unlink()
    return ", ".join(f"{many} {name}" for name, many in types.most_common()), most, same


def main() -> int:
    """Print a line a kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="where llama-server and llama-quantize are")
    programs = parser.parse_args().bin
    missed = 0
    table = Table(title="The embedded model beside llama.cpp, on one file each", title_justify="left")
    for heading in ("quantised as", "tensors", "most KL, nats", f"same choice, of {len(PROMPTS)}"):
        table.add_column(heading)
    with TemporaryDirectory() as folder:
        for kind in KINDS:
            types, most, same = compared(programs, Path(folder), kind)
            missed += most > MOST_KL
            table.add_row(kind, types, f"{most:.4f}", str(same))
            console.print(f"{kind}: {types}: {most:.4f}, {same}", style="dim")
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
