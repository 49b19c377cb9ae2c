"""Moving a study from one database to another while it is used: SQLite to PostgreSQL, back, or within one kind.

1. The study is closed for writing where it is (pyramidion.store.moved). Whoever has had an acknowledgement by then is
   in it; whoever writes later is refused, and their page keeps what they did.
2. All rows are copied in one snapshot, into a file with another name or in one transaction of PostgreSQL.
3. Counts and a checksum of every table are computed on both sides, each from what that database itself returns, and
   compared before the copy is made visible.
4. The old place says from then on where the study is. Nothing in it is deleted.

If anything fails, the study is opened for writing again where it was. Whoever kills the command leaves it closed;
repeating the command goes on, and ``undo`` opens it.
"""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, text
from sqlalchemy.exc import DatabaseError, OperationalError

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.store import schema
from pyramidion.store.backup import (
    BATCH,
    Progress,
    RoomForStudy,
    all_rows,
    check_file,
    copy_rows,
    count_contents,
    keep_aside,
    make_single,
    silently,
    until_complete,
)
from pyramidion.store.database import Database
from pyramidion.store.moved import KEY, MoveMark, read_mark, set_mark
from pyramidion.store.places import read_place, shown_place

TRIES = 5
"""How often closing a study is tried if it and somebody who writes wait for each other."""
_LOCK = 0x70797261
"""PostgreSQL's number of the lock that a move holds; any that nobody else uses."""


class TableSum(NamedTuple):
    """How many rows a table has, and a checksum of all of them in any order."""

    rows: int
    checksum: str


@dataclass(frozen=True)
class MoveReport:
    """A study that was moved. ``aside`` is where the one is kept that was at the new place."""

    source: str
    target: str
    counts: Mapping[str, int]
    tables: Mapping[str, TableSum]
    aside: str = ""


def move(place: str, target: str, *, force: bool = False, progress: Progress = silently) -> MoveReport:
    """Move the study at a place to another, which must be empty; with ``force`` what is there is kept aside."""
    if read_place(place) == read_place(target):
        raise UsageError(f"{shown_place(target)} is where the study is; choose another place")
    source = Database.open(place, even_moved=True)
    try:
        with _alone(source):
            interrupted = _close(source, shown_place(target))
            try:
                report = (_arrived(source, target) if interrupted else None) or _copy(source, target, force, progress)
            except BaseException:
                if not _holds(target, source.meta["secret"]):  # two that can be written would be worse than none
                    _set(source, None)
                raise
            _finish(source, target)
    finally:
        source.close()
    return report


def undo(place: str) -> MoveMark:
    """Let people use a study again that was moved away, or whose move was interrupted; returns what it said."""
    database = Database.open(place, even_moved=True)
    try:
        with _alone(database):
            with database.read() as connection:
                mark = read_mark(connection)
            if mark is None:
                raise UsageError(f"{database.shown} was not moved")
            _set(database, None)
    finally:
        database.close()
    return mark


# -- closing and opening -------------------------------------------------------------------------------------


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    """One move at a time; a lock that goes with the process, however it ends."""
    busy = UsageError(f"{database.shown} is being moved by another command at this moment")
    if database.path is not None:
        beside = Path(f"{database.path}-move")
        with beside.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise busy from None
            try:
                yield
            finally:
                beside.unlink(missing_ok=True)
        return
    with database.engine.connect() as connection:
        connection.detach()  # closed afterwards, and the lock with it
        if not connection.execute(text(f"SELECT pg_try_advisory_lock({_LOCK})")).scalar_one():
            raise busy
        connection.commit()
        yield


def _close(source: Database, target: str) -> bool:
    """Close a study for writing; whether a move to the same place was begun before."""
    with source.read() as connection:
        mark = read_mark(connection)
    if mark is not None and (mark.done or mark.to != target):
        raise UsageError(mark.explain(source.shown))
    if mark is None:
        _set(source, MoveMark(target, time.time(), done=False))
    return mark is not None


def _holds(target: str, secret: str) -> bool:
    """Whether this very study is at the new place, complete: it appears there all at once."""
    try:
        there = Database.open(target, even_moved=True)
    except (UsageError, DatabaseError):
        return False
    try:
        return there.meta["secret"] == secret
    finally:
        there.close()


def _finish(source: Database, target: str) -> None:
    """Say where the study is now. It stays closed, whatever happens here."""
    try:
        _set(source, MoveMark(shown_place(target), time.time(), done=True))
    except DatabaseError as error:
        why = str(error.orig).splitlines()[0]
        raise UsageError(
            f"the study is complete at {shown_place(target)}, and {source.shown} is closed, but could not be told so "
            f"({why}); run the same command again before anybody uses it"
        ) from None


def _set(database: Database, mark: MoveMark | None) -> None:
    for number in range(TRIES):
        try:
            with database.write() as connection:
                return set_mark(connection, mark)
        except OperationalError as error:  # PostgreSQL ends one of two who wait for each other
            if getattr(error.orig, "sqlstate", "") != "40P01" or number == TRIES - 1:
                raise
    return None


# -- copying and comparing -----------------------------------------------------------------------------------


def _copy(source: Database, target: str, force: bool, progress: Progress) -> MoveReport:
    aside = f"before_move_{time.strftime('%Y%m%d_%H%M%S')}"
    try:
        if "://" not in target:
            return _copy_to_file(source, Path(target), force, aside, progress)
        room = RoomForStudy(force, aside, source.meta["secret"])
        with source.snapshot() as here, Database.filling(target, first=room.make) as there:
            tables = _fill(here, there, progress)
            return _report(source, here, target, tables, f"schema {aside}" if room.made else "")
    except DatabaseError as error:
        raise UsageError(f"nothing was moved: {str(error.orig).splitlines()[0]}") from None


def _copy_to_file(source: Database, path: Path, force: bool, aside: str, progress: Progress) -> MoveReport:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give the name of a file")
    if path.exists() and not force:
        raise UsageError(f"{path} already exists; choose another name, or use --force to keep it aside")
    path.parent.mkdir(parents=True, exist_ok=True)
    with source.snapshot() as here, until_complete(path) as unfinished:
        with Database.filling(unfinished) as there:
            tables = _fill(here, there, progress)
        make_single(unfinished)
        if problems := check_file(unfinished):
            raise InputError(problems)
        return _report(source, here, str(path), tables, keep_aside(path, aside))


def _report(
    source: Database, here: Connection, target: str, tables: Mapping[str, TableSum], aside: str = ""
) -> MoveReport:
    return MoveReport(source.shown, shown_place(target), count_contents(here), tables, aside)


def _fill(here: Connection, there: Connection, progress: Progress) -> Mapping[str, TableSum]:
    copy_rows(here, there, progress)
    there.execute(delete(schema.meta).filter_by(key=KEY))
    tables, copied = sum_tables(here), sum_tables(there)
    if problems := _differences(tables, copied):
        raise InputError(problems)
    return tables


def _arrived(source: Database, target: str) -> MoveReport | None:
    """What a move that was interrupted at its very end has already brought there, if it is all of it."""
    try:
        there = Database.open(target)
    except UsageError:
        return None
    try:
        with source.snapshot() as here, there.snapshot() as copied:
            tables = sum_tables(here)
            complete = not _differences(tables, sum_tables(copied))
            return _report(source, here, target, tables) if complete else None
    finally:
        there.close()


def _differences(here: Mapping[str, TableSum], there: Mapping[str, TableSum]) -> list[Problem]:
    return [
        Problem(f"table {name}", f"{one.rows} rows ({one.checksum[:12]}) became {other.rows} ({other.checksum[:12]})")
        for name, one in here.items()
        if (other := there[name]) != one
    ]


def sum_tables(connection: Connection) -> dict[str, TableSum]:
    """The rows of every table, counted and summed up, without the mark of a move."""
    return {table.name: _sum(table, connection) for table in schema.metadata.sorted_tables}


def _sum(table: Table, connection: Connection) -> TableSum:
    """The sum of the hashes of all rows: the two databases sort texts differently."""
    rows = connection.exec_driver_sql(all_rows(table, connection), execution_options={"yield_per": BATCH})
    count = total = 0
    for row in rows:
        if table is schema.meta and row[0] == KEY:
            continue
        count += 1
        content = repr(tuple(map(_plain, row))).encode()
        total += int.from_bytes(hashlib.sha256(content).digest(), "big")
    return TableSum(count, f"{total % 2**256:064x}")


def _plain(value: Any) -> Any:
    """The same value for what both databases store: SQLite has numbers for true and false."""
    if isinstance(value, bool):
        return int(value)
    return bytes(value) if isinstance(value, memoryview | bytearray) else value
