"""What is held when the agent is killed is released all the same."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from actuation.backend import DryRun
from actuation.errors import InputUnavailable
from actuation.guardian import OVERDUE_S, Guardian, watch
from agent.testing.victim import until


def told(*lines: str) -> tuple[list[str], list[str]]:
    """What a guardian releases, and what it says, when it is told these lines and then nothing more."""
    read_end, write_end = os.pipe()
    backend, said = DryRun(), io.StringIO()
    os.write(write_end, "".join(line + "\n" for line in lines).encode())
    os.close(write_end)
    with os.fdopen(read_end, "rb", buffering=0) as ledger:
        watch(ledger, backend, said)
    signal.alarm(0)
    return [event[1] for event in backend.events], said.getvalue().split()


@pytest.mark.parametrize(
    ("lines", "released"),
    [
        ([], []),
        (["+button left", "-button left"], []),
        (["+button left"], ["left"]),
        (["+button left", "+button right", ".", "-button left"], ["right"]),
        (["+button left", "+key a"], ["a", "left"]),
        (["+key ctrl", "+key a", "+key shift", "+button left"], ["left", "a", "shift", "ctrl"]),
        (["+key left", "+button left", "-key left"], ["left"]),
        (["-button left", "", "?", "."], []),
    ],
)
def test_what_is_left_in_the_ledger_is_released(lines: list[str], released: list[str]) -> None:
    assert told(*lines) == (released, [])


def test_a_press_that_the_display_takes_in_after_the_release_is_released_again() -> None:
    read_end, write_end = os.pipe()
    backend, downs = DryRun(), iter([False, True, False, False])
    os.write(write_end, b"+key a\n")
    os.close(write_end)
    with os.fdopen(read_end, "rb", buffering=0) as ledger:
        watch(ledger, backend, io.StringIO(), is_down=lambda kind, name: next(downs))
    signal.alarm(0)
    assert [event[1] for event in backend.events] == ["a", "a"]


def test_a_silence_is_taken_for_death_only_while_something_is_held() -> None:
    read_end, write_end = os.pipe()
    backend, said = DryRun(), io.StringIO()
    with os.fdopen(read_end, "rb", buffering=0) as ledger:
        guardian = threading.Thread(target=watch, args=(ledger, backend, said), kwargs={"alarm": lambda _: None})
        guardian.start()
        time.sleep(3 * OVERDUE_S)
        assert said.getvalue() == ""
        os.write(write_end, b"+key a\n")
        until(lambda: said.getvalue() == "released\n")
        os.write(write_end, b"-key a\n.\n")
        os.close(write_end)
        guardian.join(10)
    assert backend.events == [("key_up", "a")]


def test_a_hundred_agents_that_are_killed_leave_nothing_held() -> None:
    """And ten that are stopped, as a wedged process is; at random moments, while keys and buttons are down."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.actuation.kills", "--kills", "100", "--stops", "10"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, "still held: 0" in done.stdout) == (0, True), done.stdout + done.stderr


def test_files_of_the_working_folder_do_not_stand_in_for_modules(
    own_display: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("random.py", "struct.py", "actuation.py"):
        (tmp_path / name).write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    Guardian().close()
    assert not (tmp_path / "ran").exists()


def test_nothing_is_pressed_without_a_guardian(own_display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guardian = Guardian()
    guardian._process.kill()
    guardian._process.wait()
    with pytest.raises(InputUnavailable, match="guardian, which releases what a dead agent holds, has died"):
        guardian.pressing("button", "left")
    guardian.close()
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(InputUnavailable, match="The guardian ended with code 1 at its start"):
        Guardian()


def test_a_guardian_whose_display_died_does_not_stay(own_display: str) -> None:
    command = [sys.executable, "-m", "actuation.guardian"]
    guardian = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    guardian.terminate()  # ignored, once it has started
    guardian.communicate("", timeout=30)
    assert guardian.returncode in (0, -signal.SIGTERM)
