"""A real game that tells a real accessibility bus where its menus are; what it tells is compared with the pixels."""

import copy
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.bot import Game
from agent.desktop import game_window
from agent.testing import Frames
from perception.capture import Capture
from perception.detect.accessibility import ROLES, Accessibility
from perception.detect.conformance import check_detector
from perception.detect.fusion import Fusion
from perception.detect.regions import Regions
from perception.detect.text import Tesseract
from perception.errors import MissingExtra, NotObservable
from perception.geometry import Box
from perception.observation import Frame
from perception.perceiver import Perceiver
from perception.window import Desktop, Window

THE_WINDOW = ("search", "--onlyvisible", "--name", "^Mines$")
GAME = Game(title="Mines", command=("sgt-mines", "9x9n10#{seed}"), package="sgt-puzzles")


def until(holds: Callable[[], bool]) -> None:
    """Wait for another process's doing."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.02)


def xdotool(*words: str) -> str:
    return subprocess.run(["xdotool", *words], check=True, timeout=10, capture_output=True, text=True).stdout


@contextmanager
def session_bus(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A session's bus, in the environment while this lasts; the accessibility bus starts when it is asked for."""
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"]
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "NO_AT_BRIDGE")}
    home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    with (
        pytest.MonkeyPatch.context() as patch,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**bare, **home}
        ) as bus,
    ):
        assert bus.stdout is not None
        patch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
        patch.delenv("NO_AT_BRIDGE", raising=False)
        for name, value in home.items():
            patch.setenv(name, value)
        try:
            yield bus
        finally:
            bus.terminate()


@dataclass
class Playing:
    """A game that runs, seen both ways."""

    window: Window
    pid: int
    capture: Capture
    detector: Accessibility

    def client(self) -> Box:
        return self.window.state().client

    def frame(self) -> Frame:
        return self.capture.grab(self.window.state(), 0)

    def shown(self) -> set[str | None]:
        return {mark.label for mark in self.detector.detect(self.frame().pixels).marks}


@contextmanager
def played(desktop: Desktop) -> Iterator[Playing]:
    with game_window(GAME, 1, desktop) as window, closing(Capture()) as capture:
        pid = int(xdotool(*THE_WINDOW, "getwindowpid"))
        with closing(Accessibility(pid, lambda: window.state().client, timeout_ms=5000)) as detector:
            playing = Playing(window, pid, capture, detector)
            until(lambda: described(detector))
            yield playing


def described(detector: Accessibility) -> bool:
    """True once the game has found the bus and drawn its window."""
    try:
        return len(detector.elements()) >= 4
    except NotObservable:
        return False


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with session_bus(tmp_path_factory.mktemp("session")):
        yield


@pytest.fixture
def playing(bus: None, desktop: Desktop) -> Iterator[Playing]:
    with played(desktop) as game:
        yield game


@pytest.fixture(scope="module")
def reader() -> Tesseract:
    return Tesseract()


def test_what_a_game_names_is_where_it_says(playing: Playing, reader: Tesseract) -> None:
    frame = playing.frame()
    marks = playing.detector.detect(frame.pixels).marks
    assert [mark.label for mark in marks] == ["Game", "Type", "Help", "[0:00] Marked: 0 / 10"]
    assert [mark.number for mark in marks] == [1, 2, 3, 4]
    assert {element.name for element in playing.detector.elements()} == {mark.label for mark in marks}
    for mark in marks:
        assert reader.read(frame.patch(mark.box)) == mark.label


def test_an_open_menu_s_entries_are_there_while_it_is_open(playing: Playing, reader: Tesseract) -> None:
    assert "New" not in playing.shown()
    menu = next(element for element in playing.detector.elements() if element.name == "Game")
    assert menu.role == "menu"
    xdotool("mousemove", str(menu.box.center.x), str(menu.box.center.y), "click", "1")
    until(lambda: "New" in playing.shown())
    entries = {mark.label: mark.box for mark in playing.detector.detect(playing.frame().pixels).marks}
    until(lambda: "New" in reader.read(playing.frame().patch(entries["New"])))  # drawn a moment later
    xdotool("key", "Escape")
    until(lambda: "New" not in playing.shown())


def test_marks_move_with_the_window_s_picture(playing: Playing) -> None:
    before = playing.detector.detect(playing.frame().pixels)
    corner = playing.client().left
    xdotool(*THE_WINDOW, "windowmove", "100", "300")
    until(lambda: playing.client().left != corner)
    until(lambda: playing.detector.detect(playing.frame().pixels) == before)


def test_a_frame_of_twice_the_pixels(playing: Playing) -> None:
    pixels = playing.frame().pixels
    once = playing.detector.detect(pixels).marks
    twice = playing.detector.detect(pixels.repeat(2, axis=0).repeat(2, axis=1)).marks
    doubled = [Box(2 * b.left, 2 * b.top, 2 * b.width, 2 * b.height) for b in (mark.box for mark in once)]
    assert [mark.box for mark in twice] == doubled


def test_a_frame_of_a_part_of_the_window(playing: Playing) -> None:
    left, top, width, height = 10, 15, 60, 200  # the right of "Game", the left of "Type"
    client = playing.client()
    part = Box(client.left + left, client.top + top, width, height)
    pixels = playing.frame().pixels[top : top + height, left : left + width]
    with closing(Accessibility(playing.pid, lambda: part, timeout_ms=5000)) as detector:
        marks = detector.detect(pixels).marks
    assert [(mark.label, mark.box) for mark in marks] == [("Game", Box(0, 0, 45, 10)), ("Type", Box(45, 0, 15, 10))]


def test_the_contract_is_kept(playing: Playing) -> None:
    found = check_detector(playing.detector, [playing.frame().pixels])
    assert len(found[0].marks) == 4
    assert copy.deepcopy(playing.detector)._bus is None
    with pytest.raises(NotObservable, match=r"Expected a frame of 240x302 at .*, found one of 240x300") as problem:
        playing.detector.detect(playing.frame().pixels[:300])
    assert problem.value.kind == "wrong_size"


def test_roles_and_their_number_can_be_limited(playing: Playing) -> None:
    def names(roles: Collection[str] = ROLES, most: int = 500) -> list[str]:
        with closing(Accessibility(playing.pid, playing.client, roles=roles, timeout_ms=5000, most=most)) as detector:
            return [element.name for element in detector.elements()]

    assert names(roles={"statusbar"}) == ["[0:00] Marked: 0 / 10"]
    assert names(roles={"frame"}) == ["Mines"]
    assert names(most=3) == []
    assert names(most=10) == ["[0:00] Marked: 0 / 10", "Game", "Type"]  # the program, its window, three boxes, ...


def test_a_game_that_hangs_costs_no_more_than_the_time_limit(playing: Playing) -> None:
    with closing(Accessibility(playing.pid, playing.client)) as detector:
        before = detector.elements()
        os.kill(playing.pid, signal.SIGSTOP)
        try:
            for _ in range(2):
                started = time.monotonic()
                with pytest.raises(NotObservable, match=r"did not describe its window within 200 ms") as problem:
                    detector.elements()
                assert 0.19 < time.monotonic() - started < 0.4
                assert problem.value.kind == "frozen"
        finally:
            os.kill(playing.pid, signal.SIGCONT)
        until(lambda: described(detector))
        assert detector.elements() == before  # and no late answer is taken for another


def test_another_program_is_not_taken_for_the_game(playing: Playing) -> None:
    with (
        closing(Accessibility(os.getpid(), playing.client, timeout_ms=5000)) as detector,
        pytest.raises(NotObservable, match=rf"Expected the program {os.getpid()} .*, found \[{playing.pid}\]"),
    ):
        detector.elements()


def test_a_bus_that_goes_away(desktop: Desktop, tmp_path: Path) -> None:
    with session_bus(tmp_path) as bus, played(desktop) as game:
        bus.terminate()
        bus.wait(10)
        until(lambda: fails_with(game.detector, "The accessibility bus went away"))
        with pytest.raises(MissingExtra, match=r"No accessibility bus answers .*dbus-run-session -- onmark run BOT"):
            game.detector.elements()


def fails_with(detector: Accessibility, message: str) -> bool:
    try:
        detector.elements()
    except NotObservable as problem:
        return problem.problem.startswith(message)
    return False


def test_one_that_a_run_attaches_to_its_window(playing: Playing) -> None:
    declared = Fusion(Accessibility(timeout_ms=5000), Regions())
    perceiver = Perceiver(
        Frames([playing.frame()]), declared, lambda seen: {m.number: m.label or "" for m in seen.marks}
    )
    perceiver.attach(playing.window.state)
    assert {"Game", "Type", "Help"} <= {mark.label for mark in perceiver.observe().marks}
    with pytest.raises(NotObservable, match="a recording has pixels alone"):
        Accessibility().detect(playing.frame().pixels)


@pytest.mark.parametrize("address", ["", "unix:path=/nowhere", "nonsense"])
def test_no_bus_is_said(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    if address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    else:
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    with pytest.raises(MissingExtra, match=r"No accessibility bus answers .*apt-get install at-spi2-core dbus"):
        Accessibility(1, lambda: Box(0, 0, 10, 10)).elements()


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jeepney", None)
    with pytest.raises(MissingExtra, match=r"not installed\. Install it: pip install 'onmark\[accessibility\]'"):
        Accessibility(1, lambda: Box(0, 0, 10, 10)).elements()
