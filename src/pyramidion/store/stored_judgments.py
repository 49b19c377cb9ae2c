"""The judgments of a study in its database: blocks of some thousand, each about one topic.

A million rows of JSON would take longer to read than everything that is then done with them. Whoever changes a topic
reads and writes its blocks alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sqlalchemy import Connection, Select, delete, func, insert, select, text, update

from pyramidion.errors import Problem, UsageError
from pyramidion.store import schema
from pyramidion.study import Judgments
from pyramidion.study.blocks import JudgmentBlock, join, pack, unpack
from pyramidion.study.judgments import NAMED
from pyramidion.study.records import BadRecordError

ROWS = 8192
"""Judgments in a block, at most: more make larger transactions, and fewer take longer to read."""
_b = schema.blocks.c


def read_judgments(connection: Connection, topic: str | None = None) -> Judgments:
    """All judgments, or those about a topic, in the order in which they were added."""
    return join([block for _, block in _blocks(connection, topic)]).judgments


def count_judgments() -> Select[tuple[int]]:
    return select(func.coalesce(func.sum(_b.rows), 0))


def add_judgments(connection: Connection, judgments: Judgments, numbers: ArrayLike | None = None) -> None:
    """Add judgments after all others, unless their numbers are known."""
    if numbers is None:
        last = connection.execute(select(func.coalesce(func.max(_b.last), 0))).scalar_one()
        numbers = np.arange(last + 1, last + 1 + len(judgments))
    _write(connection, judgments, np.asarray(numbers, np.int64))


def replace_judgments(
    connection: Connection, topic: str, gone: Callable[[Judgments], NDArray[np.bool_]], new: Judgments
) -> None:
    """Take some judgments out of a topic and add new ones about it.

    Something is written even if nothing is left, and before the old blocks go: the newest id tells other processes
    that the study has changed.
    """
    held = list(_blocks(connection, topic))
    old = join([block for _, block in held])
    kept = ~gone(old.judgments)
    last = connection.execute(select(func.coalesce(func.max(_b.last), 0))).scalar_one()
    numbers = np.append(old.numbers[kept], np.arange(last + 1, last + 1 + len(new)))
    judgments = old.judgments.take(kept) + new
    if len(judgments):
        _write(connection, judgments, numbers)
    else:
        connection.execute(insert(schema.blocks).values(_row(topic, judgments, numbers)))
    connection.execute(delete(schema.blocks).where(_b.id.in_([id for id, _ in held])))


def rename_in_judgments(connection: Connection, old: str, new: str) -> int:
    """Put one text in the place of another in all names; returns in how many places it was."""
    if connection.dialect.name == "postgresql":  # nobody replaces a block meanwhile; SQLite lets in one writer anyway
        connection.execute(text(f"LOCK TABLE {schema.records.name} IN SHARE ROW EXCLUSIVE MODE"))
    count = 0
    ids = connection.execute(select(_b.id).order_by(_b.id)).scalars().all()
    for id in ids:
        judgments, numbers = unpack(connection.execute(select(_b.body).where(_b.id == id)).scalar_one())
        columns = {name: getattr(judgments, name) for name in NAMED}
        if not any(old in name for column in columns.values() for name in column.names):
            continue
        count += sum(name.count(old) for column in columns.values() for name in column)
        renamed = {name: column.rename(lambda text: text.replace(old, new)) for name, column in columns.items()}
        body = pack(judgments.with_columns(**renamed), numbers)
        connection.execute(update(schema.blocks).where(_b.id == id).values(body=body))
    return count


def damaged_blocks(connection: Connection) -> Iterator[Problem]:
    """Blocks that cannot be read, or do not hold what their row says."""
    for row in connection.execute(_chosen(), execution_options={"yield_per": 100}):
        try:
            judgments, numbers = unpack(row.body)
        except BadRecordError as error:
            yield Problem(f"block {row.id}", str(error))
            continue
        about = set(judgments.topic.present_names()) | {row.topic}
        if (len(judgments), max(numbers.tolist(), default=0), about) != (row.rows, row.last, {row.topic}):
            yield Problem(f"block {row.id}", "does not hold the judgments that its row says")


def _chosen(topic: str | None = None) -> Select[Any]:
    query = select(schema.blocks).order_by(_b.id)
    return query if topic is None else query.where(_b.topic == topic)


def _blocks(connection: Connection, topic: str | None = None) -> Iterator[tuple[int, JudgmentBlock]]:
    """The blocks, or those of a topic, each with its id."""
    for row in connection.execute(_chosen(topic), execution_options={"yield_per": 100}):
        try:
            yield row.id, unpack(row.body)
        except BadRecordError as error:
            raise UsageError(f"block {row.id} of the database: {error}") from None


def _write(connection: Connection, judgments: Judgments, numbers: NDArray[np.int64]) -> None:
    order = np.argsort(judgments.topic.codes, kind="stable")
    by_topic = np.split(order, np.flatnonzero(np.diff(judgments.topic.codes[order])) + 1) if len(order) else []
    parts = (rows[first : first + ROWS] for rows in by_topic for first in range(0, len(rows), ROWS))
    made = (_row(judgments.topic[rows[0]], judgments.take(rows), numbers[rows]) for rows in parts)
    for row in made:
        connection.execute(insert(schema.blocks), row)


def _row(topic: str, judgments: Judgments, numbers: NDArray[np.int64]) -> dict[str, object]:
    return {
        "topic": topic,
        "rows": len(judgments),
        "last": int(numbers.max()) if len(numbers) else 0,
        "added": time.time(),
        "body": pack(judgments, numbers),
    }
