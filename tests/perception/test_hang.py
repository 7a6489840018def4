"""A real game that is stopped does not answer, and answers again when it goes on."""

import os
import signal
from contextlib import closing

from Xlib import X

from agent.bot import Game
from agent.desktop import game_window
from agent.testing.victim import until, victim
from perception.hang import PING, PROTOCOLS, Pings
from perception.x11 import X11Desktop

SECOND = 1_000_000_000


class Clock:
    """Monotonic, by hand."""

    def __init__(self) -> None:
        self.now = 5 * SECOND

    def __call__(self) -> int:
        return self.now


def answered(pings: Pings) -> bool:
    pings.answers()
    return not pings.waiting


def test_a_game_that_is_stopped_and_goes_on(desktop: X11Desktop) -> None:
    clock = Clock()
    with game_window(Game(title="Mines", command=("sgt-mines", "9x9n10#1")), 1, desktop) as mines:
        pid = mines.state().pid
        assert pid is not None
        with closing(Pings(mines.id, clock)) as pings:
            assert pings.answers() is True
            until(lambda: answered(pings))
            clock.now += 100 * SECOND
            os.kill(pid, signal.SIGSTOP)
            try:
                assert pings.answers() is True  # asked just now
                assert pings.waiting
                root = desktop.server.root
                pong = (desktop.server.atom(PING), 0, mines.id + 1)  # another window's
                desktop.server.send(root, root, PROTOCOLS, pong, X.SubstructureNotifyMask)
                assert desktop.titles()  # the server has seen to it
                clock.now += 2 * SECOND - 1
                assert pings.answers() is True
                clock.now += 1
                assert pings.answers() is False
                clock.now += 100 * SECOND
                assert pings.answers() is False
                assert mines.state().foreground  # the X server knows nothing of it
            finally:
                os.kill(pid, signal.SIGCONT)
            until(lambda: pings.answers() is True)


def test_at_most_one_ping_a_second(desktop: X11Desktop) -> None:
    clock = Clock()
    game = Game(title="Mines", command=("sgt-mines", "9x9n10#1"))
    with game_window(game, 1, desktop) as mines, closing(Pings(mines.id, clock)) as pings:
        until(lambda: answered(pings))
        clock.now += SECOND - 1
        assert pings.answers() is True
        assert not pings.waiting
        clock.now += 1
        assert pings.answers() is True
        assert pings.waiting


def test_a_program_that_does_not_say_that_it_answers(desktop: X11Desktop) -> None:
    with victim("Game"):
        number = desktop.find("Game").id
        with closing(Pings(number, Clock())) as pings:
            assert pings.answers() is None
    with closing(Pings(number, Clock())) as pings:
        until(lambda: number not in desktop.ids())
        assert pings.answers() is None
