"""2048, played with the arrow keys: ``--model scripted`` looks one slide ahead; a language model slides left always."""

from collections.abc import Mapping, Sequence
from typing import Literal

from actuation import Hands, Motion, Tool, Wait
from agent import Bot, Example, Game, Result
from perception import Observation, Point
from perception.detect.lattice import Lattice

COLOURS = ("#fce94f", "#8ae234", "#fcaf3e", "#729fcf", "#ad7fa8", "#c17d11", "#ef2929", "#c4a000")
KINDS = {str(2 ** (i + 1)): colour for i, colour in enumerate(COLOURS)} | {"empty": "#ffffff"}
SIDE, GOAL = 4, 64

Direction = Literal["left", "down", "right", "up"]
DIRECTIONS: tuple[Direction, ...] = ("left", "down", "right", "up")
Rows = Sequence[Sequence[int]]


class Slide(Tool):
    """Slide all tiles."""

    key: Direction

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press the key."""
        hands.key(self.key)


class Twenty48(Bot):
    """Plays gnome-2048 until a tile of 64 is there."""

    name = "twenty48"
    game = Game(class_name="Gnome-2048", command=("gnome-2048",), package="gnome-2048")
    detector = Lattice(rows=SIDE, columns=SIDE, kinds=KINDS)
    tools = (Slide, Wait)
    goal = "slide left"
    examples = (
        Example(marks={}, goal="slide left", action=Slide(key="left")),
        Example(marks={}, goal="slide down", action=Slide(key="down")),
    )
    motion = Motion(spacing_s=0.2)  # it drops keys that come sooner

    def candidates(self, seen: Observation) -> Mapping[int, str]:
        """No tile is clicked."""
        return {}

    def result(self, seen: Observation) -> Result | None:
        """Won with the tile; lost when nothing moves any more."""
        rows = tiles(seen)
        if max(map(max, rows), default=0) >= GOAL:
            return "won"
        return None if best(rows) or not rows else "lost"

    def script(self, seen: Observation) -> Tool:
        """The slide that merges most."""
        direction = best(tiles(seen))
        return Slide(key=direction) if direction else Wait()


def tiles(seen: Observation) -> list[list[int]]:
    """The numbers on the board, row by row, 0 for none; no rows while a tile is still on its way."""
    if len(seen.cells) != SIDE * SIDE or any(cell.kind is None for cell in seen.cells):
        return []
    numbers = [0 if cell.kind == "empty" else int(cell.kind or 0) for cell in seen.cells]
    return [numbers[i : i + SIDE] for i in range(0, SIDE * SIDE, SIDE)]


def best(rows: Rows) -> Direction | None:
    """The slide that leaves most empty, of those that move anything; the first of equals. None: nothing moves."""
    now = [list(row) for row in rows]
    after: dict[Direction, list[list[int]]] = {direction: slid(rows, direction) for direction in DIRECTIONS}
    empty: dict[Direction, int] = {
        direction: sum(row.count(0) for row in rows) for direction, rows in after.items() if rows != now
    }
    return sorted(empty, key=lambda direction: -empty[direction])[0] if empty else None


def slid(rows: Rows, direction: Direction) -> list[list[int]]:
    """The board after a slide, before a new tile comes."""
    if direction in ("up", "down"):
        turned = slid([list(column) for column in zip(*rows, strict=True)], "left" if direction == "up" else "right")
        return [list(row) for row in zip(*turned, strict=True)]
    if direction == "right":
        return [_merged(row[::-1])[::-1] for row in rows]
    return [_merged(row) for row in rows]


def _merged(row: Sequence[int]) -> list[int]:
    waiting, done = [number for number in row if number], list[int]()
    while waiting:
        number = waiting.pop(0)
        if waiting and waiting[0] == number:
            number += waiting.pop(0)
        done.append(number)
    return done + [0] * (len(row) - len(done))
