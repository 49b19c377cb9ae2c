"""People, under pseudonyms, and what managers decided about them.

A pseudonym is a keyed hash of the platform's id, made with the study's own secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import Connection, func, insert, select, update

from pyramidion.campaigns import queries
from pyramidion.campaigns.payments import last_entry
from pyramidion.campaigns.platforms import Arrival, Submission
from pyramidion.campaigns.platforms.prolific import WebhookEvent
from pyramidion.campaigns.platforms.simulated import Simulated
from pyramidion.campaigns.tables import find_campaign
from pyramidion.errors import InputError, Problem, UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database, insert_if_new
from pyramidion.study import Campaign
from pyramidion.study.judgments import SIMULATED

CHECK_TRIES = 2
PSEUDONYM = re.compile(rf"({SIMULATED})?w[a-z2-7]{{16}}|forgotten-[0-9a-f]{{12}}")


@dataclass(frozen=True, slots=True)
class Worker:
    id: str
    platform: str
    joined: float
    blocked: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One person's way into one campaign, with the platform's study and session they came with."""

    id: int
    campaign: str
    worker: str
    platform: str
    study: str
    session: str
    arrived: float


class Workers:
    def __init__(self, database: Database) -> None:
        self._database = database

    def pseudonym(self, platform: str, external: str) -> str:
        digest = hmac.new(self._database.secret, f"worker\0{platform}\0{external}".encode(), hashlib.sha256).digest()
        mark = SIMULATED if platform == Simulated.name else ""
        return f"{mark}w{base64.b32encode(digest[:10]).decode().lower()}"

    def join(self, platform: str, external: str) -> Worker:
        """The worker for a platform's id, created on first arrival; for somebody who was forgotten, who they are
        since."""
        pseudonym = self.pseudonym(platform, external)
        with self._database.write() as connection:
            id = remembered(connection, self._database.secret, pseudonym) or pseudonym
            insert_if_new(connection, schema.workers, id=id, platform=platform, joined=time.time())
            insert_if_new(connection, schema.identities, worker_id=id, external=external)
            return Worker(**connection.execute(queries.WORKER, {"worker": id}).one()._mapping)

    def enter(self, campaign: str, arrival: Arrival) -> Entry:
        """Let somebody into one campaign. Whoever comes again in the same session has the same entry; in another
        session they are the same worker, but tasks and drafts stay with the session they belong to."""
        worker = self.join(arrival.platform, arrival.external).id
        key = {"worker_id": worker, "session": arrival.session}
        with self._database.write() as connection:
            key["campaign_id"] = find_campaign(connection, campaign).id
            if arrival.session and self._is_taken(connection, arrival, worker):
                raise InputError(
                    Problem("session", "it belongs to somebody else; open the study from where you found it")
                )
            about = {"platform": arrival.platform, "study": arrival.study, "arrived": time.time()}
            insert_if_new(connection, schema.entries, **key, **about)
            row = connection.execute(queries.ENTRIES.filter_by(**key)).one()
        return Entry(**row._mapping)

    def _is_taken(self, connection: Connection, arrival: Arrival, worker: str) -> bool:
        e = schema.entries.c
        of_session = select(e.id).where(e.platform == arrival.platform, e.session == arrival.session)
        return connection.execute(of_session.where(e.worker_id != worker)).first() is not None

    def entries(self, campaign: str | None = None) -> list[Entry]:
        """All ways in which somebody came to a campaign, or to any."""
        query = queries.ENTRIES if campaign is None else queries.ENTRIES.where(schema.campaigns.c.name == campaign)
        with self._database.read() as connection:
            return [Entry(**row._mapping) for row in connection.execute(query.order_by(schema.entries.c.id))]

    def entry_of(self, platform: str, submission: Submission, campaign: str) -> Entry | None:
        """The entry that a platform's submission is about.

        Releases up to 0.1 kept one session per person: an entry without one gets that of the person's submission.
        """
        e = schema.entries.c
        query = queries.ENTRIES.where(schema.campaigns.c.name == campaign, e.platform == platform)
        with self._database.write() as connection:
            row = connection.execute(query.where(e.session == submission.session)).first()
            if row is None and submission.person:
                worker = self.pseudonym(platform, submission.person)
                row = connection.execute(query.where(e.worker_id == worker, e.session == "")).first()
                if row is not None:
                    connection.execute(update(schema.entries).filter_by(id=row.id).values(session=submission.session))
                    row = connection.execute(queries.ENTRIES.where(e.id == row.id)).one()
        return None if row is None else Entry(**row._mapping)

    def entry(self, id: int) -> Entry:
        with self._database.read() as connection:
            row = connection.execute(queries.ENTRIES.where(schema.entries.c.id == id)).first()
        if row is None:
            raise UnknownError(f"there is no entry {id}")
        return Entry(**row._mapping)

    def get(self, id: str) -> Worker | None:
        row = self._database.first(queries.WORKER, {"worker": id})
        return None if row is None else Worker(**row._mapping)

    def all(self) -> list[Worker]:
        with self._database.read() as connection:
            return [
                Worker(*row) for row in connection.execute(select(schema.workers).order_by(schema.workers.c.joined))
            ]

    def id_of(self, platform: str, external: str) -> str:
        """The id that a person has here, or would have: their pseudonym, unless they were forgotten."""
        return self.current_id(self.pseudonym(platform, external))

    def current_id(self, id: str) -> str:
        """The id that a pseudonym was replaced by when its person was forgotten, or the same one."""
        with self._database.read() as connection:
            return remembered(connection, self._database.secret, id) or id

    def receive(self, platform: str, event: WebhookEvent) -> bool:
        """Mark a platform's message as received; False where it was before, by this process or another, or where a
        newer one about the same session was."""
        e = schema.platform_events
        newest = select(func.max(e.c.sent)).filter_by(platform=platform, session=event.resource)
        with self._database.write() as connection:
            last = connection.execute(newest).scalar()
            about = {"platform": platform, "session": event.resource, "sent": event.at}
            new = [insert_if_new(connection, e, id=name, **about) for name in dict.fromkeys((event.id, event.digest))]
            return all(new) and (last is None or last <= event.at)

    def set_blocked(self, id: str, reason: str | None) -> None:
        with self._database.write() as connection:
            _must_exist(connection, id)
            connection.execute(update(schema.workers).filter_by(id=id).values(blocked=reason))

    # -- consent -----------------------------------------------------------------------------------------

    def has_agreed(self, campaign: Campaign, worker: str) -> bool:
        """Whether a worker agreed to what the campaign asks consent to now; nothing needs no consent."""
        asked = campaign.settings.consent
        if not asked:
            return True
        row = self._database.first(queries.CONSENT, {"campaign_name": campaign.name, "worker": worker})
        return row is not None and row.text == asked

    def record_consent(self, campaign: Campaign, worker: str) -> None:
        """Note that a worker agrees, once for the same words."""
        if self.has_agreed(campaign, worker):
            return
        with self._database.write() as connection:
            key = {"campaign_id": find_campaign(connection, campaign.name).id, "worker_id": worker}
            given = {"at": time.time(), "text": campaign.settings.consent}
            connection.execute(insert(schema.consents).values(**key, **given))

    def consents(self, campaign: str) -> dict[str, float]:
        """When each worker agreed last."""
        query = (
            select(schema.consents.c.worker_id, func.max(schema.consents.c.at))
            .join_from(schema.consents, schema.campaigns)
            .where(schema.campaigns.c.name == campaign)
            .group_by(schema.consents.c.worker_id)
        )
        with self._database.read() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    # -- the comprehension check -------------------------------------------------------------------------

    def check_state(self, campaign: str, worker: str) -> tuple[int, bool]:
        """Tries used so far, and whether the check was passed."""
        row = self._database.first(queries.CHECK, {"campaign_name": campaign, "worker": worker})
        return (0, False) if row is None else (row.tries, bool(row.passed))

    def record_check(self, campaign: str, worker: str, passed: bool, *, after: int) -> tuple[int, bool]:
        """Count the try that follows so many others. Where another tab has used it already, after the last one, or once
        the check was passed, nothing changes."""
        with self._database.write() as connection:
            key = {"campaign_id": find_campaign(connection, campaign).id, "worker_id": worker}
            insert_if_new(connection, schema.qualifications, **key, tries=0, passed=False)
            row = connection.execute(select(schema.qualifications).filter_by(**key).with_for_update()).one()
            if row.passed or row.tries != after or row.tries >= CHECK_TRIES:
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

WorkerAction = Literal["exclude", "include", "block", "unblock", "bonus", "request-return"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One entry of the log: about a worker, or about one of their answers."""

    id: int
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

    def add(
        self,
        action: WorkerAction,
        *,
        actor: str,
        reason: str,
        worker: str,
        amount: float | None = None,
        campaign: str = "",
    ) -> None:
        """Log a decision. A bonus is for the work on one campaign, so that it is paid in that campaign's study."""
        if action == "bonus" and not campaign:
            raise UsageError("say for which campaign the bonus is")
        check_choice("action", action, get_args(WorkerAction))
        with self._database.write() as connection:
            _must_exist(connection, worker)
            entry = last_entry(connection, campaign, worker) if campaign else None
            about = {"worker_id": worker, "amount": amount, "entry_id": entry}
            logged = {"at": time.time(), "actor": actor, "action": action, "reason": reason}
            connection.execute(insert(schema.reviews).values(**logged, **about))

    def all(self) -> list[Decision]:
        """The whole log, decisions about answers included."""
        with self._database.read() as connection:
            rows = connection.execute(select(schema.reviews).order_by(schema.reviews.c.id)).all()
        return [Decision(r.id, r.at, r.actor, r.action, r.worker_id, r.assignment_id, r.amount, r.reason) for r in rows]

    def exclusions(self) -> dict[str, str]:
        """Workers left out of scoring, each with the reason: the last exclude or include holds."""
        last = {entry.worker: entry for entry in self.all() if entry.action in {"exclude", "include"} and entry.worker}
        return {worker: entry.reason for worker, entry in last.items() if entry.action == "exclude"}
