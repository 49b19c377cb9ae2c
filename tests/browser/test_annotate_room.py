"""Room on every screen: enough units in view, nothing over anything else, nothing hidden without a sign of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import pyramidion as pyr
from tests.browser.annotating import LARGE, account, begin, come_in, large_study, open_editor
from tests.browser.people import Visitors
from tests.browser.site import Site, serve
from tests.browser.test_annotate_desk import READABLE

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
LOW_PHONE = {"width": 390, "height": 664}
LAPTOP = {"width": 1280, "height": 720}
DESKTOP = {"width": 1440, "height": 900}
Box = tuple[float, float, float, float]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(large_study(), tmp_path_factory.mktemp("room")) as site:
        account(site, "erin")
        yield site


# How many lines the words of a node take.
LINES = """(node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size;
}"""


def box(part: Locator) -> Box:
    """Left, top, right, bottom."""
    found = part.bounding_box()
    assert found is not None
    return found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1


def open_pyramid(page: Page, site: Site, name: str) -> None:
    come_in(page, site, "erin")
    open_editor(page, site, begin(page, kind="pyramid", topic=LARGE, name=name, start="expert"))


def open_summary(page: Page, site: Site, name: str) -> None:
    come_in(page, site, "erin")
    open_editor(page, site, begin(page, kind="peer", topic=LARGE, system="system-1", name=name, pyramid="expert"))


def set_compact(page: Page) -> None:
    page.evaluate("document.documentElement.classList.add('a-dense')")


@pytest.mark.parametrize("size", [LOW_PHONE, PHONE], ids=["low phone", "phone"])
def test_nothing_in_the_pick_bar_covers_anything_else(site: Site, visitors: Visitors, size: dict[str, int]) -> None:
    page = visitors.new(viewport=size)
    open_pyramid(page, site, f"pick bar {size['height']}")
    set_compact(page)
    bar = page.locator(".a-here")
    bar.scroll_into_view_if_needed()

    def check_bar(*parts: Locator) -> None:
        boxes = [box(part) for each in parts for part in each.all()]
        frame = box(bar)
        for at, one in enumerate(boxes):
            assert frame[0] <= one[0]
            assert frame[1] <= one[1]
            assert one[2] <= frame[2]
            assert one[3] <= frame[3]
            assert not any(overlap(one, other) for other in boxes[at + 1 :])

    buttons = bar.locator("button.button")
    expect(buttons).to_have_count(3)
    check_bar(bar.locator(".a-hint"), buttons)
    page.evaluate("scrollTo(0, 0)")  # from under the bar at the top
    page.locator(".a-text").first.dblclick(position={"x": 60, "y": 20})
    expect(bar.locator(".a-chip").first).to_be_visible()
    check_bar(bar.locator(".a-picked"), buttons, bar.locator(".a-chip"))


@pytest.mark.parametrize("size", [LAPTOP, DESKTOP], ids=["laptop", "desktop"])
def test_at_least_15_units_are_readable_at_first(site: Site, visitors: Visitors, size: dict[str, int]) -> None:
    page = visitors.new(viewport=size)
    for opened in (open_pyramid, open_summary):
        opened(page, site, f"readable {size['width']}")
        assert page.evaluate(READABLE) >= 15


def test_a_phone_starts_with_room_for_fingers(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LOW_PHONE)
    open_pyramid(page, site, "fingers")
    left, top, right, bottom = box(page.locator(".a-unit").first)
    assert min(right - left, bottom - top) >= 24


@pytest.mark.parametrize("count", [9, 10])
def test_many_topics_are_searched(visitors: Visitors, tmp_path: Path, count: int) -> None:
    """Those on which work has begun come first."""
    large = large_study()
    topics = tuple(pyr.Topic(f"t{number}", f"Water {number}") for number in range(count - 1))
    topics += (pyr.Topic(LARGE, "The Café at the bridge"),)
    with serve(replace(large, topics=topics), tmp_path) as site:
        account(site, "erin")
        page = visitors.new(viewport=PHONE)
        come_in(page, site, "erin")
        cards = page.locator(".a-topic:visible")
        expect(cards).to_have_count(count)
        expect(cards.first).to_contain_text("Water 0")
        begin(page, kind="pyramid", topic=LARGE, name="begun")
        page.reload()
        expect(cards.first).to_contain_text("The Café at the bridge")
        search = page.get_by_label("Search topics")
        expect(search).to_have_count(int(count >= 10))
        if count < 10:
            return
        search.fill("bridge CAFE")
        expect(cards).to_have_count(1)
        expect(page.get_by_text("1 of 10 topics")).to_be_visible()
        search.fill("bridges")
        expect(cards).to_have_count(0)
        expect(page.get_by_text("No topic has these words.")).to_be_visible()
        search.fill("")
        expect(cards).to_have_count(count)


def test_all_references_can_be_gone_to_on_a_phone(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=PHONE)
    open_pyramid(page, site, "tabs")
    tabs = page.locator(".a-tab")
    expect(tabs).to_have_count(10)
    left, _, right, _ = box(page.locator(".a-tabs"))
    for tab in tabs.all():
        start, _, end, _ = box(tab)
        assert left <= start
        assert end <= right


def test_a_laptop_shows_all_counts_of_a_summary(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    open_summary(page, site, "counts")
    counts = page.locator(".a-parts > summary")
    expect(counts).to_have_text("0 matched · 0 repeated · 0 in no unit")
    assert counts.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_numbers_and_names_of_scores_stay_whole_in_print_on_a_phone(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=PHONE)
    open_summary(page, site, "printed")
    page.goto(f"{page.url}/print")
    cells = page.locator(".p-scores :is(th, .number)")
    expect(cells).to_have_count(10)
    for cell in cells.all():
        assert cell.evaluate(LINES) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_search_without_hits_says_so(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    open_pyramid(page, site, "hits")
    none = page.locator(".a-tiers").get_by_text("No unit has these words.")
    expect(none).to_have_count(0)
    page.get_by_label("Search units").fill("xylophone")
    expect(none).to_be_visible()
    page.get_by_label("Search units").fill("water")
    expect(page.locator(".a-card:visible").first).to_be_visible()
    expect(none).to_have_count(0)
