"""Exactly k distinct workers per task: leases, drafts, submissions.

A task's places are taken by counted submissions and by leases that have not expired. A place is given out only while
the task's row is locked (PostgreSQL) or the database's write lock is held (SQLite), so no two processes give out the
same one. An expired lease frees its place by itself; whoever held it may still submit, and is counted only if a place
is free - otherwise the work is kept as surplus. Submitted work is never touched by expiry.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, exists, func, insert, not_, or_, select, update

from pyramidion.errors import PyramidionError
from pyramidion.model import Task
from pyramidion.store import schema
from pyramidion.store.campaigns import StoredAnswer, answer_of, find_campaign, task_of
from pyramidion.store.database import Database

TRIES = 20


class SubmissionConflictError(PyramidionError):
    """The assignment was submitted before with another answer, or is not this worker's."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A task kept for a worker until it expires, with the draft saved so far."""

    id: int
    task: Task
    expires: float
    draft: dict[str, Any] | None = None
    gold: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submission. ``replayed``: it had been received before, and nothing changed."""

    assignment: int
    counted: bool
    replayed: bool = False


def _taken(now: float) -> ColumnElement[bool]:
    """Assignments that take one of their task's places."""
    a = schema.assignments.c
    active = and_(a.state == "leased", a.expires > now)
    return and_(not_(a.surplus), or_(a.state == "submitted", active))


def _places_taken(now: float, task: Any) -> Select[Any]:
    return select(func.count()).select_from(schema.assignments).where(schema.assignments.c.task_id == task, _taken(now))


class Assignments:
    """``clock`` is replaced in tests; everything else asks it, never the system."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock

    def lease(self, campaign: str, worker: str) -> Lease | None:
        """The task this worker is on, or the next one; None where nothing is left for this worker."""
        with self._database.write() as connection:
            # A worker with several tabs asks one after the other. (SQLite lets one writer in at a time anyway.)
            connection.execute(select(schema.workers.c.id).filter_by(id=worker).with_for_update(key_share=True))
            found = find_campaign(connection, campaign)
            now = self.clock()
            open_lease = self._open_lease(connection, found, worker, now)
            if open_lease is not None:
                return open_lease
            if found.state != "running" or self._has_done_enough(connection, found, worker):
                return None
            task = self._free_task(connection, found, worker, now)
            if task is None:
                return None
            expires = now + 60 * found.settings["lease_minutes"]
            row = {"task_id": task.id, "worker_id": worker, "state": "leased", "leased": now, "expires": expires}
            made = connection.execute(insert(schema.assignments).returning(schema.assignments.c.id), row).scalar_one()
            return Lease(made, task_of(task.body), expires, gold=task.gold)

    def _open_lease(self, connection: Connection, campaign: Row[Any], worker: str, now: float) -> Lease | None:
        """A reload gives the same open task back with its draft; an expired one too, while its place is free."""
        a, t = schema.assignments.c, schema.tasks.c
        query = (
            select(schema.assignments, t.body, t.gold, t.wanted)
            .join_from(schema.assignments, schema.tasks, a.task_id == t.id)
            .where(a.worker_id == worker, a.state == "leased", t.campaign_id == campaign.id)
            .order_by(a.expires.desc())
        )
        for row in connection.execute(query).all():
            expires = row.expires
            if expires <= now:
                self._lock_task(connection, row.task_id)
                if not self._has_place(connection, row, now):
                    continue
                expires = now + 60 * campaign.settings["lease_minutes"]
                connection.execute(update(schema.assignments).filter_by(id=row.id).values(expires=expires))
            return Lease(row.id, task_of(row.body), expires, row.draft, row.gold)
        return None

    def _has_done_enough(self, connection: Connection, campaign: Row[Any], worker: str) -> bool:
        most = campaign.settings["most_per_worker"]
        return bool(most) and self._done(connection, campaign.id, worker) >= most

    def _done(self, connection: Connection, campaign: int, worker: str) -> int:
        a, t = schema.assignments.c, schema.tasks.c
        done = (
            select(func.count())
            .select_from(schema.assignments.join(schema.tasks, a.task_id == t.id))
            .where(a.worker_id == worker, a.state == "submitted", t.campaign_id == campaign)
        )
        return int(connection.execute(done).scalar_one())

    def _free_task(self, connection: Connection, campaign: Row[Any], worker: str, now: float) -> Row[Any] | None:
        query = self._candidates(campaign, worker, now)
        for _ in range(TRIES):
            task = connection.execute(query).first()
            # On PostgreSQL the count was taken before the row was locked: look again, now that nobody can add to it.
            if task is None or connection.execute(_places_taken(now, task.id)).scalar_one() < task.wanted:
                return task
        return None

    def _candidates(self, campaign: Row[Any], worker: str, now: float) -> Select[Any]:
        a, t = schema.assignments.c, schema.tasks.c
        mine = exists().where(a.task_id == t.id, a.worker_id == worker)
        places = _places_taken(now, t.id).scalar_subquery()
        query = (
            select(schema.tasks)
            .where(t.campaign_id == campaign.id, t.full.is_(False), not_(mine), places < t.wanted)
            .order_by(t.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if campaign.kind == "judge" and campaign.settings["separate_writers"]:
            query = query.where(not_(_wrote_for(t.topic, worker)))
        return query

    def save_draft(self, assignment: int, worker: str, draft: dict[str, Any]) -> float | None:
        """Keep a draft and renew the lease; returns when it expires now, or None where its place is gone."""
        with self._database.write() as connection:
            row = self._locked(connection, assignment, worker)
            if row.state != "leased":
                return None
            now = self.clock()
            values: dict[str, Any] = {"draft": draft}
            if row.expires > now or self._has_place(connection, row, now):
                values["expires"] = now + 60 * row.settings["lease_minutes"]
            connection.execute(update(schema.assignments).filter_by(id=assignment).values(**values))
            return values.get("expires")

    def of_worker(self, assignment: int, worker: str) -> StoredAnswer | None:
        """One assignment of a worker, as it stands."""
        a, t, c = schema.assignments.c, schema.tasks.c, schema.campaigns.c
        query = (
            select(schema.assignments, t.body, t.gold, c.name.label("campaign"))
            .join_from(schema.assignments, schema.tasks, a.task_id == t.id)
            .join(schema.campaigns, t.campaign_id == c.id)
            .where(a.id == assignment, a.worker_id == worker)
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return None if row is None else answer_of(row)

    def done_by(self, campaign: str, worker: str) -> int:
        """How many tasks of a campaign a worker has submitted."""
        with self._database.read() as connection:
            return self._done(connection, find_campaign(connection, campaign).id, worker)

    def submit(self, assignment: int, worker: str, key: str, answer: dict[str, Any]) -> Receipt:
        """Take an answer in, once. The same key and answer again give the same receipt; anything else conflicts."""
        with self._database.write() as connection:
            row = self._locked(connection, assignment, worker)
            if row.state == "submitted":
                if row.key == key and row.answer == answer:
                    return Receipt(assignment, not row.surplus, replayed=True)
                raise SubmissionConflictError("this task was submitted before, with another answer")
            now = self.clock()
            in_time = row.state == "leased" and row.expires > now
            counted = in_time or self._has_place(connection, row, now)
            values = {"state": "submitted", "submitted": now, "key": key, "answer": answer, "surplus": not counted}
            connection.execute(update(schema.assignments).filter_by(id=assignment).values(draft=None, **values))
            self._mark_full(connection, row.task_id, row.wanted)
            return Receipt(assignment, counted)

    def give_back(self, assignment: int, worker: str) -> None:
        """The worker does not want this task: its place is free at once."""
        with self._database.write() as connection:
            row = self._locked(connection, assignment, worker)
            if row.state == "leased":
                connection.execute(update(schema.assignments).filter_by(id=assignment).values(state="returned"))

    def release_worker(self, worker: str) -> int:
        """Free every place a worker holds, e.g. when the platform says that they left."""
        with self._database.write() as connection:
            held = update(schema.assignments).filter_by(worker_id=worker, state="leased").values(state="returned")
            return connection.execute(held).rowcount

    def reopen(self, assignment: int) -> None:
        """Stop counting a submission, so that somebody else does the task; the answer itself is kept."""
        with self._database.write() as connection:
            row = connection.execute(select(schema.assignments).filter_by(id=assignment)).first()
            if row is None or row.state != "submitted":
                raise SubmissionConflictError(f"assignment {assignment} is not a submission")
            self._lock_task(connection, row.task_id)
            connection.execute(update(schema.assignments).filter_by(id=assignment).values(surplus=True))
            connection.execute(update(schema.tasks).filter_by(id=row.task_id).values(full=False))

    def _locked(self, connection: Connection, assignment: int, worker: str) -> Row[Any]:
        """An assignment with its task's row locked, so that places cannot be given out meanwhile."""
        a, t, c = schema.assignments.c, schema.tasks.c, schema.campaigns.c
        task = connection.execute(select(a.task_id).where(a.id == assignment, a.worker_id == worker)).scalar()
        if task is None:
            raise SubmissionConflictError("this is not your task")
        self._lock_task(connection, task)
        query = (
            select(schema.assignments, t.wanted, c.settings)
            .join_from(schema.assignments, schema.tasks, a.task_id == t.id)
            .join(schema.campaigns, t.campaign_id == c.id)
            .where(a.id == assignment)
        )
        return connection.execute(query).one()

    def _lock_task(self, connection: Connection, task: int) -> None:
        connection.execute(select(schema.tasks.c.id).filter_by(id=task).with_for_update()).one()

    def _has_place(self, connection: Connection, row: Row[Any], now: float) -> bool:
        """Whether the task has a place left for somebody whose own lease has run out."""
        return bool(connection.execute(_places_taken(now, row.task_id)).scalar_one() < row.wanted)

    def _mark_full(self, connection: Connection, task: int, wanted: int) -> None:
        counted = select(func.count()).select_from(schema.assignments)
        counted = counted.filter_by(task_id=task, state="submitted", surplus=False)
        if connection.execute(counted).scalar_one() >= wanted:
            connection.execute(update(schema.tasks).filter_by(id=task).values(full=True))


def _wrote_for(topic: ColumnElement[str], worker: str) -> ColumnElement[bool]:
    """Whether the worker has taken a writing task of this topic, in any campaign."""
    written, campaign = schema.tasks.alias("written"), schema.campaigns.alias("writing")
    a = schema.assignments.alias("wrote")
    return exists().where(
        a.c.worker_id == worker,
        a.c.task_id == written.c.id,
        written.c.topic == topic,
        written.c.campaign_id == campaign.c.id,
        campaign.c.kind == "write",
    )
