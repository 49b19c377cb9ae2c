"""Every store test runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.databases import Postgres, postgres

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
