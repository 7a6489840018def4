"""Write a session as it happens, off the tick's path: each frame, then the line that names it, flushed."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from agent.session.records import SessionHeader, TickRecord
from perception.image import write_png
from perception.observation import Frame


class Recorder(Protocol):
    """Takes what each tick did. Called from the scheduler's thread; ``close`` once, at the end."""

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """Keep one tick. ``frame`` is None when nothing could be observed."""
        ...

    def close(self) -> None:
        """Finish what is under way."""
        ...


class SessionWriter:
    """Writes a session folder, one tick behind the loop: a kill loses at most the last whole tick.

    A frame is on disk before the line that names it, so a session that was cut can be replayed up to its last line.

    Args:
        folder: made here; it must not exist or be empty.

    Raises:
        FileExistsError: the folder holds something already.
    """

    def __init__(self, folder: Path, header: SessionHeader) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileExistsError(f"expected an empty folder for the session, found files in {folder}")
        (folder / "frames").mkdir()
        (folder / "session.json").write_text(header.model_dump_json(indent=2) + "\n", encoding="utf-8")
        self.folder = folder
        self._lines = (folder / "ticks.jsonl").open("a", encoding="utf-8")
        self._known: set[str] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="session-writer")
        self._under_way: Future[None] | None = None

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """Hand one tick over: its frame, if it is new, then its line. Waits until the tick before is on disk.

        Raises:
            OSError: the tick before could not be written.
        """
        self._finish()
        new = frame if frame is not None and frame.digest not in self._known else None
        if new is not None:
            self._known.add(new.digest)
        self._under_way = self._thread.submit(self._write, new, record.model_dump_json())

    def close(self) -> None:
        """Write what is under way, then close. Any number of calls.

        Raises:
            OSError: the last tick could not be written.
        """
        self._thread.shutdown()
        try:
            self._finish()
        finally:
            with contextlib.suppress(OSError):  # what could not be written was said already
                self._lines.close()

    def _write(self, new: Frame | None, line: str) -> None:
        if new is not None:
            write_png(self.folder / "frames" / f"{new.digest}.png", new.pixels)
        self._lines.write(line + "\n")
        self._lines.flush()

    def _finish(self) -> None:
        """Wait for the tick that is being written, and pass on what went wrong with it."""
        under_way, self._under_way = self._under_way, None
        try:
            if under_way is not None:
                under_way.result()
        except OSError as problem:
            cure = "Make room there, or name another folder."
            raise OSError(f"The session cannot be written to {self.folder}: {problem}. {cure}") from problem
