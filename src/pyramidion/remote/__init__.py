"""Asking a server over HTTP, and asking again where that helps; chat models are in `chat`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

BUSY = frozenset({429})
RESETS = ("requests", "tokens")
"""What OpenAI and its imitators limit: x-ratelimit-remaining-requests, x-ratelimit-reset-tokens, and so on."""
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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

    After an error of the network or a busy server it waits as long as the server says, otherwise 1, 2, 4, ... seconds,
    and at most the longest. The error of the last try is raised.
    """
    import httpx

    for attempt in range(tries - 1):
        wanted = None
        try:
            response = send()
            if not is_busy(response.status_code, busy):
                return response
            wanted = wanted_wait(response.headers)
        except httpx.TransportError:
            pass
        sleep(min(2.0**attempt if wanted is None else wanted, longest))
    return send()


def wanted_wait(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """The seconds that a busy server asks to wait; None if it says nothing that can be understood."""
    if (given := _number(headers.get("retry-after-ms", ""))) is not None:
        return given / 1000
    if (given := _moment(headers.get("retry-after", ""), now)) is not None:
        return given
    used_up = [what for what in RESETS if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"]
    limits = [f"x-ratelimit-reset-{what}" for what in used_up or RESETS]
    times = [_moment(headers.get(name, ""), now) for name in limits]
    known = [each for each in times if each is not None]
    return max(known) if known else _moment(headers.get("x-ratelimit-reset", ""), now)


def used_up_for(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float:
    """After an answer: the seconds until a limit that it used up is reset, or 0 if nothing is used up."""
    times = [
        _moment(headers.get(f"x-ratelimit-reset-{what}", ""), now)
        for what in RESETS
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max((each for each in times if each is not None), default=0.0)


def _moment(text: str, now: Callable[[], float]) -> float | None:
    """Seconds from now: 7, 0.5, 6m0s, 20ms, an HTTP date, or the seconds or milliseconds since 1970."""
    text = text.strip()
    if (number := _number(text)) is not None:
        if number < 1e9:
            return number
        return max(0.0, (number / 1000 if number >= 1e12 else number) - now())
    parts = _PARTS.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now())
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text.strip()) else None
