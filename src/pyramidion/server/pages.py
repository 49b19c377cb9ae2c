"""HTML pages: entry for workers, overview for managers, downloads."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from pyramidion.campaigns.platforms.local import open_token, sign_worker
from pyramidion.campaigns.reading import ExportKind, write_export
from pyramidion.campaigns.sync import confirm_arrival, platform_of
from pyramidion.campaigns.workers import Worker
from pyramidion.errors import InputError, UsageError
from pyramidion.server.context import (
    WORKER_COOKIE,
    WORKER_SECONDS,
    Context,
    Ctx,
    PageWatcher,
    Watcher,
    render,
    set_cookie,
)

router = APIRouter(include_in_schema=False)


# -- workers come in -----------------------------------------------------------------------------------------


@router.get("/join/{token}")
def join(token: str, ctx: Ctx) -> Response:
    """A personal invitation link."""
    try:
        campaign, person = open_token(ctx.secret, token)
        ctx.desk.campaigns.get(campaign)
    except (InputError, UsageError):
        return PlainTextResponse("This invitation link is not valid. Ask the person who sent it for a new one.", 404)
    return _welcome(ctx, ctx.desk.workers.join("local", person), campaign)


@router.get("/enter/{campaign}")
def enter(campaign: str, request: Request, ctx: Ctx) -> Response:
    """The way in from a platform, whose ids come as query parameters."""
    wanted = ctx.desk.campaigns.get(campaign)
    try:
        platform = platform_of(wanted, ctx.secret, ctx.api_token)
        arrival = platform.arrival(dict(request.query_params))
        confirm_arrival(platform, arrival)
    except (InputError, UsageError) as error:
        return PlainTextResponse(str(error), 400)
    return _welcome(ctx, ctx.desk.workers.join(arrival.platform, arrival.external, arrival.session), campaign)


def _welcome(ctx: Context, worker: Worker, campaign: str) -> Response:
    response = RedirectResponse(f"/work/{campaign}", 303)
    set_cookie(ctx, response, WORKER_COOKIE, sign_worker(ctx.secret, worker.id, time.time()), WORKER_SECONDS, "lax")
    return response


@router.get("/work/{campaign}")
def work(campaign: str, ctx: Ctx) -> Response:
    return render("worker.html", campaign=ctx.desk.campaigns.get(campaign).name)


# -- managers ------------------------------------------------------------------------------------------------


@router.get("/")
def root() -> Response:
    return RedirectResponse("/manage", 303)


@router.get("/manage")
def manage(ctx: Ctx, account: PageWatcher) -> Response:
    return render("manage.html", account=account, csrf=account.csrf, title=ctx.study().title)


@router.get("/manage/campaigns/{name}")
def campaign_page(name: str, ctx: Ctx, account: PageWatcher) -> Response:
    return render("campaign.html", account=account, csrf=account.csrf, campaign=ctx.desk.campaigns.get(name).name)


# -- downloads -----------------------------------------------------------------------------------------------

MEDIA_TYPES: dict[ExportKind, str] = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@router.get("/manage/campaigns/{name}/export.csv")
async def export_csv(name: str, ctx: Ctx, _: Watcher) -> Response:
    """One row per answer: worker, start, submit, duration. Safe to open in a spreadsheet."""
    return await _download(ctx, name, "csv")


@router.get("/manage/campaigns/{name}/export.jsonl")
async def export_jsonl(name: str, ctx: Ctx, _: Watcher) -> Response:
    """The study with this campaign's answers, as every command reads it."""
    return await _download(ctx, name, "jsonl")


async def _download(ctx: Context, name: str, kind: ExportKind) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return await ctx.reader.send(name, write_export, name, kind, media_type=MEDIA_TYPES[kind], headers=headers)
