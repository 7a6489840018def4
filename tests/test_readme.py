"""The README's words are run."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from actuation import Hands
from actuation.guard import RefusalReason
from agent.ladder import Rung
from agent.load import load_bot, load_type
from agent.models.hosts import PROFILES
from agent.play import play
from agent.session.reader import open_session
from agent.signals import Signal
from agent.testing.habits import HABITS
from agent.testing.hosts import WIRES
from agent.verify import Cause

README = Path("README.md").read_text()


def test_its_bot_is_short_and_runs(real_input: str, tmp_path: Path) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in source.splitlines() if line.strip(" )")]) <= 12
    (tmp_path / "pattern.py").write_text(source)
    bot = load_bot(str(tmp_path / "pattern.py"))
    report = play(bot, model="embedded", ticks=5, folder=tmp_path / "s", own_display=True)
    assert (report.ending, report.valid_first_rate) == ("ticks", 1.0)
    ticks = open_session(tmp_path / "s").ticks
    assert all('"target":"grey"' in (tick.action or "") for tick in ticks)
    assert [tick.verification for tick in ticks] == ["inconclusive", *["confirmed"] * 4]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)]+)\)", README))))
def test_what_it_points_at_exists(path: str) -> None:
    assert Path(path).exists()


def test_what_it_says_is_where_is_there() -> None:
    (tree,) = re.findall(r"```\n(agent/.*?)```", README, re.DOTALL)
    for folder in re.findall(r"^(\w+)/", tree, re.MULTILINE):
        assert Path(folder).is_dir()
    for name in re.findall(r"(\w+\.py)", tree):
        assert (Path("agent") / name).is_file()


def test_its_targets_are_in_the_makefile() -> None:
    makefile = Path("Makefile").read_text()
    for target in re.findall(r"`?make (\w+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_models_own_page_does_what_it_says(tmp_path: Path) -> None:
    page = Path("agent/models/README.md").read_text()
    for number, source in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        (tmp_path / f"page{number}.py").write_text(source)
        subprocess.run([sys.executable, tmp_path / f"page{number}.py"], check=True, timeout=60)
    assert {kind for kind in PROFILES if f"| `{kind}` |" in page} == set(PROFILES)
    assert f"with {len(HABITS)} habits about its grammar and {len(WIRES)} at its wire" in page
    for path in re.findall(r"\]\(([^)#]+)", page):
        assert (Path("agent/models") / path).exists()


def test_the_grammars_own_page_does_what_it_says(tmp_path: Path) -> None:
    page = Path("grammar/README.md").read_text()
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.py").write_text(source)
    said = subprocess.run(
        [sys.executable, tmp_path / "page.py"], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.startswith("order='buy' amount=99 [Fault(kind='claim_violated', message='leaves the grammar")
    assert "amount: expected a whole number from 1 to 99, found 100" in said.stdout
    assert said.stdout.endswith(", None]\n")


@pytest.mark.parametrize("number", range(len(re.findall(r"```python\n", Path("perception/README.md").read_text()))))
def test_the_code_of_the_perception_page_runs(number: int) -> None:
    code = re.findall(r"```python\n(.*?)```", Path("perception/README.md").read_text(), re.DOTALL)
    needed = "" if number == 0 else "from pathlib import Path\n"
    done = subprocess.run([sys.executable, "-c", needed + code[number]], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_code_of_the_actuation_page_runs(tmp_path: Path) -> None:
    page = Path("actuation/README.md").read_text()
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.py").write_text(source)
    motion, rules, steer = (load_type(f"{tmp_path}/page.py:{name}") for name in ("motion", "rules", "Steer"))
    hands = Hands(motion)
    steer(key="a").perform(hands, None)
    assert hands.plan.pressed == {("key", "a")}
    assert rules.target_tolerance == 0.3


def test_the_actuation_page_names_every_refusal() -> None:
    page = Path("actuation/README.md").read_text()
    assert [reason for reason in get_args(RefusalReason) if f"`{reason}`" not in page] == ["cancelled"]


def test_the_bot_of_the_agents_page_loads_and_knows_when_it_is_stuck(real_input: str, tmp_path: Path) -> None:
    page = Path("agent/README.md").read_text()
    source, _ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.py").write_text(source)
    bot = load_bot(str(tmp_path / "page.py"))
    report = play(bot, model="random", ticks=8, folder=tmp_path / "s", own_display=True)
    assert report.ending == "ticks"
    assert report.confirmed + sum(report.refuted.values()) > 0


def test_the_fleet_of_the_agents_page_plays(tmp_path: Path) -> None:
    _, source = re.findall(r"```python\n(.*?)```", Path("agent/README.md").read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=100)
    assert sorted(line for line in done.stdout.splitlines() if line.endswith(" ticks")) == ["1 ticks", "2 ticks"]


def test_the_agents_page_names_each_signal_rung_and_cause() -> None:
    page = Path("agent/README.md").read_text()
    for words in (Signal, Rung, Cause):
        for word in get_args(words):
            assert f"| `{word}` |" in page
