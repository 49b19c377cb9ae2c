"""What an adjudicator has to settle: differences in words, labels and comments, on a phone too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.annotating import JUDGE, account, begin, call, come_in, expert_study, golden, state
from tests.browser.people import Visitors
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser

LABELS = {unit.id: unit.label for unit in golden().units}
SIZE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
RENAMED, COMMENTED = "u03", "u08"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("adjudicate")) as site:
        account(site, "erin")
        yield site


def compare(page: Page, site: Site, name: str, *commands: dict[str, Any], **about: Any) -> tuple[int, int]:
    """Two copies, the second of them changed, side by side."""
    come_in(page, site, "erin")
    first, second = (begin(page, name=f"{name} {which}", **about) for which in ("left", "right"))
    for command in commands:
        base = state(page, second)["version"]
        call(page, f"/api/annotate/{second}/commands", {"command": command, "base": base})
    page.goto(f"{site.url}/annotate/compare?first={first}&second={second}")
    return first, second


def make_third(page: Page, name: str) -> int:
    page.get_by_label("Name of the third annotation").fill(name)
    page.get_by_role("button", name="Begin the third").click()
    link = page.locator("#third").get_by_role("link", name=name)
    return int((link.get_attribute("href") or "").rsplit("/", 1)[1])


def open_rows(page: Page) -> Locator:
    return page.locator("tr.a-differs")


def test_labels_and_comments_are_settled_like_words(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZE)
    renamed = {"type": "rename_unit", "unit": RENAMED, "label": "Said in other words"}
    commented = {"type": "comment_unit", "unit": COMMENTED, "comment": "Is this one unit or two?"}
    compare(page, site, "wording", renamed, commented, kind="pyramid", start="expert")
    expect(page.get_by_text("2 disagreements")).to_be_visible()
    agreement = page.get_by_role("region", name="Agreement")
    expect(agreement).to_contain_text(f"{len(LABELS)} of {len(LABELS)} units")  # the references that tell them
    label = open_rows(page).filter(has_text="only the label differs")
    comment = open_rows(page).filter(has_text="only the comment differs")
    expect(label).to_contain_text("Said in other words")
    expect(label.locator(".a-differing")).to_have_text([LABELS[RENAMED], "Said in other words"])
    expect(comment.locator(".a-differing")).to_have_text(["no comment", "Is this one unit or two?"])
    third = make_third(page, "wording third")
    expect(page.get_by_text("0 of 2 disagreements settled")).to_be_visible()
    for row in (label, comment):
        row.get_by_role("button", name="right").click()
        expect(row.get_by_role("button", name="right")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("2 of 2 disagreements settled")).to_be_visible()
    expect(page.locator("#third")).to_contain_text("All changes saved")
    units = {unit["id"]: unit for unit in state(page, third)["pyramid"]["units"]}
    assert units[RENAMED]["label"] == "Said in other words"
    assert units[COMMENTED]["comment"] == "Is this one unit or two?"
    comment.get_by_role("button", name="left").click()
    expect(comment.get_by_role("button", name="left")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#third")).to_contain_text("All changes saved")
    units = {unit["id"]: unit for unit in state(page, third)["pyramid"]["units"]}
    assert units[COMMENTED]["comment"] == ""


@pytest.mark.parametrize("kind", ["pyramid", "peer"])
def test_a_phone_shows_both_annotations_and_the_decision(site: Site, visitors: Visitors, kind: str) -> None:
    page = visitors.new(viewport=PHONE)
    if kind == "pyramid":
        about = {"kind": kind, "start": "expert"}
        changes = [{"type": "remove_contributor", "unit": RENAMED, "reference": "C"}]
    else:
        about = {"kind": kind, "system": "extract", "pyramid": "expert", "start": JUDGE}
        changes = [{"type": "match_unit", "unit": "u33", "spans": [[0, 5]]}]
    compare(page, site, f"phone {kind}", *changes, **about)
    make_third(page, f"phone {kind} third")
    (row,) = open_rows(page).all()
    tops = []
    for part in (*row.locator("td").all()[:2], *row.get_by_role("button").all()):
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        tops.append(box["y"] + page.evaluate("scrollY"))
    assert tops[0] < tops[1] < tops[2] == tops[3], "one annotation below the other, then the choice of both"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    scrolled = "node => node.scrollWidth > node.clientWidth"
    assert not page.locator("#rows .m-scroll").evaluate(scrolled)
    row.get_by_role("button", name="right").click()
    expect(page.get_by_text("1 of 1 disagreement settled")).to_be_visible()


def test_a_comparison_of_nothing_says_what_to_do(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=PHONE)
    visitors.expect_problem("Failed to load resource")
    come_in(page, site, "erin")
    pyramid = begin(page, kind="pyramid", name="of a pyramid", start="expert")
    summary = begin(page, kind="peer", name="of a summary", system="lead", pyramid="expert")
    for query in (
        "",
        "?first=x&second=y",
        f"?first={pyramid}",
        f"?first={pyramid}&second=99999",
        f"?first={pyramid}&second=9007199254740991",
        f"?first={pyramid}&second={summary}",
    ):
        page.goto(f"{site.url}/annotate/compare{query}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Two annotations side by side")
        link = page.get_by_role("link", name="Choose two annotations on the desk")
        expect(link).to_be_visible()
        expect(page.locator(".card:visible")).to_have_count(0)
        expect(page.get_by_text("not valid")).to_have_count(0)
    link.click()
    expect(page.get_by_role("heading", name="Topics")).to_be_visible()
