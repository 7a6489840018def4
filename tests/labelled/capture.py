"""Capture the frames of a game again: ``python -m tests.labelled.capture GAME [FOLDER]``.

``steps.json`` says what is done in each game before its frame is taken; the commands are those of the frames. The
labels are not made here: a frame that differs from the one that is stored needs its labels read again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.bot import Game
from agent.desktop import GAME_DIRECTORIES, display, game_window
from perception.capture import Capture
from perception.image import write_png
from perception.window import open_desktop

HERE = Path(__file__).parent
SETTLED_S = 1.2  # the slowest start and the longest animation of these games
BUTTONS = {"click": 1, "middle": 2, "right": 3}
CORNER = "mousemove 1279 799"  # where the pointer lights up nothing
# GLib's games take no seed, so they are started with a file in the place of /dev/urandom, which takes root.
SEEDED = 'yes "$0" | head -c 4096 >"$HOME/seed" && mount --bind "$HOME/seed" /dev/urandom && exec "$@"'


def scenes(game: str) -> Iterator[tuple[str, Game, str]]:
    """For each frame of a game: its name, the game to start, and the steps."""
    plan: dict[str, Any] = json.loads((HERE / "steps.json").read_text())[game]
    for name, scene in plan["frames"].items():
        command = json.loads((HERE / game / f"{name}.json").read_text())["command"]
        if scene["seed"] is not None:
            command = ["unshare", "-m", "bash", "-c", SEEDED, str(scene["seed"]), *command]
        yield name, Game(title=plan["title"], command=command), scene["steps"]


def play(steps: str, left: int, top: int) -> None:
    """Do ``click 10 20; drag 1 2 3 4; key Left; size 600 500; wait 1``, one after the other.

    Args:
        steps: what to do, points in pixels of the client area.
        left: the client area's first column on the screen.
        top: its first row.
    """
    for step in filter(None, (part.strip() for part in steps.split(";"))):
        verb, *values = step.split()
        if verb == "key":
            xdotool(f"key {' '.join(values)}")
        elif verb == "size":
            xdotool(f"getactivewindow windowsize {' '.join(values)}")
        elif verb == "wait":
            time.sleep(float(values[0]))
        else:
            point(verb, [int(value) + (top if i % 2 else left) for i, value in enumerate(values)])
        time.sleep(0.3)


def point(verb: str, where: list[int]) -> None:
    """Move, click, drag, or place the active window: ``where`` is x and y on the screen, twice for a drag."""
    x, y, *end = where
    if verb == "place":
        xdotool(f"getactivewindow windowmove {x} {y}")
        return
    xdotool(f"mousemove {x} {y} sleep 0.1")
    if verb == "drag":
        xdotool(f"mousedown 1 sleep 0.1 mousemove {end[0] - 9} {end[1]} sleep 0.1")
        xdotool(f"mousemove {end[0]} {end[1]} sleep 0.1 mouseup 1")
    elif verb != "move":
        xdotool(f"click {BUTTONS[verb]}")


def xdotool(arguments: str) -> None:
    """Run xdotool."""
    subprocess.run(["xdotool", *arguments.split()], check=True, timeout=10)


def capture(game: Game, steps: str, path: Path) -> None:
    """Start a game in a home of its own, play the steps, and write its client area."""
    with tempfile.TemporaryDirectory() as home, closing(open_desktop()) as desktop:
        env = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config", "GSETTINGS_BACKEND": "keyfile"}
        env |= {"DBUS_SESSION_BUS_ADDRESS": "disabled:", "NO_AT_BRIDGE": "1"}
        env["PATH"] = f"{os.environ['PATH']}:{GAME_DIRECTORIES}"
        started = Game(title=game.title, command=game.command, env=env)
        with game_window(started, 1, desktop) as window, closing(Capture()) as grabber:
            time.sleep(SETTLED_S)
            client = window.state().client
            play(steps, client.left, client.top)
            xdotool(CORNER)
            time.sleep(SETTLED_S)
            write_png(path, grabber.grab(window.state(), time.monotonic_ns()).pixels)


def main() -> None:
    """Capture every frame of the game that the first argument names."""
    game = sys.argv[1]
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / game
    folder.mkdir(parents=True, exist_ok=True)
    with display(own=True):
        for name, started, steps in scenes(game):
            capture(started, steps, folder / f"{name}.png")


if __name__ == "__main__":
    main()
