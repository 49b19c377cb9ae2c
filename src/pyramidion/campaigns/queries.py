"""What is asked of the database for every request of a worker, and about a campaign; built once.

SQLAlchemy takes longer to build a query than SQLite to answer it. On PostgreSQL each query is a trip to another process
and back, so that what belongs together is asked together. Names in ``:colons`` in the comments are the parameters.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    String,
    and_,
    bindparam,
    cast,
    exists,
    func,
    insert,
    literal,
    not_,
    or_,
    select,
    true,
    update,
)

from pyramidion.store import schema

_a, _t, _c, _q = schema.assignments.c, schema.tasks.c, schema.campaigns.c, schema.qualifications.c
_worker: BindParameter[str] = bindparam("worker")
_assignment: BindParameter[int] = bindparam("assignment")
_task: BindParameter[int] = bindparam("task")
_campaign: BindParameter[int] = bindparam("campaign")
_name: BindParameter[str] = bindparam("campaign_name")
_now: BindParameter[float] = bindparam("now")

WITH_TASKS = schema.assignments.join(schema.tasks, _a.task_id == _t.id)
WITH_CAMPAIGNS = WITH_TASKS.join(schema.campaigns, _t.campaign_id == _c.id)

WORKER = select(schema.workers).where(schema.workers.c.id == _worker)
CAMPAIGN = select(schema.campaigns).where(_c.name == _name)
_e = schema.entries.c
ENTRIES = select(
    _e.id, _c.name.label("campaign"), _e.worker_id.label("worker"), _e.platform, _e.study, _e.session, _e.arrived
).join_from(schema.entries, schema.campaigns, _e.campaign_id == _c.id)
"""Every way in which somebody came to a campaign; to be narrowed down."""
CHECK = (
    select(_q.tries, _q.passed)
    .join_from(schema.qualifications, schema.campaigns, _q.campaign_id == _c.id)
    .where(_c.name == _name, _q.worker_id == _worker)
)
_g = schema.consents.c
CONSENT = (
    select(_g.at, _g.text)
    .join_from(schema.consents, schema.campaigns, _g.campaign_id == _c.id)
    .where(_c.name == _name, _g.worker_id == _worker)
    .order_by(_g.id.desc())
    .limit(1)
)


ANSWERS = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted, _c.name.label("campaign"), schema.workers.c.platform)
    .select_from(WITH_CAMPAIGNS.join(schema.workers, _a.worker_id == schema.workers.c.id))
    .order_by(_a.id)
)
"""Every assignment with its task, in the order they were made; to be narrowed down."""


def ids_of_answers(campaign: str) -> Select[Any]:
    return select(_a.id).select_from(WITH_CAMPAIGNS).where(_c.name == campaign)


UNPAID = ("rejected", "withdrawn")
"""Why a submitted answer may not be paid for."""
COUNTS = and_(_a.state == "submitted", not_(_a.surplus), _a.removed.is_(None))
"""An answer that is in scores: submitted in time, and not removed since."""


def _places_taken(task: ColumnElement[Any]) -> Select[Any]:
    """How many of a task's places are taken at :now, by counted submissions and by leases that have not expired."""
    active = and_(_a.state == "leased", _a.expires > _now)
    return select(func.count()).select_from(schema.assignments).where(_a.task_id == task, or_(COUNTS, active))


PLACES_TAKEN = _places_taken(_task)

LOCK_WORKER = (
    select(schema.campaigns)
    .join(schema.workers, true())
    .where(_c.name == _name, schema.workers.c.id == _worker)
    .with_for_update(of=schema.workers, key_share=True)
)
"""The campaign :campaign_name, with the row of :worker locked."""
LOCK_TASK = select(_t.id).where(_t.id == _task).with_for_update()
LOCK_TASK_OF: Select[Any] = (
    select(_t.id, _t.wanted, _c.settings)
    .join_from(schema.tasks, schema.campaigns, _t.campaign_id == _c.id)
    .where(_t.id == select(_a.task_id).where(_a.id == _assignment, _a.worker_id == _worker).scalar_subquery())
    .with_for_update(of=schema.tasks)
)
"""The task that :assignment of :worker is about, locked, with the settings of its campaign."""

OPEN_LEASES = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted)
    .select_from(WITH_TASKS)
    .where(_a.worker_id == _worker, _a.state == "leased", _t.campaign_id == _campaign)
    .order_by(_a.expires.desc())
)

ASSIGNMENT = (
    select(
        schema.assignments,
        _t.body,
        _t.gold,
        _c.name.label("campaign"),
        schema.workers.c.blocked,
        schema.workers.c.platform,
    )
    .select_from(WITH_CAMPAIGNS.join(schema.workers, _a.worker_id == schema.workers.c.id))
    .where(_a.id == _assignment, _a.worker_id == _worker)
)


DONE = (
    select(func.count())
    .select_from(WITH_CAMPAIGNS)
    .where(_a.worker_id == _worker, _a.state == "submitted", _c.name == _name)
)
"""How many tasks of :campaign_name :worker has submitted."""
DONE_BY_ENTRY = (
    select(func.count())
    .select_from(schema.assignments)
    .where(_a.worker_id == _worker, _a.entry_id == bindparam("entry"), _a.state == "submitted")
    .where(or_(_a.removed.is_(None), _a.removed.not_in(UNPAID)))
)
"""How many answers of :worker, by :entry, are paid for."""


def _withdrew(campaign: ColumnElement[Any]) -> Select[Any]:
    withdrawn = select(_a.id).select_from(WITH_TASKS).where(_a.worker_id == _worker, _a.removed == "withdrawn")
    return withdrawn.where(_t.campaign_id == campaign)


MAY_WORK = select(
    schema.workers.c.blocked, _withdrew(_campaign).exists().label("withdrew"), DONE.scalar_subquery().label("done")
).where(schema.workers.c.id == _worker)
"""What may keep :worker from the tasks of :campaign (:campaign_name): a block, having withdrawn by leaving it on the
platform, or having done enough."""


def _topics_written_for() -> Select[Any]:
    """Topics that :worker has taken a writing task of, in any campaign."""
    written, writing = schema.tasks.alias("written"), schema.campaigns.alias("writing")
    wrote = schema.assignments.alias("wrote")
    return (
        select(written.c.topic)
        .join_from(wrote, written, wrote.c.task_id == written.c.id)
        .join(writing, written.c.campaign_id == writing.c.id)
        .where(wrote.c.worker_id == _worker, writing.c.kind == "write")
    )


def _free_task(
    *, apart: bool, lock: bool = True, most: int = 1, campaign: ColumnElement[Any] = _campaign
) -> Select[Any]:
    """The first task of :campaign with a place left at :now that :worker has not had, or the first few. On PostgreSQL
    it is locked, and those that somebody else has locked are passed over."""
    mine = exists().where(_a.task_id == _t.id, _a.worker_id == _worker)
    query = (
        select(schema.tasks)
        .where(_t.campaign_id == campaign, _t.full.is_(False), not_(mine))
        .where(_places_taken(_t.id).scalar_subquery() < _t.wanted)
        .order_by(_t.id)
        .limit(most)
    )
    query = query.with_for_update(skip_locked=True) if lock else query
    return query.where(_t.topic.not_in(_topics_written_for())) if apart else query


FREE_TASK = _free_task(apart=False)
FREE_TASK_APART = _free_task(apart=True)
"""The same, but of no topic that the worker wrote for."""
ANY_FREE_TASK = _free_task(apart=False, lock=False)
ANY_FREE_TASK_APART = _free_task(apart=True, lock=False)
"""Both without a lock: whether there is anything at all."""

MANY = 100
"""Counting goes no further: nobody plans their day by more tasks, and a campaign may have a hundred thousand."""


def _own_progress(*, apart: bool) -> Select[Any]:
    campaign = select(_c.id).where(_c.name == _name).scalar_subquery()
    free = _free_task(apart=apart, lock=False, most=MANY, campaign=campaign).with_only_columns(_t.id).subquery()
    held = select(_a.id).select_from(WITH_TASKS).where(_t.campaign_id == campaign, _a.worker_id == _worker)
    parts = {
        "done": DONE.scalar_subquery(),
        "seconds": DONE.with_only_columns(func.coalesce(func.sum(_a.submitted - _a.leased), 0.0)).scalar_subquery(),
        "left": select(func.count()).select_from(free).scalar_subquery(),
        "holds": held.where(_a.entry_id == bindparam("entry"), _a.state == "leased").exists(),
        "withdrew": _withdrew(campaign).exists(),
    }
    named = (query.label(name) for name, query in parts.items())
    known = schema.workers.join(schema.campaigns, true())
    return (
        select(_c.state, schema.workers.c.blocked, *named)
        .select_from(known)
        .where(_c.name == _name, schema.workers.c.id == _worker)
    )


OWN_PROGRESS = _own_progress(apart=False)
OWN_PROGRESS_APART = _own_progress(apart=True)
"""How many tasks of :campaign_name :worker has submitted, in how many seconds, how many more there are for them at
:now, counted up to `MANY`, whether :entry holds one, and what may keep them from more."""

_new: dict[str, ColumnElement[Any]] = {
    "task_id": _task,
    "worker_id": _worker,
    "entry_id": bindparam("entry", type_=Integer),
    "state": literal("leased"),
    "leased": _now,
    "expires": bindparam("new_expires"),
}
_one_place = select(*(value.label(name) for name, value in _new.items())).where(
    PLACES_TAKEN.scalar_subquery() < bindparam("wanted", type_=Integer)
)
NEW_LEASE = insert(schema.assignments).from_select(list(_new), _one_place).returning(_a.id)
"""Take a place of :task, whose row is locked; no row where none of the :wanted ones is left."""

_of_assignment = update(schema.assignments).where(_a.id == _assignment)
RENEW = _of_assignment.values(expires=bindparam("new_expires"))
SAVE_DRAFT = _of_assignment.values(draft=bindparam("new_draft"), expires=bindparam("new_expires"))
_in_time = and_(_a.state == "leased", _a.expires > _now, _a.removed.is_(None))
SAVE_DRAFT_IN_TIME = SAVE_DRAFT.where(_in_time)
SAVE_DRAFT_EARLY = SAVE_DRAFT.where(
    _in_time,  # :now is a while from now
    _a.worker_id == _worker,
    _a.entry_id == bindparam("entry", type_=Integer),
    exists().where(schema.workers.c.id == _worker, schema.workers.c.blocked.is_(None)),
    exists().where(_t.id == _a.task_id, _t.campaign_id == _c.id, _c.name == _name),
)
"""The same in one statement, for :worker, who came by :entry to :campaign_name and is not blocked."""
RETURN = _of_assignment.where(_a.state == "leased").values(state="returned")
SUBMIT = _of_assignment.values(
    state="submitted",
    submitted=_now,
    draft=None,
    key=bindparam("new_key"),
    answer=bindparam("new_answer"),
    surplus=bindparam("new_surplus"),
)
SUBMIT_IN_TIME = SUBMIT.where(_in_time)
"""Both do nothing where the lease has run out, and then it depends on who else has a place."""


_counted = select(func.count()).select_from(schema.assignments).where(_a.task_id == _t.id, COUNTS).scalar_subquery()
MARK_FULL = update(schema.tasks).where(_t.id == _task, _counted >= _t.wanted).values(full=True)
MARK_OPEN = update(schema.tasks).where(_t.id == _task, _counted < _t.wanted).values(full=False)

_r, _p = schema.rounds.c, schema.payments.c
_rounds = select(func.count()).where(_r.campaign_id == _c.id)
DECIDED = select(
    _c.state,
    cast(_c.settings, String),
    *(
        query.scalar_subquery()
        for query in (
            select(func.max(schema.reviews.c.id)),
            select(func.count()).where(schema.workers.c.blocked.is_not(None)),
            select(func.max(_e.id)).where(_e.campaign_id == _c.id),
            select(func.max(_p.id)),
            select(func.max(_p.changed)),
            select(func.count()).where(schema.looks.c.campaign_id == _c.id),
            *(_rounds.with_only_columns(seen) for seen in (func.count(), func.max(_r.trouble))),
            *(_rounds.with_only_columns(seen) for seen in (func.sum(_r.places), func.max(_r.placed))),
        )
    ),
).where(_c.name == _name)
"""What an overview of :campaign_name shows beside answers, as numbers that change with it: see `server.overviews`."""
