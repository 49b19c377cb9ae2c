"""Calls from a platform: verified over the raw bytes before anything is read."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from pyramidion.campaigns.platforms.prolific import SIGNATURE_HEADER, TIMESTAMP_HEADER
from pyramidion.campaigns.reviewing import follow_message
from pyramidion.errors import InputError
from pyramidion.server.context import Ctx

router = APIRouter(tags=["webhooks"])


@router.post("/webhooks/prolific")
async def prolific(request: Request, ctx: Ctx) -> dict[str, Any]:
    """A submission changed its state on the platform: withdrawn, timed out, approved or rejected; so it is here."""
    if ctx.webhooks is None:
        raise HTTPException(404, "no webhook is set up")
    raw = await request.body()
    stamp, signature = request.headers.get(TIMESTAMP_HEADER, ""), request.headers.get(SIGNATURE_HEADER, "")
    try:
        event = ctx.webhooks.receive(raw, stamp, signature)
    except InputError as error:
        raise HTTPException(401, str(error)) from None
    submission = event.submission if event else None
    if event is None or submission is None:
        return {"freed": 0}
    report = await run_in_threadpool(follow_message, ctx.desk, "prolific", submission, event.study)
    return {"freed": report.freed}
