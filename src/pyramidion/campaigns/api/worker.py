"""The API of a worker's page: the next task, drafts, submissions. And what a platform calls about a worker."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BaseModel, Field
from starlette.concurrency import run_in_threadpool

from pyramidion.campaigns.assignments import OwnProgress, OwnWork, Receipt, SubmissionConflictError
from pyramidion.campaigns.checks import CheckState, answer_check, check_state, instructions
from pyramidion.campaigns.platforms.prolific import EVENT_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from pyramidion.campaigns.queries import MANY
from pyramidion.campaigns.sync import follow_message, platform_of
from pyramidion.campaigns.tasks import Answer, read_submission, task_page
from pyramidion.campaigns.workers import CHECK_TRIES
from pyramidion.errors import InputError
from pyramidion.pyramids.statements import live_checks
from pyramidion.server.context import Ctx, OwnPage, Visit, Visitor
from pyramidion.study import Campaign

router = APIRouter()
AssignmentId = Annotated[int, Path(ge=1, le=2**53)]
MAX_DEPTH = 20


def _sound(value: dict[str, Any]) -> dict[str, Any]:
    """Only values that every database and page can hold: Python's JSON reader accepts more than JSON allows."""
    _check_depth(value)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # raises ValueError at NaN and half characters
    return value


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(part, depth + 1)


SoundObject = Annotated[dict[str, Any], AfterValidator(_sound)]


class Consent(BaseModel):
    text: str = Field(max_length=20_000)


class CheckAnswers(BaseModel):
    answers: dict[str, str] = Field(max_length=20)


class Draft(BaseModel):
    draft: SoundObject


class SubmitRequest(BaseModel):
    key: str = Field(min_length=8, max_length=100)
    answer: SoundObject


class Statements(BaseModel):
    statements: list[Annotated[str, Field(max_length=2000)]] = Field(max_length=50)


@router.get("/api/work/{campaign}", tags=["work"])
async def next_work(campaign: str, visit: Visitor, arriving: bool = False) -> JSONResponse:
    """What this worker should see now. ``arriving``: whoever has not begun reads what it is about before they get a
    task, also where no questions are asked."""
    return JSONResponse(await visit.ctx.turns.take(lambda: _next_work(visit, campaign, arriving=arriving)))


def _next_work(visit: Visit, campaign: str, *, arriving: bool) -> dict[str, Any]:
    ctx, who = visit.ctx, visit.who
    about = ctx.campaign(campaign)
    agreed = ctx.desk.workers.has_agreed(about, who.worker)
    now = check_state(ctx.desk.workers, ctx.secret, about, who.worker) if about.settings.check else None
    asked = now is not None and not now.passed
    if asked or not agreed or (now is None and arriving):
        if visit.worker().blocked:
            return {"state": "blocked", **_told(about)}
        if now is not None and now.check is None and not now.passed:
            return {"state": "failed-check", **_told(about)}
        own = _own(visit, about)
        if not own.left and not own.holds:  # before anybody reads or answers anything in vain
            return _nothing_left(visit, ctx.desk.campaigns.get(campaign))
        if asked or not agreed or not (own.done or own.holds):
            return _beginning(visit, about, own, now if asked else None, agreed=agreed)
    lease = ctx.desk.assignments.lease(campaign, who.worker, who.entry)
    if lease is None and visit.worker().blocked:
        return {"state": "blocked", **_told(about)}
    if lease is None:
        return _nothing_left(visit, ctx.desk.campaigns.get(campaign))
    return {
        "state": "task",
        "assignment": lease.id,
        "page": task_page(ctx.study(), about, lease.task, lease.gold),
        "expires": lease.expires,
        "draft": lease.draft,
        "progress": _shown(lease.own) if lease.own else None,
        "contact": about.settings.contact,
        "content": instructions(about, ctx.study()),
    }


def _own(visit: Visit, campaign: Campaign) -> OwnProgress:
    return visit.ctx.desk.assignments.progress_of(campaign.name, visit.who.worker, visit.who.entry)


def _shown(own: OwnProgress) -> dict[str, Any]:
    return {"done": own.done, "left": own.left, "many": own.left >= MANY, "seconds": round(own.seconds)}


def _beginning(
    visit: Visit, campaign: Campaign, own: OwnProgress, now: CheckState | None, *, agreed: bool
) -> dict[str, Any]:
    """What somebody is told before they begin: pay, time, how much there is, whom to ask, and what to do."""
    settings = campaign.settings
    content = instructions(campaign, visit.ctx.study())
    if now is not None and now.check is not None:
        content["questions"] = now.check.shown()
    way_out = _way_out(visit, campaign)
    return {
        "state": "instructions-and-check" if now is not None else "instructions",
        "kind": campaign.kind,
        "content": content,
        "tries_left": now.tries_left if now is not None else 0,
        "again": now is not None and now.tries_left < CHECK_TRIES,
        "about": {
            "pay": settings.pay,
            "currency": settings.currency,
            "minutes": settings.minutes_per_task,
            "most": settings.most_per_worker,
            "consent": settings.consent,
            "agreed": agreed,
            "contact": settings.contact,
            "code_after": settings.code_after if any(way_out.values()) else None,
            "code_when_stopping": settings.code_when_stopping,
            "early_code": bool(settings.early_code),
            **_shown(own),
        },
    }


def _nothing_left(visit: Visit, campaign: Campaign) -> dict[str, Any]:
    """The completion code is for work: those who gave tasks back instead are told what is missing.

    A campaign that has stopped by itself is finished for workers, and while it has rounds left, more may come.
    """
    done = visit.ctx.desk.assignments.done_by_entry(visit.who.worker, visit.who.entry)
    needed, way_out = campaign.settings.code_after, _way_out(visit, campaign)
    waits_for_code = done > 0 and any(way_out.values())  # also where the campaign is closed meanwhile
    stopped = campaign.state == "paused" and visit.ctx.desk.rounds.has_stopped(campaign.name)
    state = "closed" if stopped else campaign.state
    told = _told(campaign, done, _own(visit, campaign).seconds if done else 0)
    if state == "paused" or (state == "closed" and not waits_for_code):
        return {"state": state, **told}
    more = {"more": True} if _more_may_come(visit, campaign) else {}
    if done >= needed or not any(way_out.values()):
        return {"state": "done", **told, **more, **way_out}
    early = _way_out(visit, campaign, early=True)
    return {"state": "too-few-answers", **told, "done": done, "needed": needed, **more, **early}


def _told(campaign: Campaign, done: int = 0, seconds: float = 0.0) -> dict[str, Any]:
    """What every page without a task may say: what was done, in which time, and whom to ask."""
    told = {"done": done, "seconds": round(seconds), "contact": campaign.settings.contact}
    return {name: value for name, value in told.items() if value}


@router.get("/api/work/{campaign}/way-out", tags=["work"])
def way_out(campaign: str, visit: Visitor) -> dict[str, Any]:
    """For somebody who stops while tasks are left: what they have done, and the code that the campaign gives them."""
    visit.worker()
    about = visit.ctx.campaign(campaign)
    settings = about.settings
    done = visit.ctx.desk.assignments.done_by_entry(visit.who.worker, visit.who.entry)
    finished = done >= settings.code_after and settings.code_when_stopping
    told = {**_told(about, done, _own(visit, about).seconds), "done": done}
    needed = settings.code_after if settings.code_when_stopping and any(_way_out(visit, about).values()) else None
    return {**told, "needed": needed, "finished": finished, **_way_out(visit, about, early=not finished)}


def _more_may_come(visit: Visit, campaign: Campaign) -> bool:
    """Whether a later round may have a task for this worker, who gets none now."""
    if not campaign.settings.until or not visit.ctx.desk.rounds.more_may_come(campaign.name):
        return False
    most = campaign.settings.most_per_worker
    return not most or visit.ctx.desk.assignments.done_by(campaign.name, visit.who.worker) < most


def _way_out(visit: Visit, campaign: Campaign, *, early: bool = False) -> dict[str, str]:
    """Where somebody goes in the end, from their own session, and the code they take there."""
    ctx, settings = visit.ctx, campaign.settings
    session = ctx.desk.workers.entry(visit.who.entry).session
    url = platform_of(campaign, ctx.secret).completion_url(session, early=early)
    code = settings.early_code if early else settings.completion_code
    return {"completion_url": url or "", "code": code}


@router.post("/api/work/{campaign}/consent", tags=["work"])
def consent(campaign: str, body: Consent, visit: OwnPage) -> dict[str, Any]:
    """Somebody agrees to take part, in the words that they have read: others may have been put in their place."""
    ctx, worker = visit.ctx, visit.welcome_worker()
    about = ctx.campaign(campaign)
    if body.text != about.settings.consent:
        raise SubmissionConflictError("what you are asked to agree to has changed; please read it again")
    ctx.desk.workers.record_consent(about, worker.id)
    return {}


@router.post("/api/work/{campaign}/check", tags=["work"])
def check(campaign: str, body: CheckAnswers, visit: OwnPage) -> dict[str, Any]:
    """One of two tries at the comprehension questions. Which answers were wrong is not said."""
    ctx, worker = visit.ctx, visit.welcome_worker()
    about = ctx.campaign(campaign)
    if not ctx.desk.workers.has_agreed(about, worker.id):
        raise HTTPException(403, "agree to take part first")
    now = answer_check(ctx.desk.workers, ctx.secret, about, worker.id, body.answers)
    return {"passed": now.passed, "tries_left": now.tries_left}


@router.put("/api/work/{campaign}/{assignment}/draft", tags=["work"])
async def save_draft(assignment: AssignmentId, body: Draft, visit: OwnPage) -> JSONResponse:
    def save() -> float | None:
        who, assignments = visit.who, visit.ctx.desk.assignments
        campaign = visit.ctx.campaign(who.campaign)
        expires = assignments.save_draft_early(assignment, campaign, who.worker, who.entry, body.draft)
        if expires is None:
            _refuse_blocked(_own_work(visit, assignment))
            expires = assignments.save_draft(assignment, who.worker, body.draft)
        return expires

    return JSONResponse({"expires": await visit.ctx.turns.take(save)})


@router.post("/api/work/{campaign}/{assignment}/submit", tags=["work"])
async def submit(assignment: AssignmentId, body: SubmitRequest, visit: OwnPage) -> JSONResponse:
    """Accept an answer. It is on disk before this returns; sending it again changes nothing."""
    receipt, in_rounds = await visit.ctx.turns.take(lambda: _submit(visit, assignment, body))
    if receipt.filled and in_rounds:
        visit.ctx.rounds.nudge()
    return JSONResponse({"counted": receipt.counted, "replayed": receipt.replayed})


def _own_work(visit: Visit, assignment: int) -> OwnWork:
    """An assignment of this entry: neither of another campaign nor of another session in the same person's name."""
    work = visit.ctx.desk.assignments.of_worker(assignment, visit.who.worker)
    if work is None or not _is_own(visit, work):
        visit.worker()  # or they have to come in again
        raise SubmissionConflictError("this is not your task")
    return work


def _is_own(visit: Visit, work: OwnWork) -> bool:
    return (work.answer.campaign, work.answer.entry) == (visit.who.campaign, visit.who.entry)


def _refuse_blocked(work: OwnWork) -> None:
    """Nothing is accepted from blocked workers."""
    if work.blocked:
        raise HTTPException(403, "blocked")


def _submit(visit: Visit, assignment: int, body: SubmitRequest) -> tuple[Receipt, bool]:
    """The receipt, and whether the campaign asks in rounds."""
    campaign, study = visit.ctx.campaign(visit.who.campaign), visit.ctx.study()

    def read(work: OwnWork) -> Answer:
        if not _is_own(visit, work):
            raise SubmissionConflictError("this is not your task")
        _refuse_blocked(work)
        task, gold = work.answer.task, work.answer.gold
        return read_submission(task_page(study, campaign, task, gold), task, gold, body.answer)

    try:
        receipt = visit.ctx.desk.assignments.submit_read(assignment, visit.who.worker, body.key, read)
    except SubmissionConflictError:
        visit.worker()  # or they have to come in again
        raise
    return receipt, bool(campaign.settings.until)


@router.post("/api/work/{campaign}/{assignment}/return", tags=["work"])
async def give_back(assignment: AssignmentId, visit: OwnPage) -> JSONResponse:
    def give() -> None:
        _own_work(visit, assignment)
        visit.ctx.desk.assignments.give_back(assignment, visit.who.worker)

    await visit.ctx.turns.take(give)
    return JSONResponse({})


@router.post("/api/work/{campaign}/statements", tags=["work"])
def check_statements(body: Statements, visit: OwnPage) -> dict[str, Any]:
    """What is wrong with statements, while they are being written."""
    visit.welcome_worker()
    return {"problems": live_checks(body.statements)}


# -- a platform ----------------------------------------------------------------------------------------------


@router.post("/webhooks/prolific", tags=["webhooks"])
async def prolific(request: Request, ctx: Ctx) -> dict[str, Any]:
    """A submission was withdrawn, timed out, approved or rejected on the platform; the same is done here.

    The call is verified over its raw bytes before anything is read.
    """
    if ctx.webhooks is None:
        raise HTTPException(404, "no webhook is set up")
    raw = await request.body()
    stamp, signature = request.headers.get(TIMESTAMP_HEADER, ""), request.headers.get(SIGNATURE_HEADER, "")
    try:
        event = ctx.webhooks.receive(raw, stamp, signature, request.headers.get(EVENT_HEADER, ""))
    except InputError as error:
        raise HTTPException(401, str(error)) from None
    report = await run_in_threadpool(follow_message, ctx.desk, "prolific", event)
    return {"freed": report.freed}
