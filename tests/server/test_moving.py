"""A study moves while people work on it: whoever has an acknowledgement has an answer at the new place."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import httpx
import pytest
from tests.cli.running import run
from tests.databases import Postgres
from tests.server.servers import Person, answer_to, browser, make_study, served_here, start_many

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.verification import KeptReceipt, verify

pytestmark = pytest.mark.server

PEOPLE, EACH_BEFORE = 5, 4


class AtWork(threading.Thread):
    """Somebody who submits task after task until they are refused."""

    def __init__(self, person: Person, enough: threading.Semaphore) -> None:
        super().__init__(daemon=True)
        self.person, self._enough = person, enough
        self.receipts: list[KeptReceipt] = []
        self.refused: tuple[int, dict[str, object], str] | None = None
        self.reply: httpx.Response | None = None

    def run(self) -> None:
        task = self.person.first_task()
        while True:
            key, id = f"key of {task['assignment']}", task["assignment"]
            answer = answer_to(task["page"])
            self.reply = self.person.submit(id, answer, key)
            if self.reply.status_code != 200:
                self.refused = id, answer, key
                return
            self.receipts.append(KeptReceipt(id, key))
            self._enough.release()
            reply = self.person.client.get("/api/work/work")
            if reply.status_code != 200:  # refused to take another task
                self.reply = reply
                return
            task = reply.json()


@pytest.mark.load
def test_every_acknowledged_answer_moves(place: str, postgres_server: Postgres, tmp_path: Path) -> None:
    target = postgres_server.new_database() if "://" not in place else str(tmp_path / "new.db")
    desk = make_study(place)
    start_many(desk, "work", 600, workers=1, check=False)
    enough = threading.Semaphore(0)
    with served_here(place) as server:
        people = [AtWork(Person(desk, server.url, "work", f"p{n}"), enough) for n in range(PEOPLE)]
        for person in people:
            person.start()
        for _ in range(PEOPLE * EACH_BEFORE):
            assert enough.acquire(timeout=60)
        done = json.loads(run("move", place, target, "--json").stdout)
        for person in people:
            person.join(60)
            assert person.reply is not None
            assert (person.reply.status_code, person.reply.json()["reason"]) == (503, "moved"), person.reply.text
        page = browser(server.url).get(f"/join/{people[0].person.token}", headers={"Accept": "text/html"})
        assert page.status_code == 503
        assert "Nothing that you have sent is lost" in page.text
        ready = browser(server.url).get("/readyz")
        assert [trouble["reason"] for trouble in ready.json()["troubles"]] == ["moved"]
    desk.database.close()
    receipts = [receipt for person in people for receipt in person.receipts]
    assert len(receipts) >= PEOPLE * EACH_BEFORE
    assert done["counts"]["answers"] == len(receipts), "and nobody else's"
    found = verify(target, receipts=receipts)
    assert found.problems == ()
    moved = CampaignDesk.open(target)
    with served_here(target) as server:  # pages send again what was refused
        for waiting in (person for person in people if person.refused):
            assert waiting.refused is not None
            again = Person(moved, server.url, "work")
            again.client.cookies = waiting.person.client.cookies
            assert again.submit(*waiting.refused).json() == {"counted": True, "replayed": False}
    moved.database.close()
