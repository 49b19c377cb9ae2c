"""Campaigns with a goal advance by themselves: after the last answer of a round a look, then the next round or the end.

Nobody waits for it: answers are acknowledged before, and the look is taken where managers' pages are computed too, in a
thread or, with many answers, in another process. What is due is asked of the database, so a server that was killed goes
on where it was, and it does not matter which of several processes gets the last answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import PlatformError
from pyramidion.campaigns.reading import advance_rounds
from pyramidion.campaigns.recruiting import lacking_places, recruit
from pyramidion.campaigns.sync import platform_of

EVERY_SECONDS = 30.0
"""How often to look for what other processes and commands have made due."""
AGAIN_SECONDS, LONGEST_SECONDS = 60.0, 3600.0
"""What failed is tried again after the first, then after twice as long each time, up to the second."""

_log = logging.getLogger("uvicorn.error")


class Advancing:
    """``read`` runs something in a thread or another process, as the size of a campaign demands."""

    def __init__(self, desk: CampaignDesk, read: Callable[..., Awaitable[Any]], api_token: str = "") -> None:
        self._desk, self._read, self._token = desk, read, api_token
        self._due = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failures: dict[str, tuple[int, float]] = {}

    def nudge(self) -> None:
        """Something may be due now; from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the server is ending
                self._loop.call_soon_threadsafe(self._due.set)

    async def run(self) -> None:
        self._loop = asyncio.get_running_loop()
        while True:
            self._due.clear()
            await self._try("rounds", self._advance_all)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), EVERY_SECONDS)

    async def _advance_all(self) -> None:
        for name in await run_in_threadpool(self._desk.rounds.due):
            await self._try(f"campaign {name}", partial(self._read, name, advance_rounds, name))
        if self._token:
            for name in await run_in_threadpool(self._lacking_places):
                await self._try(f"places of campaign {name}", partial(run_in_threadpool, self._recruit, name))

    async def _try(self, what: str, do: Callable[[], Awaitable[Any]]) -> None:
        """Whatever goes wrong must neither end the server nor be tried without a pause."""
        times, after = self._failures.get(what, (0, 0.0))
        if time.monotonic() < after:
            return
        try:
            await do()
            self._failures.pop(what, None)
        except Exception as error:
            pause = min(AGAIN_SECONDS * 2**times, LONGEST_SECONDS)
            self._failures[what] = (times + 1, time.monotonic() + pause)
            said = "%s: could not go on (%s); it is tried again in %.0f seconds"
            _log.error(said, what, error, pause, exc_info=not isinstance(error, PlatformError))

    def _lacking_places(self) -> list[str]:
        names = self._desk.rounds.in_rounds
        last = {name: released[-1] for name in names() if (released := self._desk.rounds.released(name))}
        return [name for name, one in last.items() if lacking_places(self._desk.campaigns.get(name), one)]

    def _recruit(self, name: str) -> None:
        platform = platform_of(self._desk.campaigns.get(name), self._desk.database.secret, self._token)
        recruit(self._desk, name, platform)
