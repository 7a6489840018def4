"""What llama.cpp makes of the embedded model's weights: its tokens, its probabilities, its greedy words.

``python -m tests.hosts.fixtures --llama-server PATH`` writes ``tests/agent/models/llama_cpp.json``, which a test holds
the embedded model to. PATH is any llama-server, such as the one of ``make hosts``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import httpx

from agent.models import store
from tests.hosts.llama_server import llama_server

TARGET = Path(__file__).parents[1] / "agent" / "models" / "llama_cpp.json"

STRINGS = (
    "Hello, world!",
    "hello",
    " hello",
    "  two spaces",
    "trailing space ",
    "",
    " ",
    "\n",
    "\n\n\n",
    "\t\ttabs",
    "a\nb\r\nc",
    "1",
    "12",
    "123",
    "1234567890",
    "3.14159",
    "v1.2.3-beta",
    '{"tool":"click","target":"Start","mark":12}',
    '{"tool":"wait"}',
    '[1, 2, 3, "four"]',
    'say "hi" \\ there',
    "don't can't I'll we've",
    "UPPER lower MiXeD",
    "snake_case camelCase kebab-case",
    "f(x) = x**2 + 2*x - 1;",
    "<b>bold</b> & more",
    "http://example.org/a?b=c&d=e#f",
    "naïve café résumé",
    "Grüße aus Köln",
    "Привет, мир",
    "שלום עולם",
    "こんにちは世界",
    "你好\uff0c世界",
    "안녕하세요",
    "\U0001f600 \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f3f4",
    "e\u0301 combining",
    "zero\u200bwidth",
    "€ £ ¥ ₿",
    "½ ² ³ ∑ √",
    "a" * 50,
    "the the the the the",
    "Marks:\n3 mine\n41 safe\n60 unknown\nGoal: reveal a safe cell\n",
    "antidisestablishmentarianism",
    "...---...!?!?",
)
PROMPTS = (
    "The capital of France is",
    "Once upon a time, there was a little",
    "def add(a, b):\n    return",
    "Marks:\n3 mine\n41 safe\n60 unknown\nGoal: reveal a safe cell\n",
    '{"tool":"click","target":"',
    "1 2 3 4 5 6 7",
    "Water boils at a temperature of",
    "The opposite of hot is",
)
TOP = 20
WORDS = 12


def main() -> None:
    """Ask, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llama-server", type=Path, required=True, help="the program")
    options = parser.parse_args()
    with (
        llama_server(options.llama_server, store.locate(store.DEFAULT)) as url,
        httpx.Client(base_url=url, timeout=120) as client,
    ):
        kept = {
            "weights_sha256": store.entry(store.DEFAULT).sha256,
            "tokens": {text: _tokens(client, text) for text in STRINGS},
            "next": {prompt: next_of(client, prompt) for prompt in PROMPTS},
        }
    TARGET.write_text(json.dumps(kept, indent=0, ensure_ascii=True) + "\n", encoding="utf-8")


def _tokens(client: httpx.Client, text: str) -> list[int]:
    answer = client.post("/tokenize", json={"content": text, "add_special": False, "parse_special": False})
    tokens: list[int] = answer.raise_for_status().json()["tokens"]
    return tokens


def next_of(client: httpx.Client, prompt: str) -> dict[str, Any]:
    """The likeliest tokens after a prompt with the logarithms of their probabilities, and greedy words."""
    body = {"prompt": prompt, "n_predict": WORDS, "temperature": 0, "n_probs": TOP, "cache_prompt": False}
    said = client.post("/completion", json={**body, "return_tokens": True}).raise_for_status().json()
    first = said["completion_probabilities"][0]["top_logprobs"]
    return {
        "top": {str(each["id"]): round(each["logprob"], 4) for each in first},
        "greedy": said["tokens"],
        "margins": [round(_margin(each["top_logprobs"]), 3) for each in said["completion_probabilities"]],
    }


def _margin(top: list[dict[str, Any]]) -> float:
    """How far the likeliest token is ahead of the next."""
    ahead: float = top[0]["logprob"] - top[1]["logprob"]
    return ahead


if __name__ == "__main__":
    main()
