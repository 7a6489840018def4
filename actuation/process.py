"""Performs actions in a process of its own, so that nothing that the agent does keeps an event or a release waiting.

Perception and models hold Python's lock for up to 0.1 s at a time; here nothing does. The process releases all and
ends when the agent's ends; it releases all when the agent's stands still; and its guardian does when it dies itself.

``python -m actuation.process FD``: requests come, and answers go, over the socket ``FD``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields
from multiprocessing.connection import Connection
from operator import index
from typing import Any, TypeVar

import psutil

from actuation import backend
from actuation.errors import InputUnavailable
from actuation.guard import Refusal
from actuation.guardian import Guardian
from actuation.settings import Motion, Rules
from actuation.stepper import TAKEN_FOR_DEAD, Performed, Running
from actuation.thread import PATIENCE_S, StepThread
from actuation.x11_keyboard import X11Keyboard
from perception.glance import Glance

BEAT_S = 0.05  # between the agent's signs of life
SILENT_S = 0.25  # after the last of them the agent is taken for dead; beside perception one was 0.07 s late at worst
ALIVE = b"."
CLOSING_S = 3.0  # for a process that is to end, before it is killed
LOOK_S = 0.02  # between two looks at whether the agent was stopped
DEAD = frozenset({psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})
CURE = "Start the run again; if it recurs, see whether something ends its processes."

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """What the process is to do, told at its start."""

    window: int
    motion: Motion
    rules: Rules
    real_input: bool


class StepProcess:
    """Performs actions on a window, in a process of its own with real input. Close it.

    Args:
        window: the system's number of the window.
        motion: the times that the game needs.
        rules: what is delivered at all.
        display: the X display that the window is on. None: what DISPLAY says.

    Attributes:
        pid: of the process.

    Raises:
        InputUnavailable: input cannot be synthesised here.
        DisplayUnavailable: there is no display.
    """

    def __init__(
        self, window: int, *, motion: Motion | None = None, rules: Rules | None = None, display: str | None = None
    ) -> None:
        self.motion = _plain(Motion, motion or Motion())
        settings = _Settings(
            window=index(window),
            motion=self.motion,
            rules=_plain(Rules, rules or Rules()),
            real_input=backend.ALLOW_REAL_INPUT,
        )
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: a file of the user's working folder must not stand in for a module of ours or of Python's.
                [sys.executable, "-P", "-m", "actuation.process", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ if display is None else {**os.environ, "DISPLAY": display},
            )
        self.pid = self._process.pid
        self._connection = Connection(os.dup(self._socket.fileno()))
        self._numbers = itertools.count()
        self._open: dict[int, Future[Any]] = {}
        self._closed = threading.Event()
        self._dead = False
        self._outbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        ready = self._open[next(self._numbers)] = Future()
        self._outbox.put(pickle.dumps(settings))
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._receive, self._send)]
        for thread in self._threads:
            thread.start()
        try:
            self._answer(ready, PATIENCE_S)
        except BaseException:
            self._end()
            raise

    def perform(self, action: Running) -> Performed:
        """Perform an action, or refuse it; one that takes longer than 0.4 s goes on.

        Raises:
            UserHalt: the person at the desk stopped the agent.
            InputUnavailable: the display, or the process, does not answer.
        """
        performed: Performed = self._ask("perform", action)
        return performed

    def ended(self) -> tuple[list[tuple[int, Refusal]], set[int]]:
        """The numbers of actions that ended before their time since this was asked last; those that go on."""
        ended: tuple[list[tuple[int, Refusal]], set[int]] = self._ask("ended")
        return ended

    def held(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys and the buttons that are down."""
        held: tuple[frozenset[str], frozenset[str]] = self._ask("held")
        return held

    def cancel(self, numbers: Collection[int]) -> None:
        """End actions, and release what they hold."""
        self._ask("cancel", numbers)

    def resume(self) -> None:
        """Go on although a person was at the desk."""
        self._ask("resume")

    def stop(self) -> None:
        """End all actions, and release what is held.

        Raises:
            InputUnavailable: the display, or the process, does not answer.
        """
        self._ask("stop")

    def close(self) -> None:
        """Stop, and end the process; any number of times. One that does not answer is killed: its guardian releases."""
        if self._closed.is_set():
            return
        with contextlib.suppress(InputUnavailable):  # what it held is released all the same
            self._ask("stop", patience_s=CLOSING_S)
        self._end()

    def _ask(self, name: str, *args: object, patience_s: float = PATIENCE_S + 1) -> Any:
        if self._closed.is_set():
            raise InputUnavailable("The executor is closed.", "Make a new one.")
        number, answer = next(self._numbers), Future[Any]()
        self._open[number] = answer
        # Written by another thread: what interrupts this one, such as Ctrl-C, leaves no half of it behind.
        self._outbox.put(pickle.dumps((number, pickle.dumps((name, args)))))
        if self._dead:
            raise self._died()
        return self._answer(answer, patience_s)

    def _answer(self, answer: Future[Any], patience_s: float) -> Any:
        try:
            return answer.result(patience_s)
        except TimeoutError as problem:
            raise InputUnavailable(
                f"The process that synthesises input has not answered for {patience_s:g} s.", CURE
            ) from problem

    def _receive(self) -> None:
        """Hand each answer to whoever waits for it."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, fine, value = self._connection.recv()
                answer = self._open.pop(number)
                if fine:
                    answer.set_result(value)
                else:
                    answer.set_exception(value)
        self._dead = True
        while self._open:
            _, answer = self._open.popitem()
            answer.set_exception(self._died())

    def _send(self) -> None:
        """Send what is asked for, and say all the time that this process lives."""
        with contextlib.suppress(OSError):
            while not self._closed.is_set():
                try:
                    message = self._outbox.get(timeout=BEAT_S)
                except queue.Empty:
                    message = ALIVE
                self._connection.send_bytes(message)

    def _died(self) -> InputUnavailable:
        return InputUnavailable("The process that synthesises input has died; its guardian released all.", CURE)

    def _end(self) -> None:
        """End the process; it releases what it holds, or else its guardian does."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)  # its answers, to its end, still come
        try:
            self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self._connection.close()
        self._socket.close()


class _Agent:
    """The other end, in the process: what it asks for, and whether it lives."""

    def __init__(self, connection: Connection, steps: StepThread) -> None:
        self._connection = connection
        self._steps = steps
        self._sending = threading.Lock()
        self.heard_s = time.monotonic()
        self.gone = threading.Event()

    def listen(self) -> None:
        """Do what is asked for, each beside the others, until the connection ends."""
        with contextlib.suppress(EOFError, OSError), ThreadPoolExecutor() as pool:
            while True:
                message = self._connection.recv_bytes()
                self.heard_s = time.monotonic()
                if message != ALIVE:
                    pool.submit(self._do, message)
        self.gone.set()

    def _do(self, message: bytes) -> None:
        """Do one thing, and say what came of it."""
        number, request = pickle.loads(message)  # noqa: S301 - from the process that started this one
        try:
            name, args = pickle.loads(request)  # noqa: S301
            answer: tuple[int, bool, object] = (number, True, getattr(self._steps, name)(*args))
        except BaseException as problem:  # whatever it is, whoever asked raises it
            answer = (number, False, problem)
        with contextlib.suppress(OSError), self._sending:  # an agent that is gone is told nothing
            self._connection.send(answer)


def serve(connection: Connection, steps: StepThread, agent: psutil.Process) -> None:
    """Do what the agent asks for until it is gone; release all while it stands still."""
    asking = _Agent(connection, steps)
    threading.Thread(target=asking.listen, daemon=True).start()
    while not asking.gone.wait(LOOK_S):
        try:
            still = agent.status() in DEAD or time.monotonic() - asking.heard_s > SILENT_S
        except psutil.NoSuchProcess:
            return
        if still and any(steps.held()):
            steps.stop(TAKEN_FOR_DEAD)


def main() -> None:
    """Run as a process, for the agent that started it."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    agent = psutil.Process(os.getppid())
    with closing(Connection(int(sys.argv[1]))) as connection, ExitStack() as stack:
        try:
            settings: _Settings = connection.recv()
            backend.ALLOW_REAL_INPUT = settings.real_input
            with ThreadPoolExecutor() as pool:
                guardian = pool.submit(lambda: stack.enter_context(closing(Guardian())))  # both take half a second
                keyboard = stack.enter_context(closing(X11Keyboard()))
                real = backend.PyAutoGui(buttons=keyboard.buttons(), fail_safe=False)  # the executor sees to that
            steps = StepThread(
                real,
                stack.enter_context(closing(Glance(settings.window))),
                motion=settings.motion,
                rules=settings.rules,
                guardian=guardian.result(),
                keyboard=keyboard,
            )
            stack.callback(_closed, steps)
        except Exception as problem:  # told to whoever started this
            connection.send((0, False, problem))
            return
        connection.send((0, True, None))
        serve(connection, steps, agent)


def _plain(kind: type[T], settings: T) -> T:
    """Settings without what a subclass adds, which the process would not know."""
    return kind(**{each.name: getattr(settings, each.name) for each in fields(kind)})  # type: ignore[arg-type]


def _closed(steps: StepThread) -> None:
    """Close at the end; a display that is gone holds nothing any more."""
    with contextlib.suppress(InputUnavailable):
        steps.close()


if __name__ == "__main__":
    main()
