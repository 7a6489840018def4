"""What to look with when nothing is known of a game: a board, texts, shapes."""

from __future__ import annotations

from perception.detect.base import Detector
from perception.detect.cells import CellKinds
from perception.detect.fusion import Fusion
from perception.detect.lattice import Lattice
from perception.detect.regions import Regions
from perception.errors import MissingExtra

SURE = 0.7  # of a text's words, 0 to 1; icons that are taken for letters have less


def everything(*, most: int = 200) -> Fusion:
    """A board if there is one, its cells by what they show; closed shapes; and texts, where the extra ``ocr`` is there.

    Args:
        most: marks at most; see ``Fusion``.
    """
    return Fusion(Lattice(kinds=CellKinds()), Regions(), *_texts(), most=most)


def _texts() -> list[Detector]:
    from perception.detect.text import Tesseract, Text

    try:
        return [Text(Tesseract(floor=SURE))]
    except MissingExtra:
        return []
