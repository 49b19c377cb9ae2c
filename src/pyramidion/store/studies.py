"""The study content of a database: what was imported, and what campaigns added."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, func, insert, or_, select, text, update

from pyramidion.errors import Problem
from pyramidion.store import schema
from pyramidion.store.database import Database, insert_if_new
from pyramidion.store.stored_judgments import add_judgments, read_judgments, replace_judgments
from pyramidion.study import Judgments, Study
from pyramidion.study.records import Collector, to_records

BATCH = 5_000
REFRESH_SECONDS = 1.0
BLIND = "blind"


MAX_ID, MAX_UNIT_ID = 200, 2000
"""The longest ids that a database takes, in characters. They are in indexes and addresses of pages; a unit's id may be
its whole text."""


def long_ids(study: Study) -> Iterator[Problem]:
    """Ids that are too long for a database and its pages."""
    named = {
        "topic": (topic.id for topic in study.topics),
        "system": (summary.system for summary in study.summaries),
        "pyramid": (pyramid.name for pyramid in study.pyramids),
        "judge": (judge.id for judge in study.judges),
        "aspect": (aspect.id for aspect in study.aspects),
        "task": (task.id for task in study.tasks),
    }
    units = (unit.id for pyramid in study.pyramids for unit in pyramid.units)
    limits = [*((noun, ids, MAX_ID) for noun, ids in named.items()), ("unit", units, MAX_UNIT_ID)]
    for noun, ids, most in limits:
        for id in sorted({id for id in ids if len(id) > most}):
            what = f"the id has {len(id)} characters; a study database takes at most {most}. Shorten it in the files"
            yield Problem(f"{noun} {id[:40]!r}...", what)


class Studies:
    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, topic: str | None = None) -> Study:
        """The study as imported so far, without the answers of campaigns; or only what is about a topic, with all
        judges and aspects and without assignments."""
        collector, r = Collector(), schema.records.c
        query = select(r.body).order_by(r.id)
        if topic is not None:
            query = query.where(or_(r.topic == topic, r.type.in_(("judge", "aspect"))))
        with self._database.read() as connection:
            for row in connection.execute(query, execution_options={"yield_per": BATCH}):
                collector.add(row.body)
            judgments = read_judgments(connection, topic)
        collector.add({"type": "study", "version": 1, "title": self._database.meta.get("title", "")})
        return replace(collector.study(), judgments=judgments)

    def newest(self) -> int:
        """A number that grows whenever something is added, and when forgetting somebody changes it; 0 at first."""
        added = [select(func.coalesce(func.max(table.c.id), 0)) for table in (schema.records, schema.blocks)]
        forgotten = select(func.count()).select_from(schema.forgotten)
        parts = [part.scalar_subquery() for part in (*added, forgotten)]
        row = self._database.first(select(parts[0] + parts[1] + parts[2]), {})
        return int(row[0]) if row else 0

    def add(self, study: Study) -> int:
        """Append everything in a study; the caller has checked that it fits what is there. One transaction."""
        now = time.time()
        count = len(study.judgments)
        with self._database.write() as connection:
            for batch in _batches(to_records(replace(study, title="", judgments=Judgments()))):
                connection.execute(insert(schema.records), [_row(record, now) for record in batch])
                count += len(batch)
            add_judgments(connection, study.judgments)
        return count

    def is_blind(self) -> bool:
        """Whether experts annotate without knowing systems and each other's work."""
        row = self._database.first(select(schema.meta.c.value).filter_by(key=BLIND), {})
        return row is not None and row[0] == "on"

    def set_blind(self, blind: bool) -> None:
        value = "on" if blind else "off"
        with self._database.write() as connection:
            insert_if_new(connection, schema.meta, key=BLIND, value=value)
            connection.execute(update(schema.meta).filter_by(key=BLIND).values(value=value))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """One transaction of this thread in which nobody else changes the study: read it, decide, change it."""
        with self._database.together():
            if not self._database.sqlite:  # SQLite lets in one writer anyway
                with self._database.write() as connection:
                    tables = f"{schema.records.name}, {schema.blocks.name}"
                    connection.execute(text(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"))
            yield

    def put(
        self,
        study: Study,
        *,
        topic: str,
        pyramids: Collection[str] = (),
        judgments: Callable[[Judgments], NDArray[np.bool_]],
    ) -> None:
        """Inside ``changing``: add a study that is about a topic, then take out what it replaces there: pyramids by
        their names, and the judgments that ``judgments`` chooses among those of the topic.

        In this order, since the newest id tells other processes that something changed.
        """
        r = schema.records.c
        before = select(r.id, r.body).where(r.topic == topic, r.type == "pyramid")
        with self._database.write() as connection:
            old = [row.id for row in connection.execute(before) if row.body.get("name", "expert") in pyramids]
            self.add(replace(study, judgments=Judgments()))
            connection.execute(delete(schema.records).where(r.id.in_(old)))
            replace_judgments(connection, topic, judgments, study.judgments)


class KeptStudy:
    """A study kept in memory while it does not change. What is added elsewhere appears within a second."""

    def __init__(self, studies: Studies) -> None:
        self._studies = studies
        self._lock = threading.Lock()
        self._study: Study | None = None
        self._newest = -1
        self._checked = float("-inf")

    def load(self) -> Study:
        now = time.monotonic()
        with self._lock:
            if self._study is None or now - self._checked > REFRESH_SECONDS:
                newest = self._studies.newest()
                if self._study is None or newest != self._newest:
                    self._study = self._studies.load()
                self._newest, self._checked = newest, now
            return self._study

    def load_now(self) -> Study:
        """As it is at this moment, for what is kept as long as nothing changes."""
        self.check_again()
        return self.load()

    def check_again(self) -> None:
        """Call after changing the study: then the change is seen at once."""
        with self._lock:
            self._checked = float("-inf")


def _row(record: dict[str, Any], now: float) -> dict[str, Any]:
    """A record with what it is about: a topic is about itself."""
    topic = record.get("id" if record["type"] == "topic" else "topic")
    return {"type": record["type"], "body": record, "added": now, "topic": topic}


def _batches(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for record in records:
        if record["type"] == "study":  # the title is the database's own
            continue
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
