"""The form that plans a campaign, with a model that has judged everything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import pyramidion as pyr
from pyramidion.judging import judge_study
from tests.browser.people import Visitors, fact, let_in, plan_campaign, start_campaign
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    judged = judge_study(pyr.example(), "lexical", evidence=False).study
    with serve(judged, tmp_path_factory.mktemp("judged")) as site:
        yield site


def test_the_preview_says_what_is_asked_and_paid(site: Site, visitors: Visitors) -> None:
    page = visitors.new()
    let_in(page, site)
    chosen = {
        "Model that has judged": "lexical",
        "What intervals are": "these",
        "Largest share": "0.5",
        "Ask in rounds until": "top",
    }
    plan_campaign(page, "Judge", "guided", chosen)
    expect(
        page.get_by_text(re.compile(r"People are asked about (at most )?\d+ of 128 units, each for all 6 systems"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile("released until the best system is known"))).to_be_visible()
    expect(fact(page, "Cost when all is done")).to_contain_text("$")
    start_campaign(page, "guided")
    assert site.desk.campaigns.get("guided").settings.until == "top"


def test_what_does_not_fit_together_is_said(site: Site, visitors: Visitors) -> None:
    page = visitors.new()
    let_in(page, site)
    visitors.expect_problem("409 (Conflict)")
    page.get_by_role("radio", name=re.compile("^Judge")).check()
    page.get_by_text("Advanced settings").click()
    page.get_by_label("Ask in rounds until").fill("top")
    page.get_by_role("button", name="Preview counts and cost").click()
    expect(page.get_by_text("the setting until has no effect without a model")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^Rate")).check()
    expect(page.get_by_label("Ask in rounds until")).to_be_hidden()
