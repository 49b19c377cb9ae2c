"""The desk that experts sit at for hours, with a topic of real size: room, ways through it, and nothing lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.annotating import (
    JUDGE,
    LARGE,
    account,
    begin,
    call,
    card,
    come_in,
    drag_over,
    expert_study,
    golden,
    large_study,
    open_editor,
    saved,
    shown,
    state,
)
from tests.browser.people import Visitors
from tests.browser.site import TOPIC, Site, serve
from tests.waiting import until

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1280, "height": 720}
LARGE_STUDY = large_study()
TEXTS = {s.system: s.text for s in LARGE_STUDY.summaries}
GOLDEN = golden()
COURT = "Farmers have gone to court against the city"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(LARGE_STUDY, tmp_path_factory.mktemp("large")) as site:
        account(site, "erin")
        yield site


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("small")) as site:
        account(site, "erin")
        yield site


def large_pyramid(page: Page, site: Site, name: str) -> int:
    come_in(page, site, "erin")
    number = begin(page, kind="pyramid", topic=LARGE, name=name, start="expert")
    open_editor(page, site, number)
    return number


def message(page: Page) -> Locator:
    return page.locator("#toast p")


# How many cards can be read whole: inside the list, and under nothing.
READABLE = """() => {
  const frame = document.querySelector(".a-tiers").getBoundingClientRect();
  return [...document.querySelectorAll(".a-card")].filter((card) => {
    const {left, top, bottom, width} = card.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom + 0.5) return false;
    return [top + 3, bottom - 3].every((y) => card.contains(document.elementFromPoint(left + width / 2, y)));
  }).length;
}"""


# -- nothing lost --------------------------------------------------------------------------------------------


def test_undo_stops_at_the_start_and_says_so(small: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    number = begin(page, kind="pyramid", name="undone", start="expert")
    open_editor(page, small, number)
    card(page, COURT).locator("button").click()
    page.keyboard.press("Delete")
    expect(message(page)).to_have_text("Unit deleted. Undo brings it back.")
    covered = page.evaluate(
        """() => {
          const {left, top, right, bottom} = document.querySelector("#toast p").getBoundingClientRect();
          const over = document.querySelector("#main").getBoundingClientRect();
          const buttons = [...document.querySelectorAll(".a-top :is(a, button, summary)")];
          const under = buttons.filter((node) => {
            const box = node.getBoundingClientRect();
            return box.left < right && left < box.right && box.top < bottom && top < box.bottom;
          });
          return bottom > over.top || under.length > 0;
        }"""
    )
    assert not covered
    page.keyboard.press("Control+z")
    expect(card(page, COURT)).to_be_visible()
    expect(message(page)).not_to_contain_text("brings it back")
    saved(page)
    for _ in range(3):
        page.keyboard.press("Control+z")
        expect(message(page)).to_have_text("Undo stops here: this is what the annotation began with.")
    page.get_by_role("button", name="Undo").click(force=True)  # it looks switched off, and says why
    saved(page)
    assert len(state(page, number)["pyramid"]["units"]) == len(GOLDEN.units)
    expect(page.locator(".a-card")).to_have_count(len(GOLDEN.units))


def test_one_name_for_all_summaries_and_from_one_to_the_next(small: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    topic = page.get_by_role("region", name=TOPIC)
    name = page.get_by_label("Name of the annotation")

    def offered(system: str) -> str:
        topic.get_by_role("button", name="Annotate a summary").click()
        page.get_by_label("Summary", exact=True).select_option(system)
        return name.input_value()

    assert offered("extract") == "erin"
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.get_by_text("Summary 1 of 3")).to_be_visible()
    drag_over(page, ("Summary", "extract"), (0, 10))
    page.keyboard.press("n")
    page.keyboard.press("j")  # the next one begins by itself, under the same name
    expect(page.get_by_text("Summary 2 of 3")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("lead erin")
    expect(page.get_by_role("progressbar", name="Summaries begun")).to_have_attribute("value", "2")
    page.get_by_role("button", name="Next summary").click()
    expect(page.get_by_text("Summary 3 of 3")).to_be_visible()
    page.keyboard.press("j")
    expect(message(page)).to_have_text("This is the last summary of the topic.")
    page.keyboard.press("k")
    expect(page.get_by_text("Summary 2 of 3")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_text("Summary 1 of 3")).to_be_visible()
    expect(page.locator("[data-score=original]")).to_be_visible()
    assert page.locator(".a-time").text_content()
    page.goto(f"{small.url}/annotate")
    mine = [a for a in call(page, "/api/annotate")["annotations"] if a["kind"] == "peer" and a["owner"] == "erin"]
    assert {(a["system"], a["name"]) for a in mine} >= {("extract", "erin"), ("lead", "erin"), ("repeat", "erin")}
    assert next(a["seconds"] for a in mine if (a["system"], a["name"]) == ("extract", "erin")) > 0
    expect(page.get_by_role("table", name="Annotations")).to_contain_text("Time at work")
    assert offered("extract") == "erin 2", "a second annotation of the same summary"


def test_an_adjudication_goes_on_where_it_was(small: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    about: dict[str, Any] = {"kind": "peer", "system": "extract", "pyramid": "expert", "start": JUDGE}
    first, second = (begin(page, name=name, **about) for name in ("left", "right"))
    found = state(page, second)["peer"]
    for command in (
        {"type": "unmatch", "id": found["matches"][0]["id"]},
        {"type": "match_unit", "unit": "u33", "spans": [[0, 5]]},
        {"type": "remove_mark", "id": found["marks"][0]["id"]},
    ):
        call(page, f"/api/annotate/{second}/commands", {"command": command, "base": state(page, second)["version"]})
    address = f"{small.url}/annotate/compare?first={first}&second={second}"
    page.goto(address)
    expect(page.get_by_role("region", name="Agreement")).to_contain_text(
        "Both agree on whether it is there, for 31 of 33"
    )
    expect(page.get_by_role("region", name="Agreement")).to_contain_text("Krippendorff’s α 0.")
    wanted = [f"{state(page, number)['score']['modified']:.4f}" for number in (first, second)]
    modified = page.get_by_role("row", name="modified")
    expect(modified.get_by_role("cell").nth(0)).to_have_text(wanted[0])
    expect(modified.get_by_role("cell").nth(1)).to_have_text(wanted[1])
    text = page.get_by_role("region", name="The text, with the words of both")
    expect(text).to_contain_text("extract")
    assert shown(page, "both")
    assert shown(page, "first")
    page.get_by_label("Name of the third annotation").fill("third")
    page.get_by_role("button", name="Begin the third").click()
    expect(page.get_by_text("0 of 3 disagreements settled")).to_be_visible()
    rows = page.get_by_role("row").filter(has=page.locator(".a-third")).and_(page.locator(":visible"))
    rows.nth(0).hover()
    assert shown(page, "both") == [], "only the words of the row"
    page.keyboard.press("1")  # what it began with is a decision too
    expect(page.get_by_text("1 of 3 disagreements settled")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_text("2 of 3 disagreements settled")).to_be_visible()
    expect(page.locator("#third")).to_contain_text("All changes saved")
    for again in (page.reload, lambda: page.goto(address)):  # by the same address, or from the desk
        again()
        expect(page.get_by_text("2 of 3 disagreements settled")).to_be_visible()
        expect(page.get_by_role("button", name="Begin the third")).to_have_count(0)
        expect(rows.nth(0).get_by_role("button", name="left")).to_have_attribute("aria-pressed", "true")
        expect(rows.nth(1).get_by_role("button", name="right")).to_have_attribute("aria-pressed", "true")
        expect(rows.nth(2).get_by_text("Open")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("1 of 3 disagreements settled")).to_be_visible()
    thirds = [a for a in call(page, "/api/annotate")["annotations"] if a["adjudicates"]]
    assert [(a["name"], a["adjudicates"]) for a in thirds] == [("third", [first, second])]


# -- room ----------------------------------------------------------------------------------------------------


def test_a_laptop_shows_enough_of_a_large_pyramid(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    large_pyramid(page, site, "room")
    assert page.evaluate(READABLE) >= 15, "compact, as it starts on a low screen"
    for key, name in zip("1234567890", "ABCDEFGHIJ", strict=True):
        page.keyboard.press(key)
        expect(page.locator(f'.a-text[aria-label^="Reference {name},"]')).to_be_focused()
        expect(page.locator(f'.a-text[aria-label^="Reference {name},"]')).to_be_in_viewport()
    page.get_by_role("button", name="Go to E").click()
    expect(page.locator('.a-text[aria-label^="Reference E,"]')).to_be_focused()
    unit = LARGE_STUDY.pyramids[0].units[40]
    page.locator(f'[data-unit="{unit.id}"] button').first.click()
    expect(page.locator(".a-tab.a-has")).to_have_text(
        [c.reference for c in sorted(unit.contributors, key=lambda c: c.reference)]
    )
    open_editor(page, site, begin(page, kind="peer", topic=LARGE, system="system-1", name="room", pyramid="expert"))
    assert page.evaluate(READABLE) >= 15
    page.keyboard.press("o")
    assert page.evaluate(READABLE) < 15, "comfortable"
    assert page.locator(".a-tier:visible").filter(has_not=page.locator(".a-card")).count() == 0, "no empty tiers"


def test_the_view_is_remembered(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    number = large_pyramid(page, site, "view")

    def looks() -> list[Any]:
        looks: list[Any] = page.evaluate(
            """() => [
              Math.round(document.querySelector(".a-right").getBoundingClientRect().width),
              Math.round(document.querySelector(".a-detail").getBoundingClientRect().height),
              getComputedStyle(document.querySelector(".a-text")).fontSize,
              document.documentElement.classList.contains("a-dense"),
              document.querySelectorAll(".a-pane:not([hidden])").length,
              document.querySelectorAll(".a-tree").length,
            ]"""
        )
        return looks

    before = looks()
    for bar, by in (("#splitter", (-120, 0)), ("#divider", (0, -90))):
        box = page.locator(bar).bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by[0], y + by[1])
        page.mouse.up()
    page.locator(".a-text").first.focus()
    for key in ("+", "+", "o", "t"):
        page.keyboard.press(key)
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Layout of the texts").select_option("one at a time")
    page.keyboard.press("Escape")
    changed = looks()
    assert changed[0] == pytest.approx(before[0] + 120, abs=8)
    assert changed[1] == pytest.approx(before[1] + 90, abs=8)
    assert changed[2:] == ["19.2px", False, 1, 80]
    open_editor(page, site, number)
    assert looks() == changed
    splitter = page.get_by_role("separator", name="Width of the pyramid")
    splitter.focus()
    page.keyboard.press("ArrowRight")
    assert looks()[0] < changed[0]
    page.keyboard.press("Enter")  # as it comes
    assert looks()[0] == before[0]
    page.locator(".a-text:visible").focus()
    page.keyboard.press("4")  # one at a time: the others are shown when they are gone to
    expect(page.locator(".a-pane:visible h3")).to_contain_text("D")


# -- ways through ----------------------------------------------------------------------------------------------


def test_the_words_of_all_units_as_a_tree(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    large_pyramid(page, site, "tree")
    expect(page.locator(".a-tree")).to_have_count(0)
    page.get_by_role("button", name="Words", exact=True).click()
    for unit in LARGE_STUDY.pyramids[0].units[:5]:
        words = page.locator(f'[data-unit="{unit.id}"] .a-tree')
        expect(words.locator(".a-from")).to_have_text([c.reference for c in unit.contributors])
        expect(words.locator(".a-quote")).to_have_text([c.spans[0].of(TEXTS[c.reference]) for c in unit.contributors])
    first = LARGE_STUDY.pyramids[0].units[0].contributors[-1]
    page.locator('[data-unit="u0"] .a-quote').last.click()
    expect(page.locator(f'.a-text[aria-label^="Reference {first.reference},"]')).to_be_focused()
    assert shown(page, "cursor") == [first.spans[0].of(TEXTS[first.reference]).split()[0]]
    page.keyboard.press("t")
    expect(page.locator(".a-tree")).to_have_count(0)
    page.locator('[data-unit="u0"] .a-unit').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".a-tree")).to_have_count(1)


NEIGHBOURS = """([name, units]) => {
  const lines = [...document.querySelector(`.a-text[aria-label^="Reference ${name},"]`).parentElement
    .querySelectorAll("[class^=a-hue-]")].filter((path) => path.getAttribute("d"));
  const hue = (id) => document.querySelector(`[data-unit="${id}"]`).dataset.hue;
  return [lines.length, units.map(hue)];
}"""


def test_neighbouring_units_are_told_apart(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    large_pyramid(page, site, "hues")
    for name in "ABCDEFGHIJ":
        held = sorted(
            (c.spans[0], u.id) for u in LARGE_STUDY.pyramids[0].units for c in u.contributors if c.reference == name
        )
        hues, given = page.evaluate(NEIGHBOURS, [name, [unit for _, unit in held]])
        assert hues >= 3
        touching = [
            (one, other)
            for (span, _), one, (later, _), other in zip(held, given, held[1:], given[1:], strict=False)
            if later.start - span.end <= 2
        ]
        assert touching
        apart = [one != other for one, other in touching]
        assert sum(apart) >= 0.9 * len(apart), "six hues are enough nearly everywhere"


def test_words_are_found_in_all_references(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    large_pyramid(page, site, "find")
    wanted = [match.group() for name in "ABCDEFGHIJ" for match in re.finditer(r"water", TEXTS[name], re.IGNORECASE)]
    page.keyboard.press("f")
    page.keyboard.type("Wáter")
    expect(page.locator("#find-count")).to_have_text(f"1 of {len(wanted)}")
    assert shown(page, "found") == wanted
    page.keyboard.press("Enter")
    expect(page.locator("#find-count")).to_have_text(f"2 of {len(wanted)}")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#find-count")).to_have_text(f"{len(wanted)} of {len(wanted)}")
    page.keyboard.press("Escape")  # on with the words found
    assert shown(page, "found") == []
    assert "water" in shown(page, "cursor")[0].lower()
    page.keyboard.press("f")
    page.keyboard.type("no such words")
    expect(page.locator("#find-count")).to_have_text("none")


def test_few_keys_for_what_is_done_most(small: Site, visitors: Visitors) -> None:
    """A clause by a double click, a label from one contributor, the likely unit by number, suggestions by E, D."""
    texts = {s.system: s.text for s in expert_study().summaries}
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    number = begin(page, kind="pyramid", name="few keys", start="expert")
    open_editor(page, small, number)
    text = texts["A"]
    place = page.locator('.a-text[aria-label^="Reference A,"]')
    place.dblclick(position={"x": 30, "y": 20})
    (picked,) = shown(page, "picked")
    assert text.startswith(picked)
    assert re.match(r"[.,;:!?]", text[len(picked)])
    place.click(position={"x": 30, "y": 20}, click_count=3)
    assert shown(page, "picked") == [text[: text.index(". ")]]
    likely = page.get_by_role("group", name="Likely units for these words").get_by_role("button")
    expect(likely.filter(has_text="Port Ambry is introducing water rationing")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+Space")
    assert shown(page, "picked") == [picked]
    drag_over(page, ("Reference", "B"), (0, texts["B"].index(" ", 12)), beside=True)
    page.keyboard.press("n")
    expect(page.get_by_label("Label of the unit")).to_have_value(picked[0].upper() + picked[1:])
    page.keyboard.press("Enter")
    page.keyboard.press("Control+z")
    card(page, COURT).locator("button").click()
    page.get_by_role("button", name="Remove the words of C").click()
    page.keyboard.press("s")
    expect(page.locator(".a-suggestion").first).to_be_in_viewport()
    until(lambda: page.evaluate("CSS.highlights.get('hint')?.size"))  # the words of the first one, before any key
    first, second = page.locator(".a-suggestion .a-suggested").all_text_contents()[:2]
    page.keyboard.press("d")
    expect(page.locator(".a-suggestion .a-suggested").first).to_have_text(second)
    weight = int(card(page, COURT).locator(".a-weight").text_content() or 0)
    page.keyboard.press("e")
    expect(page.locator(".a-suggested").get_by_text(second, exact=True)).to_have_count(0)
    saved(page)
    units = {unit["label"]: unit for unit in state(page, number)["pyramid"]["units"]}
    assert units[COURT]["weight"] >= weight
    assert first


def test_suggestions_say_that_they_are_looked_for(site: Site, visitors: Visitors) -> None:
    """Also below the ten contributors of a unit, where nothing could be seen of it."""
    page = visitors.new(viewport=LAPTOP)
    large_pyramid(page, site, "looking")
    page.locator('[data-unit="u0"] button').first.click()
    held: list[Route] = []
    page.route("**/suggestions?*", lambda route: held.append(route))  # noqa: PLW0108 - a builtin cannot be marked
    page.keyboard.press("s")
    expect(page.get_by_text("Looking …")).to_be_in_viewport()
    held[0].continue_()
    expect(page.get_by_text("Looking …")).to_have_count(0)
    expect(page.locator(".a-suggestions > *").first).to_be_in_viewport()


def test_what_is_settled_is_not_suggested_again(small: Site, visitors: Visitors) -> None:
    """A reference contributes once, so its other clauses go with the first; they are back when that is undone. What is
    likely in a summary goes when its unit is matched, with whatever words."""
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    open_editor(page, small, begin(page, kind="pyramid", name="settled", start="expert"))
    card(page, COURT).locator("button").click()
    page.get_by_role("button", name="Remove the words of C").click()
    page.keyboard.press("s")
    from_c = page.locator(".a-suggestion").filter(has=page.locator(".a-from").get_by_text("C", exact=True))
    expect(from_c.first).to_be_visible()
    count = from_c.count()
    assert count > 1
    page.keyboard.press("e")
    expect(page.get_by_role("button", name="Remove the words of C")).to_be_visible()
    expect(from_c).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(from_c).to_have_count(count)
    open_editor(page, small, begin(page, kind="peer", system="extract", name="settled", pyramid="expert"))
    likely = page.locator("h3:text('similar words') + ul li")
    label = likely.last.locator("bdi").first.text_content() or ""
    card(page, label).locator("button").click()
    page.locator(".a-text").dblclick(position={"x": 30, "y": 20})
    page.keyboard.press("a")
    expect(card(page, label)).to_contain_text("✓")
    expect(likely.get_by_text(label, exact=True)).to_have_count(0)
    expect(likely.first).to_be_visible()


def test_proposals_come_into_view_and_are_taken_by_key(small: Site, visitors: Visitors) -> None:
    texts = {s.system: s.text for s in expert_study().summaries}
    page = visitors.new(viewport=LAPTOP)
    come_in(page, small, "erin")
    number = begin(page, kind="peer", system="lead", name="proposed", pyramid="expert")
    open_editor(page, small, number)
    page.locator(".a-unit").first.click()
    page.keyboard.press("s")
    first = page.locator(".a-suggestion").first
    expect(first).to_be_in_viewport(ratio=0.9)
    words = shown(page, "hint")
    assert words
    page.keyboard.press("e")
    saved(page)
    (match,) = state(page, number)["peer"]["matches"]
    assert [texts["lead"][start:end] for start, end in match["spans"]] == words
    page.reload()  # they are wanted, so they come by themselves
    expect(page.locator(".a-suggestion").first).to_be_in_viewport(ratio=0.9)
    end = next(place for place in range(20, 200) if texts["lead"][place] in ".,")
    drag_over(page, ("Summary", "lead"), (0, end))
    likely = page.get_by_role("group", name="Likely units for these words").get_by_role("button")
    expect(likely.first).to_be_visible()
    label = likely.first.locator("bdi").text_content() or ""
    page.keyboard.press("1")
    expect(card(page, label)).to_contain_text("✓")
