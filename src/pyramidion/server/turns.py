"""Workers' requests on SQLite: one thread takes them in turns, and those that came in meanwhile share one transaction.

Nobody gets a reply before the disk has the data, and one wait for the disk serves everybody who waits. Fewer threads
also spend less on passing Python's lock around. On PostgreSQL, which lets writers in side by side, each request has a
thread and a transaction of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import HTTPException
from starlette.concurrency import run_in_threadpool

from pyramidion.errors import PyramidionError
from pyramidion.store.database import Database

MOST_AT_ONCE = 50
"""So that managers and other processes get their turn too."""

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Waiting:
    do: Callable[[], Any]
    reply: asyncio.Future[Any]


class Turns:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[Waiting] = deque()
        self._serving: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "turns")

    async def take(self, do: Callable[[], Reply]) -> Reply:
        """What ``do`` returns, once everything it has written is on disk; it may be called again after a failure."""
        if not self._database.sqlite:
            return await run_in_threadpool(do)
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(do, reply))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await reply

    async def _serve(self) -> None:
        """Go on while somebody waits. Only the event loop's thread touches the queue, so it needs no lock."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
            outcomes = await loop.run_in_executor(self._thread, self._do_together, [turn.do for turn in batch])
            for turn, outcome in zip(batch, outcomes, strict=True):
                if turn.reply.done():
                    continue  # whoever asked has left
                if isinstance(outcome, Exception):
                    turn.reply.set_exception(outcome)
                else:
                    turn.reply.set_result(outcome)
        self._serving = None

    def _do_together(self, doings: list[Callable[[], Any]]) -> list[Any]:
        try:
            with self._database.together():
                return [_outcome(do, PyramidionError, HTTPException) for do in doings]
        except Exception:  # nothing was kept: everybody on their own, so that one failure stays one
            return [_outcome(do, Exception) for do in doings]


def _outcome(do: Callable[[], Any], *expected: type[Exception]) -> Any:
    try:
        return do()
    except expected as error:
        return error
