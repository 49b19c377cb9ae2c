"""A whole pyramid of the bundled example, built in the browser from nothing: the export is the golden file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from tests.browser.annotating import (
    Fingers,
    account,
    begin,
    card,
    come_in,
    content,
    drag_pick_to,
    golden,
    labels,
    open_editor,
    pick_by_mouse,
    saved,
)
from tests.browser.people import Visitors
from tests.browser.site import TOPIC, Site, serve, small_study

pytestmark = pytest.mark.browser

GOLDEN = golden()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(small_study(["extract"], GOLDEN.references), tmp_path_factory.mktemp("building")) as site:
        account(site, "erin")
        yield site


def new_pyramid(page: Page, site: Site, name: str) -> int:
    come_in(page, site, "erin")
    number = begin(page, kind="pyramid", name=name)
    open_editor(page, site, number)
    return number


def exported(page: Page, folder: Path) -> Path:
    """The .pyr file, downloaded through the menu."""
    page.get_by_text("File", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as .pyr").click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def check_export(page: Page, folder: Path) -> None:
    """The file holds the golden pyramid, and is the one that the product writes for it."""
    saved(page)
    file = exported(page, folder)
    (built,) = pyr.load(file).pyramids
    assert content(built) == content(GOLDEN)
    study = small_study([], GOLDEN.references)
    pyr.save(pyr.Study(study.topics, study.summaries, (GOLDEN,)), folder / "golden", format="ducview")
    (wanted,) = (folder / "golden").rglob("*.pyr")
    assert file.read_text(encoding="utf-8") == wanted.read_text(encoding="utf-8")


def test_with_the_mouse(site: Site, visitors: Visitors, tmp_path: Path) -> None:
    page = visitors.new(viewport={"width": 1280, "height": 800})
    new_pyramid(page, site, "mouse")
    for unit in GOLDEN.units:
        for number, (reference, spans) in enumerate((c.reference, c.spans) for c in unit.contributors):
            text = ("Reference", reference)
            pick_by_mouse(page, text, spans)
            target = card(page, unit.label) if number else page.locator("#new-unit")
            drag_pick_to(page, text, spans[0], target)
            if not number:
                field = page.get_by_label("Label of the unit")
                field.fill(unit.label)
                field.press("Enter")
        expect(card(page, unit.label).locator(".a-weight")).to_have_text(str(unit.weight))
    assert sorted(labels(page)) == sorted(unit.label for unit in GOLDEN.units)
    weights = [int(text) for text in page.locator(".a-card .a-weight").all_text_contents()]
    assert weights == sorted(weights, reverse=True)
    check_export(page, tmp_path)


def test_with_the_keyboard_alone(site: Site, visitors: Visitors, tmp_path: Path) -> None:
    page = visitors.new(viewport={"width": 1280, "height": 800})
    new_pyramid(page, site, "keyboard")
    fingers = Fingers(page)
    for unit in GOLDEN.units:
        for number, (reference, spans) in enumerate((c.reference, c.spans) for c in unit.contributors):
            fingers.pick(reference, spans)
            page.keyboard.press("a" if number else "n")
            if not number:
                page.keyboard.press("Control+a")
                page.keyboard.insert_text(unit.label)
                page.keyboard.press("Enter")
    check_export(page, tmp_path)
    expect(page).to_have_url(re.compile(r"#unit=\d+$"))
    assert TOPIC in page.title()
