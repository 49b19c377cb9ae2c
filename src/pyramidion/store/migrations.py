"""Named steps that bring a database up to date, each recorded in the same transaction that takes it."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

from sqlalchemy import Column, Connection, Float, MetaData, String, Table, insert, inspect, select, text

from pyramidion.errors import UsageError
from pyramidion.store import schema
from pyramidion.store.stored_judgments import add_judgments
from pyramidion.study.judgments import Judgment, JudgmentsBuilder
from pyramidion.study.records import CODEC

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
    """Rejected answers used to count; now each answer that does not count says why, following its reviews.

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


def entries_and_payments(connection: Connection) -> None:
    """Sessions belonged to people; now each way into a campaign has its own.

    The one session that was kept of a person is that of the campaign they last took a task of. Written in SQL, like the
    step before.
    """
    new = ("entries", "forgotten", "payments", "platform_events", "log_in_failures")
    schema.metadata.create_all(connection, tables=[schema.metadata.tables[name] for name in new])
    for table, column, definition in (
        ("assignments", "entry_id", "INTEGER REFERENCES entries (id)"),
        ("reviews", "entry_id", "INTEGER REFERENCES entries (id)"),
        ("sessions", "created", "FLOAT NOT NULL DEFAULT 0"),
        ("sessions", "agent", "VARCHAR NOT NULL DEFAULT ''"),
    ):
        if column not in {one["name"] for one in inspect(connection).get_columns(table)}:
            connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {column} {definition}"))
    if connection.execute(text("SELECT 1 FROM entries LIMIT 1")).first() is not None:
        return
    rows = connection.execute(
        text(
            "SELECT t.campaign_id, a.worker_id, w.platform, min(a.leased) AS arrived, max(a.leased) AS last, "
            "coalesce(max(i.session), '') AS session FROM assignments a JOIN tasks t ON a.task_id = t.id "
            "JOIN workers w ON a.worker_id = w.id LEFT JOIN identities i ON i.worker_id = w.id "
            "GROUP BY t.campaign_id, a.worker_id, w.platform ORDER BY last, t.campaign_id"
        )
    ).all()
    newest = {row.worker_id: row.campaign_id for row in rows}
    campaigns = {
        row.id: row.settings for row in connection.execute(select(schema.campaigns.c.id, schema.campaigns.c.settings))
    }
    for row in rows:
        connection.execute(
            insert(schema.entries).values(
                campaign_id=row.campaign_id,
                worker_id=row.worker_id,
                platform=row.platform,
                study=(campaigns[row.campaign_id] or {}).get("platform_study", ""),
                session=row.session if newest[row.worker_id] == row.campaign_id else "",
                arrived=row.arrived,
            )
        )
    connection.execute(
        text(
            "UPDATE assignments SET entry_id = (SELECT e.id FROM entries e JOIN tasks t ON t.campaign_id = "
            "e.campaign_id WHERE t.id = assignments.task_id AND e.worker_id = assignments.worker_id)"
        )
    )
    connection.execute(
        text(
            "UPDATE reviews SET entry_id = (SELECT min(e.id) FROM entries e WHERE e.worker_id = reviews.worker_id) "
            "WHERE action IN ('bonus', 'paid') AND "
            "(SELECT count(*) FROM entries e WHERE e.worker_id = reviews.worker_id) = 1"
        )
    )


def rounds_and_looks(connection: Connection) -> None:
    schema.metadata.create_all(connection, tables=[schema.parts, schema.rounds, schema.looks])


def judgment_blocks(connection: Connection) -> None:
    """Every judgment was a record of its own; now they are in blocks, and records say which topic they are about."""
    if "topic" not in {column["name"] for column in inspect(connection).get_columns("records")}:
        connection.execute(text("ALTER TABLE records ADD COLUMN topic VARCHAR"))
    for index in schema.records.indexes:
        index.create(connection, checkfirst=True)
    schema.blocks.create(connection, checkfirst=True)
    records = text("SELECT id, type, body FROM records WHERE type <> 'judgment'").columns(
        body=schema.records.c.body.type
    )
    about = [
        {"record": row.id, "topic": row.body.get("id" if row.type == "topic" else "topic")}
        for row in connection.execute(records)
    ]
    if about:
        connection.execute(text("UPDATE records SET topic = :topic WHERE id = :record"), about)
    into_blocks(connection)


def campaign_changes(connection: Connection) -> None:
    """What managers prepare in the browser: instructions of their own, what a campaign asks about, and a log of it."""
    schema.changes.create(connection, checkfirst=True)
    for column in ("scope", "instructions"):
        if column not in {one["name"] for one in inspect(connection).get_columns("campaigns")}:
            connection.execute(text(f"ALTER TABLE campaigns ADD COLUMN {column} JSON"))


def into_blocks(connection: Connection) -> None:
    """Move judgments that are records into blocks: all of them once, and later those that a server of an older release
    has added, which was still running."""
    if connection.execute(text("SELECT 1 FROM records WHERE type = 'judgment' LIMIT 1")).first() is None:
        return
    judgments = text("SELECT id, body FROM records WHERE type = 'judgment' ORDER BY id")
    rows = connection.execute(judgments.columns(body=schema.records.c.body.type), execution_options={"yield_per": 5000})
    builder, numbers = JudgmentsBuilder(), array("q")
    for row in rows:
        try:
            builder.add(CODEC.decode(Judgment, row.body))
        except ValueError as error:
            raise UsageError(f"record {row.id} of the database cannot be used: {error}") from None
        numbers.append(row.id)
    add_judgments(connection, builder.build(), numbers)
    connection.execute(text("DELETE FROM records WHERE type = 'judgment'"))


def adjudications(connection: Connection) -> None:
    """Which two annotations a third settles. Tables made since then have the column already."""
    table = schema.annotation_heads
    if "adjudicates" not in {column["name"] for column in inspect(connection).get_columns(table.name)}:
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN adjudicates JSON"))


def given_consents(connection: Connection) -> None:
    """Consent was asked by the page only; whoever agreed before is asked once more."""
    schema.consents.create(connection, checkfirst=True)


STEPS: tuple[Callable[[Connection], None], ...] = (
    first_tables,
    annotation_tables,
    stored_annotations,
    removed_answers,
    entries_and_payments,
    rounds_and_looks,
    judgment_blocks,
    campaign_changes,
    adjudications,
    given_consents,
)


def migrate(connection: Connection) -> None:
    """Apply the steps this database lacks. A database from a newer release is refused."""
    _history.create(connection, checkfirst=True)
    done = set(connection.execute(select(_history.c.name)).scalars())
    if unknown := done - {step.__name__ for step in STEPS}:
        raise UsageError(
            f"the database is from a newer pyramidion (it has {', '.join(sorted(unknown))}); update pyramidion first"
        )
    for step in STEPS:
        if step.__name__ not in done:
            step(connection)
            connection.execute(insert(_history).values(name=step.__name__, applied=time.time()))
    into_blocks(connection)
