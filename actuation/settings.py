"""How input is delivered, and how much of it may be. No attempt is made to look like a person to a detector."""

from __future__ import annotations

from dataclasses import dataclass, fields

from actuation.keys import KEYSYMS

MOST_HOLD_S = 3600.0
PANIC = ("ctrl", "alt", "end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Times that games need, in seconds.

    Attributes:
        press_s: how long a button or a key is down; at 0 openbox lost 9 of 300 clicks in a row, at 0.005 none.
        spacing_s: least time from one press to the next. Some games drop what comes sooner: gnome-2048 keys that are
            less than 0.15 s apart.
        double_click_s: from the first press of a double click to the second.
        travel_s: how long the pointer travels to where it clicks. 0: it is there at once. The target is compared with
            what the model saw before the pointer sets out, since it may light up under it.
        drag_s: how long a drag takes from one end to the other.

    Raises:
        ValueError: a time is below 0.
    """

    press_s: float = 0.02
    spacing_s: float = 0.0
    double_click_s: float = 0.08
    travel_s: float = 0.0
    drag_s: float = 0.3

    def __post_init__(self) -> None:
        for each in fields(Motion):
            if not 0 <= getattr(self, each.name) <= 60:
                raise ValueError(f"expected {each.name} of 0 to 60 s, found {getattr(self, each.name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is delivered at all. A model's words change nothing of it.

    Attributes:
        max_hold_s: after so long a key or a button is released, whoever holds it.
        per_second: presses of keys and buttons, and notches of the wheel, in any second.
        target_tolerance: share of a target's pixels that may have changed since the look, 0 to 1; more than 0 for a
            target that moves by itself.
        text_entry: text may be typed.
        denied: combinations of keys that are not to be pressed, besides those that never are; see ``keys.denied``.
        yield_to_person: somebody else's hand on the mouse or the keyboard pauses the agent, and it lets go of all.
        resume_after_s: it goes on when that hand was still for so long. None: when it is told to.
        panic: keys that stop the agent for good when they are held together, whoever is in front.

    Raises:
        ValueError: a number is out of its range, or a key is none.
    """

    max_hold_s: float = 10.0
    per_second: int = 30
    target_tolerance: float = 0.0
    text_entry: bool = False
    denied: tuple[tuple[str, ...], ...] = ()
    yield_to_person: bool = True
    resume_after_s: float | None = 3.0
    panic: tuple[str, ...] = PANIC

    def __post_init__(self) -> None:
        held, share = 0 < self.max_hold_s <= MOST_HOLD_S, 0 <= self.target_tolerance <= 1
        if not held or not share or not isinstance(self.per_second, int) or self.per_second < 1:
            raise ValueError(
                f"expected max_hold_s above 0 and up to {MOST_HOLD_S:g}, per_second of 1 or more and target_tolerance "
                f"from 0 to 1, found {self.max_hold_s}, {self.per_second} and {self.target_tolerance}"
            )
        if self.resume_after_s is not None and not self.resume_after_s >= 0:
            raise ValueError(f"expected resume_after_s of 0 or more, or None, found {self.resume_after_s}")
        bare = [keys for keys in (*self.denied, self.panic) if isinstance(keys, str)]
        if bare or isinstance(self.denied, str):
            raise ValueError(f'expected combinations such as (("ctrl", "q"),), each in brackets, found {self.denied!r}')
        strange = [key for keys in (*self.denied, self.panic) for key in keys if key not in KEYSYMS]
        if strange or not self.panic:
            raise ValueError(f"expected keys in denied and panic, found {strange or 'no panic keys'}")
