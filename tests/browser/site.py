"""A study and a server over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.platforms.local import invite
from pyramidion.campaigns.tasks import to_object
from pyramidion.store.accounts import Accounts
from pyramidion.store.database import Database
from pyramidion.study import Settings
from pyramidion.study.tasks import TaskKind
from tests.server.servers import PASSWORD, running_server, served_here

MANAGER = "mona"
TOPIC = "drought-plan"
TERMS: dict[str, Any] = {
    "pay": 0.6,
    "currency": "€",
    "minutes_per_task": 4.0,
    "consent": "You take part freely.\n\nYou can stop at any time.",
    "contact": "Ada Ash, ada@example.org",
    "completion_code": "C0DE",
    "code_when_stopping": True,
    "code_after": 1,
}
"""The settings of a campaign that tells workers all it can."""


def small_study(systems: Sequence[str], references: Sequence[str], units: int = 0) -> pyr.Study:
    """One topic of the bundled example without judgments, and with so many units of the crowd's in one task."""
    whole = pyr.example()
    wanted = {("peer", system) for system in systems} | {("reference", name) for name in references}
    return pyr.Study(
        topics=tuple(replace(topic, documents=()) for topic in whole.topics if topic.id == TOPIC),
        summaries=tuple(s for s in whole.summaries if s.topic == TOPIC and (s.role, s.system) in wanted),
        pyramids=tuple(
            replace(pyramid, units=tuple(replace(unit, group="1") for unit in pyramid.sampled[:units]))
            for pyramid in whole.pyramids
            if units and (pyramid.topic, pyramid.name) == (TOPIC, "crowd")
        ),
        title="Water in Port Ambry",
    )


@dataclass(frozen=True)
class Site:
    """A study that is being served, and a way to its database beside the pages."""

    url: str
    desk: CampaignDesk

    def start(self, kind: TaskKind, name: str, **settings: Any) -> None:
        self.desk.start(plan(self.desk.studies.load(), kind, name, Settings.for_kind(kind, **settings)))

    def link(self, campaign: str) -> str:
        return f"{self.url}/join/{invite(self.desk.database.secret, campaign)}"

    def answers(self, campaign: str) -> list[dict[str, Any]]:
        """What has arrived and counts."""
        return [to_object(one.answer) for one in self.desk.campaigns.answers(campaign) if one.counted and one.answer]


@contextmanager
def serve(study: pyr.Study, folder: Path, *, apart: bool = False) -> Iterator[Site]:
    """A new database with this study, a manager, and a server, ``apart`` in a process, that ends with the block."""
    place = folder / "study.db"
    database = Database.create(place, title=study.title)
    try:
        Accounts(database).add(MANAGER, PASSWORD)
        desk = CampaignDesk(database)
        desk.import_study(study)
        with running_server(place) if apart else served_here(place) as server:
            yield Site(server.url, desk)
            assert "Traceback" not in server.printed(), server.printed()
    finally:
        database.close()
