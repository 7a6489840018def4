"""The process that performs actions: what comes across from it, and what it outlives."""

import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

import numpy as np
import psutil
import pytest

from actuation import Click, Executor, HoldKey, Motion, Tool
from actuation.errors import InputSwitchedOff, InputUnavailable, UserHalt
from actuation.plan import Hands
from actuation.process import SILENT_S, StepProcess
from actuation.stepper import TAKEN_FOR_DEAD
from actuation.thread import PATIENCE_S
from agent.testing.hostile import Scene
from agent.testing.victim import until, xdotool
from perception.errors import DisplayUnavailable
from perception.geometry import Box, Point
from perception.observation import Mark
from perception.x11 import X11Desktop


@pytest.fixture
def steps(scene: Scene) -> Iterator[StepProcess]:
    """Beside the scene's own: this one can be hurt."""
    made = StepProcess(scene.window.id)
    yield made
    made.close()
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


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_process_that_does_not_answer_is_closed_all_the_same(scene: Scene, steps: StepProcess, how: int) -> None:
    executor = Executor(steps)
    executor.submit(HoldKey(key="up", seconds=5), scene.look())
    os.kill(steps.pid, how)
    executor.close()
    executor.close()
    executor.release_all()
    assert (executor.ended(), executor.held()) == ([], (frozenset(), frozenset()))
    until(lambda: scene.held() == (frozenset(), frozenset()))
    assert not psutil.pid_exists(steps.pid)


def test_what_interrupts_a_submission_breaks_nothing(scene: Scene, steps: StepProcess) -> None:
    """The target's pixels are a message of a megabyte, which takes a while to be sent."""
    executor, look = Executor(steps), scene.look()
    pixels = np.zeros((600, 600, 3), np.uint8)
    seen = replace(look, frame=replace(look.frame, pixels=pixels), marks=(Mark(number=1, box=Box(0, 0, 600, 600)),))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for turn in range(30):
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + turn * 0.0005)
            with contextlib.suppress(KeyboardInterrupt):
                executor.submit(Click(mark=1), seen)
                time.sleep(0.02)
            signal.setitimer(signal.ITIMER_REAL, 0)
            executor.release_all()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert executor.submit(Click(mark=1), look).outcome == "delivered"


class Odd:
    """A value of a class that the process does not know."""


class Shown(StrEnum):
    """Keys of a bot's own."""

    UP = "up"


class Steer(Tool):
    """Steer."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        hands.key(Shown.UP)


def test_what_the_process_does_not_know_is_an_error_and_it_lives(scene: Scene, steps: StepProcess) -> None:
    Odd.__module__ = "nowhere"
    with pytest.raises(pickle.PicklingError):
        steps._ask("perform", Odd())
    with pytest.raises(AttributeError, match="no attribute 'bogus'"):
        steps._ask("bogus")
    assert Executor(steps).submit(Steer(), scene.look()).outcome == "delivered"
    until(lambda: [event["kind"] for event in scene.events()] == ["key_press", "key_release"])


def test_settings_of_a_class_of_ones_own_are_taken_as_they_are(scene: Scene) -> None:
    class Calm(Motion):
        """Slow."""

    steps = StepProcess(scene.window.id, motion=Calm(press_s=0.1))
    assert steps.motion == Motion(press_s=0.1)
    steps.close()


def test_no_display_is_told_at_the_start_with_the_cure(desktop: X11Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(DisplayUnavailable, match="No X display answers") as raised:
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
