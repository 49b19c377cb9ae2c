"""Exactly k distinct workers for each task, with a crowd of people at several server processes at once.

The full size, 1,000 tasks and 500 people, is a run of benchmarks/server.py.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.server.servers import Person, answer_to, make_study, start_many, two_processes

from pyramidion.campaigns.desk import CampaignDesk

pytestmark = pytest.mark.server

TASKS, WANTED, PEOPLE = 120, 5, 60
LEASE_MINUTES = 0.05
GIVE_UP = 240.0  # seconds; only a crowd that never finishes gets there


class Crowd:
    """People in threads: some give a task back, some vanish (and come late, or never), some submit twice."""

    def __init__(self, desk: CampaignDesk, urls: list[str], campaign: str) -> None:
        self.desk, self.urls, self.campaign = desk, urls, campaign
        self.finished = threading.Event()
        self.statuses: Counter[int] = Counter()
        self.receipts: dict[int, bool] = {}
        self.deeds: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._names = iter(range(1_000_000))

    def work_until_done(self) -> None:
        with ThreadPoolExecutor(PEOPLE) as threads:
            running = [threads.submit(self._seat, random.Random(seed)) for seed in range(PEOPLE)]
            until = time.monotonic() + GIVE_UP
            try:
                while self.desk.campaigns.progress(self.campaign)["tasks_full"] < TASKS:
                    assert time.monotonic() < until, self.deeds
                    assert not any(seat.done() for seat in running), "nobody leaves before the end"
                    time.sleep(0.2)
            finally:
                self.finished.set()
            for seat in running:
                seat.result()

    def _seat(self, rng: random.Random) -> None:
        """One person after the other: whoever vanishes is replaced."""
        late: list[Callable[[], object]] = []
        while not self.finished.is_set():
            person = self._newcomer()
            while not self.finished.is_set():
                task = self._kept(person.client.get(f"/api/work/{self.campaign}"))
                if task.get("state") != "task":
                    self.finished.wait(0.3)
                elif not self._does(person, task, rng, late):
                    break
        for submit in late:
            submit()

    def _newcomer(self) -> Person:
        with self._lock:
            number = next(self._names)
        person = Person(self.desk, self.urls[number % len(self.urls)], self.campaign, f"person {number}")
        self._kept(person.join())
        return person

    def _does(self, person: Person, task: dict[str, Any], rng: random.Random, late: list[Callable[[], object]]) -> bool:
        """What somebody makes of a task; False if they are not seen again."""
        id, answer = task["assignment"], answer_to(task["page"], rng.randrange(2))
        fate = rng.random()
        if fate < 0.1:
            self.deeds["gave back"] += 1
            self._kept(person.give_back(id))
            return True
        if fate < 0.2:
            self.deeds["vanished"] += 1
            if rng.random() < 0.5:
                late.append(lambda: self._submit(person, id, answer))
            return False
        self._submit(person, id, answer)
        if rng.random() < 0.1:
            self.deeds["submitted twice"] += 1
            self._submit(person, id, answer)
        return True

    def _submit(self, person: Person, id: int, answer: dict[str, Any]) -> None:
        receipt = self._kept(person.submit(id, answer, key=f"key of {id}"))
        assert "counted" in receipt, receipt
        with self._lock:
            assert self.receipts.setdefault(id, receipt["counted"]) == receipt["counted"], "a replay changes nothing"

    def _kept(self, response: Any) -> dict[str, Any]:
        with self._lock:
            self.statuses[response.status_code] += 1
        is_json = response.headers.get("content-type", "") == "application/json"
        return dict(response.json()) if is_json else {}


@pytest.mark.load
def test_exactly_k_under_load(place: str) -> None:
    desk = make_study(place)
    start_many(desk, "load", TASKS, workers=WANTED, lease_minutes=LEASE_MINUTES, check=False)
    with two_processes(place) as servers:
        crowd = Crowd(desk, [server.url for server in servers], "load")
        crowd.work_until_done()
        assert not any("Traceback" in server.printed() for server in servers)
    assert set(crowd.statuses) == {200, 303}, crowd.statuses
    assert min(crowd.deeds[deed] for deed in ("gave back", "vanished", "submitted twice")) > 0

    answers = desk.campaigns.answers("load")
    workers: dict[str, list[str]] = {task.task.id: [] for task in desk.campaigns.tasks("load")}
    for answer in answers:
        if answer.counted:
            workers[answer.task.id].append(answer.worker)
    assert {len(by) for by in workers.values()} == {WANTED}
    assert {len(set(by)) for by in workers.values()} == {WANTED}
    stored = {answer.id: answer.counted for answer in answers if answer.state == "submitted"}
    assert stored == crowd.receipts, "every submission that was acknowledged, late ones too, and nothing else"
    desk.database.close()


@pytest.mark.load
def test_many_tabs_of_one_person_are_one_person(place: str) -> None:
    """The same link, check, task and submission from eight tabs at once, in two processes."""
    desk = make_study(place)
    start_many(desk, "tabs", 20, check=True)
    with two_processes(place) as servers:
        for number in range(5):
            urls = 4 * [server.url for server in servers] * (2 // len(servers))
            tabs = [Person(desk, url, "tabs", f"person {number}") for url in urls]
            assert {r.status_code for r in at_once(tabs, lambda tab: tab.join())} == {303}
            right = tabs[0].right_answers()
            checks = at_once(tabs, lambda tab, right=right: tab.check(right))  # type: ignore[misc]
            assert {check["passed"] for check in checks} == {True}
            tasks = at_once(tabs, lambda tab: tab.work())
            [id] = {task["assignment"] for task in tasks}
            answer = answer_to(tasks[0]["page"])
            replies = at_once(tabs, lambda tab, id=id, answer=answer: tab.submit(id, answer))  # type: ignore[misc]
            assert {r.status_code for r in replies} == {200}
            assert [r.json()["replayed"] for r in replies].count(False) == 1
        assert not any("Traceback" in server.printed() for server in servers)
    assert len(desk.campaigns.answers("tabs")) == 5
    desk.database.close()


def at_once(tabs: list[Person], do: Callable[[Person], Any]) -> list[Any]:
    """Everybody waits for everybody before the request goes out."""
    ready = threading.Barrier(len(tabs))

    def one(tab: Person) -> Any:
        ready.wait()
        return do(tab)

    with ThreadPoolExecutor(len(tabs)) as threads:
        return list(threads.map(one, tabs))
