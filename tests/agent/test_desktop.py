"""A game's process and its window, real ones."""

from agent.bot import Game
from agent.desktop import game_window
from perception.window import Desktop

GAME = Game(title="Mines", command=("sgt-mines", "9x9n10#1"), package="sgt-puzzles")


def test_one_game_after_another_is_found(desktop: Desktop) -> None:
    """An X server gives the number of a window that is gone to the next one."""
    for _ in range(8):
        with game_window(GAME, 1, desktop) as window:
            assert window.state().client.width > 100
