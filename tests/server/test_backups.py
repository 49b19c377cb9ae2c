"""A copy holds what people have receipts for: of the file once the server has ended, and a backup while it runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.running import run
from tests.server.servers import ENDS_WITHIN, Person, answer_to, make_study, running_server, start_many

from pyramidion.campaigns.desk import CampaignDesk

pytestmark = pytest.mark.server

PEOPLE, EACH = 3, 5


class Receipts(dict[int, str]):
    """The key of each acknowledged answer by its assignment; others may wait until there are enough."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.over = False

    def work(self, desk: CampaignDesk, url: str, name: str, tasks: int) -> None:
        """Let one person submit so many answers, unless it is over before."""
        person = Person(desk, url, "work", name)
        person.join()
        for number in range(tasks):
            if self.over:
                return
            task = person.work()
            key = f"{name}, answer {number}"
            assert person.submit(task["assignment"], answer_to(task["page"]), key).status_code == 200
            with self.changed:
                self[task["assignment"]] = key
                self.changed.notify_all()

    def wait_for(self, count: int) -> dict[int, str]:
        """What has been acknowledged as soon as there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self) >= count, 120)
            return dict(self)


def keys_in(file: Path) -> dict[int, str]:
    with closing(sqlite3.connect(file)) as copy:
        assert copy.execute("pragma integrity_check").fetchall() == [("ok",)]
        return dict(copy.execute("select id, key from assignments where state = 'submitted' and answer is not null"))


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT], ids=lambda stop: stop.name)
def test_after_an_orderly_end_the_file_alone_has_every_answer(tmp_path: Path, stop: signal.Signals) -> None:
    place = tmp_path / "study.db"
    desk = make_study(place)
    start_many(desk, "work", 40, workers=1, check=False)
    desk.database.close()
    receipts = Receipts()
    with running_server(place) as server:
        for number in range(PEOPLE):
            receipts.work(desk, server.url, f"person {number}", EACH)
        beside = Path(f"{place}-wal")
        assert beside.stat().st_size, "while it runs, they are in the file beside it"
        if stop == signal.SIGINT:
            os.killpg(server.pid, stop)  # as a terminal does at Ctrl-C
        else:
            server.process.send_signal(stop)
        server.process.wait(ENDS_WITHIN)
    assert not beside.exists() or not beside.stat().st_size
    copy = tmp_path / "copies" / "study.db"
    copy.parent.mkdir()
    shutil.copy(place, copy)
    assert len(receipts) == PEOPLE * EACH
    assert keys_in(copy) == receipts


def test_a_backup_holds_what_was_acknowledged_before_it_began(place: str, tmp_path: Path) -> None:
    desk = make_study(place)
    start_many(desk, "work", 2000, workers=1, check=False)
    receipts = Receipts()
    with running_server(place) as server, ThreadPoolExecutor(PEOPLE) as threads:
        people = [threads.submit(receipts.work, desk, server.url, f"person {n}", 600) for n in range(PEOPLE)]
        try:
            for number in range(3):
                known = receipts.wait_for(len(receipts) + 10)
                done = run("backup", place, tmp_path / f"{number}.db", "--json")
                assert done.returncode == 0, done.stderr
                held = keys_in(tmp_path / f"{number}.db")
                assert known.items() <= held.items(), "none is missing"
                assert len(held) == json.loads(done.stdout)["counts"]["answers"]
            receipts.wait_for(len(receipts) + 1)
            assert len(receipts) > len(known), "people were at work all the time"
        finally:
            receipts.over = True
            for person in people:
                person.result()
        assert held.items() <= receipts.items(), "none is half"
        kept = tmp_path / "receipts.jsonl"
        kept.write_text("".join(json.dumps({"assignment": a, "key": k}) + "\n" for a, k in receipts.items()))
        checked = run("verify", place, "--against", tmp_path / "2.db", "--receipts", kept)
        assert checked.returncode == 0, checked.stderr
    desk.database.close()
    back = tmp_path / "restored.db"
    assert run("restore", tmp_path / "2.db", back, "--quiet").returncode == 0
    assert run("verify", back).returncode == 0
    lost = run("verify", back, "--receipts", kept, "--json")
    assert lost.returncode == 1
    missing = {f"receipt of answer {assignment}" for assignment in receipts.keys() - held.keys()}
    assert {problem["where"] for problem in json.loads(lost.stdout)["problems"]} == missing
