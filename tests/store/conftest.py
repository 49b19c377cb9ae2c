"""Every store test runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.databases import Postgres, postgres
from tests.store.test_store import campaign

import pyramidion as pyr
from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.workers import Workers
from pyramidion.store.accounts import Accounts
from pyramidion.store.database import Database


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    server: Postgres = request.getfixturevalue("server")
    return server.new_database()


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    made = Database.create(place, title="A study")
    yield made
    made.close()


@pytest.fixture
def study(database: Database, example: pyr.Study) -> Database:
    """A study with something in most tables: answers, a draft, values that are empty and values that are null."""
    desk = CampaignDesk(database)
    desk.import_study(example)
    campaign(database, tasks=3)
    Accounts(database).add("ann", "correct horse battery")
    for name in ("a", "b"):
        worker = Workers(database).join("local", name).id
        assignments = Assignments(database)
        for number in range(2):
            lease = assignments.lease("judge", worker)
            assert lease is not None
            assignments.submit(lease.id, worker, f"key {name} {number}", JudgeAnswer({"u1": 1}, "ünïcode \U0001f40c"))
    lease = assignments.lease("judge", worker)
    assert lease is not None
    assignments.save_draft(lease.id, worker, {"half": ["done", None, 0.1]})
    with database.write() as connection:
        connection.execute(text("UPDATE tasks SET gold = 'null' WHERE name = 'judge-0'"))  # others have none at all
    return database


@pytest.fixture(params=["sqlite", "postgresql"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes places for other databases."""
    numbers = iter(range(100))

    def new() -> str:
        if request.param == "sqlite":
            return str(tmp_path / f"other-{next(numbers)}.db")
        server: Postgres = request.getfixturevalue("server")
        return server.new_database()

    return new
