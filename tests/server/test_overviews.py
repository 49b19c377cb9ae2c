"""The manager's page asks every few seconds: what has not changed is not read again; decisions are seen at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import event
from tests.server.conftest import Site
from tests.server.servers import Person, answer_to

from pyramidion.campaigns.management import decide_worker
from pyramidion.campaigns.reading import read_overview
from pyramidion.server.overviews import REST, Overviews

pytestmark = pytest.mark.server


def answered(person: Person) -> None:
    task = person.work()
    assert person.submit(task["assignment"], answer_to(task["page"])).json()["counted"]


def joined(site: Site, campaign: str, name: str) -> Person:
    person = site.person(campaign, name)
    person.join()
    return person


def test_a_poll_without_changes_reads_neither_the_study_nor_an_answer(site: Site) -> None:
    campaign = site.campaign(workers=3)
    ann = joined(site, campaign, "ann")
    answered(ann)
    boss, address = site.account(), f"/api/manage/campaigns/{campaign}"
    first = boss.get(address)
    statements: list[str] = []
    engine = site.server.app.state.context.desk.database.engine

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    same = boss.get(address, headers={"If-None-Match": first.headers["etag"]})
    event.remove(engine, "before_cursor_execute", note)
    assert (same.status_code, same.content) == (304, b"")
    assert statements
    assert not [text for text in statements if "body" in text or "assignments.answer" in text], statements
    answered(ann)
    changed = boss.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.json()["progress"]["submitted"] == 2
    assert changed.json()["workers"][0]["submitted"] == 2


class Watched:
    """Overviews with a clock of our own; making one takes a second."""

    def __init__(self, site: Site, campaign: str) -> None:
        self.now, self.read = 0.0, 0
        self._desk, self._study, self._campaign = site.desk, site.study, campaign
        self._overviews = Overviews(site.desk, self._make, clock=lambda: self.now)

    async def _make(self, _campaign: str, _reading: object, name: str, *_known: object) -> bytes:
        self.now, self.read = self.now + 1.0, self.read + 1
        return read_overview(self._desk, self._study, name)

    def poll(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(asyncio.run(self._overviews.reply(self._campaign)).body)
        return found


def test_with_many_answers_counts_are_current_and_the_rest_follows_as_often_as_costs_little(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramidion.server.overviews.FEW_ANSWERS", 0)
    campaign = site.campaign(workers=3)
    ann, watched = joined(site, campaign, "ann"), Watched(site, campaign)
    assert (watched.poll()["progress"]["submitted"], watched.read) == (0, 1)
    answered(ann)
    soon = watched.poll()
    assert (soon["progress"]["submitted"], soon["workers"], watched.read) == (1, [], 1)
    watched.now += REST
    later = watched.poll()
    assert ([worker["submitted"] for worker in later["workers"]], watched.read) == ([1], 2)
    assert watched.poll() == later
    assert watched.read == 2
    worker = later["workers"][0]["worker"]
    decide_worker(site.desk, "exclude", worker, actor="boss", reason="a rehearsal")
    assert watched.poll()["workers"][0]["excluded"] == "a rehearsal", "decisions do not wait"
    decide_worker(site.desk, "block", worker, actor="boss", reason="too fast")
    assert watched.poll()["workers"][0]["blocked"] == "too fast"
    site.desk.campaigns.set_state(campaign, "paused")
    assert watched.poll()["state"] == "paused"
    assert watched.read == 5
