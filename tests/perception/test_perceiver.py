"""Frames to observations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.testing import FixedDetector, Frames, frame, marks
from perception.detect.base import Detected
from perception.errors import NotObservable, OfferError
from perception.geometry import Box
from perception.image import read_png, write_png
from perception.observation import Frame, GridCell, Mark, Observation
from perception.overlay import draw
from perception.perceiver import Perceiver
from perception.sensors import ColourShare, TemplateShown, Title


class Counting(FixedDetector):
    """Notes what it was shown; its copies note it in the same place."""

    shown: list[tuple[int, ...]]

    def __init__(self, labels: Mapping[int, str | None]) -> None:
        super().__init__(labels)
        self.shown = []

    def __deepcopy__(self, memo: object) -> "Counting":
        return self

    def detect(self, pixels: Any) -> Detected:
        self.shown.append(pixels.shape)
        return super().detect(pixels)


class Updated(Counting):
    """Is told where pixels changed."""

    def update(self, pixels: NDArray[np.uint8], dirty: Sequence[Box]) -> Detected:
        self.shown.append(tuple(box.left for box in dirty))
        return Detected(marks=marks({4: "new"}))


class Learner(FixedDetector):
    """Learns how often it was right; what it learned can be read on the screen alone."""

    def __init__(self) -> None:
        super().__init__({1: "none"})
        self.learned: list[str] = []

    def detect(self, pixels: object) -> Detected:
        return Detected(marks=marks({1: ",".join(self.learned) or "none"}))

    def confirmed(self, pixels: NDArray[np.uint8], mark: Mark) -> None:
        self.learned.append(f"{mark.number} at {pixels[0, 0, 0]}")


class Blind:
    """Finds nothing, ever."""

    def detect(self, pixels: object) -> Detected:
        raise NotObservable("Nothing here.", "Look elsewhere.")


def everything(seen: Observation) -> Mapping[int, str]:
    return {mark.number: f"m{mark.number}" for mark in seen.marks}


def test_unchanged_pixels_are_not_looked_at_again() -> None:
    detector = Counting({3: None, 5: None})
    perceiver = Perceiver(Frames([frame(10), frame(10), frame(11)]), detector, everything)
    assert [perceiver.observe().change.kind for _ in range(3)] == ["scene", "unchanged", "scene"]
    assert detector.shown == [(240, 320, 3)] * 2


def spotted(at: int, *, moving: bool = False) -> Frame:
    """A grey frame with a spot of one pixel in its first row."""
    even = frame(100)
    pixels = even.pixels.copy()
    pixels[0, at] = 7
    return replace(even, pixels=pixels, moving=moving)


def test_an_updating_detector_is_told_where_to_look() -> None:
    detector = Updated({3: "old"})
    perceiver = Perceiver(Frames([spotted(0), spotted(0), spotted(40), frame(9)]), detector, everything)
    assert [mark.number for _ in range(4) for mark in perceiver.observe().marks] == [3, 3, 4, 3]
    assert detector.shown == [(240, 320, 3), (0, 40), (240, 320, 3)]


def test_while_much_moves_only_what_stands_still_is_there() -> None:
    moving = replace(frame(9), moving=True)
    pixels = frame(100).pixels.copy()
    pixels[:, 48:] = 200  # the marks at 0, 16 and 32 stand still
    part = replace(frame(), pixels=pixels, moving=True)
    detector = Counting({1: "a", 2: "b", 3: "c", 5: "d"})
    perceiver = Perceiver(Frames([frame(100), part, moving, frame(9)]), detector, everything)
    seen = [perceiver.observe() for _ in range(4)]
    assert [s.change.kind for s in seen] == ["scene", "motion", "motion", "unchanged"]
    assert [[mark.number for mark in s.marks] for s in seen] == [[1, 2, 3, 5], [1, 2, 3], [], [1, 2, 3, 5]]
    assert len(detector.shown) == 2


def test_a_game_that_never_rests_is_looked_at_all_the_same() -> None:
    frames = [replace(frame(shade), moving=True) for shade in range(10, 110, 10)]
    perceiver = Perceiver(Frames(frames), FixedDetector({1: "a"}), everything)
    kinds = [perceiver.observe().change.kind for _ in frames]
    assert kinds == ["scene", "motion", "motion", "motion", "scene", "motion", "motion", "motion", "scene", "motion"]


def test_what_a_detector_learns_ends_with_the_run() -> None:
    declared = Learner()
    for _ in range(2):
        perceiver = Perceiver(Frames([frame(10), frame(11)]), declared, lambda seen: {1: str(seen.marks[0].label)})
        first = perceiver.observe()
        assert first.marks[0].label == "none"
        perceiver.confirmed(first, 1)
        assert perceiver.observe().marks[0].label == "1 at 10"


def test_equal_frames_share_their_pixels_and_their_digest() -> None:
    perceiver = Perceiver(Frames([frame(10), frame(10)]), FixedDetector({}), everything)
    first = perceiver.observe().frame
    digest = first.digest
    second = perceiver.observe().frame
    assert second.pixels is first.pixels
    assert vars(second)["digest"] == digest


def test_only_the_bots_marks_are_offered_under_its_labels() -> None:
    perceiver = Perceiver(Frames([frame()]), FixedDetector({3: "x", 5: "y"}), lambda seen: {5: "safe"})
    assert [(mark.number, mark.label) for mark in perceiver.observe().marks] == [(5, "safe")]


def test_a_mark_that_was_not_found_cannot_be_offered() -> None:
    perceiver = Perceiver(Frames([frame()]), FixedDetector({3: "x"}), lambda seen: {4: "safe"})
    with pytest.raises(OfferError, match=r"offers the marks \[4\]; the detector found \[3\]"):
        perceiver.observe()


@pytest.mark.parametrize("nonsense", [None, [3], {3: 7}, {"3": "x"}, {3: "\ud800"}, {3: "x" * 201}])
def test_labels_that_are_none(nonsense: Any) -> None:
    perceiver = Perceiver(Frames([frame()]), FixedDetector({3: "x"}), lambda seen: nonsense)
    with pytest.raises(OfferError, match="Return a label for some of"):
        perceiver.observe()


def test_a_detector_that_fails_leaves_its_frame_for_the_record() -> None:
    perceiver = Perceiver(Frames([frame(77)]), Blind(), everything)
    with pytest.raises(NotObservable) as failure:
        perceiver.observe()
    assert failure.value.frame is not None
    assert failure.value.frame.digest == frame(77).digest


def test_digests_name_pixels_and_shape() -> None:
    assert frame(9).digest == frame(9).digest != frame(8).digest
    assert frame(9, width=10, height=20).digest != frame(9, width=20, height=10).digest


@pytest.mark.parametrize(("column", "name"), [(0, "A1"), (25, "Z1"), (26, "AA1"), (701, "ZZ1"), (702, "AAA1")])
def test_cell_names(column: int, name: str) -> None:
    assert GridCell(number=1, row=0, column=column, box=Box(0, 0, 1, 1), kind=None).name == name


def test_the_overlay_shows_each_mark_and_leaves_the_frame_alone() -> None:
    seen = Perceiver(Frames([frame(200)]), FixedDetector({3: None, 5: None}), everything).observe()
    picture = draw(seen, chosen=5)
    assert picture.shape == (480, 640, 3)
    assert (seen.frame.pixels == 200).all()
    changed = (picture != 200).any(axis=2)
    assert changed[:32, :32].any()
    assert changed[:32, 32:64].all()  # the chosen one is filled
    assert not changed[40:, 80:].any()


def test_a_template_is_found_anywhere_and_only_when_it_is_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    glyphs = rng.integers(0, 255, (10, 40, 3), np.uint8)
    write_png(tmp_path / "glyphs.png", glyphs)
    assert (read_png(tmp_path / "glyphs.png") == glyphs).all()
    shown = TemplateShown(tmp_path / "glyphs.png")
    assert not shown(frame())
    scene = frame()
    scene.pixels[100:110, 33:73] = glyphs
    assert shown(scene)
    assert not shown(frame(width=20, height=5))


def test_pictures_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    for name in ("text.png", "empty.png"):
        with pytest.raises(OSError, match="expected an image, found something else"):
            read_png(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        TemplateShown(tmp_path / "missing.png")


@pytest.mark.parametrize("number", [0, -1])
def test_marks_are_numbered_from_one(number: int) -> None:
    with pytest.raises(ValueError, match="expected a mark's number from 1 on"):
        Mark(number=number, box=Box(0, 0, 1, 1))


def test_sensors_are_evaluated_at_every_look() -> None:
    grey = ColourShare("#646464")
    sensors = {"grey": grey, "was": grey.previous(), "title": Title()}
    moving = replace(frame(9), moving=True, title="Level 2")
    perceiver = Perceiver(Frames([frame(100), frame(100), moving]), FixedDetector({}), everything, sensors)
    assert [dict(perceiver.observe().sensors) for _ in range(3)] == [
        {"grey": 1.0, "was": None, "title": None},
        {"grey": 1.0, "was": 1.0, "title": None},
        {"grey": 0.0, "was": 1.0, "title": "Level 2"},
    ]


def test_what_was_there_before_a_blind_look_is_not_offered_in_motion() -> None:
    pixels = frame(100).pixels.copy()
    pixels[:, 48:] = 200
    part = replace(frame(), pixels=pixels, moving=True)

    class Once(FixedDetector):
        """Sees the first frame alone."""

        def detect(self, pixels: Any) -> Detected:
            if pixels[0, 0, 0] == 50:
                return super().detect(pixels)
            raise NotObservable("Nothing here.", "Look elsewhere.")

    perceiver = Perceiver(Frames([frame(50), frame(100), part]), Once({1: "a"}), everything)
    assert len(perceiver.observe().marks) == 1
    with pytest.raises(NotObservable):
        perceiver.observe()
    assert perceiver.observe().marks == ()
