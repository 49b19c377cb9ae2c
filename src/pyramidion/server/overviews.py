"""The overview of a campaign that managers' pages ask for every few seconds, kept while it does not change.

What it depends on is asked of the database in two short queries. Where nothing has changed, nothing is read; the page
that names what it has already (ETag) is not sent it again. A decision is seen at once, and so are the counts of
answers; the rest, which takes reading all answers, follows new answers as often as costs little.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.reading import read_overview
from pyramidion.server.reader import FEW_ANSWERS

REST = 20.0
"""After an overview of many answers was made, new ones wait so many times as long as that took: this costs at most 5%
of a processor. A campaign with few answers is read in no time."""
PASSING = ("open", "leased", "returned")
"""Counts that change whenever somebody takes a task; nothing but themselves depends on them."""


@dataclass(frozen=True, slots=True)
class KeptOverview:
    decided: tuple[Any, ...]
    answered: tuple[int, ...]
    again: float
    body: bytes


class Overviews:
    """``read`` runs something in a thread or another process, as the size of a campaign demands."""

    def __init__(
        self, desk: CampaignDesk, read: Callable[..., Awaitable[bytes]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._desk, self._read, self._clock = desk, read, clock
        self._kept: dict[str, KeptOverview] = {}

    async def reply(self, name: str, known: str = "") -> Response:
        """The overview as JSON, or 304 where its tag is the one that the page has already."""
        decided, progress = await run_in_threadpool(self._look, name)
        kept = await self._current(name, decided, progress)
        counts = json.dumps(progress).encode()
        tag = f'"{hashlib.sha256(repr((kept.decided, kept.answered)).encode() + counts).hexdigest()[:32]}"'
        if tag == known:
            return Response(status_code=304, headers={"ETag": tag})
        body = b'{"progress": ' + counts + b", " + kept.body[1:]
        return Response(body, media_type="application/json", headers={"ETag": tag})

    def _look(self, name: str) -> tuple[tuple[Any, ...], dict[str, int]]:
        campaigns, studies = self._desk.campaigns, self._desk.studies
        return (*campaigns.decided_so_far(name), studies.newest()), campaigns.progress(name)

    async def _current(self, name: str, decided: tuple[Any, ...], progress: dict[str, int]) -> KeptOverview:
        answered = tuple(count for what, count in progress.items() if what not in PASSING)
        kept, now = self._kept.get(name), self._clock()
        rests = kept is not None and now < kept.again and progress["submitted"] > FEW_ANSWERS
        if kept is not None and kept.decided == decided and (kept.answered == answered or rests):
            return kept
        # Those who ask at the same time share a reading; only those who know the same may.
        body = await self._read(name, read_overview, name, decided, answered)
        done = self._clock()
        self._kept[name] = made = KeptOverview(decided, answered, done + REST * (done - now), body)
        return made
