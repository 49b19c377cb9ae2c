"""A study and a server process over it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyramidion as pyr
from pyramidion.model import Settings
from pyramidion.model.campaigns import TaskKind
from pyramidion.platforms.local import invite
from pyramidion.store import Accounts, Database
from pyramidion.workflows.campaign import Desk
from pyramidion.workflows.planning import plan

MANAGER, PASSWORD = "mona", "correct horse battery"
TOPIC = "drought-plan"


def small_study(systems: Sequence[str], references: Sequence[str], pyramid: str | None = None) -> pyr.Study:
    """One topic of the bundled example without judgments, and with a pyramid only where one is named."""
    whole = pyr.example()
    wanted = {("peer", system) for system in systems} | {("reference", name) for name in references}
    return pyr.Study(
        topics=tuple(replace(topic, documents=()) for topic in whole.topics if topic.id == TOPIC),
        summaries=tuple(s for s in whole.summaries if s.topic == TOPIC and (s.role, s.system) in wanted),
        pyramids=tuple(p for p in whole.pyramids if p.topic == TOPIC and p.name == pyramid),
        title="Water in Port Ambry",
    )


@dataclass(frozen=True)
class Site:
    """A study that is being served, and a way to its database beside the pages."""

    url: str
    desk: Desk

    def start(self, kind: TaskKind, name: str, **settings: Any) -> None:
        self.desk.start(plan(self.desk.studies.load(), kind, name, Settings.for_kind(kind, **settings)))

    def link(self, campaign: str) -> str:
        return f"{self.url}/join/{invite(self.desk.database.secret, campaign)}"

    def answers(self, campaign: str) -> list[dict[str, Any]]:
        """What has arrived and counts."""
        return [answer.answer or {} for answer in self.desk.campaigns.answers(campaign) if answer.counted]


@contextmanager
def serve(study: pyr.Study, folder: Path) -> Iterator[Site]:
    place = folder / "study.db"
    database = Database.create(place, title=study.title)
    try:
        Accounts(database).add(MANAGER, PASSWORD)
        desk = Desk(database)
        desk.import_study(study)
        with running(place) as url:
            yield Site(url, desk)
    finally:
        database.close()


@contextmanager
def running(place: Path) -> Iterator[str]:
    """The address of a server process; it ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = place.with_suffix(".log")
    command = [sys.executable, "-m", "pyramidion", "serve", str(place), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/login", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, f"the server ended with status {process.returncode}:\n{log.read_text()}"
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not answer:\n{log.read_text()}")
