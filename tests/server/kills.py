"""People who submit while their server is killed, again and again; the durability test and the benchmark run this.

What is counted is requests, never time: a server dies when a drawn number of requests has been sent to it, with
others of them still on their way.
"""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.server.servers import Person, Server, answer_to, free_port, start_server

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.tasks import to_object

PEOPLE = 8
FEWEST, MOST = 1, 40  # requests to one server before it dies


def _essence(answer: dict[str, Any]) -> tuple[str, list[int]]:
    """What tells an answer from all others: pages call statements by their places, the database by their ids."""
    return answer["comment"], sorted(answer["units"].values())


@dataclass
class Outcome:
    """``acknowledged`` holds every answer that somebody has a receipt for."""

    acknowledged: dict[int, dict[str, Any]] = field(default_factory=dict)
    interrupted: int = 0
    replayed: int = 0
    statuses: set[int] = field(default_factory=set)
    starts: list[float] = field(default_factory=list)
    """Seconds from starting a server to its first page."""


class Kills:
    def __init__(
        self, desk: CampaignDesk, place: str | Path, campaign: str, *, seed: int = 0, processes: int = 1
    ) -> None:
        self._desk, self._place, self._campaign, self._processes = desk, place, campaign, processes
        self._port = free_port()  # the same after each restart, as for real people
        self._rng = random.Random(seed)
        self._changed = threading.Condition()
        self._sent = 0
        self._alive = False
        self._over = False
        self.outcome = Outcome()

    def run(self, times: int) -> Outcome:
        """Kill a server so many times; at the end one server lives on until everybody has their receipt."""
        with ThreadPoolExecutor(PEOPLE) as threads:
            people = [threads.submit(self._person, number) for number in range(PEOPLE)]
            server = None
            try:
                for _ in range(times):
                    server = self._start()
                    self._wait_for_requests(self._rng.randint(FEWEST, MOST))
                    server.kill()
                    with self._changed:
                        self._alive = False
                    self._nothing_is_lost()
                server = self._start()
            finally:
                with self._changed:
                    self._over = True
                    self._changed.notify_all()
                failures = [error for person in people if (error := person.exception())]
                if server is not None:
                    server.end()
        assert not failures, failures
        self._nothing_is_lost()
        return self.outcome

    def _start(self) -> Server:
        begun = time.monotonic()
        server = start_server(self._place, port=self._port, processes=self._processes)
        self.outcome.starts.append(time.monotonic() - begun)
        with self._changed:
            self._sent, self._alive = 0, True
            self._changed.notify_all()
        return server

    def _wait_for_requests(self, count: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._sent >= count or self._over)

    def _nothing_is_lost(self) -> None:
        """Every receipt stands for an answer in the database, word for word."""
        with self._changed:
            known = dict(self.outcome.acknowledged)
        answers = self._desk.campaigns.answers(self._campaign)
        stored = {answer.id: _essence(to_object(answer.answer)) for answer in answers if answer.answer}
        lost = [id for id, answer in known.items() if stored.get(id) != _essence(answer)]
        assert not lost, f"acknowledged, but not stored: {lost}"

    # -- people --------------------------------------------------------------------------------------------------

    def _person(self, number: int) -> None:
        rng = random.Random(f"person {number}")
        person = Person(self._desk, f"http://127.0.0.1:{self._port}", self._campaign, f"person {number}")
        self._insist(person, "GET", f"/join/{person.token}")
        while not self._over:
            task = self._insist(person, "GET", f"/api/work/{self._campaign}")
            if not task or task["state"] != "task":
                assert self._over, f"the campaign is too small: {task}"
                return
            units = answer_to(task["page"])["units"]
            answer = {"units": {unit: rng.randrange(2) for unit in units}, "comment": f"{number} {rng.random()}"}
            body = {"key": f"key {number} {rng.random()}", "answer": answer}
            receipt = self._insist(person, "POST", f"/api/work/{self._campaign}/{task['assignment']}/submit", body)
            if receipt is not None:
                with self._changed:
                    self.outcome.acknowledged[task["assignment"]] = answer
                    self.outcome.replayed += receipt["replayed"]

    def _insist(self, person: Person, method: str, path: str, body: Any = None) -> dict[str, Any] | None:
        """Send a request until it is answered, as the page does; None at the end of it all."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._alive or self._over)
                if not self._alive:
                    return None
                self._sent += 1
                self._changed.notify_all()
            try:
                response = person.client.request(method, path, json=body)
            except httpx.TransportError:
                with self._changed:
                    self.outcome.interrupted += 1
                time.sleep(0.01)  # the server is gone, and we do not know it yet
                continue
            with self._changed:
                self.outcome.statuses.add(response.status_code)
            return dict(response.json()) if response.status_code == 200 else {}
