"""Campaigns, their tasks and the answers that came in, as the database has them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from sqlalchemy import Connection, Integer, Row, cast, delete, func, insert, or_, select, text, update

from pyramidion.campaigns.platforms.simulated import Simulated
from pyramidion.campaigns.queries import ANSWERS, CAMPAIGN, DECIDED, UNPAID, WITH_CAMPAIGNS, WITH_TASKS
from pyramidion.campaigns.tasks import Answer, Gold, WriteAnswer, judgments, read_answer, read_gold, to_object
from pyramidion.errors import UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Judgment, Settings, Study, Task
from pyramidion.study.records import CODEC, to_records
from pyramidion.study.tasks import CampaignState, Scope

_a, _t, _c = schema.assignments.c, schema.tasks.c, schema.campaigns.c


# -- values --------------------------------------------------------------------------------------------------

REMOVED = ("rejected", "withdrawn", "reopened")
"""Why a submitted answer may no longer count."""


@dataclass(frozen=True, slots=True)
class StoredTask:
    task: Task
    wanted: int
    gold: Gold | None = None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One assignment: leased, submitted or returned. ``removed`` says why a submission no longer counts; ``simulated``
    that nobody gave it, but a rehearsal."""

    id: int
    campaign: str
    task: Task
    worker: str
    state: str
    leased: float
    expires: float
    submitted: float | None
    surplus: bool
    answer: Answer | None
    gold: Gold | None = None
    removed: str | None = None
    entry: int | None = None
    simulated: bool = False

    @property
    def seconds(self) -> float | None:
        return None if self.submitted is None else self.submitted - self.leased

    @property
    def counted(self) -> bool:
        return self.state == "submitted" and not self.surplus and self.removed is None

    @property
    def paid_for(self) -> bool:
        """Whether it costs money: everything submitted, unless it was rejected or withdrawn."""
        return self.state == "submitted" and self.removed not in UNPAID

    @property
    def statements(self) -> tuple[str, ...]:
        """What was written, where the task was to write."""
        return self.answer.statements if isinstance(self.answer, WriteAnswer) else ()

    def judgments(self) -> Iterator[Judgment]:
        return judgments(self.answer, self.task, self.worker) if self.answer else iter(())


def task_of(body: dict[str, Any]) -> Task:
    return CODEC.decode(Task, body)


class Campaigns:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def add(self, campaign: Campaign, tasks: Sequence[Task], gold: Mapping[str, Gold] | None = None) -> None:
        """Create a campaign with its tasks, in one transaction; workers get tasks in this order."""
        with self._database.write() as connection:
            if connection.execute(select(schema.campaigns.c.id).filter_by(name=campaign.name)).first():
                raise UsageError(f"a campaign called {campaign.name!r} already exists")
            row = {"name": campaign.name, "kind": campaign.kind, "state": campaign.state, "created": time.time()}
            made = connection.execute(
                insert(schema.campaigns).returning(schema.campaigns.c.id), {**row, **_design(campaign)}
            ).scalar_one()
            insert_tasks(connection, made, tasks, gold or {}, campaign.settings.workers)

    def is_draft(self, name: str) -> bool:
        """Whether nobody has begun with a campaign, and nobody can while it is paused: then everything may change."""
        with self._database.read() as connection:
            row = find_campaign(connection, name)
            return row.state == "paused" and not _has_begun(connection, row.id)

    def make_again(self, campaign: Campaign, tasks: Sequence[Task], gold: Mapping[str, Gold]) -> None:
        """Put other tasks and settings in the place of a draft's; rounds begin anew."""
        with self._database.write() as connection:
            row = find_campaign(connection, campaign.name)
            if row.state != "paused" or _has_begun(connection, row.id):
                raise UsageError(f"people have begun with campaign {campaign.name}, so its tasks stay as they are")
            for table in (schema.tasks, schema.parts, schema.rounds):
                connection.execute(delete(table).where(table.c.campaign_id == row.id))
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(**_design(campaign)))
            insert_tasks(connection, row.id, tasks, gold, campaign.settings.workers)

    def set_settings(self, name: str, settings: Settings) -> None:
        """Change settings that tasks and answers do not depend on; which these are is for the caller to say."""
        with self._database.write() as connection:
            row = find_campaign(connection, name)
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(settings=settings.as_dict()))

    def all(self) -> list[Campaign]:
        with self._database.read() as connection:
            rows = connection.execute(select(schema.campaigns).order_by(schema.campaigns.c.id)).all()
        return [campaign_of(row) for row in rows]

    def get(self, name: str) -> Campaign:
        with self._database.read() as connection:
            return campaign_of(find_campaign(connection, name))

    def set_state(self, name: str, state: CampaignState) -> None:
        check_choice("state", state, get_args(CampaignState))
        with self._database.write() as connection:
            row = find_campaign(connection, name)
            if row.state == "closed":
                raise UsageError(f"campaign {name} is closed permanently")
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(state=state))

    def tasks(self, name: str) -> list[StoredTask]:
        with self._database.read() as connection:
            campaign = find_campaign(connection, name)
            query = select(schema.tasks).filter_by(campaign_id=campaign.id).order_by(schema.tasks.c.id)
            return [StoredTask(task_of(r.body), r.wanted, gold_of(r)) for r in connection.execute(query)]

    def answers(self, name: str | None = None, *, worker: str = "", task: str = "") -> list[StoredAnswer]:
        """Every assignment of a campaign, or of all, in the order they were made; only those of a worker or to a task,
        if given."""
        query = ANSWERS if name is None else ANSWERS.where(_c.name == name)
        query = query.where(_a.worker_id == worker) if worker else query
        query = query.where(_t.name == task) if task else query
        tasks: dict[int, Task] = {}
        with self._database.read() as connection:
            return [answer_of(row, tasks) for row in connection.execute(query)]

    def count_answers(self, name: str | None = None) -> int:
        """How many answers have been submitted to a campaign, or to all."""
        query = select(func.count()).select_from(WITH_CAMPAIGNS).where(_a.state == "submitted")
        row = self._database.first(query if name is None else query.where(_c.name == name), {})
        return int(row[0]) if row else 0

    def count_paid(self, name: str) -> int:
        """How many answers to a campaign cost money: all submitted ones but those rejected or withdrawn."""
        paid = or_(_a.removed.is_(None), _a.removed.not_in(UNPAID))
        query = select(func.count()).select_from(WITH_CAMPAIGNS).where(_a.state == "submitted", paid, _c.name == name)
        row = self._database.first(query, {})
        return int(row[0]) if row else 0

    def count_done(self, name: str) -> tuple[int, int]:
        """How many answers to a campaign were submitted, and by how many entries."""
        query = select(func.count(), func.count(_a.entry_id.distinct())).select_from(WITH_CAMPAIGNS)
        row = self._database.first(query.where(_a.state == "submitted", _c.name == name), {})
        counts = list(row) if row else [0, 0]
        return int(counts[0]), int(counts[1])

    def of_answer(self, id: int) -> str:
        """The campaign that an answer belongs to."""
        row = self._database.first(select(_c.name).select_from(WITH_CAMPAIGNS).where(_a.id == id), {})
        if row is None:
            raise UnknownError(f"there is no answer {id}")
        return str(row[0])

    def simulated(self) -> frozenset[str]:
        """The campaigns that have been rehearsed in this database."""
        query = select(_c.name).join_from(schema.entries, schema.campaigns, schema.entries.c.campaign_id == _c.id)
        with self._database.read() as connection:
            rehearsed = query.where(schema.entries.c.platform == Simulated.name).distinct()
            return frozenset(connection.execute(rehearsed).scalars())

    def decided_so_far(self, name: str) -> tuple[Any, ...]:
        """What grows or changes with everything that is decided about a campaign and the people who work on it; without
        its answers."""
        row = self._database.first(DECIDED, {"campaign_name": name})
        if row is None:
            with self._database.read() as connection:
                find_campaign(connection, name)  # says which there are
        return tuple(row or ())

    def progress(self, name: str) -> dict[str, int]:
        """Counts of tasks and submissions, without reading the answers. ``open``: places that nobody has taken."""
        with self._database.read() as connection:
            campaign = find_campaign(connection, name)
            of_campaign = _t.campaign_id == campaign.id
            totals = select(func.count(), func.sum(_t.wanted), func.sum(cast(_t.full, Integer))).where(of_campaign)
            tasks, wanted, full = connection.execute(totals).one()
            states = select(_a.state, _a.surplus, _a.removed, func.count()).select_from(WITH_TASKS).where(of_campaign)
            rows = connection.execute(states.group_by(_a.state, _a.surplus, _a.removed)).all()
            active = states.with_only_columns(func.count()).where(_a.state == "leased", _a.expires > self.clock())
            in_progress = connection.execute(active).scalar_one()
        counts: Counter[str] = Counter()
        for state, surplus, removed, count in rows:
            counts[(removed or ("surplus" if surplus else state)) if state == "submitted" else state] += count
        return {
            "tasks": tasks,
            "tasks_full": full or 0,
            "wanted": wanted or 0,
            "open": (wanted or 0) - counts["submitted"] - in_progress,
            **{what: counts[what] for what in ("submitted", "surplus", *REMOVED, "leased", "returned")},
        }


def insert_tasks(
    connection: Connection, campaign: int, tasks: Sequence[Task], gold: Mapping[str, Gold], wanted: int
) -> None:
    """Add tasks to a campaign, for so many workers each; they are given out in this order."""
    known = {task: to_object(answer) for task, answer in gold.items()}
    rows = [
        {
            "campaign_id": campaign,
            "name": body["id"],
            "topic": body["topic"],
            "body": body,
            "gold": known.get(body["id"]),
            "wanted": wanted,
        }
        for body in to_records(Study(tasks=tuple(tasks)))
        if body["type"] == "task"
    ]
    if rows:
        connection.execute(insert(schema.tasks), rows)
        if connection.dialect.name == "postgresql":  # before it knows how many there are, it looks at all to find one
            connection.execute(text(f"ANALYZE {schema.tasks.name}"))


def find_campaign(connection: Connection, name: str) -> Row[Any]:
    row = connection.execute(CAMPAIGN, {"campaign_name": name}).first()
    if row is None:
        known = connection.execute(select(schema.campaigns.c.name).order_by(schema.campaigns.c.id)).scalars().all()
        raise UnknownError(f"unknown campaign {name!r}; known campaigns are: {', '.join(known) or 'none'}")
    return row


def campaign_of(row: Row[Any]) -> Campaign:
    kept = row.scope or {}
    scope = Scope(
        tuple(kept.get("topics", ())),
        tuple(kept.get("systems", ())),
        kept.get("pyramid"),
        tuple((topic, unit) for topic, unit in kept.get("without", ())),
        kept.get("full_task") and tuple(kept["full_task"]),
    )
    return Campaign(row.name, row.kind, Settings(**row.settings), row.state, scope, row.instructions)


def _design(campaign: Campaign) -> dict[str, Any]:
    """What a campaign asks and how, as columns."""
    return {
        "settings": campaign.settings.as_dict(),
        "scope": asdict(campaign.scope),
        "instructions": campaign.instructions,
    }


def _has_begun(connection: Connection, campaign: int) -> bool:
    taken = select(_a.id).select_from(WITH_TASKS).where(_t.campaign_id == campaign).limit(1)
    return connection.execute(taken).first() is not None


def gold_of(row: Row[Any]) -> Gold | None:
    return None if row.gold is None else read_gold(row.gold)


def answer_of(row: Row[Any], tasks: dict[int, Task] | None = None) -> StoredAnswer:
    """``tasks`` holds those already read, since the answers to a task share it."""
    task = tasks.get(row.task_id) if tasks is not None else None
    if task is None:
        task = task_of(row.body)
        if tasks is not None:
            tasks[row.task_id] = task
    return StoredAnswer(
        id=row.id,
        campaign=row.campaign,
        task=task,
        worker=row.worker_id,
        state=row.state,
        leased=row.leased,
        expires=row.expires,
        submitted=row.submitted,
        surplus=bool(row.surplus),
        answer=None if row.answer is None else read_answer(task.kind, row.answer),
        gold=gold_of(row),
        removed=row.removed,
        entry=row.entry_id,
        simulated=row.platform == Simulated.name,
    )
