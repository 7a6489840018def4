"""The process that performs actions: what comes across from it, and what it outlives."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from actuation import Click, Executor, HoldKey
from actuation.errors import InputSwitchedOff, InputUnavailable, UserHalt
from actuation.plan import Hands
from actuation.process import SILENT_S, StepProcess
from actuation.stepper import TAKEN_FOR_DEAD
from actuation.thread import PATIENCE_S
from agent.testing.hostile import Scene
from agent.testing.victim import until, xdotool
from perception.geometry import Point
from perception.x11 import X11Desktop


@pytest.fixture
def steps(scene: Scene) -> Iterator[StepProcess]:
    """Beside the scene's own: this one can be hurt."""
    made = StepProcess(scene.window.id)
    yield made
    try:
        made.close()
    except InputUnavailable:
        assert not psutil.pid_exists(made.pid)


def ours() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "actuation.process" in p.cmdline()]


def test_what_is_raised_there_is_raised_here(scene: Scene, steps: StepProcess) -> None:
    executor = Executor(steps)
    assert executor.submit(Click(mark=1), scene.look()).outcome == "delivered"
    xdotool("mousemove", 0, 0)
    with pytest.raises(UserHalt, match="corner"):
        executor.submit(Click(mark=1), scene.look())


def test_a_process_that_dies_is_told_and_leaves_nothing(scene: Scene, steps: StepProcess) -> None:
    executor = Executor(steps)
    executor.submit(HoldKey(key="up", seconds=5), scene.look())
    assert executor.held() == (frozenset({"up"}), frozenset()) == scene.held()
    os.kill(steps.pid, signal.SIGKILL)
    until(lambda: scene.held() == (frozenset(), frozenset()))
    for _ in range(2):
        with pytest.raises(InputUnavailable, match=r"has died; its guardian released all\. Start the run again"):
            executor.submit(Click(mark=1), scene.look())
    with pytest.raises(InputUnavailable, match="has died"):
        executor.close()
    executor.close()
    with pytest.raises(InputUnavailable, match="The executor is closed"):
        executor.submit(Click(mark=1), scene.look())


class LaterClick(Click):
    """Click after a while."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        hands.wait(0.3)
        hands.click(at)


def test_who_waits_for_a_process_that_dies_is_told_at_once(scene: Scene, steps: StepProcess) -> None:
    executor, seen = Executor(steps), scene.look()
    death = threading.Timer(0.1, lambda: os.kill(steps.pid, signal.SIGKILL))
    death.start()
    began = time.monotonic()
    with pytest.raises(InputUnavailable, match="has died"):
        executor.submit(LaterClick(mark=1), seen)
    assert time.monotonic() - began < PATIENCE_S / 2  # not after all patience
    death.join()


def test_the_process_ends_with_its_agent(scene: Scene) -> None:
    before = len(ours())
    steps = StepProcess(scene.window.id)
    assert len(ours()) == before + 1
    steps.close()
    assert len(ours()) == before


def test_no_display_is_told_at_the_start_with_the_cure(desktop: X11Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(InputUnavailable, match="pyautogui cannot reach the display") as raised:
        StepProcess(1)
    assert raised.value.cure.startswith("Set DISPLAY")
    assert ours() == []


def test_real_input_that_is_off_here_is_off_there(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actuation.backend.ALLOW_REAL_INPUT", False)
    steps = StepProcess(scene.window.id)
    with pytest.raises(InputSwitchedOff, match="expected no real input"):
        Executor(steps).submit(Click(mark=1), scene.look())
    steps.close()


def test_an_agent_that_works_hard_is_not_taken_for_dead(scene: Scene) -> None:
    assert scene.executor is not None
    scene.executor.submit(HoldKey(key="up", seconds=0.8), scene.look())
    ends = time.monotonic() + 0.6
    while time.monotonic() < ends:
        busy(0.07)
    assert scene.held()[0] == {"up"}
    until(lambda: scene.held()[0] == frozenset())
    assert scene.executor.ended() == []


def test_an_agent_that_is_wedged_is(scene: Scene) -> None:
    """It sees so when it is in its senses again."""
    assert scene.executor is not None
    scene.executor.submit(HoldKey(key="up", seconds=5), scene.look())
    busy(3 * SILENT_S)
    assert scene.held()[0] == frozenset()
    assert [(each.reason, each.detail) for each in scene.executor.ended()] == [
        (TAKEN_FOR_DEAD.reason, TAKEN_FOR_DEAD.detail)
    ]
    assert scene.executor.submit(Click(mark=1), scene.look()).outcome == "delivered"


def busy(seconds: float) -> None:
    """Work with Python's lock held: one call that does not give it away, of about so many seconds."""
    ends, size = time.monotonic() + seconds, 10**6
    many = range(size)
    while time.monotonic() < ends:
        began = time.monotonic()
        sum(many[: int(size)])
        took = time.monotonic() - began
        size = int(size * min(2, max(1.0, (ends - time.monotonic()) / took)))
        many = range(max(size, 1))
