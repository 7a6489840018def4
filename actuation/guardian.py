"""A small process that releases what the agent held, when the agent dies in a way that no code of its own survives.

The agent tells it through a pipe what it is about to press, what it has released and, while anything is held, that it
lives. When the pipe ends, SIGKILL included, or no sign of life has come for ``OVERDUE_S``, the guardian releases what
is still held, through a connection to the display of its own. It stands in a session of its own, so that what ends
the agent's terminal does not end it first.

``python -m actuation.guardian`` reads a line for each change: ``+button left``, ``-key a``; ``.`` is a sign of life. It
writes ``ready`` at its start, and ``released`` when it has released what a process that lives on had held.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, BinaryIO

from actuation.backend import Backend, PyAutoGui
from actuation.errors import InputUnavailable
from actuation.keys import modifiers_last
from actuation.x11_keyboard import X11Keyboard

CURE = "Try again; if it recurs, run `python -m actuation.guardian` by hand to see why."
PATIENCE_S = 5  # for the releases at the end; a display that died with the agent would be waited for without end
LATE_S = (0.005, 0.02, 0.1, 0.3)  # between looks at whether what was released is down again
OVERDUE_S = 0.035  # a sign comes every 0.01 s


class Guardian:
    """The agent's side of the pipe. Close it when all is released.

    Raises:
        InputUnavailable: the guardian does not start, or has died: nothing is pressed without it.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # -P: a file of the user's working folder must not stand in for a module of ours or of Python's.
            [sys.executable, "-P", "-m", "actuation.guardian"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe above
        if not self._process.stdout.readline():
            self.close()
            raise InputUnavailable(f"The guardian ended with code {self._process.returncode} at its start.", CURE)
        self._said = self._process.stdout.fileno()
        os.set_blocking(self._said, False)

    def pressing(self, kind: str, name: str) -> None:
        """Told before something goes down."""
        self._tell(f"+{kind} {name}")

    def released(self, kind: str, name: str) -> None:
        """Told after something came up."""
        self._tell(f"-{kind} {name}")

    def beat(self) -> bool:
        """Say that this process lives. False: it was taken for dead, and all that it held was released."""
        self._tell(".")
        with contextlib.suppress(BlockingIOError):
            return not os.read(self._said, 100)
        return True

    def close(self) -> None:
        """End the guardian; it releases what it was not told to be released."""
        with self._process, contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=PATIENCE_S + 1)
            return
        self._process.kill()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe above
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError as problem:
            raise InputUnavailable("The guardian, which releases what a dead agent holds, has died.", CURE) from problem


def watch(
    ledger: BinaryIO,
    backend: Backend,
    said: IO[str] = sys.stdout,
    alarm: Callable[[int], object] = signal.alarm,
    *,
    let_repeat: Callable[[str], object] = lambda key: None,
    is_down: Callable[[str, str], bool] = lambda kind, name: False,
) -> None:
    """Follow the ledger to its end, then release what is left in it: what went down last first, modifiers last.

    Args:
        ledger: what is said.
        backend: releases.
        said: where to say that it was done for a process that lives on.
        alarm: ends this process after so many seconds.
        let_repeat: a key that was released may repeat by itself again.
        is_down: whether a button or a key is down. What a process sent just before it died, the display may take in
            after it was released here.
    """
    held: list[tuple[str, str]] = []
    for line in _lines(ledger, held):
        if line is None:
            _release(held, backend, let_repeat)
            said.write("released\n")
            said.flush()
        elif line[:1] == "+":
            held.append(_entry(line))
        elif line[:1] == "-" and _entry(line) in held:
            held.remove(_entry(line))
    alarm(PATIENCE_S)
    left = list(held)
    _release(held, backend, let_repeat)
    for pause_s in LATE_S if left else ():
        time.sleep(pause_s)
        _release([entry for entry in left if is_down(*entry)], backend, let_repeat)


def _lines(ledger: BinaryIO, held: list[tuple[str, str]]) -> Iterator[str | None]:
    """The ledger's lines; None each time that none has come for too long while something is held."""
    waiting = b""
    while True:
        ready, _, _ = select.select([ledger], [], [], OVERDUE_S if held else None)
        if not ready:
            yield None
            continue
        more = os.read(ledger.fileno(), 4096)
        if not more:
            return
        *whole, waiting = (waiting + more).split(b"\n")
        yield from (line.decode() for line in whole)


def _release(held: list[tuple[str, str]], backend: Backend, let_repeat: Callable[[str], object]) -> None:
    for kind, name in modifiers_last(held, lambda entry: entry[1]):
        if kind == "button":
            backend.release(name)
        else:
            backend.key_up(name)
    for kind, name in held:
        if kind == "key":
            let_repeat(name)
    held.clear()


def _entry(line: str) -> tuple[str, str]:
    kind, _, name = line[1:].partition(" ")
    return kind, name


def main() -> None:
    """Run as a process: the ledger comes on standard input."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    keyboard = X11Keyboard()  # it knows from here on which keys repeat
    backend = PyAutoGui(buttons=keyboard.buttons(), fail_safe=False)
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def is_down(kind: str, name: str) -> bool:
        state = keyboard.read()
        return name in (state.buttons if kind == "button" else state.keys)

    watch(os.fdopen(0, "rb", buffering=0), backend, let_repeat=keyboard.let_repeat, is_down=is_down)


if __name__ == "__main__":
    main()
