"""Sessions: written, cut, damaged, read back, replayed."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.load import load_bot_by_name
from agent.session import writer
from agent.session.reader import Session, SessionError, open_session
from agent.session.records import SessionHeader, TickRecord
from agent.session.replay import Difference, replay
from agent.session.writer import SessionWriter
from agent.testing import frame
from perception.image import write_png

SESSIONS = Path("tests/sessions")
WON = SESSIONS / "mines-won"
HEADER = SessionHeader(
    onmark="0",
    dependencies={},
    bot="mines",
    model="m",
    seed=1,
    hz=2.0,
    started_utc="2026-01-01T00:00:00+00:00",
    tools={},
)


def replayed(folder: Path) -> tuple[int, Difference | None]:
    """How many ticks were replayed, and the first difference."""
    session = open_session(folder)
    results = list(replay(session, load_bot_by_name(session.header.bot, folder)))
    return len(results), results[-1]


@pytest.mark.parametrize("folder", sorted(SESSIONS.iterdir()), ids=lambda folder: folder.name)
def test_each_recorded_session_is_replayed_to_its_last_tick(folder: Path) -> None:
    session = open_session(folder)
    assert replayed(folder) == (len(session.ticks), None)
    frames = {path.stem for path in (folder / "frames").iterdir()}
    assert frames == {tick.frame.digest for tick in session.ticks if tick.frame}


def test_a_won_and_a_lost_game_are_kept() -> None:
    assert {open_session(folder).ticks[-1].result for folder in SESSIONS.iterdir()} == {"won", "lost"}


def test_a_tick_without_an_answer_is_replayed_as_one() -> None:
    session = open_session(SESSIONS / "mines-won")
    nothing: dict[str, Any] = {
        "attempts": [],
        "action": None,
        "target": None,
        "delivery": None,
        "unanswered": "timeout",
    }
    ticks = (*session.ticks[:2], session.ticks[2].model_copy(update=nothing))
    bot = load_bot_by_name(session.header.bot, SESSIONS / "mines-won")
    assert list(replay(replace(session, ticks=ticks), bot)) == [None] * 3


def other_kind(tick: dict[str, Any]) -> None:
    tick["kinds"][0] = "flag"


def lost_mark(tick: dict[str, Any]) -> None:
    tick["marks"].append({"number": 80, "box": [1, 2, 3, 4], "label": "safe"})


def moved_mark(tick: dict[str, Any]) -> None:
    tick["marks"][0]["box"][0] += 1


def renamed_mark(tick: dict[str, Any]) -> None:
    tick["marks"][0]["label"] = "mine"


def added_mark(tick: dict[str, Any]) -> None:
    del tick["marks"][0]


def other_grammar(tick: dict[str, Any]) -> None:
    tick["grammar"]["lark"] = "0" * 64


def ungrounded_reply(tick: dict[str, Any]) -> None:
    tick["attempts"][0]["text"] = '{"tool":"reveal","target":"safe","mark":40}'


def other_action(tick: dict[str, Any]) -> None:
    tick["action"] = '{"tool":"wait"}'


def point_off_by_one(tick: dict[str, Any]) -> None:
    tick["delivery"]["point"][1] += 1


def suppressed(tick: dict[str, Any]) -> None:
    tick["suppressed"] = [3]


def ended(tick: dict[str, Any]) -> None:
    tick["result"] = "won"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (other_kind, "tick 2, perception: kinds: recorded"),
        (lost_mark, "tick 2, perception: mark 80 is lost"),
        (added_mark, "tick 2, perception: mark 2 is added"),
        (moved_mark, "tick 2, perception: mark 2 moved: recorded (82, 74, 32, 32), found (81, 74, 32, 32)"),
        (renamed_mark, "tick 2, perception: mark 2 is called otherwise: recorded 'mine', found 'safe'"),
        (ended, "tick 2, result: result: recorded 'won', found None"),
        (suppressed, "tick 2, ladder: suppressed: recorded [3], found []"),
        (other_grammar, "tick 2, grammar: grammar: recorded"),
        (ungrounded_reply, "tick 2, verdict: attempts: recorded"),
        (other_action, "tick 2, decision: action: recorded"),
        (point_off_by_one, "tick 2, resolved point: delivery: recorded"),
    ],
)
def test_the_first_difference_is_named(tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str) -> None:
    folder = tmp_path / "session"
    shutil.copytree(WON, folder)
    lines = (folder / "ticks.jsonl").read_text().splitlines()
    tick = json.loads(lines[2])
    change(tick)
    lines[2] = json.dumps(tick)
    (folder / "ticks.jsonl").write_text("\n".join(lines) + "\n")
    done, difference = replayed(folder)
    assert done == 3
    assert str(difference).startswith(says)


def test_a_frame_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(WON, folder)
    first = open_session(folder).ticks[0].frame
    assert first is not None
    write_png(folder / "frames" / f"{first.digest}.png", frame().pixels)
    with pytest.raises(SessionError, match="expected pixels with that digest, found"):
        replayed(folder)
    (folder / "frames" / f"{first.digest}.png").write_bytes(b"")
    with pytest.raises(SessionError, match="expected a frame, found none that can be read"):
        replayed(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("digest", "../../../tmp/x"),
        ("digest", "A" * 64),
        ("digest", "a" * 64 + "\n"),
        ("client", [0, 0, 10**9, 1]),
        ("client", [0, 0, 1.0, 1]),
        ("scale", 0),
        ("scale", float("nan")),
        ("scale", "1.0"),
    ],
)
def test_values_that_no_session_holds_are_refused(tmp_path: Path, field: str, value: object) -> None:
    folder = tmp_path / "session"
    shutil.copytree(WON, folder)
    lines = (folder / "ticks.jsonl").read_text().splitlines()
    tick = json.loads(lines[0])
    tick["frame"][field] = value
    (folder / "ticks.jsonl").write_text("\n".join([json.dumps(tick), *lines[1:]]) + "\n")
    with pytest.raises(SessionError, match=rf"line 1: expected a tick, found .* at frame\.{field}|Invalid JSON"):
        open_session(folder)


def test_a_pipe_for_a_file_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(WON, folder)
    (folder / "ticks.jsonl").unlink()
    os.mkfifo(folder / "ticks.jsonl")
    with pytest.raises(SessionError, match=r"expected a session folder with ticks\.jsonl, found none"):
        open_session(folder)


def small_session(folder: Path) -> list[TickRecord]:
    """Three short ticks, written."""
    session = SessionWriter(folder, HEADER)
    records = [TickRecord(tick=i, times_ms={"tick": 1.5}) for i in range(3)]
    for i, record in enumerate(records):
        session.append(record, frame(i // 2))
    session.close()
    session.close()
    return records


def test_what_is_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures: list[Path] = []

    def write(path: Path, pixels: NDArray[np.uint8]) -> None:
        pictures.append(path)
        write_png(path, pixels)

    monkeypatch.setattr(writer, "write_png", write)
    records = small_session(tmp_path / "s")
    assert len(pictures) == 2  # an unchanged frame costs nothing
    session = open_session(tmp_path / "s")
    assert (session.header, list(session.ticks), session.cut) == (HEADER, records, False)


def test_a_session_that_was_cut_anywhere_in_its_last_line_is_readable(tmp_path: Path) -> None:
    records = small_session(tmp_path / "s")
    path = tmp_path / "s" / "ticks.jsonl"
    data = path.read_bytes()
    last = data.rfind(b"\n", 0, -1) + 1
    for end in range(last, len(data)):
        path.write_bytes(data[:end])
        session: Session = open_session(tmp_path / "s")
        assert list(session.ticks) == records[:2]
        assert session.cut is (end > last)


def test_damage_in_the_middle_is_named_by_line(tmp_path: Path) -> None:
    small_session(tmp_path / "s")
    path = tmp_path / "s" / "ticks.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    with pytest.raises(SessionError, match="line 2: expected a tick, found"):
        open_session(tmp_path / "s")
    path.write_text(lines[0] + lines[2])
    with pytest.raises(SessionError, match="line 2: expected tick 1, found tick 2"):
        open_session(tmp_path / "s")


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (None, "expected a session folder with session.json, found none"),
        ("{", "expected a session's header, found Invalid JSON"),
        ("[]", "expected a session's header, found Input should be an object"),
        ("[" * 100_000, "expected a session's header, found Invalid JSON"),
        ('{"version": 2}', "expected format version 1, found 2"),
        ('{"version": 1}', "expected a session's header, found Field required at onmark"),
    ],
)
def test_headers_that_are_none(tmp_path: Path, header: str | None, says: str) -> None:
    if header is not None:
        (tmp_path / "session.json").write_text(header)
    with pytest.raises(SessionError, match=says):
        open_session(tmp_path)


def test_a_session_never_overwrites(tmp_path: Path) -> None:
    small_session(tmp_path / "s")
    with pytest.raises(FileExistsError, match="expected an empty folder"):
        SessionWriter(tmp_path / "s", HEADER)


def test_a_disk_that_fails_is_said(tmp_path: Path) -> None:
    session = SessionWriter(tmp_path / "s", HEADER)
    shutil.rmtree(tmp_path / "s" / "frames")
    session.append(TickRecord(tick=0), frame())
    with pytest.raises(OSError, match="The session cannot be written"):
        session.close()


def test_a_session_can_name_an_example_never_a_path(tmp_path: Path) -> None:
    from agent.errors import WrongUse

    for name in ("../examples/mines", "./mines", "/etc/passwd", "mines/bot.py", "Mines", "nowhere", "", "mines\n"):
        with pytest.raises(WrongUse, match="--bot PATH"):
            load_bot_by_name(name, tmp_path)
