"""What managers and platforms decide about single answers: appended, and at once true of what counts.

approve    the answer is to be paid; takes back a rejection
reject     not paid, not in any score, and its place is offered to somebody else
withdraw   its worker left the study on the platform: like reject, but the worker's own decision
reopen     not in any score, its place is offered again, yet it can be paid
restore    takes back reject or reopen without a word about money

An answer that comes back counts if its place is still free; otherwise it is surplus, so that no task ever has more
answers than it wants. What a platform was told is appended too: a decision that the platform knows is changed there,
and followed here, so that platform and scores never say different things of one answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Row, insert, select, update

from pyramidion.campaigns import queries
from pyramidion.errors import PyramidionError, UnknownError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database

Decision = Literal["approve", "reject", "withdraw", "reopen", "restore"]
Telling = Literal["tell-approve", "tell-reject", "tell-failed", "tell-unknown"]
_REMOVES = {"reject": "rejected", "withdraw": "withdrawn", "reopen": "reopened"}
_BATCH = 1000


class DecisionConflictError(PyramidionError):
    """The decision would contradict what the platform was told or what the worker did."""


class _DryRunError(Exception):
    """Rolls back what was only to be seen."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The last word on an answer: approve, reject, withdraw or empty, with its reason.

    ``told`` is what the platform was told of it, approve, reject or empty; ``problem`` is why it could not be told, or
    may not have heard.
    """

    decision: str = ""
    reason: str = ""
    told: str = ""
    problem: str = ""

    def after(self, action: str, reason: str) -> Standing:
        """The standing after one more review."""
        if action in {"approve", "reject", "withdraw"}:
            return Standing(action, reason, self.told, self.problem)
        if action == "restore" and self.decision in {"reject", "withdraw"}:
            return Standing("", "", self.told, self.problem)
        if action in {"tell-approve", "tell-reject"}:
            return Standing(self.decision, self.reason, action.removeprefix("tell-"))
        if action in {"tell-failed", "tell-unknown"}:
            return Standing(self.decision, self.reason, "" if action == "tell-failed" else self.told, reason)
        return self


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision does to one answer. ``changed`` is false where it was so before; ``removed`` as it is then."""

    answer: int
    task: str
    topic: str
    system: str
    worker: str
    counted_before: bool
    counted: bool
    changed: bool
    removed: str | None = None


class Decisions:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def standings(self, campaign: str | None = None) -> dict[int, Standing]:
        """The last word on every answer that there is a word on, in one campaign or in all."""
        a, t, c, r = schema.assignments.c, schema.tasks.c, schema.campaigns.c, schema.reviews.c
        query = select(r.assignment_id, r.action, r.reason).where(r.assignment_id.is_not(None)).order_by(r.id)
        if campaign is not None:
            joined = schema.reviews.join(schema.assignments, r.assignment_id == a.id).join(
                schema.tasks, a.task_id == t.id
            )
            query = query.select_from(joined.join(schema.campaigns, t.campaign_id == c.id)).where(c.name == campaign)
        with self._database.read() as connection:
            return _folded(connection.execute(query).all())

    def decide(
        self,
        campaign: str,
        answers: Iterable[int],
        action: Decision,
        *,
        actor: str,
        reason: str,
        by_platform: bool = False,
        dry_run: bool = False,
    ) -> list[Decided]:
        """Decide about answers to one campaign, about all of them or, where one cannot be, about none.

        ``by_platform``: the platform says so, hence knows it, and its word holds over any other.
        """
        check_choice("decision", action, get_args(Decision))
        ids = sorted(set(answers))
        done: list[Decided] = []
        try:
            with self._database.write() as connection:
                rows = self._locked(connection, campaign, ids)
                standings = _standings(connection, ids)
                for row in rows:
                    standing = standings.get(row.id, Standing())
                    _check(row, standing, action, by_platform)
                    done.append(self._apply(connection, row, standing, action, actor, reason))
                if dry_run:
                    raise _DryRunError
        except _DryRunError:
            pass
        return done

    def tell(self, answers: Iterable[int], action: Telling, *, actor: str, reason: str) -> None:
        """Note what a platform is told about answers, before it is, and whether that failed, afterwards."""
        check_choice("action", action, get_args(Telling))
        with self._database.write() as connection:
            for batch in _batches(sorted(set(answers))):
                a = schema.assignments.c
                for row in connection.execute(select(a.id, a.worker_id).where(a.id.in_(batch))).all():
                    self._append(connection, row, action, actor, reason)

    def _locked(self, connection: Connection, campaign: str, ids: Sequence[int]) -> list[Row[Any]]:
        """The answers with their tasks locked, so that no place is given out meanwhile."""
        a, t, c = schema.assignments.c, schema.tasks.c, schema.campaigns.c
        query = (
            select(schema.assignments, t.body, t.wanted, c.name.label("campaign"))
            .join_from(schema.assignments, schema.tasks, a.task_id == t.id)
            .join(schema.campaigns, t.campaign_id == c.id)
            .order_by(a.id)
        )
        if not self._database.sqlite:
            tasks = {row.task_id for batch in _batches(ids) for row in connection.execute(query.where(a.id.in_(batch)))}
            for task in sorted(tasks):  # in the same order for everybody
                connection.execute(queries.LOCK_TASK, {"task": task})
        rows = [row for batch in _batches(ids) for row in connection.execute(query.where(a.id.in_(batch)))]
        if unknown := set(ids) - {row.id for row in rows}:
            raise UnknownError(f"there is no answer {min(unknown)}")
        for row in rows:
            if row.campaign != campaign:
                raise UnknownError(f"answer {row.id} belongs to campaign {row.campaign}, not to {campaign}")
        return rows

    def _apply(
        self, connection: Connection, row: Row[Any], standing: Standing, action: Decision, actor: str, reason: str
    ) -> Decided:
        before = row.state == "submitted" and not row.surplus and row.removed is None
        values = self._values(connection, row, action)
        changed = bool(values) or standing.after(action, reason).decision != standing.decision
        if values:
            connection.execute(update(schema.assignments).where(schema.assignments.c.id == row.id).values(**values))
            for mark in (queries.MARK_FULL, queries.MARK_OPEN):
                connection.execute(mark, {"task": row.task_id})
        if changed:
            self._append(connection, row, action, actor, reason)
        after = {"state": row.state, "surplus": row.surplus, "removed": row.removed, **values}
        counted = after["state"] == "submitted" and not after["surplus"] and after["removed"] is None
        body = row.body
        about = (body["id"], body["topic"], body.get("system", ""), row.worker_id)
        return Decided(row.id, *about, before, counted, changed, after["removed"])

    def _values(self, connection: Connection, row: Row[Any], action: Decision) -> dict[str, Any]:
        """What changes in the row of the assignment; nothing where all is as it should be."""
        if action in _REMOVES:
            left = {"state": "returned"} if row.state == "leased" else {}
            return {} if row.removed == _REMOVES[action] else {"removed": _REMOVES[action], **left}
        comes_back = row.removed in {"rejected", "withdrawn"} if action == "approve" else row.removed or row.surplus
        if not comes_back:
            return {}
        taken = connection.execute(queries.PLACES_TAKEN, {"task": row.task_id, "now": self.clock()}).scalar_one()
        surplus = taken >= row.wanted
        return {} if row.removed is None and surplus else {"removed": None, "surplus": surplus}

    def _append(self, connection: Connection, row: Any, action: str, actor: str, reason: str) -> None:
        said = {"at": self.clock(), "actor": actor, "action": action, "reason": reason}
        connection.execute(insert(schema.reviews).values(**said, worker_id=row.worker_id, assignment_id=row.id))


def _check(row: Row[Any], standing: Standing, action: Decision, by_platform: bool) -> None:
    """Refuse what would make platform and scores, or the worker's will and scores, disagree."""
    if action == "withdraw":
        return
    if row.state != "submitted":
        raise DecisionConflictError(f"answer {row.id} has not been submitted, so there is nothing to {action}")
    if by_platform:
        return
    if row.removed == "withdrawn":
        raise DecisionConflictError(f"answer {row.id} was withdrawn by its worker; only the platform can change that")
    if action == "reopen" and row.removed == "rejected":
        raise DecisionConflictError(f"answer {row.id} is rejected, so its place is open already; restore it first")
    if action == "reject" and standing.told == "approve":
        raise DecisionConflictError(
            f"answer {row.id} cannot be rejected: the platform {_heard(standing)} that it is approved, so it is paid; "
            "re-open it to leave it out of scores"
        )
    if action in {"approve", "restore"} and row.removed == "rejected" and standing.told == "reject":
        raise DecisionConflictError(
            f"answer {row.id} cannot come back: the platform {_heard(standing)} that it is rejected; approve it there, "
            "then run `campaign follow`"
        )


def _heard(standing: Standing) -> str:
    return "may have been told" if standing.problem else "was told"


def _standings(connection: Connection, ids: Sequence[int]) -> dict[int, Standing]:
    r = schema.reviews.c
    query = select(r.assignment_id, r.action, r.reason).order_by(r.id)
    found: dict[int, Standing] = {}
    for batch in _batches(ids):
        found |= _folded(connection.execute(query.where(r.assignment_id.in_(batch))).all())
    return found


def _folded(reviews: Iterable[Any]) -> dict[int, Standing]:
    found: dict[int, Standing] = {}
    for assignment, action, reason in reviews:
        found[assignment] = found.get(assignment, Standing()).after(action, reason)
    return found


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """So many at a time as any database takes in one query."""
    return (ids[first : first + _BATCH] for first in range(0, len(ids), _BATCH))


# ----------------------------------------------------------------------
# What managers decided about workers: appended with author and reason; the last word holds.
#
# Decisions about single answers are in the same log; see pyramidion.campaigns.decisions.

Action = Literal["exclude", "include", "block", "unblock", "bonus", "paid"]


@dataclass(frozen=True, slots=True)
class Review:
    at: float
    actor: str
    action: str
    reason: str
    worker: str | None = None
    assignment: int | None = None
    amount: float | None = None


class Reviews:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, action: Action, *, actor: str, reason: str, worker: str, amount: float | None = None) -> None:
        check_choice("action", action, get_args(Action))
        with self._database.write() as connection:
            if not connection.execute(select(schema.workers.c.id).filter_by(id=worker)).first():
                raise UnknownError(f"no worker is called {worker!r}")
            row = {"at": time.time(), "actor": actor, "action": action, "reason": reason}
            connection.execute(insert(schema.reviews).values(**row, worker_id=worker, amount=amount))

    def all(self) -> list[Review]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.reviews).order_by(schema.reviews.c.id)).all()
        return [Review(r.at, r.actor, r.action, r.reason, r.worker_id, r.assignment_id, r.amount) for r in rows]

    def excluded(self) -> dict[str, str]:
        """Workers left out of scoring, each with the reason: the last exclude or include holds."""
        last = {r.worker: r for r in self.all() if r.action in {"exclude", "include"} and r.worker}
        return {worker: review.reason for worker, review in last.items() if review.action == "exclude"}
