"""The pages of experts: the desk, the two editors, adjudication, print view and guidelines."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from pyramidion.annotation.api import views
from pyramidion.annotation.api.views import printed
from pyramidion.annotation.events import StoredAnnotation
from pyramidion.server.context import Context, Ctx, LoggedIn, render
from pyramidion.store.accounts import Account

router = APIRouter(prefix="/annotate", include_in_schema=False)


def annotation_of_page(id: int, ctx: Ctx, _: LoggedIn) -> StoredAnnotation:
    return ctx.annotations.store.get(id)


Opened = Annotated[StoredAnnotation, Depends(annotation_of_page)]


def page(name: str, ctx: Context, account: Account, **values: Any) -> Response:
    may_edit = account.role in views.EDITORS
    return render(name, account=account, csrf=account.csrf, title=ctx.study().title, may_edit=may_edit, **values)


@router.get("")
def desk(ctx: Ctx, account: LoggedIn) -> Response:
    return page("annotate.html", ctx, account)


@router.get("/compare")
def compare(ctx: Ctx, account: LoggedIn, first: int = 0, second: int = 0) -> Response:
    return page("annotate-compare.html", ctx, account, first=first, second=second)


@router.get("/guidelines")
def guidelines(ctx: Ctx, account: LoggedIn) -> Response:
    return page("annotate-guidelines.html", ctx, account)


@router.get("/{id:int}")
def editor(stored: Opened, ctx: Ctx, account: LoggedIn) -> Response:
    return page(f"annotate-{stored.kind}.html", ctx, account, annotation=stored)


@router.get("/{id:int}/print")
def print_view(stored: Opened, ctx: Ctx, account: LoggedIn) -> Response:
    annotations = ctx.annotations
    topic = annotations.study.topic(stored.topic)
    view = printed(annotations.open(stored.id), annotations.references_of(stored.id))
    values = {"annotation": stored, "view": view, "topic_title": topic.title if topic else ""}
    return page("annotate-print.html", ctx, account, **values)
