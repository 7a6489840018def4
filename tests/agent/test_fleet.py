"""Many games at once, for real: each on a display of its own, ended by its own clicks."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from agent import fleet
from agent.desktop import virtual_display
from agent.errors import MissingPiece, WrongUse
from agent.evaluate import evaluate
from agent.fleet import Job
from agent.models.base import DecodeRequest, Dialect, Prompt, Reply
from agent.models.shared import SharedModel
from agent.session.reader import open_session
from perception.window import open_desktop
from tests.agent.commands import onmark

MINES = "examples/mines"


def jobs(folder: Path, seeds: range, model: str = "scripted", ticks: int | None = None) -> list[Job]:
    return [Job(bot=MINES, model=model, seed=n, hz=10, ticks=ticks, folder=folder / str(n)) for n in seeds]


def test_displays_are_apart_and_this_process_keeps_its_own(own_display: str) -> None:
    before = dict(os.environ)
    with virtual_display() as one, virtual_display() as two:
        assert len({own_display, one, two}) == 3
        for name in (own_display, one, two):
            with closing(open_desktop(name)) as desktop:
                assert desktop.screen.width == 1280
        assert os.environ["DISPLAY"] == before["DISPLAY"]


def test_two_agents_of_one_process_play_on_two_displays_with_one_model(real_input: str, tmp_path: Path) -> None:
    games = list(fleet.in_threads(jobs(tmp_path, range(1, 4), "embedded", ticks=8), 2))
    assert {game.problem for game in games} == {None}
    assert sorted(game.job.seed for game in games) == [1, 2, 3]
    for game in games:
        assert game.report.actions > 0
        assert game.report.actions == game.report.decisions
        assert game.report.summary()["refuted_for"] is None  # each click changed its own game
    frames = [open_session(tmp_path / str(n)).ticks[-1].frame for n in (1, 2, 3)]
    assert len({frame.digest for frame in frames if frame}) == 3


def test_processes_play_each_game_to_its_own_end(tmp_path: Path) -> None:
    games = {game.job.seed: game for game in fleet.in_processes(jobs(tmp_path, range(1, 3)), 2)}
    assert [games[n].report.ending for n in (1, 2)] == ["won", "won"]
    assert open_session(tmp_path / "2").ticks[-1].result == "won"


def test_a_game_that_cannot_be_played_does_not_end_the_others(real_input: str, tmp_path: Path) -> None:
    bad = Job(bot=MINES, model="scripted", seed=1, ticks=2, folder=tmp_path)  # which is not empty
    (tmp_path / "here").write_text("already")
    good = jobs(tmp_path, range(2, 3), ticks=2)
    played = list(fleet.in_order([bad, *good]))
    assert isinstance(played[0].problem, WrongUse)
    assert (played[1].problem, played[1].report.ticks) == (None, 2)


def test_games_are_ended_with_their_fleet(real_input: str, tmp_path: Path) -> None:
    games = fleet.in_threads(jobs(tmp_path, range(1, 5), ticks=2) + jobs(tmp_path, range(5, 9), ticks=10_000), 2)
    assert next(games).report.ending == "ticks"
    games.close()
    assert threading.active_count() < 10
    assert not (tmp_path / "8").exists()


class Counted:
    """Counts how many ask at the same time."""

    name = "counted"
    dialects: tuple[Dialect, ...] = ()

    def __init__(self) -> None:
        self.asking, self.most = 0, 0

    def prepare(self, stable: str) -> None:
        self.dialects = ("lark",)

    def complete(self, request: DecodeRequest) -> Reply:
        self.asking += 1
        self.most = max(self.most, self.asking)
        threading.Event().wait(0.01)
        self.asking -= 1
        return Reply(text="x", finish="stop")

    def close(self) -> None:
        raise AssertionError("it is not the agent's to close")


def test_a_shared_model_is_asked_by_one_at_a_time_and_closed_by_none() -> None:
    counted = Counted()
    shared = SharedModel(counted)
    shared.prepare("")
    assert shared.dialects == ("lark",)
    request = DecodeRequest(prompt=Prompt(stable="", changing="", goal="", unknown_goal=""), artifacts={})
    threads = [threading.Thread(target=shared.complete, args=(request,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    assert counted.most == 1


def test_a_table_is_the_same_in_whatever_order_games_end(tmp_path: Path) -> None:
    said: list[int] = []
    rows = evaluate(
        MINES,
        ["scripted"],
        [2, 1],
        hz=10,
        ticks=150,
        folder=tmp_path,
        fleet=lambda todo: fleet.in_processes(todo, 2),
        progress=lambda model, seed, report: said.append(seed),
    )
    assert sorted(said) == [1, 2]
    assert (rows[0].games, rows[0].win_rate) == (2, 1.0)


def test_a_fleet_that_is_told_to_stop_leaves_no_game(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent", "eval", MINES, "--models", "scripted", "--seeds", "1-9", "--hz", "0.5"]
    with subprocess.Popen([*command, "--workers", "2", "--sessions", str(tmp_path)], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "scripted" / "2" / "ticks.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert psutil.wait_procs(started, timeout=20)[1] == []


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray, a large package, is not installed")
def test_ray_plays_the_same(tmp_path: Path) -> None:
    code, output = onmark(
        *("eval", MINES, "--models", "scripted", "--seeds", "1-2", "--hz", "10"),
        *("--ray", "--workers", "2", "--sessions", str(tmp_path)),
    )
    assert code == 0, output
    assert "2 of 2" in output


def test_without_ray_its_cure_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPiece, match=r"pip install 'onmark\[ray\]'"):
        next(fleet.on_ray(jobs(tmp_path, range(1))))
