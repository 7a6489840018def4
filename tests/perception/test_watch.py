"""Frames that lie, told from a game that is just still."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.testing import Frames, frame
from perception.errors import NotObservable
from perception.observation import Frame
from perception.watch import Watched


def watched(frames: Sequence[Frame | NotObservable], slept: list[float] | None = None, **options: object) -> Watched:
    return Watched(Frames(frames), sleep=(slept if slept is not None else []).append, **options)  # type: ignore[arg-type]


def shades(*levels: int) -> list[Frame]:
    return [frame(level) for level in levels]


def looks(source: Watched, count: int) -> list[int | str]:
    """The shade of each look, or the kind of what stood in its way."""
    seen: list[int | str] = []
    for _ in range(count):
        source.acted()
        try:
            seen.append(int(source.grab().pixels[0, 0, 0]))
        except NotObservable as problem:
            seen.append(problem.kind)
    return seen


class Lagging:
    """A capture that is a look behind, as none that can be had here is: each grab shows what the last one should."""

    def __init__(self, screen: Callable[[], int]) -> None:
        self._screen = screen
        self._held = screen()

    def grab(self) -> Frame:
        shown, self._held = self._held, self._screen()
        return frame(shown)


def test_a_still_game_is_just_still() -> None:
    assert looks(watched(shades(5)), 50) == [5] * 50


def test_a_picture_that_changes_is_taken_again_until_it_rests() -> None:
    slept: list[float] = []
    source = watched(shades(5, 50, 60, 70, 70), slept)
    assert looks(source, 2) == [5, 70]
    assert slept == [0.05] * 3


def test_a_picture_that_never_rests_is_marked_as_moving() -> None:
    source = watched(shades(5, *range(50, 60)))
    assert not source.grab().moving
    assert source.grab().moving


def test_a_small_change_is_taken_as_it_is() -> None:
    slept: list[float] = []
    spot = frame(5).pixels.copy()
    spot[3, 3] = 9
    source = watched([frame(5), replace(frame(5), pixels=spot)], slept)
    assert [not source.grab().moving for _ in range(2)] == [True, True]
    assert slept == []


def test_a_capture_that_is_a_look_behind_is_found_out_at_the_second_change() -> None:
    screen = [5]
    source = Watched(Lagging(lambda: screen[0]), sleep=lambda _: None)
    seen: list[int | str] = []
    for screen[0] in (5, 80, 80, 120, 160, 200):
        seen += looks(source, 1)
    assert seen == [5, 80, 80, 120, "stale", "stale"]


def test_a_game_that_moved_just_between_two_grabs_is_no_stale_capture() -> None:
    a, b, c, d = (replace(frame(5), pixels=spotted(i)) for i in range(4))
    source = watched([a, a, b, c, c, c, c, d, b, b])  # late, then fresh, then late: never twice in a row
    assert "stale" not in looks(source, 5)


def spotted(at: int) -> NDArray[np.uint8]:
    """An even picture with one spot, not in its corner."""
    pixels = frame(5).pixels.copy()
    pixels[1, at] = 99
    return pixels


def at(second: float, shade: int = 5) -> Frame:
    return replace(frame(shade), captured_ns=round(second * 1e9))


def test_a_game_that_should_move_is_frozen_when_it_does_not() -> None:
    frames = [at(0), at(1), at(1), at(2.5), at(2.5), at(3, 90), at(3, 90), at(4, 90), at(4, 90)]
    assert looks(watched(frames, moves_every_s=2), 4) == [5, 5, "frozen", 90]


@pytest.mark.parametrize(("answer", "then"), [(None, 5), (True, 5), (False, "frozen")])
def test_a_still_game_that_does_not_answer_is_frozen(answer: bool | None, then: int | str) -> None:
    assert looks(watched([at(0), at(1), at(1)], answers=lambda: answer), 2) == [5, then]


def test_a_game_that_moves_need_not_answer() -> None:
    assert looks(watched([at(0), at(1, 6), at(1, 6)], answers=lambda: False), 2) == [5, 6]


def test_a_still_frame_is_taken_twice_only_after_something_was_done() -> None:
    frames = Frames(shades(5))
    source = Watched(frames, sleep=lambda _: None)
    for _ in range(3):
        source.grab()
    assert frames.grabbed == 3
    source.acted()
    source.grab()
    assert frames.grabbed == 5
    source.grab()
    assert frames.grabbed == 6


def test_what_the_source_says_is_passed_on() -> None:
    assert looks(watched([NotObservable("Covered.", "", "covered"), *shades(5)]), 2) == ["covered", 5]


def test_a_wrong_declaration() -> None:
    with pytest.raises(ValueError, match="moves_every_s above 0, found 0"):
        watched(shades(5), moves_every_s=0)


def test_a_capture_that_catches_up_is_believed_again() -> None:
    a, b, c = (replace(frame(5), pixels=spotted(i)) for i in range(3))
    source = watched([a, a, b, b, c, c, c, c])
    assert looks(source, 3)[-1] == "stale"
    assert looks(source, 2) == [5, 5]
