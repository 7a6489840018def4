"""Several detectors as one, and looking again where pixels changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perception.detect.base import Detected
from perception.detect.cells import MOST_KINDS, CellKinds
from perception.detect.colour import Colour
from perception.detect.conformance import check_detector
from perception.detect.fusion import Fusion, distinct, named
from perception.detect.lattice import Lattice
from perception.detect.local import redetect
from perception.detect.regions import Regions
from perception.detect.templates import Templates
from perception.errors import NotObservable
from perception.geometry import Box
from perception.marks import numbered
from perception.observation import Mark
from tests.perception.detect.test_lattice import board
from tests.perception.drawn import button, screen

INK = {"ink": "#505050"}
A, B, C = Box(20, 20, 60, 24), Box(120, 20, 60, 24), Box(20, 100, 60, 24)


class Finds:
    """Finds what it is told to, and learns what was confirmed."""

    def __init__(self, found: Mapping[Box, str | None]) -> None:
        self.found = dict(found)
        self.learned: list[int] = []

    def detect(self, pixels: Any) -> Detected:
        return Detected(marks=numbered(self.found.items()))

    def confirmed(self, pixels: Any, mark: Mark) -> None:
        self.learned.append(mark.number)


class Reads(Finds):
    """Finds texts."""

    reads_text = True


class Sees:
    """Sees nothing."""

    def __init__(self, what: str) -> None:
        self.what = what

    def detect(self, pixels: Any) -> Detected:
        raise NotObservable(f"No {self.what}.", "")


def labels(found: Detected) -> dict[int, tuple[Box, str | None]]:
    return {mark.number: (mark.box, mark.label) for mark in found.marks}


def test_what_two_found_is_one_mark_the_more_trusted_ones() -> None:
    shifted = A.moved(2, 1)
    fusion = Fusion(Finds({A: "start"}), Finds({shifted: "stop", B: "quit"}))
    assert labels(fusion.detect(screen())) == {1: (A, "start"), 2: (B, "quit")}


def test_a_label_is_taken_over_where_the_more_trusted_one_has_none() -> None:
    fusion = Fusion(Finds({A: None}), Finds({A.moved(2, 1): "stop"}))
    assert labels(fusion.detect(screen())) == {1: (A, "stop")}


def test_a_text_inside_a_shape_is_its_label() -> None:
    words = {Box(25, 25, 20, 10): "New", Box(48, 25, 28, 10): "Game", Box(200, 200, 40, 10): "Score"}
    fusion = Fusion(Finds({A: None, B: None}), Reads(words))
    assert labels(fusion.detect(screen())) == {
        1: (A, "New Game"),
        2: (B, None),
        3: (Box(200, 200, 40, 10), "Score"),
    }


def test_a_shape_that_holds_shapes_takes_no_text() -> None:
    panel = Box(5, 5, 300, 200)
    fusion = Fusion(Finds({panel: None, A: None}), Reads({Box(200, 150, 40, 10): "Score"}))
    assert [mark.label for mark in fusion.detect(screen()).marks] == [None, None, "Score"]


def test_marks_are_clipped_and_empty_ones_are_none() -> None:
    fusion = Fusion(Finds({Box(390, 10, 40, 20): "edge", Box(500, 10, 9, 9): "outside"}))
    assert labels(fusion.detect(screen())) == {1: (Box(390, 10, 10, 20), "edge")}


def test_what_stays_when_there_are_too_many() -> None:
    few = Fusion(Finds({C: None}), Finds({A: None, B: "quit"}), most=2)
    found = few.detect(screen())
    assert {mark.box for mark in found.marks} == {C, B}
    assert found.left_out == 1


def test_numbers_are_stable_or_in_reading_order_with_a_stable_id() -> None:
    for numbering in ("stable", "reading"):
        finds = Finds({B: "quit", C: "menu"})
        fusion = Fusion(finds, numbering=numbering)
        fusion.detect(screen(B, C))
        finds.found = {A: "start", **finds.found}
        marks = fusion.detect(screen(A, B, C)).marks
        keys = {mark.label: mark.key for mark in marks}
        numbers = {mark.label: mark.number for mark in marks}
        assert keys == {"quit": 1, "menu": 2, "start": 3}
        assert numbers == (keys if numbering == "stable" else {"start": 1, "quit": 2, "menu": 3})


def test_a_board_and_what_is_beside_it() -> None:
    pixels = board(3, 3, 30, left=31, top=80)
    button(pixels, Box(40, 10, 60, 24))
    found = Fusion(Lattice(rows=3, columns=3), Regions()).detect(pixels)
    assert len(found.cells) == 9
    assert len(found.marks) == 10
    for cell in found.cells:
        assert next(mark for mark in found.marks if mark.number == cell.number).box == cell.box


def test_what_lies_in_a_cell_is_the_cell_and_a_text_there_its_label() -> None:
    pixels = board(3, 3, 30)
    cells = Lattice(rows=3, columns=3).detect(pixels).cells
    coin = Box(cells[4].box.left, cells[4].box.top, 12, 12)
    found = Fusion(Lattice(rows=3, columns=3), Finds({coin: "coin"}), Reads({coin: "64"})).detect(pixels)
    assert len(found.marks) == 9
    assert [mark.label for mark in found.marks] == ["A1", "B1", "C1", "A2", "64", "C2", "A3", "B3", "C3"]


def test_what_a_more_trusted_detector_finds_over_a_board_stays() -> None:
    pixels = board(3, 3, 30)
    cross = Box(40, 30, 12, 12)
    found = Fusion(Finds({cross: "close"}), Lattice(rows=3, columns=3)).detect(pixels)
    assert len(found.marks) == 10
    assert ("close", cross) in {(mark.label, mark.box) for mark in found.marks}


def test_what_one_of_several_misses_is_told() -> None:
    found = Fusion(Lattice(rows=9, columns=9), Finds({A: "start"})).detect(screen(A))
    assert "Expected a board of 9 rows and 9 columns" in found.unseen[0]


def test_a_frame_round_a_board_takes_nothing_from_it() -> None:
    pixels = board(3, 3, 30)
    frame = Box(28, 14, 100, 100)
    found = Fusion(Lattice(rows=3, columns=3), Finds({frame: None})).detect(pixels)
    assert len(found.marks) == 10


def test_who_sees_nothing_is_passed_over_unless_nobody_does() -> None:
    assert labels(Fusion(Sees("board"), Finds({A: "start"})).detect(screen())) == {1: (A, "start")}
    with pytest.raises(NotObservable, match=r"No board\."):
        Fusion(Sees("board"), Sees("text")).detect(screen())
    with pytest.raises(ValueError, match="at least one detector"):
        Fusion()


def test_what_is_confirmed_is_handed_on() -> None:
    finds = Finds({A: "start"})
    mark = Fusion(finds).detect(screen()).marks[0]
    Fusion(Regions(), finds).confirmed(screen(), mark)
    assert finds.learned == [1]


def test_distinct_and_named_of_nothing() -> None:
    assert distinct([[], []]) == [[], []]
    assert named([[], []], [False, True]) == [[], []]


class Seen(Colour):
    """Notes how many pixels it is shown; its copies note it in the same place."""

    def __init__(self) -> None:
        super().__init__(INK)
        self.pixels: list[int] = []

    def __deepcopy__(self, memo: object) -> "Seen":
        return self

    def detect_part(self, pixels: NDArray[np.uint8], part: Box) -> list[Mark]:
        self.pixels.append(part.area)
        return super().detect_part(pixels, part)


def inked(*boxes: Box, shade: int = 80) -> NDArray[np.uint8]:
    """An even ground with even patches."""
    pixels = screen()
    for box in boxes:
        pixels[box.top : box.bottom, box.left : box.right] = shade
    return pixels


def test_a_local_detector_is_shown_the_changed_part_alone() -> None:
    detector = Seen()
    fusion = Fusion(detector)
    fusion.detect(inked(A, B))
    found = fusion.update(inked(A, B, C), [Box(16, 96, 64, 32)])
    assert detector.pixels == [120_000, (64 + 6) * (32 + 6)]
    assert [mark.number for mark in found.marks] == [1, 2, 3]


places = st.sampled_from([Box(x, y, 44, 30) for y in range(10, 260, 50) for x in range(10, 350, 60)])


@settings(max_examples=60, deadline=None)
@given(before=st.sets(places, max_size=12), after=st.sets(places, max_size=12), cut=st.integers(0, 43))
def test_looking_again_finds_what_a_whole_look_finds(before: set[Box], after: set[Box], cut: int) -> None:
    """Patches come and go, and of those that stay a stripe changes its colour."""
    old, new = inked(*before), inked(*after)
    dirty = list(before ^ after)
    for box in before & after:
        stripe = Box(box.left, box.top, cut, box.height)
        if cut:
            new[stripe.top : stripe.bottom, stripe.left : stripe.right] = 160
            dirty.append(stripe)
    again = redetect(Colour(INK), new, Colour(INK).detect(old), dirty)
    assert [mark.box for mark in again.marks] == [mark.box for mark in Colour(INK).detect(new).marks]


@settings(max_examples=60, deadline=None)
@given(before=st.sets(places, max_size=12), after=st.sets(places, max_size=12), cut=st.integers(0, 40))
def test_shapes_are_looked_for_again_where_something_changed(before: set[Box], after: set[Box], cut: int) -> None:
    """Buttons come and go, and of those that stay a part of the face changes its shade."""
    old, new = screen(*before), screen(*after)
    dirty = list(before ^ after)
    for box in before & after:
        if cut > 2:
            stripe = Box(box.left, box.top, cut, box.height)
            button(new, stripe, 90)
            dirty.append(stripe)
    again = redetect(Regions(), new, Regions().detect(old), dirty)
    assert [mark.box for mark in again.marks] == [mark.box for mark in Regions().detect(new).marks]


@settings(max_examples=30, deadline=None)
@given(before=st.sets(places, max_size=8), after=st.sets(places, max_size=8))
def test_pictures_are_looked_for_again_where_something_changed(before: set[Box], after: set[Box]) -> None:
    old, new = screen(*before), screen(*after)
    picture = screen(Box(2, 2, 44, 30))[:34, :48]
    templates = Templates({"button": picture})
    again = redetect(templates, new, templates.detect(old), list(before ^ after))
    assert [mark.box for mark in again.marks] == [mark.box for mark in templates.detect(new).marks]
    assert len(again.marks) == len(after)


def test_a_board_names_the_changed_cells_anew() -> None:
    first = board(3, 4, 30)
    second = first.copy()
    second[17 + 38 : 17 + 50, 31 + 68 : 31 + 74] = (255, 0, 0)  # row 1, column 2
    lattice = Lattice(rows=3, columns=4, kinds={"blue": "#0000ff"})
    lattice.detect(first)
    found = lattice.update(second, [Box(96, 48, 16, 32)])
    assert {cell.name for cell in found.cells if cell.kind} == {"C2"}
    assert lattice.update(first, [Box(96, 48, 16, 32)]) == Lattice(rows=3, columns=4).detect(first)


def test_a_board_that_changes_by_half_is_looked_for_anew() -> None:
    lattice = Lattice(rows=3, columns=4)
    lattice.detect(board(3, 4, 30))
    with pytest.raises(NotObservable):
        lattice.update(screen(), [Box(0, 0, 400, 300)])


def test_a_board_that_was_lost_is_not_where_it_was() -> None:
    lattice = Lattice(rows=3, columns=4)
    eyes = Fusion(lattice, Regions())
    eyes.detect(board(3, 4, 30))
    assert eyes.detect(screen(A, B)).cells == ()
    spot = screen(A, B)
    spot[200, 200] = 0
    assert eyes.update(spot, [Box(192, 192, 16, 16)]).cells == ()
    assert len(eyes.update(board(3, 4, 30), [Box(0, 0, 16, 16)]).cells) == 12


def test_any_board() -> None:
    found = Lattice().detect(board(7, 5, 24))
    assert [cell.name for cell in found.cells][-1] == "E7"
    assert len(Lattice(columns=5).detect(board(7, 5, 24)).cells) == 35
    with pytest.raises(NotObservable, match=r"any number of rows and 6 columns, found 35 .* 7 rows and 5 columns"):
        Lattice(columns=6).detect(board(7, 5, 24))
    with pytest.raises(NotObservable):
        Lattice().detect(screen(A, B))


def test_cells_that_are_not_seen_are_filled_in() -> None:
    pixels = board(5, 5, 30)
    rng = np.random.default_rng(1)
    for row, column in ((1, 1), (3, 2), (4, 4)):
        y, x = 17 + row * 30 + 2, 31 + column * 30 + 2
        pixels[y : y + 26, x : x + 26] = rng.integers(0, 256, (26, 26, 3))
    assert len(Lattice().detect(pixels).cells) == 25


def test_kinds_by_pictures(tmp_path: Any) -> None:
    pixels = board(3, 4, 30)
    pixels[17 + 8 : 17 + 20, 31 + 8 : 31 + 14] = (255, 0, 0)
    pixels[17 + 38 : 17 + 50, 31 + 68 : 31 + 74] = (255, 0, 0)
    kinds = CellKinds()
    found = Lattice(kinds=kinds).detect(pixels)
    assert [cell.kind for cell in found.cells][:3] == ["kind 1", "kind 2", "kind 2"]
    assert found.cells[6].kind == "kind 1"
    saved = kinds.save(tmp_path / "kinds")
    saved[0].rename(saved[0].with_name("flag.png"))
    again = Lattice(kinds=CellKinds(tmp_path / "kinds", learn=False)).detect(pixels)
    assert [cell.kind for cell in again.cells][:2] == ["flag", "kind 2"]
    pixels[17 + 68 : 17 + 80, 31 + 8 : 31 + 14] = (0, 255, 0)
    again = Lattice(kinds=CellKinds(tmp_path / "kinds", learn=False)).detect(pixels)
    assert again.cells[8].kind is None


def test_pictures_that_differ_by_a_pixel_of_rounding_are_of_one_kind() -> None:
    kinds = CellKinds()
    patch = np.full((30, 30, 3), 200, np.uint8)
    patch[10:20, 10:20] = 40
    assert kinds.kind(patch) == "kind 1"
    assert kinds.kind(patch[:-1, :-1]) == "kind 1"
    assert kinds.kind(patch[1:, 1:]) == "kind 1"
    other = patch.copy()
    other[10:20, 10:20] = 200
    assert kinds.kind(other) == "kind 2"
    assert kinds.kind(np.full((50, 50, 3), 200, np.uint8)) == "kind 3"


def test_the_contract() -> None:
    fusion = Fusion(Lattice(), Colour({"blue": "#0000ff"}), Regions())
    check_detector(fusion, [screen(A, B), screen(A, B, C), board(3, 3, 30), board(3, 3, 30), screen()])


def test_ladder_keys() -> None:
    mark = Mark(number=3, box=A)
    assert mark.key == 3
    assert replace(mark, id=9).key == 9


def test_an_outline_that_closes_and_a_bar_that_grows_are_found() -> None:
    """The change alone is a part of what came to be."""
    old = screen(Box(100, 100, 120, 40))
    old[112:118, 219] = 230
    new = screen(Box(100, 100, 120, 40))
    eyes = Fusion(Regions())
    eyes.detect(old)
    assert [mark.box for mark in eyes.update(new, [Box(208, 112, 16, 16)]).marks] == [
        mark.box for mark in Regions().detect(new).marks
    ]
    bar = Colour(INK, smallest=300)
    short, long = inked(Box(20, 100, 27, 8)), inked(Box(20, 100, 42, 8))
    assert [m.box for m in redetect(bar, long, bar.detect(short), [Box(47, 100, 15, 8)]).marks] == [Box(20, 100, 42, 8)]


def test_learned_kinds_take_no_name_that_is_given(tmp_path: Any) -> None:
    rng = np.random.default_rng(4)
    cells = [rng.integers(0, 256, (30, 30, 3), np.uint8) for _ in range(4)]
    learned = CellKinds()
    assert [learned.kind(cell) for cell in cells[:2]] == ["kind 1", "kind 2"]
    learned.save(tmp_path)
    (tmp_path / "kind 1.png").rename(tmp_path / "mine.png")
    again = CellKinds(tmp_path)
    assert [again.kind(cells[i]) for i in (3, 2, 0, 1)] == ["kind 1", "kind 3", "mine", "kind 2"]


def test_kinds_are_not_learned_without_end() -> None:
    kinds = CellKinds()
    rng = np.random.default_rng(5)
    named = [kinds.kind(rng.integers(0, 256, (20, 20, 3), np.uint8)) for _ in range(MOST_KINDS + 20)]
    assert named[-1] is None
    assert len(set(named)) == MOST_KINDS + 1


def test_there_is_no_board_in_noise() -> None:
    rng = np.random.default_rng(6)
    for _ in range(4):
        with pytest.raises(NotObservable):
            Lattice().detect(rng.integers(0, 256, (600, 800, 3), np.uint8))


def test_a_texture_is_bounded() -> None:
    pixels = np.full((800, 1280, 3), 230, np.uint8)
    pixels[::14] = 40
    pixels[:, ::14] = 40
    assert len(Regions(smallest=8).detect(pixels).marks) == 1000


@pytest.mark.parametrize("kind", [CellKinds, Templates])
def test_a_folder_that_is_not_there_is_said(kind: Any, tmp_path: Any) -> None:
    with pytest.raises(NotADirectoryError, match="expected a folder of PNGs"):
        kind(tmp_path / "nowhere")
