"""What the handlers share: the database, and the study kept in memory while it does not change."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.concurrency import run_in_threadpool

from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.annotation.suggestions import Suggester
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.local import Pass, read_pass
from pyramidion.campaigns.platforms.prolific import Webhooks
from pyramidion.campaigns.workers import Worker
from pyramidion.errors import InputError, PyramidionError
from pyramidion.pyramids.statements import live_checks
from pyramidion.server.security import Throttle
from pyramidion.store.accounts import Account, Accounts
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Study

WORKER_COOKIE, SESSION_COOKIE = "pyramidion_worker", "pyramidion_session"
WORKER_SECONDS = 30 * 24 * 3600
REFRESH_SECONDS = 1.0
PAGES = Path(__file__).parent
NOT_INVITED = "open your personal invitation link first"


_templates = Environment(loader=FileSystemLoader(PAGES / "templates"), autoescape=select_autoescape(["html"]))


def work_path(campaign: str) -> str:
    """Where a worker's page sends everything about one campaign."""
    return f"/api/work/{quote(campaign, safe='')}"


def render(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(name).render(**values), status)


# ----------------------------------------------------------------------
# Workers' requests on SQLite: one thread takes them in turns, and those that came in meanwhile share one transaction.
#
# Nobody gets a reply before the disk has the data, and one wait for the disk serves everybody who waits. Fewer threads
# also spend less on passing Python's lock around. On PostgreSQL, which lets writers in side by side, each request has a
# thread and a transaction of its own.

MOST_AT_ONCE = 50
"""A limit, so that managers and other processes get their turn too."""

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Waiting:
    do: Callable[[], Any]
    reply: asyncio.Future[Any]


class Turns:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[Waiting] = deque()
        self._serving: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "turns")

    async def take(self, do: Callable[[], Reply]) -> Reply:
        """What ``do`` returns, once everything it has written is on disk; it may be called again after a failure."""
        if not self._database.sqlite:
            return await run_in_threadpool(do)
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(do, reply))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await reply

    async def _serve(self) -> None:
        """Go on while somebody waits. Only the event loop's thread touches the queue, so it needs no lock."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
            outcomes = await loop.run_in_executor(self._thread, self._do_together, [turn.do for turn in batch])
            for turn, outcome in zip(batch, outcomes, strict=True):
                if turn.reply.done():
                    continue  # whoever asked has left
                if isinstance(outcome, Exception):
                    turn.reply.set_exception(outcome)
                else:
                    turn.reply.set_result(outcome)
        self._serving = None

    def _do_together(self, doings: list[Callable[[], Any]]) -> list[Any]:
        try:
            with self._database.together():
                return [_outcome(do, PyramidionError, HTTPException) for do in doings]
        except Exception:  # nothing was kept: everybody on their own, so that one failure stays one
            return [_outcome(do, Exception) for do in doings]


def _outcome(do: Callable[[], Any], *expected: type[Exception]) -> Any:
    try:
        return do()
    except expected as error:
        return error


# -- what the handlers share ---------------------------------------------------------------------------------


class Context:
    def __init__(
        self,
        desk: CampaignDesk,
        *,
        base_url: str = "",
        secure_cookies: bool = False,
        webhook_secret: str = "",
        api_token: str = "",
    ) -> None:
        self.desk = desk
        self.base_url = base_url.rstrip("/")
        self.api_token = api_token
        self.accounts = Accounts(desk.database)
        self.secure_cookies = secure_cookies
        self.webhooks = Webhooks(webhook_secret) if webhook_secret else None
        self.log_ins = Throttle()
        self.turns = Turns(desk.database)
        self.annotations = AnnotationDesk(desk.database, self.study)
        self.suggester = Suggester()
        self._lock = threading.Lock()
        self._study: Study | None = None
        self._newest = -1
        self._checked = 0.0
        self._campaigns: dict[str, tuple[float, Campaign]] = {}

    @property
    def secret(self) -> bytes:
        return self.desk.database.secret

    def study(self) -> Study:
        """The imported study. Units made while the server runs appear within a second."""
        now = time.monotonic()
        with self._lock:
            if self._study is None or now - self._checked > REFRESH_SECONDS:
                newest = self.desk.studies.newest()
                if self._study is None or newest != self._newest:
                    self._study = self.desk.studies.load()
                self._newest, self._checked = newest, now
            return self._study

    def campaign(self, name: str) -> Campaign:
        """A campaign as it was within the last second. The store, which reads the current state, decides who gets a
        task."""
        now = time.monotonic()
        at, campaign = self._campaigns.get(name, (float("-inf"), None))
        if campaign is None or now - at > REFRESH_SECONDS:
            campaign = self.desk.campaigns.get(name)
            self._campaigns[name] = (now, campaign)
        return campaign

    def warm_up(self) -> None:
        """Load, in the background, what checking statements needs: the first writer should not have to wait."""
        threading.Thread(target=live_checks, args=(["Words are stemmed when this is checked."],), daemon=True).start()

    def study_changed(self) -> None:
        """Call after changing the study: this process sees the change at once, others within a second."""
        with self._lock:
            self._checked = float("-inf")


async def context(request: Request) -> Context:
    """Async, like every dependency that does not block: FastAPI runs the others in threads."""
    ctx = request.app.state.context
    assert isinstance(ctx, Context)
    return ctx


Ctx = Annotated[Context, Depends(context)]


@dataclass(frozen=True, slots=True)
class Visit:
    """A visitor with a signed pass to this campaign; nobody else can see a task."""

    ctx: Context
    who: Pass

    def worker(self) -> Worker:
        worker = self.ctx.desk.workers.get(self.who.worker)
        if worker is None:
            raise HTTPException(401, NOT_INVITED)
        return worker

    def welcome_worker(self) -> Worker:
        """A worker who is not blocked; nothing is accepted from blocked workers."""
        worker = self.worker()
        if worker.blocked:
            raise HTTPException(403, "blocked")
        return worker


async def visit(campaign: str, request: Request) -> Visit:
    """The cookie is sent to the addresses of one campaign only, and is good for no other."""
    ctx = await context(request)
    try:
        who = read_pass(ctx.secret, request.cookies.get(WORKER_COOKIE, ""), max_age=WORKER_SECONDS)
    except InputError:
        raise HTTPException(401, NOT_INVITED) from None
    if who.campaign != campaign:
        raise HTTPException(401, NOT_INVITED)
    return Visit(ctx, who)


async def visit_of_own_page(campaign: str, request: Request) -> Visit:
    """Required for changes: only our own pages set this header; a form on another site cannot."""
    if request.headers.get("x-requested-with") != "pyramidion":
        raise HTTPException(403, "this request did not come from the task page")
    return await visit(campaign, request)


def current_account(request: Request, ctx: Ctx) -> Account:
    token = request.cookies.get(SESSION_COOKIE, "")
    account = ctx.accounts.of_session(token) if token else None
    if account is None:
        raise HTTPException(401, "log in first")
    return account


def logged_in(request: Request, ctx: Ctx) -> Account:
    """For pages: whoever is logged in; everybody else logs in first and comes back."""
    try:
        return current_account(request, ctx)
    except HTTPException:
        asked = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        raise HTTPException(303, "log in first", {"Location": f"/login?next={quote(asked)}"}) from None


def needs_role(*roles: str) -> Callable[..., Any]:
    """A dependency: logged in, with one of these roles and, for a change, the session's CSRF token."""

    async def check(request: Request, account: Annotated[Account, Depends(current_account)]) -> Account:
        if account.role not in roles:
            raise HTTPException(403, f"a {account.role} cannot do this")
        if request.method not in {"GET", "HEAD"} and request.headers.get("x-csrf-token") != account.csrf:
            raise HTTPException(403, "the page is out of date; reload it")
        return account

    return check


LoggedIn = Annotated[Account, Depends(logged_in)]
Visitor = Annotated[Visit, Depends(visit)]
OwnPage = Annotated[Visit, Depends(visit_of_own_page)]
Viewer = Annotated[Account, Depends(needs_role("manager", "expert", "viewer"))]
Expert = Annotated[Account, Depends(needs_role("manager", "expert"))]
Manager = Annotated[Account, Depends(needs_role("manager"))]
