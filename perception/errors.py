"""What can keep perception from seeing.

CurableError               says what was found and what to do
|- PerceptionError
   |- DisplayUnavailable   no X server can be reached
   |- WindowNotFound       no window with that title, or no window manager to ask
   |- OfferError           a bot offers marks that were not found
   |- NotObservable        the window is there and cannot be seen now; often passes by itself
      |- WindowClosed      it was there and is gone; does not pass
"""

from __future__ import annotations

from perception.observation import Frame


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


class PerceptionError(CurableError):
    """Base of all errors of this package."""


class DisplayUnavailable(PerceptionError):
    """No X server can be reached."""


class WindowNotFound(PerceptionError):
    """No window matches."""


class NotObservable(PerceptionError):
    """The window exists and shows nothing that could be trusted: covered, minimised, off-screen, black, no board.

    Attributes:
        frame: the pixels that were looked at in vain. None: it did not come to that.
    """

    frame: Frame | None = None


class WindowClosed(NotObservable):
    """The window was there, and is gone."""


class OfferError(PerceptionError):
    """A bot offers marks that the detector did not find, or labels that are none."""
