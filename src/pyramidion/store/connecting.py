"""Connections to a database: how many a process keeps open, and how each is set up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DatabaseError

from pyramidion.errors import UsageError, needs_extra
from pyramidion.store.places import SqliteFile, is_read_only, read_place, shown_place, without_secrets

BUSY_SECONDS = 30
THREADS = 40
"""Threads of a server process; each has an open connection, because opening one costs more than using it."""
POSTGRES_WRITERS, POSTGRES_OTHERS = 2, 6
"""Connections of a process: PostgreSQL accepts 100 in all by default. The first are for workers' requests, of which no
more are under way at a time (`pyramidion.server.context`): who waits for a connection is overtaken by who has just
given one back, who waits for a thread is not."""


def open_engine(place: str | Path, busy_seconds: float | None = None, *, new: bool = False) -> Engine:
    url = read_place(place)
    if url.get_backend_name() == "sqlite":
        file = SqliteFile(Path(url.database or ""), BUSY_SECONDS if busy_seconds is None else busy_seconds, new=new)
        engine = create_engine(url, pool_size=THREADS, max_overflow=THREADS, creator=file.connect, hide_parameters=True)
        event.listen(engine, "connect", _prepare_sqlite)
    else:
        with needs_extra("A study database on PostgreSQL", "postgres"):
            connections = POSTGRES_WRITERS + POSTGRES_OTHERS
            engine = create_engine(url, pool_size=connections, max_overflow=0, pool_use_lifo=True, hide_parameters=True)
    try:
        engine.connect().close()
    except DatabaseError as error:
        why = "it is read-only" if is_read_only(url) else without_secrets(str(error.orig).splitlines()[0], url)
        raise UsageError(f"{shown_place(place)} cannot be opened: {why}") from None
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `Database`, not guessed by the driver
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
