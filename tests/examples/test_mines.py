"""The Mines bot: its knowledge is sound, and it wins."""

import random
from pathlib import Path

import pytest

from actuation.tools import Wait
from agent.load import load_bot
from agent.play import play
from agent.session.reader import open_session
from agent.testing import observation
from perception.geometry import Box
from perception.observation import GridCell

FOLDER = Path("examples/mines")
BOT = load_bot(str(FOLDER))
SIZE, MINES = 9, 10


def board(mines: set[int], opened: set[int]) -> tuple[GridCell, ...]:
    """What a board shows with these cells opened; cells are numbered row by row from 0."""

    def kind(i: int) -> str | None:
        if i not in opened:
            return "covered"
        row, column = divmod(i, SIZE)
        near = sum((row + y) * SIZE + column + x in mines for y, x in NEAR if on_board(row + y, column + x))
        return str(near) if near else None

    box = Box(0, 0, 1, 1)
    return tuple(GridCell(number=i + 1, row=i // SIZE, column=i % SIZE, box=box, kind=kind(i)) for i in range(SIZE**2))


NEAR = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]


def on_board(row: int, column: int) -> bool:
    return 0 <= row < SIZE and 0 <= column < SIZE


@pytest.mark.parametrize("seed", range(60))
def test_what_it_knows_is_true(seed: int) -> None:
    rng = random.Random(seed)
    mines = set(rng.sample(range(SIZE**2), MINES))
    free = sorted(set(range(SIZE**2)) - mines)
    opened = set(rng.sample(free, rng.randint(1, len(free))))
    from sys import modules

    knowledge = modules[type(BOT).__module__].knowledge
    safe, certain, unknown = knowledge(board(mines, opened))
    assert not {n - 1 for n in safe} & mines
    assert {n - 1 for n in certain} <= mines
    assert {n - 1 for n in safe | certain | unknown} == set(range(SIZE**2)) - opened
    assert not (safe & certain or safe & unknown or certain & unknown)


def test_the_first_click_is_always_the_same() -> None:
    from dataclasses import replace

    start = replace(observation({}), cells=board(set(range(10)), set()))
    assert BOT.candidates(start) == {41: "safe"}


def test_it_waits_when_nothing_is_known() -> None:
    assert BOT.script(observation({5: "unknown", 6: "mine"})) == Wait()


def test_it_stays_short() -> None:
    assert len((FOLDER / "bot.py").read_text().splitlines()) < 100


@pytest.mark.parametrize("seed", range(1, 11))
def test_the_script_wins(real_input: str, tmp_path: Path, seed: int) -> None:
    report = play(BOT, model="scripted", seed=seed, hz=8, ticks=80, folder=tmp_path / "s", own_display=True)
    assert (report.ending, report.valid_first_rate, report.no_ops) == ("won", 1.0, 0)
    said = [tick.action for tick in open_session(tmp_path / "s").ticks if tick.action]
    assert all('"target":"safe"' in action for action in said if "wait" not in action)
    assert (tmp_path / "s" / "last.png").stat().st_size > 1000


def test_the_embedded_model_plays_and_wins(real_input: str, tmp_path: Path) -> None:
    report = play(BOT, model="embedded", seed=3, ticks=80, folder=tmp_path / "s", own_display=True)
    assert report.ending == "won"
    assert report.valid_first_rate == 1.0
    assert report.forward_passes > 0
