"""Pacing on a manual clock: nothing here sleeps."""

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.clock import ManualClock
from agent.pace import LockStep, RealTime
from perception.errors import NotObservable


def run(durations: list[float], hz: float = 2.0) -> tuple[ManualClock, RealTime, list[float]]:
    """Ticks of these lengths, in seconds; when each began."""
    clock = ManualClock(moment_ns=5_000_000_000)
    pace, began = RealTime(clock, hz), list[float]()
    clock.advance(3)  # what comes before the first tick counts for nothing
    pace.count()
    pace.start()
    for seconds in durations:
        began.append(clock.now_ns() / 1e9 - 8)
        clock.advance(seconds)
        pace.wait()
    return clock, pace, began


def test_ticks_begin_at_absolute_deadlines() -> None:
    _, pace, began = run([0.1, 0.4, 0.0, 0.499])
    assert began == [0.0, 0.5, 1.0, 1.5]
    assert (pace.late, pace.skipped) == (0, 0)


def test_an_overrun_skips_ticks_and_never_bursts() -> None:
    _, pace, began = run([0.1, 1.2, 0.1, 0.1])
    assert began == [0.0, 0.5, 2.0, 2.5]
    assert (pace.late, pace.skipped) == (1, 2)


def test_ending_exactly_at_the_deadline_is_on_time() -> None:
    clock, pace, began = run([0.5, 0.5, 0.1])
    assert began == [0.0, 0.5, 1.0]
    assert (pace.late, pace.skipped) == (0, 0)
    assert clock.slept_ns == [400_000_000]


def test_a_slow_tick_does_not_shift_the_series() -> None:
    _, _, began = run([0.7] + [0.1] * 5)
    assert began == [0.0, 1.0, 1.5, 2.0, 2.5, 3.0]


def test_a_third_of_a_second_does_not_drift() -> None:
    clock, pace, _ = run([0.01] * 3000, hz=3)
    assert abs(clock.now_ns() - 8e9 - 1000e9) < 1e6
    assert pace.late == 0


@pytest.mark.parametrize("hz", [0, -1, 1001, float("nan")])
def test_a_rate_that_makes_no_sense(hz: float) -> None:
    with pytest.raises(ValueError, match="expected between 0 and 1000 ticks a second"):
        RealTime(ManualClock(), hz)


class Film:
    """Shows another picture every so often, until it is over."""

    def __init__(self, clock: ManualClock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds

    def look(self) -> NDArray[np.uint8]:
        now = self._clock.now_ns() / 1e9
        if now > 100:
            raise NotObservable("The window is covered.", "Move it.")
        return np.full((2, 2, 3), int(10 * min(now, self._seconds)), np.uint8)


@pytest.mark.parametrize(("film_s", "waits_s"), [(0.0, 0.2), (1.0, 1.2), (99.0, 5.0)])
def test_in_lock_step_a_tick_begins_when_the_screen_has_settled(film_s: float, waits_s: float) -> None:
    clock = ManualClock()
    pace = LockStep(clock, Film(clock, film_s).look)
    pace.start()
    pace.wait()
    assert clock.now_ns() / 1e9 == pytest.approx(waits_s, abs=0.11)
    assert (pace.left_s(), pace.late, pace.skipped) == (None, 0, 0)


def test_in_lock_step_a_window_that_cannot_be_seen_is_not_settled() -> None:
    clock = ManualClock(moment_ns=101 * 10**9)
    LockStep(clock, Film(clock, 0).look).wait()
    assert clock.now_ns() == 106 * 10**9


def test_what_is_left_of_a_tick() -> None:
    clock = ManualClock()
    pace = RealTime(clock, 2.0)
    assert pace.left_s() is None
    pace.start()
    clock.advance(0.2)
    assert pace.left_s() == pytest.approx(0.3)
    clock.advance(0.4)
    assert pace.left_s() == pytest.approx(-0.1)
    pace.wait()
    assert pace.left_s() == pytest.approx(0.5)


@pytest.mark.parametrize(("still", "most"), [(0, 1), (2, 1), (float("nan"), 1)])
def test_times_that_make_no_sense(still: float, most: float) -> None:
    with pytest.raises(ValueError, match="expected still_s above 0"):
        LockStep(ManualClock(), lambda: np.zeros((1, 1, 3), np.uint8), still_s=still, most_s=most)
