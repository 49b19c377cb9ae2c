"""HTML pages: entry for workers, overview for managers, downloads."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from pyramidion.campaigns.platforms import Arrival, PlatformError
from pyramidion.campaigns.platforms.local import Local, Pass, open_token, sign_pass
from pyramidion.campaigns.preview import PREFIX, enter_preview
from pyramidion.campaigns.reading import ExportKind, write_export
from pyramidion.campaigns.sync import confirm_arrival, platform_of
from pyramidion.campaigns.workers import Entry
from pyramidion.errors import InputError, UnknownError, UsageError
from pyramidion.server.context import (
    WORKER_COOKIE,
    WORKER_SECONDS,
    Context,
    Ctx,
    PageManager,
    PageWatcher,
    Watcher,
    render,
    set_cookie,
    work_path,
)
from pyramidion.server.notices import notice
from pyramidion.store.accounts import Account

router = APIRouter(include_in_schema=False)


# -- workers come in -----------------------------------------------------------------------------------------


@router.get("/join/{token}")
def join(token: str, ctx: Ctx) -> Response:
    """A personal invitation link."""
    try:
        campaign, person = open_token(ctx.secret, token)
        ctx.desk.campaigns.get(campaign)
    except (InputError, UnknownError):
        return notice(
            404,
            "This link is not valid",
            "Perhaps a part of it is missing: open it exactly as you received it, in one piece.",
            "If that does not help, ask the person who sent the invitation for a new one.",
        )
    return _welcome(ctx, ctx.desk.workers.enter(campaign, Arrival(Local.name, person, study=campaign)))


@router.get("/enter/{campaign}")
def enter(campaign: str, request: Request, ctx: Ctx) -> Response:
    """The way in from a platform, whose ids come as query parameters."""
    try:
        wanted = ctx.desk.campaigns.get(campaign)
        platform = platform_of(wanted, ctx.secret, ctx.api_token, ctx.base_url)
        arrival = platform.arrival(dict(request.query_params))
        confirm_arrival(platform, arrival)
        entry = ctx.desk.workers.enter(campaign, arrival)
    except UnknownError:
        return _no_campaign()
    except PlatformError:
        return notice(
            503,
            "Please try again in a minute",
            "We could not reach the platform that you come from. Your place there is not lost.",
        )
    except (InputError, UsageError) as error:
        return notice(
            400,
            "This link does not work",
            "It may be too old, or not complete. Go back to the platform that you come from, and open the study there "
            "once more.",
            f"What is wrong with it: {error}",
        )
    return _welcome(ctx, entry)


def _welcome(ctx: Context, entry: Entry) -> Response:
    """The pass is for this campaign only: somebody in two campaigns has two, each with its own session."""
    response = RedirectResponse(f"/work/{quote(entry.campaign, safe='')}", 303)
    cookie = sign_pass(ctx.secret, Pass(entry.worker, entry.campaign, entry.id), time.time())
    set_cookie(ctx, response, WORKER_COOKIE, cookie, WORKER_SECONDS, "lax", work_path(entry.campaign))
    return response


@router.get("/work/{campaign}")
def work(campaign: str, ctx: Ctx) -> Response:
    try:
        return render("worker.html", campaign=ctx.desk.campaigns.get(campaign).name)
    except UnknownError:
        return _no_campaign()


def _no_campaign() -> Response:
    """Strangers do not learn what other campaigns there are."""
    return notice(
        404,
        "There is nothing here",
        "Open the link of your invitation exactly as you received it, or the study on the platform that you come from.",
    )


# -- managers ------------------------------------------------------------------------------------------------


def _staff_page(name: str, ctx: Context, account: Account, **values: Any) -> Response:
    return render(name, account=account, csrf=account.csrf, simulated=ctx.is_simulated(), **values)


@router.get("/")
def root() -> Response:
    return RedirectResponse("/manage", 303)


@router.get("/manage")
def manage(ctx: Ctx, account: PageWatcher) -> Response:
    return _staff_page("manage.html", ctx, account, title=ctx.study().title)


@router.get("/manage/campaigns/{name}")
def campaign_page(name: str, ctx: Ctx, account: PageWatcher) -> Response:
    return _staff_page("campaign.html", ctx, account, campaign=ctx.desk.campaigns.get(name).name)


@router.get("/manage/texts")
def texts_page(ctx: Ctx, account: PageManager) -> Response:
    return _staff_page("texts.html", ctx, account, title=ctx.study().title)


@router.get("/manage/campaigns/{name}/edit")
def edit_page(name: str, ctx: Ctx, account: PageManager) -> Response:
    return _staff_page("edit.html", ctx, account, campaign=ctx.desk.campaigns.get(name).name)


# -- a campaign as workers see it ----------------------------------------------------------------------------


@router.get("/manage/campaigns/{name}/preview")
def preview(name: str, ctx: Ctx, _: PageManager) -> Response:
    """A new preview of a campaign, from the beginning."""
    stored = ctx.desk.campaigns.tasks(name)
    gold = {one.task.id: one.gold for one in stored if one.gold}
    token = ctx.previews.add(ctx.study(), ctx.desk.campaigns.get(name), [one.task for one in stored], gold)
    return RedirectResponse(f"/manage/preview/{token}?of={quote(name, safe='')}", 303)


@router.get("/manage/preview/{token}")
def preview_page(token: str, ctx: Ctx, account: PageManager, of: str = "", task: bool = False) -> Response:
    """The workers' page over a preview: somebody new comes in, at the instructions or at the first task."""
    name = f"{PREFIX}{token}"
    try:
        inside = ctx.previews.context(name)
    except UnknownError:
        return notice(404, "This preview is over", "Previews are kept for some hours. Make a new one.")
    entry = enter_preview(inside.desk, name, past_check=task)
    response = render("preview.html", csrf=account.csrf, campaign=name, of=of, token=token)
    cookie = sign_pass(inside.secret, Pass(entry.worker, name, entry.id), time.time())
    set_cookie(ctx, response, WORKER_COOKIE, cookie, WORKER_SECONDS, "lax", work_path(name))
    return response


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
