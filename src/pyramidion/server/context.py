"""What the handlers share: the database, and the study kept in memory while it does not change."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from fastapi import Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape
from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool

from pyramidion.annotation.blind import BlindDesks
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.annotation.suggestions import Suggester
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.local import Pass, read_pass
from pyramidion.campaigns.platforms.prolific import Webhooks
from pyramidion.campaigns.workers import Worker
from pyramidion.errors import InputError, PyramidionError
from pyramidion.pyramids.statements import live_checks
from pyramidion.server.health import Health
from pyramidion.server.overviews import Overviews
from pyramidion.server.previews import Previews, is_preview
from pyramidion.server.reader import Reader
from pyramidion.server.rounds import Advancing
from pyramidion.server.security import Sender
from pyramidion.store.accounts import Account, Accounts, is_session_token
from pyramidion.store.connecting import POSTGRES_WRITERS
from pyramidion.store.database import Database
from pyramidion.store.studies import REFRESH_SECONDS, KeptStudy
from pyramidion.store.trouble import trouble_of
from pyramidion.study import Campaign, Study

WORKER_COOKIE, SESSION_COOKIE = "pyramidion_worker", "pyramidion_session"
WORKER_SECONDS = 30 * 24 * 3600
PAGES = Path(__file__).parent
HASHES_AT_ONCE = 2
"""Checking a password takes 64 MiB for some tens of milliseconds; strangers must not multiply that at will."""
NOT_INVITED = "open your personal invitation link first"


_templates = Environment(loader=FileSystemLoader(PAGES / "templates"), autoescape=select_autoescape(["html"]))


def work_path(campaign: str) -> str:
    """Where a worker's page sends everything about one campaign."""
    return f"/api/work/{quote(campaign, safe='')}"


def render(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(name).render(**values), status)


def set_cookie(
    ctx: Context,
    response: Response,
    name: str,
    value: str,
    seconds: int,
    site: Literal["lax", "strict"],
    path: str = "/",
) -> None:
    response.set_cookie(
        name, value, max_age=seconds, path=path, httponly=True, samesite=site, secure=ctx.secure_cookies
    )


# ----------------------------------------------------------------------
# Workers' requests on SQLite: one thread takes them in turns, and those that came in meanwhile share one transaction.
#
# Nobody gets a reply before the disk has the data, and one wait for the disk serves everybody who waits. Fewer threads
# also spend less on passing Python's lock around. On PostgreSQL, which lets writers in side by side, a few threads take
# one request each, in the order they came.

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
        threads = 1 if database.sqlite else POSTGRES_WRITERS
        self._threads = ThreadPoolExecutor(threads, "turns", initializer=database.trust_connections)

    async def take(self, do: Callable[[], Reply]) -> Reply:
        """What ``do`` returns, once everything it has written is on disk; it may be called again after a failure."""
        loop = asyncio.get_running_loop()
        if not self._database.sqlite:
            return await loop.run_in_executor(self._threads, _once_more, do)
        reply: asyncio.Future[Reply] = loop.create_future()
        self._waiting.append(Waiting(do, reply))
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await reply

    async def _serve(self) -> None:
        """Go on while somebody waits. Only the event loop's thread touches the queue, so it needs no lock."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
            outcomes = await loop.run_in_executor(self._threads, self._do_together, [turn.do for turn in batch])
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
        except Exception as error:
            if trouble_of(error):  # the same for everybody, and waiting for it again would not help
                return [error] * len(doings)
            return [_outcome(do, Exception) for do in doings]  # nothing was kept: one failure stays one


def _once_more(do: Callable[[], Reply]) -> Reply:
    """Do it; once more if the connection turns out to be closed, as after a restart of the database."""
    try:
        return do()
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        return do()


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
        place: str = "",
    ) -> None:
        self.desk = desk
        self.base_url = base_url.rstrip("/")
        self.api_token = api_token
        self.accounts = Accounts(desk.database)
        self.secure_cookies = secure_cookies
        self.webhooks = Webhooks(webhook_secret) if webhook_secret else None
        self.log_ins = ThreadPoolExecutor(HASHES_AT_ONCE, "log-in")
        self.turns = Turns(desk.database)
        self.health = Health(desk.database)
        self.annotations = AnnotationDesk(desk.database, self.study)
        self._blind_desks = BlindDesks(desk.database, self.study)
        self.suggester = Suggester()
        self._study = KeptStudy(desk.studies)
        self._campaigns: dict[str, tuple[float, Campaign]] = {}
        self._blind = (float("-inf"), False)
        self.reader = Reader(place or str(desk.database.path or ""), desk, self._study)
        self.overviews = Overviews(desk, self.reader.read)
        self.rounds = Advancing(desk, self.reader.read, api_token)
        self.previews = Previews(lambda preview: Context(preview, base_url=base_url, secure_cookies=secure_cookies))

    @property
    def secret(self) -> bytes:
        return self.desk.database.secret

    def study(self) -> Study:
        """The imported study. Units made while the server runs appear within a second."""
        return self._study.load()

    def is_simulated(self) -> bool:
        """Whether answers of a rehearsal are in the study or in any of its campaigns."""
        return self.study().is_simulated or bool(self.desk.campaigns.simulated())

    def campaign(self, name: str) -> Campaign:
        """A campaign as it was within the last second. The store, which reads the current state, decides who gets a
        task."""
        now = time.monotonic()
        at, campaign = self._campaigns.get(name, (float("-inf"), None))
        if campaign is None or now - at > REFRESH_SECONDS:
            campaign = self.desk.campaigns.get(name)
            self._campaigns[name] = (now, campaign)
        return campaign

    def campaign_changed(self, name: str) -> None:
        """Call after editing a campaign: this process sees the change at once, others within a second."""
        self._campaigns.pop(name, None)

    def is_blind(self) -> bool:
        """Whether experts annotate blind, as it was set within the last second."""
        now = time.monotonic()
        if now - self._blind[0] > REFRESH_SECONDS:
            self._blind = (now, self.desk.studies.is_blind())
        return self._blind[1]

    def is_blind_for(self, account: Account) -> bool:
        return account.role == "expert" and self.is_blind()

    def annotations_for(self, account: Account) -> AnnotationDesk:
        """The desk of annotations as somebody sees it."""
        return self._blind_desks.of(account.name) if self.is_blind_for(account) else self.annotations

    def recognise(self, cookies: Mapping[str, str]) -> Sender:
        """Who sends a request, by the signatures of its cookies alone."""
        if is_session_token(self.secret, cookies.get(SESSION_COOKIE, "")):
            return "staff"
        try:
            read_pass(self.secret, cookies.get(WORKER_COOKIE, ""), max_age=WORKER_SECONDS)
        except InputError:
            return "stranger"
        return "worker"

    def close(self) -> None:
        """When the server stops: everything on disk, and no process or thread left."""
        self.previews.close()
        self.reader.close()
        self.log_ins.shutdown(wait=False, cancel_futures=True)
        self.desk.database.close()

    def warm_up(self) -> None:
        """Load, in the background, what checking statements needs: the first writer should not have to wait."""
        threading.Thread(target=live_checks, args=(["Words are stemmed when this is checked."],), daemon=True).start()

    def study_changed(self) -> None:
        """Call after changing the study: this process sees the change at once, others within a second."""
        self._study.check_again()


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
    if is_preview(campaign):
        ctx = await run_in_threadpool(ctx.previews.context, campaign)
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


def watcher(ctx: Ctx, account: Viewer) -> Account:
    """For what names systems or shows results: not for experts who annotate blind."""
    if ctx.is_blind_for(account):
        raise HTTPException(403, "this study is blind for experts: they see only their own annotations")
    return account


def page_watcher(ctx: Ctx, account: LoggedIn) -> Account:
    """The same for pages; experts who annotate blind come to their annotations instead."""
    if ctx.is_blind_for(account):
        raise HTTPException(303, "this study is blind for experts", {"Location": "/annotate"})
    return account


def page_manager(account: LoggedIn) -> Account:
    """For pages that change something: managers; everybody else comes to the overview."""
    if account.role != "manager":
        raise HTTPException(303, "this page is for managers", {"Location": "/manage"})
    return account


Watcher = Annotated[Account, Depends(watcher)]
PageWatcher = Annotated[Account, Depends(page_watcher)]
PageManager = Annotated[Account, Depends(page_manager)]
