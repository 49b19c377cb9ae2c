"""HTML pages: entry for workers, log-in and overview for managers, downloads."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from pyramidion.campaigns.platforms.local import open_token, sign_worker
from pyramidion.campaigns.sync import confirm_arrival, platform_of
from pyramidion.campaigns.workers import Worker
from pyramidion.errors import InputError, UsageError
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
    except (InputError, UsageError):
        return PlainTextResponse("This invitation link is not valid. Ask the person who sent it for a new one.", 404)
    return _welcome(ctx, ctx.desk.workers.join("local", person), campaign)


@router.get("/enter/{campaign}")
def enter(campaign: str, request: Request, ctx: Ctx) -> Response:
    """The way in from a platform, whose ids come as query parameters."""
    wanted = ctx.desk.campaigns.get(campaign)
    try:
        platform = platform_of(wanted, ctx.secret, ctx.api_token, ctx.base_url)
        arrival = platform.arrival(dict(request.query_params))
        confirm_arrival(platform, arrival)
    except (InputError, UsageError) as error:
        return PlainTextResponse(str(error), 400)
    return _welcome(ctx, ctx.desk.workers.join(arrival.platform, arrival.external, arrival.session), campaign)


def _welcome(ctx: Context, worker: Worker, campaign: str) -> Response:
    response = RedirectResponse(f"/work/{campaign}", 303)
    _set_cookie(ctx, response, WORKER_COOKIE, sign_worker(ctx.secret, worker.id, time.time()), WORKER_SECONDS, "lax")
    return response


def _set_cookie(ctx: Context, response: Response, name: str, value: str, seconds: int, site: Any) -> None:
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite=site, secure=ctx.secure_cookies)


@router.get("/work/{campaign}")
def work(campaign: str, ctx: Ctx) -> Response:
    return render("worker.html", campaign=ctx.desk.campaigns.get(campaign).name)


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
