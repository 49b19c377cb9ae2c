"""The pages of experts, and what they talk to: begin, change, watch, suggest, import, export, compare, store."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from pyramidion.annotation.api import views
from pyramidion.annotation.commands import Command
from pyramidion.annotation.comparison import alikeness
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.annotation.events import LARGEST_ID, StoredAnnotation, read_command
from pyramidion.annotation.exports import ExportFormat, export, store_annotation
from pyramidion.annotation.imports import import_of_file
from pyramidion.annotation.log import ConflictError
from pyramidion.server.context import Context, Ctx, Expert, LoggedIn, Viewer, current_account, render
from pyramidion.store.accounts import Account
from pyramidion.store.studies import MAX_ID, MAX_UNIT_ID
from pyramidion.study import Pyramid

router = APIRouter(prefix="/api/annotate", tags=["annotate"])
pages = APIRouter(prefix="/annotate", include_in_schema=False)

Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
OtherId = Annotated[int, Query(ge=1, le=LARGEST_ID)]
Version = Annotated[int, Query(ge=0, le=LARGEST_ID)]
UnitId = Annotated[str, Query(max_length=MAX_UNIT_ID)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class BeginRequest(BaseModel):
    kind: Literal["pyramid", "peer"]
    topic: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    name: Name
    shared: bool = False
    system: str = Field(default="", max_length=MAX_ID)
    pyramid: Annotated[str, Field(max_length=MAX_ID)] | Annotated[int, Field(ge=1, le=LARGEST_ID)] = ""
    start: str = Field(default="", max_length=MAX_ID)


class CommandRequest(BaseModel):
    command: dict[str, Any]
    base: int = Field(ge=0, le=LARGEST_ID)


class ImportRequest(BaseModel):
    file_name: str = Field(min_length=1, max_length=300)
    text: str


class AdjudicateRequest(BaseModel):
    start: int = Field(ge=1, le=LARGEST_ID)
    other: int | None = Field(default=None, ge=1, le=LARGEST_ID)
    name: Name
    shared: bool = False


def desk_of_account(ctx: Ctx, account: Annotated[Account, Depends(current_account)]) -> AnnotationDesk:
    """The annotations as whoever is logged in sees them; strangers cannot even learn which exist."""
    return ctx.annotations_for(account)


Desk = Annotated[AnnotationDesk, Depends(desk_of_account)]


def stored_annotation(id: Id, desk: Desk) -> StoredAnnotation:
    return desk.store.get(id)


Stored = Annotated[StoredAnnotation, Depends(stored_annotation)]


def reply(content: Any, status: int = 200) -> Response:
    """JSON without FastAPI's validation, which would check every span of a large pyramid again."""
    return Response(json.dumps(content), status, media_type="application/json")


def state_of(desk: AnnotationDesk, stored: StoredAnnotation, account: Account) -> dict[str, Any]:
    pyramid_version = desk.pyramid_version(stored)  # before the state: a change in between shows up next time
    return views.state(stored, desk.open(stored.id), account, pyramid_version)


def check_editor(stored: StoredAnnotation, account: Account) -> None:
    if not views.may_edit(stored, account):
        raise HTTPException(403, f"this annotation belongs to {stored.owner}; begin your own")


# -- the desk ------------------------------------------------------------------------------------------------


@router.get("")
def overview(ctx: Ctx, desk: Desk, account: Viewer) -> Response:
    return reply(
        {
            "me": {"name": account.name, "role": account.role, "may_edit": account.role in views.EDITORS},
            "blind": ctx.is_blind(),
            "topics": views.topics(desk.study),
            "annotations": list(map(views.with_url, desk.as_rows(desk.store.all()))),
        }
    )


@router.post("", status_code=201)
def begin(body: BeginRequest, desk: Desk, account: Expert) -> Response:
    """A new annotation, empty or from what the study has under the name ``start``."""
    about: dict[str, Any] = {"name": body.name, "owner": account.name, "shared": body.shared}
    about["start"] = body.start or None
    if body.kind == "pyramid":
        made = desk.begin_pyramid(body.topic, **about)
    else:
        made = desk.begin_peer(body.topic, body.system, pyramid=body.pyramid, **about)
    return reply(views.head(made), 201)


# -- two annotations -----------------------------------------------------------------------------------------


@router.get("/compare")
def compare(first: OtherId, second: OtherId, desk: Desk, account: Viewer) -> Response:
    """Both annotations, how far they agree, and the adjudications of them that have been begun."""
    one, other, rows = desk.store.get(first), desk.store.get(second), desk.compare(first, second)
    pyramid = desk.pyramid_of(first)
    return reply(
        {
            "kind": one.kind,
            "topic": one.topic,
            "system": one.system,
            "texts": views.texts(desk.open(first).subject.texts),
            "first": views.side(one, desk.open(first)),
            "second": views.side(other, desk.open(second)),
            "pyramid": [views.unit_object(unit) for unit in pyramid.units],
            "rows": views.rows(rows),
            "agreement": alikeness(rows, pyramid)._asdict(),
            "thirds": [views.third(each, account) for each in desk.adjudications(first, second)],
        }
    )


@router.post("/adjudicate", status_code=201)
def adjudicate(body: AdjudicateRequest, desk: Desk, account: Expert) -> Response:
    """A third annotation, which starts from one of two."""
    made = desk.adjudicate(body.start, body.other, name=body.name, owner=account.name, shared=body.shared)
    return reply(views.head(made), 201)


# -- one annotation ------------------------------------------------------------------------------------------


@router.get("/{id}")
def show(stored: Stored, desk: Desk, account: Viewer) -> Response:
    return reply(state_of(desk, stored, account))


@router.post("/{id}/commands")
def command(stored: Stored, body: CommandRequest, desk: Desk, account: Expert) -> Response:
    """Apply one change. 409 if somebody else has changed the same things meanwhile; the reply includes their changes
    and the state."""
    return change(desk, stored, account, read_command(body.command), body.base)


def change(desk: AnnotationDesk, stored: StoredAnnotation, account: Account, wanted: Command, base: int) -> Response:
    check_editor(stored, account)
    try:
        made = desk.apply(stored.id, wanted, author=account.name, base=base)
    except ConflictError as error:
        shown = {"events": views.events(error.events), "state": state_of(desk, stored, account)}
        return reply({"error": str(error), "problems": [], **shown}, 409)
    return reply({"event": views.event(made), "state": state_of(desk, stored, account)})


@router.get("/{id}/changes")
def changes(
    stored: Stored, desk: Desk, account: Viewer, since: Version = 0, pyramid: Version | None = None
) -> Response:
    """The changes since version ``since``, and since version ``pyramid`` of a peer's pyramid."""
    version, pyramid_version = desk.store.version(stored.id), desk.pyramid_version(stored)
    moved = pyramid is not None and pyramid_version is not None and pyramid_version > pyramid
    if version <= since and not moved:
        return reply({"version": version, "pyramid_version": pyramid_version, "events": [], "state": None})
    state = state_of(desk, stored, account)
    new = desk.open(stored.id).events[since : state["version"]]
    versions = {name: state[name] for name in ("version", "pyramid_version")}
    return reply({**versions, "events": views.events(new), "state": state})


@router.get("/{id}/events")
def history(stored: Stored, desk: Desk, _: Viewer) -> Response:
    return reply(views.events(desk.open(stored.id).events))


@router.get("/{id}/round")
def summaries(stored: Stored, desk: Desk, _: Viewer) -> Response:
    """All summaries of the topic, and what the same annotator has made of each under the same name."""
    activity = desk.store.activity()
    return reply([views.round_row(each, mine, activity) for each, mine in desk.round_of(stored.id)])


@router.get("/{id}/references")
def references(stored: Stored, desk: Desk, _: Viewer) -> Response:
    """The texts that the pyramid's words come from: a peer's own state does not have them."""
    return reply({"texts": views.texts(desk.references_of(stored.id))})


@router.get("/{id}/suggestions")
def suggestions(stored: Stored, ctx: Ctx, desk: Desk, _: Viewer, unit: UnitId = "") -> Response:
    """Ranked suggestions; none is applied automatically."""
    annotation = desk.open(stored.id)
    state, texts = annotation.state, annotation.subject.texts
    if isinstance(state, Pyramid):
        return reply(views.unit_suggestions(ctx.suggester.for_unit(state, texts, unit), texts))
    text = texts[stored.system]
    likely = ctx.suggester.for_peer(state, text, desk.pyramid_of(stored.id), desk.references_of(stored.id))
    return reply(views.peer_suggestions(desk.proposals(stored.id), likely, text))


# -- in and out ----------------------------------------------------------------------------------------------


@router.get("/{id}/export")
def download(stored: Stored, desk: Desk, _: Viewer, format: ExportFormat) -> Response:
    made = export(desk, stored.id, format)
    headers = {"Content-Disposition": f'attachment; filename="{made.file_name}"'}
    return Response(made.text, media_type=made.media_type, headers=headers)


@router.post("/{id}/import")
def upload(stored: Stored, body: ImportRequest, desk: Desk, account: Expert) -> Response:
    """A .pyr file into an empty pyramid, or a .pan file into the empty annotation of a peer."""
    check_editor(stored, account)
    annotation = desk.open(stored.id)
    wanted = import_of_file(annotation.subject, body.file_name, body.text)
    return change(desk, stored, account, wanted, annotation.version)


@router.post("/{id}/store")
def store(stored: Stored, ctx: Ctx, account: Expert) -> Response:
    """Store an annotation in the study, or store it again. Managers can store anybody's."""
    if ctx.is_blind_for(account):
        raise HTTPException(403, "this study is blind for experts: a manager puts annotations into it")
    if account.role != "manager":
        check_editor(stored, account)
    made = store_annotation(ctx.annotations, ctx.desk.studies, stored.id)
    ctx.study_changed()
    return reply({"stored": {"pyramids": made.pyramids, "judgments": made.judgments}})


# -- pages ---------------------------------------------------------------------------------------------------


def desk_of_page(ctx: Ctx, account: LoggedIn) -> AnnotationDesk:
    return ctx.annotations_for(account)


PageDesk = Annotated[AnnotationDesk, Depends(desk_of_page)]


def annotation_of_page(id: int, desk: PageDesk) -> StoredAnnotation:
    return desk.store.get(id)


Opened = Annotated[StoredAnnotation, Depends(annotation_of_page)]


def render_page(name: str, ctx: Context, account: Account, **values: Any) -> Response:
    may_edit = account.role in views.EDITORS
    known: dict[str, Any] = {"title": ctx.study().title, "may_edit": may_edit, "blind": ctx.is_blind_for(account)}
    return render(name, account=account, csrf=account.csrf, simulated=ctx.is_simulated(), **known, **values)


@pages.get("")
def desk_page(ctx: Ctx, account: LoggedIn) -> Response:
    return render_page("annotate.html", ctx, account)


@pages.get("/compare")
def comparison_page(ctx: Ctx, account: LoggedIn) -> Response:
    return render_page("annotate-compare.html", ctx, account)


@pages.get("/guidelines")
def guidelines_page(ctx: Ctx, account: LoggedIn) -> Response:
    return render_page("annotate-guidelines.html", ctx, account)


@pages.get("/{id:int}")
def editor_page(stored: Opened, ctx: Ctx, account: LoggedIn) -> Response:
    return render_page(f"annotate-{stored.kind}.html", ctx, account, annotation=stored)


@pages.get("/{id:int}/print")
def print_page(stored: Opened, ctx: Ctx, annotations: PageDesk, account: LoggedIn) -> Response:
    topic = annotations.study.topic(stored.topic)
    view = views.printout(annotations.open(stored.id), annotations.references_of(stored.id))
    values = {"annotation": stored, "view": view, "topic_title": topic.title if topic else ""}
    return render_page("annotate-print.html", ctx, account, **values)
