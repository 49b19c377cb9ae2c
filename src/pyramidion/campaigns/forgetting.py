"""Forgetting people: one of them, when they ask for it, or everybody in campaigns that have been quiet for long enough.

A forgotten worker's answers stay, under an id that says nothing, so that scores do not change. Everything else that
is theirs is erased, in the database and in its files: the platform's ids, drafts, comments, pasted texts, and what
managers wrote about them; their pseudonym is replaced wherever it is. A tombstone is kept, a keyed hash: somebody who
comes again gets the id of their answers, so that nobody has two places in one task and a block holds.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    Row,
    String,
    Text,
    and_,
    cast,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    union,
    update,
)

from pyramidion.campaigns.payments import Payments
from pyramidion.campaigns.sync import PAYING, TELL
from pyramidion.campaigns.tables import Campaigns, campaign_of
from pyramidion.campaigns.workers import PSEUDONYM, Workers, tombstone
from pyramidion.errors import Problem, UnknownError, UsageError
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.store.stored_judgments import rename_in_judgments

ERASED = "erased"
"""What is in the place of a reason or of a platform's session."""
MIN_WORD = 6
"""A platform's id that is shorter is not looked for in what managers wrote: it may be a word."""
DAY = 24 * 3600.0
MESSAGE_DAYS = 30
"""How long the session is kept that a platform's message is about, if nobody came with it."""
_a, _c, _e, _m, _p, _r, _t = (
    table.c
    for table in (
        schema.assignments,
        schema.campaigns,
        schema.entries,
        schema.platform_events,
        schema.payments,
        schema.reviews,
        schema.tasks,
    )
)


class _DryRunError(Exception):
    """Rolls back a dry run."""


@dataclass(frozen=True)
class Forgotten:
    """What forgetting a worker has erased, by kind; ``answers`` are those that stay, under the id ``replacement``.

    ``leftover`` says why traces may still be in the files of the database.
    """

    worker: str
    replacement: str
    erased: Mapping[str, int]
    answers: int
    leftover: Problem | None = None


@dataclass(frozen=True)
class Expired:
    """What was erased, by kind, in the campaigns whose time is over; ``kept`` are workers who are still owed
    something, each with what."""

    campaigns: tuple[str, ...]
    erased: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)
    leftover: Problem | None = None


# -- one person ----------------------------------------------------------------------------------------------


def forget_worker(
    database: Database, worker: str, *, replacement: str = "", unpaid: bool = False, dry_run: bool = False
) -> Forgotten:
    """Erase a person and keep their answers. Refused while they are owed money, unless ``unpaid``."""
    if not unpaid and (owed := find_unsettled(database).get(worker)):
        raise UsageError(
            f"worker {worker} is still owed something: {owed}; settle it with `pyramidion campaign pay`, or use "
            "--unpaid to forget them now"
        )
    new = replacement or f"forgotten-{secrets.token_hex(6)}"
    with _rolled_back_if(dry_run), database.write() as connection:
        erased = _forget(connection, database.secret, worker, new)
        of_new = select(func.count()).select_from(schema.assignments).filter_by(worker_id=new, state="submitted")
        answers = connection.execute(of_new).scalar_one()
        if dry_run:
            raise _DryRunError
    return Forgotten(worker, "" if dry_run else new, erased, answers, None if dry_run else database.scrub())


def forget_again(database: Database, tombstones: Mapping[str, str]) -> list[Forgotten]:
    """Forget everybody who has a tombstone elsewhere: a restored backup brings people back. They get the same ids."""
    with database.read() as connection:
        workers = connection.execute(select(schema.workers.c.id)).scalars().all()
    returned = {worker: tombstones.get(tombstone(database.secret, worker)) for worker in workers}
    return [forget_worker(database, old, replacement=new, unpaid=True) for old, new in returned.items() if new]


@contextmanager
def _rolled_back_if(dry_run: bool) -> Iterator[None]:
    try:
        yield
    except _DryRunError:
        assert dry_run


def _forget(connection: Connection, secret: bytes, worker: str, new: str) -> Counter[str]:
    row = connection.execute(select(schema.workers).filter_by(id=worker).with_for_update()).first()
    if row is None and not _is_imported(connection, worker):
        raise UnknownError(f"unknown worker {worker!r}")
    platform, blocked = (row.platform, row.blocked) if row else ("imported", None)
    about = {"platform": platform, "joined": 0.0, "blocked": None if blocked is None else ERASED}
    connection.execute(insert(schema.workers).values(id=new, **about))
    names = _platform_ids(connection, worker)
    erased = _erase_texts(connection, _a.worker_id == worker)
    erased += _erase_sessions(connection, _e.worker_id == worker)
    gone = connection.execute(delete(schema.identities).filter_by(worker_id=worker)).rowcount
    told = connection.execute(update(schema.reviews).where(_r.worker_id == worker).values(reason=ERASED)).rowcount
    agreed = connection.execute(delete(schema.consents).filter_by(worker_id=worker)).rowcount
    erased += Counter({"platform ids": gone, "consents": agreed, "reasons": told + (blocked is not None)})
    for column in _references_to(schema.workers.c.id):
        connection.execute(update(column.table).where(column == worker).values({column: new}))
    connection.execute(delete(schema.workers).filter_by(id=worker))
    erased += _replace_ids(connection, worker, new)
    erased += _replace_names(connection, names)
    mark = tombstone(secret, worker)
    connection.execute(delete(schema.forgotten).filter_by(mark=mark))
    connection.execute(insert(schema.forgotten).values(mark=mark, worker_id=new, at=time.time()))
    return +erased


def _is_imported(connection: Connection, worker: str) -> bool:
    """Whether somebody who never came here is in the study, as a judge or as the author of units."""
    named = select(schema.records.c.id).where(cast(schema.records.c.body, Text).contains(f'"{worker}"'))
    return bool(PSEUDONYM.fullmatch(worker)) and connection.execute(named.limit(1)).first() is not None


def _platform_ids(connection: Connection, worker: str) -> set[str]:
    ids = schema.identities.c
    known = union(
        select(ids.external).where(ids.worker_id == worker),
        select(ids.session).where(ids.worker_id == worker),
        select(_e.session).where(_e.worker_id == worker),
    )
    return {name for name in connection.execute(known).scalars() if len(name) >= MIN_WORD}


def _references_to(target: Column[Any]) -> list[Column[Any]]:
    """Every column that refers to another: nothing is left behind when tables are added."""
    columns = [column for table in schema.metadata.sorted_tables for column in table.c]
    return [column for column in columns if any(key.column is target for key in column.foreign_keys)]


# -- what is erased ------------------------------------------------------------------------------------------


def _erase_texts(connection: Connection, chosen: ColumnElement[bool]) -> Counter[str]:
    """Erase drafts, comments and pasted texts of some assignments. Whoever was at work gives the task back."""
    answer = cast(_a.answer, Text)
    pasted = and_(answer.contains('"pasted": ['), ~answer.contains('"pasted": []'))
    written = or_(cast(_a.draft, Text) != "null", answer.contains('"comment": '), pasted)
    rows = connection.execute(select(_a.id, _a.answer, _a.draft).where(chosen, written)).all()
    erased: Counter[str] = Counter()
    for row in rows:
        kept = {key: value for key, value in (row.answer or {}).items() if key != "comment"}
        erased["comments"] += bool(row.answer and row.answer.get("comment"))
        erased["pasted texts"] += len(kept.get("pasted", ()))
        erased["drafts"] += row.draft is not None
        if "pasted" in kept:
            kept["pasted"] = []
        values = {"answer": kept if row.answer is not None else null(), "draft": null()}
        connection.execute(update(schema.assignments).where(_a.id == row.id).values(**values))
    connection.execute(update(schema.assignments).where(chosen, _a.state == "leased").values(state="returned"))
    return erased


def _erase_sessions(connection: Connection, chosen: ColumnElement[bool]) -> Counter[str]:
    """Leave one entry per worker and campaign for all sessions of a platform; all work in them belongs to it."""
    query = select(schema.entries).where(chosen, _e.session != "").order_by(_e.campaign_id, _e.worker_id, _e.id)
    erased: Counter[str] = Counter()
    for _, group in groupby(connection.execute(query).all(), key=lambda row: (row.campaign_id, row.worker_id)):
        entries = list(group)
        kept, *others = [row.id for row in entries]
        sessions = [row.session for row in entries]
        erased["platform sessions"] += sum(session != ERASED for session in sessions)
        for column in _references_to(_e.id) if others else ():
            connection.execute(update(column.table).where(column.in_(others)).values({column: kept}))
        connection.execute(delete(schema.entries).where(_e.id.in_(others)))
        connection.execute(update(schema.entries).where(_e.id == kept).values(study="", session=ERASED))
        heard = and_(_m.platform == entries[0].platform, _m.session.in_(sessions))
        connection.execute(update(schema.platform_events).where(heard).values(session=ERASED))
    noted = and_(_p.entry_id.in_(select(_e.id).where(chosen)), or_(_p.reference != "", _p.detail != ""))
    cleared = update(schema.payments).where(noted).values(reference="", detail="")
    erased["payment references"] += connection.execute(cleared).rowcount
    return erased


_KINDS = {"records": "author and judge ids", "annotation_events": "annotation ids"}


def _replace_ids(connection: Connection, old: str, new: str) -> Counter[str]:
    """Put the new id wherever the old one is: authors and judges in the study, annotations, what managers wrote."""
    erased: Counter[str] = Counter()
    for table in schema.metadata.sorted_tables:
        where = _KINDS.get(table.name, "mentions")
        for column in table.c:
            if isinstance(column.type, String | JSON) and not column.primary_key and not column.foreign_keys:
                erased[where] += _replace_in(connection, column, old, lambda text: text.replace(old, new))
    erased[_KINDS["records"]] += rename_in_judgments(connection, old, new)
    return erased


def _replace_names(connection: Connection, names: Collection[str]) -> Counter[str]:
    """Erase a platform's ids from what managers and platforms wrote. The study is left alone: whoever chooses their id
    must not be able to change it."""
    columns = (
        schema.reviews.c.reason,
        schema.workers.c.blocked,
        schema.payments.c.detail,
        schema.payments.c.reference,
        schema.rounds.c.reason,
    )
    erased: Counter[str] = Counter()
    for name in names:
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for column in columns:
            erased["mentions"] += _replace_in(connection, column, name, partial(whole.sub, ERASED))
    return erased


def _replace_in(connection: Connection, column: Column[Any], word: str, change: Callable[[str], str]) -> int:
    key = list(column.table.primary_key)
    rows = select(*key, column.label("value")).where(cast(column, Text).contains(word, autoescape=True))
    count = 0
    for row in connection.execute(rows).all():
        text = json.dumps(row.value) if isinstance(column.type, JSON) else row.value
        changed = change(text)
        count += text.count(word) - changed.count(word)
        this = and_(*(part == row._mapping[part.name] for part in key))
        value = json.loads(changed) if isinstance(column.type, JSON) else changed
        connection.execute(update(column.table).where(this).values({column: value}))
    return count


# -- who is owed something -----------------------------------------------------------------------------------


def find_unsettled(database: Database) -> dict[str, str]:
    """Workers of platforms that pay who are still owed a decision or money, each with what."""
    reasons: dict[str, list[str]] = defaultdict(list)
    payments, told = Payments(database), exists().where(_r.assignment_id == _a.id, _r.action.in_(TELL.values()))
    waiting = (
        select(_a.worker_id, func.count())
        .join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
        .join(schema.campaigns, _t.campaign_id == _c.id)
        .where(_a.state == "submitted", func.coalesce(_a.removed, "") != "withdrawn", ~told)
        .group_by(_a.worker_id)
    )
    for campaign in Campaigns(database).all():
        if campaign.settings.platform not in PAYING:
            continue
        workers = {entry.id: entry.worker for entry in Workers(database).entries(campaign.name)}
        with database.read() as connection:
            for worker, count in connection.execute(waiting.where(_c.name == campaign.name)):
                reasons[worker].append(f"the platform was told nothing about {count} answers to {campaign.name}")
        for entry, amount in payments.owed(campaign.name).items():
            reasons[workers[entry]].append(f"a bonus of {amount} for {campaign.name} is not paid")
        for payment in payments.all(campaign.name):
            if payment.open:
                reasons[payment.worker].append(f"payment {payment.id} for {campaign.name} is {payment.state}")
    return {worker: "; ".join(what) for worker, what in reasons.items()}


# -- campaigns whose time is over ----------------------------------------------------------------------------


def forget_expired(database: Database, *, dry_run: bool = False, clock: Callable[[], float] = time.time) -> Expired:
    """Erase platform ids, sessions, drafts, comments and pasted texts in campaigns where nothing has happened for as
    many days as their setting ``keep_days`` says. Pseudonyms and answers stay.

    The platform's id of a worker goes with the last of their campaigns.
    """
    now = clock()
    with database.read() as connection:
        over = _expired_campaigns(connection, now)
    owed = find_unsettled(database) if over else {}
    with _rolled_back_if(dry_run), database.write() as connection:
        tasks = select(_t.id).where(_t.campaign_id.in_(over))
        erased = _erase_texts(connection, and_(_a.task_id.in_(tasks), _a.worker_id.not_in(owed)))
        erased += _erase_sessions(connection, and_(_e.campaign_id.in_(over), _e.worker_id.not_in(owed)))
        erased += _erase_identities(connection, over, owed) if over else Counter()
        erased += _erase_messages(connection, now)
        there = set(connection.execute(_workers_in(list(over))).scalars())
        if dry_run:
            raise _DryRunError
    leftover = database.scrub() if erased.total() and not dry_run else None
    return Expired(tuple(over.values()), +erased, {w: what for w, what in owed.items() if w in there}, leftover)


def _expired_campaigns(connection: Connection, now: float) -> dict[int, str]:
    """The campaigns that are to be kept for some days and have been quiet for longer, by id."""
    over = {}
    for row in connection.execute(select(schema.campaigns).order_by(_c.id)).all():
        days = campaign_of(row).settings.keep_days
        if days and _last_activity(connection, row) + days * DAY < now:
            over[row.id] = row.name
    return over


def _last_activity(connection: Connection, campaign: Row[Any]) -> float:
    """When somebody last came, took a task, submitted, was decided about or was paid."""
    of_campaign = _t.campaign_id == campaign.id
    work = schema.assignments.join(schema.tasks, _a.task_id == _t.id)
    entered = select(_e.id).where(_e.campaign_id == campaign.id)
    times = (
        select(func.max(_a.leased)).select_from(work).where(of_campaign),
        select(func.max(_a.submitted)).select_from(work).where(of_campaign),
        select(func.max(_e.arrived)).where(_e.campaign_id == campaign.id),
        select(func.max(_r.at)).select_from(schema.reviews.join(work, _r.assignment_id == _a.id)).where(of_campaign),
        select(func.max(_r.at)).where(_r.entry_id.in_(entered)),
        select(func.max(_p.changed)).where(_p.entry_id.in_(entered)),
    )
    return max(float(campaign.created), *(float(connection.execute(query).scalar() or 0) for query in times))


def _workers_in(campaigns: Collection[int]) -> CompoundSelect[Any]:
    q = schema.qualifications.c
    work = select(_a.worker_id).join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
    return union(
        work.where(_t.campaign_id.in_(campaigns)),
        select(_e.worker_id).where(_e.campaign_id.in_(campaigns)),
        select(q.worker_id).where(q.campaign_id.in_(campaigns)),
    )


def _erase_identities(connection: Connection, over: Collection[int], owed: Collection[str]) -> Counter[str]:
    """Erase the platform's ids of all workers whose campaigns are all over. Whoever came to none goes with the last."""
    others = connection.execute(select(_c.id).where(_c.id.not_in(over))).scalars().all()
    i = schema.identities.c
    gone = delete(schema.identities).where(i.worker_id.not_in(owed), i.worker_id.not_in(_workers_in(others)))
    if others:
        gone = gone.where(i.worker_id.in_(_workers_in(list(over))))
    return Counter({"platform ids": connection.execute(gone).rowcount})


def _erase_messages(connection: Connection, now: float) -> Counter[str]:
    """Erase sessions that platforms wrote about and nobody has here: of people who never came, or were forgotten."""
    unknown = and_(_m.session.not_in(("", ERASED)), _m.session.not_in(select(_e.session)))
    old = update(schema.platform_events).where(unknown, _m.sent < now - MESSAGE_DAYS * DAY).values(session=ERASED)
    return Counter({"platform sessions": connection.execute(old).rowcount})
