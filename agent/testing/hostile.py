"""A hostile desktop, for tests of agents, ours and yours: what happens between look and click, and what must follow.

In a ``conftest.py``::

    pytest_plugins = ["agent.testing.hostile"]

and a test that meets each trouble in turn, on a virtual display of its own::

    def test_my_agent_and_a_hostile_desktop(trouble: Trouble, scene: Scene) -> None:
        seen = scene.look()
        with trouble.strike(scene):
            delivery = scene.executor.submit(Click(mark=1), seen)
            trouble.require(scene, delivery)

``scene`` is a game window that logs what it is given, with an executor at work on it. ``trouble.strike`` takes any
window: ``Scene.on("My game")`` stands on the game of a bot of yours that runs on the display. X11 alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from Xlib import X, display

from actuation import backend
from actuation.executor import Delivery, Executor
from actuation.guard import RefusalReason
from actuation.process import StepProcess
from actuation.settings import Motion, Rules
from actuation.x11_keyboard import X11Keyboard
from agent.desktop import display as own_display_of
from agent.testing.victim import Victim, until, victim, xdotool
from perception.capture import Capture
from perception.errors import WindowClosed
from perception.geometry import Box, Point
from perception.live import LiveWindow
from perception.observation import Mark, Observation
from perception.window import Desktop, Window, open_desktop

GAME = "Hostile game"
TARGET = Box(96, 64, 16, 16)  # of the scene's only mark, in client pixels
POP_UP = "Pop-up"


@dataclass(kw_only=True)
class Scene:
    """A game on a desktop, and who else is there.

    Attributes:
        desktop: where it is.
        window: the game's.
        game: its process, where it is ours.
        executor: at work on it, where the scene has one.
        bystanders: other windows, which must not be given anything.
    """

    desktop: Desktop
    window: Window
    game: Victim | None = None
    executor: Executor | None = None
    bystanders: list[Victim] = field(default_factory=list)

    @classmethod
    @contextmanager
    def on(cls, title: str) -> Iterator[Scene]:
        """The scene of a game that is there already."""
        with closing(open_desktop()) as desktop:
            yield cls(desktop=desktop, window=desktop.find(title))

    @classmethod
    @contextmanager
    def new(cls, *, deaf: int = 0, motion: Motion | None = None, rules: Rules | None = None) -> Iterator[Scene]:
        """A game window of our own in front, with an executor that sends real input to it."""
        with ExitStack() as stack:
            game = stack.enter_context(victim(GAME, deaf=deaf))
            desktop = stack.enter_context(closing(open_desktop()))
            window = desktop.find(GAME)
            window.activate()
            until(lambda: window.state().foreground)
            executor = stack.enter_context(closing(Executor(StepProcess(window.id, motion=motion, rules=rules))))
            yield cls(desktop=desktop, window=window, game=game, executor=executor)

    def look(self) -> Observation:
        """What an agent would see of the game now, with one mark on it, number 1."""
        with closing(LiveWindow(self.window, time.monotonic_ns)) as live:
            return Observation(frame=live.grab(), cells=(), marks=(Mark(number=1, box=TARGET, label="target"),))

    def events(self) -> list[dict[str, Any]]:
        """What the game was given so far."""
        time.sleep(0.1)  # what was sent just now is still on its way through the X server
        return self.game.seen() if self.game is not None else []

    def held(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys and the buttons that the X server holds."""
        with closing(X11Keyboard()) as keyboard:
            state = keyboard.read()
            return state.keys, state.buttons


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something that happens to a game between a look and the action that was decided on it.

    Attributes:
        name: what.
        strike: makes it happen to a scene; it is undone at the end.
        reasons: of which a correct agent refuses. Empty: it delivers, since nothing can be known yet.
    """

    name: str
    strike: Callable[[Scene], AbstractContextManager[None]]
    reasons: frozenset[RefusalReason]

    @property
    def reasons_for_keys(self) -> frozenset[RefusalReason]:
        """Of which a key is refused: it goes to the window in front, wherever that lies and whatever it shows."""
        return self.reasons & {"closed", "minimised", "not_foreground", "halted"}

    def require(self, scene: Scene, delivery: Delivery, *, keys: bool = False) -> None:
        """Hold an agent to it: refused for a right reason, nothing given to others, nothing held.

        Args:
            scene: where it happened, while it still does.
            delivery: of what was decided before.
            keys: that was a key, not a click.

        Raises:
            AssertionError: it did otherwise.
        """
        reasons = self.reasons_for_keys if keys else self.reasons
        if reasons and delivery.reason not in reasons:
            raise AssertionError(f"{self.name}: expected a refusal for {sorted(reasons)}, found {delivery}")
        if not self.reasons and delivery.outcome != "delivered":
            raise AssertionError(f"{self.name}: expected a delivery, found {delivery}")
        time.sleep(0.1)  # what was sent just now is still on its way through the X server
        for bystander in scene.bystanders:
            strayed = [event for event in bystander.seen() if event["kind"] in ("press", "key_press")]
            if strayed:
                raise AssertionError(f"{self.name}: {bystander.title!r} was given {strayed}")
        if self.reasons and any(event["kind"] == "press" for event in scene.events()):
            raise AssertionError(f"{self.name}: the game was given {scene.events()}")
        if delivery.outcome == "refused" and scene.held() != (frozenset(), frozenset()):
            raise AssertionError(f"{self.name}: still held: {scene.held()}")


@contextmanager
def _moved(scene: Scene) -> Iterator[None]:
    before = scene.window.state().client
    xdotool("windowmove", "--relative", scene.window.id, 61, 37)
    until(lambda: scene.window.state().client.left != before.left)
    yield


@contextmanager
def _resized(scene: Scene) -> Iterator[None]:
    before = scene.window.state().client
    xdotool("windowsize", scene.window.id, before.width + 1, before.height)
    until(lambda: scene.window.state().client.width != before.width)
    yield


@contextmanager
def _covered(scene: Scene) -> Iterator[None]:
    with _stranger(scene, POP_UP, scene.window.state().client.center) as pop_up:
        scene.desktop.find(POP_UP).activate()
        until(lambda: scene.window.state().covered_by == (POP_UP,))
        scene.bystanders.append(pop_up)
        yield


@contextmanager
def _covered_and_in_front(scene: Scene) -> Iterator[None]:
    """A notification: it lies over the target, and the game keeps the keyboard."""
    client = scene.window.state().client
    with closing(display.Display()) as connection:
        place = TARGET.moved(client.left, client.top)
        window = connection.screen().root.create_window(
            place.left, place.top, place.width, place.height, 0, X.CopyFromParent, override_redirect=True
        )
        window.map()
        connection.sync()
        yield
        window.destroy()
        connection.sync()


@contextmanager
def _focus_stolen(scene: Scene) -> Iterator[None]:
    client = scene.window.state().client
    with _stranger(scene, "Terminal", Point(client.right, client.bottom).towards(Point(1200, 700), 0.6)) as thief:
        scene.desktop.find("Terminal").activate()
        until(lambda: not scene.window.state().foreground)
        scene.bystanders.append(thief)
        yield


@contextmanager
def _minimised(scene: Scene) -> Iterator[None]:
    xdotool("windowminimize", scene.window.id)
    until(lambda: scene.window.state().minimised)
    yield
    scene.window.activate()


@contextmanager
def _closed(scene: Scene) -> Iterator[None]:
    xdotool("windowkill", scene.window.id)

    def gone() -> bool:
        try:
            scene.window.state()
        except WindowClosed:
            return True
        return False

    until(gone)
    yield


@contextmanager
def _slid(scene: Scene) -> Iterator[None]:
    """Something else slides under the point: here, a square is painted over the target."""
    place = TARGET.moved(scene.window.state().client.left, scene.window.state().client.top)
    with closing(display.Display()) as connection, closing(Capture()) as capture:
        window = connection.create_resource_object("window", scene.window.id)
        before = capture.pixels(place)
        inverse: Any = window.create_gc(function=X.GXinvert)
        window.fill_rectangle(inverse, TARGET.left, TARGET.top, TARGET.width, TARGET.height)
        connection.sync()
        until(lambda: bool((capture.pixels(place) != before).any()))
        yield


@contextmanager
def _frozen(scene: Scene) -> Iterator[None]:
    pid = scene.window.state().pid
    if pid is None:
        raise AssertionError("the game does not say which process it is")
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _person(scene: Scene) -> Iterator[None]:
    client = scene.window.state().client
    for place in (client.pixel(5, 5), client.pixel(9, 9)):
        xdotool("mousemove", place.x, place.y)
        time.sleep(0.1)  # three beats of the executor
    yield


@contextmanager
def _stranger(scene: Scene, title: str, middle: Point) -> Iterator[Victim]:
    place = Box(middle.x, middle.y, 100, 80).moved(-50, -40)
    with victim(title, place.width, place.height, at=(place.left, place.top)) as stranger:
        try:
            yield stranger
        finally:
            with contextlib.suppress(WindowClosed):
                scene.window.activate()


TROUBLES = (
    Trouble(name="moved", strike=_moved, reasons=frozenset({"moved"})),
    Trouble(name="resized by one pixel", strike=_resized, reasons=frozenset({"moved"})),
    Trouble(name="covered by a pop-up", strike=_covered, reasons=frozenset({"not_foreground", "covered_by"})),
    Trouble(
        name="covered by a notification",
        strike=_covered_and_in_front,
        reasons=frozenset({"covered_by", "stale_target"}),
    ),
    Trouble(name="focus stolen", strike=_focus_stolen, reasons=frozenset({"not_foreground"})),
    Trouble(name="minimised", strike=_minimised, reasons=frozenset({"minimised"})),
    Trouble(name="closed", strike=_closed, reasons=frozenset({"closed"})),
    Trouble(name="something slid under the point", strike=_slid, reasons=frozenset({"stale_target"})),
    Trouble(name="frozen", strike=_frozen, reasons=frozenset()),
    Trouble(name="a person at the mouse", strike=_person, reasons=frozenset({"halted"})),
)
"""Each kind of trouble, and the outcome that a correct agent shows. A first click that the game drops is another:
``Scene.new(deaf=1)``; the delivery is fine, and only a look at the game can tell."""


@pytest.fixture(params=TROUBLES, ids=[trouble.name.replace(" ", "-") for trouble in TROUBLES])
def trouble(request: pytest.FixtureRequest) -> Trouble:
    """Each trouble in turn."""
    found = request.param
    if not isinstance(found, Trouble):
        raise TypeError(f"expected a Trouble, found {found!r}")
    return found


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A game window that logs, an executor at work on it, and real input, on a virtual display of this process."""
    with own_display_of(own=True):
        subprocess.run(["xdotool", "mousemove", "640", "400"], check=True, timeout=10)  # out of the fail-safe corners
        monkeypatch.setattr(backend, "ALLOW_REAL_INPUT", True)
        with Scene.new() as found:
            yield found
