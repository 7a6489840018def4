"""Minesweeper: the bot says which covered cells are safe, mines or unknown; the model chooses what to do."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from actuation import Click, RightClick, Tool, Wait
from agent import Bot, Example, Game, Result
from perception import GridCell, Observation
from perception.detect.lattice import Lattice
from perception.sensors import TemplateShown

HERE = Path(__file__).parent
SIZE, MINES, LARGEST, ENOUGH = 9, 10, 24, 200  # facts on more cells, or more facts, are not worked on
FIRST_CLICK = 41  # the middle cell: with a fixed first click, each seed is one board
DIGITS = ("#0000ff", "#008000", "#ff0000", "#000080", "#800000", "#008080", "#000000", "#808080")
KINDS = {"flag": "#ffffff #ff0000", "covered": "#ffffff"} | {str(i): c for i, c in enumerate(DIGITS, start=1)}


class Reveal(Click):
    """Uncover a cell."""


class Flag(RightClick):
    """Flag a cell as a mine."""


class Mines(Bot):
    """Plays sgt-mines on a 9x9 board with 10 mines."""

    name = "mines"
    game = Game(
        title="Mines",
        command=("sgt-mines", f"{SIZE}x{SIZE}n{MINES}#{{seed}}"),
        env={"MINES_TILESIZE": "32"},
        package="sgt-puzzles",
    )
    detector = Lattice(rows=SIZE, columns=SIZE, kinds=KINDS)
    tools = (Reveal, Flag, Wait)
    goal = "reveal a safe cell"
    examples = (
        Example(marks={31: "unknown", 7: "safe", 12: "mine"}, goal="reveal a safe cell", action=Reveal(mark=7)),
        Example(marks={5: "mine", 44: "unknown", 60: "safe"}, goal="flag a mine", action=Flag(mark=5)),
        Example(marks={18: "safe", 23: "mine", 9: "unknown"}, goal="reveal an unknown cell", action=Reveal(mark=9)),
    )
    win_floors = MappingProxyType({"scripted": 1.0, "embedded": 0.8})
    won, lost = TemplateShown(HERE / "completed.png"), TemplateShown(HERE / "dead.png")

    def candidates(self, seen: Observation) -> Mapping[int, str]:
        """A safe cell, a mine and an unknown one: few, so that the prompt stays short."""
        safe, mines, unknown = knowledge(seen.cells)
        if len(unknown) == SIZE * SIZE:
            return {FIRST_CLICK: "safe"}
        hidden = {cell.number for cell in seen.cells if cell.kind == "covered"}
        groups = ((safe, "safe", 1), (mines, "mine", 1), (unknown, "unknown", 1))
        return {n: label for group, label, most in groups for n in sorted(group & hidden)[:most]}

    def result(self, seen: Observation) -> Result | None:
        """What the window's status line says."""
        if self.won(seen.frame):
            return "won"
        return "lost" if self.lost(seen.frame) else None

    def script(self, seen: Observation) -> Tool:
        """Reveal what is known to be safe; wait when nothing is."""
        return next((Reveal(mark=mark.number) for mark in seen.marks if mark.label == "safe"), Wait())


def knowledge(cells: Iterable[GridCell]) -> tuple[set[int], set[int], set[int]]:
    """Numbers of the covered cells that must be safe, must be mines, and may be either."""
    board = {(cell.row, cell.column): cell for cell in cells}
    covered = {place: cell.number for place, cell in board.items() if cell.kind in ("covered", "flag")}
    facts = {(frozenset(covered.values()), MINES), (frozenset(), 0)}
    for (row, column), cell in board.items():
        if cell.kind and cell.kind.isdigit():
            near = [(row + y, column + x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
            facts.add((frozenset(covered[place] for place in near if place in covered), int(cell.kind)))
    safe: set[int] = set()
    mines: set[int] = set()
    while True:
        known = safe | mines
        facts = {(group - known, count - len(group & mines)) for group, count in facts}
        few = [fact for fact in facts if len(fact[0]) <= LARGEST and len(facts) < ENOUGH]
        more = {(two - one, b - a) for one, a in few for two, b in few if one < two}
        for one, a in facts:
            for two, b in facts:
                if len(one - two) == a - b:  # all that only the first holds are mines, then none of the second's are
                    mines |= one - two
                    safe |= two - one
        if known == safe | mines and more <= facts:
            return safe, mines, set(covered.values()) - known
        facts |= more
