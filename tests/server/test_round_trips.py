"""How often a worker's request asks PostgreSQL: each time costs more than what is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, event, text
from tests.databases import Postgres
from tests.server.servers import Person, ServerThread, answer_to, make_study, served_here, start_many

from pyramidion.campaigns import queries
from pyramidion.campaigns.desk import CampaignDesk

pytestmark = pytest.mark.server

TIMES = 4
"""What is refreshed once a second may come on top of one request, but not of several in a row."""


class Asked:
    """Statements and tries of connections since the last look."""

    def __init__(self, engine: Engine, patch: pytest.MonkeyPatch) -> None:
        self._counts: Counter[str] = Counter()
        event.listen(engine, "before_cursor_execute", lambda *_: self._counts.update(["statements"]))
        event.listen(engine, "checkout", lambda *_: self._counts.update(["connections"]))
        ping = engine.dialect.do_ping

        def counted(connection: object) -> bool:
            self._counts["tries"] += 1
            return ping(connection)  # type: ignore[arg-type]

        patch.setattr(engine.dialect, "do_ping", counted)

    def since(self) -> tuple[int, int, int]:
        found = tuple(self._counts[what] for what in ("statements", "connections", "tries"))
        self._counts.clear()
        return found  # type: ignore[return-value]


@pytest.fixture
def served(postgres_server: Postgres) -> Iterator[tuple[CampaignDesk, ServerThread]]:
    place = postgres_server.new_database()
    desk = make_study(place)
    start_many(desk, "work", 200, workers=2, check=False)  # many: nobody counts what is left
    with served_here(place) as server:
        yield desk, server
    desk.database.close()


def test_a_request_asks_few_times(served: tuple[CampaignDesk, ServerThread], monkeypatch: pytest.MonkeyPatch) -> None:
    desk, server = served
    person = Person(desk, server.url, "work", "ann")
    person.join()
    person.work()
    asked = Asked(server.app.state.context.desk.database.engine, monkeypatch)  # not before the server has started
    fewest: dict[str, tuple[int, int, int]] = {}

    def note(what: str) -> None:
        fewest[what] = min(fewest.get(what, (99, 99, 99)), asked.since())

    for _ in range(TIMES):
        task = person.work()
        asked.since()
        assert person.draft(task["assignment"], {}).status_code == 200
        note("draft")
        assert person.submit(task["assignment"], answer_to(task["page"])).status_code == 200
        note("submit")
        again = person.work()
        note("task")
        assert person.give_back(again["assignment"]).status_code == 200
        note("give back")
        person.work()
    assert fewest == {"draft": (1, 1, 0), "submit": (2, 1, 0), "task": (4, 1, 0), "give back": (3, 2, 0)}


def test_a_restart_of_the_database_is_not_noticed(
    served: tuple[CampaignDesk, ServerThread], postgres_server: Postgres
) -> None:
    """Connections of workers' requests are not tried before each use; whoever gets a closed one gets another."""
    desk, server = served
    person = Person(desk, server.url, "work", "bob")
    task = person.first_task()
    with psycopg.connect(postgres_server.new_database(), autocommit=True) as admin:
        name = desk.database.engine.url.database
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
    assert person.submit(task["assignment"], answer_to(task["page"])).json() == {"counted": True, "replayed": False}


def test_a_new_campaign_is_not_searched_to_its_end_for_a_task(served: tuple[CampaignDesk, ServerThread]) -> None:
    """PostgreSQL counts the places of all tasks where it does not know how many there are: it is told at once."""
    desk, _ = served
    start_many(desk, "large", 2000, workers=5, check=False)
    asked = {"worker": "nobody", "campaign": 2, "now": 0.0, "first": 1}
    query = (
        queries.FREE_TASK[True]
        .params(asked)
        .compile(desk.database.engine, compile_kwargs={"literal_binds": True, "render_postcompile": True})
    )
    with desk.database.read() as connection:
        plan = "\n".join(connection.execute(text(f"EXPLAIN {query}")).scalars())
    assert "Sort" not in plan, plan
    assert "Index Scan using" in plan, plan
