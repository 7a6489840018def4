"""Does a backend deliver what it is told to? The check that an input backend must pass, against a window that logs.

    from agent.testing.backends import check_backend

    check_backend(MyBackend())     # on a display of its own: real input is sent

X11 alone, since the window that logs is.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from Xlib import XK

from actuation.backend import Backend
from actuation.keys import KEYSYMS
from actuation.plan import BUTTONS
from actuation.x11_keyboard import X11Keyboard
from agent.testing.victim import Victim, victim
from perception.geometry import Box
from perception.window import Window, open_desktop

CLICKS = 500
PRESS_S = 0.02  # down, and up again: on a busy machine a window manager lost one of 500 clicks of 0.005 s
WAIT_S = 5.0
BUTTON_NUMBERS = {"left": 1, "middle": 2, "right": 3}
WHEEL = {1: 4, -1: 5}  # the buttons that an X server turns a notch up and down into
KEPT_BY_DESKTOPS = frozenset({"win"})  # never pressed by the executor, and window managers take it


def check_backend(backend: Backend, clicks: int = CLICKS) -> None:
    """Click, scroll, press keys and hold them; each must arrive once, in order, at its pixel.

    Args:
        backend: to be checked; it sends real input to the present display.
        clicks: how many.

    Raises:
        AssertionError: something else arrived; says what was expected and what was found.
    """
    with victim("Conformance", 400, 300) as game, closing(open_desktop()) as desktop:
        window = desktop.find("Conformance")
        window.activate()
        _await(lambda: window.state().foreground, "the window did not come to the front")
        client = window.state().client
        _check_clicks(backend, game, client, clicks)
        _check_moves(backend, client)
        _check_wheel(backend, game, client)
        _check_keys(backend, game, window)


def _check_clicks(backend: Backend, game: Victim, client: Box, clicks: int) -> None:
    spots = [(7 + 13 * i % (client.width - 14), 7 + 29 * i % (client.height - 14)) for i in range(clicks)]
    expected = list[tuple[object, ...]]()
    for i, (x, y) in enumerate(spots):
        button = BUTTONS[i % 3]
        backend.press(client.pixel(x, y), button)
        time.sleep(PRESS_S)
        backend.release(button)
        time.sleep(PRESS_S)
        expected += [(kind, x, y, BUTTON_NUMBERS[button]) for kind in ("press", "release")]
    _require(game, expected, lambda e: (e["kind"], e["x"], e["y"], e["detail"]))


def _check_moves(backend: Backend, client: Box) -> None:
    with closing(X11Keyboard()) as keyboard:
        for place in (client.pixel(3, 4), client.pixel(399, 299), client.pixel(0, 0)):
            backend.move(place)
            _await(lambda place=place: keyboard.read().pointer == place, f"the pointer did not go to {place}")  # type: ignore[misc]


def _check_wheel(backend: Backend, game: Victim, client: Box) -> None:
    before = len(game.seen())
    backend.scroll(client.pixel(20, 30), 3)
    backend.scroll(client.pixel(40, 50), -2)
    expected = [("press", 20, 30, WHEEL[1])] * 3 + [("press", 40, 50, WHEEL[-1])] * 2
    _require(
        game,
        expected,
        lambda e: (e["kind"], e["x"], e["y"], e["detail"]),
        counts=lambda e: e["kind"] == "press",
        skip=before,
    )


def _check_keys(backend: Backend, game: Victim, window: Window) -> None:
    for key in sorted(set(KEYSYMS) - KEPT_BY_DESKTOPS):
        before, symbol = len(game.seen()), XK.string_to_keysym(KEYSYMS[key])
        backend.key_down(key)
        backend.key_up(key)
        expected = [("key_press", symbol), ("key_release", symbol)]
        _require(game, expected, lambda e: (e["kind"], e["symbol"]), skip=before, what=f"the key {key!r}: ")


def _require(
    game: Victim,
    expected: Sequence[tuple[object, ...]],
    essence: Callable[[dict[str, Any]], tuple[object, ...]],
    *,
    counts: Callable[[dict[str, Any]], bool] = lambda event: True,
    skip: int = 0,
    what: str = "",
) -> None:
    def arrived() -> list[tuple[object, ...]]:
        return [essence(event) for event in game.seen()[skip:] if counts(event)]

    with contextlib.suppress(AssertionError):
        _await(lambda: len(arrived()) >= len(expected), "")
    found = arrived()
    for i, (wanted, came) in enumerate(zip(expected, found, strict=False)):
        if wanted != came:
            raise AssertionError(f"{what}expected {wanted} as event {i}, found {came}")
    if len(found) != len(expected):
        raise AssertionError(f"{what}expected {len(expected)} events, found {len(found)}; the last: {found[-3:]}")


def _await(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise)
        time.sleep(0.002)
