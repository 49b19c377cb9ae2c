"""What managers decided about workers and their work: appended with author and reason; the last word holds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import insert, select

from pyramidion.errors import UnknownError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database

Action = Literal["approve", "reject", "exclude", "include", "block", "unblock", "bonus", "paid", "reopen"]


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

    def add(
        self,
        action: Action,
        *,
        actor: str,
        reason: str,
        worker: str | None = None,
        assignment: int | None = None,
        amount: float | None = None,
    ) -> None:
        check_choice("action", action, get_args(Action))
        with self._database.write() as connection:
            if worker is not None and not connection.execute(select(schema.workers.c.id).filter_by(id=worker)).first():
                raise UnknownError(f"no worker is called {worker!r}")
            if assignment is not None:
                found = connection.execute(select(schema.assignments).filter_by(id=assignment)).first()
                if found is None:
                    raise UnknownError(f"there is no assignment {assignment}")
                worker = worker or found.worker_id
            row = {"at": time.time(), "actor": actor, "action": action, "reason": reason}
            place = {"worker_id": worker, "assignment_id": assignment, "amount": amount}
            connection.execute(insert(schema.reviews).values(**row, **place))

    def all(self) -> list[Review]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.reviews).order_by(schema.reviews.c.id)).all()
        return [Review(r.at, r.actor, r.action, r.reason, r.worker_id, r.assignment_id, r.amount) for r in rows]

    def excluded(self) -> dict[str, str]:
        """Workers left out of scoring, each with the reason: the last exclude or include holds."""
        last = {r.worker: r for r in self.all() if r.action in {"exclude", "include"} and r.worker}
        return {worker: review.reason for worker, review in last.items() if review.action == "exclude"}

    def decisions(self) -> dict[int, str]:
        """The last of approve or reject for each assignment."""
        return {r.assignment: r.action for r in self.all() if r.assignment and r.action in {"approve", "reject"}}
