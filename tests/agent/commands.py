"""The command line as a user meets it: real processes."""

import os
import subprocess
import sys


def environment(**changes: str | None) -> dict[str, str]:
    """This environment, without a display, with changes; None takes a variable away."""
    values = {**os.environ, "DISPLAY": None, **changes}
    return {name: value for name, value in values.items() if value is not None}


def onmark(*words: str, **changes: str | None) -> tuple[int, str]:
    """Exit code, and all that was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "agent", *words],
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def one_message(output: str) -> str:
    """The only line that starts with the program's name; there is no traceback."""
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("onmark: ")]
    assert len(lines) == 1, output
    return lines[0]
