"""The server looks, releases and stops by itself, beside everybody's work; killed at any moment, it goes on."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.campaigns.designs import (
    MANY,
    MODEL,
    SHARES,
    SYSTEMS,
    answer_all,
    desk_in_rounds,
    look_of,
    plan_in_rounds,
    truth,
)
from tests.campaigns.platforms.fake_prolific import STUDY, TOKEN, fake_prolific
from tests.server.servers import (
    ACCOUNTS,
    PASSWORD,
    STARTS_WITHIN,
    Person,
    ServerThread,
    logged_in,
    running_server,
    served_here,
    start_server,
)
from tests.waiting import until

from pyramidion.analysis.stopping import Look
from pyramidion.campaigns import advancing, sync
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.prolific import Client
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.server import rounds as server_rounds
from pyramidion.store.accounts import Accounts

pytestmark = pytest.mark.server
ALIKE = dict.fromkeys(SYSTEMS, 0.5)
"""Systems that say the same, so that no pair is ever decided."""


def answers_of(page: dict[str, Any], shares: Mapping[str, float] = SHARES) -> dict[str, Any]:
    """True answers to a page, whose units have labels like "Fact number 3 of t01 holds."."""
    system = page["summary"].split()[0]
    return {"units": {u["id"]: truth(system, f"x-{u['label'].split()[2]}", shares) for u in page["units"]}}


def work_once(person: Person) -> dict[str, Any]:
    """Ask for a task, and answer it where there is one."""
    found = person.work()
    if found["state"] == "task":
        sent = person.submit(found["assignment"], answers_of(found["page"]), f"key of {found['assignment']}")
        assert sent.status_code == 200, sent.text
    return found


def work_on(person: Person) -> dict[str, Any]:
    """Answer everything that comes; returns what is shown when nothing does."""
    while (found := work_once(person))["state"] == "task":
        pass
    return found


@contextmanager
def site(place: Path, **chosen: Any) -> Iterator[tuple[CampaignDesk, ServerThread, Person]]:
    desk = desk_in_rounds(place, **chosen)
    for name, role in ACCOUNTS.items():
        Accounts(desk.database).add(name, PASSWORD, role)  # type: ignore[arg-type]
    with served_here(place) as server:
        person = Person(desk, server.url, "judge", "ann")
        person.join()
        yield desk, server, person
        assert "Traceback" not in server.printed(), server.printed()
    desk.database.close()


# -- by itself -----------------------------------------------------------------------------------------------


def test_rounds_come_and_end_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = {1: ("fair", "good"), 2: ()}
    monkeypatch.setattr(advancing, "take_look", lambda _, *, number, **__: look_of(number, script[number]))
    with site(tmp_path / "study.db") as (desk, server, ann):
        work_on(ann)
        until(lambda: len(desk.rounds.released("judge")) == 2)
        assert desk.rounds.looks("judge")[0].actor == "server"
        assert work_once(ann)["state"] == "task", "tasks of the second round"
        work_on(ann)
        until(lambda: desk.campaigns.get("judge").state == "paused")
        assert {"state": "closed"}.items() <= ann.work().items(), "for her it is finished"
        boss = logged_in(desk, server.url)
        shown = boss.get("/api/manage/campaigns/judge").json()["rounds"]
        assert (shown["status"], shown["stop"]["reason"], shown["round"], shown["rounds"]) == ("stopped", "goal", 2, 3)
        assert (len(shown["decided"]), shown["pairs"], shown["left"]["poor"]) == (3, 3, 1)
        assert [look["number"] for look in shown["looks"]] == [1, 2]


def test_a_look_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looking, go = threading.Event(), threading.Event()

    def slow(_: Any, *, number: int, **__: Any) -> Look:
        looking.set()
        assert go.wait(STARTS_WITHIN)
        return look_of(number, SYSTEMS)

    monkeypatch.setattr(advancing, "take_look", slow)
    with site(tmp_path / "study.db") as (desk, server, ann):
        desk.start(plan_in_rounds(desk.studies.load(), "other"))
        work_on(ann)
        assert looking.wait(STARTS_WITHIN)
        assert {"state": "done", "more": True, "completion_url": "", "code": ""}.items() <= ann.work().items(), (
            "not: all done"
        )
        ben = Person(desk, server.url, "other", "ben")
        ben.join()
        assert work_once(ben)["state"] == "task", "others work meanwhile"
        assert len(desk.campaigns.answers("other")) == 1
        go.set()
        until(lambda: ann.work()["state"] == "task")


def test_a_server_does_what_was_due_before_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advancing, "take_look", lambda _, *, number, **__: look_of(number, SYSTEMS))
    desk = desk_in_rounds(tmp_path / "study.db")
    answer_all(desk)
    with served_here(tmp_path / "study.db"):
        until(lambda: len(desk.rounds.released("judge")) == 2)
    desk.database.close()


def test_what_fails_is_said_and_tried_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def fail(_: Any, *, number: int, **__: Any) -> Look:
        tries.append(number)
        if len(tries) == 1:
            raise ZeroDivisionError("a mistake of ours")
        return look_of(number, SYSTEMS)

    monkeypatch.setattr(advancing, "take_look", fail)
    monkeypatch.setattr(server_rounds, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(server_rounds, "EVERY_SECONDS", 0.05)
    desk = desk_in_rounds(tmp_path / "study.db")
    answer_all(desk)
    with served_here(tmp_path / "study.db") as server:
        until(lambda: len(desk.rounds.released("judge")) == 2)
        assert "campaign judge: could not go on (a mistake of ours)" in server.printed()
    assert tries == [1, 1]
    desk.database.close()


# -- workers of a platform -----------------------------------------------------------------------------------


def test_who_comes_from_a_platform_gets_the_code_between_rounds_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def slow(_: Any, *, number: int, **__: Any) -> Look:
        assert go.wait(STARTS_WITHIN)
        return look_of(number, ())

    monkeypatch.setattr(advancing, "take_look", slow)
    code = {"completion_url": "https://example.org/done", "code": ""}
    with site(tmp_path / "study.db", completion_url=code["completion_url"], code_after=1) as (desk, server, ann):
        ben = Person(desk, server.url, "judge", "ben")
        ben.join()
        work_on(ann)
        assert {"state": "done", "more": True, **code}.items() <= ann.work().items(), (
            "she need not wait for the next round"
        )
        early = {"completion_url": "", "code": ""}
        assert ben.work() == {"state": "too-few-answers", "done": 0, "needed": 1, "more": True, **early}
        go.set()
        until(lambda: desk.campaigns.get("judge").state == "paused")
        assert {"state": "done", **code}.items() <= ann.work().items()
        assert {"state": "closed"}.items() <= ben.work().items()


def test_who_may_do_no_more_is_not_told_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advancing, "take_look", lambda _, *, number, **__: look_of(number, SYSTEMS))
    with site(tmp_path / "study.db", most_per_worker=2) as (_, _server, ann):
        assert {"state": "done", "completion_url": "", "code": ""}.items() <= work_on(ann).items()


def test_a_pause_by_a_person_is_a_pause(tmp_path: Path) -> None:
    with site(tmp_path / "study.db") as (desk, _, ann):
        desk.campaigns.set_state("judge", "paused")
        assert {"state": "paused"}.items() <= ann.work().items()


def test_the_server_lets_people_in_for_a_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advancing, "take_look", lambda _, *, number, **__: look_of(number, ("fair", "good")))
    place = tmp_path / "study.db"
    chosen = {"platform": "prolific", "platform_study": STUDY, "completion_code": "DONE", "most_per_worker": 4}
    desk = desk_in_rounds(place, **chosen)
    for number in range(5):
        worker = desk.workers.join("prolific", f"p{number}").id
        while lease := desk.assignments.lease("judge", worker):
            units = all_present(lease.task.units)
            desk.assignments.submit(lease.id, worker, f"key {lease.id}", units)
    with fake_prolific() as prolific:
        monkeypatch.setattr(sync, "Client", lambda token: Client(token, prolific.url))
        server = ServerThread(place, api_token=TOKEN)
        server.start()
        try:
            until(lambda: prolific.studies[STUDY]["total_available_places"] == 33)
            until(lambda: desk.rounds.released("judge")[-1].placed)
        finally:
            server.end()
    desk.database.close()


def all_present(units: tuple[str, ...]) -> JudgeAnswer:
    return JudgeAnswer(dict.fromkeys(units, 1))


# -- managers ------------------------------------------------------------------------------------------------


def test_a_manager_goes_on_and_others_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advancing, "take_look", lambda _, *, number, **__: look_of(number, ()))
    with site(tmp_path / "study.db") as (desk, server, ann):
        boss, vera = logged_in(desk, server.url), logged_in(desk, server.url, "vera")
        address = "/api/manage/campaigns/judge"
        early = boss.post(f"{address}/go-on", json={"reason": "more"})
        assert (early.status_code, "still being asked" in early.json()["error"]) == (409, True)
        work_on(ann)
        until(lambda: desk.campaigns.get("judge").state == "paused")
        resumed = boss.post(f"{address}/state", json={"state": "running"})
        assert (resumed.status_code, "go-on" in resumed.json()["error"]) == (409, True)
        assert vera.post(f"{address}/go-on", json={"reason": "more"}).status_code == 403
        assert boss.post(f"{address}/go-on", json={"reason": ""}).status_code == 422
        done = boss.post(f"{address}/go-on", json={"reason": "narrower intervals"})
        assert (done.status_code, done.json()) == (200, {"round": 2, "tasks": 18})
        last = desk.rounds.released("judge")[-1]
        assert (last.actor, last.reason) == ("boss", "narrower intervals")
        assert work_once(ann)["state"] == "task"
        assert boss.post(f"{address}/state", json={"state": "closed"}).status_code == 200
        shown = vera.get(address).json()["rounds"]
        assert (shown["status"], shown["money"]["further"]) == ("closed", None)


def test_a_plan_in_rounds_starts_from_the_page(tmp_path: Path) -> None:
    with site(tmp_path / "study.db", topics=MANY) as (desk, server, _):
        settings = {"model": MODEL, "until": "pairs=50%", "question": "these", "check": False}
        body = {"kind": "judge", "name": "second", "settings": settings, "start": True}
        done = logged_in(desk, server.url).post("/api/manage/plan", json=body)
        assert done.status_code == 200, done.text
        assert any("Round 1 of at most" in sentence for sentence in done.json()["design"])
        report = logged_in(desk, server.url).get("/api/manage/campaigns/second").json()["rounds"]
        assert (report["round"], report["goal"], report["status"]) == (1, "pairs=50%", "asking")
        assert done.json()["tasks"] == report["released"][0]["tasks"] == desk.campaigns.progress("second")["tasks"]


def test_many_answers_are_looked_at_in_another_process(tmp_path: Path) -> None:
    """More than 300 answers: the reader's process takes the look and releases the round, by the real statistics."""
    with site(tmp_path / "study.db", workers=20) as (desk, server, _):
        answer_all(desk)
        assert desk.campaigns.count_answers("judge") == 360
        logged_in(desk, server.url).post("/api/manage/campaigns/judge/state", json={"state": "running"})
        until(lambda: desk.rounds.looks("judge"))
        until(lambda: desk.campaigns.get("judge").state == "paused" or len(desk.rounds.released("judge")) == 2)


# -- kill -9, and several at once ----------------------------------------------------------------------------


def consistent(desk: CampaignDesk) -> None:
    """Each look once, each round once, no part asked twice of a system, and a look before each later round."""
    looks = [one.look.number for one in desk.rounds.looks("judge")]
    released = [one.number for one in desk.rounds.released("judge")]
    assert looks == list(range(1, len(looks) + 1))
    assert released == list(range(1, len(released) + 1))
    assert len(looks) in {len(released), len(released) - 1}
    tasks = [stored.task for stored in desk.campaigns.tasks("judge")]
    asked = [(task.stratum, task.place, task.system) for task in tasks]
    assert len(asked) == len(set(asked))
    assert len(tasks) == sum(one.tasks for one in desk.rounds.released("judge"))


def test_killed_at_any_moment_it_goes_on(place: str) -> None:
    """The server dies right after the last answer of each round, a little sooner or later; all rounds are asked."""
    rng = random.Random(19)
    desk = desk_in_rounds(place, shares=ALIKE, rounds=(0.25, 0.5))
    receipts: list[int] = []
    for _ in range(12):
        server = start_server(place)
        try:
            person = Person(desk, server.url, "judge", "ann")
            person.join()
            while (found := person.work())["state"] == "task":
                answer, key = answers_of(found["page"], ALIKE), f"key of {len(receipts)}"
                sent = person.submit(found["assignment"], answer, key)
                assert sent.status_code == 200
                receipts.append(found["assignment"])
            time.sleep(rng.choice((0, 0.01, 0.05, 0.2, 0.5)))
        finally:
            server.kill()
        consistent(desk)
        assert {a.id for a in desk.campaigns.answers("judge") if a.counted} == set(receipts)
        if desk.campaigns.get("judge").state == "paused":
            break
    with running_server(place):
        until(lambda: desk.campaigns.get("judge").state == "paused" or desk.campaigns.progress("judge")["open"])
    consistent(desk)
    desk.database.close()


def test_many_processes_advance_at_once(place: str) -> None:
    desk = desk_in_rounds(place, shares=ALIKE)
    answer_all(desk, shares=ALIKE)
    command = [sys.executable, "-m", "pyramidion", "campaign", "advance", place, "judge", "--json"]
    several = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(3)]
    for one in several:
        _, said = one.communicate()
        assert one.returncode == 0, said
    consistent(desk)
    assert [one.number for one in desk.rounds.released("judge")] == [1, 2]
    desk.database.close()
