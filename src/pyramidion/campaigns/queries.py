"""What is asked of the database for every request of a worker, and about a campaign; built once.

SQLAlchemy takes longer to build a query than SQLite to answer it. On PostgreSQL each query is a trip to another process
and back, so that what belongs together is asked together. Names in ``:colons`` in the comments are the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
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

WORKER_AND_CAMPAIGN = (
    select(schema.campaigns, schema.workers.c.blocked)
    .join(schema.workers, true())
    .where(_c.name == _name, schema.workers.c.id == _worker)
)
LOCK_WORKER = WORKER_AND_CAMPAIGN.with_for_update(of=schema.workers, key_share=True)
"""The campaign :campaign_name, and whether :worker is blocked, whose row is locked."""
LOCK_TASK = select(_t.id).where(_t.id == _task).with_for_update()
LOCK_TASK_OF: Select[Any] = (
    select(_t.id, _t.wanted, _c.settings)
    .join_from(schema.tasks, schema.campaigns, _t.campaign_id == _c.id)
    .where(_t.id == select(_a.task_id).where(_a.id == _assignment, _a.worker_id == _worker).scalar_subquery())
    .with_for_update(of=schema.tasks)
)
"""The task that :assignment of :worker is about, locked, with the settings of its campaign."""

_open = and_(_a.state == "leased", _a.entry_id.is_not_distinct_from(bindparam("entry", type_=Integer)))
_own = and_(_a.worker_id == _worker, _t.campaign_id == _campaign)
OPEN_LEASES = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted)
    .select_from(WITH_TASKS)
    .where(_own, _open)
    .order_by(_a.expires.desc())
)
"""The tasks of :campaign that :worker has in hand, who came by :entry."""

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


LOCK_ASSIGNMENT: Select[Any] = ASSIGNMENT.add_columns(_t.wanted).with_for_update(of=schema.tasks)
"""The same, with its task locked."""

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


def _standing() -> Select[Any]:
    submitted = _a.state == "submitted"
    return (
        select(
            func.count().label("had"),
            func.count().filter(submitted).label("done"),
            func.coalesce(func.sum(_a.submitted - _a.leased).filter(submitted), 0.0).label("seconds"),
            func.count().filter(_open).label("holds"),
            func.count().filter(_a.removed == "withdrawn").label("withdrew"),
            _topics_written_for().exists().label("wrote"),
        )
        .select_from(WITH_TASKS)
        .where(_own)
    )


STANDING = _standing()
"""How many tasks of :campaign :worker has had and submitted, in how many seconds, how many :entry has in hand; whether
they withdrew by leaving it on the platform, and whether they wrote for any campaign."""


def _with_places() -> Select[Any]:
    """Tasks of :campaign with a place left at :now."""
    query = select(schema.tasks).where(_t.campaign_id == _campaign, _t.full.is_(False))
    return query.where(_places_taken(_t.id).scalar_subquery() < _t.wanted)


def _free_tasks(*, apart: bool) -> Select[Any]:
    """Those from :first on that :worker has not had; ``apart``: of no topic that they wrote for."""
    query = _with_places().where(
        _t.id >= bindparam("first"), not_(exists().where(_a.task_id == _t.id, _a.worker_id == _worker))
    )
    return query.where(_t.topic.not_in(_topics_written_for())) if apart else query


def _count(tasks: Select[Any], most: int) -> Select[Any]:
    """How many there are, counted up to ``most``, and the first of them."""
    some = tasks.with_only_columns(_t.id).order_by(_t.id).limit(most).subquery()
    return select(func.count().label("tasks")).add_columns(func.min(some.c.id).label("first")).select_from(some)


def _both(query: Callable[[Select[Any]], Select[Any]]) -> dict[bool, Select[Any]]:
    """The same of all free tasks and of those of topics that the worker did not write for."""
    return {apart: query(_free_tasks(apart=apart)) for apart in (False, True)}


ANY_FREE_TASK = _both(lambda tasks: tasks.order_by(_t.id).limit(1))
"""The first free task."""
FREE_TASK = _both(lambda tasks: tasks.order_by(_t.id).limit(1).with_for_update(skip_locked=True))
"""The same, locked on PostgreSQL, where those that somebody else has locked are passed over."""
MANY = 100
"""Counting goes no further: nobody plans their day by more tasks, and a campaign may have a hundred thousand."""
LEFT = _both(lambda tasks: _count(tasks, MANY))
"""How many more tasks of :campaign there are for :worker at :now, counted up to `MANY`."""
OPEN_TASKS = _count(_with_places(), 10 * MANY)
"""The same for anybody, counted further: whoever has had few of so many has many left."""

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
_o = schema.assignments.alias("others").c
_others = select(func.count()).where(  # SQLAlchemy names no tables in RETURNING, so nothing of the row is compared here
    _o.task_id == _task, _o.id != _assignment, _o.state == "submitted", not_(_o.surplus), _o.removed.is_(None)
)
SUBMIT_IN_TIME = SUBMIT.where(_in_time).returning(_others.scalar_subquery())
"""Both do nothing where the lease has run out, and then it depends on who else has a place. SUBMIT_IN_TIME tells how
many answers to :task count beside this one."""


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
