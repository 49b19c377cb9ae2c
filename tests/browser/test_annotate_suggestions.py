"""Suggestions follow the unit that they are about, however fast it changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.annotating import account, begin, card, come_in, expert_study, open_editor
from tests.browser.people import Visitors
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser

SIZE = {"width": 1280, "height": 800}
COURT = "Farmers have gone to court against the city"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("suggestions")) as site:
        account(site, "erin")
        yield site


@pytest.fixture
def page(site: Site, visitors: Visitors, request: pytest.FixtureRequest) -> Page:
    """The expert's pyramid, with a unit of all four references chosen."""
    page = visitors.new(viewport=SIZE)
    come_in(page, site, "erin")
    open_editor(page, site, begin(page, kind="pyramid", name=request.node.name, start="expert"))
    card(page, COURT).locator("button").click()
    return page


def suggested_from(page: Page, reference: str) -> Locator:
    return page.locator(".a-suggestion").filter(has=page.locator(".a-from").get_by_text(reference, exact=True))


def remove_words_of(page: Page, reference: str) -> None:
    page.get_by_role("button", name=f"Remove the words of {reference}").click()


def test_a_reference_is_offered_again_once_its_words_are_removed(page: Page) -> None:
    page.keyboard.press("s")
    expect(page.locator(".a-suggestions > *").first).to_be_visible()
    expect(page.get_by_text("Looking …")).to_have_count(0)
    expect(suggested_from(page, "C")).to_have_count(0)
    remove_words_of(page, "C")
    expect(suggested_from(page, "C").first).to_be_visible()
    page.keyboard.press("Control+z")
    expect(suggested_from(page, "C")).to_have_count(0)
    page.keyboard.press("Control+y")  # removed once more, by redo
    expect(suggested_from(page, "C").first).to_be_visible()


def test_a_reference_freed_while_suggestions_are_on_their_way_is_offered(page: Page) -> None:
    held: list[Route] = []
    page.route("**/suggestions?*", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/suggestions?*"):
        page.keyboard.press("s")
    remove_words_of(page, "C")
    held[0].continue_()
    expect(suggested_from(page, "C").first).to_be_visible()


def test_suggestions_wait_for_the_change_before_them(page: Page) -> None:
    held: list[Route] = []
    asked: list[str] = []
    page.on("request", lambda request: "/suggestions?" in request.url and asked.append(request.url))
    page.route("**/commands", lambda route: held.append(route))  # noqa: PLW0108 - a builtin cannot be marked
    with page.expect_request("**/commands"):
        remove_words_of(page, "C")
        page.keyboard.press("s")
    expect(page.get_by_text("Looking …")).to_be_visible()
    assert not asked, "the server does not know the change yet"
    held[0].continue_()
    expect(suggested_from(page, "C").first).to_be_visible()
    assert len(asked) == 1
