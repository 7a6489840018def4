"""``onmark grammar`` and ``onmark sweep`` as a user meets them."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.commands import environment, one_message, onmark

MARKS = ("--mark", "7=safe", "--mark", '12=say "::=" // #', "--mark", "70")


def artifact(*words: str) -> str:
    """What stands on standard output alone."""
    command = [sys.executable, "-m", "agent", "grammar", *words]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("dialect", ["lark", "gbnf", "json_schema", "json_schema_closed", "choices"])
def test_an_artifact_is_printed_whole_and_can_be_piped(dialect: str, tmp_path: Path) -> None:
    report = tmp_path / "facts.json"
    text = artifact("examples/mines", *MARKS, "--dialect", dialect, "--json", str(report))
    facts = json.loads(report.read_text())
    assert facts["text"].strip() == text.strip()
    assert facts["digest"] == hashlib.sha256(facts["text"].encode()).hexdigest()
    assert (facts["dialect"], facts["can_name_marks"], facts["sentences"]) == (dialect, [7, 12, 70], 7)
    if dialect not in ("lark", "gbnf"):
        json.loads(text)


def test_a_suppressed_mark_is_not_there() -> None:
    assert "safe" not in artifact("examples/mines", *MARKS, "--suppress", "7")


def test_a_type_of_a_users_own_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("from typing import Literal\nOrder = Literal['buy', 'sell']\n")
    assert artifact(f"{tmp_path}/own.py:Order", "--dialect", "choices") == '["\\"buy\\"", "\\"sell\\""]\n'


def test_cells_and_proof() -> None:
    text = artifact("perception.observation:CellRef", "--cells", "3x2")
    assert "(A|B|C)([1-2])" in text
    assert '\\"proof\\":' in artifact("examples/mines", *MARKS, "--proof")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("examples/mines", "--dialect", "ebnf"), "Expected a dialect out of choices, lark, gbnf"),
        (("examples/mines", "--mark", "x"), "Expected --mark NUMBER or NUMBER=LABEL, found 'x'"),
        (("examples/mines", "--mark", "7", "--mark", "7"), "expected each mark's number once, found 7 twice"),
        (("examples/mines", "--cells", "16"), "Expected --cells COLUMNSxROWS"),
        (("nowhere:X",), "Expected a module 'nowhere'"),
        (("nowhere.py:X",), "Expected a file at nowhere.py, found none"),
        (("grammar.nodes:Recod",), "Did you mean 'Record'?"),
        (("grammar.sweep.traps:Chain",), "Chain contains itself"),
        (("perception.observation:MarkRef",), "Expected at least one mark on screen, found none"),
        (("grammar.sweep.traps:Digit", "--proof"), "to prove a reply by"),
    ],
)
def test_what_is_wrong_is_said(words: tuple[str, ...], says: str) -> None:
    code, output = onmark("grammar", *words)
    assert code == 2
    assert says in one_message(output)


def test_a_sweep_of_some(tmp_path: Path) -> None:
    report = tmp_path / "sweep.json"
    code, output = onmark("sweep", "--only", "trap: optional of", "--check", "--json", str(report))
    assert code == 0, output
    assert "refused: ambiguous null" in output
    assert json.loads(report.read_text())["violations"] == {}


def test_a_sweep_of_nothing_is_wrong_use() -> None:
    code, output = onmark("sweep", "--only", "no such type")
    assert code == 2
    assert "found none" in one_message(output)
