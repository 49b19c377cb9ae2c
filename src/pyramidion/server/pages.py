"""HTML pages: entry for workers, log-in and overview for managers, downloads."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from pyramidion.campaigns.platforms import Arrival, PlatformError
from pyramidion.campaigns.platforms.local import Local, Pass, open_token, sign_pass
from pyramidion.campaigns.sync import confirm_arrival, platform_of
from pyramidion.campaigns.workers import Entry
from pyramidion.errors import InputError, UnknownError, UsageError
from pyramidion.server.context import (
    SESSION_COOKIE,
    WORKER_COOKIE,
    WORKER_SECONDS,
    Context,
    Ctx,
    LoggedIn,
    Viewer,
    current_account,
    render,
    work_path,
)
from pyramidion.server.security import safe_path
from pyramidion.study.records import to_records

router = APIRouter(include_in_schema=False)


# -- workers come in -----------------------------------------------------------------------------------------


@router.get("/join/{token}")
def join(token: str, ctx: Ctx) -> Response:
    """A personal invitation link."""
    try:
        campaign, person = open_token(ctx.secret, token)
        ctx.desk.campaigns.get(campaign)
    except (InputError, UnknownError):
        return _notice(404, "This link is not valid", "Ask the person who sent the invitation for a new one.")
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
        return _notice(503, "Please try again in a minute", "We could not reach the platform that you come from.")
    except (InputError, UsageError) as error:
        return _notice(400, "This link does not work", str(error))
    return _welcome(ctx, entry)


def _welcome(ctx: Context, entry: Entry) -> Response:
    """The pass is for this campaign only: somebody in two campaigns has two, each with its own session."""
    response = RedirectResponse(f"/work/{quote(entry.campaign, safe='')}", 303)
    cookie = sign_pass(ctx.secret, Pass(entry.worker, entry.campaign, entry.id), time.time())
    _set_cookie(ctx, response, WORKER_COOKIE, cookie, WORKER_SECONDS, "lax", work_path(entry.campaign))
    return response


def _set_cookie(
    ctx: Context, response: Response, name: str, value: str, seconds: int, site: Any, path: str = "/"
) -> None:
    response.set_cookie(
        name, value, max_age=seconds, path=path, httponly=True, samesite=site, secure=ctx.secure_cookies
    )


@router.get("/work/{campaign}")
def work(campaign: str, ctx: Ctx) -> Response:
    try:
        return render("worker.html", campaign=ctx.desk.campaigns.get(campaign).name)
    except UnknownError:
        return _no_campaign()


def _no_campaign() -> Response:
    """Strangers do not learn what other campaigns there are."""
    return _notice(404, "There is nothing here", "Open the link of your invitation exactly as you received it.")


def _notice(status: int, title: str, text: str) -> Response:
    return render("notice.html", status, title=title, text=text)


# -- managers ------------------------------------------------------------------------------------------------


@router.get("/")
def root() -> Response:
    return RedirectResponse("/manage", 303)


@router.get("/login")
def login_page(next: str = "/manage") -> Response:
    return render("login.html", error=None, next=safe_path(next))


@router.post("/login")
def log_in(
    request: Request,
    ctx: Ctx,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=500)] = "/manage",
) -> Response:
    """A new session each time, so that nobody can plant one beforehand."""
    address = request.client.host if request.client else ""
    if not (ctx.log_ins.allows(f"name {name}") and ctx.log_ins.allows(f"address {address}")):
        return render("login.html", 429, error="Too many tries. Wait a minute.", next=safe_path(next))
    token = ctx.accounts.log_in(name, password)
    if token is None:
        return render("login.html", 401, error="Wrong name or password.", next=safe_path(next))
    response = RedirectResponse(_destination(ctx, token, safe_path(next)), 303)
    _set_cookie(ctx, response, SESSION_COOKIE, token, 12 * 3600, "strict")
    return response


def _destination(ctx: Context, token: str, target: str) -> str:
    """Where to go after logging in; experts who did not ask for another page come to annotate."""
    account = ctx.accounts.of_session(token)
    return "/annotate" if account and account.role == "expert" and target == "/manage" else target


@router.post("/logout")
def log_out(request: Request, ctx: Ctx, csrf: Annotated[str, Form(max_length=200)] = "") -> Response:
    account = current_account(request, ctx)
    if csrf != account.csrf:
        raise HTTPException(403, "the page is out of date; reload it")
    ctx.accounts.log_out(request.cookies[SESSION_COOKIE])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


@router.get("/manage")
def manage(ctx: Ctx, account: LoggedIn) -> Response:
    return render("manage.html", account=account, csrf=account.csrf, title=ctx.study().title)


@router.get("/manage/campaigns/{name}")
def campaign_page(name: str, ctx: Ctx, account: LoggedIn) -> Response:
    return render("campaign.html", account=account, csrf=account.csrf, campaign=ctx.desk.campaigns.get(name).name)


# -- downloads -----------------------------------------------------------------------------------------------


@router.get("/manage/campaigns/{name}/export.csv")
def export_csv(name: str, ctx: Ctx, _: Viewer) -> Response:
    """One row per answer: worker, start, submit, duration. Safe to open in a spreadsheet."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(ctx.desk.answers_table(name), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/manage/campaigns/{name}/export.jsonl")
def export_jsonl(name: str, ctx: Ctx, _: Viewer) -> Response:
    """The study with this campaign's answers, as every command reads it."""
    study = ctx.desk.study_of(name)
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in to_records(study))
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
