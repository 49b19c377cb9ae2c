"""Whether the server is up (/healthz) and can do its work (/readyz), for monitors, proxies and the managers' pages."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from pyramidion.store.database import Database, insert_if_new
from pyramidion.store.schema import meta
from pyramidion.store.trouble import Trouble, trouble_of

router = APIRouter(tags=["health"])

FRESH_SECONDS = 3.0
"""A result is used for so long: strangers may ask, and each check writes."""
PATIENCE_SECONDS = 5.0
MIN_FREE = 64 * 1024 * 1024
"""Bytes on the disk of the database. Below that a campaign of some days may fill it."""
SAY_AGAIN_SECONDS = 60.0

log = logging.getLogger("uvicorn.error")


class Health:
    """Checks a database at most every few seconds, whoever asks, and logs each kind of trouble once a minute."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._checked = float("-inf")
        self._troubles: list[Trouble] = []
        self._under_way: asyncio.Future[list[Trouble]] | None = None
        self._said: dict[str, float] = {}

    async def troubles(self) -> list[Trouble]:
        """What is wrong now; nothing if the database can be read and written and its disk has space."""
        if time.monotonic() - self._checked < FRESH_SECONDS:
            return self._troubles
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.ensure_future(asyncio.to_thread(self._check))
        try:
            self._troubles = await asyncio.wait_for(asyncio.shield(self._under_way), PATIENCE_SECONDS)
        except TimeoutError:
            self._troubles = [Trouble("busy", f"the database has not answered for {PATIENCE_SECONDS:g} seconds")]
        self._checked = time.monotonic()
        return self._troubles

    def _check(self) -> list[Trouble]:
        troubles = []
        try:
            with self._database.write() as connection:
                insert_if_new(connection, meta, key="checked", value="")
                connection.execute(meta.update().filter_by(key="checked").values(value=str(time.time())))
        except Exception as error:
            troubles.append(trouble_of(error) or Trouble("failed", "the database does not work"))
            self.say(troubles[0], error)
        path = self._database.path
        free = None if path is None else _free_bytes(path.parent)
        if free is not None and free < MIN_FREE and not troubles:
            troubles.append(Trouble("disk-space", f"the disk of the database has only {free // 2**20} MB left"))
        return troubles

    def say(self, trouble: Trouble, error: BaseException) -> None:
        """Log what is wrong, for whoever runs the server."""
        now = time.monotonic()
        if now - self._said.get(trouble.reason, float("-inf")) > SAY_AGAIN_SECONDS:
            self._said[trouble.reason] = now
            log.error("%s (%s)", trouble.text, str(getattr(error, "orig", error)).split("\n")[0])


def _free_bytes(folder: Path) -> int | None:
    try:
        about = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    return about.f_bavail * about.f_frsize


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "up"}


@router.get("/readyz", responses={503: {"description": "not ready; the reasons are listed"}})
async def readyz(request: Request) -> JSONResponse:
    """The database can be read and written, and its disk has space; otherwise 503 and why not."""
    health: Health = request.app.state.context.health
    troubles = await health.troubles()
    listed = [trouble._asdict() for trouble in troubles]
    return JSONResponse({"status": "not ready" if listed else "ready", "troubles": listed}, 503 if listed else 200)
