"""Games that are really played: what a person would click is found, and keeps its number while it is there."""

import time
from contextlib import closing

from agent.bot import Game
from agent.desktop import game_window
from agent.testing.victim import until, xdotool
from perception.detect.everything import everything
from perception.live import LiveWindow
from perception.observation import Observation
from perception.perceiver import Perceiver
from perception.watch import Watched
from perception.window import Desktop, Window


def numbers(seen: Observation) -> dict[str, int]:
    return {cell.name: cell.number for cell in seen.cells}


def perceiver(live: LiveWindow) -> Perceiver:
    return Perceiver(
        Watched(live, sleep=time.sleep), everything(), lambda seen: {m.number: m.label or "" for m in seen.marks}
    )


def click(window: Window, x: int, y: int) -> None:
    client = window.state().client.moved(x, y)
    xdotool("mousemove", client.left, client.top, "click", 1)


def test_the_tiles_of_fifteen_through_moves_and_a_menu(desktop: Desktop) -> None:
    game = Game(title="Fifteen", command=("sgt-fifteen", "4x4#1"), package="sgt-puzzles")
    with game_window(game, 1, desktop) as window, closing(LiveWindow(window, time.monotonic_ns)) as live:
        until(lambda: window.state().foreground)
        eyes = perceiver(live)
        first = eyes.observe()
        assert len(first.cells) == 16
        shown = [cell.kind for cell in first.cells]
        for key in ("Down", "Right", "Up", "Left"):
            xdotool("key", key)
            time.sleep(0.3)  # the tile slides
            seen = eyes.observe()
            assert seen.change.kind in ("local", "unchanged")
            assert numbers(seen) == numbers(first)
        assert sorted(map(str, (cell.kind for cell in seen.cells))) == sorted(map(str, shown))
        click(window, 20, 12)
        time.sleep(0.3)
        xdotool("key", "Escape")
        time.sleep(0.3)
        assert numbers(eyes.observe()) == numbers(first)


def test_a_window_that_shrinks_by_a_pixel_and_moves(desktop: Desktop) -> None:
    game = Game(title="Pattern", command=("sgt-pattern", "5x5#1"), package="sgt-puzzles")
    with game_window(game, 1, desktop) as window, closing(LiveWindow(window, time.monotonic_ns)) as live:
        eyes = perceiver(live)
        first = eyes.observe()
        assert len(first.cells) == 25
        client = first.frame.transform.client
        xdotool("windowsize", window.id, client.width - 1, client.height)
        xdotool("windowmove", window.id, 300, 200)
        until(lambda: window.state().client.width == client.width - 1 and window.state().client.left >= 300)
        time.sleep(0.3)  # the game draws anew
        second = eyes.observe()
        assert second.frame.pixels.shape[1] == client.width - 1
        assert numbers(second) == numbers(first)
