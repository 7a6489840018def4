"""Observe: window state -> capture -> cells and marks. One call a tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from perception.detect.base import Detected, Detector
from perception.errors import NotObservable, OfferError
from perception.observation import Frame, Mark, Observation

OFFER_CURE = "Return a label for some of seen.marks: {mark.number: 'name'}."

Candidates = Callable[[Observation], Mapping[int, str]]
"""A bot's choice of the marks to offer: number -> label."""


class FrameSource(Protocol):
    """Where frames come from: a live window, or a recording. Called once a tick from the scheduler's thread."""

    def grab(self) -> Frame:
        """The next frame; may raise ``NotObservable`` and its kin."""
        ...


class Perceiver:
    """Turns frames into observations, looking again only when pixels changed.

    Args:
        source: where frames come from.
        detector: what finds cells and marks.
        candidates: which marks to offer and what to call them.
    """

    def __init__(self, source: FrameSource, detector: Detector, candidates: Candidates) -> None:
        self._source = source
        self._detector = detector
        self._candidates = candidates
        self._last: tuple[str, Detected] | None = None

    def observe(self) -> Observation:
        """Look once.

        Raises:
            NotObservable: the window shows nothing that could be trusted.
            OfferError: the bot offers what is not there.
            DisplayUnavailable: the X server is gone.
        """
        frame = self._source.grab()
        changed = self._last is None or self._last[0] != frame.digest
        if self._last is None or changed:
            self._last = (frame.digest, self._detect(frame))
        found = self._last[1]
        seen = Observation(frame=frame, cells=found.cells, marks=found.marks, changed=changed)
        return replace(seen, marks=_offered(seen, self._candidates(seen)))

    def _detect(self, frame: Frame) -> Detected:
        try:
            return self._detector.detect(frame.pixels)
        except NotObservable as problem:
            problem.frame = frame
            raise


def _offered(seen: Observation, labels: Mapping[int, str]) -> tuple[Mark, ...]:
    """The marks that the bot offers, under its labels."""
    known = {mark.number for mark in seen.marks}
    if not isinstance(labels, Mapping) or not all(isinstance(label, str) for label in labels.values()):
        raise OfferError(f"Expected candidates() to return numbers and their labels, found {labels!r}.", OFFER_CURE)
    strange = [number for number in labels if number not in known]
    if strange:
        raise OfferError(f"candidates() offers the marks {strange}; the detector found {sorted(known)}.", OFFER_CURE)
    try:
        return tuple(replace(mark, label=labels[mark.number]) for mark in seen.marks if mark.number in labels)
    except ValueError as problem:
        raise OfferError(f"candidates() offers a label that is none: {problem}.", OFFER_CURE) from problem
