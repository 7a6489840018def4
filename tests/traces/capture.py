"""Records the traces of this folder: real games, played by hand-made rules that get stuck, or do not.

``python -m tests.traces.capture [NAME ...]``. Starts a display of its own; the ladder keeps still. What each agent does
is known, and so is its label: from which tick on nothing comes of it.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from actuation.settings import Motion, Rules
from actuation.tools import Click, PressKey, RightClick, Tool, Wait
from agent import Bot, Game, Limits, Steps, play
from perception import Observation
from perception.detect.base import Detected
from perception.geometry import Box
from perception.observation import Mark

HERE = Path(__file__).parent
TICKS = 36
NEVER = 10**6


@dataclass(frozen=True)
class Board:
    """Where a game's board lies in its window, in shares of it, and its cells: marks row by row, from 1."""

    left: float
    top: float
    right: float
    bottom: float
    rows: int
    columns: int

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """The marks."""
        height, width = pixels.shape[:2]
        edges = (self.left * width, self.top * height, self.right * width, self.bottom * height)
        cells = Box.spanning(*map(round, edges)).split(self.rows, self.columns)
        return Detected(marks=tuple(Mark(number=i + 1, box=cell.shrunk(3)) for i, cell in enumerate(cells)))

    def at(self, row: int, column: int) -> int:
        """The number of a cell, counted from 0."""
        return row * self.columns + column + 1

    def all(self, tool: type[Any] = Click) -> Rule:
        """Each cell once, in an order that is mixed."""
        cells = list(range(1, self.rows * self.columns + 1))
        random.Random(5).shuffle(cells)
        return lambda tick, _: tool(mark=cells[tick % len(cells)])


WINDOW = Board(0, 0, 1, 1, 12, 12)
Rule = Callable[[int, random.Random], Tool]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A game, what an agent does in it, and from when on it is stuck."""

    game: Game
    rule: Rule
    stuck_from: int | None
    board: Board = WINDOW
    ticks: int = TICKS


def sgt(name: str, parameters: str, title: str = "") -> Game:
    """A game of Simon Tatham's collection with a known board."""
    return Game(title=title or name.title(), command=(f"sgt-{name}", parameters), package="sgt-puzzles")


def clicks(*spots: int) -> Rule:
    """These spots in turn."""
    return lambda tick, _: Click(mark=spots[tick % len(spots)])


def keys(*names: Any) -> Rule:
    """These keys in turn."""
    return lambda tick, _: PressKey(key=names[tick % len(names)])


def then(first: Rule, ticks: int, second: Rule) -> Rule:
    """One rule for some ticks, then another."""
    return lambda tick, rng: first(tick, rng) if tick < ticks else second(tick - ticks, rng)


def random_keys(*names: Any) -> Rule:
    """One of these keys."""
    return lambda _, rng: PressKey(key=rng.choice(names))


def wait(_: int, __: random.Random) -> Tool:
    """Nothing."""
    return Wait()


def wait_and_click(number: int) -> Rule:
    """Wait, click, wait, click: the same mark."""
    return lambda tick, _: Click(mark=number) if tick % 2 else Wait()


MINES = sgt("mines", "9x9:0,0,u000814020800080490080")
FLIP = sgt("flip", "5x5c#7")
FIFTEEN = sgt("fifteen", "4x4#7")
TWIDDLE = sgt("twiddle", "3x3n2#7")
INERTIA = sgt("inertia", "10x8#7")
CUBE = sgt("cube", "c4x4#7")
NET = sgt("net", "5x5#7")
PATTERN = sgt("pattern", "10x10#7")
SAMEGAME = sgt("samegame", "10x10c3s2#7", "Same Game")
PEGS = sgt("pegs", "7x7cross#7")
SIXTEEN = sgt("sixteen", "4x4#7")
GUESS = sgt("guess", "c6p4g10Bm#7")
LIGHTUP = sgt("lightup", "7x7b20s4d1#7", "Light Up")

MINES_BOARD = Board(0.14, 0.175, 0.86, 0.755, 9, 9)
FLIP_BOARD = Board(0.08, 0.14, 0.91, 0.85, 5, 5)
NET_BOARD = Board(0.08, 0.145, 0.93, 0.8, 5, 5)
LIGHTUP_BOARD = Board(0.05, 0.14, 0.94, 0.97, 7, 7)
PATTERN_BOARD = Board(0.34, 0.36, 0.97, 0.95, 10, 10)
TWIDDLE_TURNS = Board(0.2, 0.28, 0.79, 0.68, 2, 2)
SIXTEEN_ARROWS = Board(0.03, 0.21, 0.13, 0.79, 4, 1)

SCENES: Mapping[str, Scene] = {
    "mines-open-cell": Scene(game=MINES, board=MINES_BOARD, rule=clicks(1), stuck_from=1),
    "mines-outside": Scene(game=MINES, rule=clicks(WINDOW.at(11, 11), WINDOW.at(10, 11)), stuck_from=0),
    "mines-menus": Scene(game=MINES, rule=clicks(WINDOW.at(0, 1), WINDOW.at(0, 9)), stuck_from=2),
    "flip-two": Scene(game=FLIP, board=FLIP_BOARD, rule=clicks(7, 19), stuck_from=4),
    "flip-one": Scene(game=FLIP, board=FLIP_BOARD, rule=clicks(13), stuck_from=2),
    "fifteen-to-and-fro": Scene(game=FIFTEEN, rule=keys("left", "right"), stuck_from=2),
    "fifteen-in-circles": Scene(game=FIFTEEN, rule=keys("up", "left", "down", "right"), stuck_from=12, ticks=70),
    "fifteen-against-the-edge": Scene(game=FIFTEEN, rule=keys("up"), stuck_from=3),
    "twiddle-to-and-fro": Scene(
        game=TWIDDLE,
        board=TWIDDLE_TURNS,
        rule=lambda tick, _: (Click if tick % 2 else RightClick)(mark=1),
        stuck_from=2,
    ),
    "cube-to-and-fro": Scene(game=CUBE, rule=keys("right", "left"), stuck_from=4),
    "inertia-against-a-wall": Scene(game=INERTIA, rule=keys("left"), stuck_from=0),
    "net-round-and-round": Scene(game=NET, board=NET_BOARD, rule=clicks(12), stuck_from=4),
    "pegs-that-cannot-jump": Scene(game=PEGS, rule=clicks(WINDOW.at(6, 6), WINDOW.at(6, 5)), stuck_from=0),
    "guess-without-colours": Scene(game=GUESS, rule=clicks(WINDOW.at(11, 11), WINDOW.at(0, 11)), stuck_from=0),
    "pattern-then-outside": Scene(
        game=PATTERN, board=PATTERN_BOARD, rule=then(PATTERN_BOARD.all(), 12, wait_and_click(1)), stuck_from=14
    ),
    "lightup-on-and-off": Scene(game=LIGHTUP, board=LIGHTUP_BOARD, rule=clicks(25), stuck_from=2),
    "mines-flags": Scene(game=MINES, board=MINES_BOARD, rule=MINES_BOARD.all(RightClick), stuck_from=None),
    "flip-cells": Scene(game=FLIP, board=FLIP_BOARD, rule=FLIP_BOARD.all(), stuck_from=None, ticks=24),
    "fifteen-moves": Scene(game=FIFTEEN, rule=random_keys("left", "right", "up", "down"), stuck_from=None, ticks=24),
    "twiddle-turns": Scene(
        game=TWIDDLE, board=TWIDDLE_TURNS, rule=clicks(1, 2, 4, 3, 1, 4, 2, 3), stuck_from=None, ticks=16
    ),
    "net-tiles": Scene(game=NET, board=NET_BOARD, rule=NET_BOARD.all(), stuck_from=None, ticks=24),
    "pattern-cells": Scene(game=PATTERN, board=PATTERN_BOARD, rule=PATTERN_BOARD.all(), stuck_from=None),
    "sixteen-rows": Scene(game=SIXTEEN, board=SIXTEEN_ARROWS, rule=clicks(1, 2, 3, 4), stuck_from=None, ticks=12),
    "lightup-bulbs": Scene(game=LIGHTUP, board=LIGHTUP_BOARD, rule=LIGHTUP_BOARD.all(), stuck_from=None, ticks=16),
    "mines-waiting": Scene(game=MINES, board=MINES_BOARD, rule=then(clicks(1), 1, wait), stuck_from=None),
}


def main() -> int:
    """Record all, or those named."""
    for name in sys.argv[1:] or SCENES:
        scene, folder = SCENES[name], HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        report = play(_bot(scene), model="scripted", ticks=scene.ticks, folder=folder, own_display=True)
        (folder / "last.png").unlink()
        (folder / "report.json").unlink()
        (folder / "label.json").write_text(json.dumps({"stuck_from": scene.stuck_from}) + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}: {report.ending}, {report.ticks} ticks, {report.confirmed} confirmed\n")
    return 0


def _bot(scene: Scene) -> Bot:
    rng = random.Random(7)

    class Recorded(Bot):
        """Does as the scene says."""

        name = "trace"
        game = scene.game
        detector = scene.board
        tools: ClassVar[tuple[type[Tool], ...]] = (Click, RightClick, PressKey, Wait)
        goal = ""
        motion = Motion()
        rules = Rules(target_tolerance=1.0)
        limits = Limits(stasis=NEVER, stall=NEVER, repeats=NEVER, failures_least=NEVER, no_ops=NEVER)
        steps = Steps(suppress_after=NEVER, idle=NEVER)
        ticks = 0
        now: Tool = Wait()

        def candidates(self, seen: Observation) -> Mapping[int, str]:
            self.now = scene.rule(self.ticks, rng)
            self.ticks += 1
            return {} if self.now.target is None else {self.now.target: "cell"}

        def script(self, seen: Observation) -> Tool:
            return self.now

    return Recorded()


if __name__ == "__main__":
    sys.exit(main())
