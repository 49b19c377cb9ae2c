"""The managers' pages at 200%: on 1280 x 720 that leaves 640 x 360, where nothing is cut off or scrolls sideways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from pyramidion.campaigns.rehearsal import rehearse_campaign
from tests.browser.people import Visitors, let_in
from tests.browser.site import Site, serve, small_study

pytestmark = pytest.mark.browser

ZOOMED = {"width": 640, "height": 360}

OUTSIDE = """() => {
  const room = document.querySelector("dialog:last-of-type") ?? document.body;
  const clipped = (node) => node.closest(".visually-hidden, [hidden], thead, nav, .m-skip");
  const parts = [...room.querySelectorAll("button, a, input:not([type=radio]), textarea, h2, h3, th, td, q, p")];
  return parts
    .filter((node) => node.checkVisibility() && !clipped(node))
    .filter((node) => node.getBoundingClientRect().left < 0 || node.getBoundingClientRect().right > innerWidth + 1)
    .map((node) => `${node.tagName} ${node.textContent.slice(0, 40)}`);
}"""
"""What sticks out to the left or right, of the last dialog or else of the page."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    study = small_study(["extract", "vague"], ["A", "B"], units=8)
    with serve(study, tmp_path_factory.mktemp("zoomed")) as site:
        site.start("judge", "judged", evidence=True, gold_rate=1, workers=4)
        site.start("rate", "rated")
        rehearse_campaign(site.desk, "judged", workers=4)
        yield site


def opened(visitors: Visitors, site: Site, path: str) -> Page:
    page = visitors.new(viewport=ZOOMED)
    let_in(page, site, path)
    return page


def fits(page: Page) -> None:
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "scrolls sideways"
    assert page.evaluate(OUTSIDE) == []


def usable(dialog: Locator) -> None:
    """In the window as a whole; its last button, its heading and its cross can be seen and pressed at once."""
    fits(dialog.page)
    box = dialog.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= ZOOMED["height"] + 1
    expect(dialog.get_by_role("heading").first).to_be_in_viewport(ratio=1)
    dialog.get_by_role("button", name="Close").click(trial=True)


LOADED = {
    "": "Preview counts and cost",
    "/texts": "Log out",
    "/campaigns/judged": "Approve all without a flag",
    "/campaigns/judged/edit": "Save changes",
}
"""A button of each page that is there once the page is complete."""


@pytest.mark.parametrize("path", LOADED)
def test_no_page_is_cut_off(path: str, site: Site, visitors: Visitors) -> None:
    page = opened(visitors, site, f"/manage{path}")
    expect(page.get_by_role("button", name=LOADED[path])).to_be_visible()
    expect(page.get_by_text("Loading")).to_have_count(0)
    for fold in page.locator("main details > summary").all():
        if fold.is_visible():
            fold.click()
    fits(page)


def test_dialogs_are_used_to_the_end(site: Site, visitors: Visitors) -> None:
    page = opened(visitors, site, "/manage/campaigns/judged")
    row = page.get_by_role("table", name="Workers").get_by_role("row").nth(1)
    row.get_by_role("button", name="Answers").click()
    answers = page.get_by_role("dialog")
    answers.get_by_role("group").first.click()
    usable(answers)
    for look in ("Compare", "Reject"):
        answers.get_by_role("button", name=look).first.click()
        dialog = page.get_by_role("dialog").last
        expect(dialog.get_by_role("table")).to_be_visible()
        usable(dialog)
        dialog.get_by_role("row").last.scroll_into_view_if_needed()
        expect(dialog.get_by_role("row").last).to_be_in_viewport()
        page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    row.get_by_role("button", name="Decide").click()
    dialog = page.get_by_role("dialog")
    usable(dialog)
    dialog.get_by_role("radio", name="Reject all work").check()
    dialog.get_by_label("Reason", exact=True).fill("read nothing")
    expect(dialog.get_by_label("Reason", exact=True)).to_be_in_viewport()
    dialog.get_by_role("button", name="Reject all").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("table", name="Decisions").get_by_role("button", name="Undo").click()
    usable(page.get_by_role("dialog"))
