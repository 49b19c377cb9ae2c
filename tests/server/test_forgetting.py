"""A person is forgotten while the server runs: what it still knows of them, and what happens when they come again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.cli.running import run
from tests.server.servers import (
    Person,
    answer_to,
    logged_in,
    make_study,
    only_texts,
    running_server,
    served_here,
    start_campaign,
)
from tests.waiting import until

import pyramidion as pyr
from pyramidion.campaigns.forgetting import DAY

pytestmark = pytest.mark.server

SAID = "written by somebody who can be recognised"


def test_somebody_comes_again_after_being_forgotten(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    desk = make_study(place)
    start_campaign(desk, desk.studies.load(), "judge", "work", check=False, workers=2, topics=("museum-theft",))
    with running_server(place) as server:
        anna = Person(desk, server.url, "work", "anna")
        task = anna.first_task()
        answer = {**answer_to(task["page"]), "comment": SAID}
        assert anna.submit(task["assignment"], answer).status_code == 200
        second = anna.work()
        assert anna.draft(second["assignment"], {"comment": SAID}).status_code == 200
        pseudonym = desk.campaigns.answers("work")[0].worker
        desk.database.close()

        done = run("campaign", "forget-worker", place, pseudonym, "--yes", "--json")
        assert done.returncode == 0, done.stderr
        erased = json.loads(done.stdout)["erased"]
        assert erased == {"platform ids": 1, "comments": 1, "drafts": 1}
        for path in tmp_path.iterdir():
            content = path.read_bytes()
            assert not [word for word in (SAID, pseudonym) if word.encode() in content], path

        work = anna.client.get("/api/work/work")
        assert work.status_code == 401, "her cookie is good for nothing"
        assert anna.submit(second["assignment"], answer).status_code == 401
        anna.join()
        seen = {task["page"]["task"]}
        while (now := anna.work())["state"] == "task":
            assert now["page"]["task"] not in seen, "she has no second place in a task"
            seen.add(now["page"]["task"])
            assert anna.submit(now["assignment"], answer_to(now["page"]), f"key number {len(seen)}").status_code == 200
        assert second["page"]["task"] not in seen
        [worker] = {answer.worker for answer in desk.campaigns.answers("work")}

        assert run("campaign", "block", place, worker, "--reason", SAID).returncode == 0
        assert run("campaign", "forget-worker", place, worker, "--yes").returncode == 0
        anna.join()
        assert anna.work() == {"state": "blocked"}
    assert run("verify", place).returncode == 0
    desk.database.close()


def test_exports_of_a_running_server_do_not_name_a_forgotten_writer(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    desk = make_study(place, only_texts(pyr.example()))
    start_campaign(desk, desk.studies.load(), "write", "write", check=False, workers=1, topics=("museum-theft",))
    assert (
        run("campaign", "rehearse", place, "write", "--in-place", "-y", "--workers", 3, "--abandon", 0).returncode == 0
    )
    assert run("campaign", "units", place, "write", "--yes").returncode == 0
    writer = next(unit.author for unit in desk.studies.load().pyramids[0].units)
    with served_here(place) as server:
        manager = logged_in(desk, server.url)
        assert writer in manager.get("/manage/campaigns/write/export.jsonl").text
        assert run("campaign", "forget-worker", place, writer, "--yes").returncode == 0
        export = "/manage/campaigns/write/export.jsonl"
        until(lambda: writer not in manager.get(export).text, "reading the study again")
        assert "forgotten-" in manager.get(export).text
    desk.database.close()


def test_a_server_erases_what_is_kept_only_for_some_days(place: str) -> None:
    desk = make_study(place)
    start_campaign(
        desk, desk.studies.load(), "judge", "old", check=False, workers=2, topics=("museum-theft",), keep_days=30
    )
    with served_here(place) as server:
        anna = Person(desk, server.url, "old", "anna")
        task = anna.first_task()
        assert anna.submit(task["assignment"], {**answer_to(task["page"]), "comment": SAID}).status_code == 200
    with desk.database.write() as connection:
        past = {"past": time.time() - 31 * DAY}
        connection.execute(text("UPDATE campaigns SET created = :past"), past)
        connection.execute(text("UPDATE assignments SET leased = :past, submitted = :past"), past)
        connection.execute(text("UPDATE entries SET arrived = :past"), past)
    with served_here(place):
        until = time.monotonic() + 60
        while (left := desk.campaigns.answers("old")[0].answer) and left.comment:
            assert time.monotonic() < until, "it does that when it starts"
            time.sleep(0.05)
    with desk.database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM identities")).scalar_one() == 0
    if desk.database.sqlite:
        desk.database.close()
        assert SAID.encode() not in Path(place).read_bytes()
    desk.database.close()
