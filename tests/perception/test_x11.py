"""Real windows on a virtual display: each way in which one can stand, told apart."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from Xlib import X, Xatom, display
from Xlib.protocol import request

from agent.bot import Game
from agent.desktop import game_window
from agent.testing.victim import until, victim, xdotool, xvfb
from perception.capture import Capture, visible_area
from perception.errors import DisplayUnavailable, NotObservable, WindowClosed, WindowNotFound
from perception.geometry import Box
from perception.live import LiveWindow
from perception.window import Window, WindowFacts, WindowQuery, changes
from perception.x11 import OWN_FRAME, TO_MANAGER, X11Desktop, X11Window

COLOUR = np.array([0xCC, 0x66, 0x33])  # of a victim, BGR


def test_a_window_in_front(game: X11Window, capture: Capture) -> None:
    state = game.state()
    assert (state.client.width, state.client.height) == (300, 200)
    assert state.screen == Box(0, 0, 1280, 800)
    assert (state.minimised, state.foreground, state.covered_by) == (False, True, ())
    frame = capture.grab(state, now_ns=5)
    assert frame.pixels.shape == (200, 300, 3)
    assert (frame.pixels == COLOUR).all()
    assert frame.captured_ns == 5


def test_a_covered_window_names_what_covers_it(game: X11Window, capture: Capture, desktop: X11Desktop) -> None:
    client = game.state().client
    with victim("Pop-up", 80, 60, at=(client.left + 50, client.top + 50)):
        desktop.find("Pop-up").activate()
        until(lambda: game.state().covered_by == ("Pop-up",))
        assert not game.state().foreground
        with pytest.raises(NotObservable, match=r"covered by 'Pop-up'\. Move or close"):
            capture.grab(game.state(), 0)
    until(lambda: game.state().covered_by == ())


def test_a_window_that_is_not_drawn_covers_too(game: X11Window, desktop: X11Desktop) -> None:
    client = game.state().client
    invisible = desktop.server.display.screen().root.create_window(
        client.left, client.top, 50, 50, 0, 0, window_class=X.InputOnly, override_redirect=True
    )
    assert game.state().covered_by == ()  # it takes no clicks yet
    invisible.map()
    until(lambda: len(game.state().covered_by) == 1)
    invisible.destroy()
    until(lambda: game.state().covered_by == ())


def test_a_window_rolled_up_into_its_frame_is_not_seen(game: X11Window, desktop: X11Desktop) -> None:
    add, remove = 1, 0
    shaded = desktop.server.atom("_NET_WM_STATE_SHADED")
    desktop.server.send(desktop.server.root, game.id, "_NET_WM_STATE", (add, shaded), TO_MANAGER)
    until(lambda: game.state().minimised)
    desktop.server.send(desktop.server.root, game.id, "_NET_WM_STATE", (remove, shaded), TO_MANAGER)
    until(lambda: not game.state().minimised)


def test_a_frame_that_is_smaller_than_its_window_shows_what_lies_behind() -> None:
    with xvfb() as (name, _), closing(display.Display(name)) as manager, closing(X11Desktop(name)) as desktop:
        root = manager.screen().root
        frame = root.create_window(20, 20, 300, 200, 0, 0)
        client = frame.create_window(0, 10, 300, 190, 0, 0)
        client.set_wm_name("Framed")
        root.change_property(manager.get_atom("_NET_CLIENT_LIST"), Xatom.WINDOW, 32, [client.id])
        for window in (client, frame):
            window.map()
        manager.sync()
        framed = desktop.find("Framed")
        assert framed.state().covered_by == ()
        frame.configure(width=299)
        manager.sync()
        state = framed.state()
        assert (state.covered_by, state.client) == ((OWN_FRAME,), Box(20, 30, 300, 190))
        with pytest.raises(NotObservable, match="covered by 'its own frame, which is rolled up or just changing'"):
            visible_area(state)
        frame.configure(width=300)
        manager.sync()
        assert framed.state().covered_by == ()


def test_a_window_that_is_resized_all_the_time_never_shows_the_desktop(game: X11Window) -> None:
    sizes = " ".join(f"windowsize {game.id} {300 + 40 * (n % 7)} {200 + 30 * (n % 5)} sleep 0.02" for n in range(100))
    frames = 0
    resize = ["xdotool", *sizes.split()]
    with closing(LiveWindow(game, time.monotonic_ns)) as live, subprocess.Popen(resize) as resizing:
        while resizing.poll() is None:
            with contextlib.suppress(NotObservable):
                frame = live.grab()
                assert (frame.pixels == COLOUR).all()
                frames += 1
    assert frames > 0


def test_a_window_that_was_there_before_is_not_meant(game: X11Window, desktop: X11Desktop) -> None:
    before = desktop.ids()
    with pytest.raises(WindowNotFound):
        desktop.find("Game", besides=before)
    with victim("Game", 120, 90):
        assert desktop.find("Game", besides=before).state().client.width == 120


def test_a_window_that_lies_beside_does_not_cover(game: X11Window, desktop: X11Desktop) -> None:
    client = game.state().client
    with victim("Neighbour", 80, 60, at=(client.right + 40, client.top)):
        desktop.find("Neighbour").activate()
        until(lambda: not game.state().foreground)
        assert game.state().covered_by == ()


def test_a_games_own_menu_does_not_cover_it(desktop: X11Desktop) -> None:
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop) as mines:
        until(lambda: mines.state().foreground)
        client = mines.state().client
        xdotool("mousemove", str(client.left + 20), str(client.top + 12), "click", "1")
        until(lambda: len(menus(desktop, client)) > 0)
        assert mines.state().covered_by == ()
        xdotool("key", "Escape")


def menus(desktop: X11Desktop, client: Box) -> list[int]:
    """Windows that the window manager does not manage, over an area."""
    tops = desktop.server.display.screen().root.query_tree().children
    return desktop._covering([w.id for w in tops if w.get_attributes().override_redirect], client)


def test_a_minimised_window(game: X11Window, capture: Capture) -> None:
    xdotool("windowminimize", game.id)
    until(lambda: game.state().minimised)
    with pytest.raises(NotObservable, match="minimised"):
        capture.grab(game.state(), 0)


def test_a_closed_window(desktop: X11Desktop) -> None:
    with victim("Game"):
        window = desktop.find("Game")
    closed = closing_of(window)
    assert str(closed) == "The window 'Game' was closed. Start the game again, then the bot."
    assert (closed.kind, closed.successor) == ("closed", None)


def test_a_missing_window_names_the_nearest_title(game: X11Window, desktop: X11Desktop) -> None:
    with pytest.raises(WindowNotFound, match=r"titled 'game', found \['Game'\]\. Did you mean 'Game'\?"):
        desktop.find("game")


# The X library leaves the socket of a refused connection to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(DisplayUnavailable, match=r"No X display answers .*unset it"):
        X11Desktop()


def test_looking_costs_no_connections(game: X11Window, capture: Capture) -> None:
    for _ in range(300):
        capture.grab(game.state(), 0)


@pytest.mark.parametrize(
    "query",
    [
        WindowQuery(title="Game"),
        WindowQuery(title_pattern="^G.me$"),
        WindowQuery(class_name="Victim"),
        WindowQuery(class_name="victim"),
        WindowQuery(title="Game", process=Path(sys.executable).resolve().name),
    ],
)
def test_a_window_is_found_by_what_is_known_of_it(desktop: X11Desktop, query: WindowQuery) -> None:
    with victim("Other", at=(600, 400)), victim("Game", class_name="Victim") as process:
        window = desktop.find(query)
        state = window.state()
        assert (state.title, state.class_name, state.pid) == ("Game", "Victim", process.process.pid)
        assert desktop.find(WindowQuery(pid=process.process.pid)).id == window.id


def test_a_game_is_found_by_its_class_alone(desktop: X11Desktop) -> None:
    game = Game(class_name="sgt-mines", command=("sgt-mines", "9x9n10#1"))
    with game_window(game, 1, desktop) as mines:
        assert mines.title == "Mines"


def test_a_missing_class_names_the_nearest(game: X11Window, desktop: X11Desktop) -> None:
    says = r"of class 'victims', found \['victim', 'Victim'\]\. Did you mean 'victim'\?"
    with pytest.raises(WindowNotFound, match=says):
        desktop.find(WindowQuery(class_name="victims"))


def test_a_window_that_grows_by_one_pixel_is_resized(game: X11Window) -> None:
    before = game.state()
    xdotool("windowsize", game.id, 301, 200)
    until(lambda: changes(before, game.state()) == {"resized"})
    assert game.state().client == Box(before.client.left, before.client.top, 301, 200)


def test_a_window_that_moves_by_one_pixel_is_moved(game: X11Window) -> None:
    xdotool("windowmove", game.id, 400, 300)
    until(lambda: game.state().client.left >= 400)
    before = game.state()
    xdotool("windowmove", "--relative", game.id, 1, 0)
    until(lambda: changes(before, game.state()) == {"moved"})


def test_a_window_is_minimised_and_restored(game: X11Window) -> None:
    before = game.state()
    xdotool("windowminimize", game.id)
    until(lambda: changes(before, game.state()) == {"minimised", "focus_lost"})
    game.activate()
    until(lambda: changes(before, game.state()) == frozenset())


def test_a_window_is_covered_and_uncovered(game: X11Window) -> None:
    before = game.state()
    with victim("Pop-up", 80, 60, at=(before.client.left + 50, before.client.top + 50)):
        until(lambda: changes(before, game.state()) == {"covered", "focus_lost"})
        assert game.state().covered_by == ("Pop-up",)
        game.activate()
        until(lambda: changes(before, game.state()) == frozenset())


def test_two_that_cover_are_named_lowest_first(game: X11Window, desktop: X11Desktop) -> None:
    corner = (game.state().client.left + 20, game.state().client.top + 20)
    with victim("First", 60, 50, at=corner), victim("Second", 60, 50, at=corner):
        desktop.find("Second").activate()
        until(lambda: game.state().covered_by == ("First", "Second"))
        desktop.find("First").activate()
        until(lambda: game.state().covered_by == ("Second", "First"))


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ((-150, 150), lambda c: Box(-c.left, 0, 300 + c.left, 200)),
        ((1130, 150), lambda c: Box(0, 0, 1280 - c.left, 200)),
        ((400, -100), lambda c: Box(0, -c.top, 300, 200 + c.top)),
        ((400, 700), lambda c: Box(0, 0, 300, 800 - c.top)),
    ],
    ids=["left", "right", "top", "bottom"],
)
def test_a_window_half_outside_on_each_side_is_clipped(
    game: X11Window, capture: Capture, place: tuple[int, int], inside: Callable[[Box], Box]
) -> None:
    before = game.state()
    assert not before.clipped
    xdotool("windowmove", game.id, *place)
    until(lambda: changes(before, game.state()) == {"moved", "clipped"})
    state = game.state()
    frame = capture.grab(state, 0)
    part = inside(state.client)
    assert frame.transform.captured == part
    assert frame.pixels.shape == (part.height, part.width, 3)
    assert (frame.pixels == COLOUR).all()


@pytest.mark.parametrize(
    ("resources", "scale"),
    [
        ("Xft.dpi:\t144\n", 1.5),
        ("*foo: 1\nXft.dpi: 120\nXft.rgba: none\n", 1.25),
        ("Xft.dpi: 168.0", 1.75),
        ("Xft.dpi: 0", 1.0),
        ("Xft.dpi: large", 1.0),
        ("myXft.dpi: 144", 1.0),
        ("", 1.0),
    ],
)
def test_the_desktops_scale(game: X11Window, desktop: X11Desktop, resources: str, scale: float) -> None:
    root = desktop.server.display.screen().root
    before = game.state()
    root.change_property(Xatom.RESOURCE_MANAGER, Xatom.STRING, 8, resources.encode())
    try:
        assert game.state().scale == scale
        assert changes(before, game.state()) == ({"rescaled"} if scale != 1.0 else frozenset())
    finally:
        root.delete_property(Xatom.RESOURCE_MANAGER)
    assert game.state().scale == 1.0


def test_the_title_is_read_each_time(game: X11Window) -> None:
    xdotool("set_window", "--name", "Game - level 2", game.id)
    until(lambda: game.state().title == "Game - level 2")
    assert game.title == "Game"


def test_a_window_is_closed_on_request(desktop: X11Desktop) -> None:
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop) as mines:
        mines.close()
        assert closing_of(mines).kind == "closed"


def closing_of(window: X11Window | Window) -> WindowClosed:
    """What a window's state says once it is gone."""
    found: list[WindowClosed] = []

    def gone() -> bool:
        try:
            window.state()
        except WindowClosed as closed:
            found.append(closed)
        return bool(found)

    until(gone)
    return found[0]


def test_a_window_that_a_new_one_of_the_same_title_replaces(desktop: X11Desktop) -> None:
    with victim("Game"):
        old = desktop.find("Game")
    with victim("Game", 120, 90):
        closed = closing_of(old)
        assert (closed.kind, closed.problem) == (
            "replaced",
            "The window 'Game' was closed, and a new one like it has appeared.",
        )
        assert closed.successor is not None
        assert closed.successor.state().client.width == 120
    assert closing_of(old).kind == "closed"
    assert closing_of(old).successor is None


def test_a_window_of_the_same_title_that_was_there_already_replaces_nothing(desktop: X11Desktop) -> None:
    with victim("Game"):
        with victim("Game", 120, 90):
            newer = desktop.find("Game")
            assert newer.state().client.width == 120
        closed = closing_of(newer)
        assert (closed.kind, closed.successor) == ("closed", None)


def test_a_window_under_the_number_of_one_that_is_gone_is_another_one(desktop: X11Desktop) -> None:
    with closing(display.Display()) as program:
        number = program.display.allocate_resource_id()
        show(program, number, "Game", 200)
        until(lambda: number in desktop.ids())
        old = desktop.find("Game")
        assert old.state().client.width == 200
        program.create_resource_object("window", number).destroy()
        program.sync()
        until(lambda: number not in desktop.ids())
        show(program, number, "Game", 100)
        until(lambda: number in desktop.ids())
        closed = closing_of(old)
        assert closed.kind == "replaced"
        assert closed.successor is not None
        assert (closed.successor.id, closed.successor.state().client.width) == (number, 100)


def show(program: display.Display, number: int, title: str, width: int) -> None:
    """A new window, under a number of our choice."""
    request.CreateWindow(
        display=program.display,
        depth=X.CopyFromParent,
        wid=number,
        parent=program.screen().root,
        x=300,
        y=200,
        width=width,
        height=100,
        border_width=0,
        window_class=X.InputOutput,
        visual=X.CopyFromParent,
        attrs={"background_pixel": 0x3366CC},
    )
    window = program.create_resource_object("window", number)
    window.set_wm_name(title)
    window.map()
    program.sync()


def test_a_server_that_went_away_is_not_asked_again() -> None:
    with xvfb() as (name, server):
        desktop = X11Desktop(name)
        facts = WindowFacts(number=desktop.server.root, title="Game")
        window = X11Window(desktop, facts, WindowQuery(title="Game"), set())
        assert window.state().title == f"window {desktop.server.root:#x}"
        server.kill()
        server.wait()
        for ask in (window.state, window.state, desktop.titles, window.activate):
            with pytest.raises(DisplayUnavailable, match=r"The X display went away\. Set DISPLAY"):
                ask()
        desktop.close()


def test_a_window_that_its_program_hides_is_not_drawn(game: X11Window, capture: Capture) -> None:
    xdotool("windowunmap", game.id)
    until(lambda: game.state().minimised)
    with pytest.raises(NotObservable, match="minimised"):
        capture.grab(game.state(), 0)


def test_a_minimised_window_of_which_a_preview_is_kept_is_minimised(game: X11Window, desktop: X11Desktop) -> None:
    kind = desktop.server.atom("WM_STATE")
    window = desktop.server.display.create_resource_object("window", game.id)
    window.change_property(kind, kind, 32, [3, 0])  # as window managers do that draw miniatures
    assert game.state().minimised
    window.change_property(kind, kind, 32, [1, 0])
    assert not game.state().minimised
