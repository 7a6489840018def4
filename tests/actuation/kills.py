"""Kills agents at random moments while they hold keys and buttons, and looks at what the X server still holds.

``python -m tests.actuation.kills [--kills 100] [--stops 10]``: so many are killed, and so many stopped, as a wedged
process is. Starts a display of its own; prints how long after it all was released.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import sys
import time
from contextlib import closing

from actuation.backend import PyAutoGui
from actuation.executor import Executor
from actuation.guardian import Guardian
from actuation.plan import Hands
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


def main() -> int:
    """Returns 1 when anything was still held."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--stops", type=int, default=10)
    options = asked.parse_args()
    rng = random.Random(1)
    with display(own=True), victim("Game"), closing(open_desktop()) as desktop, closing(X11Keyboard()) as server:
        window = desktop.find("Game")
        window.activate()
        until(lambda: window.state().foreground)
        lasting, holding = 0, 0
        for name, sign, many in (("killed", signal.SIGKILL, options.kills), ("stopped", signal.SIGSTOP, options.stops)):
            times = list[float]()
            for _ in range(many):
                released_s, held = ended(window.id, sign, rng.uniform(0, 0.05), rng.randrange(10**6), server)
                lasting += bool(held)
                holding += released_s > 0
                times.append(1000 * released_s)
            if times:
                worst = f"median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms"
                sys.stdout.write(f"{many} agents {name}: all released after {worst}\n")
        sys.stdout.write(f"held something at that moment: {holding}; still held: {lasting}\n")
    return 1 if lasting else 0


def ended(number: int, sign: signal.Signals, after_s: float, seed: int, server: X11Keyboard) -> tuple[float, str]:
    """End one agent: how long it took until all was released, and what was not."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            agent(number, write_end, random.Random(seed))
        finally:
            os._exit(1)
    os.close(write_end)
    with os.fdopen(read_end) as ready:
        if ready.readline() != "holding\n":
            raise RuntimeError("the agent did not get as far as to hold anything")
        time.sleep(after_s)
        os.kill(child, sign)
        died, was_held = time.monotonic(), said(server)
        while (held := said(server)) and time.monotonic() - died < LIMIT_S:
            pass
        took = time.monotonic() - died
        if sign is signal.SIGSTOP:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return took if was_held else 0.0, held


def said(server: X11Keyboard) -> str:
    """What the X server holds; empty: nothing."""
    state = server.read()
    return " ".join(sorted(state.keys | state.buttons))


def agent(number: int, ready: int, rng: random.Random) -> None:
    """Press and release at random until killed; something is held nearly always."""
    with closing(Glance(number)) as eyes:
        client = eyes.state().client
    executor = Executor(PyAutoGui(), Glance(number), rules=Rules(per_second=1000), guardian=Guardian())
    where = Transform(client=client, captured=client)
    for turn in range(10**6):
        hands = Hands(Motion(press_s=0.001))
        keys = rng.sample(KEYS, rng.randint(1, 4))
        hands.press(client.at(rng.random(), rng.random()))
        for key in keys:
            hands.key_down(key)
        hands.wait(rng.uniform(0.001, 0.02))
        running = Running(number=turn + 1, plan=hands.plan, transform=where)
        executor._call(lambda running=running: executor._stepper.begin(running))  # type: ignore[misc]
        time.sleep(rng.uniform(0.001, 0.02))
        if turn == 0:
            until(lambda: len(executor._stepper.ledger) > 0)
            os.write(ready, b"holding\n")
        executor.release_all()


if __name__ == "__main__":
    sys.exit(main())
