"""Ends agents at random moments while they hold keys and buttons, and looks at what the X server still holds.

``python -m tests.actuation.kills [--kills 100] [--stops 20]``: so many are killed, and so many stopped, as a wedged
process is; each time another one of an agent's two processes, or both. So many as are stopped are wedged besides: busy
without end, with Python's lock held. Starts a display of its own; prints how long after it all was released.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import re
import signal
import statistics
import sys
import time
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

from Xlib.display import Display

from actuation.errors import InputUnavailable
from actuation.plan import Hands
from actuation.process import StepProcess
from actuation.settings import Motion, Rules
from actuation.stepper import Running
from actuation.x11_keyboard import X11Keyboard
from agent.desktop import display
from agent.testing.victim import until, victim
from perception.geometry import Transform
from perception.glance import Glance
from perception.window import open_desktop

KEYS = ("a", "up", "space", "shift", "ctrl", "x", "f5", "7")
LIMIT_S = 3.0
LONG_S = 5.0
AT_ONCE = 5  # get ready beside each other
FORK = multiprocessing.get_context("fork")  # a hundred agents, none of which loads all modules anew
WAYS = {
    "its agent killed": signal.SIGKILL,
    "its input process killed": signal.SIGKILL,
    "both killed": signal.SIGKILL,
    "its agent stopped": signal.SIGSTOP,
    "its input process stopped": signal.SIGSTOP,
    "both stopped": signal.SIGSTOP,
    "its agent wedged": signal.SIGUSR1,
}


def main() -> int:
    """Returns 1 when anything was still held."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--stops", type=int, default=20)
    options = asked.parse_args()
    with display(own=True), victim("Game"), closing(open_desktop()) as desktop, closing(X11Keyboard()) as server:
        window = desktop.find("Game")
        window.activate()
        until(lambda: window.state().foreground)
        lasting = 0
        for number, (how, sign) in enumerate(WAYS.items()):
            many = options.kills if sign is signal.SIGKILL else options.stops
            lasting += _several(window.id, how, sign, random.Random(number), many // 3 or 1, server)
        sys.stdout.write(f"still held: {lasting}\n")
    return 1 if lasting else 0


def _several(window: int, how: str, sign: signal.Signals, rng: random.Random, many: int, server: X11Keyboard) -> int:
    """End so many agents in one way, and print what came of it; how many left something held."""
    times, lasting = list[float](), 0
    for first in range(0, many, AT_ONCE):
        agents = [_started(window, rng.randrange(10**6)) for _ in range(first, min(many, first + AT_ONCE))]
        for child, line in agents:
            released_s, held = ended(child, line, how, sign, rng.uniform(0, 0.05), server)
            lasting += bool(held)
            if released_s:
                times.append(1000 * released_s)
    worst = f"median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms" if times else "at once"
    sys.stdout.write(f"{how}, {many} times: {len(times)} held something; all released after {worst}\n")
    sys.stdout.flush()
    return lasting


def _started(window: int, seed: int) -> tuple[ForkProcess, Connection]:
    """An agent that gets ready, and presses nothing before it is told to."""
    ours, theirs = FORK.Pipe()
    child = FORK.Process(target=agent, args=(window, seed, theirs))
    child.start()
    return child, ours


def ended(
    child: ForkProcess, line: Connection, how: str, sign: signal.Signals, after_s: float, server: X11Keyboard
) -> tuple[float, str]:
    """End one agent: how long it took until all was released, and what was not."""
    assert child.pid is not None
    repeating = repeats()
    line.send("go")
    hands = line.recv()
    time.sleep(after_s)
    for pid in {"both": (child.pid, hands), "its input process": (hands,)}.get(how.rpartition(" ")[0], (child.pid,)):
        os.kill(pid, sign)
    died, was_held = time.monotonic(), said(server, repeating)
    while (held := said(server, repeating)) and time.monotonic() - died < LIMIT_S:
        pass
    took = time.monotonic() - died
    for pid in (child.pid, hands):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.join()
    return took if was_held else 0.0, held


def said(server: X11Keyboard, repeating: list[int]) -> str:
    """What the X server holds, and whether a key does not repeat that did; empty: nothing."""
    state = server.read()
    mute = [] if repeats(server._server().display) == repeating else ["a key does not repeat"]
    return " ".join([*sorted(state.keys | state.buttons), *mute])


def repeats(program: Display | None = None) -> list[int]:
    """Which keys of the display repeat by themselves, as bits; asked over a connection of one's own, or a new one."""
    if program is not None:
        return list(program.get_keyboard_control().auto_repeats)
    with closing(Display()) as opened:
        return repeats(opened)


def agent(window: int, seed: int, line: Connection) -> None:
    """Press and release at random until killed; something is held nearly always."""
    signal.signal(signal.SIGUSR1, _wedge)
    rng = random.Random(seed)
    with closing(Glance(window)) as eyes:
        client = eyes.state().client
    steps = StepProcess(window, rules=Rules(per_second=1000, yield_to_person=False))  # others of its kind
    where = Transform(client=client, captured=client)
    line.recv()
    with contextlib.suppress(InputUnavailable):  # the process that was killed
        for turn in range(10**6):
            hands = Hands(Motion())
            hands.press(client.at(rng.random(), rng.random()))
            for key in rng.sample(KEYS, rng.randint(1, 4)):
                hands.key_down(key)
            hands.wait(LONG_S)
            steps.perform(Running(number=turn + 1, plan=hands.plan, transform=where))
            if turn == 0:
                line.send(steps.pid)
            time.sleep(rng.uniform(0.001, 0.02))
            steps.stop()


def _wedge(*_: object) -> None:
    """Work for minutes without giving Python's lock away."""
    re.match(r"(a+)+$", "a" * 32 + "b")


if __name__ == "__main__":
    sys.exit(main())
