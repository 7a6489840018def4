"""Write a session as it happens, off the tick's path: each frame, then the line that names it, flushed."""

from __future__ import annotations

import queue
import threading
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent.session.records import SessionHeader, TickRecord
from perception.image import write_png
from perception.observation import Frame

MAX_WAITING_FRAMES = 16  # then the tick waits for the disk, rather than lose a frame


class Recorder(Protocol):
    """Takes what each tick did. Called from the scheduler's thread; ``close`` once, at the end."""

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """Keep one tick. ``frame`` is None when nothing could be observed."""
        ...

    def close(self) -> None:
        """Finish what is under way."""
        ...


class SessionWriter:
    """Writes a session folder. A kill loses at most the tick under way.

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
        self._jobs: queue.Queue[tuple[str, NDArray[np.uint8] | None, str]] = queue.Queue(MAX_WAITING_FRAMES)
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="session-writer", daemon=True)
        self._thread.start()

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """Queue one tick: its frame, if it is new, then its line.

        Raises:
            OSError: an earlier tick could not be written.
        """
        self._raise_problem()
        new = frame is not None and frame.digest not in self._known
        if frame is not None and new:
            self._known.add(frame.digest)
        pixels = frame.pixels if frame is not None and new else None
        name = frame.digest if frame is not None else ""
        self._jobs.put((name, pixels, record.model_dump_json()))

    def close(self) -> None:
        """Write what is queued, then close. Any number of calls."""
        if self._lines.closed:
            return
        self._jobs.put(("", None, ""))
        self._thread.join()
        self._lines.close()
        self._raise_problem()

    def _work(self) -> None:
        while True:
            name, pixels, line = self._jobs.get()
            if not line:
                return
            if self._problem is None:
                self._write(name, pixels, line)

    def _write(self, name: str, pixels: NDArray[np.uint8] | None, line: str) -> None:
        try:
            if pixels is not None:
                write_png(self.folder / "frames" / f"{name}.png", pixels)
            self._lines.write(line + "\n")
            self._lines.flush()
        except (OSError, ValueError) as problem:
            self._problem = problem

    def _raise_problem(self) -> None:
        if self._problem is not None:
            raise OSError(f"the session cannot be written to {self.folder}: {self._problem}") from self._problem
