"""Keys by name, what they type, and the combinations that are never pressed.

A key's name is what stands on it, in lower case: ``a``, ``7``, ``enter``, ``left``, ``f1``. Letters and signs mean the
key on a US keyboard; a display whose layout has another sign there refuses the key.
"""

from __future__ import annotations

import difflib
import string
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, TypeVar

T = TypeVar("T")

MODIFIERS = ("shift", "ctrl", "alt", "win")

NAMED = {
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "enter": "Return",
    "escape": "Escape",
    "space": "space",
    "tab": "Tab",
    "backspace": "BackSpace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "pageup": "Page_Up",
    "pagedown": "Page_Down",
    "shift": "Shift_L",
    "ctrl": "Control_L",
    "alt": "Alt_L",
    "win": "Super_L",
    **{f"f{n}": f"F{n}" for n in range(1, 13)},
}
SIGNS = {
    "`": "grave",
    "-": "minus",
    "=": "equal",
    "[": "bracketleft",
    "]": "bracketright",
    "\\": "backslash",
    ";": "semicolon",
    "'": "apostrophe",
    ",": "comma",
    ".": "period",
    "/": "slash",
}
KEYSYMS = {**{sign: sign for sign in string.ascii_lowercase + string.digits}, **SIGNS, **NAMED}
"""Key -> the X name of what it gives by itself."""

SHIFTED = {
    **dict(zip(string.ascii_uppercase, string.ascii_lowercase, strict=True)),
    **dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True)),
}
"""Character -> the key that gives it with shift held."""

TYPED = {" ": "space", "\n": "enter", "\t": "tab"}

Key = Literal[
    "up", "down", "left", "right", "enter", "escape", "space", "tab", "backspace", "delete", "insert", "home",
    "end", "pageup", "pagedown", "shift", "ctrl", "alt", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9",
    "f10", "f11", "f12", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
    "s", "t", "u", "v", "w", "x", "y", "z", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "`", "-", "=", "[",
    "]", "\\", ";", "'", ",", ".", "/"
]  # fmt: skip
"""A key that a tool may press. A bot names those that its game knows: ``Literal["w", "a", "s", "d"]``."""

# With which of them held, which keys belong to the desktop and not to the game. The window key does by itself.
_DESKTOP_KEYS: dict[frozenset[str], Collection[str]] = {
    frozenset({"alt"}): ("tab", "escape", "space", "enter", *(f"f{n}" for n in range(1, 13))),
    frozenset({"ctrl"}): ("escape",),
    frozenset({"ctrl", "alt"}): tuple(set(KEYSYMS) - {"ctrl", "alt", "shift"}),
}


def unknown_key(key: str) -> str | None:
    """Why a key cannot be pressed. None: it is a key."""
    if key in KEYSYMS:
        return None
    near = difflib.get_close_matches(str(key), KEYSYMS, n=1)
    return f"expected a key, found {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def strokes(character: str) -> tuple[str, ...] | None:
    """The keys to hold to type a character, the last one being its own. None: no key gives it."""
    key = TYPED.get(character, character)
    if key in SHIFTED:
        return ("shift", SHIFTED[key])
    return (key,) if key in KEYSYMS else None


def modifiers_last(down: Sequence[T], name: Callable[[T], str]) -> list[T]:
    """In which order to release what is down: what went down last first, but modifiers after all else."""
    return sorted([*reversed(down)], key=lambda each: name(each) in MODIFIERS)


def denied(held: Iterable[str], more: Iterable[Collection[str]] = ()) -> str | None:
    """The combination among held keys that is never synthesised. None: there is none.

    What switches, closes or locks windows, and what takes the user's session down, is not a game's.

    Args:
        held: keys that would be held together.
        more: combinations besides, which a bot or its user rules out.
    """
    keys = set(held)
    if "win" in keys:
        return "win"
    for modifiers, others in _DESKTOP_KEYS.items():
        for key in keys & set(others) if modifiers <= keys else ():
            return "+".join([*sorted(modifiers), key])
    found = next((combination for combination in more if combination and set(combination) <= keys), None)
    return "+".join(found) if found else None
