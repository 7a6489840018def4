"""A place to play: the user's display, or one of our own (Xvfb and openbox), and the game's process on it."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from agent.bot import Game
from agent.errors import MissingPiece, WrongUse
from perception import xauthority
from perception.errors import DisplayUnavailable, PerceptionError, WindowNotFound
from perception.window import Desktop, Window, open_desktop

SCREEN = "1280x800x24"
START_TIMEOUT_S = 15.0
NOTICE_S = 2.0  # most games show their window in less
UNLISTED_TIMEOUT_S = 2.0
GAME_DIRECTORIES = "/usr/games:/usr/local/games"  # Debian keeps games off the PATH of root and of services

T = TypeVar("T")

Notice = Callable[[str], None]
"""Told in a sentence what is being waited for."""


def unheard(notice: str) -> None:
    """Nobody is told."""


@contextmanager
def display(*, own: bool) -> Iterator[str]:
    """The display to play on, set in the environment while this lasts.

    Args:
        own: start a display of our own even when DISPLAY names one.

    Raises:
        MissingPiece: our own display is needed, and Xvfb or openbox is not installed or does not start.
    """
    if os.environ.get("DISPLAY") and not own:
        yield os.environ["DISPLAY"]
        return
    name = _own_display()
    with _environment({"DISPLAY": name}):
        yield name


def wants_own(display: str) -> bool:
    """True for ``own``, a display of our own; False for ``auto``: what DISPLAY says, where it says something.

    Raises:
        WrongUse: something else was said.
    """
    if display not in ("auto", "own"):
        raise WrongUse(
            f"Expected --display auto or own, found {display!r}.", "Leave it out to use DISPLAY where it is set."
        )
    return display == "own"


@contextmanager
def game_window(
    game: Game, seed: int, desktop: Desktop, notice: Notice = unheard, display: str | None = None
) -> Iterator[Window]:
    """The game's window: started here and ended with this, or already there when the game has no command.

    Args:
        game: which.
        seed: put into its command.
        desktop: where its window is.
        notice: told when the window is long in coming.
        display: the X display that it is started on. None: what DISPLAY says.

    Raises:
        MissingPiece: the game is not installed, or it ended before it showed a window.
        WindowNotFound: it runs, and no such window appeared.
    """
    if not game.command:
        yield _activated(desktop.find(game.window))
        return
    command = [part.replace("{seed}", str(seed)) for part in game.command]
    before = desktop.ids()
    package = game.package or command[0]
    with (
        tempfile.TemporaryFile() as output,
        _child(command, package, env={**_on(display), **game.env}, output=output.fileno()) as process,
    ):

        def look() -> Window:
            if process.poll() is not None:
                output.seek(0)
                said = output.read().decode("utf-8", "replace").strip().splitlines()
                raise MissingPiece(
                    f"The game {command[0]} ended with code {process.returncode} before its window appeared"
                    f"{': ' + said[-1] if said else ''}.",
                    f"Try it by hand: {' '.join(command)}",
                )
            return desktop.find(game.window, besides=before)

        window = _activated(_retry(look, WindowNotFound, notice))
        yield window
    _await_unlisted(window.id, desktop)


def _await_unlisted(number: int, desktop: Desktop) -> None:
    """Wait until a window that was closed is off the list: an X server gives its number to the next one."""
    deadline = time.monotonic() + UNLISTED_TIMEOUT_S
    with contextlib.suppress(DisplayUnavailable):  # then there is no list either
        while number in desktop.ids() and time.monotonic() < deadline:
            time.sleep(0.01)


@cache
def _own_display() -> str:
    """The name of our own display. It is started once and lasts as long as this process: a start takes half a second.

    pyautogui connects as it is imported, and never again: in a process that imports it, a second display would not be
    the one that it clicks on.
    """
    running = ExitStack()
    name = running.enter_context(virtual_display())
    atexit.register(running.close)
    return name


@contextmanager
def virtual_display() -> Iterator[str]:
    """The name of a display that nobody else uses; DISPLAY stays as it is. From any thread, any number at once.

    It is Xvfb on a number that it chooses itself, behind a key of its own, with openbox on it.

    Raises:
        MissingPiece: Xvfb or openbox is not installed or does not start.
    """
    with tempfile.TemporaryDirectory(prefix="onmark-") as folder:
        key = Path(folder) / "Xauthority"
        cookie = secrets.token_bytes(16)
        xauthority.write_key(key, "0", cookie)
        read_end, write_end = os.pipe()
        command = [
            "Xvfb",
            "-displayfd",
            str(write_end),
            "-screen",
            "0",
            SCREEN,
            "-nolisten",
            "tcp",
            "-auth",
            str(key),
        ]
        with os.fdopen(read_end) as answers, _child(command, "xvfb", keep=(write_end,)) as server:
            os.close(write_end)
            number = answers.readline().strip()
            if not number:
                raise MissingPiece(f"Xvfb ended with code {server.wait()} at its start.", "Run it by hand: Xvfb :99")
            xauthority.write_key(key, number, cookie)
            xauthority.add_key(number, cookie)
            name = f":{number}"
            with _child(["openbox"], "openbox", env=_on(name)):
                _await_window_manager(name)
                yield name


def _on(display: str | None) -> Mapping[str, str]:
    """What a program's environment must say to be on a display."""
    return {} if display is None else {"DISPLAY": display}


def _await_window_manager(display: str) -> None:
    desktop = open_desktop(display)
    try:
        _retry(desktop.require_window_manager, WindowNotFound)
    finally:
        desktop.close()


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables, and put back what was there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _child(
    command: Sequence[str],
    package: str,
    *,
    env: Mapping[str, str] | None = None,
    keep: Sequence[int] = (),
    output: int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a session of its own that is ended with this, and with us, whatever ends us.

    Raises:
        MissingPiece: it is not installed.
    """
    program = shutil.which(command[0], path=f"{os.environ.get('PATH', os.defpath)}:{GAME_DIRECTORIES}")
    if program is None:
        raise MissingPiece(f"{command[0]} is not installed.", f"Install it: apt-get install {package}")
    tied = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    process = subprocess.Popen(
        [*tied, program, *command[1:]],
        env={**_clean_environment(), **(env or {})},
        pass_fds=keep,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)


def _clean_environment() -> dict[str, str]:
    """Our environment without what importing OpenCV puts there: a Qt program started with it aborts."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("QT_QPA_") and not (name == "LD_LIBRARY_PATH" and "cv2" in value)
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(2)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _activated(window: Window) -> Window:
    window.activate()
    return window


def _retry(attempt: Callable[[], T], passing: type[PerceptionError], notice: Notice = unheard) -> T:
    """Try until it works; after the time limit the last failure is the answer."""
    began, noticed = time.monotonic(), False
    while True:
        try:
            return attempt()
        except passing as problem:
            waited = time.monotonic() - began
            if waited > START_TIMEOUT_S:
                raise
            if waited > NOTICE_S and not noticed:
                notice(f"Waiting up to {START_TIMEOUT_S:.0f} s. {problem.problem}")
                noticed = True
            time.sleep(0.05)
