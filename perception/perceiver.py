"""Observe: frame -> what changed -> cells and marks -> what the bot offers. One call a tick."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from perception.change import ChangeMeter
from perception.detect.base import Attachable, Detected, Detector, Learning, Local, Updating
from perception.detect.local import redetect
from perception.errors import NotObservable, OfferError
from perception.observation import Change, Frame, Mark, Observation, WindowState
from perception.sensors import Sensor, Sensors, View

OFFER_CURE = "Return a label for some of seen.marks: {mark.number: 'name'}."

Candidates = Callable[[Observation], Mapping[int, str]]
"""A bot's choice of the marks to offer: number -> label."""


class FrameSource(Protocol):
    """Where frames come from: a live window, or a recording. Called from the scheduler's thread."""

    def grab(self) -> Frame:
        """The next frame; may raise ``NotObservable`` and its kin."""
        ...


@runtime_checkable
class Doubting(FrameSource, Protocol):
    """A frame source that looks twice where something should have changed."""

    def acted(self) -> None:
        """Something was done to the game since the last frame."""
        ...


class Perceiver:
    """Turns frames into observations, looking again only where pixels changed.

    Args:
        source: where frames come from.
        detector: what finds cells and marks; a copy of it is used, so that what it learns ends with this perceiver.
        candidates: which marks to offer and what to call them.
        sensors: name -> sensor, evaluated at every look, in motion too; copies of them, as of the detector.
    """

    def __init__(
        self,
        source: FrameSource,
        detector: Detector,
        candidates: Candidates,
        sensors: Mapping[str, Sensor[Any]] = MappingProxyType({}),
    ) -> None:
        self._source = source
        self._detector = copy.deepcopy(detector)
        self._candidates = candidates
        self._sensors = Sensors(copy.deepcopy(dict(sensors)))
        self._meter = ChangeMeter()
        self._frame: Frame | None = None
        self._found: Detected | None = None
        self._kept: Detected = Detected()

    def observe(self) -> Observation:
        """Look once.

        Raises:
            NotObservable: the window shows nothing that could be trusted.
            OfferError: the bot offers what is not there.
            SensorError: a sensor of the bot's failed.
            DisplayUnavailable: the X server is gone.
        """
        frame = self._source.grab()
        change = self._meter.measure(frame)
        if change.kind == "unchanged" and self._frame is not None:
            frame = frame.sharing(self._frame)
        self._frame = frame
        found = self._look(frame, change)
        seen = Observation(
            frame=frame,
            cells=found.cells,
            marks=found.marks,
            change=change,
            left_out=found.left_out,
            unseen=found.unseen,
            found=frozenset(mark.key for mark in found.marks),
            sensors=self._sensors.evaluate(View(frame=frame, cells=found.cells, title=frame.title)),
        )
        return replace(seen, marks=_offered(seen, self._candidates(seen)))

    def attach(self, window: Callable[[], WindowState]) -> None:
        """The live window, for detectors that ask it or its program besides the pixels."""
        if isinstance(self._detector, Attachable):
            self._detector.attach(window)

    def forget(self) -> None:
        """Look at everything at the next look, whatever did not change."""
        self._meter, self._frame, self._found, self._kept = ChangeMeter(), None, None, Detected()

    def acted(self) -> None:
        """Something was done to the game: its next frame is expected to show it."""
        if isinstance(self._source, Doubting):
            self._source.acted()

    def confirmed(self, then: Observation, number: int) -> None:
        """A mark of an earlier observation was acted on, and its pixels changed: for detectors that learn."""
        if isinstance(self._detector, Learning):
            self._detector.confirmed(then.frame.pixels, then.mark(number))

    def _look(self, frame: Frame, change: Change) -> Detected:
        """What is in the frame; looked for where something changed, and nowhere while much of it moves."""
        found, self._found = self._found, None
        if change.kind == "motion":
            self._kept = _untouched(found or self._kept, change)
            return self._kept
        self._kept = Detected()  # until something is found
        if found is None or change.kind == "scene":
            found = self._asked(frame, lambda: self._detector.detect(frame.pixels))
        elif change.kind == "local":
            before = found
            found = self._asked(frame, lambda: self._again(frame, before, change))
        self._found = self._kept = found
        return found

    def _again(self, frame: Frame, before: Detected, change: Change) -> Detected:
        if isinstance(self._detector, Updating):
            return self._detector.update(frame.pixels, change.dirty)
        if isinstance(self._detector, Local):
            return redetect(self._detector, frame.pixels, before, change.dirty)
        return self._detector.detect(frame.pixels)

    def _asked(self, frame: Frame, look: Callable[[], Detected]) -> Detected:
        try:
            return look()
        except NotObservable as problem:
            problem.frame = frame
            raise


def _untouched(found: Detected, change: Change) -> Detected:
    """Marks that a change leaves alone; the cells, if it leaves all of them alone."""
    whole = not any(change.touches(cell.box) for cell in found.cells)
    marks = tuple(mark for mark in found.marks if not change.touches(mark.box))
    return Detected(cells=found.cells if whole else (), marks=marks, left_out=found.left_out)


def _offered(seen: Observation, labels: Mapping[int, str]) -> tuple[Mark, ...]:
    """The marks that the bot offers, under its labels."""
    known = {mark.number for mark in seen.marks}
    if not isinstance(labels, Mapping) or not all(isinstance(label, str) for label in labels.values()):
        raise OfferError(f"Expected candidates() to return numbers and their labels, found {labels!r}.", OFFER_CURE)
    strange = [number for number in labels if number not in known]
    if strange:
        raise OfferError(f"candidates() offers the marks {strange}; the detector found {sorted(known)}.", OFFER_CURE)
    try:
        return tuple(_called(mark, labels[mark.number]) for mark in seen.marks if mark.number in labels)
    except ValueError as problem:
        raise OfferError(f"candidates() offers a label that is none: {problem}.", OFFER_CURE) from problem


def _called(mark: Mark, label: str) -> Mark:
    """A mark under a label; itself where it has that one, since a board has hundreds of them."""
    return mark if mark.label == label else replace(mark, label=label)
