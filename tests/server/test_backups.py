"""A copy holds what people have receipts for: of the file after the server ended, and of a backup made while it runs."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.server.servers import ENDS_WITHIN, Person, answer_to, make_study, running_server, start_many

from pyramidion.campaigns.desk import CampaignDesk

pytestmark = pytest.mark.server

PEOPLE, EACH = 3, 5


def work(desk: CampaignDesk, url: str, name: str, tasks: int) -> dict[int, str]:
    """Let one person submit so many answers; returns the key of each receipt by the assignment."""
    person = Person(desk, url, "work", name)
    person.join()
    receipts = {}
    for number in range(tasks):
        task = person.work()
        key = f"{name}, answer {number}"
        assert person.submit(task["assignment"], answer_to(task["page"]), key).status_code == 200
        receipts[task["assignment"]] = key
    return receipts


def keys_in(file: Path) -> dict[int, str]:
    with closing(sqlite3.connect(file)) as copy:
        assert copy.execute("pragma integrity_check").fetchall() == [("ok",)]
        return dict(copy.execute("select id, key from assignments where state = 'submitted' and answer is not null"))


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT], ids=lambda stop: stop.name)
def test_after_an_orderly_end_the_file_alone_has_every_answer(
    tmp_path: Path, processes: int, stop: signal.Signals
) -> None:
    place = tmp_path / "study.db"
    desk = make_study(place)
    start_many(desk, "work", 40, workers=1, check=False)
    desk.database.close()
    receipts: dict[int, str] = {}
    with running_server(place, processes=processes) as server:
        for number in range(PEOPLE):
            receipts |= work(desk, server.url, f"person {number}", EACH)
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
