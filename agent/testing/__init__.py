"""Fakes for tests of bots, models and loops, ours and yours. Each stands for a part that is real in a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from actuation.aim import aims, resolve
from actuation.executor import Delivery, Ended
from actuation.plan import Hands
from actuation.settings import Motion
from actuation.tools import Tool
from agent.models.base import DecodeRequest, Dialect, Reply
from agent.session.records import TickRecord
from perception.detect.base import Detected
from perception.errors import NotObservable
from perception.geometry import Box, Point, Transform
from perception.observation import Frame, Mark, Observation, WindowState

SIDE = 16  # pixels of a fake mark


def frame(shade: int = 128, *, width: int = 320, height: int = 240, client: Box | None = None) -> Frame:
    """An even grey frame of a window at ``client`` (by default at (100, 50))."""
    area = client or Box(100, 50, width, height)
    pixels = np.full((height, width, 3), shade, np.uint8)
    return Frame(pixels=pixels, transform=Transform(client=area, captured=Box(0, 0, width, height)), captured_ns=0)


def marks(labels: Mapping[int, str | None]) -> tuple[Mark, ...]:
    """Marks with these numbers and labels, side by side, by ascending number."""
    ordered = sorted(labels.items())
    return tuple(Mark(number=n, box=Box(i * SIDE, 0, SIDE, SIDE), label=t) for i, (n, t) in enumerate(ordered))


def observation(labels: Mapping[int, str | None], shade: int = 128) -> Observation:
    """An observation of these marks on an even grey frame."""
    return Observation(frame=frame(shade), cells=(), marks=marks(labels))


class Frames:
    """A frame source that plays a list; an exception in it is raised. After the end it repeats the last."""

    def __init__(self, frames: Sequence[Frame | NotObservable]) -> None:
        self._frames = list(frames)
        self.grabbed = 0

    def grab(self) -> Frame:
        """The next frame."""
        item = self._frames[min(self.grabbed, len(self._frames) - 1)]
        self.grabbed += 1
        if isinstance(item, NotObservable):
            raise item
        return item


class FixedDetector:
    """Finds the same marks in every frame."""

    def __init__(self, labels: Mapping[int, str | None]) -> None:
        self._found = Detected(cells=(), marks=marks(labels))

    def detect(self, pixels: object) -> Detected:
        """What it was told to find."""
        return self._found


class FixedReplies:
    """A model that says what it is told to, in order, whatever it is asked; it keeps the requests."""

    name = "fixed replies"
    dialects: tuple[Dialect, ...] = ()

    def __init__(self, replies: Iterable[Reply | str]) -> None:
        self._replies = iter(replies)
        self.requests: list[DecodeRequest] = []

    def prepare(self, stable: str) -> None:
        """Nothing to read."""

    def complete(self, request: DecodeRequest) -> Reply:
        """The next reply."""
        self.requests.append(request)
        reply = next(self._replies)
        return Reply(text=reply, finish="stop") if isinstance(reply, str) else reply

    def close(self) -> None:
        """Nothing is held."""


class DryActuator:
    """Delivers nothing and keeps what was submitted; refuses with the reasons it is given, in order."""

    def __init__(self, refusals: Iterable[str | None] = ()) -> None:
        self._refusals = iter(refusals)
        self.submitted: list[Tool] = []
        self.releases = 0

    def submit(
        self, action: Tool, seen: Observation, tick: int = 0, *, spot: tuple[float, float] | None = None
    ) -> Delivery:
        """Note the action."""
        self.submitted.append(action)
        reason = next(self._refusals, None)
        point = resolve(action, seen, spot)
        if reason is not None:
            return Delivery(outcome="refused", point=point, reason=reason, detail="as the test asked")
        hands = Hands(Motion(), {aim.field: aim.point for aim in aims(action, seen, spot)})
        action.perform(hands, point)
        sends = bool(hands.plan.points or hands.plan.pressed)
        return Delivery(outcome="delivered", point=point, gap_ms=1.0 if sends else None)

    def ended(self) -> list[Ended]:
        """Nothing goes on."""
        return []

    def release_all(self) -> None:
        """Note it."""
        self.releases += 1


class StillEyes:
    """A window that stands as it is told to, in front, and shows one frame; for an executor.

    Attributes:
        now: how it stands; an exception is raised.
        frame: what it shows.
        over: title of the window that would take a click. Empty: the game's.
    """

    def __init__(self, shown: Frame | None = None) -> None:
        self.frame = shown or frame()
        self.over = ""
        self.now: WindowState | Exception = WindowState(
            client=self.frame.transform.client,
            screen=Box(0, 0, 1280, 800),
            minimised=False,
            foreground=True,
            covered_by=(),
        )

    def state(self) -> WindowState:
        """How the window stands."""
        if isinstance(self.now, Exception):
            raise self.now
        return self.now

    def taker(self, point: Point) -> str:
        """Who would take a click."""
        return self.over

    def pixels(self, box: Box) -> NDArray[np.uint8]:
        """What shows in a box of the screen."""
        return self.frame.patch(self.frame.transform.box_to_capture(box))


class MemoryRecorder:
    """Keeps records in a list."""

    def __init__(self) -> None:
        self.records: list[TickRecord] = []
        self.closed = 0

    def append(self, record: TickRecord, frame: Frame | None) -> None:
        """Keep one."""
        self.records.append(record)

    def close(self) -> None:
        """Note it."""
        self.closed += 1
