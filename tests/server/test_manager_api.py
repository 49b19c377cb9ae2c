"""What managers do, who may do it, and what is refused to everybody else."""

from __future__ import annotations

import csv
import io
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.server.conftest import WEBHOOK_SECRET, Site
from tests.server.servers import (
    PASSWORD,
    Person,
    answer_to,
    browser,
    logged_in,
    make_study,
    only_texts,
    served_here,
    start_campaign,
)

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.campaigns.platforms.prolific import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign_webhook
from pyramidion.server.context import SESSION_COOKIE, WORKER_COOKIE
from pyramidion.server.security import CSP, HEADERS, MAX_BODY
from pyramidion.study import Settings

pytestmark = pytest.mark.server


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[str]:
    """A server of its own: each counts log-ins."""
    make_study(tmp_path / "study.db", pyr.Study()).database.close()
    with served_here(tmp_path / "study.db") as server:
        yield server.url


def log_in(client: httpx.Client, name: str = "boss", password: str = PASSWORD, **more: str) -> httpx.Response:
    return client.post("/login", data={"name": name, "password": password, **more})


def done_task(site: Site, campaign: str, value: int = 1) -> Person:
    person = site.person(campaign)
    task = person.first_task()
    assert person.submit(task["assignment"], answer_to(task["page"], value)).status_code == 200
    return person


# -- logging in and out --------------------------------------------------------------------------------------


def test_log_in_and_out(fresh: str) -> None:
    client = browser(fresh)
    assert client.get("/manage").headers["location"] == "/login?next=/manage"
    assert (
        client.get("/manage/campaigns/a?worker=w1").headers["location"]
        == "/login?next=/manage/campaigns/a%3Fworker%3Dw1"
    )
    response = log_in(client)
    assert (response.status_code, response.headers["location"]) == (303, "/manage")
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    page = client.get("/manage")
    assert page.status_code == 200

    assert client.post("/logout", data={"csrf": "guessed"}).status_code == 403
    assert client.get("/manage").status_code == 200, "still logged in"
    session = client.cookies[SESSION_COOKIE]
    csrf = page.text.split('name="csrf" value="')[1].split('"')[0]
    assert client.post("/logout", data={"csrf": csrf}).headers["location"] == "/login"
    assert browser(fresh, cookies={SESSION_COOKIE: session}).get("/api/manage").status_code == 401, "ended, not hidden"


def test_a_planted_session_is_not_taken_over(fresh: str) -> None:
    """Session fixation: whoever planted a cookie in a browser must not be logged in with it afterwards."""
    planted = "planted-by-somebody-else"
    victim = browser(fresh, cookies={SESSION_COOKIE: planted})
    response = log_in(victim)
    assert response.status_code == 303
    first = response.cookies[SESSION_COOKIE]
    assert first != planted
    assert browser(fresh, cookies={SESSION_COOKIE: planted}).get("/api/manage").status_code == 401
    assert log_in(browser(fresh, cookies={SESSION_COOKIE: first})).cookies[SESSION_COOKIE] != first


def test_wrong_passwords_and_then_too_many(fresh: str) -> None:
    client = browser(fresh)
    replies = [log_in(client, name, password) for name, password in [("boss", "wrong"), ("nobody", PASSWORD), ("", "")]]
    assert [reply.status_code for reply in replies] == [401] * 3
    assert len({reply.text for reply in replies}) == 1, "nothing tells whether the name exists"
    assert SESSION_COOKIE not in client.cookies
    later = [log_in(client, "boss", f"guess {n}").status_code for n in range(10)]
    assert later[-1] == 429
    assert log_in(client).status_code == 429, "even the right password waits"


def test_names_that_are_no_text_are_wrong_names(fresh: str) -> None:
    for name in ("\x00", "\ud800".encode(errors="surrogatepass"), b"\xff", "x" * 201):
        assert browser(fresh).post("/login", data={"name": name, "password": "p"}).status_code in {401, 422}


EVIL = [
    "//evil.example",
    "///evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\r\nLocation: https://evil.example",
    "evil.example",
    "@evil.example",
    " //evil.example",
    "",
]


@pytest.mark.parametrize("target", EVIL)
def test_nobody_is_sent_elsewhere_after_logging_in(site: Site, target: str) -> None:
    page = browser(site.url).get("/login", params={"next": target})
    assert 'name="next" value="/manage"' in page.text


def test_redirects_stay_here(fresh: str) -> None:
    """The form's own field can be changed too. Encoded line breaks stay encoded, in a path of ours."""
    for target in (*EVIL[:4], "/manage?x=%0d%0aSet-Cookie:%20a=b", "/%0d%0aLocation:%20https://evil.example"):
        response = log_in(browser(fresh), next=target)
        location = urlsplit(response.headers["location"])
        assert (response.status_code, location.scheme, location.netloc) == (303, "", "")
        assert location.path.startswith("/")
        assert "a=b" not in response.headers.get("set-cookie", "")
    assert response.headers["location"].startswith("/%0")


# -- who may do what -----------------------------------------------------------------------------------------

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("/api/manage/plan", {"kind": "judge", "name": "not-allowed", "start": True}),
    ("/api/manage/campaigns/{}/state", {"state": "closed"}),
    ("/api/manage/workers/w1/review", {"action": "block", "reason": "r"}),
    ("/api/manage/assignments/1/review", {"action": "reopen", "reason": "r"}),
    ("/api/manage/campaigns/{}/units", {"store": True}),
    ("/api/manage/campaigns/{}/approval", {"reason": "r"}),
    ("/api/manage/invitations", {"campaign": "{}", "count": 1}),
    ("/api/manage/preview", {"kind": "judge", "name": "not-allowed"}),
    ("/api/manage/units", {"topic": "museum-theft", "unit": "u1", "label": "Another text."}),
    ("/api/manage/uploads", {}),
]
VIEWS = [
    "/api/manage",
    "/api/manage/campaigns/{}",
    "/api/manage/campaigns/{}/answers",
    "/api/manage/scores",
    "/manage/campaigns/{}/export.csv",
    "/manage/campaigns/{}/export.jsonl",
]


@pytest.mark.parametrize("name", ["vera", "erin"])
def test_viewers_and_experts_look_but_change_nothing(site: Site, name: str) -> None:
    campaign = site.campaign()
    client = site.account(name)
    for path in (*VIEWS, "/manage", "/manage/campaigns/{}"):
        assert client.get(path.format(campaign)).status_code == 200, path
    for path, body in CHANGES:
        assert client.post(path.format(campaign), json=body).status_code == 403, path
    assert site.desk.campaigns.get(campaign).state == "running"
    assert "not-allowed" not in [c.name for c in site.desk.campaigns.all()]


def test_without_a_session_there_is_nothing(site: Site) -> None:
    campaign = site.campaign()
    stranger = browser(site.url)
    for path in VIEWS:
        assert stranger.get(path.format(campaign)).status_code == 401, path
    for path, body in CHANGES:
        assert stranger.post(path.format(campaign), json=body).status_code == 401, path
    assert stranger.get(f"/manage/campaigns/{campaign}").headers["location"].startswith("/login")


@pytest.mark.parametrize("token", [None, "", "guessed"])
def test_changes_need_the_token_of_the_session(site: Site, token: str | None) -> None:
    campaign = site.campaign()
    boss = site.account()
    del boss.headers["X-CSRF-Token"]
    headers = {} if token is None else {"X-CSRF-Token": token}
    for path, body in CHANGES:
        assert boss.post(path.format(campaign), json=body, headers=headers).status_code == 403, path
    assert site.desk.campaigns.get(campaign).state == "running"


def test_the_token_of_another_session_does_not_do(site: Site) -> None:
    campaign = site.campaign()
    other = site.account().headers["X-CSRF-Token"]
    response = site.account().post(
        f"/api/manage/campaigns/{campaign}/state", json={"state": "paused"}, headers={"X-CSRF-Token": other}
    )
    assert response.status_code == 403


# -- plan, watch, decide -------------------------------------------------------------------------------------


def test_a_plan_is_shown_before_it_starts(site: Site) -> None:
    boss = site.account()
    body = {"kind": "judge", "name": "planned", "topics": ["museum-theft"], "settings": {"workers": 3, "pay": 0.5}}
    shown = boss.post("/api/manage/plan", json=body).json()
    assert (shown["tasks"], shown["assignments"], shown["started"]) == (12, 36, False)
    assert "$" in shown["cost"]
    assert "planned" not in [c.name for c in site.desk.campaigns.all()]
    assert boss.post("/api/manage/plan", json={**body, "start": True}).json()["started"] is True
    found = site.desk.campaigns.get("planned")
    assert (found.kind, found.settings.workers, found.settings.pay) == ("judge", 3, 0.5)
    again = boss.post("/api/manage/plan", json={**body, "start": True})
    assert again.status_code == 409
    assert "already exists" in again.json()["error"]


UNSOUND: list[dict[str, Any]] = [
    {"colour": "red"},
    {"workers": 0},
    {"workers": -1},
    {"workers": 2.5},
    {"workers": "many"},
    {"workers": True},
    {"workers": 10**30},
    {"units_per_task": 0},
    {"units_per_topic": -5},
    {"statements": 0},
    {"pay": -1},
    {"pay": "a lot"},
    {"pay": 1e308},
    {"fee": -0.5},
    {"lease_minutes": 0},
    {"lease_minutes": "long"},
    {"gold_rate": 2},
    {"gold_rate": 1e308},
    {"min_agreement": "high"},
    {"check": "maybe"},
    {"check": 3},
    {"seed": -1},
    {"seed": 1.5},
    {"most_per_worker": -1},
    {"currency": 5},
    {"platform": "mturk"},
    {"completion_url": "javascript:alert(1)"},
    {"platform": "prolific", "platform_study": "not / an id"},
]


@pytest.mark.parametrize("settings", UNSOUND, ids=json.dumps)
def test_unsound_settings_are_refused_before_anything_starts(site: Site, settings: dict[str, Any]) -> None:
    body = {"kind": "judge", "name": "unsound", "settings": settings, "start": True}
    response = site.account().post("/api/manage/plan", json=body)
    assert response.status_code in {409, 422}, response.text
    assert set(response.json()) == {"error", "problems"}
    assert "unsound" not in [c.name for c in site.desk.campaigns.all()]


@pytest.mark.parametrize(
    "raw", ['{"pay": NaN}', '{"gold_rate": Infinity}', '{"\\ud800": 1}', '{"currency": "\\u0000"}']
)
def test_settings_that_are_not_json_are_refused(site: Site, raw: str) -> None:
    body = f'{{"kind": "judge", "name": "unsound", "settings": {raw}}}'
    response = site.account().post("/api/manage/plan", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in {409, 422}, response.text


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "<script>", "x" * 61, "é", "a\n"])
def test_campaign_names_fit_into_a_link(site: Site, name: str) -> None:
    assert site.account().post("/api/manage/plan", json={"kind": "rate", "name": name}).status_code == 422


def test_plans_name_what_does_not_exist(site: Site) -> None:
    boss = site.account()
    for more in ({"topics": ["nowhere"]}, {"systems": ["nobody"]}, {"pyramid": "none"}):
        response = boss.post("/api/manage/plan", json={"kind": "judge", "name": "x", **more})
        assert response.status_code == (409 if "pyramid" in more else 404)
        assert "museum-theft" in response.text or "lead" in response.text or "crowd" in response.text


def test_a_plan_that_a_model_guides_needs_its_judgments(site: Site) -> None:
    guided = {"model": "lexical", "question": "these"}
    body = {"kind": "judge", "name": "guided", "settings": guided}
    response = site.account().post("/api/manage/plan", json=body)
    assert response.status_code == 409
    assert "campaign plan STUDY judge --with-model" in response.json()["error"]


def test_the_overview_of_a_study(site: Site) -> None:
    campaign = site.campaign()
    found = site.account("vera").get("/api/manage").json()
    assert len(found["topics"]) == 4
    assert "lead" in found["systems"]
    [mine] = [c for c in found["campaigns"] if c["name"] == campaign]
    assert (mine["kind"], mine["state"], mine["progress"]["wanted"]) == ("judge", "running", 20)
    assert found["methods"] == plugins.names("methods")
    assert {"auto", "lite"} <= {*found["methods"]}
    offers = site.account().get("/api/manage/form").json()
    assert [setting["name"] for setting in offers["settings"] if not setting["group"]][:2] == ["workers", "statements"]
    assert {setting["name"] for setting in offers["settings"]} == {part.name for part in fields(Settings)}


def test_watching_a_campaign(site: Site) -> None:
    campaign = site.campaign()
    for value in (1, 1, 0):
        done_task(site, campaign, value)
    found = site.account("vera").get(f"/api/manage/campaigns/{campaign}").json()
    assert found["progress"]["submitted"] == 3
    assert found["by_topic"] == {"museum-theft": {"wanted": 20, "submitted": 3}}
    assert sum(system["submitted"] for system in found["by_system"].values()) == 3
    assert len(found["workers"]) == len(found["seconds"]) == 3
    reasons = {flag["reason"] for worker in found["workers"] for flag in worker["flags"]}
    assert len(reasons) >= 2, "too fast, and all answers the same"
    assert found["chain"] == {"can_make_units": False, "can_score": True}


def test_states_of_a_campaign(site: Site) -> None:
    campaign = site.campaign()
    boss = site.account()
    path = f"/api/manage/campaigns/{campaign}/state"
    for state in ("paused", "running", "closed"):
        assert boss.post(path, json={"state": state}).json() == {"state": state}
    assert boss.post(path, json={"state": "running"}).status_code == 409, "closed is for good"
    assert boss.post(path, json={"state": "open"}).status_code == 422
    assert boss.post("/api/manage/campaigns/nowhere/state", json={"state": "paused"}).status_code == 404


def test_decisions_about_a_worker(site: Site) -> None:
    campaign = site.campaign()
    ann = done_task(site, campaign)
    boss = site.account()
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    path = f"/api/manage/workers/{answer['worker']}/review"

    def decide(action: str, **more: Any) -> int:
        return boss.post(path, json={"action": action, "reason": "why <b>not</b>", **more}).status_code

    def seen() -> dict[str, Any]:
        [worker] = boss.get(f"/api/manage/campaigns/{campaign}").json()["workers"]
        return dict(worker)

    assert decide("exclude") == 200
    assert seen()["excluded"] == "why <b>not</b>"
    assert decide("include") == 200
    assert seen()["excluded"] is None
    assert decide("block") == 200
    assert seen()["blocked"] == "why <b>not</b>"
    assert ann.work() == {"state": "blocked"}
    assert decide("unblock") == 200
    assert decide("approve") == 422, "where?"
    assert decide("approve", campaign=campaign) == 200
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    assert answer["decision"] == "approve"
    assert (decide("bonus", campaign=campaign), decide("bonus", amount=-1), decide("bonus", amount=0.5)) == (422,) * 3
    assert decide("bonus", amount=0.5, campaign=campaign) == 200
    assert (decide("promote"), decide("exclude", reason="")) == (422, 422)
    log = boss.get(f"/api/manage/campaigns/{campaign}").json()["reviews"]
    assert {entry["actor"] for entry in log} == {"boss"}
    assert [entry["amount"] for entry in log if entry["action"] == "bonus"] == [0.5]
    body = {"action": "block", "reason": "r"}
    assert boss.post("/api/manage/workers/nobody/review", json=body).status_code == 404


def test_a_reopened_task_goes_to_somebody_else(site: Site) -> None:
    campaign = site.campaign("compare", workers=1)
    ann = done_task(site, campaign)
    boss, bob = site.account(), site.person(campaign)
    bob.join()
    assert bob.work()["state"] == "done"
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    path = f"/api/manage/assignments/{answer['id']}/review"
    assert boss.post(path, json={"action": "reopen", "reason": "doubtful"}).status_code == 200
    assert ann.work()["state"] == "done", "not for the one who did it"
    task = bob.work()
    assert task["page"]["task"] == answer["task"]
    assert bob.submit(task["assignment"], answer_to(task["page"])).json()["counted"] is True
    answers = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    assert [a["counted"] for a in answers] == [False, True], "the first answer is kept"
    mine = boss.get(f"/api/manage/campaigns/{campaign}/answers", params={"worker": answer["worker"]}).json()
    assert [a["id"] for a in mine["answers"]] == [answer["id"]]


def test_decisions_about_an_assignment(site: Site) -> None:
    campaign = site.campaign()
    done_task(site, campaign)
    boss = site.account()
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    path = f"/api/manage/assignments/{answer['id']}/review"
    assert boss.post(path, json={"action": "reject", "reason": "empty"}).status_code == 200
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    assert answer["decision"] == "reject"
    for action in ("approve", "reopen"):
        response = boss.post(f"/api/manage/assignments/{2**53}/review", json={"action": action, "reason": "r"})
        assert response.status_code == 404


def test_a_rejected_answer_leaves_the_scores_and_its_task_goes_to_somebody_else(site: Site) -> None:
    campaign, other = site.campaign("compare", workers=1), site.campaign("compare", workers=1)
    ann = done_task(site, campaign)
    done_task(site, other)
    boss, bob = site.account(), site.person(campaign)
    bob.join()
    [answer] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    path = f"/api/manage/assignments/{answer['id']}/review"
    done = boss.post(path, json={"action": "reject", "reason": "empty"}).json()
    assert (done["removed"], done["answers"][0]["answer"]) == (1, answer["id"])
    [rejected] = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    assert (rejected["counted"], rejected["removed"], rejected["decision"]) == (False, "rejected", "reject")
    assert len(boss.get(f"/manage/campaigns/{campaign}/export.csv").text.splitlines()) == 1, "only the head"
    exported = boss.get(f"/manage/campaigns/{campaign}/export.jsonl").text.splitlines()
    assert not [line for line in exported if f'"{answer["worker"]}"' in line]
    [kept] = boss.get(f"/api/manage/campaigns/{other}/answers").json()["answers"]
    assert kept["counted"] is True
    watched = boss.get(f"/api/manage/campaigns/{campaign}").json()
    assert (watched["progress"]["submitted"], watched["progress"]["open"], watched["pending"]) == (0, 1, [])
    assert ann.work()["state"] == "done", "not for the one who did it"
    task = bob.work()
    assert task["page"]["task"] == answer["task"]
    assert bob.submit(task["assignment"], answer_to(task["page"])).json()["counted"] is True
    late = boss.post(path, json={"action": "restore", "reason": "was right"}).json()
    assert (late["counted_again"], "surplus" in late["notes"][0]["what"]) == (0, True)


def test_a_block_removes_answers_of_one_campaign_only_where_it_says_so(site: Site) -> None:
    here, there = site.campaign("rate"), site.campaign("rate")
    worker = ""
    for campaign in (here, there):
        ann = site.person(campaign, "ann the careless")
        task = ann.first_task()
        ann.submit(task["assignment"], answer_to(task["page"]))
        [answer] = site.account().get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
        worker = answer["worker"]
    boss = site.account()
    path = f"/api/manage/workers/{worker}/review"
    block = {"action": "block", "reason": "all tens"}
    assert boss.post(path, json={**block, "remove_answers": True}).status_code == 422
    assert boss.post(path, json={**block, "action": "exclude", "remove_answers": True}).status_code == 422
    assert boss.post(path, json=block).json() == {}

    def counting() -> list[bool]:
        found = [boss.get(f"/api/manage/campaigns/{name}/answers").json()["answers"] for name in (here, there)]
        return [answer["counted"] for [answer] in found]

    assert counting() == [True, True], "a block alone keeps answers"
    assert boss.post(path, json={**block, "remove_answers": True, "campaign": here}).json()["removed"] == 1
    assert counting() == [False, True]
    log = boss.get(f"/api/manage/campaigns/{there}").json()["reviews"]
    assert [entry["action"] for entry in log] == ["block", "block"], "what was decided elsewhere is not shown here"


def test_invitations_are_personal(site: Site) -> None:
    campaign = site.campaign("compare", workers=3)
    boss = site.account()
    links = boss.post("/api/manage/invitations", json={"campaign": campaign, "count": 3}).json()["links"]
    assert len(set(links)) == 3
    assert all(link.startswith(f"{site.url}/join/") for link in links)
    for link in links:
        client = browser(site.url)
        assert client.get(link).status_code == 303
        assert client.get(f"/api/work/{campaign}").json()["state"] == "task"
    for body in (
        {"campaign": campaign},
        {"campaign": campaign, "count": 0},
        {"campaign": campaign, "count": 1001},
        {"campaign": campaign, "people": [" "]},
        {"campaign": campaign, "people": ["Ann"], "count": 1},
        {"campaign": campaign, "people": ["x" * 201]},
        {"count": 1},
    ):
        assert boss.post("/api/manage/invitations", json=body).status_code == 422
    assert boss.post("/api/manage/invitations", json={"campaign": "nowhere", "count": 1}).status_code == 404


def test_people_invited_by_name_are_themselves_whenever_they_are_invited(site: Site) -> None:
    campaign = site.campaign("compare", workers=3)
    boss = site.account()

    def invite(*people: str) -> list[dict[str, str]]:
        response = boss.post("/api/manage/invitations", json={"campaign": campaign, "people": people})
        assert response.status_code == 200, response.text
        assert response.json()["links"] == [one["link"] for one in response.json()["people"]]
        return list(response.json()["people"])

    ann, ben = invite(" Ann ", "Ben", "", "Ann")
    assert (ann["name"], ben["name"]) == ("Ann", "Ben")
    assert invite("Ben") == [ben]
    assert browser(site.url).get(ann["link"]).status_code == 303
    assert site.desk.workers.get(ann["worker"]) is not None
    assert site.desk.workers.get(ben["worker"]) is None


def test_everybody_without_a_flag_is_approved_at_once(site: Site) -> None:
    campaign = site.campaign(min_seconds=0.0)
    for value in (1, 1, 0):  # the third agrees with nobody
        done_task(site, campaign, value)
    boss = site.account()
    found = boss.get(f"/api/manage/campaigns/{campaign}").json()["workers"]
    flagged = [worker["worker"] for worker in found if worker["flags"]]
    assert 0 < len(flagged) < len(found)
    response = boss.post(f"/api/manage/campaigns/{campaign}/approval", json={"reason": "good work"})
    assert response.json()["left"] == flagged
    assert response.json()["submissions"] == len(response.json()["workers"]) == len(found) - len(flagged)
    answers = boss.get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]
    assert {a["worker"] for a in answers if a["decision"] == "approve"} == set(response.json()["workers"])
    assert boss.post("/api/manage/campaigns/nowhere/approval", json={"reason": "r"}).status_code == 404


# -- from writing to scores ----------------------------------------------------------------------------------


def test_write_then_units_then_judge_then_scores(tmp_path: Path, example: pyr.Study) -> None:
    """The whole chain through the interface alone; nothing is judged or written beforehand."""
    desk = make_study(tmp_path / "study.db", only_texts(example))
    with served_here(tmp_path / "study.db") as server:
        boss = logged_in(desk, server.url)

        def plan(kind: str, **settings: Any) -> dict[str, Any]:
            body = {"kind": kind, "name": kind, "topics": ["museum-theft"], "settings": {"check": False, **settings}}
            response = boss.post("/api/manage/plan", json={**body, "start": True})
            assert response.status_code == 200, response.text
            return dict(response.json())

        def work_through(campaign: str, people: int) -> None:
            for number in range(people):
                person = Person(desk, server.url, campaign, f"{campaign} {number}")
                person.join()
                while (found := person.work())["state"] == "task":
                    assert person.submit(found["assignment"], answer_to(found["page"])).status_code == 200

        assert boss.post("/api/manage/campaigns/nowhere/units", json={}).status_code == 404
        plan("write", workers=1)
        work_through("write", 1)
        shown = boss.post("/api/manage/campaigns/write/units", json={"seed": 1}).json()
        assert shown["kept"] > 0
        assert [p["topic"] for p in shown["pyramids"]] == ["museum-theft"]
        assert boss.get("/api/manage/scores").status_code in {409, 422}, "shown, not stored"
        assert boss.get("/api/manage/campaigns/write").json()["chain"]["can_make_units"] is True
        stored = boss.post("/api/manage/campaigns/write/units", json={"seed": 1, "store": True})
        assert stored.json() == shown
        again = boss.post("/api/manage/campaigns/write/units", json={"store": True})
        assert again.status_code == 409
        assert boss.get("/api/manage/campaigns/write").json()["chain"]["can_make_units"] is False

        planned = plan("judge", workers=2)
        work_through("judge", 2)
        found = boss.get("/api/manage/campaigns/judge").json()
        assert found["progress"]["submitted"] == planned["assignments"]
        assert boss.post("/api/manage/campaigns/judge/units", json={}).status_code == 409
        scores = boss.get("/api/manage/scores", params={"method": "lite"}).json()
        assert len(scores["systems"]) == 6
        assert "lite" in scores["signature"]
        assert boss.get("/api/manage/scores", params={"method": "guess"}).status_code in {404, 409}
    desk.database.close()


@pytest.mark.parametrize("seed", [-1, 2**70, 1.5, "x"])
def test_unsound_seeds_are_refused(site: Site, seed: Any) -> None:
    campaign = site.campaign("write")
    done_task(site, campaign)
    response = site.account().post(f"/api/manage/campaigns/{campaign}/units", json={"seed": seed})
    assert response.status_code in {200, 422} if seed == 2**70 else response.status_code == 422


@pytest.mark.parametrize("method", ["lite", "pyramid", "responsiveness", "rouge", "", "\x00", "../x"])
def test_scores_by_any_method_or_a_reason_why_not(site: Site, method: str) -> None:
    response = site.account("vera").get("/api/manage/scores", params={"method": method})
    assert response.status_code in {200, 404, 409, 422}
    assert (response.status_code == 200) == (method.isalpha())


# -- exports -------------------------------------------------------------------------------------------------


def test_csv_exports_run_no_formulas(tmp_path: Path) -> None:
    """Ids of a study come from outside, and a spreadsheet runs whatever begins like a formula."""
    evil = '=HYPERLINK("https://evil.example","x")'
    study = pyr.Study(
        topics=(pyr.Topic("+1"),),
        summaries=(
            pyr.Summary("+1", evil, "A text."),
            pyr.Summary("+1", "@b", "Another text."),
            pyr.Summary("+1", "R", "A reference.", "reference"),
        ),
    )
    desk = make_study(tmp_path / "study.db", study)
    start_campaign(desk, study, "rate", "rate", check=False)
    with served_here(tmp_path / "study.db") as server:
        person = Person(desk, server.url, "rate")
        person.join()
        while (found := person.work())["state"] == "task":
            person.submit(found["assignment"], answer_to(found["page"]))
        response = logged_in(desk, server.url, "vera").get("/manage/campaigns/rate/export.csv")
    desk.database.close()
    assert response.headers["content-disposition"] == 'attachment; filename="rate.csv"'
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert len(rows) == 6
    assert {row["system"] for row in rows} == {"'" + evil, "'@b"}
    assert {row["topic"] for row in rows} == {"'+1"}
    assert all(row["worker"].startswith("w") and row["start"] and row["submit"] and row["seconds"] for row in rows)
    assert {float(row["value"]) for row in rows} == {7.0}


def test_the_exported_study_loads_and_scores(site: Site, tmp_path: Path) -> None:
    campaign = site.campaign()
    for value in (1, 1, 0, 1, 1):
        done_task(site, campaign, value)
    response = site.account("vera").get(f"/manage/campaigns/{campaign}/export.jsonl")
    assert response.headers["content-disposition"] == f'attachment; filename="{campaign}.jsonl"'
    (tmp_path / "study.jsonl").write_text(response.text, encoding="utf-8")
    study = pyr.load(tmp_path / "study.jsonl")
    mine = [j for j in study.judgments if j.task.startswith(campaign)]
    assert len(mine) == 5 * 16
    assert len({j.judge for j in mine}) == 5
    assert pyr.score(study, "lite").scores
    secrets = [site.desk.database.secret.hex(), "local", "password"]
    assert not any(secret in response.text for secret in secrets if secret != "local")


def test_exports_of_unknown_campaigns(site: Site) -> None:
    vera = site.account("vera")
    for path in ("export.csv", "export.jsonl"):
        assert vera.get(f"/manage/campaigns/nowhere/{path}").status_code == 404


# -- bodies and headers --------------------------------------------------------------------------------------


def test_bodies_have_a_limit_however_they_are_sent(site: Site) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    path = f"/api/work/{ann.campaign}/{task['assignment']}/draft"
    headers = {"Content-Type": "application/json"}
    just = b'{"draft": {"a": "' + b"x" * (MAX_BODY - 20) + b'"}}'
    assert len(just) <= MAX_BODY
    assert ann.client.put(path, content=just, headers=headers).status_code == 200
    over = b'{"draft": {"a": "' + b"x" * MAX_BODY + b'"}}'

    def chunked(body: bytes) -> Iterator[bytes]:
        for start in range(0, len(body), 10_000):
            yield body[start : start + 10_000]

    assert ann.client.put(path, content=over, headers=headers).status_code == 413
    assert ann.client.put(path, content=chunked(just), headers=headers).status_code == 200
    assert ann.client.put(path, content=chunked(over), headers=headers).status_code == 413
    assert ann.client.post("/login", content=chunked(over)).status_code == 413
    assert ann.client.post("/webhooks/prolific", content=chunked(over)).status_code == 413


@pytest.mark.parametrize("length", ["-1", "x", "1e9", str(MAX_BODY + 1), "9" * 30])
def test_unsound_lengths_are_refused(site: Site, length: str) -> None:
    """httpx would not send these."""
    place = urlsplit(site.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        request = f"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        status = connection.recv(100).split()[1]
    assert status in {b"400", b"413"}


ANYTHING = [
    ("GET", "/"),
    ("GET", "/login"),
    ("GET", "/manage"),
    ("GET", "/static/shared/base.css"),
    ("GET", "/static/missing.css"),
    ("GET", "/static/../app.py"),
    ("GET", "/static/%2e%2e/app.py"),
    ("GET", "/nowhere"),
    ("GET", "/api/manage"),
    ("GET", "/api/openapi.json"),
    ("GET", "/join/x"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("DELETE", "/login"),
    ("OPTIONS", "/api/manage"),
    ("POST", "/webhooks/prolific"),
]


@pytest.mark.parametrize(("method", "path"), ANYTHING)
def test_every_response_carries_the_headers(site: Site, method: str, path: str) -> None:
    response = browser(site.url).request(method, path)
    assert response.status_code < 500
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    static = path.startswith("/static/") and ".." not in path
    assert response.headers["cache-control"] == ("no-cache" if static else "no-store")
    assert "access-control-allow-origin" not in response.headers


def test_too_large_and_not_allowed_carry_them_too(site: Site) -> None:
    client = browser(site.url)
    for response in (client.post("/login", content=b"x" * (MAX_BODY + 1)), client.put("/api/work/judge/1/draft")):
        assert response.status_code in {401, 403, 413}
        assert {name: response.headers.get(name) for name in HEADERS} == HEADERS


def test_the_policy_allows_no_inline_script(site: Site) -> None:
    assert "unsafe" not in CSP
    boss, campaign = site.account(), site.campaign()
    for path in ("/login", "/manage", f"/manage/campaigns/{campaign}", f"/work/{campaign}"):
        page = boss.get(path).text
        assert "<script>" not in page
        assert " onclick=" not in page
        assert "<style" not in page
        assert " style=" not in page


# -- Prolific ------------------------------------------------------------------------------------------------


def prolific_campaign(site: Site, study: str = "study1") -> str:
    return site.campaign("compare", platform="prolific", platform_study=study, completion_code="C0DE")


def arrive(site: Site, campaign: str, **ids: str) -> httpx.Response:
    return browser(site.url).get(f"/enter/{campaign}", params=ids)


def test_prolific_participants_come_in_and_go_back(site: Site) -> None:
    campaign = prolific_campaign(site)
    response = arrive(site, campaign, PROLIFIC_PID="p1", SESSION_ID="s1", STUDY_ID="study1")
    assert (response.status_code, response.headers["location"]) == (303, f"/work/{campaign}")
    cookie = response.cookies[WORKER_COOKIE]
    assert "p1" not in cookie
    ann = browser(site.url, cookies={WORKER_COOKIE: cookie}, headers={"X-Requested-With": "pyramidion"})
    task = ann.get(f"/api/work/{campaign}").json()
    body = {"key": "a key of mine", "answer": answer_to(task["page"])}
    ann.post(f"/api/work/{campaign}/{task['assignment']}/submit", json=body)
    done = ann.get(f"/api/work/{campaign}").json()
    assert done["completion_url"] == "https://app.prolific.com/submissions/complete?cc=C0DE"


@pytest.mark.parametrize(
    "ids",
    [
        {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "another"},
        {"PROLIFIC_PID": "p1", "SESSION_ID": "s1"},
        {"PROLIFIC_PID": "", "SESSION_ID": "s1", "STUDY_ID": "study1"},
        {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "SESSION_ID": "s1", "STUDY_ID": "study1"},
        {"PROLIFIC_PID": "<script>", "SESSION_ID": "s1", "STUDY_ID": "study1"},
        {"PROLIFIC_PID": "p" * 101, "SESSION_ID": "s1", "STUDY_ID": "study1"},
        {"PROLIFIC_PID": "p\x00", "SESSION_ID": "s1", "STUDY_ID": "study1"},
    ],
    ids=str,
)
def test_unsound_arrivals_are_refused(site: Site, ids: dict[str, str]) -> None:
    response = arrive(site, prolific_campaign(site), **ids)
    assert response.status_code == 400
    assert "set-cookie" not in response.headers
    assert "<script>" not in response.text


def test_nobody_enters_a_campaign_of_invited_people_without_invitation(site: Site) -> None:
    response = arrive(site, site.campaign(), PROLIFIC_PID="p1", SESSION_ID="s1", STUDY_ID="study1")
    assert response.status_code == 400
    assert arrive(site, "nowhere").status_code == 404


def message(session: str, status: str = "RETURNED") -> bytes:
    content = {"event_type": "submission.status.change", "resource_id": session, "status": status}
    return json.dumps(content).encode()


def send(site: Site, body: bytes, *, secret: str = WEBHOOK_SECRET, sent: float = 0.0, **headers: str) -> httpx.Response:
    stamp = str(int(sent or time.time()))
    signed = {TIMESTAMP_HEADER: stamp, SIGNATURE_HEADER: sign_webhook(secret, body, stamp), **headers}
    return browser(site.url).post("/webhooks/prolific", content=body, headers=signed)


def test_whoever_returned_on_prolific_gives_the_task_back(site: Site) -> None:
    campaign = prolific_campaign(site)
    ids = {"PROLIFIC_PID": "leaver", "SESSION_ID": "leaving1", "STUDY_ID": "study1"}
    leaver = browser(site.url)
    leaver.get(f"/enter/{campaign}", params=ids)
    assert leaver.get(f"/api/work/{campaign}").json()["state"] == "task"
    assert send(site, message("leaving1", "ACTIVE")).json() == {"freed": 0}
    assert send(site, message("unknown1")).json() == {"freed": 0}
    body, now = message("leaving1"), time.time()
    assert send(site, body, sent=now).json() == {"freed": 1}
    assert send(site, body, sent=now).json() == {"freed": 0}, "a replay does nothing"
    assert site.desk.campaigns.progress(campaign)["returned"] == 1


def test_what_is_returned_or_decided_on_prolific_is_so_here(site: Site) -> None:
    campaign = prolific_campaign(site, "study7")

    def does_a_task(name: str) -> int:
        client = browser(site.url, headers={"X-Requested-With": "pyramidion"})
        client.get(f"/enter/{campaign}", params={"PROLIFIC_PID": name, "SESSION_ID": f"s-{name}", "STUDY_ID": "study7"})
        task = client.get(f"/api/work/{campaign}").json()
        body = {"key": "a key of mine", "answer": answer_to(task["page"])}
        assert client.post(f"/api/work/{campaign}/{task['assignment']}/submit", json=body).json()["counted"] is True
        return int(task["assignment"])

    ids = {name: does_a_task(name) for name in ("ret", "rej", "app")}

    def tells(name: str, status: str) -> dict[str, int]:
        content = json.loads(message(f"s-{name}", status)) | {"participant_id": name, "study_id": "study7"}
        return dict(send(site, json.dumps(content).encode()).json())

    assert tells("ret", "RETURNED") == {"freed": 1}
    assert tells("rej", "REJECTED") == {"freed": 1}
    assert tells("app", "APPROVED") == {"freed": 0}
    found = {a["id"]: a for a in site.account().get(f"/api/manage/campaigns/{campaign}/answers").json()["answers"]}
    shown = {name: (found[id]["counted"], found[id]["removed"], found[id]["decision"]) for name, id in ids.items()}
    assert shown == {
        "ret": (False, "withdrawn", "withdraw"),
        "rej": (False, "rejected", "reject"),
        "app": (True, None, "approve"),
    }
    boss = site.account()
    assert boss.get(f"/api/manage/campaigns/{campaign}").json()["pending"] == []
    undo = boss.post(f"/api/manage/assignments/{ids['ret']}/review", json={"action": "restore", "reason": "r"})
    assert undo.status_code == 409
    assert "withdrawn by its worker" in undo.json()["error"]


def test_bad_messages_are_refused(site: Site) -> None:
    body = message("s1")
    assert send(site, body, secret="another secret").status_code == 401
    assert send(site, body, sent=time.time() - 2 * 86400).status_code == 401, "old"
    assert send(site, body, sent=time.time() + 400).status_code == 401, "from the future"
    assert send(site, body, **{SIGNATURE_HEADER: ""}).status_code == 401
    assert send(site, body, **{TIMESTAMP_HEADER: "yesterday"}).status_code == 401
    assert send(site, b"not JSON").status_code in {401, 422}
    stamp = str(int(time.time()))
    signature = sign_webhook(WEBHOOK_SECRET, body, stamp)
    changed = body.replace(b"s1", b"s2")
    headers = {TIMESTAMP_HEADER: stamp, SIGNATURE_HEADER: signature}
    assert browser(site.url).post("/webhooks/prolific", content=changed, headers=headers).status_code == 401


def test_without_a_secret_there_is_no_webhook(fresh: str) -> None:
    assert browser(fresh).post("/webhooks/prolific", content=b"{}").status_code == 404
