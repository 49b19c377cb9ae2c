"""A database whose study is being moved, or was moved: a mark that says where to, and triggers that refuse changes.

The triggers are in the database itself, so every process that has it open is refused at once, whichever release it is
of, and nobody has to ask before each write. They come and go with the mark in one transaction, which on SQLite has the
only write lock, and on PostgreSQL waits for everybody who is writing: what was acknowledged before is there, and
nothing is afterwards.
"""

from __future__ import annotations

import json
import time
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from pyramidion.store import schema
from pyramidion.store.trouble import MOVED_STATE

KEY = "moved"
"""The mark's place in ``meta``."""
WAIT_SECONDS = 30
"""How long those who are writing are waited for on PostgreSQL."""
_FUNCTION = "refuse_moved_study"
_VERBS = ("INSERT", "UPDATE", "DELETE")


class MoveMark(NamedTuple):
    """Where a study is moved to, without a password; since when; and whether it has arrived."""

    to: str
    at: float
    done: bool

    def explain(self, here: str) -> str:
        """Why a database with this mark is not used, and what to do."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))
        if self.done:
            return (
                f"the study was moved from {here} to {self.to} on {when}; use it there. What is here is as it was "
                f"then: `pyramidion move {here} --undo` makes it a study of its own again"
            )
        return (
            f"{here} is being moved to {self.to} (since {when}). If that was interrupted, nothing is lost: repeat the "
            f"command to go on, or use it here again with `pyramidion move {here} --undo`"
        )


def read_mark(connection: Connection) -> MoveMark | None:
    held = connection.execute(select(schema.meta.c.value).filter_by(key=KEY)).scalar()
    return None if held is None else MoveMark(**json.loads(held))


def set_mark(connection: Connection, mark: MoveMark | None) -> None:
    """Mark the study as moved and let nobody change it; or, without a mark, let everybody change it again."""
    held, dialect, every = read_mark(connection), connection.dialect.name, list(schema.metadata.tables)
    if dialect == "postgresql":
        names = ", ".join(f'"{name}"' for name in sorted(every))
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'")
        connection.exec_driver_sql(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE")
    changed = [schema.meta.name] if held and mark else every
    for statement in _removing(dialect, changed) if held else ():
        connection.exec_driver_sql(statement)
    connection.execute(delete(schema.meta).filter_by(key=KEY))
    if mark is not None:
        connection.execute(insert(schema.meta).values(key=KEY, value=json.dumps(mark._asdict())))
        for statement in _refusing(dialect, changed):
            connection.exec_driver_sql(statement)


def _removing(dialect: str, tables: list[str]) -> list[str]:
    if dialect == "sqlite":
        return [f"DROP TRIGGER moved_{table}_{verb}" for table in tables for verb in _VERBS]
    return [f'DROP TRIGGER moved ON "{table}"' for table in tables]


def _refusing(dialect: str, tables: list[str]) -> list[str]:
    if dialect == "sqlite":
        refuse = "BEGIN SELECT RAISE(ABORT, 'the study was moved'); END"
        return [
            f'CREATE TRIGGER moved_{table}_{verb} BEFORE {verb} ON "{table}" {refuse}'
            for table in tables
            for verb in _VERBS
        ]
    refuse = f"BEGIN RAISE EXCEPTION 'the study was moved' USING ERRCODE = '{MOVED_STATE}'; END"
    function = f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$ {refuse} $$"
    when = f"BEFORE {' OR '.join(_VERBS)} OR TRUNCATE"
    return [function] + [
        f'CREATE TRIGGER moved {when} ON "{table}" FOR EACH STATEMENT EXECUTE FUNCTION {_FUNCTION}()'
        for table in tables
    ]
