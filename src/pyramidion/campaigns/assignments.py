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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, update

from pyramidion.campaigns import queries
from pyramidion.campaigns.tables import StoredAnswer, answer_of, find_campaign, gold_of, task_of
from pyramidion.campaigns.tasks import Answer, Gold, to_object
from pyramidion.errors import PyramidionError
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.store.studies import REFRESH_SECONDS
from pyramidion.study import Campaign, Settings, Task

TRIES = 20
PAUSES = (0.01, 0.03, 0.1, 0.3)
"""Seconds to wait before looking again when other processes have locked all tasks that may be free."""

SURE = 60.0
"""A lease that runs for so many seconds yet does not run out while something is written."""


EVERY = {"first": 0}
"""To look at all tasks."""


class _LockedError(Exception):
    """Tasks with a place seem to be left, but somebody else has locked them."""


class SubmissionConflictError(PyramidionError):
    """The assignment was submitted before with another answer, or is not this worker's."""


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """What a worker has done in a campaign, in how many seconds from getting each task to submitting it, and how many
    more tasks there are for them now: `queries.MANY` where there may be more. ``holds``: they have one in hand."""

    done: int = 0
    seconds: float = 0.0
    left: int = 0
    holds: bool = False


@dataclass(frozen=True, slots=True)
class Lease:
    """A task kept for a worker until it expires, with the draft saved so far."""

    id: int
    task: Task
    expires: float
    draft: dict[str, Any] | None = None
    gold: Gold | None = None
    own: OwnProgress | None = None
    """Beside this task, where the campaign shows it."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a submission. ``replayed``: it had been received before, and nothing changed. ``filled``: it was
    the last answer that its task needed."""

    assignment: int
    counted: bool
    replayed: bool = False
    filled: bool = False


class OwnWork(NamedTuple):
    """An assignment, and whether its worker is blocked by now."""

    answer: StoredAnswer
    blocked: bool


@dataclass(frozen=True, slots=True)
class _Asker:
    """Somebody who asks for a task: their campaign, what they have done in it, and what queries are given."""

    campaign: Row[Any]
    settings: Settings
    standing: Row[Any]
    asked: dict[str, Any]

    @property
    def may_begin(self) -> bool:
        """Whether they get another task where there is one."""
        if self.campaign.state != "running" or self.campaign.blocked is not None or self.standing.withdrew:
            return False
        return not self.settings.most_per_worker or self.standing.done < self.settings.most_per_worker

    @property
    def keeps_apart(self) -> bool:
        """Whether they get no task of topics that they wrote for."""
        return bool(self.campaign.kind == "judge" and self.settings.separate_writers and self.standing.wrote)


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
        self._open: dict[int, tuple[float, Row[Any]]] = {}

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
            whose = {"worker": worker, "campaign_name": campaign}
            row = connection.execute(queries.LOCK_WORKER, whose).first()  # several tabs ask one after the other
            if row is None:
                find_campaign(connection, campaign)  # raises where there is none of this name
            if row is None or row.blocked is not None:
                return None
            asker = self._asker(connection, row, worker, entry)
            lease = self._open_lease(connection, asker) if asker.standing.holds else None
            if lease is None and asker.may_begin:
                lease = self._free_task(connection, asker)
            if lease is None or not asker.settings.show_progress:
                return lease
            return replace(lease, own=replace(self._progress(connection, asker), holds=True))

    def _asker(self, connection: Connection, row: Row[Any], worker: str, entry: int | None) -> _Asker:
        now, settings = self.clock(), Settings(**row.settings)  # with defaults where the campaign is older than them
        asked = {"campaign": row.id, "worker": worker, "entry": entry, "now": now}
        asked["new_expires"] = now + 60 * settings.lease_minutes
        return _Asker(row, settings, connection.execute(queries.STANDING, asked).one(), asked)

    def _open_lease(self, connection: Connection, asker: _Asker) -> Lease | None:
        """A reload gives the same open task back with its draft; an expired one too, while its place is free."""
        now = asker.asked["now"]
        for row in connection.execute(queries.OPEN_LEASES, asker.asked).all():
            expires = row.expires
            if expires <= now:
                self._lock_task(connection, row.task_id)
                if not self._has_place(connection, row.task_id, row.wanted, now):
                    continue
                expires = asker.asked["new_expires"]
                connection.execute(queries.RENEW, {"assignment": row.id, "new_expires": expires})
            return Lease(row.id, task_of(row.body), expires, row.draft, gold_of(row))
        return None

    def _free_task(self, connection: Connection, asker: _Asker) -> Lease | None:
        for first in self._first_ones(connection, asker):
            for _ in range(TRIES):
                task = connection.execute(queries.FREE_TASK[asker.keeps_apart], asker.asked | first).first()
                if task is None:
                    break
                # On PostgreSQL the count was taken before the row was locked: this looks again, when nobody can add.
                place = asker.asked | {"task": task.id, "wanted": task.wanted}
                id = connection.execute(queries.NEW_LEASE, place).scalar()
                if id is not None:
                    return Lease(id, task_of(task.body), place["new_expires"], gold=gold_of(task))
        unlocked = queries.ANY_FREE_TASK[asker.keeps_apart]
        if not self._database.sqlite and connection.execute(unlocked, asker.asked | EVERY).first() is not None:
            raise _LockedError
        return None

    def progress_of(self, campaign: str, worker: str, entry: int | None) -> OwnProgress:
        """What a worker has done, and what is there for them; without taking anything."""
        with self._database.read() as connection:
            whose = {"worker": worker, "campaign_name": campaign}
            row = connection.execute(queries.WORKER_AND_CAMPAIGN, whose).first()
            if row is None:
                return OwnProgress()
            return self._progress(connection, self._asker(connection, row, worker, entry))

    def _progress(self, connection: Connection, asker: _Asker) -> OwnProgress:
        standing = asker.standing
        left = self._left(connection, asker) if asker.may_begin else 0
        if most := asker.settings.most_per_worker:
            left = min(left, most - standing.done)
        return OwnProgress(standing.done, float(standing.seconds), left, standing.holds > 0)

    def _left(self, connection: Connection, asker: _Asker) -> int:
        """Counting what is left for one person takes longer than giving them a task: not where it is clear."""
        if not asker.keeps_apart and self._open_tasks(connection, asker).tasks - asker.standing.had > queries.MANY:
            return queries.MANY
        for first in self._first_ones(connection, asker):
            left = int(connection.execute(queries.LEFT[asker.keeps_apart], asker.asked | first).one().tasks)
            if left:
                return left
        return 0

    def _first_ones(self, connection: Connection, asker: _Asker) -> list[dict[str, int]]:
        """From which task on to look. Hundreds may wait for those who hold their places, but any of them may be free
        again since a moment: where nothing is found, every one is looked at."""
        first = self._open_tasks(connection, asker).first
        return [{"first": first}, EVERY] if first else [EVERY]

    def _open_tasks(self, connection: Connection, asker: _Asker) -> Row[Any]:
        """How many tasks of a campaign there are for anybody, and the first, as it was within the last second."""
        campaign, now = asker.asked["campaign"], asker.asked["now"]
        at, counted = self._open.get(campaign, (float("-inf"), None))
        if counted is None or not 0 <= now - at <= REFRESH_SECONDS:
            counted = connection.execute(queries.OPEN_TASKS, asker.asked).one()
            self._open[campaign] = (now, counted)
        return counted

    def save_draft(self, assignment: int, worker: str, draft: dict[str, Any]) -> float | None:
        """Keep a draft and renew the lease; returns the new expiry time, or None if the place is gone."""
        with self._database.write() as connection:
            task = self._lock_task_of(connection, assignment, worker)
            now = self.clock()
            expires: float = now + 60 * Settings(**task.settings).lease_minutes
            values = {"assignment": assignment, "now": now, "new_draft": draft, "new_expires": expires}
            if connection.execute(queries.SAVE_DRAFT_IN_TIME, values).rowcount:
                return expires
            row = self._row(connection, assignment, worker)
            if row.state != "leased":
                return None
            kept = row.expires > now or self._has_place(connection, task.id, task.wanted, now)
            connection.execute(queries.SAVE_DRAFT, values | {"new_expires": expires if kept else row.expires})
            return expires if kept else None

    def save_draft_early(
        self, assignment: int, campaign: Campaign, worker: str, entry: int, draft: dict[str, Any]
    ) -> float | None:
        """The same in one trip to the database; None where it takes a closer look.

        Nobody can get a place whose lease runs for a while, so the task need not be locked.
        """
        now = self.clock()
        expires = now + 60 * campaign.settings.lease_minutes
        values = {"assignment": assignment, "campaign_name": campaign.name, "worker": worker, "entry": entry}
        values |= {"now": now + SURE, "new_draft": draft, "new_expires": expires}
        return expires if self._database.change(queries.SAVE_DRAFT_EARLY, values) else None

    def of_worker(self, assignment: int, worker: str) -> OwnWork | None:
        """One assignment of a worker; None where it is not theirs."""
        row = self._database.first(queries.ASSIGNMENT, {"assignment": assignment, "worker": worker})
        return None if row is None else _own_work(row)

    def done_by(self, campaign: str, worker: str) -> int:
        """How many tasks of a campaign a worker has submitted."""
        row = self._database.first(queries.DONE, {"worker": worker, "campaign_name": campaign})
        return int(row[0]) if row else 0

    def done_by_entry(self, worker: str, entry: int) -> int:
        """How many answers a worker has submitted by one entry, without those that were rejected or withdrawn."""
        row = self._database.first(queries.DONE_BY_ENTRY, {"worker": worker, "entry": entry})
        return int(row[0]) if row else 0

    def submit(self, assignment: int, worker: str, key: str, answer: Answer) -> Receipt:
        """Accept an answer once. The same key and answer again give the same receipt; anything else is a conflict."""
        return self.submit_read(assignment, worker, key, lambda _work: answer)

    def submit_read(self, assignment: int, worker: str, key: str, read: Callable[[OwnWork], Answer]) -> Receipt:
        """The same where the answer can only be read beside what was asked; nothing happens if ``read`` raises."""
        with self._database.write() as connection:
            whose = {"assignment": assignment, "worker": worker}
            task = _known(connection.execute(queries.LOCK_ASSIGNMENT, whose).first())
            body = to_object(read(_own_work(task)))
            now = self.clock()
            values = {"assignment": assignment, "task": task.task_id, "now": now, "new_key": key, "new_answer": body}
            others = connection.execute(queries.SUBMIT_IN_TIME, values | {"new_surplus": False}).scalar()
            if others is not None:
                full = others + 1 >= task.wanted
                if full:
                    connection.execute(queries.MARK_FULL, values)
                return Receipt(assignment, counted=True, filled=full)
            row = self._row(connection, assignment, worker)
            if row.state == "submitted":
                if row.key == key and row.answer == body:
                    return Receipt(assignment, not row.surplus and row.removed is None, replayed=True)
                raise SubmissionConflictError("this task was already submitted with a different answer")
            welcome = row.removed is None  # or the worker withdrew before it came
            counted = welcome and self._has_place(connection, task.task_id, task.wanted, now)
            connection.execute(queries.SUBMIT, values | {"new_surplus": not counted})
            full = connection.execute(queries.MARK_FULL, values).rowcount > 0
            return Receipt(assignment, counted, filled=counted and full)

    def give_back(self, assignment: int, worker: str) -> None:
        """Return a task that the worker does not want; its place is free at once."""
        with self._database.write() as connection:
            self._lock_task_of(connection, assignment, worker)
            connection.execute(queries.RETURN, {"assignment": assignment})

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

    def _lock_task_of(self, connection: Connection, assignment: int, worker: str) -> Row[Any]:
        """The task of an assignment, locked, so that places cannot be given out meanwhile."""
        return _known(connection.execute(queries.LOCK_TASK_OF, {"assignment": assignment, "worker": worker}).first())

    def _row(self, connection: Connection, assignment: int, worker: str) -> Row[Any]:
        return connection.execute(queries.ASSIGNMENT, {"assignment": assignment, "worker": worker}).one()

    def _lock_task(self, connection: Connection, task: int) -> None:
        if not self._database.sqlite:  # where one writer is let in at a time anyway
            connection.execute(queries.LOCK_TASK, {"task": task})

    def _has_place(self, connection: Connection, task: int, wanted: int, now: float) -> bool:
        """Whether a task has a place left for somebody whose own lease has run out."""
        return int(connection.execute(queries.PLACES_TAKEN, {"task": task, "now": now}).scalar_one()) < wanted


def _own_work(row: Row[Any]) -> OwnWork:
    return OwnWork(answer_of(row), row.blocked is not None)


def _known(row: Row[Any] | None) -> Row[Any]:
    if row is None:
        raise SubmissionConflictError("this is not your task")
    return row
