"""The editor of pyramids: every edit, by mouse and by key; undo and redo; light, search, filters, suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion.annotation import commands as do
from pyramidion.annotation.editing import apply
from pyramidion.study import Contributor, Span
from tests.browser.annotating import (
    account,
    begin,
    card,
    come_in,
    drag_over,
    expert_study,
    golden,
    labels,
    open_editor,
    pick_by_mouse,
    saved,
    shaded_as,
    shown,
    state,
)
from tests.browser.people import Visitors
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser

GOLDEN = golden()
UNITS = {unit.id: unit for unit in GOLDEN.units}
TEXTS = {s.system: s.text for s in expert_study().summaries if s.role == "reference"}
COURT = "Farmers have gone to court against the city"
LAWNS = "Watering lawns is forbidden"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("editing")) as site:
        account(site, "erin")
        account(site, "vera", "viewer")
        yield site


@pytest.fixture
def page(site: Site, visitors: Visitors, request: pytest.FixtureRequest) -> Page:
    """The golden pyramid, opened by an expert."""
    page = visitors.new(viewport={"width": 1280, "height": 800})
    come_in(page, site, "erin")
    open_editor(page, site, begin(page, kind="pyramid", name=request.node.name, start="expert"))
    return page


def number(page: Page) -> int:
    return int(page.locator("main").get_attribute("data-annotation") or 0)


def units(page: Page) -> dict[str, tuple[str, str, dict[str, list[list[int]]]]]:
    """What the server holds: label, comment, and contributors by unit."""
    saved(page)
    return {
        unit["id"]: (unit["label"], unit["comment"], {c["reference"]: c["spans"] for c in unit["contributors"]})
        for unit in state(page, number(page))["pyramid"]["units"]
    }


def after(pyramid: pyr.Pyramid, *commands: do.PyramidCommand) -> dict[str, tuple[str, str, dict[str, list[list[int]]]]]:
    """The same as ``units``, of a pyramid after commands."""
    for command in commands:
        made = apply(pyramid, command)
        assert isinstance(made, pyr.Pyramid)
        pyramid = made
    return {
        unit.id: (unit.label, unit.comment, {c.reference: [list(s) for s in c.spans] for c in unit.contributors})
        for unit in pyramid.units
    }


# -- light ---------------------------------------------------------------------------------------------------


def words_of(unit: str) -> list[str]:
    return [span.of(TEXTS[c.reference]) for c in UNITS[unit].contributors for span in c.spans]


def test_units_light_their_words_and_words_their_units(page: Page) -> None:
    card(page, COURT).hover()
    assert shown(page, "lit") == words_of("u04")
    card(page, COURT).locator("button").focus()
    page.mouse.move(5, 5)
    expect(page.locator(".a-card.a-lit")).to_have_count(0)
    assert shown(page, "current") == words_of("u04")
    page.locator(".a-text").first.hover(position={"x": 30, "y": 20})  # "Port Ambry", at the very beginning
    expect(page.locator(".a-card.a-lit")).to_contain_text("Port Ambry is introducing water rationing")
    assert shown(page, "lit") == words_of("u01")
    expect(page.get_by_role("group", name="Units of these words")).to_contain_text("Port Ambry is introducing")


def used(reference: str) -> list[int]:
    """How many units use each character of a reference."""
    spans = [s for unit in GOLDEN.units for c in unit.contributors if c.reference == reference for s in c.spans]
    return [sum(span.start <= place < span.end for span in spans) for place in range(len(TEXTS[reference]))]


def stretches(times: list[int]) -> Iterator[tuple[int, int, int]]:
    """Where each stretch that is used equally often begins and ends, and how often it is used."""
    start = 0
    for place in range(1, len(times) + 1):
        if place == len(times) or times[place] != times[start]:
            yield start, place, times[start]
            start = place


def test_words_are_shaded_by_how_many_units_use_them(page: Page) -> None:
    for size in ({"width": 1280, "height": 800}, {"width": 1700, "height": 900}):  # lines break elsewhere
        page.set_viewport_size(size)
        page.wait_for_timeout(200)
        for reference in GOLDEN.references:
            found = list(stretches(used(reference)))
            for depth in range(1, 5):
                wanted = [(start, end) for start, end, times in found if min(times, 4) == depth]
                shaded_as(page, reference, f"used-{depth}", wanted)


def test_unused_text_can_be_shown_and_gone_to(page: Page) -> None:
    words = [match.span() for match in re.finditer(r"\w+", TEXTS["A"])]
    idle = [span for span in words if not any(used("A")[slice(*span)])]
    shaded_as(page, "A", "idle", [])
    page.get_by_role("button", name="Show unused text").click()
    shaded_as(page, "A", "idle", idle)
    page.locator(".a-text").first.focus()
    page.keyboard.press("u")
    assert shown(page, "cursor") == [TEXTS["A"][slice(*idle[0])]]


# -- edits ---------------------------------------------------------------------------------------------------


def test_rename_comment_and_delete(page: Page) -> None:
    card(page, COURT).locator("button").click()
    page.keyboard.press("r")
    page.get_by_label("Label of the unit").fill("Farmers sue")
    page.keyboard.press("Enter")
    expect(card(page, "Farmers sue").locator("button")).to_be_focused()
    page.keyboard.press("c")
    page.keyboard.insert_text("also growers?")
    page.keyboard.press("Control+Enter")
    expect(card(page, "Farmers sue").locator(".a-note")).to_have_text("✎")
    card(page, LAWNS).locator("button").click()
    page.keyboard.press("Delete")
    expect(card(page, LAWNS)).to_have_count(0)
    wanted = after(
        GOLDEN,
        do.RenameUnit("u04", "Farmers sue"),
        do.CommentUnit("u04", "also growers?"),
        do.DeleteUnit("u06"),
    )
    assert units(page) == wanted


def test_a_label_that_is_given_up_stays(page: Page) -> None:
    card(page, COURT).locator("button").click()
    page.keyboard.press("F2")
    page.keyboard.insert_text("something else")
    page.keyboard.press("Escape")
    expect(card(page, COURT)).to_be_visible()
    assert units(page) == after(GOLDEN)


def test_merge_by_search_and_by_dragging(page: Page) -> None:
    card(page, COURT).locator("button").click()
    page.keyboard.press("m")
    expect(page.get_by_text(f"Merge “{COURT}” with which unit?")).to_be_visible()
    page.keyboard.insert_text("lawns")
    page.keyboard.press("Enter")
    expect(card(page, LAWNS)).to_have_count(0)
    merged = do.MergeUnits(("u04", "u06"))
    assert units(page) == after(GOLDEN, merged)
    first, second = UNITS["u01"].label, UNITS["u02"].label
    card(page, second).drag_to(card(page, first))
    assert units(page) == after(GOLDEN, merged, do.MergeUnits(("u01", "u02")))


def test_split_and_move_contributors(page: Page) -> None:
    card(page, COURT).locator("button").click()
    page.get_by_label("Tick B").check()
    page.get_by_label("Tick D").check()
    page.get_by_role("button", name="into a new unit").click()
    page.get_by_label("Label of the unit").fill("Growers sue")
    page.keyboard.press("Enter")
    expect(card(page, "Growers sue").locator(".a-weight")).to_have_text("2")
    split = do.SplitUnit("u04", ("B", "D"), "Growers sue", "1")
    assert units(page) == after(GOLDEN, split)
    page.get_by_label("Tick D").check()
    page.get_by_role("button", name="into another unit").click()
    card(page, LAWNS).locator("button").click()
    assert units(page) == after(GOLDEN, split, do.MoveContributor("1", "D", "u06"))


def test_dragging_a_contributor_to_another_unit(page: Page) -> None:
    card(page, COURT).locator("button").click()
    row = page.locator("#unit [data-reference=A] .a-quote")
    row.drag_to(card(page, LAWNS))
    assert units(page) == after(GOLDEN, do.MoveContributor("u04", "A", "u06"))
    expect(card(page, COURT).locator(".a-weight")).to_have_text("3")


def test_the_order_within_a_tier(page: Page) -> None:
    top = [unit.id for unit in GOLDEN.units if unit.weight == 4]
    card(page, UNITS[top[0]].label).locator("button").click()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator(".a-card").nth(1)).to_contain_text(UNITS[top[0]].label)
    expect(card(page, UNITS[top[0]].label).locator("button")).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowUp")
    order = [top[1], top[0], *top[2:]]
    assert [unit for unit in units(page) if unit in top] == order


def test_words_are_added_and_removed_piece_by_piece(page: Page) -> None:
    """From a unit that has words of this reference already, and with a full stop, which words do not reach."""
    text = TEXTS["A"]
    extra = text.index("Hospitals and")
    card(page, COURT).locator("button").click()
    pick_by_mouse(page, ("Reference", "A"), [(extra, extra + 9), (len(text) - 6, len(text) - 1)])
    assert shown(page, "picked") == ["Hospitals", "years"]
    page.keyboard.press("Alt+Shift+ArrowRight")
    assert shown(page, "picked") == ["Hospitals", "years."]
    page.keyboard.press("a")
    spans = (Span(extra, extra + 9), Span(len(text) - 6, len(text)))
    added = do.AddContributor("u04", "A", spans)
    assert units(page) == after(GOLDEN, added)
    drag_over(page, ("Reference", "A"), (extra, extra + 9))
    page.keyboard.press("x")
    assert units(page) == after(GOLDEN, added, do.RemoveContributor("u04", "A", spans[:1]))


def test_a_unit_from_several_references_at_once(page: Page) -> None:
    first, second = TEXTS["A"].index("Hospitals"), TEXTS["B"].index("Hospitals")
    drag_over(page, ("Reference", "A"), (first, first + 9))
    drag_over(page, ("Reference", "B"), (second, second + 9), beside=True)
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    made = (Contributor("A", (Span(first, first + 9),)), Contributor("B", (Span(second, second + 9),)))
    assert units(page) == after(GOLDEN, do.AddUnit("1", "Hospitals", made))


def test_what_is_impossible_is_said(page: Page) -> None:
    card(page, COURT).locator("button").click()
    (span,) = next(c.spans for c in UNITS["u04"].contributors if c.reference == "A")
    drag_over(page, ("Reference", "A"), span)
    page.keyboard.press("a")
    expect(page.get_by_text("These words are already in this unit.")).to_be_visible()
    assert units(page) == after(GOLDEN)


# -- undo ----------------------------------------------------------------------------------------------------


def test_fifty_steps_back_and_forth(page: Page) -> None:
    before = units(page)
    card(page, COURT).locator("button").click()
    for step in range(25):
        page.keyboard.press("r")
        page.keyboard.insert_text(f"step {step}")
        page.keyboard.press("Enter")
        page.keyboard.press("Alt+ArrowDown" if step % 2 else "Alt+ArrowUp")
    done = units(page)
    assert done != before
    changes = state(page, number(page))["version"] - 1
    assert changes == 50
    for _ in range(changes):
        page.keyboard.press("Control+z")
    expect(card(page, COURT)).to_be_visible()
    assert units(page) == before
    assert list(units(page)) == list(before)
    for step in range(changes):
        page.keyboard.press("Control+y" if step % 2 else "Control+Shift+z")
    expect(card(page, "step 24")).to_be_visible()
    assert list(units(page).items()) == list(done.items())
    page.keyboard.press("Control+y")
    expect(page.get_by_text("There is nothing to redo.")).to_be_visible()


# -- finding -------------------------------------------------------------------------------------------------


def test_search_and_filters(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.insert_text("Orlen court")  # in a contributor's words, not in the label
    expect(page.get_by_text(re.compile(r"^\d+ shown$"))).to_be_visible()
    assert COURT in labels(page)
    assert LAWNS not in labels(page)
    page.keyboard.press("Escape")
    assert len(labels(page)) == len(GOLDEN.units)
    page.get_by_label("Which units").select_option("Weight 1")
    assert labels(page) == [unit.label for unit in GOLDEN.units if unit.weight == 1]
    page.get_by_label("Which units").select_option("No label")
    assert labels(page) == []


def test_a_link_leads_to_a_unit(page: Page, site: Site) -> None:
    open_editor(page, site, number(page), "#unit=u20")
    expect(page.locator("#unit").get_by_role("heading", level=2)).to_have_text(UNITS["u20"].label)
    expect(card(page, UNITS["u20"].label)).to_be_in_viewport()


def test_suggestions_are_marked_and_wait_to_be_accepted(page: Page) -> None:
    """Unit 3 loses the words of one reference; they, or others, are suggested, and nothing is added by itself."""
    label = UNITS["u03"].label
    card(page, label).locator("button").click()
    page.get_by_role("button", name="Remove the words of C").click()
    lacking = after(GOLDEN, do.RemoveContributor("u03", "C"))
    assert units(page) == lacking
    page.locator("#unit [data-act=suggest]").click()
    suggested = page.locator(".a-suggestion").first
    expect(suggested).to_be_visible()
    expect(page.get_by_text("Suggestion: may", exact=False).first).to_be_visible()
    assert units(page) == lacking
    words = page.locator(".a-suggestion").filter(has=page.get_by_role("button", name="Add"))
    expect(words.filter(has_text="23 percent of capacity").first).to_be_visible()
    words.first.hover()
    assert shown(page, "hint")
    words.first.get_by_role("button", name="Add").click()
    saved(page)
    assert set(units(page)["u03"][2]) > set(lacking["u03"][2])


def test_who_only_looks_cannot_change(page: Page, site: Site, visitors: Visitors) -> None:
    mine = number(page)
    viewer = visitors.new(viewport={"width": 1280, "height": 800})
    come_in(viewer, site, "vera")
    open_editor(viewer, site, mine)
    expect(viewer.get_by_text("Read only")).to_be_visible()
    card(viewer, COURT).locator("button").click()
    for key in ("r", "Delete", "m", "n", "Control+z"):
        viewer.keyboard.press(key)
    expect(viewer.get_by_label("Label of the unit")).to_have_count(0)
    expect(viewer.get_by_role("button", name="Rename")).to_have_count(0)
    assert shown(viewer, "current") == words_of("u04")
    assert units(page) == after(GOLDEN)
