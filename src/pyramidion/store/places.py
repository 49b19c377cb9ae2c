"""Where a study database is: a file or a URL, read once and shown in messages without its password."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from pyramidion.errors import UsageError
from pyramidion.store.trouble import LostDatabaseError

HIDDEN = "***"


def read_place(place: str | Path) -> URL:
    """The URL of a place; UsageError if it is not one of SQLite or PostgreSQL."""
    text = str(place)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).absolute()))
    try:
        url = make_url(text.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        url = None
    if url is None or _is_torn(url):
        raise UsageError(
            f"{shown_place(text)} is not a database URL; in a password, write @ as %40, / as %2F, : as %3A"
        )
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise UsageError(f"{shown_place(text)} cannot be used: give a .db file or a PostgreSQL URL")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def shown_place(place: str | Path) -> str:
    """A place for messages: never with a password, wherever in the URL it is and however badly it is written."""
    text = str(place)
    if "://" not in text:
        return text
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    if url is None or _is_torn(url):
        return f"{text.partition('://')[0]}://{HIDDEN}"
    kept = {name: HIDDEN if _is_secret(name) else value for name, value in url.query.items()}
    return url.set(query=kept).render_as_string(hide_password=True).replace("%2A%2A%2A", HIDDEN)


def without_secrets(message: str, url: URL) -> str:
    """A message of a database driver without the passwords of the URL that it was given."""
    secrets = [str(url.password or "")]
    secrets += [str(value) for name, value in url.query.items() if _is_secret(name)]
    for secret in filter(None, secrets):
        message = message.replace(secret, HIDDEN)
    return message


def is_read_only(url: URL) -> bool:
    """Whether a file of SQLite, its folder or its disk does not let us write; SQLite needs files beside it, too."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return False
    path = Path(url.database)
    return not all(os.access(each, os.W_OK) for each in (path, path.parent) if each.exists())


class SqliteFile:
    """The file of a SQLite database, as it was at first. SQLite itself would make a new one where it is missing, and go
    on writing into one that was moved away."""

    def __init__(self, path: Path, busy_seconds: float = 0.0, *, new: bool = False) -> None:
        self._path, self._busy_seconds = path, busy_seconds
        if new:
            path.touch()
        self._identity = self._look()

    def _look(self) -> tuple[int, int] | None:
        """What tells a file from another one that takes its name later."""
        try:
            about = self._path.stat()
        except OSError:
            return None
        return about.st_dev, about.st_ino

    def check(self) -> None:
        """LostDatabaseError if it is no longer there, or another one is."""
        if self._look() != self._identity:
            raise LostDatabaseError

    def connect(self) -> sqlite3.Connection:
        self.check()
        address = f"{self._path.absolute().as_uri()}?mode=rw"
        return sqlite3.connect(address, self._busy_seconds, check_same_thread=False, uri=True)


def _is_secret(name: str) -> bool:
    return "pass" in name.lower()


def _is_torn(url: URL) -> bool:
    """A password with characters that were not escaped has fallen apart: some of it is taken for host or database."""
    return url.get_backend_name() != "sqlite" and bool({"/", "@"} & {*str(url.host), *str(url.database)})
