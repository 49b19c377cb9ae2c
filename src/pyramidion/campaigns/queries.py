"""What is asked for every request of a worker, built once: SQLAlchemy takes longer to build a query than SQLite to
answer it. Names in ``:colons`` in the comments are the parameters.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
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

WORKER = select(schema.workers).where(schema.workers.c.id == _worker)
CAMPAIGN = select(schema.campaigns).where(_c.name == _name)
CHECK = (
    select(_q.tries, _q.passed)
    .join_from(schema.qualifications, schema.campaigns, _q.campaign_id == _c.id)
    .where(_c.name == _name, _q.worker_id == _worker)
)


COUNTS = and_(_a.state == "submitted", not_(_a.surplus), _a.removed.is_(None))
"""An answer that is in scores: submitted in time, and not removed since."""


def _places_taken(task: ColumnElement[Any]) -> Select[Any]:
    """How many of a task's places are taken at :now, by counted submissions and by leases that have not expired."""
    active = and_(_a.state == "leased", _a.expires > _now)
    return select(func.count()).select_from(schema.assignments).where(_a.task_id == task, or_(COUNTS, active))


PLACES_TAKEN = _places_taken(_task)

LOCK_WORKER = select(schema.workers.c.id).where(schema.workers.c.id == _worker).with_for_update(key_share=True)
LOCK_TASK = select(_t.id).where(_t.id == _task).with_for_update()
LOCK_TASK_OF = (
    select(_t.id).where(_t.id == select(_a.task_id).where(_a.id == _assignment).scalar_subquery()).with_for_update()
)

OPEN_LEASES = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted)
    .join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
    .where(_a.worker_id == _worker, _a.state == "leased", _t.campaign_id == _campaign)
    .order_by(_a.expires.desc())
)

ASSIGNMENT = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted, _c.settings, _c.name.label("campaign"))
    .join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
    .join(schema.campaigns, _t.campaign_id == _c.id)
    .where(_a.id == _assignment, _a.worker_id == _worker)
)


def _done() -> Select[Any]:
    joined = schema.assignments.join(schema.tasks, _a.task_id == _t.id).join(schema.campaigns, _t.campaign_id == _c.id)
    mine = and_(_a.worker_id == _worker, _a.state == "submitted", _c.name == _name)
    return select(func.count()).select_from(joined).where(mine)


DONE = _done()


def _withdrew() -> Any:
    """Whether :worker has withdrawn from :campaign, by leaving it on the platform."""
    theirs = schema.assignments.join(schema.tasks, _a.task_id == _t.id)
    withdrawn = and_(_a.worker_id == _worker, _a.removed == "withdrawn", _t.campaign_id == _campaign)
    return select(_a.id).select_from(theirs).where(withdrawn).limit(1)


WITHDREW = _withdrew()


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


def _free_task(*, apart: bool, lock: bool = True) -> Select[Any]:
    """The first task of :campaign with a place left at :now that :worker has not had. On PostgreSQL it is locked, and
    those that somebody else has locked are passed over."""
    mine = exists().where(_a.task_id == _t.id, _a.worker_id == _worker)
    query = (
        select(schema.tasks)
        .where(_t.campaign_id == _campaign, _t.full.is_(False), not_(mine))
        .where(_places_taken(_t.id).scalar_subquery() < _t.wanted)
        .order_by(_t.id)
        .limit(1)
    )
    query = query.with_for_update(skip_locked=True) if lock else query
    return query.where(_t.topic.not_in(_topics_written_for())) if apart else query


FREE_TASK = _free_task(apart=False)
FREE_TASK_APART = _free_task(apart=True)
"""The same, but of no topic that the worker wrote for."""
ANY_FREE_TASK = _free_task(apart=False, lock=False)
ANY_FREE_TASK_APART = _free_task(apart=True, lock=False)
"""Both without a lock: whether there is anything at all."""

NEW_LEASE = insert(schema.assignments).returning(_a.id)

_of_assignment = update(schema.assignments).where(_a.id == _assignment)
RENEW = _of_assignment.values(expires=bindparam("new_expires"))
SAVE_DRAFT = _of_assignment.values(draft=bindparam("new_draft"), expires=bindparam("new_expires"))
RETURN = _of_assignment.values(state="returned")
SUBMIT = _of_assignment.values(
    state="submitted",
    submitted=_now,
    draft=None,
    key=bindparam("new_key"),
    answer=bindparam("new_answer"),
    surplus=bindparam("new_surplus"),
)


def _counting() -> Any:
    counting = select(func.count()).select_from(schema.assignments).where(_a.task_id == _t.id, COUNTS)
    return counting.scalar_subquery()


MARK_FULL = update(schema.tasks).where(_t.id == _task, _counting() >= _t.wanted).values(full=True)
MARK_OPEN = update(schema.tasks).where(_t.id == _task, _counting() < _t.wanted).values(full=False)
