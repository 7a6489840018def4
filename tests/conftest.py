"""Shared fixtures. Real input is off, unless a test asks for a display of its own."""

from __future__ import annotations

import gc
import io
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing

import pytest

from actuation import backend
from agent.desktop import display
from perception.x11 import X11Desktop

pytest_plugins = ["agent.testing.hostile"]


def pytest_unconfigure() -> None:
    """Close what pyautogui's imports leave open: the interpreter's exit would report it below the results."""
    for thing in gc.get_objects():
        if isinstance(thing, io.BufferedReader | socket.socket):
            thing.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run beside each other, those on a display run one after another: they wait for windows and input."""
    for item in items:
        if "own_display" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("display"))


@pytest.fixture(autouse=True)
def no_real_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stray click is an error, not a click."""
    monkeypatch.setattr(backend, "ALLOW_REAL_INPUT", False)


@pytest.fixture
def own_display() -> Iterator[str]:
    """A virtual display with a window manager, the pointer in its middle; the same one for all tests of this process.

    A test that leaves the pointer in a corner would stop the agent of the next.
    """
    with display(own=True) as name:
        subprocess.run(["xdotool", "mousemove", "640", "400"], check=True, timeout=10)
        yield name


@pytest.fixture
def real_input(own_display: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Real input, on a virtual display."""
    monkeypatch.setattr(backend, "ALLOW_REAL_INPUT", True)
    return own_display


@pytest.fixture
def desktop(own_display: str) -> Iterator[X11Desktop]:
    """A connection to the virtual display."""
    with closing(X11Desktop()) as connection:
        yield connection
