"""Pages for everybody: axe-core in light and dark, on wide screens and phones; the keyboard; a thumb."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pyramidion.campaigns.rehearsal import rehearse_campaign
from tests.browser.people import Visitors, begin, counter, let_in, statements, submitted
from tests.browser.site import Site, serve, small_study

pytestmark = pytest.mark.browser

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
THEMES: tuple[Any, Any] = ("light", "dark")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Every kind of campaign, one of them with answers of good and bad workers."""
    study = small_study(["extract", "vague"], ["A", "B", "C", "D"], units=8)
    with serve(study, tmp_path_factory.mktemp("accessible")) as site:
        for kind in ("write", "judge", "rate", "compare"):
            site.start(kind, kind, check=False)
        site.start("judge", "explained")
        site.start("judge", "answered", min_seconds=60)
        site.start("write", "written", statements=4)
        rehearse_campaign(site.desk, "answered", workers=8, careless=0.3, adversarial=0.2)
        rehearse_campaign(site.desk, "written", workers=4)
        yield site


# -- how to get to a page ------------------------------------------------------------------------------------


def login(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/login")


def overview(page: Page, site: Site) -> None:
    let_in(page, site)
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Which texts").click()
    page.get_by_role("button", name="Preview counts and cost").click()
    expect(page.get_by_role("heading", name="If you start it now")).to_be_visible()
    page.get_by_role("button", name="Make links").click()
    expect(page.get_by_label("5 links for")).to_be_visible()
    expect(page.get_by_role("table", name="Systems by")).to_be_visible()


def campaign(page: Page, site: Site) -> None:
    let_in(page, site, "/manage/campaigns/answered")
    expect(page.get_by_role("table", name="Workers")).to_be_visible()


def decision(page: Page, site: Site) -> None:
    campaign(page, site)
    page.get_by_role("button", name="Decide").first.click()
    page.get_by_role("radio", name="Pay a bonus").check()
    page.get_by_role("button", name="Record bonus").click()
    expect(page.get_by_text("Enter a reason.")).to_be_visible()


def compared(page: Page, site: Site) -> None:
    campaign(page, site)
    page.get_by_role("table", name="Workers").get_by_role("cell").get_by_role("button", name="Answers").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Reject").first.click()
    expect(page.get_by_role("dialog").last.get_by_role("table")).to_be_visible()


def units(page: Page, site: Site) -> None:
    let_in(page, site, "/manage/campaigns/written")
    page.get_by_role("button", name="Preview units").click()
    expect(page.get_by_role("heading", name="What would be stored")).to_be_visible()


def instructions(page: Page, site: Site) -> None:
    page.goto(site.link("explained"))
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_text("not answered yet")).to_be_visible()


def task(kind: str) -> Callable[[Page, Site], None]:
    def go(page: Page, site: Site) -> None:
        begin(page, site.link(kind))

    return go


def judging(page: Page, site: Site) -> None:
    task("judge")(page, site)
    page.keyboard.press("p")
    page.keyboard.press("n")


def keys(page: Page, site: Site) -> None:
    task("judge")(page, site)
    page.get_by_role("button", name="Instructions").click()
    expect(page.get_by_role("dialog")).to_be_visible()


PAGES = {
    "log-in": login,
    "overview": overview,
    "campaign": campaign,
    "decision": decision,
    "compared": compared,
    "units": units,
    "instructions": instructions,
    "judging": judging,
    "help": keys,
    "writing": task("write"),
    "rating": task("rate"),
    "comparing": task("compare"),
}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, site: Site, visitors: Visitors) -> None:
    page = visitors.new(bypass_csp=True)  # axe-core comes from outside; nothing else gets around the policy
    PAGES[name](page, site)
    assert list(problems(page, [WIDE, PHONE])) == []


def problems(page: Page, sizes: Sequence[Any]) -> Iterator[str]:
    """What scrolls sideways in any size and colours, and what axe finds: it looks at each size and at both colours,
    but not at each size in both, which would find the same once more.
    """
    for number, size in enumerate(sizes):
        page.set_viewport_size(size)
        for colours in THEMES:
            page.emulate_media(color_scheme=colours)
            here = f"{size['width']} px, {colours}"
            if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
                yield f"{here}: scrolls sideways"
            if colours == THEMES[number % 2]:
                yield from (f"{here}: {problem}" for problem in violations(page))


def violations(page: Page) -> Iterator[str]:
    results: dict[str, list[dict[str, Any]]] = Axe().run(page).response
    assert "color-contrast" in [rule["id"] for rule in results["passes"]], "axe has not looked"
    for violation in results["violations"]:
        for node in violation["nodes"]:
            yield f"{violation['id']} at {node['target']}: {node['failureSummary']}"


FOCUSED = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const near = [node, node.nextElementSibling, node.closest("label")].filter(Boolean);
  const ringed = near.some((each) => {
    const {outlineStyle, outlineWidth} = getComputedStyle(each);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  });
  const {left, top, width, height} = node.getBoundingClientRect();
  const hit = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, innerHeight / 4));
  const seen = near.some((each) => each.contains(hit) || hit?.contains(each));
  const name = node.getAttribute("aria-label") || node.textContent || node.id;
  return {ringed, seen, what: `${node.tagName} ${node.className} ${name.trim().slice(0, 40)}`};
}"""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"decision", "help", "units"}))
def test_the_focus_can_be_seen_wherever_tab_goes(name: str, size: Any, site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=size)
    PAGES[name](page, site)
    stops: list[dict[str, Any]] = []
    ends = 0
    for _ in range(500):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        stops += [stop] if stop else []
        ends += stop is None
        if ends == 2:  # from wherever the focus was to the end, and then everything from the top
            break
    assert ends == 2, "Tab does not get out"
    assert len(stops) >= 3
    assert [stop["what"] for stop in stops if not stop["ringed"]] == []
    assert [stop["what"] for stop in stops if not stop["seen"]] == []


def test_judging_with_a_thumb(site: Site, visitors: Visitors) -> None:
    site.start("judge", "thumb", check=False)
    page = visitors.new(viewport=PHONE, has_touch=True, is_mobile=True)
    begin(page, site.link("thumb"))
    expect(counter(page)).to_have_text("0 of 8 answered")
    summary = page.get_by_role("heading", name="Summary", exact=True)
    for number, text in enumerate(statements(page)):
        page.get_by_role("group", name=text).get_by_role("button", name="Present", exact=True).tap()
        expect(counter(page)).to_have_text(f"{number + 1} of 8 answered")
        expect(summary).to_be_in_viewport()
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Review").tap()
    page.get_by_role("button", name="Submit").tap()
    submitted(page)
    assert [set(answer["units"].values()) for answer in site.answers("thumb")] == [{1}]
