"""The pages of experts: the desk, the two editors, adjudication, print view and guidelines."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from pyramidion.errors import UsageError
from pyramidion.store import StoredAnnotation
from pyramidion.web import annotate_views as views
from pyramidion.web.context import Context, Ctx
from pyramidion.web.pages import account_or_login, render

router = APIRouter(prefix="/annotate", include_in_schema=False)


def _page(name: str, request: Request, ctx: Context, **values: Any) -> Response:
    """A page for whoever is logged in; everybody else logs in first."""
    account = account_or_login(request, ctx)
    if isinstance(account, Response):
        return account
    may_edit = account.role in views.EDITORS
    return render(name, account=account, csrf=account.csrf, title=ctx.study().title, may_edit=may_edit, **values)


def _stored(id: int, ctx: Context) -> StoredAnnotation:
    try:
        return ctx.annotations.store.get(id)
    except UsageError as error:
        raise HTTPException(404, str(error)) from None


@router.get("")
def desk(request: Request, ctx: Ctx) -> Response:
    return _page("annotate.html", request, ctx)


@router.get("/compare")
def compare(request: Request, ctx: Ctx, first: int = 0, second: int = 0) -> Response:
    return _page("annotate-compare.html", request, ctx, first=first, second=second)


@router.get("/guidelines")
def guidelines(request: Request, ctx: Ctx) -> Response:
    return _page("annotate-guidelines.html", request, ctx)


@router.get("/{id:int}")
def editor(id: int, request: Request, ctx: Ctx) -> Response:
    stored = _stored(id, ctx)
    return _page(f"annotate-{stored.kind}.html", request, ctx, annotation=stored)
