"""What a worker meets, from the invitation to the receipt; and what happens to those who try something else."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update
from tests.server.conftest import Site
from tests.server.servers import Person, answer_to, browser, make_study, served_here, start_campaign

from pyramidion.campaigns.checks import CONTENT, QUESTIONS_PER_TRY
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.management import decide_answers, decide_worker
from pyramidion.campaigns.platforms.local import Pass, invite, read_pass, sign_pass
from pyramidion.campaigns.tasks import ATTENTION, AttentionCheck, JudgeAnswer, to_object
from pyramidion.server.context import WORKER_COOKIE, WORKER_SECONDS
from pyramidion.store import schema
from pyramidion.study.tasks import KINDS, TaskKind

pytestmark = pytest.mark.server

# -- the way in ----------------------------------------------------------------------------------------------


def test_an_invitation_gives_a_cookie_that_scripts_cannot_read(site: Site) -> None:
    campaign = site.campaign()
    response = site.person(campaign).join()
    assert (response.status_code, response.headers["location"]) == (303, f"/work/{campaign}")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"{WORKER_COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_opening_the_invitation_again_is_the_same_person(site: Site) -> None:
    campaign = site.campaign()
    first = site.person(campaign, "who comes twice")
    task = first.first_task()
    second = site.person(campaign, "who comes twice")
    assert second.first_task()["assignment"] == task["assignment"]


@pytest.mark.parametrize("token", ["x", "1.e30.x", "%00", "a" * 3000])
def test_made_up_invitations_are_refused(site: Site, token: str) -> None:
    response = browser(site.url).get(f"/join/{token}")
    assert response.status_code == 404
    assert "set-cookie" not in response.headers


def test_an_invitation_of_another_study_is_refused(site: Site) -> None:
    token = invite(b"the secret of another study", site.campaign())
    assert browser(site.url).get(f"/join/{token}").status_code == 404


def test_an_invitation_to_a_campaign_that_is_not_there_is_refused(site: Site) -> None:
    token = invite(site.desk.database.secret, "nowhere")
    assert browser(site.url).get(f"/join/{token}").status_code == 404


def test_the_work_page_names_its_campaign(site: Site) -> None:
    campaign = site.campaign()
    response = browser(site.url).get(f"/work/{campaign}")
    assert response.status_code == 200
    assert campaign in response.text
    assert browser(site.url).get("/work/nowhere").status_code == 404


# -- the comprehension check ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_check_comes_first_and_keeps_its_answers(site: Site, kind: TaskKind) -> None:
    ann = site.person(site.campaign(kind, check=True))
    ann.join()
    shown = ann.work()
    assert shown["state"] == "instructions-and-check"
    assert (shown["tries_left"], shown["again"]) == (2, False)
    questions = shown["content"]["questions"]
    assert len(questions) == QUESTIONS_PER_TRY
    assert all(set(question) == {"id", "text", "options"} for question in questions)
    assert all([o["value"] for o in question["options"]] == ["1", "2", "3", "4"] for question in questions)
    pool = {question["id"]: question for question in CONTENT[kind]["questions"]}
    for question in questions:
        known = pool[question["id"]]
        assert {option["label"] for option in question["options"]} == {known["right"], *known["wrong"]}


def test_the_second_try_can_be_right_and_has_other_questions(site: Site) -> None:
    ann = site.person(site.campaign(check=True))
    ann.join()
    first = {question["id"] for question in ann.work()["content"]["questions"]}
    right = ann.right_answers()
    one = next(iter(right))
    wrong = {**right, one: "1" if right[one] != "1" else "2"}
    assert ann.check(wrong) == {"passed": False, "tries_left": 1}, "nothing says which answer was wrong"
    shown = ann.work()
    assert (shown["tries_left"], shown["again"]) == (1, True)
    assert not first & {question["id"] for question in shown["content"]["questions"]}
    assert ann.check(ann.right_answers()) == {"passed": True, "tries_left": 0}
    assert ann.work()["state"] == "task"


def test_nobody_gets_a_third_try(site: Site) -> None:
    ann = site.person(site.campaign(check=True))
    ann.join()
    assert ann.check({}) == {"passed": False, "tries_left": 1}
    right = ann.right_answers()
    assert ann.check({"nobody asked": "1"}) == {"passed": False, "tries_left": 0}
    assert ann.check(right)["passed"] is False
    assert ann.work() == {"state": "failed-check"}


def test_other_tabs_and_sessions_show_the_same_questions(site: Site) -> None:
    campaign = site.campaign(check=True, platform="prolific", platform_study="study1", completion_code="DONE")
    shown = []
    for session in ("tab1", "tab1", "tab2"):
        tab = browser(site.url)
        tab.get(f"/enter/{campaign}", params={"PROLIFIC_PID": "ann", "STUDY_ID": "study1", "SESSION_ID": session})
        shown.append(tab.get(f"/api/work/{campaign}").json()["content"]["questions"])
    assert shown[0] == shown[1] == shown[2]
    others = []
    for person in ("bob", "cleo", "dora"):
        tab = browser(site.url)
        tab.get(f"/enter/{campaign}", params={"PROLIFIC_PID": person, "STUDY_ID": "study1", "SESSION_ID": person})
        others.append(tab.get(f"/api/work/{campaign}").json()["content"]["questions"])
    assert any(questions != shown[0] for questions in others)


def test_answers_sent_again_use_no_try(site: Site) -> None:
    """A reply that was lost on its way, and a tab that was left open with the first questions."""
    ann = site.person(site.campaign(check=True))
    ann.join()
    first = ann.right_answers()
    wrong = dict.fromkeys(first, "none of these")
    for _ in range(3):
        assert ann.check(wrong) == {"passed": False, "tries_left": 1}
    assert ann.check(first) == {"passed": False, "tries_left": 1}, "the first try is over"
    assert ann.check({**first, **ann.right_answers()}) == {"passed": False, "tries_left": 0}, "answers nobody asked for"


def test_once_passed_the_check_stays_passed(site: Site) -> None:
    ann = site.person(site.campaign(check=True))
    task = ann.first_task()
    assert ann.check({"q1": "wrong"})["passed"] is True
    assert ann.work()["assignment"] == task["assignment"]


def test_of_100_bots_hardly_one_passes_the_check(tmp_path: Path) -> None:
    """They guess in both tries, with a chance of 0.8% each. The study's secret is fixed, so that no run differs."""
    place = tmp_path / "study.db"
    desk = make_study(place)
    with desk.database.write() as connection:
        connection.execute(update(schema.meta).filter_by(key="secret").values(value="16" * 32))
    desk.database.close()
    desk = CampaignDesk.open(place)
    start_campaign(desk, desk.studies.load(), "judge", "judge", topics=("museum-theft",))
    rng = random.Random(5)
    ends: Counter[str] = Counter()
    with served_here(place) as server:
        for number in range(100):
            bot = Person(desk, server.url, "judge", f"bot {number}")
            bot.join()
            while (shown := bot.work())["state"] == "instructions-and-check":
                questions = shown["content"]["questions"]
                bot.check({question["id"]: rng.choice(question["options"])["value"] for question in questions})
            ends[shown["state"]] += 1
        reader = Person(desk, server.url, "judge", "reader")
        assert reader.first_task()["state"] == "task"
    desk.database.close()
    assert ends.total() == 100
    assert ends["failed-check"] > 95


# -- the completion code -------------------------------------------------------------------------------------


def enter(site: Site, campaign: str, person: str, session: str = "s1") -> httpx.Client:
    tab = browser(site.url, headers={"X-Requested-With": "pyramidion"})
    came = {"PROLIFIC_PID": person, "STUDY_ID": "study1", "SESSION_ID": f"{person}-{session}"}
    assert tab.get(f"/enter/{campaign}", params=came).status_code == 303
    return tab


def give_everything_back(tab: httpx.Client, campaign: str) -> dict[str, Any]:
    """What somebody sees who has returned every task."""
    while (shown := tab.get(f"/api/work/{campaign}").json())["state"] == "task":
        assert tab.post(f"/api/work/{campaign}/{shown['assignment']}/return", json={}).status_code == 200
    return shown  # type: ignore[no-any-return]


ON_PROLIFIC = {"platform": "prolific", "platform_study": "study1", "completion_code": "DONE", "systems": ("lead",)}


def test_giving_every_task_back_gives_no_code(site: Site) -> None:
    campaign = site.campaign(**ON_PROLIFIC)
    tab = enter(site, campaign, "ann")
    shown = give_everything_back(tab, campaign)
    assert shown == {"state": "too-few-answers", "done": 0, "needed": 1, "completion_url": "", "code": ""}
    early = site.campaign(**ON_PROLIFIC, early_code="STOP")
    shown = give_everything_back(enter(site, early, "ann"), early)
    assert (shown["state"], shown["code"]) == ("too-few-answers", "STOP")
    assert "STOP" in shown["completion_url"]
    assert "DONE" not in json.dumps(shown)
    free = site.campaign(**ON_PROLIFIC, code_after=0)
    assert give_everything_back(enter(site, free, "ann"), free)["code"] == "DONE"


def test_the_code_comes_with_the_answers_it_takes_in_the_session_they_were_given_in(site: Site) -> None:
    campaign = site.campaign(**ON_PROLIFIC, code_after=2)
    tab = enter(site, campaign, "ann")
    for done in range(2):
        shown = tab.get(f"/api/work/{campaign}").json()
        if done == 1:
            second = enter(site, campaign, "bob")
            assert give_everything_back(second, campaign)["state"] == "too-few-answers"
        body = {"key": f"a key of mine {done}", "answer": answer_to(shown["page"])}
        assert tab.post(f"/api/work/{campaign}/{shown['assignment']}/submit", json=body).json()["counted"]
    end = give_everything_back(tab, campaign)
    assert (end["state"], end["code"]) == ("done", "DONE")
    assert "DONE" in end["completion_url"]
    again = give_everything_back(enter(site, campaign, "ann", "s2"), campaign)
    assert (again["state"], again["done"]) == ("too-few-answers", 0), "another session is another payment"
    site.desk.campaigns.set_state(campaign, "closed")
    assert give_everything_back(tab, campaign)["code"] == "DONE", "those who have worked are let out by the front door"


def test_rejected_answers_earn_no_code(site: Site) -> None:
    campaign = site.campaign(**ON_PROLIFIC)
    tab = enter(site, campaign, "ann")
    shown = tab.get(f"/api/work/{campaign}").json()
    body = {"key": "a key of mine", "answer": answer_to(shown["page"])}
    tab.post(f"/api/work/{campaign}/{shown['assignment']}/submit", json=body)
    assert give_everything_back(tab, campaign)["code"] == "DONE"
    decide_answers(site.desk, "reject", campaign, [shown["assignment"]], actor="boss", reason="all the same")
    assert give_everything_back(tab, campaign)["state"] == "too-few-answers"


# -- a task --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_from_task_to_receipt(site: Site, kind: TaskKind) -> None:
    campaign = site.campaign(kind)
    ann = site.person(campaign)
    task = ann.first_task()
    answer = answer_to(task["page"])
    response = ann.submit(task["assignment"], answer)
    assert (response.status_code, response.json()) == (200, {"counted": True, "replayed": False})
    [stored] = site.desk.campaigns.answers(campaign)
    assert stored.counted
    assert stored.answer is not None
    kept = to_object(stored.answer)
    if kind == "judge":  # the page names units by their place
        assert list(kept["units"]) == list(stored.task.units)
        assert list(kept["units"].values()) == list(answer["units"].values())
    else:
        assert {key: kept[key] for key in answer} == answer
    assert ann.work().get("assignment") != task["assignment"]


def test_what_each_kind_shows(site: Site) -> None:
    pages = {kind: site.person(site.campaign(kind)).first_task()["page"] for kind in KINDS}
    assert [len(pages[kind]["references"]) for kind in KINDS] == [1, 0, 2, 2]
    assert pages["write"]["statements"] == 8
    assert len(pages["judge"]["units"]) == 16
    assert all(unit["label"] for unit in pages["judge"]["units"])
    assert [aspect["high"] for aspect in pages["rate"]["aspects"]] == [10, 10, 10]
    assert len(pages["compare"]["candidates"]) == 2
    assert all(pages[kind]["summary"] for kind in ("judge", "rate"))


def test_a_reload_gives_the_same_task_with_its_draft(site: Site) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    assert task["draft"] is None
    draft = {"units": {task["page"]["units"][0]["id"]: 1}, "comment": "ünfinished </script>"}
    assert ann.draft(task["assignment"], draft).json()["expires"] >= task["expires"]
    again = ann.work()
    assert again["assignment"] == task["assignment"]
    assert again["draft"] == draft
    assert again["page"] == task["page"]


def test_a_task_given_back_goes_to_somebody_else_and_never_returns(site: Site) -> None:
    campaign = site.campaign(workers=1, systems=("lead",), units_per_task=32)
    ann, bob = site.person(campaign), site.person(campaign)
    first = ann.first_task()
    others = {first["page"]["task"]}
    assert ann.give_back(first["assignment"]).status_code == 200
    assert bob.first_task()["page"]["task"] == first["page"]["task"]
    assert ann.work().get("page", {}).get("task") not in others


def test_progress_counts_and_can_be_hidden(site: Site) -> None:
    shown, hidden = site.person(site.campaign()), site.person(site.campaign(show_progress=False))
    task = shown.first_task()
    assert task["progress"] == {"done": 0, "left": 3, "many": False, "seconds": 0}
    shown.submit(task["assignment"], answer_to(task["page"]))
    assert {"done": 1, "left": 2, "many": False}.items() <= shown.work()["progress"].items()
    assert hidden.first_task()["progress"] is None


def test_attention_checks_look_like_any_statement(site: Site) -> None:
    campaign = site.campaign(gold_rate=0.2)
    ann = site.person(campaign)
    task = ann.first_task()
    units = task["page"]["units"]
    assert [unit["id"] for unit in units] == [f"statement-{number}" for number in range(1, 18)]
    assert all(set(unit) == {"id", "label"} for unit in units)
    assert ATTENTION not in json.dumps(task)
    assert "gold" not in json.dumps(task)
    answer = {"units": {unit["id"]: number % 2 for number, unit in enumerate(units)}}
    for unit in units:
        incomplete = {id: value for id, value in answer["units"].items() if id != unit["id"]}
        assert ann.submit(task["assignment"], {"units": incomplete}).status_code == 422
    guessed = ann.submit(task["assignment"], {"units": {**answer["units"], ATTENTION: 1}})
    made_up = ann.submit(task["assignment"], {"units": {**answer["units"], "made-up": 1}})
    assert guessed.status_code == made_up.status_code == 422
    assert guessed.text.replace(ATTENTION, "made-up") == made_up.text, "nobody can ask where it is"
    assert ann.submit(task["assignment"], answer).status_code == 200
    [stored] = site.desk.campaigns.answers(campaign)
    assert isinstance(stored.answer, JudgeAnswer)
    assert isinstance(stored.gold, AttentionCheck)
    assert stored.answer.units[ATTENTION] == stored.gold.position % 2
    assert set(stored.answer.units) == {*stored.task.units, ATTENTION}


def test_nobody_judges_a_topic_they_wrote_for(site: Site) -> None:
    writing, judging = site.campaign("write"), site.campaign("judge")
    site.person(writing, "both").first_task()
    ann = site.person(judging, "both")
    ann.join()
    assert ann.work()["state"] == "done"
    site.person(site.campaign("judge", separate_writers=False), "both").first_task()


# -- incomplete and wrong answers ----------------------------------------------------------------------------


def test_every_missing_statement_is_named(site: Site) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    units = answer_to(task["page"])["units"]
    names = list(units)
    for unit in (names[2], names[9]):
        del units[unit]
    units[names[15]] = None
    response = ann.submit(task["assignment"], {"units": units})
    assert response.status_code == 422
    assert response.json()["problems"] == [
        {"severity": "error", "where": f"statement {number}", "what": "is not answered"} for number in (3, 10, 16)
    ]
    assert ann.work()["assignment"] == task["assignment"], "the task stays theirs"


WRONG: list[tuple[TaskKind, dict[str, Any], str]] = [
    ("judge", {}, "units"),
    ("judge", {"units": []}, "units"),
    ("judge", {"units": {"nobody asked": 1}}, "units"),
    ("write", {"statements": ["only one"]}, "statements"),
    ("write", {"statements": ["a fact"] * 7 + [" "]}, "statement 8"),
    ("write", {"statements": ["a fact"] * 7 + ["x" * 501]}, "statement 8"),
    ("write", {"statements": ["a fact"] * 7 + [5]}, "statements"),
    ("write", {"statements": ["a fact"] * 8, "pasted": ["p"] * 51}, "pasted"),
    ("rate", {"aspects": {"overall": 11, "linguistic": 1, "content": 1}}, "Overall quality"),
    ("rate", {"aspects": {"overall": 2.5, "linguistic": 1, "content": 1}}, "Overall quality"),
    ("rate", {"aspects": {"overall": True, "linguistic": 1, "content": 1}}, "Overall quality"),
    ("rate", {"aspects": {"overall": 5, "linguistic": 1}}, "Information content"),
    ("compare", {"winner": "both"}, "winner"),
    ("compare", {"winner": "first", "comment": "x" * 2001}, "comment"),
    ("compare", {"winner": "first", "comment": 5}, "comment"),
]


@pytest.mark.parametrize(("kind", "answer", "where"), WRONG)
def test_wrong_answers_are_refused_with_the_place(
    site: Site, kind: TaskKind, answer: dict[str, Any], where: str
) -> None:
    ann = site.person(site.campaign(kind))
    response = ann.submit(ann.first_task()["assignment"], answer)
    assert response.status_code == 422
    assert where in [problem["where"] for problem in response.json()["problems"]]


@pytest.mark.parametrize("value", [True, False, "1", 2, 0.5, [], {}])
def test_only_0_and_1_answer_a_statement(site: Site, value: Any) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    assert ann.submit(task["assignment"], answer_to(task["page"], value)).status_code == 422


HOSTILE = [
    b'{"a": NaN}',
    b'{"a": -Infinity}',
    b'{"a": "\\ud800"}',
    b'{"\\udfff": 1}',
    b'{"a": "\\u0000"}',
    b'{"a": ' + b"[" * 800 + b"]" * 800 + b"}",
    b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"a": ' + b"9" * 5000 + b"}",
    b'{"a": 1e999}',
    b'"a"',
    b"\xff",
]


@pytest.mark.parametrize("raw", HOSTILE, ids=lambda raw: raw[:20].decode(errors="replace"))
def test_a_hostile_draft_breaks_nothing(site: Site, raw: bytes) -> None:
    """Whatever is stored must come back as sound JSON, or not have been stored."""
    ann = site.person(site.campaign())
    task = ann.first_task()
    url = f"/api/work/{ann.campaign}/{task['assignment']}/draft"
    headers = {"Content-Type": "application/json"}
    response = ann.client.put(url, content=b'{"draft": ' + raw + b"}", headers=headers)
    assert response.status_code < 500
    again = ann.work()
    assert again["assignment"] == task["assignment"]
    assert (again["draft"] is None) == (response.status_code != 200)


@pytest.mark.parametrize("comment", ["\\ud800", "\\u0000", "<script>alert(1)</script>", "=1+1", "\\u001b[31m"])
def test_a_hostile_comment_breaks_nothing(site: Site, comment: str) -> None:
    campaign = site.campaign("compare")
    ann = site.person(campaign)
    task = ann.first_task()
    body = f'{{"key": "a key of mine", "answer": {{"winner": "tie", "comment": "{comment}"}}}}'
    headers = {"Content-Type": "application/json"}
    response = ann.client.post(f"/api/work/{campaign}/{task['assignment']}/submit", content=body, headers=headers)
    assert response.status_code in {200, 422}
    boss = site.account()
    for path in ("api/manage/campaigns/{}", "api/manage/campaigns/{}/answers", "manage/campaigns/{}/export.jsonl"):
        assert boss.get("/" + path.format(campaign)).status_code == 200


# -- sending twice -------------------------------------------------------------------------------------------


def test_the_same_submission_again_gives_the_same_reply(site: Site) -> None:
    campaign = site.campaign()
    ann = site.person(campaign)
    task = ann.first_task()
    answer = answer_to(task["page"])
    first = ann.submit(task["assignment"], answer).json()
    again = ann.submit(task["assignment"], answer)
    assert (again.status_code, again.json()) == (200, {**first, "replayed": True})
    assert len(site.desk.campaigns.answers(campaign)) == 1


def test_another_answer_under_the_same_key_conflicts(site: Site) -> None:
    campaign = site.campaign()
    ann = site.person(campaign)
    task = ann.first_task()
    ann.submit(task["assignment"], answer_to(task["page"], 1))
    assert ann.submit(task["assignment"], answer_to(task["page"], 0)).status_code == 409
    assert ann.submit(task["assignment"], answer_to(task["page"], 0), key="another key").status_code == 409
    [stored] = site.desk.campaigns.answers(campaign)
    assert stored.answer is not None
    assert set(to_object(stored.answer)["units"].values()) == {1}


@pytest.mark.parametrize("key", ["", "short", "k" * 101, None, 12345678])
def test_keys_have_a_shape(site: Site, key: Any) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    assert ann.submit(task["assignment"], answer_to(task["page"]), key).status_code == 422


def test_nothing_changes_after_submission(site: Site) -> None:
    campaign = site.campaign()
    ann = site.person(campaign)
    task = ann.first_task()
    ann.submit(task["assignment"], answer_to(task["page"]))
    assert ann.draft(task["assignment"], {"late": True}).json() == {"expires": None}
    assert ann.give_back(task["assignment"]).status_code == 200
    [stored] = site.desk.campaigns.answers(campaign)
    assert stored.counted


def test_a_late_answer_is_kept_but_not_counted_twice(site: Site) -> None:
    campaign = site.campaign(workers=1, lease_minutes=1e-4)
    ann, bob = site.person(campaign), site.person(campaign)
    late = ann.first_task()
    while time.time() <= late["expires"]:
        pass
    fresh = bob.first_task()
    assert fresh["page"]["task"] == late["page"]["task"], "an abandoned lease returns to the pool"
    assert bob.submit(fresh["assignment"], answer_to(fresh["page"])).json()["counted"] is True
    assert ann.submit(late["assignment"], answer_to(late["page"])).json()["counted"] is False
    stored = site.desk.campaigns.answers(campaign)
    assert [answer.state for answer in stored] == ["submitted", "submitted"]


# -- somebody else's work ------------------------------------------------------------------------------------


def test_nobody_touches_the_task_of_another(site: Site) -> None:
    campaign = site.campaign()
    ann, eve = site.person(campaign), site.person(campaign)
    task = ann.first_task()
    eve.first_task()
    answer = answer_to(task["page"])
    assert eve.draft(task["assignment"], {"by": "eve"}).status_code == 409
    assert eve.give_back(task["assignment"]).status_code == 409
    assert eve.submit(task["assignment"], answer).status_code == 409
    assert eve.submit(2**53, answer).status_code == 409
    assert ann.work()["draft"] is None
    assert ann.submit(task["assignment"], answer).json()["counted"] is True


@pytest.mark.parametrize("id", ["0", "-1", str(2**53 + 1), "x", "1.5", "9" * 400])
def test_assignments_that_cannot_be(site: Site, id: str) -> None:
    ann = site.person(site.campaign())
    ann.join()
    assert ann.client.put(f"/api/work/{ann.campaign}/{id}/draft", json={"draft": {}}).status_code == 422


def forged_cookies(site: Site, campaign: str) -> dict[str, str]:
    secret, now = site.desk.database.secret, time.time()
    ann = site.person(campaign, "forged against")
    ann.join()
    good = ann.client.cookies[WORKER_COOKIE]
    version, body, mac = good.split(".")
    other = sign_pass(secret, Pass("somebody else", ann.campaign, 1), now).split(".")[1]
    return {
        "none": "",
        "nonsense": "x",
        "another secret": sign_pass(b"the secret of another study", Pass("w", ann.campaign, 1), now),
        "an invitation": ann.token,
        "a body of my own": f"{version}.{other}.{mac}",
        "no seal": f"{version}.{body}.",
        "another version": f"2.{body}.{mac}",
        "nobody": sign_pass(secret, Pass("nobody", campaign, 1), now),
        "expired": sign_pass(secret, Pass("w", campaign, 1), now - WORKER_SECONDS - 10),
        "too long": good + "A" * 3000,
        "of another campaign": sign_pass(secret, read_pass(secret, good, 60)._replace(campaign="other"), now),
    }


def test_forged_cookies_open_nothing(site: Site) -> None:
    campaign = site.campaign()
    for what, cookie in forged_cookies(site, campaign).items():
        client = browser(site.url, cookies={WORKER_COOKIE: cookie}, headers={"X-Requested-With": "pyramidion"})
        assert client.get(f"/api/work/{campaign}").status_code == 401, what
        assert client.put(f"/api/work/{campaign}/1/draft", json={"draft": {}}).status_code == 401, what
        body = {"key": "a key of mine", "answer": {}}
        assert client.post(f"/api/work/{campaign}/1/submit", json=body).status_code == 401, what
        assert client.post(f"/api/work/{campaign}/statements", json={"statements": []}).status_code == 401, what


def test_changes_need_the_header_of_our_own_page(site: Site) -> None:
    campaign = site.campaign()
    ann = site.person(campaign)
    task = ann.first_task()
    del ann.client.headers["X-Requested-With"]
    assert ann.submit(task["assignment"], answer_to(task["page"])).status_code == 403
    assert ann.draft(task["assignment"], {}).status_code == 403
    assert ann.give_back(task["assignment"]).status_code == 403
    assert ann.client.post(f"/api/work/{campaign}/check", json={"answers": {}}).status_code == 403
    assert ann.client.post(f"/api/work/{campaign}/statements", json={"statements": []}).status_code == 403


def test_a_worker_is_no_manager(site: Site) -> None:
    ann = site.person(site.campaign())
    ann.join()
    assert ann.client.get("/api/manage").status_code == 401
    assert ann.client.get("/manage").headers["location"].startswith("/login")


# -- blocked, paused, closed, done ---------------------------------------------------------------------------


def test_blocked_people_get_nothing_and_free_their_task(site: Site) -> None:
    campaign = site.campaign(workers=1)
    ann, bob = site.person(campaign), site.person(campaign)
    task = ann.first_task()
    [held] = site.desk.campaigns.answers(campaign)
    decide_worker(site.desk, "block", worker=held.worker, actor="boss", reason="a bot")
    assert ann.work() == {"state": "blocked"}
    assert ann.client.post(f"/api/work/{campaign}/statements", json={"statements": []}).status_code == 403
    assert bob.first_task()["page"]["task"] == task["page"]["task"]
    decide_worker(site.desk, "unblock", worker=held.worker, actor="boss", reason="a mistake")
    assert ann.work()["state"] == "task"


def test_what_a_blocked_person_still_sends_is_never_counted(site: Site) -> None:
    campaign = site.campaign(workers=1)
    ann = site.person(campaign)
    task = ann.first_task()
    [held] = site.desk.campaigns.answers(campaign)
    decide_worker(site.desk, "block", worker=held.worker, actor="boss", reason="a bot")
    ann.submit(task["assignment"], answer_to(task["page"]))
    assert not any(answer.counted for answer in site.desk.campaigns.answers(campaign))


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_stopped_campaign_gives_out_nothing_but_takes_open_work_in(site: Site, state: Any) -> None:
    campaign = site.campaign()
    ann, bob = site.person(campaign), site.person(campaign)
    task = ann.first_task()
    site.desk.campaigns.set_state(campaign, state)
    bob.join()
    assert {"state": state}.items() <= bob.work().items()
    assert ann.work()["assignment"] == task["assignment"]
    assert ann.submit(task["assignment"], answer_to(task["page"])).json()["counted"] is True
    assert {"state": state}.items() <= ann.work().items()


def test_done_names_where_to_go(site: Site) -> None:
    campaign = site.campaign(most_per_worker=1, completion_url="https://example.org/thanks", completion_code="C0DE")
    ann = site.person(campaign)
    task = ann.first_task()
    ann.submit(task["assignment"], answer_to(task["page"]))
    assert {
        "state": "done",
        "completion_url": "https://example.org/thanks",
        "code": "C0DE",
    }.items() <= ann.work().items()


def test_done_when_every_place_is_taken(site: Site) -> None:
    campaign = site.campaign("compare", workers=1)
    ann, bob = site.person(campaign), site.person(campaign)
    task = ann.first_task()
    bob.join()
    assert bob.work()["state"] == "done", "there is one task, and ann is on it"
    ann.submit(task["assignment"], answer_to(task["page"]))
    assert {"state": "done", "completion_url": "", "code": ""}.items() <= ann.work().items()


# -- while writing -------------------------------------------------------------------------------------------


def test_statements_are_checked_while_they_are_written(site: Site) -> None:
    ann = site.person(site.campaign("write"))
    ann.join()
    statements = [
        "",
        "Thieves took a painting from the museum.",
        "Thieves took a painting from the museum.",
        "Too short.",
    ]
    response = ann.client.post(f"/api/work/{ann.campaign}/statements", json={"statements": statements})
    empty, good, twice, short = response.json()["problems"]
    assert (empty, good) == ([], [])
    assert twice
    assert short


def test_statement_checks_have_limits(site: Site) -> None:
    ann = site.person(site.campaign("write"))
    ann.join()
    for statements in (["x"] * 51, ["x" * 2001], [5], "x"):
        assert (
            ann.client.post(f"/api/work/{ann.campaign}/statements", json={"statements": statements}).status_code == 422
        )


def test_unknown_campaigns_say_nothing_about_others(site: Site) -> None:
    campaign = site.campaign()
    ann = site.person(campaign)
    ann.join()
    response = ann.client.get("/api/work/nowhere")
    assert (response.status_code, set(response.json())) == (401, {"error", "problems"})
    for path in ("/work/nowhere", "/enter/nowhere", "/api/work/nowhere"):
        response = ann.client.get(path)
        assert response.status_code in {401, 404}
        assert campaign not in response.text


# -- a link opens its campaign and no other ------------------------------------------------------------------


def test_a_pass_opens_its_campaign_and_no_other(site: Site) -> None:
    judging, writing = site.campaign("judge"), site.campaign("write")
    ann = site.person(judging)
    task = ann.first_task()
    cookie = ann.client.cookies[WORKER_COOKIE]
    thief = browser(site.url, headers={"X-Requested-With": "pyramidion", "Cookie": f"{WORKER_COOKIE}={cookie}"})
    assert thief.get(f"/api/work/{judging}").status_code == 200
    for request in (
        thief.get(f"/api/work/{writing}"),
        thief.put(f"/api/work/{writing}/{task['assignment']}/draft", json={"draft": {}}),
        thief.post(f"/api/work/{writing}/{task['assignment']}/submit", json={"key": "a key of mine", "answer": {}}),
        thief.post(f"/api/work/{writing}/check", json={"answers": {}}),
    ):
        assert request.status_code == 401


def test_work_of_one_campaign_cannot_be_sent_to_another(site: Site) -> None:
    """The same person in two campaigns, with a pass for each."""
    first, second = site.person(site.campaign(), "twice"), site.person(site.campaign(), "twice")
    task = first.first_task()
    second.first_task()
    assert second.submit(task["assignment"], answer_to(task["page"])).status_code == 409
    assert second.draft(task["assignment"], {"mine": "no"}).status_code == 409
    assert second.give_back(task["assignment"]).status_code == 409
    assert first.work()["draft"] is None
    assert first.submit(task["assignment"], answer_to(task["page"])).json()["counted"] is True


def test_knowing_somebodys_id_gives_neither_their_task_nor_their_draft(site: Site) -> None:
    """Without anything signed by the platform, the session is what only its owner knows."""
    campaign = site.campaign(platform="prolific", platform_study="study1", completion_code="DONE")
    ids = {"PROLIFIC_PID": "ann", "STUDY_ID": "study1"}
    owner = browser(site.url, headers={"X-Requested-With": "pyramidion"})
    owner.get(f"/enter/{campaign}", params={**ids, "SESSION_ID": "of-the-owner"})
    task = owner.get(f"/api/work/{campaign}").json()
    path = f"/api/work/{campaign}/{task['assignment']}"
    assert owner.put(f"{path}/draft", json={"draft": {"private": "words"}}).status_code == 200
    stranger = browser(site.url, headers={"X-Requested-With": "pyramidion"})
    stranger.get(f"/enter/{campaign}", params={**ids, "SESSION_ID": "guessed"})
    shown = stranger.get(f"/api/work/{campaign}")
    assert "private" not in shown.text
    assert shown.json().get("assignment") != task["assignment"]
    assert stranger.put(f"{path}/draft", json={"draft": {}}).status_code == 409
    body = {"key": "a key of mine", "answer": answer_to(task["page"])}
    assert stranger.post(f"{path}/submit", json=body).status_code == 409
    assert owner.get(f"/api/work/{campaign}").json()["draft"] == {"private": "words"}
    other = browser(site.url)
    refused = other.get(f"/enter/{campaign}", params={**ids, "PROLIFIC_PID": "bob", "SESSION_ID": "of-the-owner"})
    assert refused.status_code == 400
    assert "belongs to somebody else" in refused.text
