"""The study content of a database: what was imported, and what campaigns made of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import insert, select

from pyramidion.model import Study
from pyramidion.model.records import Collector, to_records
from pyramidion.store import schema
from pyramidion.store.database import Database

BATCH = 5_000


class Studies:
    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Study:
        """The study as imported so far, without the answers of campaigns."""
        collector = Collector()
        with self._database.read() as connection:
            query = select(schema.records.c.body).order_by(schema.records.c.id)
            for row in connection.execution_options(yield_per=BATCH).execute(query):
                collector.add(row.body)
        collector.add({"type": "study", "version": 1, "title": self._database.meta.get("title", "")})
        return collector.study()

    def add(self, study: Study) -> int:
        """Append everything in a study; the caller has checked that it fits what is there. One transaction."""
        now = time.time()
        count = 0
        with self._database.write() as connection:
            for batch in _batches(r for r in to_records(study) if r["type"] != "study"):
                connection.execute(
                    insert(schema.records), [{"type": r["type"], "body": r, "added": now} for r in batch]
                )
                count += len(batch)
        return count


def _batches(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for record in records:
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
