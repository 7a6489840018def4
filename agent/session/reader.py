"""Read a session back: checked on the way in, so that a replay never runs on what was not recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from agent.session.records import FORMAT_VERSION, FrameRecord, SessionHeader, TickRecord
from perception.geometry import Box, Transform
from perception.image import read_png
from perception.observation import Frame


class SessionError(Exception):
    """A folder is no session, or a damaged one. Says which file, what was expected, and what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A recorded session.

    Attributes:
        folder: where it is.
        header: what was run.
        ticks: its ticks, in order.
        cut: True when the last line was cut off by a kill; that line is left out.
    """

    folder: Path
    header: SessionHeader
    ticks: tuple[TickRecord, ...]
    cut: bool

    @property
    def ended(self) -> str:
        """How the run ended, in its own words; empty where it left none, as when it was killed."""
        try:
            said = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
            return f"{said['ending']}: {said['detail']}"
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def frame(self, record: FrameRecord) -> Frame:
        """A tick's frame, its digest checked.

        Raises:
            SessionError: the file is missing, or holds other pixels than were recorded.
        """
        path = self.folder / "frames" / f"{record.digest}.png"
        try:
            pixels = read_png(path)
        except OSError as problem:
            raise SessionError(f"{path}: expected a frame, found none that can be read ({problem}).") from problem
        transform = Transform(client=Box(*record.client), captured=Box(*record.captured), scale=record.scale)
        frame = Frame(pixels=pixels, transform=transform, captured_ns=0, moving=record.moving, title=record.title)
        if frame.digest != record.digest:
            raise SessionError(f"{path}: expected pixels with that digest, found {frame.digest}. The file was changed.")
        return frame


def open_session(folder: Path) -> Session:
    """Read a session's header and ticks.

    Raises:
        SessionError: it is no session, or a line in the middle is damaged.
    """
    header = _read_header(folder / "session.json")
    ticks, cut = _read_ticks(folder / "ticks.jsonl")
    return Session(folder=folder, header=header, ticks=ticks, cut=cut)


def _read_header(path: Path) -> SessionHeader:
    data = _read(path)
    try:
        version = _Version.model_validate_json(data).version
        if version != FORMAT_VERSION:
            raise SessionError(f"{path}: expected format version {FORMAT_VERSION}, found {version!r}.")
        return SessionHeader.model_validate_json(data)
    except ValidationError as problem:
        raise SessionError(f"{path}: expected a session's header, found {_first(problem)}.") from problem


def _read_ticks(path: Path) -> tuple[tuple[TickRecord, ...], bool]:
    """All whole lines, and whether the last one was cut."""
    *lines, rest = _read(path).split(b"\n")
    ticks: list[TickRecord] = []
    for number, line in enumerate(lines):
        try:
            ticks.append(TickRecord.model_validate_json(line))
        except ValidationError as problem:
            raise SessionError(f"{path}, line {number + 1}: expected a tick, found {_first(problem)}.") from problem
        if ticks[-1].tick != number:
            raise SessionError(f"{path}, line {number + 1}: expected tick {number}, found tick {ticks[-1].tick}.")
    return tuple(ticks), bool(rest)


class _Version(BaseModel):
    """The one field that every version has."""

    version: Any


def _read(path: Path) -> bytes:
    """A plain file's bytes: a pipe would be waited for without end."""
    if not path.is_file():
        raise SessionError(f"{path.parent}: expected a session folder with {path.name}, found none.")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise SessionError(f"{path}: expected a file that can be read, found {problem}.") from problem


def _first(problem: ValidationError) -> str:
    """What is wrong first, and where."""
    error = problem.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, error["loc"]))
    return f"{error['msg']}{f' at {where}' if where else ''}"
