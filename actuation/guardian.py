"""A small process that releases what the agent held, when the agent dies in a way that no code of its own survives.

The agent tells it through a pipe what it is about to press and what it has released. The pipe's end is the agent's
end, SIGKILL included; the guardian then releases what is still held, through a connection to the display of its own.
It stands in a session of its own, so that what ends the agent's terminal does not end it first.

``python -m actuation.guardian`` reads a line for each change: ``+left`` or ``-left``.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterable

from actuation.backend import Backend, PyAutoGui
from actuation.errors import InputUnavailable

CURE = "Try again; if it recurs, run `python -m actuation.guardian` by hand to see why."
PATIENCE_S = 5  # for the releases at the end; a display that died with the agent would be waited for without end


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

    def pressing(self, button: str) -> None:
        """Told before a button goes down."""
        self._tell("+", button)

    def released(self, button: str) -> None:
        """Told after a button came up."""
        self._tell("-", button)

    def close(self) -> None:
        """End the guardian; it releases what it was not told to be released."""
        with self._process, contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=PATIENCE_S + 1)
            return
        self._process.kill()

    def _tell(self, sign: str, button: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe above
        try:
            self._process.stdin.write(f"{sign}{button}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError as problem:
            raise InputUnavailable("The guardian, which releases what a dead agent holds, has died.", CURE) from problem


def watch(lines: Iterable[str], backend: Backend) -> None:
    """Follow the ledger to its end, then release what is left in it, last pressed first."""
    held: list[str] = []
    for line in lines:
        sign, button = line[:1], line[1:].strip()
        if sign == "+":
            held.append(button)
        elif button in held:
            held.remove(button)
    signal.alarm(PATIENCE_S)
    for button in reversed(held):
        backend.release(button)


def main() -> None:
    """Run as a process: the ledger comes on standard input."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    backend = PyAutoGui()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    watch(sys.stdin, backend)


if __name__ == "__main__":
    main()
