"""Campaigns, their tasks, and the answers that came in."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from sqlalchemy import Connection, Row, func, insert, select, update

from pyramidion.campaigns import queries
from pyramidion.errors import UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Settings, Study, Task
from pyramidion.study.records import Collector, to_records
from pyramidion.study.tasks import CampaignState, TaskKind

REMOVED = ("rejected", "withdrawn", "reopened")
"""Why an answer that was submitted may count no more."""


@dataclass(frozen=True, slots=True)
class StoredTask:
    id: int
    campaign: str
    task: Task
    wanted: int
    gold: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One assignment as it stands: leased, submitted or returned. ``removed`` says why a submission counts no more."""

    id: int
    campaign: str
    task: Task
    worker: str
    state: str
    leased: float
    expires: float
    submitted: float | None
    surplus: bool
    answer: dict[str, Any] | None
    gold: dict[str, Any] | None = None
    removed: str | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.submitted is None else self.submitted - self.leased

    @property
    def counted(self) -> bool:
        return self.state == "submitted" and not self.surplus and self.removed is None

    @property
    def paid_for(self) -> bool:
        """Whether it costs money: everything submitted, unless it was rejected or withdrawn."""
        return self.state == "submitted" and self.removed not in {"rejected", "withdrawn"}


def task_of(body: dict[str, Any]) -> Task:
    collector = Collector()
    collector.add(body)
    return collector.study().tasks[0]


class Campaigns:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def add(self, campaign: Campaign, tasks: Sequence[Task], gold: dict[str, dict[str, Any]] | None = None) -> None:
        """Create a campaign with its tasks, in one transaction; workers get tasks in this order."""
        bodies = [record for record in to_records(Study(tasks=tuple(tasks))) if record["type"] == "task"]
        with self._database.write() as connection:
            if connection.execute(select(schema.campaigns.c.id).filter_by(name=campaign.name)).first():
                raise UsageError(f"a campaign called {campaign.name!r} exists already")
            row = {
                "name": campaign.name,
                "kind": campaign.kind,
                "state": campaign.state,
                "settings": campaign.settings.as_dict(),
                "created": time.time(),
            }
            made = connection.execute(insert(schema.campaigns).returning(schema.campaigns.c.id), row).scalar_one()
            if bodies:
                connection.execute(
                    insert(schema.tasks),
                    [
                        {
                            "campaign_id": made,
                            "name": body["id"],
                            "topic": body["topic"],
                            "body": body,
                            "gold": (gold or {}).get(body["id"]),
                            "wanted": campaign.settings.workers,
                        }
                        for body in bodies
                    ],
                )

    def all(self) -> list[Campaign]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.campaigns).order_by(schema.campaigns.c.id)).all()
        return [_campaign(row) for row in rows]

    def get(self, name: str) -> Campaign:
        with self._database.read() as connection:
            return _campaign(find_campaign(connection, name))

    def set_state(self, name: str, state: CampaignState) -> None:
        check_choice("state", state, get_args(CampaignState))
        with self._database.write() as connection:
            found = find_campaign(connection, name)
            if found.state == "closed":
                raise UsageError(f"campaign {name} is closed for good")
            connection.execute(update(schema.campaigns).filter_by(id=found.id).values(state=state))

    def tasks(self, name: str) -> list[StoredTask]:
        with self._database.read() as connection:
            found = find_campaign(connection, name)
            query = select(schema.tasks).filter_by(campaign_id=found.id).order_by(schema.tasks.c.id)
            return [StoredTask(r.id, name, task_of(r.body), r.wanted, r.gold) for r in connection.execute(query)]

    def answers(self, name: str | None = None) -> list[StoredAnswer]:
        """Every assignment of a campaign, or of all, in the order they were made."""
        a, t, c = schema.assignments.c, schema.tasks.c, schema.campaigns.c
        query = (
            select(schema.assignments, t.body, t.gold, c.name.label("campaign"))
            .join_from(schema.assignments, schema.tasks, a.task_id == t.id)
            .join(schema.campaigns, t.campaign_id == c.id)
            .order_by(a.id)
        )
        if name is not None:
            query = query.where(c.name == name)
        with self._database.read() as connection:
            return [answer_of(row) for row in connection.execute(query)]

    def of_answer(self, id: int) -> str:
        """The campaign that an answer belongs to."""
        a, t, c = schema.assignments.c, schema.tasks.c, schema.campaigns.c
        joined = schema.assignments.join(schema.tasks, a.task_id == t.id).join(schema.campaigns, t.campaign_id == c.id)
        found = self._database.first(select(c.name).select_from(joined).where(a.id == id), {})
        if found is None:
            raise UnknownError(f"there is no answer {id}")
        return str(found[0])

    def progress(self, name: str) -> dict[str, int]:
        """Counts of tasks and submissions, without reading the answers. ``open``: places that nobody has taken."""
        a = schema.assignments.c
        with self._database.read() as connection:
            found = find_campaign(connection, name)
            of_campaign = a.task_id.in_(select(schema.tasks.c.id).filter_by(campaign_id=found.id))
            wanted = select(func.count(), func.sum(schema.tasks.c.wanted)).filter_by(campaign_id=found.id)
            tasks, slots = connection.execute(wanted.select_from(schema.tasks)).one()
            rows = connection.execute(
                select(a.state, a.surplus, a.removed, func.count())
                .where(of_campaign)
                .group_by(a.state, a.surplus, a.removed)
            ).all()
            active = select(func.count()).where(of_campaign, a.state == "leased", a.expires > self.clock())
            in_progress = connection.execute(active).scalar_one()
            full = connection.execute(
                select(func.count()).select_from(schema.tasks).filter_by(campaign_id=found.id, full=True)
            ).scalar_one()
        counts: Counter[str] = Counter()
        for state, surplus, removed, count in rows:
            counts[(removed or ("surplus" if surplus else state)) if state == "submitted" else state] += count
        return {
            "tasks": tasks,
            "tasks_full": full,
            "wanted": slots or 0,
            "open": (slots or 0) - counts["submitted"] - in_progress,
            **{what: counts[what] for what in ("submitted", "surplus", *REMOVED, "leased", "returned")},
        }


def find_campaign(connection: Connection, name: str) -> Row[Any]:
    found = connection.execute(queries.CAMPAIGN, {"campaign_name": name}).first()
    if found is None:
        known = connection.execute(select(schema.campaigns.c.name).order_by(schema.campaigns.c.id)).scalars().all()
        raise UnknownError(f"no campaign is called {name!r}; there are: {', '.join(known) or 'none'}")
    return found


def _campaign(row: Row[Any]) -> Campaign:
    return Campaign(row.name, cast(TaskKind, row.kind), Settings(**row.settings), cast(CampaignState, row.state))


def answer_of(row: Row[Any]) -> StoredAnswer:
    return StoredAnswer(
        id=row.id,
        campaign=row.campaign,
        task=task_of(row.body),
        worker=row.worker_id,
        state=row.state,
        leased=row.leased,
        expires=row.expires,
        submitted=row.submitted,
        surplus=bool(row.surplus),
        answer=row.answer,
        gold=row.gold,
        removed=row.removed,
    )
