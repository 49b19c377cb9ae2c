"""Encodings on disk: a sentence that an earlier run has encoded costs next to nothing.

A sentence is found under a hash of its word pieces and of whatever else its vectors depend on. What is read is what was
encoded, bit for bit: a checksum over key and vectors tells damage. What is made of all layers, such as where a sentence
can be cut, is kept in the same way. A cache is a convenience, so nothing that is wrong with its file is an error: a
damaged one is replaced; one that is locked, full or not ours to write is done without.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, TypeVar
from zlib import crc32

from pyramidion.errors import UsageError
from pyramidion.folders import cache_folder

MEGABYTES = "PYRAMIDION_ENCODINGS_MB"
"""The setting: how large the file may grow; 0 turns the cache off."""
DEFAULT = 500
PAGE = 8192
"""Bytes. An encoding takes about four such pages; larger ones would waste more of the last."""
PATIENCE = 5.0
"""Seconds to wait for another process to finish its writing, which takes milliseconds; after that, this process does
without the cache."""
HOUR = 3600
"""Which encodings were used last is noted to the hour, so that a run that only reads seldom writes."""
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
"""The last is SQL that the file does not understand: its tables are not ours."""
T = TypeVar("T")

_TABLES = (
    "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, id INTEGER NOT NULL, size INTEGER NOT NULL, "
    "used INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS encodings (id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, content BLOB NOT NULL)",
)
"""Two tables, because noting a use would otherwise write the content again."""


@dataclass(frozen=True, slots=True)
class CacheContent:
    """How many entries a cache holds, and the bytes its file takes."""

    entries: int
    size: int


class EncodingCache:
    """Contents by text, for vectors made in one way, which ``made_by`` names. The file takes at most ``most`` bytes;
    what was used longest ago goes first. Threads and processes may share it."""

    def __init__(self, path: Path, most: int, made_by: bytes = b"") -> None:
        self.path, self._most, self._made_by = path, most, made_by
        self._lock = Lock()
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._useless = False

    def get(self, texts: Collection[str]) -> dict[str, bytes]:
        """What is known, by text."""
        keys = {self._key(text): text for text in texts}
        nothing: dict[bytes, bytes] = {}
        return {keys[key]: content for key, content in self._tried(lambda file: _read(file, keys), nothing).items()}

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Keep these, and drop as much else as it takes."""
        if contents:
            keyed = {self._key(text): content for text, content in contents.items()}
            self._tried(lambda file: self._write(file, keyed), None)

    def content(self) -> CacheContent:
        """What the file holds; it is not made if it does not exist."""
        if not self.path.exists():
            return CacheContent(0, 0)
        (count,) = self._tried(lambda file: file.execute("SELECT count(*) FROM entries").fetchone(), (0,))
        return CacheContent(count, self.path.stat().st_size if self.path.exists() else 0)

    def empty(self) -> None:
        """Drop everything that was encoded by whatever encoder. The file stays: other processes may have it open."""
        if self.path.exists():
            self._tried(_clear, None)

    def _key(self, text: str) -> bytes:
        return blake2b(self._made_by + text.encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _write(self, file: sqlite3.Connection, contents: Mapping[bytes, bytes]) -> None:
        with _transaction(file):
            known = {key for (key,) in _in_parts(file, "SELECT key FROM entries WHERE key IN", contents)}
            new = {key: content for key, content in contents.items() if key not in known}
            room = self._most // 2  # so that one batch never drives out everything
            for key in list(new):
                room -= len(new[key]) + PAGE
                if room < 0:
                    del new[key]
            self._make_room(file, sum(map(len, new.values())) + PAGE * len(new))
            now = int(time())
            for key, content in new.items():
                id = file.execute(
                    "INSERT INTO encodings (checksum, content) VALUES (?, ?)", (_checksum(key, content), content)
                ).lastrowid
                file.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (key, id, len(content), now))
        if _number(file, "page_count") * PAGE > self._most:  # the setting was larger once
            file.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page

    def _make_room(self, file: sqlite3.Connection, wanted: int) -> None:
        """Drop what was used longest ago, a tenth more than necessary, so that it happens seldom."""
        over = (_number(file, "page_count") - _number(file, "freelist_count")) * PAGE + wanted - self._most
        if over <= 0:
            return
        over += self._most // 10
        dropped = []
        for key, size in file.execute("SELECT key, CAST(size AS INTEGER) FROM entries ORDER BY used, id"):
            dropped.append(key)
            over -= size
            if over <= 0:
                break
        _delete(file, dropped)

    def _tried(self, act: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What ``act`` gives; or, if the file cannot be used, something else."""
        with self._lock:
            for _ in range(2):
                if self._useless:
                    break
                try:
                    return act(self._connection())
                except (sqlite3.Error, ValueError, TypeError) as error:  # a damaged file may not even be decoded
                    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
                    if code in DAMAGED:
                        self._remove()
                    else:  # a locked file would be waited for again and again
                        self._useless = True
                except OSError:
                    self._useless = True
            return otherwise

    def _connection(self) -> sqlite3.Connection:
        """This process's own: a connection does not survive a fork, and must not even be closed there."""
        if self._open is None or self._open[0] != os.getpid():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.exists():  # vectors tell something of the texts: nobody else may read them
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            file = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._open = os.getpid(), file
            for name, value in (("page_size", PAGE), ("auto_vacuum", "INCREMENTAL"), ("journal_mode", "TRUNCATE")):
                file.execute(f"PRAGMA {name} = {value}")
            file.execute("PRAGMA synchronous = OFF")  # after a power cut the worst is a damaged cache
            for table in _TABLES:
                file.execute(table)
        return self._open[1]

    def _remove(self) -> None:
        if self._open is not None and self._open[0] == os.getpid():
            with suppress(sqlite3.Error):
                self._open[1].close()
        self._open = None
        for path in (self.path.with_name(self.path.name + "-journal"), self.path):
            with suppress(OSError):
                path.unlink(missing_ok=True)


@contextmanager
def _transaction(file: sqlite3.Connection) -> Iterator[None]:
    file.execute("BEGIN IMMEDIATE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            file.execute("ROLLBACK")
        raise


def _read(file: sqlite3.Connection, keys: Collection[bytes]) -> dict[bytes, bytes]:
    rows = _in_parts(
        file,
        "SELECT entries.key, used, checksum, content FROM entries JOIN encodings USING (id) WHERE entries.key IN",
        keys,
    )
    found, wrong, stale, now = {}, [], [], int(time())
    for key, used, checksum, content in rows:
        if key not in keys or not isinstance(content, bytes) or _checksum(key, content) != checksum:
            wrong.append(key)
            continue
        found[key] = content
        if not isinstance(used, int) or not now - HOUR < used <= now:
            stale.append(key)
    if wrong or stale:
        with suppress(sqlite3.Error), _transaction(file):  # what was read is good, whether this is noted or not
            _delete(file, wrong)
            file.executemany("UPDATE entries SET used = ? WHERE key = ?", [(now, key) for key in stale])
    return found


def _in_parts(file: sqlite3.Connection, query: str, keys: Iterable[bytes]) -> list[Any]:
    """All rows with these keys; SQLite bounds how many one query may name."""
    rows: list[Any] = []
    source = iter(keys)
    while part := list(islice(source, 500)):
        rows += file.execute(f"{query} ({', '.join('?' * len(part))})", part)
    return rows


def _number(file: sqlite3.Connection, pragma: str) -> int:
    return int(file.execute(f"PRAGMA {pragma}").fetchone()[0])


def _clear(file: sqlite3.Connection) -> None:
    with _transaction(file):
        file.execute("DELETE FROM encodings")
        file.execute("DELETE FROM entries")
    file.execute("VACUUM")


def _delete(file: sqlite3.Connection, keys: Collection[bytes]) -> None:
    listed = [(key,) for key in keys]
    file.executemany("DELETE FROM encodings WHERE id = (SELECT id FROM entries WHERE key = ?)", listed)
    file.executemany("DELETE FROM entries WHERE key = ?", listed)


def _checksum(key: bytes, content: bytes) -> int:
    return crc32(content, crc32(key))


def megabytes() -> int:
    """The setting; UsageError if it is not a number."""
    said = os.environ.get(MEGABYTES, str(DEFAULT))
    if not said.isdecimal():
        raise UsageError(f"{MEGABYTES} must be a whole number of megabytes (0 turns the cache off), not {said!r}")
    return int(said)


@cache
def _shared(path: Path, most: int, made_by: bytes) -> EncodingCache:
    """One for all encoders of a process."""
    return EncodingCache(path, most, made_by)


def encoding_cache(made_by: Callable[[], bytes] = bytes) -> EncodingCache | None:
    """The user's cache of what is made in one way, or none if it is turned off."""
    most = megabytes() * 1_000_000
    return _shared(encodings_file(), most, made_by()) if most else None


def encodings_file() -> Path:
    """Where the user's cache is."""
    return cache_folder() / "encodings.sqlite"
