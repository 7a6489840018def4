"""What sensors cost on a frame of 1280x800 pixels, full of text.

    python -m tests.bench.sensors

Milliseconds. Two frames are shown in turn, so that a sensor that keeps what it read last has no use of it, but where a
line says so. The garbage collector is on. A median well above the least says that the machine had other work too.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from perception.geometry import Box, Transform
from perception.observation import Frame, GridCell
from perception.sensors import CellCount, ColourShare, Leaf, Number, Sensor, Sensors, TemplateShown, Title, View

WIDTH, HEIGHT = 1280, 800
ROUNDS, WARM_UP = 500, 10
INK, PAPER = (20, 20, 20), (190, 200, 210)
ICON, WORD, PLAIN = Box(640, 400, 32, 32), Box(800, 600, 88, 20), Box(200, 300, 40, 24)
MOVED = 37  # pixels between a picture's places in the two frames
PANEL = Box(760, 580, 200, 60)
FONT = cv2.FONT_HERSHEY_SIMPLEX

Pixels = NDArray[np.uint8]


class Seven:
    """Reads everything as 7, at once: what is measured is what a sensor does around it."""

    def read(self, pixels: Pixels) -> str:
        return "7"


class Sweep(Leaf[bool]):
    """What a search by OpenCV alone costs."""

    def __init__(self, picture: Pixels) -> None:
        self._picture = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)

    def look(self, view: View) -> bool:
        grey = cv2.cvtColor(view.frame.pixels, cv2.COLOR_BGR2GRAY)
        return bool(cv2.matchTemplate(grey, self._picture, cv2.TM_CCOEFF_NORMED).max() >= 0.95)


def written(text: str) -> Pixels:
    """A word as the screen writes it."""
    pixels = np.full((WORD.height, WORD.width, 3), PAPER, np.uint8)
    cv2.putText(pixels, text, (2, 15), FONT, 0.5, INK, 1, cv2.LINE_AA)
    return pixels


def icon() -> Pixels:
    """A small picture, smooth and in many colours."""
    dots = np.random.default_rng(7).integers(0, 255, (8, 8, 3), np.uint8)
    return cv2.resize(dots, (ICON.width, ICON.height), interpolation=cv2.INTER_LINEAR).astype(np.uint8)


def plain() -> Pixels:
    """A picture of one colour."""
    return np.full((PLAIN.height, PLAIN.width, 3), (40, 160, 40), np.uint8)


def screen(seed: int, moved: int) -> View:
    """A screen full of text, with three pictures, and a board of 480 cells."""
    pixels, rng = np.full((HEIGHT, WIDTH, 3), PAPER, np.uint8), np.random.default_rng(seed)
    for line in range(16, HEIGHT, 20):
        text = "".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz     "), 150))
        cv2.putText(pixels, text, (4, line), FONT, 0.5, INK, 1, cv2.LINE_AA)
    for box, picture in ((ICON, icon()), (WORD, written("Completed")), (PLAIN, plain())):
        left = box.left + moved
        pixels[box.top : box.bottom, left : left + box.width] = picture
    area = Box(0, 0, WIDTH, HEIGHT)
    frame = Frame(pixels=pixels, transform=Transform(client=area, captured=area), captured_ns=0)
    kinds = rng.choice(["mine", "safe"], 480).tolist()
    cells = tuple(GridCell(number=i + 1, row=i // 30, column=i % 30, box=area, kind=k) for i, k in enumerate(kinds))
    return View(frame=frame, cells=cells, title=f"Level {seed}")


MOVING = [screen(1, 0), screen(2, MOVED)]
STILL = [screen(1, 0), screen(2, 0)]


def cases() -> Iterator[tuple[str, Sensor[object], list[View]]]:
    """What is measured, the sensor, and the views it is shown in turn."""
    yield "ColourShare, full frame", ColourShare("#d2c8be", tolerance=8), MOVING
    yield "ColourShare, 200x60", ColourShare("#d2c8be", "#ffffff", PANEL), MOVING
    yield "TemplateShown, word 88x20, full frame, not there", TemplateShown(written("Destroyed")), MOVING
    yield "TemplateShown, word 88x20, full frame, moved", TemplateShown(written("Completed")), MOVING
    yield "TemplateShown, word 88x20, full frame, as before", TemplateShown(written("Completed")), STILL
    yield "for comparison: matchTemplate, grey, not there", Sweep(written("Destroyed")), MOVING
    yield "TemplateShown, word 88x20, in 200x60, not there", TemplateShown(written("Destroyed"), PANEL), MOVING
    yield "TemplateShown, word 88x20, in 200x60, moved", TemplateShown(written("Completed"), PANEL), MOVING
    yield "TemplateShown, icon 32x32, full frame, not there", TemplateShown(icon()[::-1]), MOVING
    yield "TemplateShown, icon 32x32, full frame, moved", TemplateShown(icon()), MOVING
    yield "TemplateShown, one colour 40x24, full frame, not there", TemplateShown(plain()[:, :, [1, 0, 2]]), MOVING
    yield "TemplateShown, one colour 40x24, full frame, moved", TemplateShown(plain()), MOVING
    yield "Number, 88x20, changed (reader apart)", Number(WORD, Seven()), MOVING
    yield "Number, 88x20, unchanged", Number(WORD, Seven()), STILL[:1]
    yield "CellCount, 480 cells", CellCount("mine"), MOVING
    yield "Title", Title(), MOVING
    mines = CellCount("mine")
    yield "a count, three comparisons, and, not", (mines > 3) & ~((mines == 0) & Title().contains("Level")), MOVING


def timed(sensor: Sensor[object], views: list[View]) -> list[float]:
    """Milliseconds of each round."""
    sensors, spent = Sensors({"sensor": sensor}), list[float]()
    for turn in range(WARM_UP + ROUNDS):
        view = views[turn % len(views)]
        start = perf_counter()
        sensors.evaluate(view)
        spent.append((perf_counter() - start) * 1000)
    return spent[WARM_UP:]


def main() -> None:
    """Measure and print."""
    table = Table("sensor", title=f"Sensors on {WIDTH}x{HEIGHT} pixels, {ROUNDS} rounds", title_justify="left")
    for heading in ("value", "least ms", "median ms", "p99 ms"):
        table.add_column(heading, justify="right")
    for name, sensor, views in cases():
        figures = np.percentile(timed(sensor, views), (0, 50, 99))
        value = sensor.read(views[0])
        shown = f"{value:.3f}" if isinstance(value, float) else str(value)
        table.add_row(name, shown, *(f"{figure:.3f}" for figure in figures))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
