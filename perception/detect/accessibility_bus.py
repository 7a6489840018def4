"""The bus on which programs describe their windows to assistive tools: AT-SPI, over D-Bus."""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from perception.errors import MissingExtra

ROOT = "/org/a11y/atspi/accessible/root"
CONNECT_S = 2.0  # to find the bus; the first to ask for it starts it
NO_BUS_CURE = (
    "Install it: apt-get install at-spi2-core dbus, and start bot and game in one session, with "
    "DBUS_SESSION_BUS_ADDRESS set: dbus-run-session -- onmark run BOT."
)


class Node(NamedTuple):
    """One element of a program's tree: the program's name on the bus, and the element's path."""

    program: str
    path: str


class Call(NamedTuple):
    """One question to a program: ``node.interface.method(*body)``; ``signature`` gives the arguments' types."""

    node: Node
    interface: str
    method: str
    signature: str | None = None
    body: tuple[object, ...] = ()


BUS = Node("org.freedesktop.DBus", "/org/freedesktop/DBus")
REGISTRY = Node("org.a11y.atspi.Registry", ROOT)


class AccessibilityBus:
    """A connection. Not thread-safe. It is closed when it is forgotten.

    Raises:
        MissingExtra: jeepney is not installed, or no such bus answers here.
    """

    def __init__(self) -> None:
        try:
            import jeepney
            from jeepney.io import blocking
        except ImportError as problem:
            raise MissingExtra(
                "Reading accessibility trees needs the package jeepney, which is not installed.",
                "Install it: pip install 'onmark[accessibility]'",
            ) from problem
        self._jeepney: Any = jeepney
        try:
            self._connection: Any = blocking.open_dbus_connection(self._address(blocking))
        except (OSError, KeyError, ValueError) as problem:
            raise MissingExtra(
                f"No accessibility bus answers ({problem or type(problem).__name__}).", NO_BUS_CURE
            ) from problem

        self._closing = weakref.finalize(self, self._connection.close)  # nobody closes the detectors of a bot

    def close(self) -> None:
        """Close the connection."""
        self._closing()

    def programs(self, deadline: float) -> Mapping[int, Node]:
        """The roots of the programs that describe themselves, by process id.

        Raises:
            TimeoutError: the bus does not answer in time.
            OSError: the bus is gone.
        """
        (roots,) = self.ask([Call(REGISTRY, "org.a11y.atspi.Accessible", "GetChildren")], deadline)
        nodes = [Node(*root) for root in roots[0]] if roots else []
        ids = self.ask(
            [Call(BUS, BUS.program, "GetConnectionUnixProcessID", "s", (node.program,)) for node in nodes], deadline
        )
        return {int(answer[0]): node for node, answer in zip(nodes, ids, strict=True) if answer}

    def ask(self, calls: Sequence[Call], deadline: float) -> list[tuple[Any, ...] | None]:
        """Ask all at once, and wait for all answers: a program's answers take less than the way to it and back.

        Args:
            calls: the questions; a batch may go to several programs.
            deadline: on the monotonic clock, in seconds.

        Returns:
            The answers in the same order; None where the program says that it cannot.

        Raises:
            TimeoutError: they are not all there in time.
            OSError: the bus is gone.
        """
        serials = [self._send(call) for call in calls]
        answers: dict[int, tuple[Any, ...] | None] = {}
        waiting = set(serials)
        while waiting:
            message = self._connection.receive(timeout=max(0.0, deadline - time.monotonic()))
            serial = message.header.fields.get(self._jeepney.HeaderFields.reply_serial)
            if serial in waiting:  # not a late answer to a question that was given up
                waiting.remove(serial)
                failed = message.header.message_type is self._jeepney.MessageType.error
                answers[serial] = None if failed else message.body
        return [answers[serial] for serial in serials]

    def _send(self, call: Call) -> int:
        """Put a question on the way; its serial number."""
        address = self._jeepney.DBusAddress(call.node.path, call.node.program, call.interface)
        serial = next(self._connection.outgoing_serial)
        message = self._jeepney.new_method_call(address, call.method, call.signature, call.body)
        self._connection.send(message, serial=serial)
        return int(serial)

    def _address(self, blocking: Any) -> str:
        """Where the accessibility bus is, as the session's bus says."""
        address = self._jeepney.DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
        with blocking.open_dbus_connection("SESSION") as session:
            question = self._jeepney.new_method_call(address, "GetAddress")
            answer = session.send_and_get_reply(question, timeout=CONNECT_S)
        if answer.header.message_type is self._jeepney.MessageType.error:
            raise OSError(*answer.body)
        return str(answer.body[0])
