"""Marks from a program's own description of its window: buttons, menus and labels, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from perception.detect.accessibility_bus import AccessibilityBus, Call, Node
from perception.detect.base import Detected
from perception.errors import NotObservable
from perception.geometry import Box, Transform
from perception.marks import numbered
from perception.observation import MAX_TEXT, WindowState

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
PROPERTIES = "org.freedesktop.DBus.Properties"
ON_SCREEN = 0  # what extents count from: the screen's corner
SHOWING, VISIBLE = 1 << 25, 1 << 30  # bits of a state's first word: drawn on the screen now; not hidden by its owner
ROLES = frozenset({
    "button", "push button", "toggle button", "check box", "radio button", "combo box", "spin button", "slider", "link",
    "menu", "menu item", "check menu item", "radio menu item", "page tab", "list item", "tree item", "table cell",
    "entry", "text", "label", "statusbar", "status bar",
})  # fmt: skip
"""What an element must be to become a mark, in AT-SPI's words: what is acted on, and what is read."""


class Element(NamedTuple):
    """Something that a program shows.

    Attributes:
        box: in screen pixels.
        role: what it is, in AT-SPI's words, such as ``push button``.
        name: what it is called, often what is written on it; empty where nobody named it.
    """

    box: Box
    role: str
    name: str


class Accessibility:
    """The elements that a program describes to assistive tools, each a mark labelled with its name, or its role.

    For games made with a toolkit (GTK, Qt): their menus, buttons and labels are there, and what they paint themselves
    is not. The program must have found the accessibility bus when it started: not with NO_AT_BRIDGE=1. A frame takes
    15 to 60 ms.

    Unlike other detectors this one asks the program and does not go by the pixels alone: **a replay, which has the
    pixels alone, cannot repeat it**, and a change that moves no pixel is not noticed. Needs
    ``pip install 'onmark[accessibility]'``.

    Args:
        pid: the game's process. None: that of the window that it is attached to, as a run does.
        client: gives the box of what a frame shows, in screen pixels; asked at each frame. None: the client area of
            the window that it is attached to.
        roles: which elements become marks.
        timeout_ms: for all questions of one frame together; a program that hangs costs a tick no more than this.
        most: elements that are asked about, those nearest to the tree's root first.
    """

    def __init__(
        self,
        pid: int | None = None,
        client: Callable[[], Box] | None = None,
        *,
        roles: Collection[str] = ROLES,
        timeout_ms: float = 200,
        most: int = 500,
    ) -> None:
        self.pid = pid
        self.client = client
        self.roles = frozenset(roles)
        self.timeout_ms = timeout_ms
        self.most = most
        self._bus: AccessibilityBus | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same with a connection of its own."""
        return type(self)(self.pid, self.client, roles=self.roles, timeout_ms=self.timeout_ms, most=self.most)

    def attach(self, window: Callable[[], WindowState]) -> None:
        """Take process and place from a window, where they were not given."""
        self.pid = window().pid if self.pid is None else self.pid
        self.client = self.client or (lambda: window().client)

    def detect(self, pixels: NDArray[np.uint8]) -> Detected:
        """Ask the program, and give what lies in the frame; nothing named, no marks.

        Raises:
            MissingExtra: jeepney or the accessibility bus is not there.
            NotObservable: the program is not on the bus or does not answer, or the frame does not show the box that
                ``client`` gives.
        """
        if self.client is None:
            raise NotObservable("Expected a window to ask, found none: a recording has pixels alone.", "Play the game.")
        client, (height, width) = self.client(), pixels.shape[:2]
        scale = width / max(1, client.width)
        if client.is_empty or round(client.height * scale) != height:
            raise NotObservable(
                f"Expected a frame of {client}, found one of {width}x{height}.", "Wait until it is drawn.", "wrong_size"
            )
        where = Transform(client=client, captured=Box(0, 0, client.width, client.height), scale=scale)
        frame = Box(0, 0, width, height)
        boxes = [(where.box_to_capture(element.box).intersection(frame), element) for element in self.elements()]
        named = ((box, (element.name or element.role)[:MAX_TEXT]) for box, element in boxes if not box.is_empty)
        return Detected(cells=(), marks=numbered(named))

    def elements(self) -> list[Element]:
        """What the program shows now, of the roles asked for.

        Raises:
            MissingExtra: jeepney or the accessibility bus is not there.
            NotObservable: the program is not on the bus, or does not answer in time.
        """
        self._bus = self._bus or AccessibilityBus()
        deadline = time.monotonic() + self.timeout_ms / 1000
        try:
            return self._walk(self._bus, deadline)
        except TimeoutError as problem:
            raise NotObservable(
                f"The program {self.pid} did not describe its window within {self.timeout_ms:g} ms.",
                "Wait until it answers, or give it more time: timeout_ms=1000.",
                "frozen",
            ) from problem
        except OSError as problem:
            self.close()
            raise NotObservable(f"The accessibility bus went away ({problem}).", "Start the game again.") from problem

    def close(self) -> None:
        """Close the connection; it is opened again when it is needed."""
        if self._bus is not None:
            self._bus.close()
        self._bus = None

    def _walk(self, bus: AccessibilityBus, deadline: float) -> list[Element]:
        """The tree, level by level."""
        level, seen, found = [self._root(bus, deadline)], set[Node](), list[Element]()
        while level:
            level = [node for node in dict.fromkeys(level) if node not in seen][: self.most - len(seen)]
            seen.update(level)
            states = [_word(answer) for answer in bus.ask([Call(n, ACCESSIBLE, "GetState") for n in level], deadline)]
            found += self._described(bus, [n for n, s in zip(level, states, strict=True) if s & SHOWING], deadline)
            open_ = [n for n, s in zip(level, states, strict=True) if s & VISIBLE or len(seen) == 1]
            below = bus.ask([Call(node, ACCESSIBLE, "GetChildren") for node in open_], deadline)
            level = [Node(*child) for answer in below if answer for child in answer[0]]
        return found

    def _root(self, bus: AccessibilityBus, deadline: float) -> Node:
        programs = bus.programs(deadline)
        if self.pid is None or self.pid not in programs:
            raise NotObservable(
                f"Expected the program {self.pid} on the accessibility bus, found {sorted(programs) or 'none'}.",
                "Start it in the session that the bot runs in, without NO_AT_BRIDGE=1.",
            )
        return programs[self.pid]

    def _described(self, bus: AccessibilityBus, nodes: list[Node], deadline: float) -> list[Element]:
        """Role, name and box of those that have the roles asked for."""
        roles = bus.ask([Call(node, ACCESSIBLE, "GetRoleName") for node in nodes], deadline)
        wanted = [(node, role[0]) for node, role in zip(nodes, roles, strict=True) if role and role[0] in self.roles]
        names = bus.ask([Call(node, PROPERTIES, "Get", "ss", (ACCESSIBLE, "Name")) for node, _ in wanted], deadline)
        boxes = bus.ask([Call(node, COMPONENT, "GetExtents", "u", (ON_SCREEN,)) for node, _ in wanted], deadline)
        return [
            Element(Box(*box[0]), role, name[0][1].strip())
            for (_, role), name, box in zip(wanted, names, boxes, strict=True)
            if name and box
        ]


def _word(state: tuple[Any, ...] | None) -> int:
    """The first 32 bits of an element's state; 0 where it has none."""
    return int(state[0][0]) if state and state[0] else 0
