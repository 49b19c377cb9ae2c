"""Staff come in: the log-in page, sessions, and who has an account."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from math import ceil
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Path, Request
from fastapi.responses import RedirectResponse, Response

from pyramidion.server.context import SESSION_COOKIE, Context, Ctx, Manager, current_account, render, set_cookie
from pyramidion.server.security import safe_path
from pyramidion.store.accounts import SESSION_SECONDS
from pyramidion.store.lockout import LockedOutError

pages = APIRouter(include_in_schema=False)
router = APIRouter(prefix="/api/manage", tags=["manage"])


@pages.get("/login")
def login_page(next: str = "/manage") -> Response:
    return render("login.html", error=None, next=safe_path(next))


@pages.post("/login")
async def log_in(
    request: Request,
    ctx: Ctx,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=500)] = "/manage",
) -> Response:
    """A new session each time, so that nobody can plant one beforehand. Passwords are checked a few at a time."""
    address = request.client.host if request.client else ""
    agent = request.headers.get("user-agent", "")

    def check() -> str | None:
        return ctx.accounts.log_in(name, password, address=address, agent=agent)

    try:
        token = await asyncio.get_running_loop().run_in_executor(ctx.log_ins, check)
    except LockedOutError as error:
        text = str(error)
        page = render("login.html", 429, error=f"{text[0].upper()}{text[1:]}.", next=safe_path(next))
        page.headers["Retry-After"] = str(ceil(error.seconds))
        return page
    if token is None:
        return render("login.html", 401, error="Wrong name or password.", next=safe_path(next))
    response = RedirectResponse(await asyncio.to_thread(_destination, ctx, token, safe_path(next)), 303)
    set_cookie(ctx, response, SESSION_COOKIE, token, SESSION_SECONDS, "strict")
    return response


def _destination(ctx: Context, token: str, target: str) -> str:
    """Where to go after logging in; experts who did not ask for another page come to annotate."""
    account = ctx.accounts.of_session(token)
    return "/annotate" if account and account.role == "expert" and target == "/manage" else target


@pages.post("/logout")
def log_out(request: Request, ctx: Ctx, csrf: Annotated[str, Form(max_length=200)] = "") -> Response:
    account = current_account(request, ctx)
    if csrf != account.csrf:
        raise HTTPException(403, "the page is out of date; reload it")
    ctx.accounts.log_out(request.cookies[SESSION_COOKIE])
    response = RedirectResponse("/login", 303)
    response.delete_cookie(SESSION_COOKIE)
    return response


# -- for managers --------------------------------------------------------------------------------------------


@router.get("/accounts")
def accounts(ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Who has an account, and where they are logged in."""
    sessions = [{**asdict(one), "mine": one.id == account.session} for one in ctx.accounts.sessions()]
    return {"accounts": [asdict(one) for one in ctx.accounts.all()], "sessions": sessions}


@router.delete("/sessions/{id}")
def end_session(id: Annotated[str, Path(max_length=100)], ctx: Ctx, _: Manager) -> dict[str, Any]:
    ctx.accounts.end_session(id)
    return {"ended": id}
