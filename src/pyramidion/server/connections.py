"""Limits on connections, so that whoever sends slowly, endlessly or not at all cannot keep others out.

uvicorn sets no limit to how long or how large the head of a request may be, and lets a connection that sends nothing
wait for ever. Bodies are bounded in `pyramidion.server.security`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 15.0
"""From connecting, or from the first byte of another request, until its head must be complete."""
MAX_HEAD = 64 * 1024
"""Address and headers together. Browsers and proxies send a few KB."""
CONNECTIONS = 1000
"""Open connections of one process. A browser has at most six; most are idle between two requests."""

MOST_REQUESTS = 100
"""On one connection; then it is closed with the reply, and whoever has more to ask connects again, with whichever
process has the fewest by then. So an uneven share heals, as after a process was replaced."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection that is closed if a head takes too long or grows too large, after many requests, or if its place is
    needed. ``when_closed`` is called then."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_body = False
        self._active = 0.0
        self._requests = 0
        self.when_closed: Callable[[], object] = lambda: None

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= CONNECTIONS - 1:
            self._make_room()
        super().connection_made(transport)
        self._active = self.loop.time()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)
        self.when_closed()

    def data_received(self, data: bytes) -> None:
        self._active = self.loop.time()
        if self._is_idle and not self._in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        if not self._is_idle or self.transport.is_closing():
            return
        if self._head_bytes > MAX_HEAD:
            self.transport.close()
        elif self._deadline is None:  # a head has begun, or the rest of a refused body is coming
            self._expect_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        self._in_body = True
        super().on_headers_complete()
        self._requests += 1
        if self._requests >= MOST_REQUESTS:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._in_body = False
        self._head_arrived()
        super().on_message_complete()

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _head_arrived(self) -> None:
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self._is_idle:
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has been idle longest, first one of those that never sent a request."""
        others = (cast(BoundedProtocol, other) for other in self.connections)
        idle = [other for other in others if other._is_idle]
        if idle:
            victim = min(idle, key=lambda other: (other.cycle is not None, other._active))
            self.connections.discard(victim)  # closing takes a moment, in which it must not count
            victim.transport.close()
