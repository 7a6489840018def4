"""What can keep perception from seeing.

CurableError               says what was found and what to do
|- PerceptionError
   |- DisplayUnavailable   no display can be reached, or it lacks what was asked of it
   |- WindowNotFound       no window that fits, or no window manager to ask
   |- MissingExtra         an optional library, its data, or the service that it talks to is not there
   |- WrongModel           a file holds no object-detection model, or one of another kind
   |- OfferError           a bot offers marks that were not found
   |- SensorError          a sensor failed, or gave what is no value
   |- NotObservable        the window is there and cannot be seen now; often passes by itself
      |- WindowClosed      it was there and is gone; does not pass, unless its successor is followed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from perception.observation import Frame

if TYPE_CHECKING:
    from perception.window import Window

BlockedKind = Literal[
    "minimised",  # the window is not drawn at all
    "covered",  # another program's window lies over it
    "off_screen",  # nothing of it is on the screen
    "closed",  # it is gone
    "replaced",  # it is gone, and a new one of the same program bears its title
    "black",  # every pixel is black
    "transparent",  # the capture holds no picture: no opaque pixel
    "wrong_size",  # the capture is not as large as the window
    "frozen",  # nothing moves, though the game should, or does not answer any more
    "stale",  # the capture shows what was on screen before
    "not_found",  # the picture is sound and does not show what the detector looks for
]
"""Why nothing could be observed, in one word that a program may go by."""


class CurableError(Exception):
    """An error that the reader can do something about; base of such errors in all packages.

    Args:
        problem: what was expected and what was found, in one sentence.
        cure: what the reader can do about it.
    """

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(f"{problem} {cure}".strip())
        self.problem = problem
        self.cure = cure

    def __reduce__(self) -> tuple[Any, ...]:
        """Whole on its way between processes, whatever a subclass is made of."""
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[CurableError], args: tuple[Any, ...], attributes: dict[str, Any]) -> CurableError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class PerceptionError(CurableError):
    """Base of all errors of this package."""


class DisplayUnavailable(PerceptionError):
    """No display can be reached, or it lacks what was asked of it."""


class MissingExtra(PerceptionError):
    """An optional library, the data that it needs, or the service that it talks to is not on this machine."""


class WindowNotFound(PerceptionError):
    """No window matches."""


class WrongModel(PerceptionError):
    """A file holds no object-detection model, or one whose input, output or classes are not what was expected."""


class NotObservable(PerceptionError):
    """The window exists and shows nothing that could be trusted: covered, minimised, off-screen, black, no board.

    Args:
        problem: what was expected and what was found, in one sentence.
        cure: what the reader can do about it.
        kind: the same in one word.

    Attributes:
        frame: the pixels that were looked at in vain. None: it did not come to that.
    """

    frame: Frame | None = None

    def __init__(self, problem: str, cure: str, kind: BlockedKind = "not_found") -> None:
        super().__init__(problem, cure)
        self.kind: BlockedKind = kind


class WindowClosed(NotObservable):
    """The window was there, and is gone.

    Args:
        problem: what was expected and what was found, in one sentence.
        cure: what the reader can do about it.
        kind: ``closed``, or ``replaced`` when a successor is there.
        successor: the new window that fits the same query. None: there is none.
    """

    def __init__(self, problem: str, cure: str, kind: BlockedKind = "closed", successor: Window | None = None) -> None:
        super().__init__(problem, cure, kind)
        self.successor = successor

    @classmethod
    def closed(cls, title: str) -> WindowClosed:
        """The window with this title is gone, and none like it is there."""
        return cls(f"The window {title!r} was closed.", "Start the game again, then the bot.")

    @classmethod
    def replaced(cls, title: str, successor: Window) -> WindowClosed:
        """The window with this title is gone, and a new one like it is there."""
        return cls(
            f"The window {title!r} was closed, and a new one like it has appeared.",
            "Start the bot again, or let it follow: LiveWindow(..., follow=True).",
            "replaced",
            successor,
        )


class OfferError(PerceptionError):
    """A bot offers marks that the detector did not find, or labels that are none."""


class SensorError(PerceptionError):
    """A sensor failed, or gave what is no value: a mistake in the bot, which stops the run."""
