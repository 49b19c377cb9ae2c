"""Whether a study database still holds what it should: recount it, compare it with a backup and with receipts.

Nothing is changed. Each check is one question about the whole database, asked in one snapshot, so that people may work
meanwhile.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, exists, func, not_, select

from pyramidion.campaigns.queries import COUNTS
from pyramidion.campaigns.tasks import read_answer
from pyramidion.campaigns.workers import tombstone
from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.store import schema
from pyramidion.store.backup import check_file, count_contents, read_only, secret_in
from pyramidion.store.database import Database
from pyramidion.store.stored_judgments import damaged_blocks

BATCH = 1000
_a, _c, _e, _l, _n, _p, _r, _t = (
    table.c
    for table in (
        schema.assignments,
        schema.campaigns,
        schema.entries,
        schema.looks,
        schema.rounds,
        schema.payments,
        schema.reviews,
        schema.tasks,
    )
)


class KeptReceipt(NamedTuple):
    """What a page keeps of a submission that was acknowledged."""

    assignment: int
    key: str


def read_receipts(path: Path) -> list[KeptReceipt]:
    """Receipts from a file with one JSON object per line: ``{"assignment": 17, "key": "..."}``."""
    receipts, problems = [], Problems()
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text file in UTF-8") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            held = json.loads(line)
            assignment, key = held["assignment"], held["key"]
        except (ValueError, KeyError, TypeError, RecursionError):
            assignment = key = None
        if type(assignment) is int and isinstance(key, str):
            receipts.append(KeptReceipt(assignment, key))
        else:
            problems.error(f"{path}, line {number}", 'is not a receipt like {"assignment": 17, "key": "..."}')
    if problems.errors:
        raise InputError(problems.errors)
    return receipts


class Verification(NamedTuple):
    """What was counted where, and everything that is wrong."""

    place: str
    counts: Mapping[str, int]
    problems: tuple[Problem, ...]


def verify(place: str, *, backup: Path | None = None, receipts: Iterable[KeptReceipt] = ()) -> Verification:
    """Check the study database at a place."""
    file = Path(place)
    if "://" not in place and file.is_file() and (damages := check_file(file)):
        return Verification(place, {}, tuple(damages))  # whatever else would be asked of a damaged file means nothing
    database = Database.open(place)
    try:
        with database.snapshot() as connection:
            found = [problem for check in _CHECKS for problem in check(connection)]
            found += _people_again(connection, database.secret)
            found += _receipts(connection, receipts)
            found += _since(connection, database, backup) if backup is not None else ()
            return Verification(database.shown, count_contents(connection), tuple(found))
    finally:
        database.close()


def _answers(connection: Connection) -> Iterator[Problem]:
    """Whatever was submitted has an answer of its kind, a time, and the key of its receipt."""
    query = (
        select(_a.id, _a.key, _a.submitted, _a.answer, _c.kind)
        .join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
        .join(schema.campaigns, _t.campaign_id == _c.id)
        .where(_a.state == "submitted")
        .order_by(_a.id)
    )
    for row in connection.execute(query, execution_options={"yield_per": BATCH}):
        missing = [what for what in ("answer", "key", "submitted") if row._mapping[what] is None]
        if missing:
            yield Problem(f"answer {row.id}", f"was submitted, but has no {' and no '.join(missing)}")
            continue
        try:
            read_answer(row.kind, row.answer)
        except (TypeError, AttributeError):
            yield Problem(f"answer {row.id}", f"is not an answer to a task of kind {row.kind}")


def _places(connection: Connection) -> Iterator[Problem]:
    """No task has more counted answers than wanted, and those marked full are."""
    counted = select(_a.task_id, func.count().label("answers")).where(COUNTS).group_by(_a.task_id).subquery()
    query = select(_t.name, _t.full, _t.wanted, func.coalesce(counted.c.answers, 0).label("answers"))
    joined = query.outerjoin(counted, counted.c.task_id == _t.id).order_by(_t.id)
    for task in connection.execute(joined):
        shown = f"{task.answers} of {task.wanted} answers"
        if task.answers > task.wanted:
            yield Problem(f"task {task.name}", f"has {shown}, more than it needs")
        if bool(task.full) != (task.answers >= task.wanted):
            yield Problem(f"task {task.name}", f"is marked {'full' if task.full else 'open'}, but has {shown}")


def _pairs(connection: Connection) -> Iterator[Problem]:
    """Nobody has two places in one task."""
    query = select(_t.name, _a.worker_id, func.count().label("count")).join_from(
        schema.assignments, schema.tasks, _a.task_id == _t.id
    )
    for row in connection.execute(query.group_by(_t.name, _a.worker_id).having(func.count() > 1)):
        yield Problem(f"task {row.name}", f"was given to worker {row.worker_id} {row.count} times")


def _entries(connection: Connection) -> Iterator[Problem]:
    """Work, decisions and payments belong to the entry of the same worker, and work to one of its campaign."""
    work = (
        select(_a.id)
        .join_from(schema.assignments, schema.tasks, _a.task_id == _t.id)
        .outerjoin(schema.entries, _a.entry_id == _e.id)
        .where(_a.entry_id.is_not(None), not_(and_(_e.worker_id == _a.worker_id, _e.campaign_id == _t.campaign_id)))
    )
    for row in connection.execute(work.order_by(_a.id)):
        yield Problem(f"answer {row.id}", "belongs to an entry of another worker or campaign")
    answers = select(_r.id).outerjoin(schema.assignments, _r.assignment_id == _a.id)
    entries = select(_r.id).outerjoin(schema.entries, _r.entry_id == _e.id)
    for what, wrong in (
        ("answer", answers.where(_r.assignment_id.is_not(None), _differ(_a.worker_id, _r.worker_id))),
        ("entry", entries.where(_r.entry_id.is_not(None), _differ(_e.worker_id, _r.worker_id))),
    ):
        for row in connection.execute(wrong.order_by(_r.id)):
            yield Problem(f"decision {row.id}", f"is about an {what} that is gone or another worker's")
    orphans = select(_p.id).outerjoin(schema.entries, _p.entry_id == _e.id).where(_e.id.is_(None))
    for row in connection.execute(orphans):
        yield Problem(f"payment {row.id}", "is for an entry that is gone")


def _differ(mine: ColumnElement[Any], theirs: ColumnElement[Any]) -> ColumnElement[bool]:
    return func.coalesce(mine, "") != func.coalesce(theirs, "")


def _rounds(connection: Connection) -> Iterator[Problem]:
    """Rounds and looks are numbered from 1 without gaps, no look is ahead of its round, and no task is missing."""
    released: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in connection.execute(select(schema.rounds).order_by(_n.campaign_id, _n.number)):
        released[row.campaign_id].append((row.number, row.tasks))
    names = {row.id: row.name for row in connection.execute(select(_c.id, _c.name))}
    for campaign, rounds in released.items():
        where, numbers = f"campaign {names[campaign]}", [number for number, _ in rounds]
        if numbers != list(range(1, len(numbers) + 1)):
            yield Problem(where, f"has rounds {', '.join(map(str, numbers))}; some are missing")
        tasks = select(func.count()).select_from(schema.tasks).where(_t.campaign_id == campaign)
        held, wanted = connection.execute(tasks).scalar_one(), sum(number for _, number in rounds)
        if held != wanted:
            yield Problem(where, f"has {held} tasks, but its rounds have {wanted}")
    ahead = select(_l.campaign_id, _l.number).where(
        ~exists().where(_n.campaign_id == _l.campaign_id, _n.number == _l.number)
    )
    for row in connection.execute(ahead.order_by(_l.campaign_id, _l.number)):
        yield Problem(f"campaign {names[row.campaign_id]}", f"has look {row.number}, but no such round")


_CHECKS = (_answers, _places, _pairs, _entries, _rounds, damaged_blocks)


def _people_again(connection: Connection, secret: bytes) -> Iterator[Problem]:
    """Nobody who was forgotten is here under their old id: a copy of an old file brings people back."""
    marks = set(connection.execute(select(schema.forgotten.c.mark)).scalars())
    for worker in connection.execute(select(schema.workers.c.id)).scalars() if marks else ():
        if tombstone(secret, worker) in marks:
            yield Problem(
                f"worker {worker}", "was forgotten and is here again; use `pyramidion campaign forget-worker`"
            )


def _receipts(connection: Connection, receipts: Iterable[KeptReceipt]) -> Iterator[Problem]:
    """Every receipt stands for an answer that is here."""
    kept = list(receipts)
    query = select(_a.id, _a.key).where(_a.state == "submitted")
    keys = {row.id: row.key for row in connection.execute(query)} if kept else {}
    for receipt in kept:
        if keys.get(receipt.assignment) != receipt.key:
            what = "has another key" if receipt.assignment in keys else "is missing"
            yield Problem(f"receipt of answer {receipt.assignment}", f"the answer {what}")


def _since(connection: Connection, database: Database, backup: Path) -> Iterator[Problem]:
    """Every answer in a backup is still here, word for word; only comments may have been erased since."""
    if not backup.is_file():
        raise UsageError(f"{backup} is not a file")
    if damages := check_file(backup):
        yield from damages
        return
    if secret_in(backup) != database.meta["secret"]:
        raise UsageError(f"{backup} is not a backup of this study")
    query = select(_a.id, _a.key, _a.answer).where(_a.state == "submitted")
    here = {row.id: (row.key, _lasting(row.answer)) for row in connection.execute(query)}
    with closing(read_only(backup)) as file:
        rows = file.execute("SELECT id, key, answer FROM assignments WHERE state = 'submitted' ORDER BY id")
        for id, key, answer in rows:
            if id not in here:
                yield Problem(f"answer {id}", f"is in {backup}, but not in the study")
            elif here[id] != (key, _lasting(json.loads(answer or "null"))):
                yield Problem(f"answer {id}", f"is not the one in {backup}")


def _lasting(answer: Any) -> Any:
    """An answer without what is erased when its worker is forgotten."""
    return {k: v for k, v in answer.items() if k not in {"comment", "pasted"}} if isinstance(answer, dict) else answer
