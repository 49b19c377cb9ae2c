"""One interface to two databases. SQLite: WAL, synchronous=FULL, immediate transactions. PostgreSQL: row locks.

Either way a write is acknowledged only after it is on disk, and several processes may use the same database. SQLite
puts it into the file beside the database first (-wal); whoever closes the database moves everything into the one file.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Row,
    Table,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError, DBAPIError, DisconnectionError, OperationalError

from pyramidion.errors import Problem, PyramidionError, UsageError
from pyramidion.store import schema
from pyramidion.store.connecting import BUSY_SECONDS, open_engine
from pyramidion.store.migrations import migrate
from pyramidion.store.moved import read_mark
from pyramidion.store.places import SqliteFile, shown_place
from pyramidion.store.trouble import LostDatabaseError, MovedStudyError, trouble_of

CLOSE_TRIES, CLOSE_PAUSE = 20, 0.1
"""How often, and every how many seconds, closing looks whether others are done with the file beside the database."""


class BrokenBatchError(PyramidionError):
    """A batch of writes failed and none was kept; each can be tried separately."""


class Database:
    """An open study database. Use ``create`` once, ``open`` afterwards.

    ``shown`` is where it is, as people may see it: without a password.
    """

    def __init__(self, engine: Engine, place: str | Path) -> None:
        self.engine = engine
        self.shown = shown_place(place)
        self.sqlite = engine.dialect.name == "sqlite"
        self._turn = threading.RLock()
        self._single = engine if self.sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._together = threading.local()
        self._file = SqliteFile(self.path) if self.path else None
        if not self.sqlite:
            event.listen(engine, "checkout", self._try_connection)
        with self.read() as connection:
            rows = connection.execute(select(schema.meta.c.key, schema.meta.c.value)).all()
        self.meta: dict[str, str] = {row.key: row.value for row in rows}

    @classmethod
    def create(cls, place: str | Path, *, title: str = "") -> Database:
        """Create a study database with its own secret."""
        with cls.filling(place) as connection:
            values = {"title": title, "secret": secrets.token_hex(32)}
            connection.execute(insert(schema.meta), [{"key": k, "value": v} for k, v in values.items()])
        return cls.open(place)

    @staticmethod
    @contextmanager
    def filling(place: str | Path, *, first: Callable[[Connection], object] | None = None) -> Iterator[Connection]:
        """A transaction on a new database, with all tables and nothing in them; whoever fills it adds the secret.

        ``first`` is done before, in the same transaction, to make room.
        """
        if "://" not in str(place):
            path = Path(place)
            if path.exists():
                raise UsageError(f"{path} already exists")
            path.parent.mkdir(parents=True, exist_ok=True)
        engine = open_engine(place, new=True)
        try:
            with _transaction(engine, write=True) as connection:
                if first is not None:
                    first(connection)
                if inspect(connection).has_table("meta"):
                    raise UsageError(f"{shown_place(place)} already contains a study")
                migrate(connection)
                yield connection
        finally:
            engine.dispose()

    @classmethod
    def open(cls, place: str | Path, *, busy_seconds: float | None = None, even_moved: bool = False) -> Database:
        """Open a study database and bring its tables up to date. A lock of SQLite is waited for so long.

        One that was moved is refused, unless ``even_moved``: whatever is done with it would be missing where it is now.
        """
        path = Path(place)
        if "://" not in str(place) and not (path.is_file() and path.stat().st_size):  # SQLite would make one there
            raise UsageError(f"{place} is not a study database; create one with: pyramidion init {place}")
        engine = open_engine(place, busy_seconds)
        with _transaction(engine, write=True) as connection:
            if not inspect(connection).has_table("meta"):
                raise UsageError(f"{shown_place(place)} contains no study; create one with: pyramidion init")
            if not even_moved and (mark := read_mark(connection)):
                raise UsageError(mark.explain(shown_place(place)))
            migrate(connection)
        return cls(engine, place)

    def trust_connections(self) -> None:
        """Call in a thread that does everything once more where a connection turns out to be closed."""
        self._together.trusting = True

    def _try_connection(self, connection: Any, _record: object, _proxy: object) -> None:
        """PostgreSQL may have closed a connection since it was last used. Asking it takes one more round trip."""
        if getattr(self._together, "trusting", False):
            return
        dialect = self.engine.dialect
        try:
            dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error  # the pool then opens another one

    @property
    def path(self) -> Path | None:
        """The file of a SQLite database."""
        return Path(self.engine.url.database) if self.sqlite and self.engine.url.database else None

    @property
    def secret(self) -> bytes:
        return bytes.fromhex(self.meta["secret"])

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that reads: all its queries see the database as it is at the first one, whatever others write
        meanwhile."""
        if self.sqlite:  # where every transaction is like that
            with _transaction(self.engine, write=False) as connection:
                yield connection
            return
        with self.engine.connect().execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        ) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        if (shared := self._shared) is not None:
            yield shared
            return
        with _transaction(self.engine, write=False) as connection:
            yield connection

    def first(self, query: Executable, values: dict[str, Any]) -> Row[Any] | None:
        """The first row of a single query, which needs no transaction around it."""
        if (shared := self._shared) is not None:
            return shared.execute(query, values).first()
        with self._single.connect() as connection:
            return connection.execute(query, values).first()

    def change(self, statement: Executable, values: dict[str, Any]) -> int:
        """How many rows a single statement changes, which needs no transaction around it."""
        if self.sqlite or self._shared is not None:
            with self.write() as connection:
                return int(connection.execute(statement, values).rowcount)
        with _refused_if_moved(), self._single.connect() as connection:
            return int(connection.execute(statement, values).rowcount)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds SQLite's write lock from its start; on PostgreSQL rows are locked as needed.

        SQLite makes writers poll every few milliseconds. Threads of one process queue instead, each woken by the one
        before; between processes SQLite's own lock still decides.
        """
        if (shared := self._shared) is not None:
            try:
                with _refused_if_moved():
                    yield shared
            except BaseException:
                self._together.broken = True
                raise
            return
        with self._turn if self.sqlite else nullcontext(), _transaction(self.engine, write=True) as connection:
            with _refused_if_moved():
                yield connection
            if self._file is not None:
                self._file.check()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All writes of this thread inside are one transaction: if one fails, BrokenBatchError, and none is kept.

        Undoing single ones would take a savepoint for each, though hardly any fails.
        Inside another one, it is part of that.
        """
        if self._shared is not None:
            yield
            return
        with self.write() as connection:
            self._together.connection, self._together.broken = connection, False
            try:
                yield
            finally:
                self._together.connection = None
            driver: Any = connection.connection.driver_connection
            undone = self.sqlite and not driver.in_transaction  # SQLite does that by itself, e.g. when the disk is full
            if self._together.broken or undone:
                raise BrokenBatchError("one of several writes failed, so none was kept")

    @property
    def _shared(self) -> Connection | None:
        """The connection of the writes that this thread does together."""
        return getattr(self._together, "connection", None)

    def close(self) -> bool:
        """End all connections. On SQLite everything is in the one file afterwards, unless somebody else still uses it:
        then False, and whoever closes it last does that."""
        whole = self.checkpoint()
        self.engine.dispose()
        return whole

    def checkpoint(self) -> bool:
        """SQLite: move everything from the file beside the database into it; False where others are still reading.

        A disk that is full or read-only is not an error here: nothing is lost, it stays where it is.
        """
        beside = Path(f"{self.engine.url.database}-wal")
        for pause in [0.0] + CLOSE_TRIES * [CLOSE_PAUSE]:
            if not self.sqlite or not beside.exists() or not beside.stat().st_size:
                return True
            time.sleep(pause)
            with suppress(OperationalError, LostDatabaseError), self._turn, self.engine.connect() as connection:
                connection.detach()  # closed afterwards, since it waits less than others do:
                connection.exec_driver_sql("PRAGMA busy_timeout = 50")  # nobody can write while it waits for readers
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
        return not beside.exists() or not beside.stat().st_size

    def scrub(self) -> Problem | None:
        """Remove what deleted and changed rows have left in the files; a Problem says what prevented it.

        SQLite overwrites rows that are deleted, but copies of them may be in unused parts of other pages.
        """
        try:
            if self.sqlite:
                with self._turn, self.engine.connect() as connection:
                    connection.exec_driver_sql("VACUUM")
            else:
                self._rewrite_tables()
        except DatabaseError as error:
            return Problem(self.shown, f"could not be rewritten: {str(error.orig).splitlines()[0]}")
        return None if self.checkpoint() else Problem(f"{self.shown}-wal", "another process still reads from it")

    def _rewrite_tables(self) -> None:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.detach()  # so that nobody else gets its setting
            connection.exec_driver_sql(f"SET lock_timeout = '{BUSY_SECONDS}s'")
            for table in schema.metadata.sorted_tables:
                connection.exec_driver_sql(f"VACUUM (FULL) {table.name}")


def insert_if_new(connection: Connection, table: Table, **row: Any) -> bool:
    """Add a row unless its key is there, also when somebody else adds it at this moment; whether it was added."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    added = dialect.insert(table).values(**row).on_conflict_do_nothing()
    # Otherwise SQLAlchemy may have closed the cursor by then, and the count of an INSERT is -1.
    return connection.execute(added, execution_options={"preserve_rowcount": True}).rowcount > 0


@contextmanager
def _refused_if_moved() -> Iterator[None]:
    """Tell what the triggers of a moved study say from rows that do not fit: those are an IntegrityError, too."""
    try:
        yield
    except DBAPIError as error:
        if (trouble := trouble_of(error)) and trouble.reason == "moved":
            raise MovedStudyError from error
        raise


@contextmanager
def _transaction(engine: Engine, *, write: bool) -> Iterator[Connection]:
    with engine.connect() as connection, connection.begin():
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
        yield connection
