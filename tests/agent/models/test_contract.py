"""The contract of model hosts: an honest host passes it, and each lie fails it where it should."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.models.contract import Contract, Finding
from agent.models.scripted import RandomModel
from agent.models.server import HostName, ServerModel
from agent.testing.hosts import DishonestHost
from tests.agent.commands import one_message, onmark


def findings(habit: str, honest_for: int = 0) -> dict[str, Finding]:
    with (
        closing(DishonestHost(habit, honest_for=honest_for)) as host,
        closing(ServerModel(HostName.parse(f"llama-server:{host.url}"))) as model,
    ):
        return {finding.name: finding for finding in Contract(model).check()}


def test_an_honest_host_passes() -> None:
    found = findings("honours")
    assert {name for name, finding in found.items() if finding.fine is False} == set()
    assert found["tells 1, 12 and 123 apart"].detail.startswith("held: ")
    assert found["shows the proof of its grammar"].detail.startswith("proven: ")
    assert len(found) == 14


@pytest.mark.parametrize(
    ("habit", "fails", "says"),
    [
        ("ignores", "sings a small canary", "I would click"),
        ("violates", "cannot name what is not there", "claim_violated"),
        ("names_another_grammar", "says what is forced", "wrong_claim"),
        ("reasons", "presses keys", "aside"),
        ("truncates_in_silence", "says that an answer was cut", "stop"),
    ],
)
def test_a_lie_fails_where_it_should(habit: str, fails: str, says: str) -> None:
    found = findings(habit, honest_for=1)[fails]
    assert found.fine is False
    assert says in found.detail


def test_a_model_that_takes_no_grammar_does_not_pass() -> None:
    model = RandomModel()
    model.dialects = ()
    first = next(iter(Contract(model).check()))
    assert (first.name, first.fine) == ("takes a grammar", False)


def test_the_command_prints_a_table_and_says_by_its_code_what_came_of_it(tmp_path: Path) -> None:
    with closing(DishonestHost("honours")) as host:
        code, output = onmark("model", "check", f"llama-server:{host.url}", "--json", str(tmp_path / "found.json"))
    assert code == 0, output
    assert "sings a large canary" in output
    assert "ms a decision" in output.replace("\n", " ")
    found = json.loads((tmp_path / "found.json").read_text())
    assert [each["name"] for each in found if each["fine"] is False] == []
    assert [each["name"] for each in found[-3:]] == ["5 marks", "20 marks", "50 marks"]


def test_a_host_that_drops_its_grammar_is_no_bug_of_ours() -> None:
    with closing(DishonestHost("ignores")) as host:
        code, output = onmark("model", "check", f"llama-server:{host.url}")
    assert code == 3
    assert "drops it as gbnf" in one_message(output).replace("\n", " ")


def test_the_kinds_of_host_are_listed_with_what_they_drop(tmp_path: Path) -> None:
    code, output = onmark("model", "list", "--json", str(tmp_path / "list.json"))
    assert code == 0
    assert "llama-server:http://127.0.0.1:8080" in output
    assert "drops in silence: grammar, where response_format" in output
    listed = json.loads((tmp_path / "list.json").read_text())
    assert listed["hosts"]["vllm"]["knows"] == ["choices", "gbnf", "json_schema"]


def test_a_run_with_a_host_that_is_not_there_says_what_to_do() -> None:
    code, output = onmark("model", "check", "llama-server:http://127.0.0.1:9")
    assert code == 3
    assert "see whether the host runs there" in one_message(output)
