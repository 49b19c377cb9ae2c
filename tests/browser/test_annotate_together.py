"""Several experts on one pyramid, and networks that come and go: no change is lost, and none is made over another's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.annotating import (
    account,
    begin,
    card,
    come_in,
    expert_study,
    golden,
    labels,
    open_editor,
    saved,
    shown,
    state,
)
from tests.browser.people import LOST_NETWORK, Visitors
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser

UNITS = golden().units
COURT = "Farmers have gone to court against the city"
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("together")) as site:
        account(site, "ana")
        account(site, "ben")
        yield site


@pytest.fixture
def both(site: Site, visitors: Visitors, request: pytest.FixtureRequest) -> tuple[Page, Page, int]:
    """Ana and Ben with the same shared pyramid open."""
    ana, ben = visitors.new(viewport=SIZE), visitors.new(viewport=SIZE)
    come_in(ana, site, "ana")
    number = begin(ana, kind="pyramid", name=request.node.name, start="expert")
    open_editor(ana, site, number)
    come_in(ben, site, "ben")
    open_editor(ben, site, number)
    return ana, ben, number


def rename(page: Page, old: str, new: str) -> None:
    card(page, old).locator("button").click()
    page.keyboard.press("r")
    page.get_by_label("Label of the unit").fill(new)
    page.keyboard.press("Enter")
    expect(card(page, new)).to_be_visible()


def hear_nothing(page: Page) -> None:
    """No news of others come in by themselves, as on a slow network."""
    reply = json.dumps({"version": 0, "events": [], "state": None})
    headers = {"Content-Security-Policy": "script-src 'self'"}
    page.route(
        re.compile("/changes"),
        lambda route: route.fulfill(status=200, headers=headers, content_type="application/json", body=reply),
    )


def server_labels(page: Page, number: int) -> list[str]:
    return [unit["label"] for unit in state(page, number)["pyramid"]["units"]]


def test_changes_of_others_appear_and_are_named(both: tuple[Page, Page, int]) -> None:
    ana, ben, _ = both
    rename(ana, COURT, "Farmers sue")
    expect(card(ben, "Farmers sue")).to_be_visible()
    expect(card(ben, "Farmers sue")).to_have_class(re.compile("a-flash"))
    assert "Farmers in the Orlen Valley have gone to court" in shown(ben, "flash")
    expect(ben.get_by_text("ana renamed unit u04 to “Farmers sue”")).to_be_visible()


def test_two_edit_at_once_and_nothing_is_lost(both: tuple[Page, Page, int]) -> None:
    ana, ben, number = both
    for step, (mine, yours) in enumerate(zip(UNITS[:12:2], UNITS[1:12:2], strict=True)):
        rename(ana, mine.label, f"ana {step}")
        rename(ben, yours.label, f"ben {step}")
        ana.keyboard.press("Alt+ArrowDown")
    wanted = {f"{who} {step}" for who in ("ana", "ben") for step in range(6)}
    for page in (ana, ben):
        saved(page)
    assert wanted <= set(server_labels(ana, number))
    for page in (ana, ben):
        for label in wanted:
            expect(card(page, label)).to_be_visible()
    expect(ben.locator(".a-card .a-label")).to_have_text(labels(ana))
    # each takes back only what they did themselves
    ana.locator("#tiers").press("Control+z")
    ben.locator("#tiers").press("Control+z")
    expect(card(ana, "ben 5")).to_have_count(0)
    expect(card(ben, "ana 5")).to_be_visible()


def test_a_conflicting_edit_is_refused_and_the_others_change_shown(
    both: tuple[Page, Page, int], visitors: Visitors
) -> None:
    visitors.expect_problem("status of 409")
    ana, ben, number = both
    hear_nothing(ben)
    rename(ana, COURT, "Ana was first")
    saved(ana)
    card(ben, COURT).locator("button").click()
    ben.keyboard.press("r")
    ben.get_by_label("Label of the unit").fill("Ben came second")
    ben.keyboard.press("Enter")
    notice = ben.get_by_role("alert").filter(has_text="Your change was not made")
    expect(notice).to_contain_text("ana renamed unit u04 to “Ana was first”")
    expect(card(ben, "Ana was first")).to_be_visible()
    assert "Ana was first" in server_labels(ana, number)
    notice.get_by_role("button", name="Make mine too").click()
    expect(card(ben, "Ben came second")).to_be_visible()
    expect(card(ana, "Ben came second")).to_be_visible()


def test_what_waits_is_not_sent_over_anothers_change(both: tuple[Page, Page, int], visitors: Visitors) -> None:
    """Ben is offline and changes two units; meanwhile Ana changes the second: only that one is refused."""
    visitors.expect_problem(LOST_NETWORK)
    ana, ben, number = both
    ben.context.set_offline(True)
    rename(ben, UNITS[0].label, "ben's first")
    rename(ben, UNITS[1].label, "ben's second")
    rename(ana, UNITS[1].label, "ana's second")
    saved(ana)
    ben.context.set_offline(False)
    notice = ben.get_by_role("alert").filter(has_text="Your change was not made")
    expect(notice).to_contain_text("ana renamed unit u02 to “ana's second”")
    saved(ben)
    assert server_labels(ana, number)[:2] == ["ben's first", "ana's second"]
    expect(card(ben, "ana's second")).to_be_visible()


def test_a_lost_network_loses_nothing(both: tuple[Page, Page, int], visitors: Visitors) -> None:
    visitors.expect_problem(LOST_NETWORK)
    ana, _, number = both
    ana.context.set_offline(True)
    rename(ana, COURT, "made offline")
    expect(ana.locator("#saving")).to_contain_text("Not saved: offline")
    rename(ana, UNITS[0].label, "taken back")
    ana.keyboard.press("Control+z")
    expect(card(ana, UNITS[0].label)).to_be_visible()
    ana.keyboard.press("Control+y")
    expect(card(ana, "taken back")).to_be_visible()
    ana.keyboard.press("Control+z")
    ana.keyboard.press("n")  # a unit whose name the server has to give, used before it has
    ana.keyboard.insert_text("new and offline")
    ana.keyboard.press("Enter")
    ana.keyboard.press("r")
    ana.keyboard.insert_text("renamed offline")
    ana.keyboard.press("Enter")
    ana.context.set_offline(False)
    saved(ana)
    expect(ana.locator("#saving")).to_contain_text("All changes saved")
    found = server_labels(ana, number)
    assert found[0] == UNITS[0].label
    assert "made offline" in found
    assert found[-1] == "renamed offline"


def test_a_page_closed_while_offline_goes_on_later(
    site: Site, both: tuple[Page, Page, int], visitors: Visitors
) -> None:
    visitors.expect_problem(LOST_NETWORK)
    ana, ben, number = both
    ana.context.set_offline(True)
    rename(ana, COURT, "kept on the device")
    context = ana.context
    ana.close()
    assert COURT in server_labels(ben, number)
    context.set_offline(False)
    again = context.new_page()
    open_editor(again, site, number)
    expect(card(again, "kept on the device")).to_be_visible()
    saved(again)
    assert "kept on the device" in server_labels(ben, number)


def test_a_lost_reply_does_not_make_a_change_twice(both: tuple[Page, Page, int], visitors: Visitors) -> None:
    visitors.expect_problem("net::ERR_FAILED")
    ana, _, number = both
    lost = []

    def lose(route: Route) -> None:
        lost.append(route.fetch())
        route.abort()

    ana.route(re.compile("/commands"), lose, times=1)
    ana.locator(".a-text").first.click(position={"x": 30, "y": 20})
    ana.keyboard.press("n")
    ana.keyboard.press("Enter")
    expect(ana.locator("#saving")).to_contain_text("Not saved")
    saved(ana)
    assert len(lost) == 1
    assert len(server_labels(ana, number)) == len(UNITS) + 1
