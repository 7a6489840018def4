"""What to look with when nothing is known of a game: a board, texts, shapes."""

from __future__ import annotations

from perception.detect.cells import CellKinds
from perception.detect.fusion import Fusion
from perception.detect.lattice import Lattice
from perception.detect.regions import Regions


def everything() -> Fusion:
    """A board if there is one, its cells by what they show, and every closed shape."""
    return Fusion(Lattice(kinds=CellKinds()), Regions())
