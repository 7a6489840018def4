"""The verbs. A tool is a class, an action is an instance of one; its docstring is what the model reads of it.

A bot gives a verb the game's word by subclassing it::

    class Reveal(Click):
        "Uncover a cell."

A verb of a bot's own is a class with fields and one method, which says what to do::

    class Steer(Tool):
        "Steer the ship."
        key: Literal["a", "d"]

        def perform(self, hands: Hands, at: Point | None) -> None:
            hands.hold(self.key, 0.3)

    class Swap(Tool):
        "Swap two gems."
        first: MarkRef
        second: MarkRef

        def perform(self, hands: Hands, at: Point | None) -> None:
            hands.drag(hands.where("first"), hands.where("second"))
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from actuation.keys import Key, denied, unknown_key
from actuation.plan import Hands
from perception.geometry import Point
from perception.observation import CellRef, MarkRef, MarkTarget

Verdict = Literal["done", "gave_up"]


class Tool(BaseModel):
    """Base of all tools.

    Attributes:
        spot: where in its target an action goes, as shares of the width and the height; the middle unless overridden.
        ends: the run ends with this action, in these words. None: it goes on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    spot: ClassVar[tuple[float, float]] = (0.5, 0.5)
    ends: ClassVar[Verdict | None] = None

    @property
    def target(self) -> int | None:
        """The mark that the action is aimed at first. None: it needs none."""
        for name, info in type(self).model_fields.items():
            if any(isinstance(note, MarkTarget) for note in info.metadata):
                return int(getattr(self, name))
        return None

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Say what to do, once; it is done after this has returned.

        Args:
            hands: what can be done.
            at: the first target on the screen. None: the tool has no target.
        """
        raise TypeError(f"{type(self).__name__} declares no perform(); subclass one of actuation's tools, or write one")


class Click(Tool):
    """Click a mark with the left button."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click at the target."""
        hands.click(_aimed(self, at))


class ClickCell(Tool):
    """Click a cell of the board."""

    cell: CellRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click at the target."""
        hands.click(_aimed(self, at))


class DoubleClick(Tool):
    """Click a mark twice."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click twice at the target."""
        hands.double_click(_aimed(self, at))


class RightClick(Tool):
    """Click a mark with the right button."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Click at the target."""
        hands.click(_aimed(self, at), "right")


class PressPointer(Tool):
    """Press the left button on a mark and keep it down."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press; the button stays down until it is released, or for the longest that the bot's rules allow."""
        hands.press(_aimed(self, at))


class ReleasePointer(Tool):
    """Let the left button go."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Release, where the pointer is."""
        hands.release()


class Drag(Tool):
    """Drag a mark onto another one."""

    mark: MarkRef
    onto: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press on the one, travel, release on the other."""
        hands.drag(_aimed(self, at), hands.where("onto"))


class Scroll(Tool):
    """Turn the wheel over a mark: up when positive, down when negative."""

    mark: MarkRef
    notches: Annotated[int, Field(ge=-10, le=10)]

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Turn the wheel; 0 notches do nothing."""
        if self.notches:
            hands.scroll(_aimed(self, at), self.notches)


class Move(Tool):
    """Move the pointer to a mark."""

    mark: MarkRef

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Move to the target."""
        hands.move(_aimed(self, at))


class PressKey(Tool):
    """Press a key."""

    key: Key

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press and release."""
        hands.key(self.key)


class HoldKey(Tool):
    """Hold a key down for some seconds."""

    key: Key
    seconds: Annotated[float, Field(ge=0.1, le=5)]

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press, wait, release; the ticks go on meanwhile."""
        hands.hold(self.key, self.seconds)


class Chord(Tool):
    """Press keys together. Subclass it and name them: ``keys = ("ctrl", "z")``.

    Attributes:
        keys: in the order in which they go down.

    Raises (when subclassed):
        ValueError: there is no such key, or the combination is never pressed.
    """

    keys: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Refuse a combination that could never be pressed."""
        problem = next(filter(None, map(unknown_key, cls.keys)), None)
        never = denied(cls.keys)
        if problem or never:
            raise ValueError(f"{cls.__name__}.keys: {problem or f'{never} is never pressed'}")

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Press all, release all."""
        hands.chord(*self.keys)


class TypeText(Tool):
    """Type a text. Only where the bot's rules allow it: ``rules = Rules(text_entry=True)``."""

    text: Annotated[str, Field(min_length=1, max_length=100, pattern="^[ -~]+$")]

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Type it, a key at a time."""
        hands.type(self.text)


class Wait(Tool):
    """Do nothing this time."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing."""


class Done(Tool):
    """The goal is reached; stop."""

    ends: ClassVar[Verdict | None] = "done"

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing: the run ends."""


class GiveUp(Tool):
    """The goal cannot be reached; stop."""

    ends: ClassVar[Verdict | None] = "gave_up"

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing: the run ends."""


class NoneOfThese(Tool):
    """None of the marks fits the goal."""

    def perform(self, hands: Hands, at: Point | None) -> None:
        """Do nothing: it is said, recorded and counted."""


def _aimed(tool: Tool, at: Point | None) -> Point:
    if at is None:
        raise ValueError(f"{tool!r} needs a target; its point could not be resolved")
    return at
