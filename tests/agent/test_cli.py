"""The command line as a user meets it: real processes, a real game, and each thing that can be missing."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from agent.session.reader import open_session
from perception.window import Desktop
from tests.victim import victim

QUICK = ["--model", "scripted", "--hz", "8"]


def environment(**changes: str | None) -> dict[str, str]:
    """This environment, without a display, with changes; None takes a variable away."""
    values = {**os.environ, "DISPLAY": None, **changes}
    return {name: value for name, value in values.items() if value is not None}


def onmark(*words: str, **changes: str | None) -> tuple[int, str]:
    """Exit code, and all that was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "agent", *words],
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def bot_file(folder: Path, **game: str) -> str:
    """A bot that plays with victim windows."""
    fields = ", ".join(f"{name}={value}" for name, value in game.items())
    path = folder / "bot.py"
    path.write_text(
        dedent(f"""
        from actuation import Click, Wait
        from agent import Bot, Game
        from perception.detect.lattice import Lattice

        class Small(Bot):
            name = "small"
            game = Game({fields})
            detector = Lattice(rows=2, columns=2)
            tools = (Click, Wait)
            goal = "click"
            def script(self, seen):
                return Wait()
        """)
    )
    return str(path)


def one_message(output: str) -> str:
    """The only line that starts with the program's name; there is no traceback."""
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("onmark: ")]
    assert len(lines) == 1, output
    return lines[0]


def test_both_names_are_one_command() -> None:
    script = subprocess.run(
        [Path(sys.executable).parent / "onmark", "--help"], capture_output=True, text=True, check=True
    )
    assert onmark("--help") == (0, script.stdout)


@pytest.mark.parametrize("command", [("run",), ("replay",), ("eval",), ("model", "fetch")])
def test_each_command_has_help_with_an_example(command: tuple[str, ...]) -> None:
    code, output = onmark(*command, "--help")
    assert code == 0
    assert re.search(r"Example:\s+onmark " + " ".join(command), output)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "examples/mine"), "found nothing at examples/mine. Did you mean examples/mines?"),
        (("run", "examples/mines", "--model", "script"), "found 'script'. Did you mean scripted?"),
        (("run", "examples/mines", "--display", "mine"), "Expected --display auto or own, found 'mine'."),
        (("eval", "examples/mines", "--seeds", "one"), "Expected seeds such as 1-10 or 1,4,7, found 'one'."),
        (("replay", "examples"), "expected a session folder with session.json, found none"),
    ],
)
def test_wrong_use_is_exit_2_with_a_hint(words: tuple[str, ...], says: str) -> None:
    code, output = onmark(*words)
    assert says in one_message(output)
    assert code == 2


def test_a_rate_that_makes_no_sense_is_exit_2_before_anything_starts() -> None:
    code, output = onmark("run", "examples/mines", "--hz", "0")
    assert (code, "--hz" in output) == (2, True)


def test_a_missing_game_names_its_package(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, title="'X'", command="('no-such-game',)", package="'sgt-puzzles'")
    code, output = onmark("run", bot, *QUICK)
    assert one_message(output) == "onmark: no-such-game is not installed. Install it: apt-get install sgt-puzzles"
    assert code == 3


def test_a_game_that_ends_at_once_says_why(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, title="'X'", command="('sgt-mines', 'nonsense')")
    code, output = onmark("run", bot, *QUICK)
    assert (
        "The game sgt-mines ended with code 1 before its window appeared: /usr/games/sgt-mines: Supplied"
        in one_message(output)
    )
    assert code == 3


def test_a_dead_display_says_how_to_go_on() -> None:
    code, output = onmark("run", "examples/mines", *QUICK, DISPLAY=":987")
    assert "No X display answers" in one_message(output)
    assert "unset it and let onmark start its own" in output
    assert code == 3


def test_no_display_and_no_xvfb_names_the_package(tmp_path: Path) -> None:
    code, output = onmark("run", "examples/mines", *QUICK, PATH=str(tmp_path))
    assert one_message(output) == "onmark: Xvfb is not installed. Install it: apt-get install xvfb"
    assert code == 3


def test_missing_weights_say_how_to_get_them(tmp_path: Path) -> None:
    code, output = onmark("run", "examples/mines", ONMARK_CACHE=str(tmp_path))
    assert "onmark model fetch" in one_message(output)
    assert code == 3


def test_a_window_that_never_appears_is_named(own_display: str, tmp_path: Path) -> None:
    bot = bot_file(tmp_path, title="'Mines'")
    code, output = onmark("run", bot, *QUICK, DISPLAY=own_display)
    assert "Expected a window titled 'Mines', found" in one_message(output)
    assert code == 3


@contextmanager
def playing(session: Path, display: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Mines being played on a display, a few ticks in."""
    command = [sys.executable, "-m", "agent", "run", "examples/mines", "--session", str(session), *words]
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],  # as from the background of a script
        env=environment(DISPLAY=display),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        await_ticks(session, 2)
        yield process
    finally:
        process.kill()
        process.communicate()


def await_ticks(session: Path, n: int) -> None:
    path = session / "ticks.jsonl"
    for _ in range(600):
        if path.exists() and path.read_bytes().count(b"\n") >= n:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {n} ticks within 30 s")


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=60)
    assert "Traceback" not in output
    return process.returncode, output


def test_a_display_that_dies_ends_the_run_with_its_report(tmp_path: Path) -> None:
    session = tmp_path / "session"
    command = [sys.executable, "-m", "agent", "run", "examples/mines", *QUICK, "--session", str(session)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    await_ticks(session, 2)
    subprocess.run(["pkill", "-KILL", "-P", str(process.pid), "Xvfb"], check=True)
    code, output = finish(process)
    assert "The X display" in one_message(output)
    assert "Run: closed" in output
    assert code == 3


def test_a_display_without_a_window_manager_is_named(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-nolisten", "tcp"], pass_fds=(write_end,)) as server:
        with os.fdopen(read_end) as answers:
            os.close(write_end)
            number = answers.readline().strip()
        code, output = onmark("run", "examples/mines", *QUICK, DISPLAY=f":{number}", XAUTHORITY=None)
        server.terminate()
    assert "No window manager runs on this display. Start one" in one_message(output)
    assert code == 3


def cover(desktop: Desktop) -> Iterator[None]:
    client = desktop.find("Mines").state().client
    with victim("Pop-up", 200, 150, at=(client.left + 40, client.top + 40)):
        desktop.find("Pop-up").activate()
        yield


def close(desktop: Desktop) -> Iterator[None]:
    subprocess.run(["xdotool", "windowkill", str(desktop.find("Mines")._handle.id)], check=True, timeout=10)
    yield


def shrink(desktop: Desktop) -> Iterator[None]:
    handle = str(desktop.find("Mines")._handle.id)
    subprocess.run(["xdotool", "windowsize", handle, "90", "120"], check=True, timeout=10)
    yield


def minimise(desktop: Desktop) -> Iterator[None]:
    subprocess.run(["xdotool", "windowminimize", str(desktop.find("Mines")._handle.id)], check=True, timeout=10)
    yield


@pytest.mark.parametrize(
    ("trouble", "ending", "says"),
    [
        (cover, "blocked", "The window is covered by 'Pop-up'. Move or close what lies over it"),
        (close, "closed", "The window 'Mines' was closed. Start the game again"),
        (minimise, "blocked", "The window is minimised. Restore it"),
        (shrink, "blocked", "Make the window large enough to show the whole board"),
    ],
)
def test_trouble_with_the_window_ends_cleanly_with_its_cure(
    own_display: str,
    desktop: Desktop,
    tmp_path: Path,
    trouble: Callable[[Desktop], Iterator[None]],
    ending: str,
    says: str,
) -> None:
    session = tmp_path / "session"
    code, output = -1, ""
    with playing(session, own_display, *QUICK) as process:
        for _ in trouble(desktop):
            code, output = finish(process)
    assert says in one_message(output)
    assert f"Run: {ending}" in output
    assert code == 3
    assert open_session(session).ticks[-1].blocked is not None
    assert (session / "last.png").exists()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_a_run_with_its_report(own_display: str, tmp_path: Path, sign: signal.Signals) -> None:
    session = tmp_path / "session"
    with playing(session, own_display, "--model", "scripted", "--hz", "4") as process:
        process.send_signal(sign)
        code, output = finish(process)
    assert "Run: stopped" in output
    assert code == 130
    assert not open_session(session).cut


def test_a_kill_loses_at_most_the_tick_under_way_and_leaves_nothing_running(tmp_path: Path) -> None:
    session = tmp_path / "session"
    command = [sys.executable, "-m", "agent", "run", "examples/mines", *QUICK, "--session", str(session)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    await_ticks(session, 4)
    process.kill()
    process.communicate()
    recorded = open_session(session)
    assert len(recorded.ticks) >= 4
    code, output = onmark("replay", str(session))
    assert (code, f"{len(recorded.ticks)} ticks agree" in output) == (0, True)
    for _ in range(100):
        if not left_running():
            return
        time.sleep(0.05)
    raise AssertionError(f"still running: {left_running()}")


def left_running() -> list[str]:
    """Displays and games whose starter is gone."""
    found = subprocess.run(["pgrep", "-f", "Xvfb .*onmark-|9x9n10"], capture_output=True, text=True, check=False)
    return [pid for pid in found.stdout.split() if parent(pid) == 1]


def parent(pid: str) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except FileNotFoundError:
        return None


def test_a_played_game_replays_and_its_report_is_data(tmp_path: Path) -> None:
    session, report = tmp_path / "session", tmp_path / "report.json"
    code, output = onmark("run", "mines", *QUICK, "--seed", "3", "--session", str(session), "--json", str(report))
    assert (code, "Run: won" in output) == (0, True)
    figures = json.loads(report.read_text())
    assert (figures["ending"], figures["valid_first_rate"]) == ("won", 1.0)
    assert onmark("replay", str(session), PATH="/nowhere")[0] == 0
    assert onmark("run", "mines", *QUICK, "--session", str(session))[0] == 3  # the folder is not empty


def test_a_difference_is_exit_1_and_named(tmp_path: Path) -> None:
    text = Path("examples/mines/bot.py").read_text().replace('"safe", 1)', '"safe", 2)')
    for name in ("won", "dead", "completed"):
        picture = Path(f"examples/mines/{name}.png")
        if picture.exists():
            (tmp_path / picture.name).write_bytes(picture.read_bytes())
    (tmp_path / "bot.py").write_text(text)
    code, output = onmark("replay", "tests/sessions/mines-won", "--bot", str(tmp_path))
    assert code == 1
    assert re.search(r"differs at tick \d+, perception: mark \d+ is added", output)


def test_a_lost_game_is_exit_1(tmp_path: Path) -> None:
    words = ("run", "mines", "--model", "random", "--hz", "8", "--seed", "4", "--session", str(tmp_path / "s"))
    code, output = onmark(*words)
    assert (code, "Run: lost" in output) == (1, True)
