"""What paid people are told before, while and after they work, and the words they mark."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from tests.server.conftest import Site
from tests.server.servers import Person, answer_to, make_study, served_here, start_many
from tests.server.test_worker_api import ON_PROLIFIC, enter

from pyramidion.campaigns import queries
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.monitor import overview
from pyramidion.store import schema
from pyramidion.study import Span

pytestmark = pytest.mark.server

TERMS = {
    "pay": 0.6,
    "currency": "€",
    "minutes_per_task": 4.0,
    "consent": "You take part freely.\nYou can stop at any time.",
    "contact": "Ada, ada@example.org",
    "completion_code": "C0DE",
    "code_after": 2,
    "most_per_worker": 3,
}


def arrive(person: Person) -> dict[str, Any]:
    """What the page asks first."""
    person.join()
    shown: dict[str, Any] = person.client.get(f"/api/work/{person.campaign}?arriving=true").json()
    return shown


def do_one(person: Person) -> None:
    task = person.work()
    assert person.submit(task["assignment"], answer_to(task["page"])).json()["counted"]


@pytest.mark.parametrize("check", [True, False])
def test_pay_time_consent_and_contact_come_first(site: Site, check: bool) -> None:
    ann = site.person(site.campaign(**TERMS, check=check))
    shown = arrive(ann)
    assert shown["state"] == ("instructions-and-check" if check else "instructions")
    assert shown["content"]["steps"]
    assert ("questions" in shown["content"]) == check
    expected = {"pay": 0.6, "currency": "€", "minutes": 4.0, "most": 3, "code_after": 2, "done": 0, "left": 3}
    assert expected.items() <= shown["about"].items()
    assert shown["about"]["consent"] == TERMS["consent"]
    assert shown["about"]["contact"] == "Ada, ada@example.org"
    assert "assignment" not in shown, "nothing is taken while somebody reads"
    assert site.desk.campaigns.answers(ann.campaign) == []


def agreed_to(site: Site, campaign: str) -> list[tuple[str, str]]:
    """Who agreed to which words, as it is stored."""
    table = schema.consents
    of_campaign = select(table.c.worker_id, table.c.text).join(schema.campaigns).order_by(table.c.id)
    with site.desk.database.read() as connection:
        return [(row.worker_id, row.text) for row in connection.execute(of_campaign.filter_by(name=campaign))]


@pytest.mark.parametrize("check", [True, False])
def test_nobody_works_without_having_agreed(site: Site, check: bool) -> None:
    ann = site.person(site.campaign(**TERMS, check=check))
    beginning = "instructions-and-check" if check else "instructions"
    assert (arrive(ann)["state"], ann.work()["state"]) == (beginning, beginning)
    assert ann.work()["about"]["agreed"] is False
    if check:
        refused = ann.client.post(f"/api/work/{ann.campaign}/check", json={"answers": ann.right_answers()})
        assert (refused.status_code, refused.json()["error"]) == (403, "agree to take part first")
        assert ann.work()["tries_left"] == 2, "nothing was asked of them"
    assert site.desk.campaigns.answers(ann.campaign) == [], "no task is held for them"
    assert ann.agree("Something else.").status_code == 409
    for _ in range(2):
        assert ann.agree(TERMS["consent"]).status_code == 200
    if check:
        assert ann.work()["about"]["agreed"] is True
        assert ann.check(ann.right_answers())["passed"]
    task = ann.work()
    assert task["state"] == "task"
    [(worker, text)] = agreed_to(site, ann.campaign)
    assert text == TERMS["consent"]
    ann.submit(task["assignment"], answer_to(task["page"]))
    [row] = overview(site.desk, ann.campaign).as_dict()["workers"]
    assert row["worker"] == worker
    assert row["agreed"] == site.desk.workers.consents(ann.campaign)[worker]


def test_other_words_are_agreed_to_again_and_work_goes_on(site: Site) -> None:
    campaign = site.campaign(**TERMS)
    ann = site.person(campaign)
    ann.join()
    ann.agree(TERMS["consent"])
    task = ann.work()
    assert ann.draft(task["assignment"], {"answer": {"comment": "half"}}).status_code == 200
    boss, address = site.account(), f"/api/manage/campaigns/{campaign}"
    design = boss.get(f"{address}/design").json()
    design["settings"]["consent"] = "Other words."
    wish = {key: design[key] for key in ("kind", "name", "settings", "topics", "systems")}
    edited = boss.put(address, json=wish)
    assert edited.status_code == 200, edited.text
    asked = ann.work()
    assert (asked["state"], asked["about"]["consent"]) == ("instructions", "Other words.")
    assert ann.agree("Other words.").status_code == 200
    again = ann.work()
    assert (again["assignment"], again["draft"]) == (task["assignment"], {"answer": {"comment": "half"}})
    assert [text for _, text in agreed_to(site, campaign)] == [TERMS["consent"], "Other words."]


def test_consent_is_kept_over_a_restart(place: str) -> None:
    desk = make_study(place)
    start_many(desk, "judge", 4, workers=2, check=False, consent="Freely.")
    with served_here(place) as server:
        ann = Person(desk, server.url, "judge", "ann")
        ann.join()
        assert ann.agree("Freely.").status_code == 200
    with served_here(place) as server:
        ann = Person(desk, server.url, "judge", "ann")
        ann.join()
        assert ann.work()["state"] == "task"
    desk.database.close()


def test_who_has_begun_goes_on_without_the_instructions(site: Site) -> None:
    ann = site.person(site.campaign())
    assert arrive(ann)["state"] == "instructions"
    task = ann.work()
    assert arrive(ann)["assignment"] == task["assignment"]
    ann.submit(task["assignment"], answer_to(task["page"]))
    assert arrive(ann)["state"] == "task"


@pytest.mark.parametrize("check", [True, False])
def test_nobody_reads_or_is_asked_in_vain(site: Site, check: bool) -> None:
    campaign = site.campaign("compare", workers=1, check=check, contact="Ada")
    site.person(campaign).first_task()
    late = site.person(campaign)
    assert arrive(late) == {"state": "done", "contact": "Ada", "completion_url": "", "code": ""}
    for state in ("paused", "closed"):
        site.desk.campaigns.set_state(campaign, state)  # type: ignore[arg-type]
        assert late.work() == {"state": state, "contact": "Ada"}


def test_who_stops_is_told_what_they_have_earned(site: Site) -> None:
    ann = site.person(site.campaign(**TERMS, code_when_stopping=True))
    ann.join()
    ann.agree(TERMS["consent"])
    for done in range(3):
        shown = ann.client.get(f"/api/work/{ann.campaign}/way-out").json()
        assert (shown["done"], shown["needed"], shown["contact"]) == (done, 2, "Ada, ada@example.org")
        assert (shown["finished"], shown["code"]) == ((True, "C0DE") if done >= 2 else (False, ""))
        do_one(ann)


def test_a_code_for_stopping_is_a_setting_or_another_code(site: Site) -> None:
    for settings, code in (({}, ""), ({"early_code": "EARLY"}, "EARLY")):
        campaign = site.campaign(**ON_PROLIFIC, **settings)
        tab = enter(site, campaign, "ann")
        task = tab.get(f"/api/work/{campaign}").json()
        body = {"key": "a key of mine", "answer": answer_to(task["page"])}
        assert tab.post(f"/api/work/{campaign}/{task['assignment']}/submit", json=body).json()["counted"]
        shown = tab.get(f"/api/work/{campaign}/way-out").json()
        assert (shown["done"], shown["finished"], shown["code"], shown["needed"]) == (1, False, code, None)
        assert code in shown["completion_url"]
        assert "DONE" not in str(shown)
    stranger = site.person(site.campaign())
    assert stranger.client.get(f"/api/work/{stranger.campaign}/way-out").status_code == 401


def test_the_count_of_tasks_left_has_an_end(place: str) -> None:
    desk: CampaignDesk = make_study(place)
    start_many(desk, "many", queries.MANY + 20, workers=2, check=False)
    with served_here(place) as server:
        ann = Person(desk, server.url, "many", "ann")
        assert arrive(ann)["about"]["many"] is True
        assert ann.work()["progress"]["left"] == queries.MANY
    desk.database.close()


# -- evidence ------------------------------------------------------------------------------------------------


def marked(page: dict[str, Any], spans: Any) -> dict[str, Any]:
    """The first statement is present and says where, the others are absent."""
    units = {unit["id"]: int(number == 0) for number, unit in enumerate(page["units"])}
    return {"units": units, "evidence": {page["units"][0]["id"]: spans}}


def test_marked_words_become_the_evidence_of_judgments(site: Site) -> None:
    ann = site.person(site.campaign(evidence=True, gold_rate=1.0, workers=1))
    task = ann.first_task()
    assert task["page"]["evidence"] is True
    assert any("mark the words" in step for step in task["content"]["steps"])
    answer = marked(task["page"], [[12, 20], [0, 5], [4, 8]])
    answer["units"][task["page"]["units"][1]["id"]] = 1
    refused = ann.submit(task["assignment"], answer).json()["problems"]
    assert [(one["where"], one["what"]) for one in refused] == [
        ("statement 2", "mark the words of the summary that say it")
    ]
    answer["evidence"][task["page"]["units"][1]["id"]] = [[1, 3]]
    assert ann.submit(task["assignment"], answer).json()["counted"]
    [stored] = [one for one in site.desk.campaigns.answers(ann.campaign) if one.counted]
    said = [j for j in stored.judgments() if j.value == 1]
    mentions = {(Span(0, 8), Span(12, 20)), (Span(1, 3),)}
    assert {mention for j in said for mention in j.evidence} <= mentions
    assert all(len(j.evidence) == 1 for j in said)
    assert [j.evidence for j in stored.judgments() if j.value == 0 and j.evidence] == []


@pytest.mark.parametrize(
    "spans",
    [
        None,
        [],
        {},
        "words",
        [[0, 0]],
        [[5, 2]],
        [[-1, 3]],
        [[0, 10**9]],
        [[0, 2.5]],
        [[True, 2]],
        [[0, 1, 2]],
        [[0, 1]] * 51,
    ],
)
def test_only_words_of_the_summary_can_be_marked(site: Site, spans: Any) -> None:
    ann = site.person(site.campaign(evidence=True))
    task = ann.first_task()
    response = ann.submit(task["assignment"], marked(task["page"], spans))
    assert response.status_code == 422
    assert "statement 1" in [problem["where"] for problem in response.json()["problems"]]


def test_evidence_that_nobody_asked_for_is_refused(site: Site) -> None:
    ann = site.person(site.campaign())
    task = ann.first_task()
    assert "evidence" not in task["page"]
    assert ann.submit(task["assignment"], marked(task["page"], [[0, 5]])).status_code == 422
    asked = site.person(site.campaign(evidence=True))
    task = asked.first_task()
    answer = marked(task["page"], [[0, 5]])
    answer["evidence"][task["page"]["units"][1]["id"]] = [[0, 5]]
    assert asked.submit(task["assignment"], answer).status_code == 422, "what is absent has no words"


# -- pages that say what went wrong --------------------------------------------------------------------------

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/join/nonsense", 404),
        ("/work/nowhere", 404),
        ("/enter/nowhere", 404),
        ("/no/such/page", 404),
        ("/manage/campaigns/nowhere", 404),
        ("/manage/campaigns/nowhere/export.csv", 404),
        ("/annotate/999999", 404),
    ],
)
def test_people_get_a_page_and_programs_get_json(site: Site, path: str, status: int) -> None:
    other = site.campaign()
    staff = site.account()
    page = staff.get(path, headers=HTML)
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert "<h1>" in page.text
    assert other not in page.text
    assert "error" not in page.text
    if not path.startswith(("/join", "/work", "/enter")):
        assert staff.get(path, headers={"Accept": "application/json"}).json()["error"]
