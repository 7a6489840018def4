"""What an X server says is held, and what its keyboard gives."""

from __future__ import annotations

from collections.abc import Sequence

from Xlib import XK, X
from Xlib.protocol import request

from actuation.keys import KEYSYMS, SHIFTED, TYPED
from actuation.person import InputState
from perception.geometry import Box, Point
from perception.xserver import Server

_BUTTONS = {X.Button1Mask: "left", X.Button2Mask: "middle", X.Button3Mask: "right"}


class X11Keyboard:
    """The X server's own state, on a connection of its own. One thread: the first that reads.

    Which key is pressed for a name is settled at the first question, as it is for what presses the keys; what it gives
    is asked each time, since the layout may change.
    """

    def __init__(self) -> None:
        self._opened: Server | None = None
        self._codes: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._repeats: Sequence[int] = ()
        self._group = 0

    def read(self) -> InputState:
        """How the mouse and the keyboard stand now: one round trip.

        Raises:
            DisplayUnavailable: the X server is gone.
        """
        server = self._server()
        pointer, keymap, screen = server.answers(
            server.ask(request.QueryPointer, window=server.root),
            server.ask(request.QueryKeymap),
            server.ask_geometry(server.root),
        )
        self._group = pointer.mask >> 13 & 3
        down = [8 * i + bit for i, byte in enumerate(keymap.map) for bit in range(8) if byte >> bit & 1]
        return InputState(
            pointer=Point(pointer.root_x, pointer.root_y),
            screen=Box(0, 0, screen.width, screen.height),
            buttons=frozenset(name for mask, name in _BUTTONS.items() if pointer.mask & mask),
            keys=frozenset(self._names.get(code, f"keycode {code}") for code in down),
            caps_lock=bool(pointer.mask & X.LockMask),
        )

    def missing(self, key: str) -> str | None:
        """Why the key cannot be pressed here. None: it can."""
        self._server()
        code = self._codes[key]
        if code and self._gives_now(code, 0) == _keysym(KEYSYMS[key]):
            return None
        return f"this keyboard's layout has no key {key!r} of its own"

    def mistyped(self, text: str) -> str | None:
        """What this layout would type otherwise. None: nothing."""
        if self.read().caps_lock and any(character.isalpha() for character in text):
            return "caps lock is on"
        strange = sorted({character for character in text if not self._gives(character)})
        return (
            f"this keyboard's layout has no {', '.join(map(repr, strange))} where it is expected" if strange else None
        )

    def buttons(self) -> dict[str, str]:
        """The button of the mouse that is to be pressed for each: another one where it is set up for the left hand."""
        server = self._server()
        with server.guarded():
            means = list(server.display.get_pointer_mapping())
        names = dict(enumerate(_BUTTONS.values()))
        left_middle_right = (1, 2, 3)
        return {names[i]: names[means.index(n)] for i, n in enumerate(left_middle_right) if n in means[:3]}

    def keep_from_repeating(self, key: str) -> None:
        """A key that is held does not repeat by itself: a repeat would go to whatever window has the keyboard by then.

        Raises:
            DisplayUnavailable: the X server is gone.
        """
        self._repeat(key, X.AutoRepeatModeOff)

    def let_repeat(self, key: str) -> None:
        """It may again, if it did when this connection was opened. Raises as ``keep_from_repeating`` does."""
        self._repeat(key, X.AutoRepeatModeOn)

    def _repeat(self, key: str, mode: int) -> None:
        server, code = self._server(), self._codes[key]
        if self._repeats[code // 8] >> code % 8 & 1:
            with server.guarded():
                server.display.change_keyboard_control(key=code, auto_repeat_mode=mode)
                server.display.sync()

    def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            self._opened.close()

    def _gives(self, character: str) -> bool:
        key = SHIFTED.get(character, TYPED.get(character, character))
        if self.missing(key):
            return False
        if character not in SHIFTED:
            return True
        wanted = ord(character)  # Latin-1 characters are their own keysyms
        return self._gives_now(self._codes[key], 1) == wanted

    def _gives_now(self, code: int, level: int) -> int:
        """The keysym of a key, with shift at level 1, by the layout that is in force now, whichever it was before."""
        server = self._server()
        with server.guarded():
            given = server.display.get_keyboard_mapping(code, 1)[0]
        both = [given[2 * self._group + level], given[level]] if len(given) > 2 * self._group + level else given[level:]
        return int(next((keysym for keysym in both if keysym), 0))

    def _bears(self, key: str, code: int) -> bool:
        return bool(code and self._opened and self._opened.display.keycode_to_keysym(code, 0) == _keysym(KEYSYMS[key]))

    def _server(self) -> Server:
        if self._opened is None:
            self._opened = Server()
            with self._opened.guarded():
                self._repeats = self._opened.display.get_keyboard_control().auto_repeats
                codes = {k: self._opened.display.keysym_to_keycode(_keysym(name)) for k, name in KEYSYMS.items()}
            self._codes = {key: int(code) for key, code in codes.items()}
            own = [key for key, code in self._codes.items() if self._bears(key, code)]  # not on a level above
            self._names = {self._codes[key]: key for key in own}
        return self._opened


def _keysym(name: str) -> int:
    return int(XK.string_to_keysym(name))
