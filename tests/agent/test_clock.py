"""Pacing on a manual clock: nothing here sleeps."""

import pytest

from agent.clock import ManualClock, Pace


def run(durations: list[float], hz: float = 2.0) -> tuple[ManualClock, Pace, list[float]]:
    """Ticks of these lengths, in seconds; when each began."""
    clock = ManualClock(moment_ns=5_000_000_000)
    pace, began = Pace(clock, hz), list[float]()
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
        Pace(ManualClock(), hz)
