"""A game's window on a virtual display, and what captures it."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from agent.testing.victim import until, victim
from perception.capture import Capture
from perception.x11 import X11Desktop, X11Window


@pytest.fixture
def capture(own_display: str) -> Iterator[Capture]:
    with closing(Capture()) as grabber:
        yield grabber


@pytest.fixture
def game(desktop: X11Desktop) -> Iterator[X11Window]:
    """A window titled Game, 300x200, in front."""
    with victim("Game", class_name="Victim"):
        window = desktop.find("Game")
        window.activate()
        until(lambda: window.state().foreground)
        yield window
