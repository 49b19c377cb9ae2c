"""The server: one ASGI application over one study database. Several processes may serve the same database."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from pyramidion.annotation.api import routes as annotation
from pyramidion.annotation.commands import RefusedError
from pyramidion.campaigns import BASE_URL, PLACE, TOKEN, WEBHOOK
from pyramidion.campaigns.api import manager as manager_api
from pyramidion.campaigns.api import preparing as preparing_api
from pyramidion.campaigns.api import worker as worker_api
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.forgetting import DAY, forget_expired
from pyramidion.errors import InputError, Problem, PyramidionError, UnknownError
from pyramidion.server import health, log_in, pages, uploads
from pyramidion.server.context import PAGES, Context
from pyramidion.server.notices import notice_of, wants_page
from pyramidion.server.security import HEADERS, Guard
from pyramidion.store.database import Database
from pyramidion.store.trouble import LostDatabaseError, MovedStudyError, trouble_of

BUSY_SECONDS = 10.0
"""Less than a page waits for a reply, so that it is told of a lock instead of hearing nothing."""
RETRY_SECONDS = 5

_log = logging.getLogger("uvicorn.error")


def create_app(place: str | Path, *, base_url: str = "", webhook_secret: str = "", api_token: str = "") -> FastAPI:
    """The application for a study database. ``base_url`` is how people reach it; https makes cookies secure."""
    app = FastAPI(
        title="pyramidion", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", lifespan=_warmed_up
    )
    ctx = app.state.context = Context(
        CampaignDesk(Database.open(place, busy_seconds=BUSY_SECONDS)),
        place=str(place),
        base_url=base_url,
        secure_cookies=base_url.startswith("https:"),
        webhook_secret=webhook_secret,
        api_token=api_token,
    )
    app.mount("/static", StaticFiles(directory=PAGES / "static"), name="static")
    apis = (worker_api.router, manager_api.router, preparing_api.router, uploads.router, log_in.router)
    for router in (*apis, annotation.router, health.router, log_in.pages, pages.router, annotation.pages):
        app.include_router(router)
    _explain_errors(app)
    app.add_middleware(Guard, recognise=ctx.recognise)
    return app


@asynccontextmanager
async def _warmed_up(app: FastAPI) -> AsyncIterator[None]:
    ctx: Context = app.state.context
    if any(campaign.kind == "write" for campaign in ctx.desk.campaigns.all()):
        ctx.warm_up()
    tasks = [asyncio.create_task(_forget_daily(ctx)), asyncio.create_task(ctx.rounds.run())]
    yield
    for task in tasks:
        task.cancel()
    await run_in_threadpool(ctx.close)


async def _forget_daily(ctx: Context) -> None:
    """Erase what campaigns keep only for some days; whatever goes wrong must not end the server."""
    while True:
        try:
            await run_in_threadpool(forget_expired, ctx.desk.database)
        except Exception:
            _log.exception("what is kept only for some days could not be erased; it is tried again tomorrow")
        await asyncio.sleep(DAY)


def from_environment() -> FastAPI:
    """The application for several server processes, configured by environment variables."""
    return create_app(
        os.environ[PLACE],
        base_url=os.environ.get(BASE_URL, ""),
        webhook_secret=os.environ.get(WEBHOOK, ""),
        api_token=os.environ.get(TOKEN, ""),
    )


def _error(
    request: Request,
    status: int,
    message: str,
    problems: Sequence[dict[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
    **more: str,
) -> Response:
    """A page for people, JSON for programs. Quoted input may contain lone surrogates, so everything beyond ASCII is
    escaped."""
    if status >= 400 and wants_page(request):
        page = notice_of(status)
        page.headers.update(headers or {})
        return page
    content = json.dumps({"error": message, "problems": list(problems), **more})
    return Response(content, status, headers, media_type="application/json")


def _explain_errors(app: FastAPI) -> None:
    def answer_with(status: int) -> Callable[[Request, Exception], Response]:
        return lambda request, error: _error(request, status, str(error))

    def bad_input(request: Request, error: Exception) -> Response:
        assert isinstance(error, InputError)
        return _error(request, 422, str(error).split("\n")[0], [problem.as_dict() for problem in error.problems])

    def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _error(request, error.status_code, str(error.detail), headers=error.headers)

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = [Problem(".".join(map(str, e["loc"])), e["msg"]).as_dict() for e in error.errors()]
        return _error(request, 422, "the request is not valid", problems)

    def cannot_be_stored(request: Request, _error_of_database: Exception) -> Response:
        return _error(request, 422, "the request contains characters that cannot be stored")

    def out_of_order(request: Request, error: Exception) -> Response:
        """Not the fault of whoever asked: their page keeps what they did and asks again."""
        trouble = trouble_of(error)
        if trouble is None:
            raise error
        request.app.state.context.health.say(trouble, error)
        headers = {"Retry-After": str(RETRY_SECONDS)}
        message = f"the server has a problem: {trouble.text}"
        return _error(request, 503, message, headers=headers, reason=trouble.reason)

    def broken(request: Request, _unexpected: Exception) -> Response:
        headers = {**HEADERS, "Cache-Control": "no-store"}  # made outside the middleware that adds these
        return _error(request, 500, "something went wrong on the server; try again", headers=headers)

    handlers: dict[type[Exception], Callable[[Request, Exception], Response]] = {
        DataError: cannot_be_stored,  # PostgreSQL refuses the character 0
        DBAPIError: out_of_order,
        NoConnectionError: out_of_order,
        LostDatabaseError: out_of_order,
        MovedStudyError: out_of_order,
        Exception: broken,
        InputError: bad_input,
        RefusedError: answer_with(422),
        UnknownError: answer_with(404),
        PyramidionError: answer_with(409),
        HTTPException: plain,
        RequestValidationError: invalid,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
