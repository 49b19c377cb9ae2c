"""People, under pseudonyms: a keyed hash of the platform's id, made with the study's own secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from pyramidion.campaigns import queries
from pyramidion.campaigns.records import find_campaign
from pyramidion.errors import UnknownError
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
        """The worker behind a platform's id, made when they first come. The newest session is kept."""
        id = self.pseudonym(platform, external)
        with self._database.write() as connection:
            insert_if_new(connection, schema.workers, id=id, platform=platform, joined=time.time())
            insert_if_new(connection, schema.identities, worker_id=id, external=external)
            if session:
                connection.execute(update(schema.identities).filter_by(worker_id=id).values(session=session))
            found = connection.execute(select(schema.workers).filter_by(id=id)).one()
            return Worker(found.id, found.platform, found.joined, found.blocked)

    def get(self, id: str) -> Worker | None:
        found = self._database.first(queries.WORKER, {"worker": id})
        return None if found is None else Worker(found.id, found.platform, found.joined, found.blocked)

    def all(self) -> list[Worker]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.workers).order_by(schema.workers.c.joined)).all()
        return [Worker(row.id, row.platform, row.joined, row.blocked) for row in rows]

    def identity(self, id: str) -> Identity | None:
        w, i = schema.workers.c, schema.identities.c
        query = select(w.id, w.platform, i.external, i.session).join_from(schema.workers, schema.identities)
        with self._database.read() as connection:
            found = connection.execute(query.where(w.id == id)).first()
        return None if found is None else Identity(*found)

    def of_person(self, platform: str, external: str) -> str | None:
        """The worker behind a platform's id, if they have come."""
        found = self.get(self.pseudonym(platform, external))
        return None if found is None else found.id

    def of_session(self, session: str) -> str | None:
        """The worker whose newest session on the platform this is."""
        with self._database.read() as connection:
            query = select(schema.identities.c.worker_id).filter_by(session=session)
            return connection.execute(query).scalar() if session else None

    def set_blocked(self, id: str, reason: str | None) -> None:
        with self._database.write() as connection:
            self._must_exist(connection, id)
            connection.execute(update(schema.workers).filter_by(id=id).values(blocked=reason))

    def forget(self, id: str) -> None:
        """Remove a person: who they were, and that their answers were theirs. The answers stay, under a new name."""
        replacement = "forgotten-" + hashlib.sha256(f"{id}{time.time_ns()}".encode()).hexdigest()[:12]
        with self._database.write() as connection:
            self._must_exist(connection, id)
            row = {"id": replacement, "platform": "forgotten", "joined": 0.0, "blocked": "forgotten"}
            connection.execute(insert(schema.workers).values(row))
            for table in (schema.assignments, schema.reviews, schema.qualifications):
                connection.execute(update(table).filter_by(worker_id=id).values(worker_id=replacement))
            connection.execute(delete(schema.identities).filter_by(worker_id=id))
            connection.execute(delete(schema.workers).filter_by(id=id))

    # -- the comprehension check -------------------------------------------------------------------------

    def check_state(self, campaign: str, worker: str) -> tuple[int, bool]:
        """Tries used so far, and whether the check was passed."""
        row = self._database.first(queries.CHECK, {"campaign_name": campaign, "worker": worker})
        return (0, False) if row is None else (row.tries, bool(row.passed))

    def record_check(self, campaign: str, worker: str, passed: bool) -> tuple[int, bool]:
        """Count one try; after the last one, or once passed, nothing changes any more."""
        with self._database.write() as connection:
            found = find_campaign(connection, campaign)
            place = {"campaign_id": found.id, "worker_id": worker}
            insert_if_new(connection, schema.qualifications, **place, tries=0, passed=False)
            row = connection.execute(select(schema.qualifications).filter_by(**place).with_for_update()).one()
            if row.passed or row.tries >= CHECK_TRIES:
                return row.tries, bool(row.passed)
            connection.execute(
                update(schema.qualifications).filter_by(**place).values(tries=row.tries + 1, passed=passed)
            )
            return row.tries + 1, passed

    def _must_exist(self, connection: Connection, id: str) -> None:
        if connection.execute(select(schema.workers.c.id).filter_by(id=id)).first() is None:
            raise UnknownError(f"no worker is called {id!r}")
