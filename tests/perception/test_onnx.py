"""Networks that compute boxes from pixels, written out as text: red and blue areas are found, in either layout."""

import copy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from perception.detect.conformance import check_detector
from perception.detect.onnx import Letterbox, Onnx
from perception.errors import MissingExtra, WrongModel
from perception.geometry import Box

Layout = Callable[[Path], Path]

RED, BLUE = (0, 0, 255), (255, 0, 0)  # BGR
INPUT = (384, 640)  # height, width

# Where one colour outweighs the other by half: first and last row and column, in input pixels, and if there is any.
AREA = """
  {c}_more = Sub ({c}, {other})
  {c}_at = Greater ({c}_more, half)
  {c}_mask = Cast <to = 1> ({c}_at)
  {c}_any = ReduceMax <axes = [1, 2, 3], keepdims = 0> ({c}_mask)
  {c}_by_column = ReduceMax <axes = [1, 2], keepdims = 0> ({c}_mask)
  {c}_by_row = ReduceMax <axes = [1, 3], keepdims = 0> ({c}_mask)
  {c}_x1 = ArgMax <axis = 1, keepdims = 0> ({c}_by_column)
  {c}_y1 = ArgMax <axis = 1, keepdims = 0> ({c}_by_row)
  {c}_x2 = ArgMax <axis = 1, keepdims = 0, select_last_index = 1> ({c}_by_column)
  {c}_y2 = ArgMax <axis = 1, keepdims = 0, select_last_index = 1> ({c}_by_row)
  {c}_left = Cast <to = 1> ({c}_x1)
  {c}_top = Cast <to = 1> ({c}_y1)
  {c}_x2f = Cast <to = 1> ({c}_x2)
  {c}_y2f = Cast <to = 1> ({c}_y2)
  {c}_right = Add ({c}_x2f, one)
  {c}_bottom = Add ({c}_y2f, one)
  {c}_score = Mul ({c}_any, sure)
"""
# (1, 2, 6): left, top, right, bottom, score, class.
CHOSEN = """
  r_row = Concat <axis = 0> (r_left, r_top, r_right, r_bottom, r_score, zero)
  b_row = Concat <axis = 0> (b_left, b_top, b_right, b_bottom, b_score, {blue})
  both = Concat <axis = 0> (r_row, b_row)
  boxes = Reshape (both, shape)
"""
# (1, 6, 4): each area twice, the second time a pixel wider and less sure.
MIDDLE = """
  {c}_sum_x = Add ({c}_left, {c}_right)
  {c}_sum_y = Add ({c}_top, {c}_bottom)
  {c}_x = Mul ({c}_sum_x, half)
  {c}_y = Mul ({c}_sum_y, half)
  {c}_w = Sub ({c}_right, {c}_left)
  {c}_h = Sub ({c}_bottom, {c}_top)
  {c}_wider = Add ({c}_w, one)
  {c}_less = Mul ({c}_score, sure)
"""
RAW = """
  flat = Concat <axis = 0> (r_x, r_x, b_x, b_x, r_y, r_y, b_y, b_y, r_wider, r_w, b_wider, b_w, r_h, r_h, b_h, b_h,
                            r_less, r_score, zero, zero, zero, zero, b_less, b_score)
  boxes = Reshape (flat, shape)
"""
MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
finds (float[1, 3, {height}, {width}] image) => (float[1, {rows}, {columns}] boxes)
<float[1] half = {{0.5}}, float[1] one = {{1.0}}, float[1] zero = {{0.0}}, float[1] minus = {{-1.0}},
 float[1] far = {{2000.0}}, float[1] sure = {{0.9}}, int64[3] shape = {{1, {rows}, {columns}}}>
{{
  r, g, b = Split <axis = 1> (image)
  {body}
}}
"""


def written(folder: Path, body: str, rows: int, columns: int, size: tuple[object, object] = INPUT) -> Path:
    """A network's file."""
    text = MODEL.format(height=size[0], width=size[1], rows=rows, columns=columns, body=body)
    path = folder / "finds.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


AREAS = AREA.format(c="r", other="b") + AREA.format(c="b", other="r")


def chosen(folder: Path, blue: str = "one", size: tuple[object, object] = INPUT) -> Path:
    return written(folder, AREAS + CHOSEN.format(blue=blue), 2, 6, size)


def raw(folder: Path, size: tuple[object, object] = INPUT) -> Path:
    return written(folder, AREAS + MIDDLE.format(c="r") + MIDDLE.format(c="b") + RAW, 6, 4, size)


def frame(shape: tuple[int, int], **areas: Box) -> NDArray[np.uint8]:
    """A grey frame with a red and a blue area."""
    pixels = np.full((*shape, 3), 90, np.uint8)
    for name, box in areas.items():
        pixels[box.top : box.bottom, box.left : box.right] = RED if name == "red" else BLUE
    return pixels


def near(one: Box, other: Box, by: int) -> bool:
    """True when no edge is farther than ``by`` pixels from the other's."""
    edges = ((box.left, box.top, box.right, box.bottom) for box in (one, other))
    return all(abs(a - b) <= by for a, b in zip(*edges, strict=True))


@pytest.mark.parametrize("layout", [chosen, raw])
@pytest.mark.parametrize("shape", [(384, 640), (446, 384), (300, 900), (700, 120), (96, 160)])
def test_objects_are_found_where_they_are(tmp_path: Path, layout: Layout, shape: tuple[int, int]) -> None:
    height, width = shape
    red = Box(width // 8, height // 8, width // 4, height // 5)
    blue = Box(width // 2, height // 2, width // 3, height // 3)
    marks = Onnx(layout(tmp_path), ["red", "blue"]).detect(frame(shape, red=red, blue=blue)).marks
    assert [(mark.number, mark.label) for mark in marks] == [(1, "red"), (2, "blue")]
    assert near(marks[0].box, red, by=2), marks[0].box
    assert near(marks[1].box, blue, by=2), marks[1].box


@pytest.mark.parametrize("layout", [chosen, raw])
def test_the_contract_is_kept(tmp_path: Path, layout: Layout) -> None:
    frames = [
        frame((300, 400)),
        frame((300, 400), red=Box(0, 0, 400, 300)),
        frame((300, 400), blue=Box(396, 290, 4, 10)),
    ]
    found = check_detector(Onnx(layout(tmp_path), ["red", "blue"]), frames)
    assert [[mark.label for mark in one.marks] for one in found] == [[], ["red"], ["blue"], [], []]


def test_of_like_boxes_of_one_class_the_surest_is_taken(tmp_path: Path) -> None:
    areas = {"red": Box(100, 100, 200, 120), "blue": Box(110, 105, 180, 110)}  # they overlap by 0.8
    marks = Onnx(raw(tmp_path), ["red", "blue"]).detect(frame(INPUT, **areas)).marks
    assert {mark.label: mark.box for mark in marks} == areas  # the less sure boxes are a pixel wider
    apart = Onnx(raw(tmp_path), ["red", "blue"], overlap=0.999).detect(frame(INPUT, **areas)).marks
    assert [mark.label for mark in apart].count("red") == 2


def test_objects_below_the_floor_are_left_out(tmp_path: Path) -> None:
    pixels = frame(INPUT, red=Box(100, 100, 200, 120))
    for layout in (chosen, raw):
        assert len(Onnx(layout(tmp_path), ["red", "blue"], floor=0.89).detect(pixels).marks) == 1
        assert len(Onnx(layout(tmp_path), ["red", "blue"], floor=0.91).detect(pixels).marks) == 0


def test_a_size_that_the_model_leaves_open(tmp_path: Path) -> None:
    path = chosen(tmp_path, size=("rows", "columns"))
    with pytest.raises(WrongModel, match=r"leaves its input's size open: .* Give it: size=640"):
        Onnx(path, ["red", "blue"])
    red = Box(40, 30, 50, 60)
    for size in (256, (384, 512)):
        (mark,) = Onnx(path, ["red", "blue"], size=size).detect(frame((240, 320), red=red)).marks
        assert near(mark.box, red, by=2)
    with pytest.raises(WrongModel, match=r"input of \(256, 256\) .* found \(384, 640\)\. Leave size out"):
        Onnx(chosen(tmp_path), ["red", "blue"], size=256)
    assert Onnx(chosen(tmp_path), ["red", "blue"], size=INPUT).size == INPUT


def test_copies_share_the_network(tmp_path: Path) -> None:
    detector = Onnx(chosen(tmp_path), ["red", "blue"])
    other = copy.deepcopy(detector)
    assert other is not detector
    assert other._network is detector._network


def test_labels_must_be_as_many_as_classes(tmp_path: Path) -> None:
    with pytest.raises(WrongModel, match=r"output of shape \(1, 7, boxes\), 4 and 3 labels, .*found \(1, 6, 4\)"):
        Onnx(raw(tmp_path), ["red", "blue", "green"])
    detector = Onnx(chosen(tmp_path), ["red"])
    assert len(detector.detect(frame(INPUT, red=Box(9, 9, 50, 50))).marks) == 1
    with pytest.raises(WrongModel, match=r"Expected classes 0 to 0 from .*, found \[1\]"):
        detector.detect(frame(INPUT, blue=Box(9, 9, 50, 50)))
    with pytest.raises(WrongModel, match=r"found \[-1\]"):
        Onnx(chosen(tmp_path, blue="minus"), ["red"]).detect(frame(INPUT, blue=Box(9, 9, 50, 50)))


def test_outputs_that_are_no_boxes(tmp_path: Path) -> None:
    body = "boxes = Reshape (zero, shape)"
    with pytest.raises(WrongModel, match=r"found \(1, 1, 1\)"):
        Onnx(written(tmp_path, body, 1, 1), ["red"])
    path = written(tmp_path, "boxes = Reshape (zero, shape)", 2, 6)
    with pytest.raises(WrongModel, match=r"fails on an input of shape \(1, 3, 384, 640\): "):
        Onnx(path, ["red"])


@pytest.mark.parametrize("row", ["nan, zero, one, one, one, zero", "zero, zero, one, one, nan, zero"])
def test_numbers_that_are_none_are_no_objects(tmp_path: Path, row: str) -> None:
    assert boxes_for(tmp_path, row) == []
    assert boxes_for(tmp_path, "zero, zero, one, one, one, nan") == []


def test_boxes_are_clipped_to_the_frame_and_empty_ones_left_out(tmp_path: Path) -> None:
    assert boxes_for(tmp_path, "minus, minus, far, one, one, zero") == [Box(0, 0, 640, 1)]
    assert boxes_for(tmp_path, "minus, minus, zero, one, one, zero") == []
    assert boxes_for(tmp_path, "far, zero, far, one, one, zero") == []


def boxes_for(folder: Path, row: str) -> list[Box]:
    """What is found in a frame of the input's size when the network says one row of numbers."""
    body = f"nan = Div (zero, zero)\n row = Concat <axis = 0> ({row})\n boxes = Reshape (row, shape)"
    return [mark.box for mark in Onnx(written(folder, body, 1, 6), ["red"]).detect(frame(INPUT)).marks]


def test_the_input_is_rgb_from_0_to_1_with_grey_bars() -> None:
    pixels = np.full((10, 20, 3), (0, 51, 255), np.uint8)  # BGR
    image = Letterbox.of((10, 20), (40, 40)).filled(pixels, (40, 40))
    assert (image.shape, str(image.dtype), image.flags["C_CONTIGUOUS"]) == ((1, 3, 40, 40), "float32", True)
    assert np.allclose(image[0, :, 20, 20], (1, 0.2, 0))
    assert np.allclose(image[0, :, [0, 9, 30, 39]], 114 / 255)
    assert np.allclose(image[0, :, [10, 29], 5], (1, 0.2, 0))


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(WrongModel, match=rf"Expected a network at {tmp_path}/none\.onnx, found no file"):
        Onnx(tmp_path / "none.onnx", ["red"])
    (tmp_path / "text.onnx").write_text("no network")
    with pytest.raises(WrongModel, match=r"Expected a network in ONNX form at .*text\.onnx, found none: "):
        Onnx(str(tmp_path / "text.onnx"), ["red"])


@pytest.mark.parametrize("shape", ["[3, 8, 8]", "[1, 1, 8, 8]"])
def test_inputs_that_are_no_images(tmp_path: Path, shape: str) -> None:
    text = f'<ir_version: 8, opset_import: ["" : 17]>\nfinds (float{shape} image) => (float{shape} boxes) '
    onnx.save(onnx.parser.parse_model(text + "{ boxes = Identity (image) }"), tmp_path / "other.onnx")
    with pytest.raises(WrongModel, match=r"Expected an input of shape \(1, 3, height, width\) from .*, found \["):
        Onnx(tmp_path / "other.onnx", ["red"])


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"not installed\. Install it: pip install 'onmark\[onnx\]'"):
        Onnx(chosen(tmp_path), ["red", "blue"])
