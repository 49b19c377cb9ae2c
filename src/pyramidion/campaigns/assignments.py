"""Exactly k distinct workers per task: leases, drafts, submissions.

A task's places are taken by counted submissions and by leases that have not expired. A place is given out only while
the task's row is locked (PostgreSQL) or the database's write lock is held (SQLite), so no two processes give out the
same one. An expired lease frees its place by itself; its worker may still submit, and is counted only if a place
is free - otherwise the work is kept as surplus. Submitted work is never touched by expiry; only a decision removes it
and frees its place (pyramidion.campaigns.decisions).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, update

from pyramidion.campaigns import tables
from pyramidion.campaigns.tables import StoredAnswer, answer_of, find_campaign, gold_of, task_of
from pyramidion.campaigns.tasks import Answer, Gold, to_object
from pyramidion.errors import PyramidionError
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Settings, Task

TRIES = 20
PAUSES = (0.01, 0.03, 0.1, 0.3)
"""Seconds to wait before looking again when other processes have locked all tasks that may be free."""


class _LockedError(Exception):
    """Tasks with a place seem to be left, but somebody else has locked them."""


class SubmissionConflictError(PyramidionError):
    """The assignment was submitted before with another answer, or is not this worker's."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A task kept for a worker until it expires, with the draft saved so far."""

    id: int
    task: Task
    expires: float
    draft: dict[str, Any] | None = None
    gold: Gold | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a submission. ``replayed``: it had been received before, and nothing changed. ``filled``: it was
    the last answer that its task needed."""

    assignment: int
    counted: bool
    replayed: bool = False
    filled: bool = False


class Assignments:
    """``clock`` and ``pause`` are replaced in tests; everything else asks them, never the system."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._database = database
        self.clock, self.pause = clock, pause

    def lease(self, campaign: str, worker: str, entry: int | None = None) -> Lease | None:
        """The worker's open task, or the next one; None if nothing is left for this worker.

        An open task is given back only to the entry it was leased to: whoever merely knows somebody's id on a platform
        does not see their work.
        """
        for seconds in PAUSES:
            try:
                return self._lease(campaign, worker, entry)
            except _LockedError:  # by somebody who submits it just now; it may still have a place after that
                self.pause(seconds)
        return None

    def _lease(self, campaign: str, worker: str, entry: int | None) -> Lease | None:
        with self._database.write() as connection:
            if not self._database.sqlite:  # where one writer is let in at a time anyway
                connection.execute(tables.LOCK_WORKER, {"worker": worker})  # several tabs ask one after the other
            row = find_campaign(connection, campaign)
            settings = Settings(**row.settings)  # with the defaults of settings that the campaign is older than
            now = self.clock()
            renewed = now + 60 * settings.lease_minutes
            open_lease = self._open_lease(connection, row.id, worker, entry, now, renewed)
            if open_lease is not None:
                return open_lease
            if row.state != "running" or self._has_done_enough(connection, campaign, worker, settings):
                return None
            if self._may_not_work(connection, row.id, worker):
                return None
            apart = row.kind == "judge" and settings.separate_writers
            task = self._free_task(connection, row.id, worker, now, apart=apart)
            if task is None:
                return None
            new = {"task_id": task.id, "worker_id": worker, "entry_id": entry}
            times = {"state": "leased", "leased": now, "expires": renewed}
            id = connection.execute(tables.NEW_LEASE, new | times).scalar_one()
            return Lease(id, task_of(task.body), renewed, gold=gold_of(task))

    def _open_lease(
        self, connection: Connection, campaign: int, worker: str, entry: int | None, now: float, renewed: float
    ) -> Lease | None:
        """A reload gives the same open task back with its draft; an expired one too, while its place is free."""
        open_leases = connection.execute(tables.OPEN_LEASES, {"worker": worker, "campaign": campaign})
        for row in open_leases.all():
            if row.entry_id != entry:
                continue
            expires = row.expires
            if expires <= now:
                self._lock_task(connection, row.task_id)
                if not self._has_place(connection, row, now):
                    continue
                expires = renewed
                connection.execute(tables.RENEW, {"assignment": row.id, "new_expires": expires})
            return Lease(row.id, task_of(row.body), expires, row.draft, gold_of(row))
        return None

    def _has_done_enough(self, connection: Connection, campaign: str, worker: str, settings: Settings) -> bool:
        most = settings.most_per_worker
        of_worker = {"worker": worker, "campaign_name": campaign}
        return bool(most) and bool(connection.execute(tables.DONE, of_worker).scalar_one() >= most)

    def _may_not_work(self, connection: Connection, campaign: int, worker: str) -> bool:
        """Whether the worker is blocked, or has withdrawn from this campaign."""
        known = connection.execute(tables.WORKER, {"worker": worker}).first()
        blocked = known is not None and known.blocked is not None
        withdrew = connection.execute(tables.WITHDREW, {"worker": worker, "campaign": campaign}).first()
        return blocked or withdrew is not None

    def _free_task(
        self, connection: Connection, campaign: int, worker: str, now: float, *, apart: bool
    ) -> Row[Any] | None:
        query = tables.FREE_TASK_APART if apart else tables.FREE_TASK
        asked = {"worker": worker, "campaign": campaign, "now": now}
        for _ in range(TRIES):
            task = connection.execute(query, asked).first()
            if task is None:
                break
            # On PostgreSQL the count was taken before the row was locked: look again, now that nobody can add to it.
            if self._database.sqlite or self._count_taken(connection, task.id, now) < task.wanted:
                return task
        unlocked = tables.ANY_FREE_TASK_APART if apart else tables.ANY_FREE_TASK
        if not self._database.sqlite and connection.execute(unlocked, asked).first() is not None:
            raise _LockedError
        return None

    def _count_taken(self, connection: Connection, task: int, now: float) -> int:
        return int(connection.execute(tables.PLACES_TAKEN, {"task": task, "now": now}).scalar_one())

    def save_draft(self, assignment: int, worker: str, draft: dict[str, Any]) -> float | None:
        """Keep a draft and renew the lease; returns the new expiry time, or None if the place is gone."""
        with self._database.write() as connection:
            row = self._lock_assignment(connection, assignment, worker)
            if row.state != "leased":
                return None
            now = self.clock()
            kept = row.expires > now or self._has_place(connection, row, now)
            expires = now + 60 * Settings(**row.settings).lease_minutes if kept else row.expires
            values = {"assignment": assignment, "new_draft": draft, "new_expires": expires}
            connection.execute(tables.SAVE_DRAFT, values)
            return expires if kept else None

    def of_worker(self, assignment: int, worker: str) -> StoredAnswer | None:
        """One assignment of a worker; None where it is not theirs."""
        row = self._database.first(tables.ASSIGNMENT, {"assignment": assignment, "worker": worker})
        return None if row is None else answer_of(row)

    def done_by(self, campaign: str, worker: str) -> int:
        """How many tasks of a campaign a worker has submitted."""
        row = self._database.first(tables.DONE, {"worker": worker, "campaign_name": campaign})
        return int(row[0]) if row else 0

    def done_by_entry(self, worker: str, entry: int) -> int:
        """How many answers a worker has submitted by one entry, without those that were rejected or withdrawn."""
        row = self._database.first(tables.DONE_BY_ENTRY, {"worker": worker, "entry": entry})
        return int(row[0]) if row else 0

    def submit(self, assignment: int, worker: str, key: str, answer: Answer) -> Receipt:
        """Accept an answer once. The same key and answer again give the same receipt; anything else is a conflict."""
        body = to_object(answer)
        with self._database.write() as connection:
            row = self._lock_assignment(connection, assignment, worker)
            if row.state == "submitted":
                if row.key == key and row.answer == body:
                    return Receipt(assignment, not row.surplus and row.removed is None, replayed=True)
                raise SubmissionConflictError("this task was already submitted with a different answer")
            now = self.clock()
            in_time = row.state == "leased" and row.expires > now
            welcome = row.removed is None  # or the worker withdrew before it came
            counted = welcome and (in_time or self._has_place(connection, row, now))
            values = {"new_key": key, "new_answer": body, "new_surplus": not counted}
            connection.execute(tables.SUBMIT, {"assignment": assignment, "now": now, **values})
            full = connection.execute(tables.MARK_FULL, {"task": row.task_id}).rowcount > 0
            return Receipt(assignment, counted, filled=counted and full)

    def give_back(self, assignment: int, worker: str) -> None:
        """Return a task that the worker does not want; its place is free at once."""
        with self._database.write() as connection:
            row = self._lock_assignment(connection, assignment, worker)
            if row.state == "leased":
                connection.execute(tables.RETURN, {"assignment": assignment})

    def release_worker(self, worker: str) -> int:
        """Free every place a worker holds, in all campaigns."""
        return self._release(worker_id=worker)

    def release_entry(self, entry: int) -> int:
        """Free every place that is held by one entry."""
        return self._release(entry_id=entry)

    def _release(self, **whose: Any) -> int:
        held = update(schema.assignments).filter_by(**whose, state="leased").values(state="returned")
        with self._database.write() as connection:
            return connection.execute(held).rowcount

    def _lock_assignment(self, connection: Connection, assignment: int, worker: str) -> Row[Any]:
        """An assignment with its task's row locked, so that places cannot be given out meanwhile."""
        if not self._database.sqlite:
            connection.execute(tables.LOCK_TASK_OF, {"assignment": assignment})
        row = connection.execute(tables.ASSIGNMENT, {"assignment": assignment, "worker": worker}).first()
        if row is None:
            raise SubmissionConflictError("this is not your task")
        return row

    def _lock_task(self, connection: Connection, task: int) -> None:
        if not self._database.sqlite:
            connection.execute(tables.LOCK_TASK, {"task": task})

    def _has_place(self, connection: Connection, row: Row[Any], now: float) -> bool:
        """Whether the task has a place left for somebody whose own lease has run out."""
        return bool(self._count_taken(connection, row.task_id, now) < row.wanted)
