"""What is held when the agent is killed is released all the same."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from actuation.backend import DryRun
from actuation.errors import InputUnavailable
from actuation.guardian import Guardian, watch
from perception.x11 import X11Desktop
from tests.victim import victim


class Noting(DryRun):
    """Notes what it is asked to release."""

    def __init__(self) -> None:
        super().__init__()
        self.released: list[str] = []

    def release(self, button: str) -> None:
        self.released.append(button)


@pytest.mark.parametrize(
    ("lines", "released"),
    [
        ([], []),
        (["+left", "-left"], []),
        (["+left"], ["left"]),
        (["+left", "+right", "-left"], ["right"]),
        (["+left", "+right"], ["right", "left"]),
        (["-left", "", "?"], []),
    ],
)
def test_what_is_left_in_the_ledger_is_released(lines: list[str], released: list[str]) -> None:
    backend = Noting()
    watch((line + "\n" for line in lines), backend)
    signal.alarm(0)
    assert backend.released == released


AGENT = dedent("""
    import os, signal, sys
    from contextlib import closing
    from actuation.backend import PyAutoGui
    from actuation.executor import Executor
    from actuation.guardian import Guardian
    from perception.geometry import Point
    from perception.window import open_desktop

    window = open_desktop().find("Game")
    where = window.state().client
    def kill(seconds):
        os.killpg(os.getpid(), getattr(signal, sys.argv[1]))
    executor = Executor(PyAutoGui(), window.state, Guardian(), sleep=kill)
    executor._decided_on = where
    executor.click(Point(where.left + 9, where.top + 9), "left")
""")


@pytest.mark.parametrize("sign", ["SIGKILL", "SIGTERM", "SIGABRT"])
def test_a_button_that_was_down_when_the_agents_whole_group_died_comes_up(
    real_input: str, desktop: X11Desktop, sign: str
) -> None:
    with victim("Game") as game:
        agent = subprocess.run([sys.executable, "-c", AGENT, sign], timeout=60, check=False, start_new_session=True)
        assert agent.returncode == -getattr(signal, sign)
        for _ in range(500):
            if not desktop.server.display.screen().root.query_pointer().mask & 0x100:  # Button1Mask
                break
            time.sleep(0.01)
        else:
            raise AssertionError("the button is still held, 5 s after the death")
        assert [event["kind"] for event in game.events()] == ["press", "release"]


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
        guardian.pressing("left")
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
