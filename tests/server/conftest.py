"""A study that a server serves, and people who work on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.databases import Postgres, postgres
from tests.server.servers import Person, ServerThread, logged_in, make_study, served_here, start_campaign

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.study.tasks import TaskKind

WEBHOOK_SECRET = "the secret of a subscription"


@dataclass
class Site:
    """A served study. Tests share it; each starts campaigns of its own."""

    desk: CampaignDesk
    study: pyr.Study
    server: ServerThread
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def url(self) -> str:
        return self.server.url

    def campaign(self, kind: TaskKind = "judge", **chosen: Any) -> str:
        """A new campaign of one topic and two systems, without comprehension check unless asked for."""
        name = f"{kind}-{next(self._numbers)}"
        place = {"topics": ("museum-theft",), "systems": () if kind == "write" else ("lead", "extract")}
        start_campaign(self.desk, self.study, kind, name, **{"check": False, **place, **chosen})
        return name

    def person(self, campaign: str, name: str = "") -> Person:
        return Person(self.desk, self.url, campaign, name)

    def account(self, name: str = "boss") -> httpx.Client:
        return logged_in(self.desk, self.url, name)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("site") / "study.db"
    desk = make_study(place)
    with served_here(place, webhook_secret=WEBHOOK_SECRET) as server:
        yield Site(desk, desk.studies.load(), server)
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new database can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    running: Postgres = request.getfixturevalue("postgres_server")
    return running.new_database()
