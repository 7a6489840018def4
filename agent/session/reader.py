"""Read a session back: checked on the way in, so that a replay never runs on what was not recorded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

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
        frame = Frame(pixels=pixels, transform=transform, captured_ns=0)
        if frame.digest != record.digest:
            raise SessionError(f"{path}: expected pixels with that digest, found {frame.digest}. The file was changed.")
        return frame


def open_session(folder: Path) -> Session:
    """Read a session's header and ticks.

    Raises:
        SessionError: it is no session, or a line in the middle is damaged.
    """
    header_path = folder / "session.json"
    try:
        raw = json.loads(header_path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SessionError(f"{folder}: expected a session folder with session.json, found none.") from None
    except ValueError as problem:
        raise SessionError(f"{header_path}: expected JSON, found {problem}.") from problem
    if not isinstance(raw, dict) or raw.get("version") != FORMAT_VERSION:
        found = raw.get("version") if isinstance(raw, dict) else raw
        raise SessionError(f"{header_path}: expected format version {FORMAT_VERSION}, found {found!r}.")
    try:
        header = SessionHeader.model_validate(raw)
    except ValidationError as problem:
        raise SessionError(f"{header_path}: {problem.error_count()} fields are wrong: {problem}") from problem
    ticks, cut = _read_ticks(folder / "ticks.jsonl")
    return Session(folder=folder, header=header, ticks=ticks, cut=cut)


def _read_ticks(path: Path) -> tuple[tuple[TickRecord, ...], bool]:
    """All whole lines, and whether the last one was cut."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SessionError(f"{path}: expected the session's ticks, found no such file.") from None
    *lines, rest = data.split(b"\n")
    ticks = []
    for number, line in enumerate(lines):
        try:
            ticks.append(TickRecord.model_validate_json(line))
        except ValidationError as problem:
            raise SessionError(
                f"{path}, line {number + 1}: expected a tick, found {problem.errors()[0]['msg']}."
            ) from problem
        if ticks[-1].tick != number:
            raise SessionError(f"{path}, line {number + 1}: expected tick {number}, found tick {ticks[-1].tick}.")
    return tuple(ticks), bool(rest)
