"""What workers are told: before they begin, when they stop, and where there is nothing for them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from pyramidion.campaigns.platforms.local import read_pass, sign_pass
from pyramidion.server.context import WORKER_COOKIE, WORKER_SECONDS
from pyramidion.study.tasks import CampaignState
from tests.browser.people import Visitors, answer_check, begin, counter, fact, pass_check
from tests.browser.site import MANAGER, TERMS, Site, serve, small_study
from tests.server.servers import logged_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    study = small_study(["extract", "vague", "lead"], ["A", "B", "C", "D"], units=12)
    with serve(study, tmp_path_factory.mktemp("told")) as site:
        site.start("judge", "judge", check=False, workers=9)
        yield site


def test_terms_come_before_the_work_and_the_code_also_when_stopping(site: Site, visitors: Visitors) -> None:
    site.start("judge", "told", check=False, workers=9, **TERMS)
    page = visitors.new(viewport={"width": 1280, "height": 720})
    page.goto(site.link("told"))
    main = page.get_by_role("main")
    for text in (
        "€0.60 for each task, about €9.00 an hour",
        "about 4 minutes for each task",
        "3 tasks for you at the moment",
        "as soon as you stop after 1 task or more",
        "Ada Ash, ada@example.org",
        "You can stop at any time.",
    ):
        expect(main).to_contain_text(text)
    expect(page.get_by_role("heading", name="How to do it")).to_be_visible()
    start = page.get_by_role("button", name="Start with the first task")
    start.click()
    expect(page.get_by_text("Please agree to take part first")).to_be_in_viewport()
    page.get_by_label("I have read this and agree to take part").check()
    start.click()
    expect(page.get_by_text("Your first task, 2 more for you after this one")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("You get the completion code after 1 more answer.")).to_be_visible()
    assert "C0DE" not in page.content()
    page.get_by_role("button", name="Continue with the next task").click()
    expect(counter(page)).to_be_visible()
    for _ in range(12):
        page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Next task").click()
    expect(page.get_by_text("1 task done in less than a minute, 1 more for you after this one")).to_be_visible()
    page.reload()
    expect(counter(page)).to_be_visible()  # who has begun does not read it all again
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("You have sent 1 answer, in less than a minute.")).to_be_visible()
    expect(page.get_by_text("C0DE", exact=True)).to_be_visible()


def reword_consent(site: Site, campaign: str, words: str) -> None:
    """As a manager's page does it."""
    manager, address = logged_in(site.desk, site.url, MANAGER), f"/api/manage/campaigns/{campaign}"
    design = manager.get(f"{address}/design").json()
    wish = {key: design[key] for key in ("kind", "name", "topics", "systems")}
    edited = manager.put(address, json={**wish, "settings": {**design["settings"], "consent": words}})
    assert edited.status_code == 200, edited.text


def test_consent_is_given_once_and_again_to_other_words(site: Site, visitors: Visitors) -> None:
    visitors.expect_problem("status of 409")
    site.start("judge", "agreed", workers=9, **TERMS)
    page = visitors.new(viewport={"width": 1280, "height": 720})
    page.goto(site.link("agreed"))
    agree = page.get_by_label("I have read this and agree to take part")
    answer_check(page, "judge")
    expect(page.get_by_text("Please agree to take part first")).to_be_in_viewport()
    agree.check()
    answer_check(page, "judge", rightly=False)
    expect(page.get_by_text("This is your last try")).to_be_visible()
    page.reload()
    expect(page.get_by_text("This is your last try")).to_be_visible()
    expect(agree).to_have_count(0)
    pass_check(page, "judge")
    reword_consent(site, "agreed", "Other words.")
    page.reload()
    expect(page.get_by_text("Other words.")).to_be_visible()
    reword_consent(site, "agreed", "The last words.")
    agree.check()
    start = page.get_by_role("button", name="Start with the first task")
    start.click()
    expect(page.get_by_text("The last words.")).to_be_visible()
    expect(agree).not_to_be_checked()
    agree.check()
    start.click()
    expect(counter(page)).to_be_visible()


def test_no_tasks_left_and_a_pause_come_before_the_instructions(site: Site, visitors: Visitors) -> None:
    site.start("judge", "stopped", contact="Ada Ash")
    site.desk.campaigns.set_state("stopped", "paused")
    page = visitors.new()
    page.goto(site.link("stopped"))
    expect(page.get_by_role("heading", name="A short break")).to_be_visible()
    expect(page.get_by_text("Questions? Ask Ada Ash.")).to_be_visible()
    site.start("write", "taken", workers=1)
    for number in range(4):
        worker = site.desk.workers.join("local", f"w{number}").id
        assert site.desk.assignments.lease("taken", worker)
    page.goto(site.link("taken"))
    expect(page.get_by_role("heading", name="No tasks left")).to_be_visible()
    expect(page.get_by_text("How to do it")).to_have_count(0)


@pytest.mark.parametrize("check", [True, False], ids=["with questions", "without"])
@pytest.mark.parametrize(("state", "title"), [("paused", "A short break"), ("closed", "This campaign is finished")])
def test_nobody_reads_the_instructions_of_what_is_over(
    state: CampaignState, title: str, check: bool, site: Site, visitors: Visitors
) -> None:
    campaign = f"{state}-{check}"
    site.start("judge", campaign, **{**TERMS, "check": check})
    site.desk.campaigns.set_state(campaign, state)
    page = visitors.new()
    page.goto(site.link(campaign))
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_role("main")).to_contain_text(f"Questions? Ask {TERMS['contact']}.")
    expect(page.get_by_text("How to do it")).to_have_count(0)
    expect(page.get_by_text("Before you take part")).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_have_count(int(state == "paused"))


def test_who_fails_the_questions_is_told_kindly_and_for_good(site: Site, visitors: Visitors) -> None:
    site.start("judge", "failing", workers=9, contact="Ada Ash", completion_code="C0DE")
    page = visitors.new()
    page.goto(site.link("failing"))
    answer_check(page, "judge", rightly=False)
    expect(page.get_by_text("This is your last try")).to_be_visible()
    answer_check(page, "judge", rightly=False)
    for _ in range(2):
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for trying")
        main = page.get_by_role("main")
        expect(main).to_contain_text("we cannot offer you tasks in this campaign. This says nothing about you")
        expect(main).to_contain_text("return your place there")
        expect(main).to_contain_text("Questions? Ask Ada Ash.")
        expect(main.get_by_role("button")).to_have_count(0)
        assert "C0DE" not in page.content()
        page.reload()


def test_a_link_that_has_expired_is_opened_again_and_nothing_is_lost(site: Site, visitors: Visitors) -> None:
    visitors.expect_problem("status of 401")
    site.start("judge", "expiring", check=False, workers=9)
    link = site.link("expiring")
    page = visitors.new()
    begin(page, link)
    page.keyboard.press("p")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    secret = site.desk.database.secret
    [cookie] = [held for held in page.context.cookies() if held["name"] == WORKER_COOKIE]
    who = read_pass(secret, cookie["value"], WORKER_SECONDS)
    old = sign_pass(secret, who, time.time() - WORKER_SECONDS - 10)
    page.context.add_cookies([{**cookie, "value": old}])  # type: ignore[typeddict-item]
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Please open your invitation link")
    expect(page.get_by_role("main")).to_contain_text("unknown here or has expired. Open the link that was sent to you")
    page.goto(link)
    expect(counter(page)).to_have_text("1 of 12 answered")


def one_task_more(page: Page) -> None:
    """Answer the task that comes, and stop at the next."""
    expect(counter(page)).to_have_text("0 of 12 answered")
    for _ in range(12):
        page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Next task").click()
    expect(counter(page)).to_have_text("0 of 12 answered")
    page.get_by_role("button", name="Stop", exact=True).click()


@pytest.mark.parametrize("pays", [True, False], ids=["code when stopping", "code at the end"])
def test_who_stops_early_gets_the_code_that_the_campaign_gives_them(pays: bool, site: Site, visitors: Visitors) -> None:
    campaign = f"early-{pays}"
    codes = {"completion_code": "C0DE", "early_code": "EARLY", "code_after": 2, "code_when_stopping": pays}
    site.start("judge", campaign, check=False, workers=9, platform="prolific", platform_study="study1", **codes)
    page = visitors.new()
    begin(page, f"{site.url}/enter/{campaign}?PROLIFIC_PID=ann&STUDY_ID=study1&SESSION_ID=s1")
    page.get_by_role("button", name="Stop", exact=True).click()
    code, link = page.locator("code"), page.get_by_role("link", name="Confirm and finish")
    stops, finished = page.get_by_text("that you stop here"), page.get_by_text("that you have finished")
    for done in (0, 1):
        expect(page.get_by_text("Or finish here for good:")).to_be_visible()
        expect(code).to_have_text("EARLY")
        expect(link).to_have_attribute("href", re.compile("cc=EARLY$"))
        expect(stops).to_be_visible()
        missing = page.get_by_text(f"You get the completion code after {2 - done} more answer")
        expect(missing).to_have_count(int(pays))
        page.get_by_role("button", name="Continue with the next task").click()
        one_task_more(page)
    expect(page.get_by_text("You have sent 2 answers")).to_be_visible()
    expect(page.get_by_text("You get the completion code after")).to_have_count(0)
    expect(code).to_have_text("C0DE" if pays else "EARLY")
    expect(link).to_have_attribute("href", re.compile("cc=C0DE$" if pays else "cc=EARLY$"))
    expect(finished if pays else stops).to_be_visible()


def test_voluntary_work_says_that_it_is(site: Site, visitors: Visitors) -> None:
    site.start("judge", "voluntary", workers=9, pay=0.0, minutes_per_task=4.0)
    page = visitors.new()
    page.goto(site.link("voluntary"))
    told = page.locator("dl.terms")
    expect(fact(page, "Pay")).to_have_text("none: this is voluntary work")
    expect(fact(page, "Time")).to_have_text("about 4 minutes for each task")
    expect(told).not_to_contain_text("an hour")
    expect(told.get_by_text("Completion code")).to_have_count(0)


def test_bad_links_unknown_campaigns_and_blocks_are_pages_that_say_what_to_do(site: Site, visitors: Visitors) -> None:
    visitors.expect_problem("status of 40")
    page = visitors.new()
    for path, title, text in (
        ("/join/nonsense", "This link is not valid", "ask the person who sent the invitation for a new one"),
        ("/work/nowhere", "There is nothing here", "Open the link of your invitation exactly as you received it"),
        ("/enter/judge?x=1", "This link does not work", "open the study there once more"),
        ("/nowhere", "There is nothing here", "open the link of your invitation"),
    ):
        page.goto(f"{site.url}{path}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.get_by_role("main")).to_contain_text(text)
        expect(page.get_by_text("known campaigns")).to_have_count(0)
    page.goto(f"{site.url}/work/judge")
    expect(page.get_by_role("heading", name="Please open your invitation link")).to_be_visible()
    site.start("judge", "blocking", check=False, workers=9, contact="Ada Ash")
    begin(page, site.link("blocking"))
    [entry] = site.desk.workers.entries("blocking")
    site.desk.workers.set_blocked(entry.worker, "reads nothing")
    page.reload()
    expect(page.get_by_role("heading", name="No tasks for you here")).to_be_visible()
    expect(page.get_by_text("Questions? Ask Ada Ash.")).to_be_visible()
