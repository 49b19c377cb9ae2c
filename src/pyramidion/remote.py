"""Asking a server over HTTP, and asking again where that helps."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

BUSY = frozenset({429})


def is_busy(status: int, busy: Collection[int] = BUSY) -> bool:
    """Whether the same question may get another answer later: too many requests, or an error of the server."""
    return status in busy or status >= 500


def ask(
    send: Callable[[], Any],
    *,
    tries: int,
    sleep: Callable[[float], object],
    busy: Collection[int] = BUSY,
    longest: float = 60.0,
) -> Any:
    """The first final answer (an httpx response) that sending gives, or whatever the last try gives.

    After an error of the network or a busy server it waits 1, 2, 4, ... seconds, or as long as the server says, and at
    most the longest. The error of the last try is raised.
    """
    import httpx

    for attempt in range(tries - 1):
        wanted = ""
        try:
            response = send()
            if not is_busy(response.status_code, busy):
                return response
            wanted = response.headers.get("Retry-After", "")
        except httpx.TransportError:
            pass
        seconds = float(wanted) if wanted.isascii() and wanted.isdigit() else 0.0
        sleep(min(max(seconds, 2.0**attempt), longest))
    return send()
