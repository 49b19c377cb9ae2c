"""What managers decided about workers: appended with author and reason; the last word holds.

Decisions about single answers are in the same log; see pyramidion.store.decisions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import insert, select

from pyramidion.errors import UnknownError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database

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
