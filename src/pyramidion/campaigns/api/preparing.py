"""The API of the managers' pages for what comes before people: plan, create, edit and preview campaigns, units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from pyramidion.campaigns.change_log import ChangeLog
from pyramidion.campaigns.checks import CONTENT, content_of
from pyramidion.campaigns.plan import Plan
from pyramidion.campaigns.preparing import Wish, create, edit, edit_unit, list_units, plan_wish, wish_of
from pyramidion.campaigns.setting_list import list_settings
from pyramidion.campaigns.statements import UnitEdits
from pyramidion.errors import UsageError, group_alike
from pyramidion.scoring.choice import TO_BE_JUDGED, named_pyramid
from pyramidion.server.context import Ctx, Manager, Watcher
from pyramidion.study import Study
from pyramidion.study.judgments import SIMULATED
from pyramidion.study.tasks import Scope, TaskKind

router = APIRouter(prefix="/api/manage", tags=["manage"])
Id = Annotated[str, Field(max_length=2000)]
Key = tuple[Id, Id]
"""The topic and the id of a unit."""


class PlanRequest(BaseModel):
    """``settings`` are those that differ from the defaults of the kind. With ``start`` the campaign is created and
    runs; with ``draft`` too, it waits until it is opened."""

    kind: TaskKind
    name: str = Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    settings: dict[str, int | float | bool | str] = Field(default_factory=dict)
    topics: list[Id] = Field(default_factory=list)
    systems: list[Id] = Field(default_factory=list)
    pyramid: str | None = None
    without: list[Key] = Field(default_factory=list)
    instructions: dict[str, Any] | None = None
    start: bool = False
    draft: bool = False

    def wish(self) -> Wish:
        scope = Scope(tuple(self.topics), tuple(self.systems), self.pyramid or None, tuple(self.without))
        return Wish(self.kind, self.name, self.settings, scope, self.instructions)


class UnitRequest(BaseModel):
    topic: Id
    unit: Id
    label: str = Field(max_length=2000)


class LabelEdit(BaseModel):
    topic: Id
    unit: Id
    label: str = Field(min_length=1, max_length=500)


class UnitsRequest(BaseModel):
    """What becomes of written statements, with what a manager changes about them."""

    store: bool = False
    seed: int = Field(default=0, ge=0, le=2**53)
    labels: list[LabelEdit] = Field(default_factory=list)
    keep: list[Key] = Field(default_factory=list)
    drop: list[Key] = Field(default_factory=list)

    def edits(self) -> UnitEdits:
        labels = {(one.topic, one.unit): one.label for one in self.labels}
        return UnitEdits(labels, frozenset(self.keep), frozenset(self.drop))


def _planned(made: Plan) -> dict[str, Any]:
    return {
        "tasks": len(made.tasks),
        "assignments": made.assignments,
        "cost": str(made.cost),
        "time": made.time,
        "design": made.sentences,
        "notes": [note.as_dict() for note in group_alike(made.notes)],
    }


@router.post("/plan")
def plan_campaign(body: PlanRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Counts and cost of a campaign; with ``start`` it is created."""
    made = plan_wish(ctx.desk, body.wish())
    if body.start:
        create(ctx.desk, made, actor=account.name, draft=body.draft)
        ctx.study_changed()  # rating adds scales
        if body.kind == "write":
            ctx.warm_up()
    return {**_planned(made), "started": body.start, "draft": body.start and body.draft}


@router.post("/preview")
def preview_plan(body: PlanRequest, ctx: Ctx, _: Manager) -> dict[str, str]:
    """A campaign that is not stored, as workers would see it: the address of a page."""
    made = plan_wish(ctx.desk, body.wish())
    return {"address": f"/manage/preview/{ctx.previews.add(ctx.study(), made.campaign, made.tasks, made.gold)}"}


@router.get("/form")
def form(ctx: Ctx, _: Manager) -> dict[str, Any]:
    """What the form of a campaign offers: settings, pyramids with the one that is judged by default, and the usual
    instructions with their questions."""
    study = ctx.study()
    return {
        "settings": list_settings(study),
        "pyramids": list(study.pyramid_names),
        "usual_pyramid": _usual_pyramid(study.pyramid_names),
        "simulated_pyramids": _simulated_pyramids(study),
        "instructions": CONTENT,
    }


def _simulated_pyramids(study: Study) -> list[str]:
    """The pyramids with units that a rehearsal wrote."""
    units = ((pyramid.name, unit) for pyramid in study.pyramids for unit in pyramid.units)
    return sorted({name for name, unit in units if unit.author.startswith(SIMULATED)})


def _usual_pyramid(names: Sequence[str]) -> str:
    """The pyramid that a plan takes where none is named; empty where somebody has to choose."""
    try:
        return named_pyramid(names, None, prefer=TO_BE_JUDGED)
    except UsageError:
        return ""


@router.get("/campaigns/{name}/design")
def design(name: str, ctx: Ctx, _: Manager) -> dict[str, Any]:
    """A campaign as it was asked for, and whether everything about it may still change."""
    campaign, draft = ctx.desk.campaigns.get(name), ctx.desk.campaigns.is_draft(name)
    return {
        "kind": campaign.kind,
        "name": name,
        "state": campaign.state,
        "draft": draft,
        "settings": wish_of(campaign, draft=draft).settings,
        **asdict(campaign.scope),
        "instructions": content_of(campaign),
    }


@router.put("/campaigns/{name}")
def edit_campaign(name: str, body: PlanRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Change a draft, or of a campaign that has begun what may still change."""
    wish = body.model_copy(update={"name": name}).wish()
    made = edit(ctx.desk, wish, actor=account.name)
    ctx.campaign_changed(name)
    return _planned(made) if made else {}


@router.get("/units")
def units(ctx: Ctx, _: Manager) -> dict[str, Any]:
    """The units that a judging campaign may ask about."""
    return {"units": list_units(ctx.desk)}


@router.post("/units")
def change_unit(body: UnitRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Give a unit other words."""
    edit_unit(ctx.desk, body.topic, body.unit, body.label, actor=account.name)
    ctx.study_changed()
    return {}


@router.post("/campaigns/{name}/units")
def make_units(name: str, body: UnitsRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Filter and sample what was written; with ``store`` it becomes the crowd pyramid."""
    edits = body.edits()
    made = ctx.desk.make_units(name, seed=body.seed, edits=edits)
    if body.store:
        ctx.desk.store_units(made)
        ChangeLog(ctx.desk.database).add("units", actor=account.name, campaign=name, kept=made.kept, **edits.count())
        ctx.study_changed()
    return {
        "kept": made.kept,
        "pyramids": [
            {
                "topic": p.topic,
                "units": [{"id": u.id, "label": u.label, "author": u.author, "group": u.group} for u in p.units],
            }
            for p in made.pyramids
        ],
        "dropped": [
            {"topic": topic, "id": d.unit.id, "label": d.unit.label, "author": d.unit.author, "reason": d.reason}
            for topic, d in made.dropped
        ],
        "notes": [note.as_dict() for note in group_alike(made.notes)],
    }


@router.get("/changes")
def changes(ctx: Ctx, _: Watcher, campaign: Annotated[str, Query(max_length=60)] = "") -> dict[str, Any]:
    """Who changed what, the newest first."""
    return {"changes": [asdict(one) for one in ChangeLog(ctx.desk.database).all(campaign)]}
