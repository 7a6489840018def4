"""The command line as a user meets it: real processes, a real game, and each thing that can be missing."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from actuation.x11_keyboard import X11Keyboard
from agent.bot import Game
from agent.desktop import game_window
from agent.session.reader import open_session
from agent.testing.victim import until, victim
from perception.window import Desktop
from tests.agent.commands import environment, one_message, onmark

MINES = str(Path("examples/mines").resolve())
QUICK = ["--model", "scripted", "--hz", "8"]


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


def test_a_run_goes_tick_by_tick_when_told_to_and_in_lock_step(tmp_path: Path) -> None:
    (tmp_path / "onmark.toml").write_text('model = "scripted"\nlock_step = true\n[limits]\nstasis = 7\n')
    done = subprocess.run(
        [sys.executable, "-m", "agent", "run", MINES, "--step", "--session", "made"],
        cwd=tmp_path,
        env=environment(),
        input="\n\nq\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    made = open_session(tmp_path / "made")
    assert (len(made.ticks), made.ended) == (2, "stopped: It was told to stop.")
    code, said = onmark("replay", str(tmp_path / "made"))
    assert (code, "the run ended as stopped: It was told to stop." in said.replace("\n", " ")) == (0, True)
    (tmp_path / "onmark.toml").write_text("hertz = 3\n")
    wrong = subprocess.run(
        [sys.executable, "-m", "agent", "run", MINES], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, "found 'hertz'" in wrong.stderr) == (2, True)


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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("goal = 'click'", "pass"),
            "expected Small.goal to be a str, found None. Declare it in the class: goal = ...",
        ),
        (("(Click, Wait)", "(Click,)"), "Every tool needs a target, and a screen may show none."),
        (("(Click, Wait)", "(Click(mark=1), Wait)"), "expected Tool classes in tools, found Click(mark=1)."),
        (("rows=2", "rows=1"), "does not run: ValueError: expected at least 2 rows and 2 columns, found 1 and 2 (line"),
        (("tools = (", "tools = ((("), "does not run: SyntaxError:"),
        (
            ("from agent import Bot", "from agent import Bott, Bot"),
            "does not run: ImportError: cannot import name 'Bott'",
        ),
        (("def script", "def scrip"), "Small declares 'scrip'. Did you mean 'script'?"),
        (("def script", "def other"), "Bot 'small' declares no script()."),
        (
            ("class Small", "class Big(Bot): pass\nclass Small"),
            "expected exactly one Bot class, found ['Big', 'Small'].",
        ),
    ],
)
def test_a_bot_that_is_wrong_is_one_message_before_anything_starts(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    bot = Path(bot_file(tmp_path, title="'X'", command="('no-such-game',)"))
    bot.write_text(bot.read_text().replace('goal = "click"', "goal = 'click'").replace(*change))
    code, output = onmark("run", str(bot), *QUICK)
    assert says in one_message(output)
    assert code == 2


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("def script(self, seen): return {}[99]", "Mines.script() failed: KeyError: 99 (line"),
        (
            "def script(self, seen): return Reveal(mark=99)",
            "Expected script() to return one of ['Reveal', 'Flag', 'Wait']",
        ),
        ("def result(self, seen): return 'draw'", "Expected result() to return 'won', 'lost' or None, found 'draw'."),
        ("def result(self, seen): return 1 / 0", "Mines.result() failed: ZeroDivisionError: division by zero (line"),
        (
            "def candidates(self, seen): return {99: 'x'}",
            "candidates() offers the marks [99]; the detector found [1, 2",
        ),
        ("def candidates(self, seen): return seen.none", "Mines.candidates() failed: AttributeError:"),
    ],
)
def test_a_bot_that_fails_at_a_tick_is_one_message_with_its_place(tmp_path: Path, method: str, says: str) -> None:
    for path in Path("examples/mines").glob("*.png"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = Path("examples/mines/bot.py").read_text()
    (tmp_path / "bot.py").write_text(text.replace("\n\n\ndef knowledge", f"\n\n    {method}\n\n\ndef knowledge"))
    code, output = onmark("run", str(tmp_path), *QUICK, "--session", str(tmp_path / "s"))
    assert says in one_message(output)
    assert code == 2


def test_a_run_that_breaks_prints_its_report_all_the_same(tmp_path: Path) -> None:
    for path in Path("examples/mines").glob("*.png"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = Path("examples/mines/bot.py").read_text()
    broken = "return {}[99] if seen.marks[0].number != 41 else Reveal(mark=41)"
    (tmp_path / "bot.py").write_text(text.replace("return next((Reveal(", f"{broken}\n        return next((Reveal("))
    code, output = onmark("run", str(tmp_path), *QUICK, "--session", str(tmp_path / "s"))
    assert "Mines.script() failed: KeyError: 99" in one_message(output)
    assert "Run: error" in output
    assert f"Session  {tmp_path / 's'}" in output
    assert code == 2


@pytest.mark.parametrize("seeds", ["5-1", "", "1-", "x"])
def test_seeds_that_are_none(seeds: str) -> None:
    code, output = onmark("eval", "mines", "--seeds", seeds)
    assert f"Expected seeds such as 1-10 or 1,4,7, found {seeds!r}." in one_message(output)
    assert code == 2


def test_a_report_that_could_not_be_written_is_refused_before_the_game(tmp_path: Path) -> None:
    code, output = onmark("run", "mines", *QUICK, "--json", str(tmp_path / "none" / "report.json"))
    assert "Expected a folder to write report.json into" in one_message(output)
    assert code == 2


def test_what_comes_with_a_session_is_not_run(tmp_path: Path) -> None:
    shutil.copytree("tests/sessions/mines-won", tmp_path / "s")
    (tmp_path / "s" / "examples" / "mines").mkdir(parents=True)
    (tmp_path / "s" / "examples" / "mines" / "bot.py").write_text("open('ran', 'w')")
    command = [sys.executable, "-m", "agent", "replay", "."]
    done = subprocess.run(command, cwd=tmp_path / "s", capture_output=True, text=True, timeout=60, check=False)
    assert "what comes with it is not run" in one_message(done.stderr)
    assert done.returncode == 2
    assert not (tmp_path / "s" / "ran").exists()


def test_the_users_own_game_is_left_alone(own_display: str, desktop: Desktop, tmp_path: Path) -> None:
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#5")), 5, desktop) as theirs:
        with playing(tmp_path / "s", own_display, *QUICK) as process:
            theirs.activate()
            code, output = finish(process)
        assert "another window has the keyboard" in output
        assert "Run: stuck" in output
        assert code == 1


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


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "a whole GGUF file"), (b"GGUF" + bytes(100), "a whole GGUF file"), (None, "No such file")],
)
def test_a_model_file_of_ones_own_that_is_not_whole_is_named(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    if content is not None:
        path.write_bytes(content)
    code, output = onmark("model", "check", f"embedded:{path}")
    assert code == 3
    assert says in one_message(output)


def test_a_window_that_never_appears_is_named(own_display: str, tmp_path: Path) -> None:
    bot = bot_file(tmp_path, title="'Mimes'", command="('sgt-mines',)")
    code, output = onmark("run", bot, *QUICK, DISPLAY=own_display)
    assert "Waiting up to 15 s. Expected a window titled 'Mimes', found ['Mines']" in output
    assert "Did you mean 'Mines'?" in one_message(output)
    assert code == 3
    bot = bot_file(tmp_path, title="'Mines'")
    code, output = onmark("run", bot, *QUICK, DISPLAY=own_display)
    assert "Expected a window titled 'Mines', found" in one_message(output)
    assert code == 3


@contextmanager
def playing(session: Path, display: str, *words: str, bot: str = "examples/mines") -> Iterator[subprocess.Popen[str]]:
    """Mines being played on a display, a few ticks in."""
    command = [sys.executable, "-m", "agent", "run", bot, "--session", str(session), *words]
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],  # as from the background of a script
        env=environment(DISPLAY=display),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with explained(process):
            await_ticks(session, 2)
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def explained(process: subprocess.Popen[str]) -> Iterator[None]:
    """A run that does not get where it should says what it printed, and where it stands."""
    try:
        yield
    except AssertionError as problem:
        process.send_signal(signal.SIGABRT)
        output, _ = process.communicate(timeout=10)
        raise AssertionError(f"{problem}; it printed:\n{output}") from problem


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
    subprocess.run(["xdotool", "windowkill", str(desktop.find("Mines").id)], check=True, timeout=10)
    yield


def shrink(desktop: Desktop) -> Iterator[None]:
    handle = str(desktop.find("Mines").id)
    subprocess.run(["xdotool", "windowsize", handle, "90", "120"], check=True, timeout=10)
    yield


def minimise(desktop: Desktop) -> Iterator[None]:
    subprocess.run(["xdotool", "windowminimize", str(desktop.find("Mines").id)], check=True, timeout=10)
    yield


@pytest.mark.parametrize(
    ("trouble", "ending", "says"),
    [
        (cover, "blocked", "The window is covered by 'Pop-up'. Move or close what lies over it"),
        (close, "closed", "The window 'Mines' was closed. Start the game again"),
        (minimise, "blocked", "The window is minimised. Restore it"),
        (shrink, "blocked", "Show the whole board, large enough"),
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


HOLDER = """
from actuation import HoldKey, PressPointer, Wait
from agent import Bot, Game
from perception.detect.lattice import Lattice

class Holder(Bot):
    game = Game(title="Mines", command=("sgt-mines", "9x9n10#1"))
    detector = Lattice(rows=9, columns=9)
    tools = (HoldKey, PressPointer, Wait)
    goal = "hold"

    def script(self, seen):
        return HoldKey(key="up", seconds=5)
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, "--ticks"])
def test_however_a_run_ends_nothing_is_held(own_display: str, tmp_path: Path, end: signal.Signals | str) -> None:
    (tmp_path / "holder.py").write_text(HOLDER)
    session, bot = tmp_path / "session", str(tmp_path / "holder.py")
    limit = ["--ticks", "3"] if isinstance(end, str) else []
    with closing(X11Keyboard()) as keyboard:
        with playing(session, own_display, "--model", "scripted", "--hz", "4", *limit, bot=bot) as process:
            if isinstance(end, signal.Signals):
                assert keyboard.read().keys == {"up"}
                process.send_signal(end)
            process.communicate(timeout=60)
        until(lambda: not keyboard.read().keys)
    actions = [tick.delivery for tick in open_session(session).ticks if tick.delivery]
    assert [(each.outcome, each.reason) for each in actions[:2]] == [("delivered", None), ("refused", "conflict")]


def test_a_kill_loses_at_most_one_tick_and_leaves_nothing_running(tmp_path: Path) -> None:
    session = tmp_path / "session"
    command = [sys.executable, "-m", "agent", "run", "examples/mines", *QUICK, "--session", str(session)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    await_ticks(session, 4)
    started = subprocess.run(
        ["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(started) == 4  # the display, the window manager, the game, the guardian
    process.kill()
    printed, _ = process.communicate()
    shown = sum(line.startswith("tick") for line in printed.splitlines())
    recorded = open_session(session)
    assert len(recorded.ticks) >= shown - 1 >= 3
    code, output = onmark("replay", str(session))
    assert (code, f"{len(recorded.ticks)} ticks agree" in output) == (0, True)
    for _ in range(200):
        if not any(running(pid) for pid in started):
            return
        time.sleep(0.05)
    raise AssertionError(f"still running: {[pid for pid in started if running(pid)]}")


def running(pid: str) -> bool:
    """True for a process that is neither gone nor waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_played_game_replays_and_its_report_is_data(tmp_path: Path) -> None:
    session, report = tmp_path / "session", tmp_path / "report.json"
    code, output = onmark("run", "mines", *QUICK, "--seed", "3", "--session", str(session), "--json", str(report))
    assert (code, "Run: won" in output) == (0, True)
    figures = json.loads(report.read_text())
    assert (figures["ending"], figures["valid_first_rate"]) == ("won", 1.0)
    assert onmark("replay", str(session), PATH="/nowhere")[0] == 0
    code, output = onmark("run", "mines", *QUICK, "--session", str(session))
    assert one_message(output).startswith("onmark: Expected a new or empty folder for the session, found")
    assert code == 2


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


def test_a_bot_with_nothing_to_win_ends_well_and_its_replay_can_be_pasted(tmp_path: Path) -> None:
    bot = tmp_path / "flip.py"
    bot.write_text(
        dedent("""
        from actuation import Click, Wait
        from agent import Bot, Game
        from perception.detect.lattice import Lattice

        class Flip(Bot):
            name = "flip"
            game = Game(title="Flip", command=("sgt-flip", "3x3c#1"))
            detector = Lattice(rows=3, columns=3)
            tools = (Click, Wait)
            goal = "click"
        """)
    )
    code, output = onmark("run", str(bot), "--model", "random", "--ticks", "2", "--session", str(tmp_path / "s"))
    assert code == 0
    (words,) = re.findall(r"^Replay   onmark (.*)$", output, re.MULTILINE)
    assert onmark(*words.split())[0] == 0


def test_a_session_without_ticks_cannot_agree(tmp_path: Path) -> None:
    shutil.copytree("tests/sessions/mines-won", tmp_path / "s")
    (tmp_path / "s" / "ticks.jsonl").write_text("")
    code, output = onmark("replay", str(tmp_path / "s"))
    assert "expected ticks, found none" in one_message(output)
    assert code == 2


def test_a_lost_game_is_exit_1(tmp_path: Path) -> None:
    words = ("run", "mines", "--model", "random", "--hz", "8", "--seed", "1", "--session", str(tmp_path / "s"))
    code, output = onmark(*words)
    assert (code, "Run: lost" in output) == (1, True)
