"""A whole campaign as people live through it: write, make units, judge, exclude, score."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import (
    LOST_NETWORK,
    Visitors,
    counter,
    fact,
    log_in,
    make_links,
    pass_check,
    pass_check_by_keyboard,
    plan_campaign,
    pressed,
    start_campaign,
    statements,
)
from tests.browser.site import Site, serve, small_study

pytestmark = pytest.mark.browser

COPIED = "Port Ambry will ration water for the first time in its history."
AGAIN = "For the first time in its history Port Ambry will ration water."
TOO_SHORT = "Lawns stay dry."

# What each worker writes, and which systems say it.
WRITTEN = [
    {COPIED: "extract vague", "Every resident may use 120 litres a day.": "extract", "Lake Tessary is 23 percent full.": ""},
    {AGAIN: "extract vague", "Lawns may not be watered.": "extract", "A first offence costs 200 dollars.": "extract"},
    {
        TOO_SHORT: "",
        "Farmers in the Orlen Valley have gone to court.": "extract vague",
        "The city has approved a desalination plant.": "vague",
    },
]
TRUTH = {text: systems.split() for part in WRITTEN for text, systems in part.items()}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A study at its beginning: texts, no units, no campaigns."""
    with serve(small_study(["extract", "vague"], ["A"]), tmp_path_factory.mktemp("empty")) as site:
        yield site


def test_from_references_to_scores(empty: Site, visitors: Visitors) -> None:
    manager = visitors.new()
    log_in(manager, empty)
    plan_campaign(manager, "Write", "facts", {"Statements per task": "3", "Workers per task": "3"})
    expect(fact(manager, "Tasks")).to_have_text("1")
    expect(fact(manager, "Assignments")).to_have_text("3")
    expect(fact(manager, "Cost when all is done")).to_contain_text("$1.80")
    start_campaign(manager, "facts")
    for number, link in enumerate(make_links(manager, "facts", 3)):
        worker = visitors.new()
        worker.goto(link)
        pass_check(worker, "write")
        write(worker, list(WRITTEN[number]), copy_first=number == 0)

    store_units(manager)

    plan_campaign(manager, "Judge", "presence", {"Workers per task": "5", "Too fast below (seconds)": "0"})
    expect(fact(manager, "Tasks")).to_have_text("2")
    expect(fact(manager, "Assignments")).to_have_text("10")
    start_campaign(manager, "presence")
    links = make_links(manager, "presence", 5)
    manager.get_by_role("link", name="Watch it").click()
    for number, link in enumerate(links):
        worker = visitors.new()
        worker.goto(link)
        pass_check_by_keyboard(worker, "judge")
        for task in ("first", "last"):
            judge_by_keyboard(worker, empty, contrary=number == 3, last=task == "last")

    exclude_the_contrarian(manager)
    look_at_scores(manager)


def write(page: Page, texts: list[str], *, copy_first: bool) -> None:
    for number, text in enumerate(texts, 1):
        if copy_first and number == 1:
            select_sentence(page, text)
            page.get_by_role("button", name="Copy to statement 1").click()
            expect(page.get_by_label("Statement 1")).to_be_focused()
        else:
            page.get_by_label(f"Statement {number}").press_sequentially(text)
        expect(page.get_by_label(f"Statement {number}")).to_have_value(text)
    if TOO_SHORT in texts:
        expect(page.get_by_text("This has 3 words, fewer than 4.")).to_be_visible()
    expect(counter(page)).to_have_text("3 of 3 written")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_role("button", name="Next task").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


def select_sentence(page: Page, text: str) -> None:
    """As with a mouse: press at the start, drag to the end, let go."""
    sentence = page.get_by_text(text, exact=True)
    first, last = sentence.evaluate(
        "node => [...node.getClientRects()].map(({left, right, top, height}) => [left, right, top + height / 2])"
        ".filter((_, index, all) => index === 0 || index === all.length - 1).slice(-2)"
    ) * 2 if False else _ends(sentence)
    page.mouse.move(first[0], first[2])
    page.mouse.down()
    page.mouse.move(last[1], last[2], steps=5)
    page.mouse.up()
