"""Backups of a study database, and the way back.

A backup is one SQLite file with the rows of every table, whichever database the study is in, read in one transaction:
people may go on working meanwhile. It is written under another name, checked and synced before it gets its own, so
that there is never half a backup. ``restore`` makes a study database of it again, on SQLite or PostgreSQL.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Connection, Integer, Table, func, inspect, select, text
from sqlalchemy.exc import DatabaseError

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.store.stored_judgments import count_judgments

BATCH = 1000
Progress = Callable[[int], AbstractContextManager[Callable[[int], object]]]
"""Given the number of rows, a context whose value is told how many more are done."""
_HISTORY = "migrations"


@dataclass(frozen=True)
class BackupReport:
    """A backup that was written: what is in it, and a checksum of the file."""

    path: str
    counts: Mapping[str, int]
    bytes: int
    sha256: str


@dataclass(frozen=True)
class RestoreReport:
    """A study that was restored. ``aside`` is where the one that was there is kept; ``forgotten`` are its tombstones,
    if it was the same study."""

    counts: Mapping[str, int]
    aside: str = ""
    forgotten: Mapping[str, str] = field(default_factory=dict)


def silently(_total: int) -> AbstractContextManager[Callable[[int], object]]:
    return nullcontext(lambda _done: None)


def count_contents(connection: Connection) -> dict[str, int]:
    """How much of what there is in a study database."""
    counted = {
        "campaigns": select(func.count()).select_from(schema.campaigns),
        "tasks": select(func.count()).select_from(schema.tasks),
        "workers": select(func.count()).select_from(schema.workers),
        "answers": select(func.count()).select_from(schema.assignments).filter_by(state="submitted"),
        "decisions": select(func.count()).select_from(schema.reviews),
        "payments": select(func.count()).select_from(schema.payments),
        "records": select(func.count() + count_judgments().scalar_subquery()).select_from(schema.records),
        "annotations": select(func.count()).select_from(schema.annotation_heads),
        "accounts": select(func.count()).select_from(schema.accounts),
    }
    return {what: connection.execute(query).scalar_one() for what, query in counted.items()}


# -- backup --------------------------------------------------------------------------------------------------


def back_up(
    database: Database,
    destination: Path,
    *,
    force: bool = False,
    progress: Progress = silently,
    change: Callable[[Connection], object] = lambda _copy: None,
) -> BackupReport:
    """Write everything that is in a study database now into one new file. ``force`` replaces a file of that name;
    ``change`` is made in the copy before it has its name."""
    if destination.is_dir():
        raise UsageError(f"{destination} is a folder; give the name of a file")
    file = database.engine.url.database
    study = [Path(f"{file}{suffix}").resolve() for suffix in ("", "-wal", "-shm")] if database.sqlite else []
    if destination.resolve() in study:
        raise UsageError(f"{destination} belongs to the study itself; choose another name for the backup")
    if not destination.parent.is_dir():
        raise UsageError(f"{destination.parent} is not a folder; create it first")
    if destination.exists() and not force:
        raise UsageError(f"{destination} already exists; choose another name, or use --force to replace it")
    with until_complete(destination) as unfinished:
        with database.snapshot() as source, Database.filling(unfinished) as target:
            counts = count_contents(source)
            copy_rows(source, target, progress)
            change(target)
        make_single(unfinished)
        if problems := check_file(unfinished):
            raise InputError(problems)
        size, checksum = unfinished.stat().st_size, _sha256(unfinished)
    return BackupReport(str(destination), counts, size, checksum)


@contextmanager
def until_complete(destination: Path) -> Iterator[Path]:
    """A file in a private folder beside its destination, moved there once it is complete and on disk."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
    except OSError as error:
        raise UsageError(f"{destination} cannot be written: {error.strerror}") from None
    unfinished = folder / destination.name
    try:
        yield unfinished
        unfinished.chmod(0o600)  # it holds the study's secret and the ids of people
        _sync(unfinished)
        unfinished.replace(destination)
        _sync(destination.parent)
    except DatabaseError as error:
        raise UsageError(f"{destination} was not written: {str(error.orig).splitlines()[0]}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_rows(source: Connection, target: Connection, progress: Progress = silently) -> None:
    """Copy the rows of all tables as they are stored, those that are referred to first.

    Past SQLAlchemy, which takes ten times as long: JSON stays the text that it is, and an empty value and a JSON null
    stay two things.
    """
    tables = schema.metadata.sorted_tables
    total = sum(source.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)
    with progress(total) as advance:
        for table in tables:
            rows = source.exec_driver_sql(all_rows(table, source), execution_options={"yield_per": BATCH})
            batches = ([tuple(row) for row in batch] for batch in rows.partitions())
            (_fill_sqlite if target.dialect.name == "sqlite" else _fill_postgres)(table, target, batches, advance)


def all_rows(table: Table, source: Connection) -> str:
    as_text = "::text" if source.dialect.name == "postgresql" else ""
    columns = (f'"{c.name}"{as_text if isinstance(c.type, JSON) else ""}' for c in table.c)
    order = ", ".join(f'"{c.name}"' for c in table.primary_key)
    return f'SELECT {", ".join(columns)} FROM "{table.name}" ORDER BY {order}'  # noqa: S608 - our own tables


Batches = Iterable[list[tuple[Any, ...]]]


def _fill_sqlite(table: Table, target: Connection, batches: Batches, advance: Callable[[int], object]) -> None:
    places = ", ".join("?" * len(table.c))
    for rows in batches:
        target.exec_driver_sql(f'INSERT INTO "{table.name}" ({_columns(table)}) VALUES ({places})', rows)  # noqa: S608
        advance(len(rows))


def _fill_postgres(table: Table, target: Connection, batches: Batches, advance: Callable[[int], object]) -> None:
    """As text, which PostgreSQL reads as the type of each column. It counts ids itself: new ones come after these."""
    driver: Any = target.connection.driver_connection
    try:
        with driver.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({_columns(table)}) FROM STDIN') as copy:
            for rows in batches:
                for row in rows:
                    copy.write_row(row)
                advance(len(rows))
    except target.dialect.loaded_dbapi.Error as error:
        raise UsageError(f"table {table.name} cannot be copied: {str(error).splitlines()[0]}") from None
    if "id" in table.c and isinstance(table.c.id.type, Integer):
        last = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"  # noqa: S608
        target.exec_driver_sql(f"{last} HAVING max(id) IS NOT NULL")


def _columns(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.c)


def make_single(path: Path) -> None:
    """Leave nothing in files beside it, and make none when it is read."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode=DELETE")


# -- what is in a file ---------------------------------------------------------------------------------------


def read_only(path: Path) -> sqlite3.Connection:
    """A connection to a SQLite file that does not change it."""
    address = path.absolute().as_uri()
    file = sqlite3.connect(f"{address}?mode=ro", uri=True)
    try:
        file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        file.close()
        if not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
        # In a folder that SQLite cannot make its own files in, nobody else can write either.
        return sqlite3.connect(f"{address}?immutable=1", uri=True)
    return file


def check_file(path: Path) -> list[Problem]:
    """What SQLite finds wrong with a database file: damaged pages and indexes, references to rows that are gone."""
    problems = []
    try:
        with closing(read_only(path)) as file:
            for (line,) in file.execute("PRAGMA integrity_check"):
                problems += [Problem(str(path), line)] if line != "ok" else []
            for table, row, other, _ in file.execute("PRAGMA foreign_key_check"):
                problems.append(
                    Problem(f"{path}, table {table}, row {row}", f"refers to a row of {other} that is gone")
                )
    except sqlite3.DatabaseError as error:
        problems.append(Problem(str(path), str(error)))
    return problems


def secret_in(path: Path) -> str | None:
    """The secret of the study in a file; None if there is none."""
    return meta_in(path).get("secret")


def meta_in(path: Path) -> dict[str, str]:
    """What the study in a file says about itself; nothing if there is none."""
    try:
        with closing(read_only(path)) as file:
            return dict(file.execute("SELECT key, value FROM meta"))
    except sqlite3.DatabaseError:
        return {}


# -- restore -------------------------------------------------------------------------------------------------


def restore(backup: Path, place: str, *, force: bool = False) -> RestoreReport:
    """Make a study database of a backup: a new file, or tables in an empty PostgreSQL database.

    With ``force`` a study that is there is kept under another name: another file, or another schema. The backup itself
    is not changed.
    """
    if not backup.is_file():
        raise UsageError(f"{backup} is not a file")
    if problems := check_file(backup):
        raise InputError(problems)
    secret = secret_in(backup)
    if secret is None:
        raise UsageError(f"{backup} contains no study")
    aside = f"before_restore_{time.strftime('%Y%m%d_%H%M%S')}"
    if "://" not in place:
        return _restore_file(backup, Path(place), force, aside, secret)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "study.db"
        counts = _copy_file(backup, copy)
        room = RoomForStudy(force, aside, secret)
        opened = Database.open(copy)
        try:
            with Database.filling(place, first=room.make) as target, opened.snapshot() as source:
                copy_rows(source, target)
        except DatabaseError as error:
            raise UsageError(f"nothing was restored: {str(error.orig).splitlines()[0]}") from None
        finally:
            opened.close()
    return RestoreReport(counts, f"schema {aside}" if room.made else "", room.forgotten)


def _copy_file(backup: Path, copy: Path) -> dict[str, int]:
    """Copy a backup and bring the copy up to date; returns what is in it."""
    with closing(read_only(backup)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    database = Database.open(copy)
    with database.snapshot() as connection:
        counts = count_contents(connection)
    database.close()
    return counts


def _restore_file(backup: Path, path: Path, force: bool, aside: str, secret: str) -> RestoreReport:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file")
    if path.exists() and path.samefile(backup):
        raise UsageError(f"{path} is the backup itself; choose another name for the study")
    if path.exists() and not force:
        raise UsageError(f"{path} already exists; choose another name, or use --force to keep it aside")
    path.parent.mkdir(parents=True, exist_ok=True)
    with until_complete(path) as unfinished:
        counts = _copy_file(backup, unfinished)
        _end_use(path)
        forgotten = _tombstones_in(path) if path.exists() and secret_in(path) == secret else {}
        kept = keep_aside(path, aside)
    return RestoreReport(counts, kept, forgotten)


def keep_aside(path: Path, aside: str) -> str:
    """Give a file that nobody uses another name, which is returned; empty if there is none."""
    if not path.exists():
        return ""
    _end_use(path)
    kept = path.with_name(f"{path.stem}_{aside}{path.suffix}")
    for suffix in ("", "-wal"):  # the second only of a damaged file that could not be closed
        if (old := Path(f"{path}{suffix}")).exists():
            old.rename(f"{kept}{suffix}")
    return str(kept)


def _end_use(path: Path) -> None:
    """Refuse to replace a file that a server or command has open; otherwise leave everything in the one file."""
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=1)) as file:
            file.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError:
        raise UsageError(f"{path} is in use; stop its server first") from None
    except sqlite3.DatabaseError:
        return  # damaged: that is what backups are for


def _tombstones_in(path: Path) -> dict[str, str]:
    with closing(read_only(path)) as file:
        known = file.execute("SELECT 1 FROM sqlite_master WHERE name = 'forgotten'").fetchone()
        return dict(file.execute("SELECT mark, worker_id FROM forgotten")) if known else {}


_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
    "AND backend_type = 'client backend'"
)


class RoomForStudy:
    """Room for a study in a PostgreSQL database: the tables of another one are moved into a schema of their own."""

    def __init__(self, force: bool, aside: str, secret: str) -> None:
        self._force, self._aside, self._secret = force, aside, secret
        self.made = False
        self.forgotten: dict[str, str] = {}

    def make(self, connection: Connection) -> None:
        present = set(inspect(connection).get_table_names())
        ours = [name for name in (*schema.metadata.tables, _HISTORY) if name in present]
        if not ours:
            return
        if not self._force:
            raise UsageError("the database is not empty; use --force to move its tables into a schema of their own")
        if connection.execute(text(_OTHERS)).scalar_one():
            raise UsageError("the database is in use; stop its server and end other connections first")
        if {schema.meta.name, schema.forgotten.name} <= present:
            held = connection.execute(select(schema.meta.c.value).filter_by(key="secret")).scalar()
            rows = connection.execute(select(schema.forgotten.c.mark, schema.forgotten.c.worker_id))
            self.forgotten = {row.mark: row.worker_id for row in rows} if held == self._secret else {}
        connection.execute(text(f"CREATE SCHEMA {self._aside}"))
        for name in ours:
            connection.execute(text(f'ALTER TABLE "{name}" SET SCHEMA {self._aside}'))
        self.made = True
