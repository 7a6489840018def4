"""The executor: what it answers and when, dry, and for real onto a window that writes down what it gets."""

import threading
import time
from collections.abc import Iterator

import pytest

from actuation.backend import DryRun
from actuation.errors import InputUnavailable, UserHalt
from actuation.executor import Executor
from actuation.plan import Hands
from actuation.settings import Motion, Rules
from actuation.thread import StepThread
from actuation.tools import Click, HoldKey, PressPointer, RightClick, Tool, Wait
from agent.testing import StillEyes, observation
from agent.testing.hostile import Scene
from agent.testing.victim import until
from perception.errors import WindowClosed
from perception.geometry import Box, Point, Transform
from perception.glance import Glance
from perception.observation import Frame, Mark, Observation

SEEN = observation({7: "safe"})


@pytest.fixture
def dry() -> DryRun:
    return Dull()


class Dull(DryRun):
    """Takes its time for each move, as a display does."""

    def move(self, point: Point) -> None:
        time.sleep(0.0001)
        super().move(point)


@pytest.fixture
def eyes() -> StillEyes:
    return StillEyes()


@pytest.fixture
def executor(dry: DryRun, eyes: StillEyes) -> Iterator[Executor]:
    made = Executor(StepThread(dry, eyes))
    yield made
    made.close()


def test_an_action_goes_to_the_middle_of_its_mark(executor: Executor, dry: DryRun) -> None:
    delivery = executor.submit(Click(mark=7), SEEN, 12)
    assert (delivery.point, delivery.outcome) == (Point(108, 58), "delivered")
    assert delivery.evidence is not None
    assert (delivery.evidence.tick, delivery.evidence.client) == (12, Box(100, 50, 320, 240))
    ((box, digest),) = delivery.evidence.targets
    assert (box, len(digest)) == (Box(0, 0, 16, 16), 64)
    assert executor.submit(RightClick(mark=7), SEEN).outcome == "delivered"
    assert executor.submit(Wait(), SEEN).point is None
    assert dry.pressed == [(Point(108, 58), "left"), (Point(108, 58), "right")]


def test_points_are_given_in_the_units_of_input(executor: Executor, dry: DryRun, eyes: StillEyes) -> None:
    client = Box(100, 50, 320, 240)
    where = Transform(client=client, captured=Box(0, 0, 320, 240), input_scale=2)
    seen = Observation(
        frame=Frame(pixels=SEEN.frame.pixels, transform=where, captured_ns=0), cells=(), marks=SEEN.marks
    )
    assert executor.submit(Click(mark=7), seen).point == Point(108, 58)
    assert dry.pressed == [(Point(54, 29), "left")]


def test_a_refused_action_presses_nothing(executor: Executor, dry: DryRun, eyes: StillEyes) -> None:
    eyes.over = "Pop-up"
    delivery = executor.submit(Click(mark=7), SEEN)
    assert (delivery.outcome, delivery.reason, delivery.detail) == ("refused", "covered_by", "covered by Pop-up")
    eyes.now = WindowClosed("The window 'Game' was closed.", "Start the game again.")
    assert executor.submit(Click(mark=7), SEEN).reason == "closed"
    assert (dry.events, executor.ended()) == ([], [])


def test_a_mark_that_is_not_there_is_an_error_not_a_click(executor: Executor, dry: DryRun) -> None:
    with pytest.raises(KeyError, match=r"mark 8 is not on screen; this tick shows \[7\]"):
        executor.submit(Click(mark=8), SEEN)
    assert dry.events == []


class Wild(Click):
    """Clicks its mark, and far beside it."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        hands.click(at)
        hands.click(Point(at.x + 600, at.y))


def test_nothing_is_half_done_that_could_be_known_before(executor: Executor, dry: DryRun) -> None:
    delivery = executor.submit(Wild(mark=7), SEEN)
    assert (delivery.outcome, delivery.reason, dry.events) == ("refused", "out_of_bounds", [])


class Odd(Click):
    """Clicks with a button that no mouse has."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        hands.click(Point(108, 58), "bogus")


class Jump(Tool):
    """Jump."""


def test_a_tool_that_makes_no_sense_says_so(executor: Executor, dry: DryRun) -> None:
    with pytest.raises(ValueError, match=r"expected a button out of .* found 'bogus'"):
        executor.submit(Odd(mark=7), SEEN)
    with pytest.raises(TypeError, match="Jump declares no perform"):
        executor.submit(Jump(), SEEN)
    assert dry.events == []


class Generator(Tool):
    """Press a key, it seems."""

    def perform(self, hands: Hands, at: Point | None) -> Iterator[None]:  # type: ignore[override]
        hands.key("a")
        yield


def test_a_generator_is_no_perform(executor: Executor, dry: DryRun) -> None:
    with pytest.raises(TypeError, match=r"expected perform\(\) of Generator to return None, found <generator"):
        executor.submit(Generator(), SEEN)
    assert dry.events == []


def test_a_halt_is_for_good(dry: DryRun, eyes: StillEyes) -> None:
    steps = StepThread(dry, eyes)
    executor = Executor(steps)
    steps._fail(UserHalt("The panic keys were pressed."))
    executor.release_all()
    for _ in range(2):
        with pytest.raises(UserHalt, match="panic keys"):
            executor.submit(Click(mark=7), SEEN)
    executor.close()


def test_many_threads_may_cancel_and_submit(executor: Executor) -> None:
    stop, problems = threading.Event(), list[BaseException]()

    def cancel() -> None:
        try:
            while not stop.is_set():
                executor.cancel(Wait())
        except RuntimeError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=cancel) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(2000):
        executor.submit(Wait(), SEEN)
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(executor._actions) <= 1000


def test_what_takes_long_is_delivered_when_it_has_begun(executor: Executor, dry: DryRun) -> None:
    assert executor.submit(HoldKey(key="up", seconds=5), SEEN).outcome == "delivered"
    assert dry.events == [("key_down", "up")]
    assert executor.submit(HoldKey(key="up", seconds=5), SEEN).reason == "conflict"
    executor.release_all()
    assert dry.events == [("key_down", "up"), ("key_up", "up")]
    assert [(type(each.action), each.reason) for each in executor.ended()] == [(HoldKey, "cancelled")]
    assert executor.ended() == []


MOVES = 19_000


class Late(Click):
    """Click after a while."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        hands.wait(0.6)
        hands.click(at)


class Restless(Click):
    """Move without a pause, for longer than a tick."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        assert at is not None
        for _ in range(MOVES):
            hands.move(at)


@pytest.mark.parametrize("tool", [Late, Restless])
def test_nobody_waits_for_what_takes_long_whatever_it_waits_for(
    executor: Executor, dry: DryRun, tool: type[Click]
) -> None:
    assert executor.submit(tool(mark=7), SEEN).outcome == "delivered"
    assert dry.pressed == []
    assert len(dry.events) < MOVES
    if tool is Late:
        until(lambda: len(dry.pressed) == 1)
    executor.release_all()


def test_what_was_sent_before_a_refusal_is_told() -> None:
    class Covered(DryRun):
        """A pop-up comes with the first release."""

        def release(self, button: str) -> None:
            super().release(button)
            looking.over = "Pop-up"

    class Twice(Click):
        """Click, wait, click."""

        def perform(self, hands: Hands, at: Point | None) -> None:
            assert at is not None
            hands.click(at)
            hands.wait(0.1)
            hands.click(at)

    looking = StillEyes()
    executor = Executor(StepThread(Covered(), looking))
    delivery = executor.submit(Twice(mark=7), SEEN)
    assert executor.ended() == []  # it was told already
    executor.close()
    assert (delivery.reason, delivery.detail) == ("covered_by", "covered by Pop-up, after 2 of its events")


def test_a_night_of_actions_leaves_nothing_behind(executor: Executor) -> None:
    for _ in range(20):
        executor.submit(Click(mark=7), SEEN)
        executor.ended()
    assert executor._actions == {}


class Sticky(DryRun):
    """A backend whose press fails half-way."""

    def press(self, point: Point, button: str) -> None:
        super().press(point, button)
        raise UserHalt("The pointer is in a corner of the screen.")


def test_whatever_happens_the_button_is_released() -> None:
    sticky = Sticky()
    executor = Executor(StepThread(sticky, StillEyes()))
    with pytest.raises(UserHalt):
        executor.submit(Click(mark=7), SEEN)
    executor.release_all()
    executor.close()
    assert [event[0] for event in sticky.events] == ["press", "release"]


class Dead(DryRun):
    """A display that died with a key down."""

    def key_up(self, key: str) -> None:
        raise InputUnavailable("The X display failed.", "Start it again.")


def test_what_could_not_be_released_is_tried_again_and_told() -> None:
    steps = StepThread(Dead(), StillEyes(), rules=Rules(max_hold_s=0.1))
    executor = Executor(steps)
    executor.submit(HoldKey(key="up", seconds=5), SEEN)
    until(lambda: steps._broken is not None)
    with pytest.raises(InputUnavailable, match="The X display failed"):
        executor.submit(Wait(), SEEN)
    for _ in range(2):
        with pytest.raises(InputUnavailable, match="The X display failed"):
            executor.release_all()
    assert executor.held()[0] == {"up"}
    with pytest.raises(InputUnavailable):
        executor.close()
    assert not steps._thread.is_alive()


def test_all_input_comes_from_one_thread(eyes: StillEyes) -> None:
    threads = set[str]()

    class Noting(DryRun):
        def press(self, point: Point, button: str) -> None:
            threads.add(threading.current_thread().name)

        def release(self, button: str) -> None:
            threads.add(threading.current_thread().name)

    executor = Executor(StepThread(Noting(), eyes))
    executor.submit(PressPointer(mark=7), SEEN)
    executor.close()
    assert threads == {"executor"}


def test_a_glance_is_one_threads(scene: Scene) -> None:
    glance = Glance(scene.window.id)
    assert glance.state().foreground
    problems = list[BaseException]()

    def look() -> None:
        try:
            glance.state()
        except RuntimeError as problem:
            problems.append(problem)

    other = threading.Thread(target=look)
    other.start()
    other.join()
    glance.close()
    assert "the one thread" in str(problems[0])


def test_three_hundred_clicks_arrive_at_their_pixel(real_input: str) -> None:
    with Scene.new(rules=Rules(per_second=1000, target_tolerance=1), motion=Motion(spacing_s=0.04)) as scene:
        frame = scene.look().frame
        assert scene.executor is not None
        spots = [(i % 290 + 5, i * 7 % 190 + 5) for i in range(300)]
        for x, y in spots:
            mark = Mark(number=1, box=Box(x, y, 1, 1))
            seen = Observation(frame=frame, cells=(), marks=(mark,))
            assert scene.executor.submit(Click(mark=1), seen).outcome == "delivered"
        events = scene.events()
    assert [(e["x"], e["y"]) for e in events if e["kind"] == "press"] == spots
    assert [e["kind"] for e in events] == ["press", "release"] * 300
