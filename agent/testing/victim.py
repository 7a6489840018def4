"""A window that draws a coloured area and says on its standard output what it is given, a JSON object a line.

``python -m agent.testing.victim TITLE WIDTH HEIGHT [LEFT TOP] [--class-name NAME] [--colour N] [--depth 32]
[--deaf N]``. It is a game that nothing can be won in: a click inverts the square under it, but for the first N clicks,
which it drops.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from Xlib import X, Xatom, display

from perception.errors import WindowNotFound
from perception.window import Desktop, open_desktop

KINDS = {X.ButtonPress: "press", X.ButtonRelease: "release", X.KeyPress: "key_press", X.KeyRelease: "key_release"}
SQUARE = 16  # pixels
MASK = X.ExposureMask | X.ButtonPressMask | X.ButtonReleaseMask | X.KeyPressMask | X.KeyReleaseMask


def say(**event: Any) -> None:
    """One line."""
    print(json.dumps(event), flush=True)  # noqa: T201 - this is the program's output


def main(asked: argparse.Namespace) -> None:
    """Show the window and report until killed."""
    connection = display.Display()
    window = create(connection, asked)
    window.set_wm_name(asked.title)
    if asked.class_name:
        window.set_wm_class(asked.class_name.lower(), asked.class_name)
    window.change_property(connection.get_atom("_NET_WM_PID"), Xatom.CARDINAL, 32, [os.getpid()])
    window.set_wm_normal_hints(flags=1 | 2, min_width=10, min_height=10)  # the place that was asked for
    window.map()
    connection.flush()
    inverse, clicks = window.create_gc(function=X.GXinvert), 0
    while True:
        event = connection.next_event()
        if event.type == X.Expose:
            say(kind="expose")
        elif event.type in KINDS:
            kind = KINDS[event.type]
            symbol = connection.keycode_to_keysym(event.detail, 0) if kind.startswith("key") else 0
            say(kind=kind, x=event.event_x, y=event.event_y, detail=event.detail, symbol=symbol, state=event.state)
            if kind == "press":
                clicks += 1
                if clicks > asked.deaf:
                    window.fill_rectangle(inverse, event.event_x & -SQUARE, event.event_y & -SQUARE, SQUARE, SQUARE)
                    connection.flush()


def create(connection: display.Display, asked: argparse.Namespace) -> Any:
    """The window, in the screen's own visual or in one of 32 bits, which knows opacity."""
    screen = connection.screen()
    look: dict[str, Any] = {"background_pixel": asked.colour, "event_mask": MASK}
    if asked.depth == 32:
        visual = next(d for d in screen.allowed_depths if d.depth == 32).visuals[0].visual_id
        look |= {"visual": visual, "colormap": screen.root.create_colormap(visual, X.AllocNone), "border_pixel": 0}
    place = (asked.left, asked.top, asked.width, asked.height)
    return screen.root.create_window(*place, 0, asked.depth or screen.root_depth, **look)


def parsed(words: list[str]) -> argparse.Namespace:
    """The command line's words."""
    parser = argparse.ArgumentParser()
    parser.add_argument("title")
    for name, usual in (("width", 300), ("height", 200), ("left", 200), ("top", 150)):
        parser.add_argument(name, type=int, nargs="?", default=usual)
    parser.add_argument("--class-name", default="")
    parser.add_argument("--colour", type=int, default=0x3366CC)
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--deaf", type=int, default=0)
    return parser.parse_args(words)


class Victim:
    """The window's process, seen from a test.

    Attributes:
        process: to stop, to go on, to kill.
        title: the window's.
    """

    def __init__(self, process: subprocess.Popen[bytes], title: str, said: Path) -> None:
        self.process = process
        self.title = title
        self._said = said

    def seen(self) -> list[dict[str, Any]]:
        """What it was given so far: ``kind``, ``x`` and ``y`` in client pixels, ``detail``, ``symbol``, ``state``."""
        whole = self._said.read_bytes().rpartition(b"\n")[0]
        return [event for event in map(json.loads, whole.splitlines()) if event["kind"] != "expose"]

    def events(self) -> list[dict[str, Any]]:
        """What it was given; ends the window, so that nothing is still on its way."""
        time.sleep(0.2)  # what was sent just now is still on its way through the X server
        self.process.terminate()
        self.process.wait(10)
        return self.seen()

    @property
    def is_drawn(self) -> bool:
        """True once the window was shown."""
        return self._said.read_bytes().startswith(b'{"kind": "expose"}\n')


def _await_listed(desktop: Desktop, title: str, before: set[int]) -> int:
    """The window manager draws a window a moment before it lists it; another one may bear the same title."""
    for _ in range(500):
        with contextlib.suppress(WindowNotFound):
            return desktop.find(title, besides=before).id
        time.sleep(0.01)
    raise AssertionError(f"the window {title!r} was not listed within 5 s")


def until(holds: Callable[[], bool]) -> None:
    """Wait for another process's doing."""
    for _ in range(500):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen within 10 s")


def xdotool(*words: str | int) -> None:
    """Play the part of a person at the desk."""
    subprocess.run(["xdotool", *map(str, words)], check=True, timeout=10)


@contextmanager
def xvfb(*options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """An X server of one test's own, without a window manager: its name and its process."""
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x480x24", "-nolisten", "tcp", *options]
    with subprocess.Popen(command, pass_fds=(write_end,), stderr=subprocess.DEVNULL) as server:
        os.close(write_end)
        try:
            with os.fdopen(read_end) as answers:
                yield f":{answers.readline().strip()}", server
        finally:
            server.kill()


@contextmanager
def victim(
    title: str,
    width: int = 300,
    height: int = 200,
    at: tuple[int, int] = (200, 150),
    *,
    class_name: str = "",
    colour: int = 0x3366CC,
    depth: int = 0,
    deaf: int = 0,
) -> Iterator[Victim]:
    """A victim window on the present display, drawn and ready.

    Args:
        title: the window's.
        width: of its client area.
        height: of its client area.
        at: its place on the screen, about; the window manager has a word in it.
        class_name: its class; the instance is the same in lower case.
        colour: the value of every pixel, blue in the lowest byte.
        depth: bits of a pixel. 0: as the screen has.
        deaf: how many clicks it drops before it does something about them.
    """
    command = [sys.executable, "-m", "agent.testing.victim", title, str(width), str(height), str(at[0]), str(at[1])]
    command += ["--class-name", class_name, "--colour", str(colour), "--depth", str(depth), "--deaf", str(deaf)]
    with closing(open_desktop()) as desktop:
        before = desktop.ids()
        with (
            tempfile.TemporaryDirectory() as folder,
            (said := Path(folder) / "said").open("wb") as output,
            subprocess.Popen(command, stdout=output) as process,
        ):
            try:
                game = Victim(process, title, said)
                until(lambda: game.is_drawn)
                number = _await_listed(desktop, title, before)
                yield game
            finally:
                process.kill()
                process.wait()
        until(lambda: number not in desktop.ids())  # an X server gives the number of one that is gone to the next


if __name__ == "__main__":
    main(parsed(sys.argv[1:]))
