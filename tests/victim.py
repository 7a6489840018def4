"""A window that draws a coloured area and says on its standard output what it is given, a JSON object a line.

``python -m tests.victim TITLE WIDTH HEIGHT [LEFT TOP]``
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from Xlib import X, display

from perception.errors import WindowNotFound
from perception.window import Desktop

KINDS = {X.ButtonPress: "press", X.ButtonRelease: "release", X.KeyPress: "key_press", X.KeyRelease: "key_release"}
MASK = X.ExposureMask | X.ButtonPressMask | X.ButtonReleaseMask | X.KeyPressMask | X.KeyReleaseMask


def say(**event: Any) -> None:
    """One line."""
    print(json.dumps(event), flush=True)  # noqa: T201 - this is the program's output


def main(title: str, width: int, height: int, left: int, top: int) -> None:
    """Show the window and report until killed."""
    connection = display.Display()
    screen = connection.screen()
    window = screen.root.create_window(
        left, top, width, height, 0, screen.root_depth, background_pixel=0x3366CC, event_mask=MASK
    )
    window.set_wm_name(title)
    window.set_wm_normal_hints(flags=1 | 2, min_width=10, min_height=10)  # the place that was asked for
    window.map()
    connection.flush()
    while True:
        event = connection.next_event()
        if event.type == X.Expose:
            say(kind="expose")
        elif event.type in KINDS:
            say(kind=KINDS[event.type], x=event.event_x, y=event.event_y, detail=event.detail)


class Victim:
    """The window's process, seen from a test."""

    def __init__(self, process: subprocess.Popen[str], title: str) -> None:
        self.process = process
        self.title = title

    def events(self) -> list[dict[str, Any]]:
        """What it was given so far; ends the window, so that nothing is still on its way."""
        time.sleep(0.2)  # what was sent just now is still on its way through the X server
        self.process.terminate()
        out, _ = self.process.communicate(timeout=10)
        return [event for event in map(json.loads, out.splitlines()) if event["kind"] != "expose"]


def _await_listed(desktop: Desktop, title: str, before: set[int]) -> None:
    """The window manager draws a window a moment before it lists it; another one may bear the same title."""
    for _ in range(500):
        with contextlib.suppress(WindowNotFound):
            desktop.find(title, besides=before)
            return
        time.sleep(0.01)
    raise AssertionError(f"the window {title!r} was not listed within 5 s")


@contextmanager
def victim(title: str, width: int = 300, height: int = 200, at: tuple[int, int] = (200, 150)) -> Iterator[Victim]:
    """A victim window on the present display, drawn and ready."""
    command = [sys.executable, "-m", "tests.victim", title, str(width), str(height), str(at[0]), str(at[1])]
    with closing(Desktop()) as desktop:
        before = desktop.ids()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                assert json.loads(process.stdout.readline()) == {"kind": "expose"}
                _await_listed(desktop, title, before)
                yield Victim(process, title)
            finally:
                process.kill()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, (*sys.argv[2:], "200", "150")[:4]))
