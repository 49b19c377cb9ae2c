"""A process of its own for what managers read and for looks, so that workers never wait for them.

Python runs one thread at a time: an overview of thousands of answers in a thread of the server would slow down every
worker for as long as it takes. So whatever reads many answers is done by a second process, at low priority and one at a
time; those who ask for the same thing meanwhile share the answer. A campaign with few answers is read in a thread: that
takes less time than starting a process.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.server.parent import end_with_parent
from pyramidion.store.studies import KeptStudy

FEW_ANSWERS = 300
IDLE_SECONDS = 300.0
"""After so long without work the process ends, and its memory is free again."""
NICE = 5
CHUNK = 256 * 1024

Result = TypeVar("Result")
Reading = Callable[..., Result]
"""Takes a desk, the study and further arguments; has a name in a module, since only that travels between processes."""


class Reader:
    def __init__(self, place: str, desk: CampaignDesk, study: KeptStudy) -> None:
        self._place, self._desk, self._study = place, desk, study
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline, self._their_end = multiprocessing.get_context("spawn").Pipe()
        self._under_way: dict[Any, asyncio.Future[Any]] = {}
        self._idle: asyncio.TimerHandle | None = None

    async def read(
        self, campaign: str | None, reading: Reading[Result], *arguments: Any, apart: bool = False
    ) -> Result:
        """What the reading returns: in a thread if the campaign (or all of them) has few answers, else elsewhere;
        always elsewhere if it is to be done ``apart``, since it takes long however few there are."""
        if not apart and await run_in_threadpool(self._desk.campaigns.count_answers, campaign) <= FEW_ANSWERS:
            return await run_in_threadpool(lambda: reading(self._desk, self._study.load_now(), *arguments))
        key = (reading.__name__, arguments)
        if key not in self._under_way:
            task = asyncio.ensure_future(self._read_elsewhere(reading, arguments))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(self._under_way[key])

    async def send(
        self, campaign: str, writing: Reading[None], *arguments: Any, media_type: str, headers: Mapping[str, str]
    ) -> StreamingResponse:
        """A reply with what the reading writes into a file, whose path comes last.

        From a file it goes out in pieces, and neither memory nor the database has to wait for a slow network.
        """
        handle, path = tempfile.mkstemp(prefix="pyramidion-")
        try:
            await self.read(campaign, writing, *arguments, Path(path))
        except BaseException:
            os.close(handle)
            raise
        finally:
            Path(path).unlink()  # what is open can still be read, and is gone with this process at the latest
        length = {"Content-Length": str(os.fstat(handle).st_size)}
        return FileReply(os.fdopen(handle, "rb"), media_type=media_type, headers={**headers, **length})

    async def _read_elsewhere(self, reading: Reading[Result], arguments: tuple[Any, ...]) -> Result:
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        try:
            try:
                return await loop.run_in_executor(self._process(), _read, reading, arguments)
            except BrokenProcessPool:  # the process was killed, perhaps for its memory; once more in a new one
                self._pool = None
                return await loop.run_in_executor(self._process(), _read, reading, arguments)
        finally:
            if len(self._under_way) <= 1:
                self._idle = loop.call_later(IDLE_SECONDS, self.close)

    def _process(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_prepare,
                initargs=(self._place, self._their_end),
            )
        return self._pool

    def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


class FileReply(StreamingResponse):
    """Sends an open file in pieces, and closes it: whoever asked may be gone before the first piece."""

    def __init__(self, file: BinaryIO, **more: Any) -> None:
        super().__init__(iter(lambda: file.read(CHUNK), b""), **more)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._file:
            await super().__call__(scope, receive, send)


# -- in the other process ------------------------------------------------------------------------------------

_desk: CampaignDesk | None = None
_study: KeptStudy | None = None


def _prepare(place: str, lifeline: Any) -> None:
    global _desk, _study  # noqa: PLW0603 - the process exists for these
    end_with_parent(lifeline)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    _desk = CampaignDesk.open(place)
    _study = KeptStudy(_desk.studies)


def _read(reading: Reading[Result], arguments: tuple[Any, ...]) -> Result:
    assert _desk is not None
    assert _study is not None
    return reading(_desk, _study.load_now(), *arguments)
