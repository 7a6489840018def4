"""Complaints about bots re-enacted: real windows, real input, and what must follow."""

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from Xlib import X, display
from Xlib.protocol import event

from actuation import Click, Executor, HoldKey, PressKey, PressPointer, Rules
from actuation.errors import UserHalt
from actuation.x11_keyboard import X11Keyboard
from agent.bot import Game
from agent.desktop import game_window
from agent.testing.hostile import TARGET, TROUBLES, Scene, Trouble
from agent.testing.victim import until, victim, xdotool
from perception.geometry import Box
from perception.observation import Mark, Observation
from perception.x11 import X11Desktop
from tests.actuation.kills import repeats
from tests.perception.test_x11 import menus


def hands(scene: Scene) -> Executor:
    assert scene.executor is not None
    return scene.executor


def test_each_trouble_has_its_outcome(trouble: Trouble, scene: Scene) -> None:
    seen = scene.look()
    with trouble.strike(scene):
        delivery = hands(scene).submit(Click(mark=1), seen)
        trouble.require(scene, delivery)


def test_each_trouble_has_its_outcome_for_a_key(trouble: Trouble, scene: Scene) -> None:
    seen = scene.look()
    with trouble.strike(scene):
        delivery = hands(scene).submit(PressKey(key="a"), seen)
        trouble.require(scene, delivery, keys=True)


def test_without_trouble_it_is_one_click(scene: Scene) -> None:
    delivery = hands(scene).submit(Click(mark=1), scene.look(), 7)
    assert (delivery.outcome, delivery.evidence and delivery.evidence.tick) == ("delivered", 7)
    where = TARGET.center
    until(lambda: len(scene.events()) == 2)
    assert [(e["kind"], e["x"], e["y"]) for e in scene.events()] == [
        (k, where.x, where.y) for k in ("press", "release")
    ]
    assert delivery.gap_ms is not None
    assert 0 < delivery.gap_ms < 1000


def test_an_overlay_that_lets_clicks_through_takes_none(real_input: str) -> None:
    with Scene.new(rules=Rules(target_tolerance=1)) as scene, closing(display.Display()) as program:
        seen = scene.look()
        client = scene.window.state().client
        place = TARGET.moved(client.left, client.top)
        root = program.screen().root
        overlay = root.create_window(place.left, place.top, 16, 16, 0, X.CopyFromParent, override_redirect=True)
        overlay.map()
        program.sync()
        until(lambda: scene.window.taker(place.center) != "")
        assert hands(scene).submit(Click(mark=1), seen).reason == "covered_by"
        union, of_input = 0, 2
        overlay.shape_rectangles(union, of_input, 0, 0, 0, [])
        program.sync()
        until(lambda: scene.window.taker(place.center) == "")
        assert hands(scene).submit(Click(mark=1), seen).outcome == "delivered"


def test_the_games_own_menu_takes_clicks_for_it(desktop: X11Desktop) -> None:
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop) as mines:
        until(lambda: mines.state().foreground)
        client = mines.state().client
        assert mines.taker(client.center) == ""
        menu_bar, entry = client.pixel(20, 12), client.pixel(30, 60)
        xdotool("mousemove", menu_bar.x, menu_bar.y, "click", 1)
        until(lambda: len(menus(desktop, client)) > 0)
        assert mines.taker(entry) == ""
        xdotool("key", "Escape")


def test_the_kit_finds_an_agent_out(scene: Scene) -> None:
    moved = next(trouble for trouble in TROUBLES if trouble.name == "moved")
    delivery = hands(scene).submit(Click(mark=1), scene.look())
    with pytest.raises(AssertionError, match=r"moved: expected a refusal for \['moved'\], found Delivery"):
        moved.require(scene, delivery)


def test_a_key_that_is_held_does_not_go_to_the_terminal(scene: Scene) -> None:
    seen = scene.look()
    assert hands(scene).submit(HoldKey(key="up", seconds=5), seen).outcome == "delivered"
    assert scene.held()[0] == {"up"}, hands(scene).ended()
    with victim("Terminal", 100, 80, at=(900, 500)) as terminal:
        scene.desktop.find("Terminal").activate()
        until(lambda: not scene.window.state().foreground)
        until(lambda: scene.held() == (frozenset(), frozenset()))
        assert [each for each in terminal.events() if each["kind"] == "key_press"] == []
    (ended,) = hands(scene).ended()
    assert (type(ended.action), ended.reason) == (HoldKey, "not_foreground")


def test_a_key_that_is_held_is_pressed_once_and_may_repeat_afterwards(scene: Scene) -> None:
    """By itself a held key repeats after 0.66 s, 25 times a second, into whatever has the keyboard by then."""
    before = repeats()
    assert hands(scene).submit(HoldKey(key="a", seconds=1.5), scene.look()).outcome == "delivered"
    assert repeats() != before
    until(lambda: scene.held()[0] == frozenset())
    assert [each["kind"] for each in scene.events()] == ["key_press", "key_release"]
    until(lambda: repeats() == before)


def test_a_game_that_closes_is_not_clicked_any_more(scene: Scene) -> None:
    seen = scene.look()
    hands(scene).submit(PressPointer(mark=1), seen)
    hands(scene).submit(HoldKey(key="up", seconds=5), seen)
    assert scene.held() == (frozenset({"up"}), frozenset({"left"})), hands(scene).ended()
    assert scene.game is not None
    scene.game.process.kill()
    until(lambda: scene.held() == (frozenset(), frozenset()))
    assert {ended.reason for ended in hands(scene).ended()} == {"closed"}
    assert hands(scene).submit(Click(mark=1), seen).reason == "closed"


def test_the_ledger_is_the_servers_own_state(scene: Scene) -> None:
    seen = scene.look()
    for action in (PressPointer(mark=1), HoldKey(key="up", seconds=5), HoldKey(key="left", seconds=5)):
        hands(scene).submit(action, seen)
        assert scene.held() == hands(scene).held()
    hands(scene).release_all()
    hands(scene).release_all()
    assert scene.held() == (frozenset(), frozenset()) == hands(scene).held()


def test_a_text_waits_for_caps_lock_to_go(own_display: str) -> None:
    with closing(X11Keyboard()) as keyboard:
        assert keyboard.mistyped("Abc 1") is None
        xdotool("key", "Caps_Lock")
        try:
            assert keyboard.mistyped("Abc 1") == "caps lock is on"
            assert keyboard.mistyped("1 2") is None
        finally:
            xdotool("key", "Caps_Lock")


@pytest.fixture
def layout(own_display: str) -> Iterator[Callable[..., None]]:
    """Sets the display's keyboard layout; it is as it was afterwards."""

    def set_to(*words: str) -> None:
        subprocess.run(["setxkbmap", *words], check=True, timeout=10)

    yield set_to
    set_to("us", "-option", "")


def test_keys_of_another_layout_are_no_persons(layout: Callable[..., None], real_input: str) -> None:
    layout("de")
    with Scene.new(rules=Rules()) as scene:
        for key in ("8", "7", "a", "z"):
            assert hands(scene).submit(HoldKey(key=key, seconds=0.2), scene.look()).outcome == "delivered"
            until(lambda: scene.held() == (frozenset(), frozenset()))
        assert hands(scene).ended() == []


@pytest.mark.parametrize("words", [("de",), ("us,de",)])
def test_a_layout_that_changes_is_noticed(layout: Callable[..., None], real_input: str, words: tuple[str, ...]) -> None:
    with Scene.new(rules=Rules()) as scene:
        assert hands(scene).submit(PressKey(key="z"), scene.look()).outcome == "delivered"
        layout(*words)
        if "," in words[0]:
            assert hands(scene).submit(PressKey(key="z"), scene.look()).outcome == "delivered"
            lock_group(1)
        try:
            assert hands(scene).submit(PressKey(key="z"), scene.look()).reason == "unknown_key"
            assert hands(scene).submit(PressKey(key="a"), scene.look()).outcome == "delivered"
        finally:
            lock_group(0)


def lock_group(group: int) -> None:
    """Switch between the layouts of a keyboard that has several."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    opened = ctypes.c_void_p(x11.XOpenDisplay(None))
    x11.XkbLockGroup(opened, 0x100, group)
    x11.XSync(opened, 0)
    x11.XCloseDisplay(opened)


def test_a_mouse_for_the_left_hand_clicks_with_the_button_that_is_meant(real_input: str) -> None:
    with closing(display.Display()) as program:
        usual = list(program.get_pointer_mapping())
        program.set_pointer_mapping([3, 2, 1, *usual[3:]])
        program.sync()
        try:
            with Scene.new(rules=Rules()) as scene:
                assert hands(scene).submit(Click(mark=1), scene.look()).outcome == "delivered"
                until(lambda: len(scene.events()) == 2)
                assert [each["detail"] for each in scene.events()] == [1, 1]
        finally:
            program.set_pointer_mapping(usual)
            program.sync()


def test_a_click_of_ones_own_in_a_corner_of_the_screen_is_no_panic(real_input: str) -> None:
    with Scene.new(rules=Rules(target_tolerance=1)) as scene, closing(display.Display()) as program:
        window = program.create_resource_object("window", scene.window.id)
        hints = [1, program.intern_atom("_NET_WM_STATE_FULLSCREEN"), 0, 1, 0]
        told = event.ClientMessage(window=window, client_type=program.intern_atom("_NET_WM_STATE"), data=(32, hints))
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        program.screen().root.send_event(told, event_mask=mask)
        program.sync()
        until(lambda: scene.window.state().client == Box(0, 0, 1280, 800))
        mark = Mark(number=1, box=Box(0, 0, 1, 1))
        corner = Observation(frame=scene.look().frame, cells=(), marks=(mark,))
        for _ in range(2):
            assert hands(scene).submit(Click(mark=1), corner).outcome == "delivered"


def test_what_goes_on_can_be_cancelled(scene: Scene) -> None:
    hold = HoldKey(key="up", seconds=5)
    hands(scene).submit(hold, scene.look())
    assert scene.held()[0] == {"up"}
    hands(scene).cancel(hold)
    assert scene.held()[0] == frozenset()
    assert [ended.reason for ended in hands(scene).ended()] == ["cancelled"]


@pytest.mark.parametrize("way", ["corner", "panic keys"])
def test_panic_lets_go_of_all_at_once(scene: Scene, way: str) -> None:
    seen = scene.look()
    hands(scene).submit(PressPointer(mark=1), seen)
    hands(scene).submit(HoldKey(key="up", seconds=5), seen)
    if way == "corner":
        xdotool("mousemove", 1279, 0)
    else:
        xdotool("keydown", "ctrl", "keydown", "alt", "key", "--delay", "100", "End", "keyup", "alt", "keyup", "ctrl")
    until(lambda: scene.held() == (frozenset(), frozenset()))
    with pytest.raises(UserHalt):
        hands(scene).submit(Click(mark=1), seen)


def test_a_dropped_first_click_is_seen_in_the_game_alone(real_input: str) -> None:
    with Scene.new(deaf=1, rules=Rules()) as scene:
        seen = scene.look()
        assert hands(scene).submit(Click(mark=1), seen).outcome == "delivered"
        until(lambda: len(scene.events()) == 2)
        again = scene.look()
        assert (again.frame.patch(TARGET) == seen.frame.patch(TARGET)).all()
        assert hands(scene).submit(Click(mark=1), again).outcome == "delivered"
        until(lambda: bool((scene.look().frame.patch(TARGET) != seen.frame.patch(TARGET)).any()))


def test_a_key_reaches_the_game(scene: Scene) -> None:
    assert hands(scene).submit(PressKey(key="escape"), scene.look()).outcome == "delivered"
    until(lambda: [each["kind"] for each in scene.events()] == ["key_press", "key_release"])
