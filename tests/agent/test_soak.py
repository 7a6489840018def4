"""A short night: its faults are survived, its figures are counted, and a leak is found out."""

from pathlib import Path

import pytest

from agent.load import load_bot
from agent.session.reader import open_session
from agent.soak import FAULT_EVERY, Marks, Soaked, _World, simulated
from tests.agent.commands import onmark

SESSION = Path(__file__).parents[1] / "sessions" / "mines-won"


def test_a_simulated_night_survives_its_faults() -> None:
    *_, soaked = simulated(load_bot("mines"), open_session(SESSION), ticks=1000)
    assert soaked.ticks == 1000
    assert soaked.broken == []
    assert (
        sum(soaked.faults[name] for name in ("hang", "garbage", "covered", "moved", "refused")) >= 1000 // FAULT_EVERY
    )
    assert soaked.tick_ms[0] > 0


def test_what_ends_a_night_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(world: _World) -> None:
        from perception.errors import WindowClosed

        raise WindowClosed("The window was closed.", "Start the game again.")

    monkeypatch.setattr(_World, "grab", closed)
    *_, soaked = simulated(load_bot("mines"), open_session(SESSION), ticks=1000)
    assert soaked.missed() == ["ended by: closed: The window was closed. Start the game again."]


@pytest.mark.parametrize(
    ("field", "values", "says"),
    [
        ("rss_mib", (100.0, 105.1), "memory: expected less than 5 MiB more, found 5.1"),
        ("files", (7, 8), "files: expected no more than 7, found 8"),
        ("displays", (1, 2), "display connections: 1 became 2"),
        ("children", (2, 3), "child processes: 2 became 3"),
        ("held", ["up"], "still held at an end: up"),
    ],
)
def test_each_goal_is_named_when_it_is_missed(field: str, values: object, says: str) -> None:
    soaked = Soaked()
    assert soaked.missed() == []
    setattr(soaked, field, values)
    assert soaked.missed() == [says]


def test_a_file_that_stays_open_is_counted(tmp_path: Path) -> None:
    soaked, marks = Soaked(), Marks(100)
    marks.at(5, soaked)
    assert soaked.files == (0, 0)  # not warm yet
    marks.at(10, soaked)
    with (tmp_path / "one").open("w"):
        marks.at(50, soaked)
    assert soaked.files[1] == soaked.files[0] + 1 > 1


def test_the_command_prints_the_figures_and_checks_them(tmp_path: Path) -> None:
    code, said = onmark("soak", "mines", "--ticks", "200", "--json", str(tmp_path / "figures.json"))
    assert code == 0
    assert "tick ms p50 p99" in said
    assert (tmp_path / "figures.json").read_text().startswith("{")


def test_a_real_game_that_is_killed_leaves_nothing_held(tmp_path: Path) -> None:
    code, said = onmark("soak", "mines", "--real", "25")
    assert code == 0, said
    assert "'frozen': 1" in said
    assert "held                  │ []" in said
