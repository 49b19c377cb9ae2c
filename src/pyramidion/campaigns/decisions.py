"""What managers and platforms decide about single answers: logged, and at once in force.

approve    the answer is to be paid; takes back a rejection
reject     not paid, not in any score, and its place is offered to somebody else
withdraw   its worker left the study on the platform: like reject, but the worker's own decision
reopen     not in any score, its place is offered again, yet it can be paid
restore    takes back reject or reopen and says nothing about pay
unapprove  takes back approve, as long as the platform was not told

An answer that comes back counts if its place is still free; otherwise it is surplus, so that no task ever has more
answers than it wants. What a platform was told is appended too: a decision that the platform knows can only be changed
there and followed here, so that platform and scores never disagree about an answer.

Decisions about workers are in the same log; see pyramidion.campaigns.workers.
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

AnswerAction = Literal["approve", "reject", "withdraw", "reopen", "restore", "unapprove"]
Telling = Literal["tell-approve", "tell-reject", "tell-failed", "tell-unknown"]
_REMOVES = {"reject": "rejected", "withdraw": "withdrawn", "reopen": "reopened"}
_TAKEN_BACK = {"restore": ("reject", "withdraw"), "unapprove": ("approve",)}
_BATCH = 1000
_r = schema.reviews.c
_LOG = select(_r.assignment_id, _r.action, _r.reason).where(_r.assignment_id.is_not(None)).order_by(_r.id)


class DecisionConflictError(PyramidionError):
    """The decision would contradict what the platform was told or what the worker did."""


class _DryRunError(Exception):
    """Rolls back a dry run."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The decision that holds for an answer: approve, reject, withdraw or empty, with its reason.

    ``told`` is what the platform was told about it: approve, reject or empty; ``problem`` is why it could not be told,
    or may not have received it.
    """

    decision: str = ""
    reason: str = ""
    told: str = ""
    problem: str = ""

    def after(self, action: str, reason: str) -> Standing:
        """The standing after one more entry of the log."""
        if action in {"approve", "reject", "withdraw"}:
            return Standing(action, reason, self.told, self.problem)
        if self.decision in _TAKEN_BACK.get(action, ()):
            return Standing("", "", self.told, self.problem)
        if action in {"tell-approve", "tell-reject"}:
            return Standing(self.decision, self.reason, action.removeprefix("tell-"))
        if action in {"tell-failed", "tell-unknown"}:
            return Standing(self.decision, self.reason, "" if action == "tell-failed" else self.told, reason)
        return self


@dataclass(frozen=True, slots=True)
class Effect:
    """What a decision does to one answer. ``changed`` is false where nothing was to be done; ``removed`` is why the
    answer does not count afterwards."""

    answer: int
    task: str
    topic: str
    system: str
    worker: str
    counted_before: bool
    counted: bool
    changed: bool
    removed: str | None = None


class AnswerDecisions:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def standings(self, campaign: str | None = None) -> dict[int, Standing]:
        """The standing of every answer that was decided about, in one campaign or in all."""
        query = _LOG
        if campaign is not None:
            query = query.where(_r.assignment_id.in_(queries.ids_of_answers(campaign)))
        with self._database.read() as connection:
            return _standings(connection.execute(query))

    def decide(
        self,
        campaign: str,
        answers: Iterable[int],
        action: AnswerAction,
        *,
        actor: str,
        reason: str,
        by_platform: bool = False,
        dry_run: bool = False,
    ) -> list[Effect]:
        """Decide about answers to one campaign: about all of them or, where one decision is impossible, about none.

        ``by_platform``: the platform itself has decided, which overrides any other decision.
        """
        check_choice("decision", action, get_args(AnswerAction))
        ids = sorted(set(answers))
        effects: list[Effect] = []
        now = self.clock()  # what is decided at once has one time in the log
        try:
            with self._database.write() as connection:
                rows = self._lock_answers(connection, campaign, ids)
                standings: dict[int, Standing] = {}
                for batch in _batches(ids):
                    standings |= _standings(connection.execute(_LOG.where(_r.assignment_id.in_(batch))))
                for row in rows:
                    standing = standings.get(row.id, Standing())
                    _check(row, standing, action, by_platform)
                    effects.append(self._apply(connection, row, standing, action, actor, reason, now))
                if dry_run:
                    raise _DryRunError
        except _DryRunError:
            pass
        return effects

    def tell(self, answers: Iterable[int], action: Telling, *, actor: str, reason: str) -> None:
        """Log what a platform is told about answers, before it is, and whether that failed, afterwards."""
        check_choice("action", action, get_args(Telling))
        now = self.clock()
        with self._database.write() as connection:
            for batch in _batches(sorted(set(answers))):
                a = schema.assignments.c
                for row in connection.execute(select(a.id, a.worker_id).where(a.id.in_(batch))).all():
                    self._append(connection, row, action, actor, reason, now)

    def _lock_answers(self, connection: Connection, campaign: str, ids: Sequence[int]) -> list[Row[Any]]:
        """The answers with their tasks locked, so that no place is given out meanwhile."""
        narrowed = [queries.ANSWERS.where(schema.assignments.c.id.in_(batch)) for batch in _batches(ids)]
        if not self._database.sqlite:
            tasks = {row.task_id for query in narrowed for row in connection.execute(query)}
            for task in sorted(tasks):  # in the same order for everybody
                connection.execute(queries.LOCK_TASK, {"task": task})
        rows = [row for query in narrowed for row in connection.execute(query)]
        if unknown := set(ids) - {row.id for row in rows}:
            raise UnknownError(f"there is no answer {min(unknown)}")
        for row in rows:
            if row.campaign != campaign:
                raise UnknownError(f"answer {row.id} belongs to campaign {row.campaign}, not to {campaign}")
        return rows

    def _apply(
        self,
        connection: Connection,
        row: Row[Any],
        standing: Standing,
        action: AnswerAction,
        actor: str,
        reason: str,
        now: float,
    ) -> Effect:
        before = _counts(row.state, row.surplus, row.removed)
        values = self._values(connection, row, action)
        changed = bool(values) or standing.after(action, reason).decision != standing.decision
        if values:
            connection.execute(update(schema.assignments).where(schema.assignments.c.id == row.id).values(**values))
            for mark in (queries.MARK_FULL, queries.MARK_OPEN):
                connection.execute(mark, {"task": row.task_id})
        if changed:
            self._append(connection, row, action, actor, reason, now)
        after = {"state": row.state, "surplus": row.surplus, "removed": row.removed, **values}
        counted = _counts(**after)
        body = row.body
        about = (body["id"], body["topic"], body.get("system", ""), row.worker_id)
        return Effect(row.id, *about, before, counted, changed, after["removed"])

    def _values(self, connection: Connection, row: Row[Any], action: AnswerAction) -> dict[str, Any]:
        """What has to change in the row of the assignment."""
        if action == "unapprove":
            return {}
        if action in _REMOVES:
            left = {"state": "returned"} if row.state == "leased" else {}
            return {} if row.removed == _REMOVES[action] else {"removed": _REMOVES[action], **left}
        comes_back = row.removed in {"rejected", "withdrawn"} if action == "approve" else row.removed or row.surplus
        if not comes_back:
            return {}
        taken = connection.execute(queries.PLACES_TAKEN, {"task": row.task_id, "now": self.clock()}).scalar_one()
        surplus = taken >= row.wanted
        return {} if row.removed is None and surplus else {"removed": None, "surplus": surplus}

    def _append(self, connection: Connection, row: Any, action: str, actor: str, reason: str, now: float) -> None:
        entry = {"at": now, "actor": actor, "action": action, "reason": reason}
        connection.execute(insert(schema.reviews).values(**entry, worker_id=row.worker_id, assignment_id=row.id))


def _counts(state: str, surplus: bool, removed: str | None) -> bool:
    return state == "submitted" and not surplus and removed is None


def _check(row: Row[Any], standing: Standing, action: AnswerAction, by_platform: bool) -> None:
    """Refuse what would contradict the platform or the worker."""
    if action == "withdraw":
        return
    if row.state != "submitted":
        raise DecisionConflictError(f"answer {row.id} has not been submitted, so it cannot be decided on ({action})")
    if by_platform:
        return
    if row.removed == "withdrawn":
        raise DecisionConflictError(f"answer {row.id} was withdrawn by its worker; only the platform can change that")
    if action == "unapprove" and standing.told:
        raise DecisionConflictError(f"answer {row.id} cannot be undecided: the platform {_was_told(standing)} about it")
    if action == "reopen" and row.removed == "rejected":
        raise DecisionConflictError(f"answer {row.id} is rejected, so its place is already open; restore it first")
    if action == "reject" and standing.told == "approve":
        raise DecisionConflictError(
            f"answer {row.id} cannot be rejected: the platform {_was_told(standing)} that it is approved, so it is "
            "paid; re-open it to leave it out of scores"
        )
    if action in {"approve", "restore"} and row.removed == "rejected" and standing.told == "reject":
        raise DecisionConflictError(
            f"answer {row.id} cannot be restored: the platform {_was_told(standing)} that it is rejected; approve it "
            "there, then run `campaign follow`"
        )


def _was_told(standing: Standing) -> str:
    return "may have been told" if standing.problem else "was told"


def _standings(entries: Iterable[Any]) -> dict[int, Standing]:
    standings: dict[int, Standing] = {}
    for assignment, action, reason in entries:
        standings[assignment] = standings.get(assignment, Standing()).after(action, reason)
    return standings


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """As many at a time as any database takes in one query."""
    return (ids[first : first + _BATCH] for first in range(0, len(ids), _BATCH))
