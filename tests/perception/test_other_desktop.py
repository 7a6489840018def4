"""The adapter for Microsoft Windows and macOS, against a stand-in for PyWinCtl.

The stand-in has the names, and the order of windows, that PyWinCtl 0.4.1's source has. It is not that package, and
neither system is here: what these tests show is that the adapter asks for what exists and minds what it is told.
"""

import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from perception.errors import DisplayUnavailable, WindowClosed, WindowNotFound
from perception.geometry import Box
from perception.other_desktop import OtherDesktop
from perception.window import Desktop, Window, WindowQuery, open_desktop

Rect = namedtuple("Rect", "left top right bottom")
Point = namedtuple("Point", "x y")
Size = namedtuple("Size", "width height")


class GoneError(Exception):
    """What pywin32 raises about a window that is gone, by another name."""


@dataclass
class FakeWindow:
    """One of PyWinCtl's windows; its frame is 30 pixels taller than what is inside."""

    title: str
    place: Rect
    number: Any = 1
    pid: int = 42
    app: str = "game.exe"
    parent: int = 0
    isMinimized: bool = False  # noqa: N815 - PyWinCtl's names
    isActive: bool = False  # noqa: N815
    visible: bool = True
    alive: bool = True
    asked: list[str] = field(default_factory=list)

    @property
    def isAlive(self) -> bool:  # noqa: N802
        return self.alive

    @property
    def rect(self) -> Rect:
        return self.place._replace(top=self.place.top - 30)

    def getClientFrame(self) -> Rect:  # noqa: N802
        if not self.alive:
            raise GoneError
        return self.place

    def getPID(self) -> int:  # noqa: N802
        return self.pid

    def getAppName(self) -> str:  # noqa: N802
        self.asked.append("name")
        return self.app

    def getHandle(self) -> Any:  # noqa: N802
        return self.number

    def getParent(self) -> int:  # noqa: N802
        return self.parent

    def activate(self) -> bool:
        self.asked.append("activate")
        return True

    def close(self) -> bool:
        self.asked.append("close")
        return False


class FakePyWinCtl:
    """The module: windows topmost first, as Microsoft Windows lists them."""

    def __init__(self, *windows: FakeWindow) -> None:
        self.windows = list(windows)
        self.cloaked: list[FakeWindow] = []

    def getAllWindows(self) -> list[FakeWindow]:  # noqa: N802
        return list(self.windows)

    def getActiveWindow(self) -> FakeWindow | None:  # noqa: N802
        return next((window for window in self.windows if window.isActive), None)

    def getTopWindowAt(self, x: int, y: int) -> FakeWindow | None:  # noqa: N802
        for window in self.windows:
            where = window.rect
            if window not in self.cloaked and where.left <= x < where.right and where.top <= y < where.bottom:
                return window
        return None


class FakePyMonCtl:
    """The module: a monitor of 150 % left of the primary one."""

    def getAllMonitorsDict(self) -> dict[str, dict[str, Any]]:  # noqa: N802
        return {
            "primary": {"position": Point(0, 0), "size": Size(1920, 1080), "scale": (100, 100)},
            "left": {"position": Point(-1280, 100), "size": Size(1280, 1024), "scale": (150, 150)},
        }


def desktop(*windows: FakeWindow, system: str = "win32") -> OtherDesktop:
    return OtherDesktop(system, FakePyWinCtl(*windows), FakePyMonCtl())


def game(**fields: Any) -> FakeWindow:
    usual: dict[str, Any] = {"title": "Game", "place": Rect(100, 100, 400, 300), "isActive": True}
    return FakeWindow(**usual | fields)


def popup(**fields: Any) -> FakeWindow:
    usual: dict[str, Any] = {
        "title": "Pop-up",
        "place": Rect(150, 150, 200, 200),
        "number": 2,
        "pid": 43,
        "app": "chat.exe",
    }
    return FakeWindow(**usual | fields)


def test_it_speaks_the_protocols() -> None:
    there: Desktop = desktop(game())
    found: Window = there.find("Game")
    there.require_window_manager()
    assert (found.id, found.title, there.titles(), there.ids()) == (1, "Game", ["Game"], {1})
    there.close()


def test_a_window_in_front() -> None:
    state = desktop(game()).find("Game").state()
    assert state.client == Box(100, 100, 300, 200)
    assert state.screen == Box(-1280, 0, 3200, 1124)
    assert (state.minimised, state.foreground, state.covered_by) == (False, True, ())
    assert (state.title, state.pid, state.scale) == ("Game", 42, 1.0)


def test_a_window_on_a_scaled_monitor_left_of_the_primary_one() -> None:
    state = desktop(game(place=Rect(-1000, 200, -700, 400))).find("Game").state()
    assert (state.client, state.scale, state.clipped) == (Box(-1000, 200, 300, 200), 1.5, False)


@pytest.mark.parametrize("fields", [{"isMinimized": True}, {"visible": False}])
def test_a_minimised_window(fields: dict[str, bool]) -> None:
    state = desktop(popup(), game(**fields)).find("Game").state()
    assert (state.minimised, state.covered_by) == (True, ())


@pytest.mark.parametrize(
    ("other", "covered_by"),
    [
        (popup(), ("Pop-up",)),
        (popup(place=Rect(400, 100, 500, 300)), ()),
        (popup(place=Rect(150, 310, 200, 400)), ("Pop-up",)),  # its title bar alone
        (popup(isMinimized=True), ()),
        (popup(pid=42), ()),
        (popup(parent=1), ()),
    ],
)
def test_what_lies_over_it_is_told_on_microsoft_windows(other: FakeWindow, covered_by: tuple[str, ...]) -> None:
    place = {"place": Rect(100, 100, 400, 300)}
    if other.place.top == 310:
        place = {"place": Rect(100, 100, 400, 305)}
    assert desktop(other, game(**place)).find("Game").state().covered_by == covered_by
    assert desktop(game(**place), other).find("Game").state().covered_by == ()


def test_a_window_that_microsoft_windows_lists_and_does_not_show_covers_nothing() -> None:
    other = popup()
    there = desktop(other, game())
    there.windows.cloaked.append(other)
    assert there.find("Game").state().covered_by == ()


def test_the_window_in_front_is_taken_to_cover_on_macos() -> None:
    front = popup(isActive=True)
    there = desktop(game(isActive=False), front, system="darwin")
    assert there.find("Game").state().covered_by == ("Pop-up",)
    front.pid = 42  # the game's own dialog
    assert there.find("Game").state().covered_by == ()
    front.pid, front.isActive = 43, False
    assert there.find("Game").state().covered_by == ()


def test_a_window_is_found_by_its_program_which_is_asked_only_then() -> None:
    mine, other = game(), popup()
    there = desktop(other, mine)
    assert there.find(WindowQuery(title="Game", pid=42)).id == 1
    assert mine.asked == []
    assert there.find(WindowQuery(process="game.exe")).id == 1
    with pytest.raises(WindowNotFound, match=r"of process 'game', found \['game\.exe', 'chat\.exe'\]\. Did you mean"):
        there.find(WindowQuery(process="game"))


def test_the_topmost_of_two_is_found() -> None:
    assert desktop(game(number=5), game(number=6)).find("Game").id == 5
    assert desktop(game(number=5), game(number=6)).find("Game", besides={5}).id == 6


def test_windows_of_macos_have_no_numbers() -> None:
    there = desktop(game(number=("Game", "Level 1")), system="darwin")
    assert there.find("Game").id == there.find("Game").id
    assert there.ids() == {there.find("Game").id}


def kill(window: FakeWindow) -> None:
    window.alive = False


def reuse_number(window: FakeWindow) -> None:
    window.pid = 99


@pytest.mark.parametrize("number", [1, 8])  # that of the old one, and another
@pytest.mark.parametrize("end", [kill, reuse_number])
def test_a_window_that_is_closed_and_then_replaced(end: Callable[[FakeWindow], None], number: int) -> None:
    old = game()
    there = desktop(old, game(number=7))
    found = there.find("Game")
    end(old)
    there.windows.windows.remove(old)
    with pytest.raises(WindowClosed) as closed:
        found.state()
    assert (closed.value.kind, closed.value.successor) == ("closed", None)
    there.windows.windows.append(game(number=number))
    with pytest.raises(WindowClosed) as replaced:
        found.state()
    assert replaced.value.kind == "replaced"
    assert replaced.value.successor is not None
    assert replaced.value.successor.id == number


def test_a_failure_about_a_window_that_is_there_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = game()
    found = desktop(mine).find("Game")
    monkeypatch.setattr(mine, "getClientFrame", lambda: None)
    with pytest.raises(AttributeError):
        found.state()


def test_what_is_asked_of_a_window_is_passed_on() -> None:
    mine = game()
    found = desktop(mine).find("Game")
    found.activate()
    found.close()
    assert mine.asked == ["activate", "close"]


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_these_systems_get_this_desktop(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setitem(sys.modules, "pywinctl", None)
    with pytest.raises(DisplayUnavailable, match=r"Windows cannot be read here .*\. pip install pywinctl"):
        open_desktop()
    monkeypatch.setitem(sys.modules, "pywinctl", FakePyWinCtl(game()))
    monkeypatch.setitem(sys.modules, "pymonctl", FakePyMonCtl())
    assert open_desktop().titles() == ["Game"]
