"""Named steps that bring a database up to date, each recorded in the same transaction that takes it."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import Column, Connection, Float, MetaData, String, Table, insert, inspect, select, text

from pyramidion.errors import UsageError
from pyramidion.store import schema

_history = Table(
    "migrations", MetaData(), Column("name", String, primary_key=True), Column("applied", Float, nullable=False)
)


def first_tables(connection: Connection) -> None:
    schema.metadata.create_all(connection)


def annotation_tables(connection: Connection) -> None:
    schema.metadata.create_all(connection, tables=[schema.annotation_heads, schema.annotation_events])


def stored_annotations(connection: Connection) -> None:
    """Tables made since then have the column already."""
    table = schema.annotation_heads
    if "stored" not in {column["name"] for column in inspect(connection).get_columns(table.name)}:
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN stored INTEGER"))


def removed_answers(connection: Connection) -> None:
    """Answers that were rejected used to count on; now each that does not count says why, as its reviews do.

    Written in SQL, so that columns which come later do not matter to this step.
    """
    if "removed" not in {column["name"] for column in inspect(connection).get_columns("assignments")}:
        connection.execute(text("ALTER TABLE assignments ADD COLUMN removed VARCHAR"))
    removed: dict[int, str] = {}
    decided = text("SELECT assignment_id, action FROM reviews WHERE assignment_id IS NOT NULL ORDER BY id")
    for assignment, action in connection.execute(decided):
        if action == "reject":
            removed[assignment] = "rejected"
        elif action == "reopen":
            removed.setdefault(assignment, "reopened")
        elif action == "approve" and removed.get(assignment) == "rejected":
            del removed[assignment]
    mark = text("UPDATE assignments SET removed = :why WHERE id = :assignment")
    reopen = text(
        'UPDATE tasks SET "full" = :no WHERE id = (SELECT task_id FROM assignments WHERE id = :assignment) AND '
        "wanted > (SELECT count(*) FROM assignments a WHERE a.task_id = tasks.id AND a.state = 'submitted' "
        "AND NOT a.surplus AND a.removed IS NULL)"
    )
    for assignment, why in removed.items():
        connection.execute(mark, {"why": why, "assignment": assignment})
        connection.execute(reopen, {"no": False, "assignment": assignment})


STEPS: tuple[Callable[[Connection], None], ...] = (
    first_tables,
    annotation_tables,
    stored_annotations,
    removed_answers,
)


def migrate(connection: Connection) -> None:
    """Take the steps this database has not seen. A database from a newer release is refused, not guessed at."""
    _history.create(connection, checkfirst=True)
    done = set(connection.execute(select(_history.c.name)).scalars())
    if unknown := done - {step.__name__ for step in STEPS}:
        raise UsageError(f"the database is from a newer pyramidion (it has {', '.join(sorted(unknown))}); update first")
    for step in STEPS:
        if step.__name__ not in done:
            step(connection)
            connection.execute(insert(_history).values(name=step.__name__, applied=time.time()))
