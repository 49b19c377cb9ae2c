"""People, under pseudonyms, and what managers decided about them.

A pseudonym is a keyed hash of the platform's id, made with the study's own secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import Connection, insert, select, update

from pyramidion.campaigns import tables
from pyramidion.campaigns.tables import find_campaign
from pyramidion.errors import UnknownError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database, insert_if_new

CHECK_TRIES = 2


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    platform: str
    joined: float
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """The platform's own names for a worker: only for paying them."""

    worker: str
    platform: str
    external: str
    session: str


class Workers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def pseudonym(self, platform: str, external: str) -> str:
        digest = hmac.new(self._database.secret, f"worker\0{platform}\0{external}".encode(), hashlib.sha256).digest()
        return "w" + base64.b32encode(digest[:10]).decode().lower()

    def join(self, platform: str, external: str, session: str = "") -> Worker:
        """The worker for a platform's id, created on first arrival. The newest session is kept."""
        pseudonym = self.pseudonym(platform, external)
        with self._database.write() as connection:
            id = remembered(connection, self._database.secret, pseudonym) or pseudonym
            insert_if_new(connection, schema.workers, id=id, platform=platform, joined=time.time())
            insert_if_new(connection, schema.identities, worker_id=id, external=external)
            if session:
                connection.execute(update(schema.identities).filter_by(worker_id=id).values(session=session))
            return Worker(**connection.execute(tables.WORKER, {"worker": id}).one()._mapping)

    def get(self, id: str) -> Worker | None:
        row = self._database.first(tables.WORKER, {"worker": id})
        return None if row is None else Worker(**row._mapping)

    def all(self) -> list[Worker]:
        with self._database.read() as connection:
            return [
                Worker(*row) for row in connection.execute(select(schema.workers).order_by(schema.workers.c.joined))
            ]

    def identity(self, id: str) -> Identity | None:
        w, i = schema.workers.c, schema.identities.c
        query = select(w.id.label("worker"), w.platform, i.external, i.session).join_from(
            schema.workers, schema.identities
        )
        row = self._database.first(query.where(w.id == id), {})
        return None if row is None else Identity(**row._mapping)

    def id_of(self, platform: str, external: str) -> str:
        """The id that a person has here, or would have: their pseudonym, unless they were forgotten."""
        return self.current_id(self.pseudonym(platform, external))

    def current_id(self, id: str) -> str:
        """The id that a pseudonym was replaced by when its person was forgotten, or the same one."""
        with self._database.read() as connection:
            return remembered(connection, self._database.secret, id) or id

    def of_person(self, platform: str, external: str) -> str | None:
        """The worker behind a platform's id, if they have come."""
        worker = self.get(self.id_of(platform, external))
        return None if worker is None else worker.id

    def of_session(self, session: str) -> str | None:
        """The worker whose newest session on the platform this is."""
        with self._database.read() as connection:
            query = select(schema.identities.c.worker_id).filter_by(session=session)
            return connection.execute(query).scalar() if session else None

    def set_blocked(self, id: str, reason: str | None) -> None:
        with self._database.write() as connection:
            _must_exist(connection, id)
            connection.execute(update(schema.workers).filter_by(id=id).values(blocked=reason))

    # -- the comprehension check -------------------------------------------------------------------------

    def check_state(self, campaign: str, worker: str) -> tuple[int, bool]:
        """Tries used so far, and whether the check was passed."""
        row = self._database.first(tables.CHECK, {"campaign_name": campaign, "worker": worker})
        return (0, False) if row is None else (row.tries, bool(row.passed))

    def record_check(self, campaign: str, worker: str, passed: bool) -> tuple[int, bool]:
        """Count one try; after the last one, or once it was passed, nothing changes."""
        with self._database.write() as connection:
            key = {"campaign_id": find_campaign(connection, campaign).id, "worker_id": worker}
            insert_if_new(connection, schema.qualifications, **key, tries=0, passed=False)
            row = connection.execute(select(schema.qualifications).filter_by(**key).with_for_update()).one()
            if row.passed or row.tries >= CHECK_TRIES:
                return row.tries, bool(row.passed)
            connection.execute(
                update(schema.qualifications).filter_by(**key).values(tries=row.tries + 1, passed=passed)
            )
            return row.tries + 1, passed


def tombstone(secret: bytes, id: str) -> str:
    """What is kept of a forgotten worker's id: it cannot be turned back, and is in no other place."""
    return hmac.new(secret, f"forgotten\0{id}".encode(), hashlib.sha256).hexdigest()


def remembered(connection: Connection, secret: bytes, pseudonym: str) -> str | None:
    """The worker that a forgotten person is since; None for everybody else."""
    query = select(schema.forgotten.c.worker_id).filter_by(mark=tombstone(secret, pseudonym))
    return connection.execute(query).scalar()


def _must_exist(connection: Connection, id: str) -> None:
    if connection.execute(select(schema.workers.c.id).filter_by(id=id)).first() is None:
        raise UnknownError(f"unknown worker {id!r}")


# ----------------------------------------------------------------------
# Decisions about workers: logged with author and reason; the last one holds. Decisions about single answers are in the
# same log; see pyramidion.campaigns.decisions.

WorkerAction = Literal["exclude", "include", "block", "unblock", "bonus", "paid"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One entry of the log: about a worker, or about one of their answers."""

    at: float
    actor: str
    action: str
    worker: str | None
    assignment: int | None
    amount: float | None
    reason: str


class WorkerDecisions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, action: WorkerAction, *, actor: str, reason: str, worker: str, amount: float | None = None) -> None:
        check_choice("action", action, get_args(WorkerAction))
        with self._database.write() as connection:
            _must_exist(connection, worker)
            entry = {"at": time.time(), "actor": actor, "action": action, "reason": reason}
            connection.execute(insert(schema.reviews).values(**entry, worker_id=worker, amount=amount))

    def all(self) -> list[Decision]:
        """The whole log, decisions about answers included."""
        with self._database.read() as connection:
            rows = connection.execute(select(schema.reviews).order_by(schema.reviews.c.id)).all()
        return [Decision(r.at, r.actor, r.action, r.worker_id, r.assignment_id, r.amount, r.reason) for r in rows]

    def exclusions(self) -> dict[str, str]:
        """Workers left out of scoring, each with the reason: the last exclude or include holds."""
        last = {entry.worker: entry for entry in self.all() if entry.action in {"exclude", "include"} and entry.worker}
        return {worker: entry.reason for worker, entry in last.items() if entry.action == "exclude"}
