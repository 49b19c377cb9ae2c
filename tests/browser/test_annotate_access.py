"""The annotation pages for everybody: axe-core in light and dark, large screens and tablets; the keyboard; colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.annotating import JUDGE, account, begin, call, card, come_in, expert_study, open_editor
from tests.browser.people import Visitors
from tests.browser.site import TOPIC, Site, serve
from tests.browser.test_accessibility import FOCUSED

pytestmark = pytest.mark.browser

WIDE, LARGE, TABLET, PHONE, ZOOMED = (
    {"width": w, "height": h} for w, h in ((1280, 800), (1920, 1080), (820, 1180), (390, 844), (640, 360))
)
"""A window of 1280 by 720 at 200% is one of 640 by 360."""
COURT = "Farmers have gone to court against the city"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("accessible-annotation")) as site:
        account(site, "erin")
        account(site, "vera", "viewer")
        yield site


def made(page: Page, kind: str, name: str) -> int:
    """An annotation that is there already, or a new one."""
    here = [a for a in call(page, "/api/annotate")["annotations"] if (a["kind"], a["name"]) == (kind, name)]
    if here:
        return int(here[0]["id"])
    if kind == "pyramid":
        return begin(page, kind=kind, name=name, start="expert")
    start = JUDGE if name == "done" else ""
    return begin(page, kind=kind, name=name, system="extract", pyramid="expert", start=start)


def desk(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    made(page, "pyramid", "one")
    made(page, "pyramid", "two")
    page.reload()
    expect(page.get_by_role("table", name="Annotations")).to_be_visible()


def beginning(page: Page, site: Site) -> None:
    desk(page, site)
    page.get_by_role("region", name=TOPIC).get_by_role("button", name="Annotate a summary").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def pyramid(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    open_editor(page, site, made(page, "pyramid", "one"))
    card(page, COURT).locator("button").click()


def picking(page: Page, site: Site) -> None:
    pyramid(page, site)
    page.get_by_role("button", name="Show unused text").click()
    page.locator(".a-text").first.focus()
    page.keyboard.press("Shift+ArrowRight")


def renaming(page: Page, site: Site) -> None:
    pyramid(page, site)
    page.keyboard.press("r")
    expect(page.get_by_label("Label of the unit")).to_be_focused()


def suggesting(page: Page, site: Site) -> None:
    pyramid(page, site)
    card(page, "The reservoir has fallen to 23 percent of its capacity").locator("button").click()
    page.keyboard.press("s")
    expect(page.locator(".a-suggestions").get_by_text(re.compile("uggestion")).first).to_be_visible()


def asking(page: Page, site: Site) -> None:
    pyramid(page, site)
    page.keyboard.press("m")
    expect(page.get_by_text("with which unit?")).to_be_visible()


def keys(page: Page, site: Site) -> None:
    pyramid(page, site)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def peer(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    open_editor(page, site, made(page, "peer", "done"))
    page.locator(".a-unit").first.click()
    expect(page.get_by_text("12 matched")).to_be_visible()


def proposing(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    open_editor(page, site, made(page, "peer", "open"))
    page.keyboard.press("s")
    expect(page.get_by_text("Proposal:").first).to_be_visible()


def looking(page: Page, site: Site) -> None:
    pyramid(page, site)
    number = page.locator("main").get_attribute("data-annotation")
    come_in(page, site, "vera", f"/annotate/{number}")
    expect(page.get_by_text("Read only")).to_be_visible()


def compact(page: Page, site: Site) -> None:
    """With the words of all units, found words, and a message."""
    pyramid(page, site)
    for key in ("o", "t", "Control+z", "f"):
        page.keyboard.press(key)
    page.keyboard.type("water")
    expect(page.locator("#find-count")).to_contain_text("1 of")
    expect(page.locator("#toast p")).to_be_visible()


def viewing(page: Page, site: Site) -> None:
    pyramid(page, site)
    page.get_by_text("View", exact=True).click()
    expect(page.get_by_role("button", name="Larger texts")).to_be_visible()


def comparing(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    first, second = made(page, "pyramid", "one"), made(page, "pyramid", "two")
    page.goto(f"{site.url}/annotate/compare?first={first}&second={second}")
    page.get_by_label("Only disagreements").uncheck()
    expect(page.locator(".a-rows")).to_contain_text(COURT)


def adjudicating(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    first, second = made(page, "peer", "done"), made(page, "peer", "open")
    page.goto(f"{site.url}/annotate/compare?first={first}&second={second}")
    begin_it = page.get_by_role("button", name="Begin the third")
    expect(begin_it.or_(page.locator("#settled")).first).to_be_visible()
    if begin_it.count():
        begin_it.click()
    expect(page.get_by_text("disagreements settled")).to_be_visible()
    page.keyboard.press("1")


def guidelines(page: Page, site: Site) -> None:
    come_in(page, site, "erin", "/annotate/guidelines")


def printing(page: Page, site: Site) -> None:
    come_in(page, site, "erin")
    page.goto(f"{site.url}/annotate/{made(page, 'peer', 'done')}/print")


PAGES: dict[str, Callable[[Page, Site], None]] = {
    "desk": desk,
    "beginning": beginning,
    "pyramid": pyramid,
    "picking": picking,
    "renaming": renaming,
    "suggesting": suggesting,
    "asking": asking,
    "keys": keys,
    "peer": peer,
    "proposing": proposing,
    "looking": looking,
    "comparing": comparing,
    "compact": compact,
    "viewing": viewing,
    "adjudicating": adjudicating,
    "guidelines": guidelines,
    "printing": printing,
}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, site: Site, visitors: Visitors) -> None:
    """Of any impact, in any size, and nothing scrolls sideways: on a phone, and at 200% too."""
    page = visitors.new(bypass_csp=True)  # axe-core comes from outside; nothing else gets around the policy
    PAGES[name](page, site)
    problems = []
    for number, size in enumerate((WIDE, LARGE, TABLET, PHONE, ZOOMED)):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=("light", "dark")[number % 2])
        here = f"{size['width']} px"
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
            problems.append(f"{here}: scrolls sideways")
        found = Axe().run(page).response
        assert "color-contrast" in [rule["id"] for rule in found["passes"]], "axe has not looked"
        problems += [f"{here}: {v['id']} at {node['target']}" for v in found["violations"] for node in v["nodes"]]
    assert problems == []


@pytest.mark.parametrize("name", ["desk", "pyramid", "peer", "comparing", "adjudicating"])
def test_the_focus_can_be_seen_wherever_tab_goes(name: str, site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    PAGES[name](page, site)
    stops, ends = [], 0
    for _ in range(300):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        stops += [stop] if stop else []
        ends += stop is None
        if ends == 2:
            break
    assert ends == 2, "Tab does not get out"
    assert len(stops) >= 5
    assert [stop["what"] for stop in stops if not stop["ringed"]] == []
    assert [stop["what"] for stop in stops if not stop["seen"]] == []


CONTRAST = """([ground, ink]) => {
  const colour = (name) => {
    const node = document.body.appendChild(document.createElement("i"));
    node.style.color = `var(${name})`;
    const [r, g, b] = getComputedStyle(node).color.match(/[\\d.]+/g).map(Number);
    node.remove();
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const [dark, light] = [colour(ground), colour(ink)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}"""


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_marked_words_can_be_read(colours: str, site: Site, visitors: Visitors) -> None:
    """axe does not see what is painted over text; WCAG AA asks for 4.5:1 all the same."""
    page = visitors.new(color_scheme=colours)
    pyramid(page, site)
    grounds = [
        "used-1",
        "used-2",
        "used-3",
        "used-4",
        "lit",
        "current",
        "picked",
        "hint",
        "flash",
        "marked",
        "warn-soft",
        "found",
        "first",
        "second",
        "both",
    ]
    ratios = {ground: page.evaluate(CONTRAST, [f"--{ground}", "--ink"]) for ground in grounds}
    assert {ground: ratio for ground, ratio in ratios.items() if ratio < 4.5} == {}


def test_single_keys_can_be_switched_off(site: Site, visitors: Visitors) -> None:
    """Speech input types letters: WCAG 2.1.4."""
    page = visitors.new(viewport=WIDE)
    keys(page, site)
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    card(page, COURT).locator("button").click()
    page.keyboard.press("r")
    expect(page.get_by_label("Label of the unit")).to_have_count(0)
    page.keyboard.press("F2")
    expect(page.get_by_label("Label of the unit")).to_be_focused()


def test_what_is_done_is_said(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    pyramid(page, site)
    page.locator(".a-text").first.focus()
    heard = page.locator("#announcements")
    page.keyboard.press("ArrowRight")
    expect(heard).to_have_text("Ambry")
    page.keyboard.press("Space")
    expect(heard).to_have_text("Ambry picked")
    page.keyboard.press("a")
    expect(heard).to_have_text(f"Added to “{COURT}”, now of weight 4")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("status").filter(has_text="Undone: ")).to_be_visible()
