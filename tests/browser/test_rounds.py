"""Rounds as people see them: a worker waits for the next one, a manager watches, goes on and stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pyramidion.analysis.stopping import Look
from pyramidion.campaigns import advancing
from pyramidion.campaigns.advancing import advance
from tests.browser.people import Visitors, begin, counter, fact, let_in
from tests.browser.site import Site, serve
from tests.browser.test_accessibility import PHONE, WIDE, problems
from tests.campaigns.designs import SYSTEMS, answer_all, look_of, plan_in_rounds, study_in_rounds

pytestmark = pytest.mark.browser

Looks = Callable[..., None]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serve(study_in_rounds(), tmp_path) as site:
        yield site


@pytest.fixture
def write_looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Let looks say which systems stay; ``wait`` holds them back."""

    def write(script: dict[int, tuple[str, ...]], wait: threading.Event | None = None) -> None:
        def take(_: Any, *, number: int, **__: Any) -> Look:
            assert wait is None or wait.wait(60)
            return look_of(number, script[number])

        monkeypatch.setattr(advancing, "take_look", take)

    return write


def judge_all(page: Page) -> None:
    """Answer a task and send it."""
    expect(counter(page)).to_be_visible()
    for _ in range(4):
        page.keyboard.press("p")
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Next task").click()


def test_a_worker_waits_for_the_next_round(site: Site, visitors: Visitors, write_looks: Looks) -> None:
    go = threading.Event()
    write_looks({1: SYSTEMS}, go)
    site.desk.start(plan_in_rounds(site.desk.studies.load()))
    answer_all(site.desk, but=1)
    page = visitors.new()
    page.clock.install()
    begin(page, site.link("judge"))
    judge_all(page)
    expect(page.get_by_role("heading", name="No task right now. Thank you!")).to_be_visible()
    expect(page.get_by_text("New tasks may come when the answers of others are in.")).to_be_visible()
    expect(page.get_by_text("All done")).not_to_be_visible()
    go.set()
    while len(site.desk.rounds.released("judge")) == 1:
        page.wait_for_timeout(20)
    page.clock.fast_forward(11_000)
    expect(counter(page)).to_be_visible()


def test_who_has_earned_the_code_may_leave(site: Site, visitors: Visitors, write_looks: Looks) -> None:
    go = threading.Event()
    write_looks({1: SYSTEMS}, go)
    done = {"completion_url": "https://example.org/done", "completion_code": "DONE42"}
    site.desk.start(plan_in_rounds(site.desk.studies.load(), **done))
    answer_all(site.desk, but=1)
    page = visitors.new()
    begin(page, site.link("judge"))
    judge_all(page)
    expect(page.get_by_role("heading", name="No task right now. Thank you!")).to_be_visible()
    expect(page.get_by_text("DONE42")).to_be_visible()
    expect(page.get_by_role("link", name="Confirm and finish")).to_have_attribute("href", "https://example.org/done")
    go.set()
    while len(site.desk.rounds.released("judge")) == 1:
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Look for another task").click()
    expect(counter(page)).to_be_visible()


def test_a_manager_watches_goes_on_and_stops(site: Site, visitors: Visitors, write_looks: Looks) -> None:
    write_looks({1: ("fair", "good"), 2: (), 3: ()})
    site.desk.start(plan_in_rounds(site.desk.studies.load(), budget=100))
    page = visitors.new()
    let_in(page, site, "/manage/campaigns/judge")
    status = page.locator("#rounds-status")
    expect(status).to_have_text("Round 1 of 3: 18 tasks still lack answers.")
    expect(page.get_by_text("No pair is decided yet.")).to_be_visible()
    expect(page.get_by_text("There is no button for another one")).to_be_visible()
    expect(page.get_by_role("button", name="Go on")).to_have_count(0)
    for _ in range(2):
        answer_all(site.desk)
        advance(site.desk, "judge", actor="server")
    expect(status).to_have_text("Round 2 of 3, stopped: the goal is reached (ranking).")
    expect(fact(page, "Pairs decided")).to_have_text("3 of 3")
    expect(fact(page, "Spent")).to_have_text("$16.20")
    pairs = page.get_by_role("table", name="Decided pairs")
    expect(pairs.get_by_role("row")).to_have_count(4)
    expect(pairs).to_contain_text("good")
    figure = page.get_by_role("img", name="poor: after look 2 the score is 0.300 (0.100 to 0.500).")
    expect(figure).to_be_visible()
    expect(figure.locator("circle")).to_have_count(2)
    lengths = [
        float(line.get_attribute("y1") or 0) - float(line.get_attribute("y2") or 0)
        for line in figure.locator(".m-whisker").all()
    ]
    assert lengths[1] == pytest.approx(lengths[0] / 2), "an interval half as long is drawn half as long"
    expect(page.locator("figure").filter(has_text="poor")).to_contain_text("left after look 1")

    page.get_by_role("button", name="Go on …").click()
    page.get_by_label("Reason").fill("narrower intervals")
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(status).to_have_text("Round 3 of 3: 12 tasks still lack answers.")
    expect(page.get_by_role("table", name="Rounds so far")).to_contain_text("narrower intervals")
    assert site.desk.rounds.released("judge")[-1].actor == "mona"

    page.get_by_role("button", name="Stop now …").click()
    expect(page.get_by_role("dialog")).to_contain_text("3 of 3 pairs decided so far")
    page.get_by_role("button", name="Stop for good").click()
    expect(status).to_have_text("Round 3 of 3: the campaign is closed, so no further round is released.")
    expect(page.get_by_role("button", name="Stop now …")).to_have_count(0)
    assert site.desk.campaigns.get("judge").state == "closed"


def test_rounds_are_for_everybody(site: Site, visitors: Visitors, write_looks: Looks) -> None:
    write_looks({1: ("fair", "good")})
    site.desk.start(plan_in_rounds(site.desk.studies.load()))
    answer_all(site.desk)
    advance(site.desk, "judge", actor="server")
    page = visitors.new(bypass_csp=True)
    let_in(page, site, "/manage/campaigns/judge")
    page.get_by_text("Show as a table").first.click()
    expect(page.get_by_role("table", name="Scores and intervals after each look")).to_be_visible()
    assert list(problems(page, [WIDE, PHONE])) == []


def test_a_plain_campaign_shows_no_rounds(site: Site, visitors: Visitors) -> None:
    site.start("judge", "plain")
    page = visitors.new()
    let_in(page, site, "/manage/campaigns/plain")
    expect(page.get_by_role("heading", name="By topic")).to_be_visible()
    expect(page.locator("#wanted")).not_to_have_text("of – answers")
    expect(page.locator("#rounds")).to_be_hidden()
