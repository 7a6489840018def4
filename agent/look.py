"""See what the agent would see: one look at a picture or a window, and a look held to what is expected of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.errors import WrongUse
from perception.geometry import Box
from perception.image import read_png
from perception.observation import Frame, Mark, Observation

TOLERANCE = 2  # pixels that each edge of a mark may be off

Pixel = Annotated[int, Field(ge=0, le=100_000)]


class ExpectedMark(BaseModel):
    """A mark that should be there; what is left out may be anything."""

    model_config = ConfigDict(extra="forbid", strict=True)

    box: tuple[Pixel, Pixel, Pixel, Pixel]
    number: int | None = None
    label: str | None = None


class Expected(BaseModel):
    """What a look should find; ``onmark look --json`` writes such a file.

    Attributes:
        marks: that should be there.
        others: other marks may be there too.
        tolerance: pixels that each edge may be off.
        kinds: what each cell of the board shows, a list a row. None: not looked at.
        sensors: what sensors should say; those that are not named may say anything.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    marks: list[ExpectedMark]
    others: bool = False
    tolerance: Annotated[int, Field(ge=0, le=100)] = TOLERANCE
    kinds: list[list[str | None]] | None = None
    sensors: dict[str, bool | int | float | str | None] = {}


class Picture:
    """A frame source of one picture, for ever."""

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self._frame = Frame.of(pixels)

    @classmethod
    def read(cls, path: Path) -> Picture:
        """The picture in a PNG.

        Raises:
            WrongUse: there is none.
        """
        try:
            return cls(read_png(path))
        except OSError as problem:
            raise WrongUse(f"{problem}.", "Name a PNG, such as one that onmark look --save wrote.") from problem

    def grab(self) -> Frame:
        """The picture."""
        return self._frame


def read_expected(path: Path) -> Expected:
    """What a file expects.

    Raises:
        WrongUse: it cannot be read, or says something else.
    """
    try:
        return Expected.model_validate_json(path.read_bytes())
    except OSError as problem:
        raise WrongUse(
            f"Expected a file at {path}: {problem.strerror}.", "Write one: onmark look --json FILE"
        ) from problem
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise WrongUse(
            f"{path}: {first['msg']} at {where or 'the top'}.", 'Such as {"marks": [{"box": [0, 0, 9, 9]}]}.'
        ) from problem


def described(seen: Observation) -> dict[str, Any]:
    """An observation as ``Expected`` reads it."""
    columns = max((cell.column for cell in seen.cells), default=-1) + 1
    kinds = [cell.kind for cell in seen.cells]
    return {
        "marks": [
            {
                "number": mark.number,
                "label": mark.label,
                "box": [mark.box.left, mark.box.top, mark.box.width, mark.box.height],
            }
            for mark in seen.marks
        ],
        "sensors": dict(seen.sensors),
        "kinds": [kinds[i : i + columns] for i in range(0, len(kinds), columns)] if columns else None,
    }


def differences(expected: Expected, seen: Observation) -> list[str]:
    """What is not as expected, a line each; none: all is."""
    found = list(seen.marks)
    said: list[str] = []
    for wanted in expected.marks:
        box = Box(*wanted.box)
        twin = next((mark for mark in found if _at(mark, box, expected.tolerance)), None)
        if twin is None:
            said.append(f"expected {_called(wanted.number, wanted.label)} at {box}, found {_nearest(box, seen.marks)}")
            continue
        found.remove(twin)
        if wanted.number not in (None, twin.number) or wanted.label not in (None, twin.label):
            here = _called(twin.number, twin.label)
            said.append(f"expected {_called(wanted.number, wanted.label)} at {box}, found {here} there")
    extra = [] if expected.others else found
    said += [f"expected nothing at {mark.box}, found {_called(mark.number, mark.label)}" for mark in extra]
    kinds = described(seen)["kinds"]
    if expected.kinds is not None and expected.kinds != kinds:
        said.append(f"expected the cells {expected.kinds}, found {kinds}")
    for name, wish in expected.sensors.items():
        if name not in seen.sensors or seen.sensors[name] != wish:
            said.append(f"expected the sensor {name} to say {wish}, found {seen.sensors.get(name, 'no such sensor')}")
    return said


def _at(mark: Mark, box: Box, tolerance: int) -> bool:
    return box.grown(tolerance).holds(mark.box) and mark.box.grown(tolerance).holds(box)


def _nearest(box: Box, marks: tuple[Mark, ...]) -> str:
    """The mark that comes nearest, for a message."""
    mark = min(marks, key=lambda mark: mark.box.distance(box), default=None)
    return f"{_called(mark.number, mark.label)} nearest, at {mark.box}" if mark else "no marks at all"


def _called(number: int | None, label: str | None) -> str:
    return " ".join(["mark", *([str(number)] if number is not None else []), *([repr(label)] if label else [])])
