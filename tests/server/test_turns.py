"""Requests that share a transaction: everybody gets their own outcome, and only what is on disk is acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event, insert, text

from pyramidion.campaigns.workers import Workers
from pyramidion.errors import UsageError
from pyramidion.server.context import MOST_AT_ONCE, Turns
from pyramidion.store import schema
from pyramidion.store.database import Database


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    made = Database.create(place)
    yield made
    made.close()


def take_all(database: Database, doings: list[Callable[[], Any]]) -> list[Any]:
    async def at_once() -> list[Any]:
        turns = Turns(database)
        return await asyncio.gather(*map(turns.take, doings), return_exceptions=True)

    return asyncio.run(at_once())


def joins(database: Database, name: str, error: Exception | None = None) -> Callable[[], str]:
    """Let a worker in, and fail afterwards, where there is an error to fail with."""

    def do() -> str:
        id = Workers(database).pseudonym("local", name)
        with database.write() as connection:
            connection.execute(insert(schema.workers).values(id=id, platform="local", joined=0.0))
            if error is not None:
                raise error
        return id

    return do


def names(database: Database) -> set[str]:
    return {worker.id for worker in Workers(database).all()}


def test_everybody_gets_their_own_outcome(database: Database) -> None:
    people = [f"person {n}" for n in range(3 * MOST_AT_ONCE)]
    found = take_all(database, [joins(database, name) for name in people])
    assert found == [Workers(database).pseudonym("local", name) for name in people]
    assert names(database) == set(found)


def test_on_sqlite_those_who_wait_share_a_transaction(tmp_path: Any) -> None:
    database = Database.create(tmp_path / "study.db")
    commits = []
    event.listen(database.engine, "commit", commits.append)
    take_all(database, [joins(database, f"person {n}") for n in range(MOST_AT_ONCE + 1)])
    assert len(commits) == 2
    assert len(names(database)) == MOST_AT_ONCE + 1


@pytest.mark.parametrize("error", [UsageError("refused"), RuntimeError("a mistake of ours")])
def test_a_failure_is_undone_and_stays_with_whoever_caused_it(tmp_path: Any, error: Exception) -> None:
    database = Database.create(tmp_path / "study.db")
    ann, failed, bob = take_all(database, [joins(database, "ann"), joins(database, "x", error), joins(database, "bob")])
    assert failed is error
    assert names(database) == {ann, bob}


def test_what_the_database_undid_by_itself_is_not_acknowledged_but_done_again(tmp_path: Any) -> None:
    """SQLite ends a whole transaction when the disk is full; whoever came before must not be told that all is well."""
    database = Database.create(tmp_path / "study.db")
    undone = []

    def fails_once() -> str:
        with database.read() as connection:
            if not undone:
                undone.append(True)
                connection.execute(text("ROLLBACK"))
        return "done"

    ann, last = take_all(database, [joins(database, "ann"), fails_once])
    assert undone
    assert last == "done"
    assert names(database) == {ann}
