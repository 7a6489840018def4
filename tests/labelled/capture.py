"""Capture the frames of the labelled set again: ``python -m tests.labelled.capture GAME [FOLDER]``.

The labels are not made here: a frame that differs from the one that is stored needs its labels read again.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent.bot import Game
from agent.desktop import GAME_DIRECTORIES, display, game_window
from perception.capture import Capture
from perception.image import write_png
from perception.window import Desktop

HERE = Path(__file__).parent
SETTLED_S = 1.2  # the slowest start and the longest animation among these games
BUTTONS = {"click": 1, "middle": 2, "right": 3}
SEEDED = 'yes "$0" | head -c 4096 >"$HOME/seed" && mount --bind "$HOME/seed" /dev/urandom && exec "$@"'

# game -> the title of its window, and for each frame its command and what is done then. ``SEED=n`` before a command
# starts it with /dev/urandom a file of that seed (as root), since GLib's games take no seed.
SCENES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "mines": ("Mines", [("env MINES_TILESIZE=32 sgt-mines 9x9n10#1", "")]),
    "solo": ("Solo", [("sgt-solo 3x3#1", "")]),
    "samegame": ("Same Game", [("sgt-samegame 15x10c3s2#1", "")]),
    "net": ("Net", [("sgt-net 5x5#1", "")]),
    "pattern": ("Pattern", [("sgt-pattern 10x10#1", "")]),
    "fifteen": ("Fifteen", [("sgt-fifteen 4x4#1", "")]),
    "guess": ("Guess", [("sgt-guess c6p4g10Bm#1", "")]),
    "lightup": ("Light Up", [("sgt-lightup 7x7b20s4d0#1", "")]),
    "lightsoff": ("Puzzle 1", [("SEED=1 lightsoff", "")]),
    "gnome-2048": ("GNOME 2048", [("SEED=1 gnome-2048", "")]),
    "xmahjongg": ("xmahjongg", [("xmahjongg -n 7", "")]),
    "klondike": ("Klondike", [("SEED=1 sol --variation=klondike", "")]),
    "quadrapassel": ("Quadrapassel", [("SEED=1 quadrapassel", "")]),
    "iagno": ("Reversi", [("SEED=1 iagno", "")]),
    "swell-foop": ("Swell Foop", [("SEED=1 swell-foop", "")]),
    "four-in-a-row": ("Your Turn", [("SEED=1 four-in-a-row", "")]),
}


def command_of(scene: str) -> list[str]:
    """The program and its arguments, as they are run."""
    first, *rest = shlex.split(scene)
    if not first.startswith("SEED="):
        return ["env", first, *rest] if "=" in first else [first, *rest]
    return ["unshare", "-m", "bash", "-c", SEEDED, first.removeprefix("SEED="), *rest]


def do(steps: str, left: int, top: int) -> None:
    """Play ``click 10 20; key Left; drag 1 2 3 4; size 600 500; wait 1``: pixels of the client area."""
    for step in filter(None, (part.strip() for part in steps.split(";"))):
        verb, *values = step.split()
        if verb in (*BUTTONS, "move", "drag"):
            x, y, *end = (int(value) for value in values)
            pointer(f"mousemove {left + x} {top + y} sleep 0.1")
            if verb == "drag":
                pointer(f"mousedown 1 sleep 0.1 mousemove {left + end[0] - 9} {top + end[1]} sleep 0.1")
                pointer(f"mousemove {left + end[0]} {top + end[1]} sleep 0.1 mouseup 1")
            elif verb != "move":
                pointer(f"click {BUTTONS[verb]}")
        elif verb == "size":
            pointer(f"getactivewindow windowsize {values[0]} {values[1]}")
        elif verb == "place":
            pointer(f"getactivewindow windowmove {left + int(values[0])} {top + int(values[1])}")
        elif verb == "wait":
            time.sleep(float(values[0]))
        else:
            pointer(f"key {' '.join(values)}")
        time.sleep(0.3)


def pointer(arguments: str) -> None:
    """Run xdotool."""
    subprocess.run(["xdotool", *arguments.split()], check=True, timeout=10)


def capture(title: str, scene: str, steps: str, path: Path) -> None:
    """Start a game, play the steps, and write its client area; the pointer waits in the screen's corner."""
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config", "GSETTINGS_BACKEND": "keyfile"}
        env |= {"DBUS_SESSION_BUS_ADDRESS": "disabled:", "NO_AT_BRIDGE": "1"}
        env["PATH"] = f"{GAME_DIRECTORIES}:{os.environ['PATH']}"
        desktop = Desktop()
        with game_window(Game(title=title, command=command_of(scene), env=env), 1, desktop) as window:
            time.sleep(SETTLED_S)
            client = window.state().client
            do(steps, client.left, client.top)
            pointer("mousemove 1279 799")
            time.sleep(SETTLED_S)
            grabber = Capture()
            write_png(path, grabber.grab(window.state(), time.monotonic_ns()).pixels)
            grabber.close()
        desktop.close()


def main() -> None:
    """Capture every frame of the game that the first argument names."""
    game = sys.argv[1]
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / game
    folder.mkdir(parents=True, exist_ok=True)
    title, scenes = SCENES[game]
    with display(own=True):
        for number, (scene, steps) in enumerate(scenes, start=1):
            capture(title, scene, steps, folder / f"{number:02}.png")


if __name__ == "__main__":
    main()
