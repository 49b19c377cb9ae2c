"""What the handlers share: the database, and the study kept in memory while it does not change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from sqlalchemy import func, select

from pyramidion.errors import InputError
from pyramidion.model import Study
from pyramidion.platforms.local import read_worker
from pyramidion.platforms.prolific import Webhooks
from pyramidion.store import Account, Accounts, Assignments, Worker, Workers, schema
from pyramidion.web.security import Throttle
from pyramidion.workflows.campaign import Desk

WORKER_COOKIE, SESSION_COOKIE = "pyramidion_worker", "pyramidion_session"
WORKER_SECONDS = 30 * 24 * 3600
REFRESH_SECONDS = 1.0


class Context:
    def __init__(
        self,
        desk: Desk,
        *,
        base_url: str = "",
        secure_cookies: bool = False,
        webhook_secret: str = "",
        api_token: str = "",
    ) -> None:
        self.desk = desk
        self.base_url = base_url.rstrip("/")
        self.api_token = api_token
        self.workers = Workers(desk.database)
        self.assignments = Assignments(desk.database)
        self.accounts = Accounts(desk.database)
        self.secure_cookies = secure_cookies
        self.webhooks = Webhooks(webhook_secret) if webhook_secret else None
        self.log_ins = Throttle()
        self._lock = threading.Lock()
        self._study: Study | None = None
        self._newest = -1
        self._checked = 0.0

    @property
    def secret(self) -> bytes:
        return self.desk.database.secret

    def study(self) -> Study:
        """The imported study. Units made while the server runs appear within a second."""
        now = time.monotonic()
        with self._lock:
            if self._study is None or now - self._checked > REFRESH_SECONDS:
                with self.desk.database.read() as connection:
                    newest = connection.execute(select(func.max(schema.records.c.id))).scalar() or 0
                if self._study is None or newest != self._newest:
                    self._study = self.desk.studies.load()
                self._newest, self._checked = newest, now
            return self._study

    def study_changed(self) -> None:
        """Whoever changed the study here sees it at once; other processes within a second."""
        with self._lock:
            self._checked = float("-inf")


def context(request: Request) -> Context:
    found = request.app.state.context
    assert isinstance(found, Context)
    return found


Ctx = Annotated[Context, Depends(context)]


def current_worker(request: Request, ctx: Ctx) -> Worker:
    """Whoever holds a signed worker cookie; nobody else gets near a task."""
    try:
        id = read_worker(ctx.secret, request.cookies.get(WORKER_COOKIE, ""), max_age=WORKER_SECONDS)
    except InputError:
        raise HTTPException(401, "open your personal invitation link first") from None
    worker = ctx.workers.get(id)
    if worker is None:
        raise HTTPException(401, "open your personal invitation link first")
    return worker


def welcome_worker(worker: Annotated[Worker, Depends(current_worker)]) -> Worker:
    """A worker who is not blocked: from blocked ones nothing is taken in any more."""
    if worker.blocked:
        raise HTTPException(403, "blocked")
    return worker


def own_page(request: Request) -> None:
    """Only our own pages set this header: a form on another site cannot."""
    if request.headers.get("x-requested-with") != "pyramidion":
        raise HTTPException(403, "this request did not come from the task page")


def current_account(request: Request, ctx: Ctx) -> Account:
    token = request.cookies.get(SESSION_COOKIE, "")
    account = ctx.accounts.of_session(token) if token else None
    if account is None:
        raise HTTPException(401, "log in first")
    return account


def needs_role(*roles: str) -> Callable[..., Any]:
    """A dependency: logged in, with one of these roles and, for a change, the session's CSRF token."""

    def check(request: Request, account: Annotated[Account, Depends(current_account)]) -> Account:
        if account.role not in roles:
            raise HTTPException(403, f"a {account.role} cannot do this")
        if request.method not in {"GET", "HEAD"} and request.headers.get("x-csrf-token") != account.csrf:
            raise HTTPException(403, "the page is out of date; reload it")
        return account

    return check


CurrentWorker = Annotated[Worker, Depends(current_worker)]
WelcomeWorker = Annotated[Worker, Depends(welcome_worker)]
Viewer = Annotated[Account, Depends(needs_role("manager", "expert", "viewer"))]
Manager = Annotated[Account, Depends(needs_role("manager"))]
