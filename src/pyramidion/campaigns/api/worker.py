"""What a worker's page talks to: the next task, drafts, submissions."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, Field

from pyramidion.campaigns.api.instructions import instructions, right_answers
from pyramidion.campaigns.assignments import Receipt, SubmissionConflictError
from pyramidion.campaigns.reviewing import platform_of
from pyramidion.campaigns.tasks import check_answer, live_checks, task_page
from pyramidion.campaigns.workers import CHECK_TRIES, Worker
from pyramidion.server.context import Context, OwnPage, Visitor
from pyramidion.study import Campaign

router = APIRouter(tags=["work"])
AssignmentId = Annotated[int, Path(ge=1, le=2**53)]
MAX_DEPTH = 20


def _sound(value: dict[str, Any]) -> dict[str, Any]:
    """Only what every database and every page can hold: Python reads more as JSON than JSON has."""
    _check_depth(value)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # raises ValueError at NaN and half characters
    return value


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(part, depth + 1)


SoundObject = Annotated[dict[str, Any], AfterValidator(_sound)]


class CheckAnswers(BaseModel):
    answers: dict[str, str] = Field(max_length=20)


class Draft(BaseModel):
    draft: SoundObject


class Submission(BaseModel):
    key: str = Field(min_length=8, max_length=100)
    answer: SoundObject


class Statements(BaseModel):
    statements: list[Annotated[str, Field(max_length=2000)]] = Field(max_length=50)


@router.get("/api/work/{campaign}")
async def next_work(campaign: str, visit: Visitor) -> JSONResponse:
    """What this worker should see now."""
    return JSONResponse(await visit.ctx.turns.take(lambda: _next_work(visit.ctx, visit.worker(), campaign)))


def _next_work(ctx: Context, worker: Worker, campaign: str) -> dict[str, Any]:
    found = ctx.campaign(campaign)
    if worker.blocked:
        return {"state": "blocked"}
    if found.settings.check:
        tries, passed = ctx.desk.workers.check_state(campaign, worker.id)
        if not passed:
            return _check_state(found, tries)
    lease = ctx.desk.assignments.lease(campaign, worker.id)
    if lease is None:
        return _nothing_left(ctx, ctx.desk.campaigns.get(campaign))
    return {
        "state": "task",
        "assignment": lease.id,
        "page": task_page(ctx.study(), found, lease.task, lease.gold),
        "expires": lease.expires,
        "draft": lease.draft,
        "progress": _progress(ctx, found, worker),
        "content": instructions(found.kind, with_questions=False),
    }


def _check_state(campaign: Campaign, tries: int) -> dict[str, Any]:
    if tries >= CHECK_TRIES:
        return {"state": "failed-check"}
    content = instructions(campaign.kind, with_questions=True)
    return {
        "state": "instructions-and-check",
        "kind": campaign.kind,
        "content": content,
        "tries_left": CHECK_TRIES - tries,
        "check": True,
    }


def _nothing_left(ctx: Context, campaign: Campaign) -> dict[str, Any]:
    if campaign.state != "running":
        return {"state": campaign.state}
    url = platform_of(campaign, ctx.secret).completion_url("")
    return {"state": "done", "completion_url": url or "", "code": campaign.settings.completion_code}


def _progress(ctx: Context, campaign: Campaign, worker: Worker) -> dict[str, int] | None:
    if not campaign.settings.show_progress:
        return None
    return {"done": ctx.desk.assignments.done_by(campaign.name, worker.id)}


@router.post("/api/work/{campaign}/check")
def answer_check(campaign: str, body: CheckAnswers, visit: OwnPage) -> dict[str, Any]:
    """One of two tries at the comprehension questions."""
    ctx, worker = visit.ctx, visit.welcome_worker()
    found = ctx.campaign(campaign)
    right = right_answers(found.kind)
    wrong = [question for question, answer in right.items() if body.answers.get(question) != answer]
    tries, passed = ctx.desk.workers.record_check(campaign, worker.id, not wrong)
    return {"passed": passed, "tries_left": max(0, CHECK_TRIES - tries), "wrong": [] if passed else wrong}


@router.put("/api/assignments/{assignment}/draft")
async def save_draft(assignment: AssignmentId, body: Draft, visit: OwnPage) -> JSONResponse:
    def save() -> float | None:
        return visit.ctx.desk.assignments.save_draft(assignment, visit.welcome_worker().id, body.draft)

    return JSONResponse({"expires": await visit.ctx.turns.take(save)})


@router.post("/api/assignments/{assignment}/submit")
async def submit(assignment: AssignmentId, body: Submission, visit: OwnPage) -> JSONResponse:
    """Take an answer in. It is on disk before this returns; sending it again changes nothing."""
    receipt = await visit.ctx.turns.take(lambda: _submit(visit.ctx, visit.welcome_worker(), assignment, body))
    return JSONResponse({"counted": receipt.counted, "replayed": receipt.replayed})


def _submit(ctx: Context, worker: Worker, assignment: int, body: Submission) -> Receipt:
    found = ctx.desk.assignments.of_worker(assignment, worker.id)
    if found is None:
        raise SubmissionConflictError("this is not your task")
    page = task_page(ctx.study(), ctx.campaign(found.campaign), found.task, found.gold)
    return ctx.desk.assignments.submit(assignment, worker.id, body.key, check_answer(page, body.answer))


@router.post("/api/assignments/{assignment}/return")
async def give_back(assignment: AssignmentId, visit: OwnPage) -> JSONResponse:
    await visit.ctx.turns.take(lambda: visit.ctx.desk.assignments.give_back(assignment, visit.worker().id))
    return JSONResponse({})


@router.post("/api/statement-checks")
def check_statements(body: Statements, visit: OwnPage) -> dict[str, Any]:
    """What is wrong with statements, while they are being written."""
    visit.welcome_worker()
    return {"problems": live_checks(body.statements)}
