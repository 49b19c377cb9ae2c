"""What is wrong with a database that nobody's request caused: a full or read-only disk, a lock, a lost file or server.

Such an error is a reason to wait and try again, not to change the request; whoever asked is told so.
"""

from __future__ import annotations

import sqlite3
from typing import Literal, NamedTuple

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from pyramidion.errors import PyramidionError

TroubleReason = Literal["disk-full", "disk-error", "read-only", "busy", "lost", "unreachable", "damaged", "moved"]

TEXTS: dict[TroubleReason, str] = {
    "disk-full": "the disk of the database is full",
    "disk-error": "the disk of the database cannot be read or written",
    "read-only": "the database is read-only",
    "busy": "the database is locked by another program",
    "lost": "the database file was moved, replaced or deleted while it was in use",
    "unreachable": "the database server cannot be reached",
    "damaged": "the database file is damaged",
    "moved": "the study is being moved to another database, or was moved there",
}

MOVED_STATE = "PYR01"
"""The error code with which our own triggers on PostgreSQL refuse to change a study that was moved."""

_SQLITE: dict[int, TroubleReason] = {
    sqlite3.SQLITE_FULL: "disk-full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_IOERR: "disk-error",
    sqlite3.SQLITE_CANTOPEN: "disk-error",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}
_POSTGRES: dict[str, TroubleReason] = {
    "53100": "disk-full",
    "58030": "disk-error",
    "25006": "read-only",
    "53300": "busy",
    "55P03": "busy",
    "40P01": "busy",
    "57014": "busy",
    "57P01": "unreachable",
    "57P02": "unreachable",
    "57P03": "unreachable",
    "XX001": "damaged",
    MOVED_STATE: "moved",
}
"""By PostgreSQL's error codes (its manual, appendix A)."""


class LostDatabaseError(PyramidionError):
    """The file that is open is no longer the one under the database's name, so nothing must be acknowledged."""

    def __init__(self) -> None:
        super().__init__(TEXTS["lost"])


class MovedStudyError(PyramidionError):
    """The study is being moved or was moved, so nothing of it is changed here."""

    def __init__(self) -> None:
        super().__init__(TEXTS["moved"])


class Trouble(NamedTuple):
    """``reason`` is for programs, ``text`` for people."""

    reason: str
    text: str


def trouble_of(error: BaseException) -> Trouble | None:
    """What is wrong with the database, or None where the error is about something else."""
    reason = _reason(error)
    return None if reason is None else Trouble(reason, TEXTS[reason])


def _reason(error: BaseException) -> TroubleReason | None:
    if isinstance(error, LostDatabaseError):
        return "lost"
    if isinstance(error, MovedStudyError):
        return "moved"
    if isinstance(error, NoConnectionError):
        return "busy"
    if not isinstance(error, DBAPIError):
        return None
    if isinstance(error.orig, sqlite3.Error):
        code = getattr(error.orig, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_CONSTRAINT_TRIGGER:  # the only triggers are those of pyramidion.store.moving
            return "moved"
        return None if code is None else _SQLITE.get(code & 0xFF)
    state = getattr(error.orig, "sqlstate", None) or ""
    if state in _POSTGRES:
        return _POSTGRES[state]
    gone = error.connection_invalidated or (not state and isinstance(error, OperationalError | InterfaceError))
    return "unreachable" if gone or state.startswith("08") else None
