"""How fast a server is asked: how many requests are under way at once, and from when on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


class Pace:
    """At most so many requests at once; half as many after "too many requests", one more after each round of answers.

    Everybody waits when the server asks one of them to wait. ``sleep`` and ``clock`` are for tests.
    """

    def __init__(
        self,
        most: int,
        *,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = self._most = most
        self._stopped = threading.Event()
        self._sleep, self._clock = sleep or self._stopped.wait, clock
        self._free = threading.Condition()
        self._running = self._answered = 0
        self._not_before = float("-inf")

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a place and for the time; the place is free again at the end."""
        with self._free:
            self._free.wait_for(lambda: self._running < self.limit or self._stopped.is_set())
            self._running += 1
        try:
            while not self._stopped.is_set() and (pause := self._not_before - self._clock()) > 0:
                self._sleep(pause)
            if self._stopped.is_set():
                raise StoppedError
            yield
        finally:
            with self._free:
                self._running -= 1
                self._free.notify_all()

    def hold(self, seconds: float) -> None:
        """Nobody begins a request for so long."""
        with self._free:
            self._not_before = max(self._not_before, self._clock() + seconds)

    def slow_down(self) -> None:
        with self._free:
            self.limit, self._answered = max(1, self.limit // 2), 0

    def speed_up(self) -> None:
        with self._free:
            self._answered += 1
            if self._answered >= self.limit and self.limit < self._most:
                self.limit, self._answered = self.limit + 1, 0
                self._free.notify_all()

    def stop(self) -> None:
        """Let nobody wait any longer."""
        self._stopped.set()
        with self._free:
            self._free.notify_all()
