"""``onmark look`` and ``onmark bench perception`` as a user meets them."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.testing.victim import until
from perception.image import read_png
from tests.agent.commands import environment, one_message, onmark

SHOT = "tests/labelled/gnome-2048/02.png"


MISSING = """
from actuation import Click, Wait
from agent import Bot, Game
from perception.detect.fusion import Fusion
from perception.detect.lattice import Lattice
from perception.detect.regions import Regions
from perception.sensors import Title


class Missing(Bot):
    game = Game(title="GNOME 2048")
    detector = Fusion(Lattice(rows=9, columns=9), Regions())
    tools = (Click, Wait)
    goal = "win"
    sensors = {"level": Title()}
"""


def look(folder: Path, *words: str) -> tuple[int, str]:
    return onmark("look", *words, "--out", str(folder / "look.png"))


def test_a_picture_and_what_it_should_show(tmp_path: Path) -> None:
    said = tmp_path / "marks.json"
    code, output = look(tmp_path, SHOT, "--json", str(said), "--save", str(tmp_path / "shot.png"))
    assert code == 0, output
    assert "21 marks, 16 cells" in output
    assert (read_png(tmp_path / "shot.png") == read_png(Path(SHOT))).all()
    assert read_png(tmp_path / "look.png").shape[0] >= read_png(Path(SHOT)).shape[0]
    assert look(tmp_path, SHOT, "--expect", str(said))[0] == 0


def test_some_marks_that_must_be_there_and_kinds_of_cells(tmp_path: Path) -> None:
    some = tmp_path / "some.json"
    some.write_text(json.dumps({"marks": [{"box": [12, 13, 103, 30], "label": "New Game"}], "others": True}))
    said = tmp_path / "said.json"
    code, output = look(tmp_path, SHOT, "--expect", str(some), "--kinds", str(tmp_path / "kinds"), "--json", str(said))
    assert code == 0, output
    kinds = {kind for row in json.loads(said.read_text())["kinds"] for kind in row}
    assert {path.stem for path in (tmp_path / "kinds").iterdir()} == kinds


def test_what_the_eyes_of_a_bot_miss_is_told(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(MISSING)
    code, output = look(tmp_path, SHOT, "--bot", str(tmp_path / "bot.py"))
    assert code == 0, output
    assert "Unseen   Expected a board of 9 rows and 9 columns" in output
    assert "Sensor   level: cannot be told" in output


def drop(marks: list[dict[str, Any]]) -> None:
    del marks[5]


def add(marks: list[dict[str, Any]]) -> None:
    marks.append({"box": [5, 5, 5, 5]})


def move(marks: list[dict[str, Any]]) -> None:
    marks[0]["box"][0] += 3


def rename(marks: list[dict[str, Any]]) -> None:
    marks[0]["label"] = "Old Game"


def renumber(marks: list[dict[str, Any]]) -> None:
    marks[0]["number"] = 99


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (drop, "expected nothing at 148x148 at (4, 50), found mark 6 '4'"),
        (add, "expected mark at 5x5 at (5, 5), found mark 1"),
        (
            move,
            "expected mark 1 'New Game' at 103x30 at (15, 13), found mark 1 'New Game' nearest, at 103x30 at (12, 13)",
        ),
        (rename, "expected mark 1 'Old Game' at 103x30 at (12, 13), found mark 1 'New Game' there"),
        (renumber, "expected mark 99 'New Game' at 103x30 at (12, 13), found mark 1 'New Game' there"),
    ],
)
def test_what_is_not_as_expected_is_named(change: Any, says: str, tmp_path: Path) -> None:
    said = tmp_path / "marks.json"
    look(tmp_path, SHOT, "--json", str(said))
    expected = json.loads(said.read_text())
    change(expected["marks"])
    said.write_text(json.dumps(expected))
    code, output = look(tmp_path, SHOT, "--expect", str(said))
    assert code == 1
    assert says in output


def test_a_bots_eyes(tmp_path: Path) -> None:
    code, output = look(tmp_path, "tests/labelled/mines/01.png", "--bot", "examples/mines")
    assert code == 0, output
    assert "81 cells" in output


def test_a_window_that_is_started(tmp_path: Path) -> None:
    code, output = look(tmp_path, "--bot", "examples/mines", "--display", "own")
    assert code == 0, output
    assert "1 mark, 81 cells" in output


def test_looking_on_until_it_is_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent", "look", SHOT, "--watch", "--every", "0.05", "--out", "look.png"]
    command[-1] = str(tmp_path / "look.png")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        until((tmp_path / "look.png").exists)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "21 marks, 16 cells" in output


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("none.png",), 2, "expected an image at none.png, found no file"),
        ((SHOT, "--expect", "none.json"), 2, "Expected a file at none.json"),
        ((SHOT, "--class", "Mines"), 2, "Leave one out"),
        ((), 2, "Expected a PNG, a window or a bot"),
        (("Nowhere", "--display", "own"), 2, "A display of our own shows no window yet"),
        ((SHOT, "--watch", "--expect", "x.json"), 2, "found both"),
        ((SHOT, "--expect", SHOT), 2, "Such as"),
        ((SHOT, "--json", "/nowhere/marks.json"), 2, "found no place for it"),
    ],
)
def test_wrong_use(words: tuple[str, ...], code: int, says: str, tmp_path: Path) -> None:
    found, output = look(tmp_path, *words)
    assert says in one_message(output)
    assert found == code


def test_the_table_of_detectors(tmp_path: Path) -> None:
    shutil.copytree("tests/labelled/fifteen", tmp_path / "set" / "fifteen")
    code, output = onmark("bench", "perception", str(tmp_path / "set"), "--json", str(tmp_path / "rows.json"))
    assert code == 0, output
    rows = json.loads((tmp_path / "rows.json").read_text())
    board = next(row for row in rows if (row["detector"], row["game"]) == ("board", "fifteen"))
    assert (board["frames"], board["correct"], board["wanted"]) == (5, 73, 73)


def test_a_goal_that_is_missed_is_named(tmp_path: Path) -> None:
    shutil.copytree("tests/labelled/xmahjongg", tmp_path / "set" / "xmahjongg")
    board = {"rows": 2, "columns": 2, "box": [0, 0, 40, 40]}
    for path in (tmp_path / "set" / "xmahjongg").glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"board": board}))
    code, output = onmark("bench", "perception", str(tmp_path / "set"), "--detector", "board", "--check")
    assert code == 1
    assert "missed: board: recall: expected at least" in output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere",), "Expected labelled frames in nowhere, found none"),
        (("--detector", "x-ray"), "Expected a detector out of board, cell kinds"),
    ],
)
def test_wrong_use_of_bench(words: tuple[str, ...], says: str) -> None:
    code, output = onmark("bench", "perception", *words)
    assert (code, says in one_message(output)) == (2, True)
