"""Pause, step, go on and stop a run, from whatever thread."""

from __future__ import annotations

import threading


class Controls:
    """A run's switches. The loop looks at them between ticks.

    Args:
        paused: begin paused, so that each tick is asked for.
    """

    def __init__(self, *, paused: bool = False) -> None:
        self._changed = threading.Condition()
        self._paused = paused
        self._steps = 0
        self._stopped: str | None = None

    @property
    def paused(self) -> bool:
        """No tick begins by itself."""
        return self._paused

    @property
    def stopped(self) -> str | None:
        """Why the run is to end. None: it is not to."""
        return self._stopped

    def pause(self) -> None:
        """Begin no tick after the one that is under way; everything held is released."""
        self._set(paused=True)

    def resume(self) -> None:
        """Go on."""
        self._set(paused=False)

    def step(self) -> None:
        """While paused: one tick."""
        with self._changed:
            self._steps += 1
            self._changed.notify_all()

    def stop(self, why: str = "It was told to stop.") -> None:
        """End the run after the tick that is under way."""
        with self._changed:
            self._stopped = why
            self._changed.notify_all()

    def wait(self) -> bool:
        """Return when a tick may begin; False: the run is to end, after each tick that was asked for.

        To be called by the loop alone.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._paused or self._steps or self._stopped is not None)
            if not self._paused or not self._steps:
                return self._stopped is None
            self._steps -= 1
            return True

    def _set(self, *, paused: bool) -> None:
        with self._changed:
            self._paused = paused
            self._changed.notify_all()
