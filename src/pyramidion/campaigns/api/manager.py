"""The API of the managers' pages: plan, watch, decide, export, score."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from pyramidion import plugins
from pyramidion.campaigns.advancing import change_state as set_state
from pyramidion.campaigns.advancing import go_on
from pyramidion.campaigns.change_log import ChangeLog
from pyramidion.campaigns.management import (
    AnswerChoice,
    WorkerChoice,
    approve_unflagged,
    block_and_remove,
    decide_answers,
    decide_worker,
    invite_people,
    names_of,
    undo,
)
from pyramidion.campaigns.reading import read_scores, read_task, write_answers
from pyramidion.server.context import Ctx, Manager, Watcher
from pyramidion.study.tasks import CampaignState

router = APIRouter(prefix="/api/manage", tags=["manage"])
MOST_INVITATIONS = 1000
QUICK = frozenset({"lite", "pyramid", "responsiveness"})
"""Methods that only count answers. The others read every text, which must not slow down the workers' pages."""
Reason = Annotated[str, Field(min_length=1, max_length=2000)]


class StateRequest(BaseModel):
    state: CampaignState


class WorkerDecisionRequest(BaseModel):
    """approve, reject, bonus and, with block, ``remove_answers`` are about the work on one campaign."""

    action: Literal["approve", "reject"] | WorkerChoice
    reason: Reason
    amount: float | None = Field(default=None, gt=0, le=10_000)
    campaign: str = Field(default="", max_length=60)
    remove_answers: bool = False


class AnswerDecisionRequest(BaseModel):
    action: AnswerChoice
    reason: Reason


class InvitationRequest(BaseModel):
    """Links for a number of unknown people, or for those who are named."""

    campaign: str
    count: int = Field(default=0, ge=0, le=MOST_INVITATIONS)
    people: list[Annotated[str, Field(max_length=200)]] = Field(default_factory=list, max_length=MOST_INVITATIONS)


class ApprovalRequest(BaseModel):
    reason: Reason


class UndoRequest(BaseModel):
    """A decision in the log, by its first and last entry."""

    first: int = Field(ge=1, le=2**53)
    last: int = Field(ge=1, le=2**53)
    reason: Reason


class GoOnRequest(BaseModel):
    reason: Reason


@router.get("")
def study_overview(ctx: Ctx, _: Watcher) -> dict[str, Any]:
    study, campaigns = ctx.study(), ctx.desk.campaigns
    simulated = campaigns.simulated()
    return {
        "title": study.title,
        "blind": ctx.is_blind(),
        "simulated": bool(simulated) or study.is_simulated,
        "counts": study.counts() | {"answers": campaigns.count_answers()},
        "topics": [{"id": topic.id, "title": topic.title} for topic in study.topics],
        "systems": list(study.systems),
        "campaigns": [
            {
                "name": c.name,
                "kind": c.kind,
                "state": c.state,
                "progress": campaigns.progress(c.name),
                "simulated": c.name in simulated,
            }
            for c in campaigns.all()
        ],
        "methods": plugins.names("methods"),
    }


def _reply(content: bytes) -> Response:
    return Response(content, media_type="application/json")


@router.get("/campaigns/{name}")
async def watch(
    name: str, ctx: Ctx, _: Watcher, if_none_match: Annotated[str, Header(max_length=100)] = ""
) -> Response:
    """How a campaign is going; 304 to a page that has this already."""
    return await ctx.overviews.reply(name, if_none_match)


@router.post("/campaigns/{name}/state")
def change_state(name: str, body: StateRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    set_state(ctx.desk, name, body.state)
    ChangeLog(ctx.desk.database).add("state", actor=account.name, campaign=name, state=body.state)
    ctx.rounds.nudge()
    return {"state": body.state}


@router.post("/campaigns/{name}/go-on")
def ask_one_more_round(name: str, body: GoOnRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Release one more round of a campaign that has reached its goal."""
    made = go_on(ctx.desk, name, actor=account.name, reason=body.reason)
    ctx.rounds.nudge()
    return {"round": made.number, "tasks": made.tasks}


@router.get("/campaigns/{name}/answers")
async def answers(name: str, ctx: Ctx, _: Watcher, worker: Annotated[str, Query(max_length=100)] = "") -> Response:
    return await ctx.reader.send(name, write_answers, name, worker, media_type="application/json", headers={})


@router.get("/campaigns/{name}/task")
async def task(name: str, ctx: Ctx, _: Watcher, id: Annotated[str, Query(min_length=1, max_length=300)]) -> Response:
    """One task with its texts and what everybody has answered."""
    return _reply(await ctx.reader.read(name, read_task, name, id))


@router.post("/campaigns/{name}/undo")
def undo_decision(name: str, body: UndoRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Take back what still stands of a decision in the log."""
    return undo(ctx.desk, name, body.first, body.last, actor=account.name, reason=body.reason).as_dict()


@router.post("/workers/{worker}/review")
def decide_about_worker(worker: str, body: WorkerDecisionRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    if body.action == "bonus" and body.amount is None:
        raise HTTPException(422, "a bonus needs an amount")
    if body.remove_answers and body.action != "block":
        raise HTTPException(422, "answers are removed only with a block")
    if not body.campaign and (body.remove_answers or body.action in {"approve", "reject", "bonus"}):
        raise HTTPException(422, "name the campaign")
    how: dict[str, Any] = {"actor": account.name, "reason": body.reason}
    if body.action == "approve" or body.action == "reject":
        return decide_answers(ctx.desk, body.action, body.campaign, worker=worker, **how).as_dict()
    if body.remove_answers:
        done = block_and_remove(ctx.desk, worker, body.campaign, **how)
        return done.rejected.as_dict() | {"removed": done.rejected.removed + done.reopened.removed}
    decide_worker(ctx.desk, body.action, worker, amount=body.amount, campaign=body.campaign, **how)
    return {}


@router.post("/campaigns/{name}/approval")
def approve_all(name: str, body: ApprovalRequest, ctx: Ctx, account: Manager) -> dict[str, Any]:
    """Approve the submissions of all workers who are neither flagged here nor excluded."""
    return approve_unflagged(ctx.desk, name, actor=account.name, reason=body.reason)._asdict()


@router.post("/assignments/{assignment}/review")
def decide_about_answer(
    assignment: Annotated[int, Path(ge=1, le=2**53)], body: AnswerDecisionRequest, ctx: Ctx, account: Manager
) -> dict[str, Any]:
    campaign = ctx.desk.campaigns.of_answer(assignment)
    how: dict[str, Any] = {"actor": account.name, "reason": body.reason}
    return decide_answers(ctx.desk, body.action, campaign, [assignment], **how).as_dict()


@router.get("/scores")
async def scores(ctx: Ctx, _: Watcher, method: Annotated[str, Query(max_length=40)] = "lite") -> Response:
    return _reply(await ctx.reader.read(None, read_scores, method, apart=method not in QUICK))


@router.post("/invitations")
def invitations(body: InvitationRequest, ctx: Ctx, _: Manager) -> dict[str, Any]:
    """Personal links; each is good for one person."""
    names = names_of(body.people)
    if bool(names) == bool(body.count):
        raise HTTPException(422, "give the number of people, or their names")
    made = invite_people(ctx.desk, body.campaign, names or [""] * body.count, ctx.base_url)
    return {"links": [one.link for one in made], "people": [one._asdict() for one in made if one.name]}
