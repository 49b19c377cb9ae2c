"""Campaigns, their tasks and the answers that came in, as the database has them; and the queries over them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    cast,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)

from pyramidion.campaigns.tasks import Answer, Gold, WriteAnswer, judgments, read_answer, read_gold, to_object
from pyramidion.errors import UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Judgment, Settings, Study, Task
from pyramidion.study.records import CODEC, to_records
from pyramidion.study.tasks import CampaignState

# ----------------------------------------------------------------------
# What is asked for every request of a worker, built once: SQLAlchemy takes longer to build a query than SQLite to
# answer it. Names in ``:colons`` in the comments are the parameters.

_a, _t, _c, _q = schema.assignments.c, schema.tasks.c, schema.campaigns.c, schema.qualifications.c
_worker: BindParameter[str] = bindparam("worker")
_assignment: BindParameter[int] = bindparam("assignment")
_task: BindParameter[int] = bindparam("task")
_campaign: BindParameter[int] = bindparam("campaign")
_name: BindParameter[str] = bindparam("campaign_name")
_now: BindParameter[float] = bindparam("now")

_with_tasks = schema.assignments.join(schema.tasks, _a.task_id == _t.id)
_with_campaigns = _with_tasks.join(schema.campaigns, _t.campaign_id == _c.id)

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


ANSWERS = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted, _c.name.label("campaign"))
    .select_from(_with_campaigns)
    .order_by(_a.id)
)
"""Every assignment with its task, in the order they were made; to be narrowed down."""


def ids_of_answers(campaign: str) -> Select[Any]:
    return select(_a.id).select_from(_with_campaigns).where(_c.name == campaign)


UNPAID = ("rejected", "withdrawn")
"""Why a submitted answer may not be paid for."""
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
    .select_from(_with_tasks)
    .where(_a.worker_id == _worker, _a.state == "leased", _t.campaign_id == _campaign)
    .order_by(_a.expires.desc())
)

ASSIGNMENT = (
    select(schema.assignments, _t.body, _t.gold, _t.wanted, _c.settings, _c.name.label("campaign"))
    .select_from(_with_campaigns)
    .where(_a.id == _assignment, _a.worker_id == _worker)
)


DONE = (
    select(func.count())
    .select_from(_with_campaigns)
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
WITHDREW = (
    select(_a.id)
    .select_from(_with_tasks)
    .where(_a.worker_id == _worker, _a.removed == "withdrawn", _t.campaign_id == _campaign)
    .limit(1)
)
"""Whether :worker has withdrawn from :campaign, by leaving it on the platform."""


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


_counted = select(func.count()).select_from(schema.assignments).where(_a.task_id == _t.id, COUNTS).scalar_subquery()
MARK_FULL = update(schema.tasks).where(_t.id == _task, _counted >= _t.wanted).values(full=True)
MARK_OPEN = update(schema.tasks).where(_t.id == _task, _counted < _t.wanted).values(full=False)


# -- values --------------------------------------------------------------------------------------------------

REMOVED = ("rejected", "withdrawn", "reopened")
"""Why a submitted answer may no longer count."""


@dataclass(frozen=True, slots=True)
class StoredTask:
    task: Task
    wanted: int
    gold: Gold | None = None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One assignment: leased, submitted or returned. ``removed`` says why a submission no longer counts."""

    id: int
    campaign: str
    task: Task
    worker: str
    state: str
    leased: float
    expires: float
    submitted: float | None
    surplus: bool
    answer: Answer | None
    gold: Gold | None = None
    removed: str | None = None
    entry: int | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.submitted is None else self.submitted - self.leased

    @property
    def counted(self) -> bool:
        return self.state == "submitted" and not self.surplus and self.removed is None

    @property
    def paid_for(self) -> bool:
        """Whether it costs money: everything submitted, unless it was rejected or withdrawn."""
        return self.state == "submitted" and self.removed not in UNPAID

    @property
    def statements(self) -> tuple[str, ...]:
        """What was written, where the task was to write."""
        return self.answer.statements if isinstance(self.answer, WriteAnswer) else ()

    def judgments(self) -> Iterator[Judgment]:
        return judgments(self.answer, self.task, self.worker) if self.answer else iter(())


def task_of(body: dict[str, Any]) -> Task:
    return CODEC.decode(Task, body)


class Campaigns:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def add(self, campaign: Campaign, tasks: Sequence[Task], gold: Mapping[str, Gold] | None = None) -> None:
        """Create a campaign with its tasks, in one transaction; workers get tasks in this order."""
        with self._database.write() as connection:
            if connection.execute(select(schema.campaigns.c.id).filter_by(name=campaign.name)).first():
                raise UsageError(f"a campaign called {campaign.name!r} already exists")
            row = {
                "name": campaign.name,
                "kind": campaign.kind,
                "state": campaign.state,
                "settings": campaign.settings.as_dict(),
                "created": time.time(),
            }
            made = connection.execute(insert(schema.campaigns).returning(schema.campaigns.c.id), row).scalar_one()
            insert_tasks(connection, made, tasks, gold or {}, campaign.settings.workers)

    def all(self) -> list[Campaign]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.campaigns).order_by(schema.campaigns.c.id)).all()
        return [campaign_of(row) for row in rows]

    def get(self, name: str) -> Campaign:
        with self._database.read() as connection:
            return campaign_of(find_campaign(connection, name))

    def set_state(self, name: str, state: CampaignState) -> None:
        check_choice("state", state, get_args(CampaignState))
        with self._database.write() as connection:
            row = find_campaign(connection, name)
            if row.state == "closed":
                raise UsageError(f"campaign {name} is closed permanently")
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(state=state))

    def tasks(self, name: str) -> list[StoredTask]:
        with self._database.read() as connection:
            campaign = find_campaign(connection, name)
            query = select(schema.tasks).filter_by(campaign_id=campaign.id).order_by(schema.tasks.c.id)
            return [StoredTask(task_of(r.body), r.wanted, gold_of(r)) for r in connection.execute(query)]

    def answers(self, name: str | None = None, *, worker: str = "") -> list[StoredAnswer]:
        """Every assignment of a campaign, or of all, in the order they were made; only those of a worker, if given."""
        query = ANSWERS if name is None else ANSWERS.where(_c.name == name)
        query = query.where(_a.worker_id == worker) if worker else query
        tasks: dict[int, Task] = {}
        with self._database.read() as connection:
            return [answer_of(row, tasks) for row in connection.execute(query)]

    def count_answers(self, name: str | None = None) -> int:
        """How many answers have been submitted to a campaign, or to all."""
        query = select(func.count()).select_from(_with_campaigns).where(_a.state == "submitted")
        row = self._database.first(query if name is None else query.where(_c.name == name), {})
        return int(row[0]) if row else 0

    def count_paid(self, name: str) -> int:
        """How many answers to a campaign cost money: all submitted ones but those rejected or withdrawn."""
        paid = or_(_a.removed.is_(None), _a.removed.not_in(UNPAID))
        query = select(func.count()).select_from(_with_campaigns).where(_a.state == "submitted", paid, _c.name == name)
        row = self._database.first(query, {})
        return int(row[0]) if row else 0

    def count_done(self, name: str) -> tuple[int, int]:
        """How many answers to a campaign were submitted, and by how many entries."""
        query = select(func.count(), func.count(_a.entry_id.distinct())).select_from(_with_campaigns)
        row = self._database.first(query.where(_a.state == "submitted", _c.name == name), {})
        counts = list(row) if row else [0, 0]
        return int(counts[0]), int(counts[1])

    def of_answer(self, id: int) -> str:
        """The campaign that an answer belongs to."""
        row = self._database.first(select(_c.name).select_from(_with_campaigns).where(_a.id == id), {})
        if row is None:
            raise UnknownError(f"there is no answer {id}")
        return str(row[0])

    def progress(self, name: str) -> dict[str, int]:
        """Counts of tasks and submissions, without reading the answers. ``open``: places that nobody has taken."""
        with self._database.read() as connection:
            campaign = find_campaign(connection, name)
            of_campaign = _t.campaign_id == campaign.id
            totals = select(func.count(), func.sum(_t.wanted), func.sum(cast(_t.full, Integer))).where(of_campaign)
            tasks, wanted, full = connection.execute(totals).one()
            states = select(_a.state, _a.surplus, _a.removed, func.count()).select_from(_with_tasks).where(of_campaign)
            rows = connection.execute(states.group_by(_a.state, _a.surplus, _a.removed)).all()
            active = states.with_only_columns(func.count()).where(_a.state == "leased", _a.expires > self.clock())
            in_progress = connection.execute(active).scalar_one()
        counts: Counter[str] = Counter()
        for state, surplus, removed, count in rows:
            counts[(removed or ("surplus" if surplus else state)) if state == "submitted" else state] += count
        return {
            "tasks": tasks,
            "tasks_full": full or 0,
            "wanted": wanted or 0,
            "open": (wanted or 0) - counts["submitted"] - in_progress,
            **{what: counts[what] for what in ("submitted", "surplus", *REMOVED, "leased", "returned")},
        }


def insert_tasks(
    connection: Connection, campaign: int, tasks: Sequence[Task], gold: Mapping[str, Gold], wanted: int
) -> None:
    """Add tasks to a campaign, for so many workers each; they are given out in this order."""
    known = {task: to_object(answer) for task, answer in gold.items()}
    rows = [
        {
            "campaign_id": campaign,
            "name": body["id"],
            "topic": body["topic"],
            "body": body,
            "gold": known.get(body["id"]),
            "wanted": wanted,
        }
        for body in to_records(Study(tasks=tuple(tasks)))
        if body["type"] == "task"
    ]
    if rows:
        connection.execute(insert(schema.tasks), rows)


def find_campaign(connection: Connection, name: str) -> Row[Any]:
    row = connection.execute(CAMPAIGN, {"campaign_name": name}).first()
    if row is None:
        known = connection.execute(select(schema.campaigns.c.name).order_by(schema.campaigns.c.id)).scalars().all()
        raise UnknownError(f"unknown campaign {name!r}; known campaigns are: {', '.join(known) or 'none'}")
    return row


def campaign_of(row: Row[Any]) -> Campaign:
    return Campaign(row.name, row.kind, Settings(**row.settings), row.state)


def gold_of(row: Row[Any]) -> Gold | None:
    return None if row.gold is None else read_gold(row.gold)


def answer_of(row: Row[Any], tasks: dict[int, Task] | None = None) -> StoredAnswer:
    """``tasks`` holds those already read, since the answers to a task share it."""
    task = tasks.get(row.task_id) if tasks is not None else None
    if task is None:
        task = task_of(row.body)
        if tasks is not None:
            tasks[row.task_id] = task
    return StoredAnswer(
        id=row.id,
        campaign=row.campaign,
        task=task,
        worker=row.worker_id,
        state=row.state,
        leased=row.leased,
        expires=row.expires,
        submitted=row.submitted,
        surplus=bool(row.surplus),
        answer=None if row.answer is None else read_answer(task.kind, row.answer),
        gold=gold_of(row),
        removed=row.removed,
        entry=row.entry_id,
    )
