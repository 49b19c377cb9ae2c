"""Texts of all scripts, and texts that try to be more than text: spans are exact, and nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from tests.browser.annotating import (
    Fingers,
    account,
    begin,
    call,
    card,
    come_in,
    drag_over,
    drag_pick_to,
    open_editor,
    saved,
    shown,
    state,
)
from tests.browser.people import Visitors
from tests.browser.site import Site, serve
from tests.browser.test_hostile import ALL, ATTRIBUTE, BREAKOUT, IMAGE, SCRIPT, is_harmless

pytestmark = pytest.mark.browser

FAMILY, FLAG, THUMB = "👨‍👩‍👧‍👦", "🇳🇱", "👍🏽"
TEXTS = {
    "emoji": f"Rain {FAMILY} fell {THUMB} on the {FLAG} dikes 🌧️🌊 today. 𝔘nicode 𝒽olds.",
    "marks": "Le cafe\u0301 a\u0300 Zu\u0308rich, o\u0308ffnet nai\u0308ve Tu\u0308ren.",
    "hebrew": "ירושלים היא העיר הגדולה בישראל 🕊️ ויש בה מים.",
    "arabic": "المَدِينَةُ تُقَنِّنُ المِيَاهَ 💧 لأول مرة.",
    "mixed": "The word שלום means 🕊️ peace, and مرحبا greets.",
}
TOPIC = "scripts"
# (text, what is picked, as it must be stored)
PICKS = [
    ("emoji", FAMILY),
    ("emoji", f"fell {THUMB} on"),
    ("emoji", f"{FLAG} dikes"),
    ("emoji", "𝔘nicode 𝒽olds"),
    ("marks", "cafe\u0301 a\u0300 Zu\u0308rich"),
    ("marks", "Tu\u0308ren"),
    ("hebrew", "היא העיר"),
    ("hebrew", "בישראל 🕊️ ויש"),
    ("arabic", "تُقَنِّنُ المِيَاهَ"),
    ("arabic", "💧 لأول"),
    ("mixed", "שלום means 🕊️"),
    ("mixed", "peace, and مرحبا greets"),
]


def scripts() -> pyr.Study:
    return pyr.Study(
        topics=(pyr.Topic(TOPIC, "Scripts"),),
        summaries=(
            *(pyr.Summary(TOPIC, name, text, "reference") for name, text in TEXTS.items()),
            pyr.Summary(TOPIC, "peer", " ".join(TEXTS.values())),
        ),
    )


def hostile() -> pyr.Study:
    """Names that stand in attributes, texts, labels and comments."""
    references = (BREAKOUT, ATTRIBUTE)
    contributors = tuple(pyr.Contributor(name, (pyr.Span(0, 20),)) for name in references)
    units = tuple(
        pyr.ContentUnit(f"{name} {number}", text, contributors[: 1 + number % 2], comment=text)
        for number, (name, text) in enumerate([(SCRIPT, ALL), (IMAGE, SCRIPT), (ATTRIBUTE, IMAGE), ("{{7*7}}", "")])
    )
    return pyr.Study(
        topics=(pyr.Topic(IMAGE, ALL),),
        summaries=(
            *(pyr.Summary(IMAGE, name, ALL, "reference") for name in references),
            pyr.Summary(IMAGE, SCRIPT, ALL),
        ),
        pyramids=(pyr.Pyramid(IMAGE, references, units, ATTRIBUTE),),
        title=ALL,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(scripts(), tmp_path_factory.mktemp("scripts")) as site:
        account(site, "erin")
        yield site


def span_of(name: str, words: str) -> list[int]:
    """In code points, as Python counts."""
    start = TEXTS[name].index(words)
    return [start, start + len(words)]


def contributors(page: Page, number: int) -> list[list[Any]]:
    saved(page)
    units = state(page, number)["pyramid"]["units"]
    return [[c["reference"], c["spans"]] for unit in units for c in unit["contributors"]]


def test_spans_picked_with_the_mouse_are_exact(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport={"width": 1440, "height": 900})
    come_in(page, site, "erin")
    number = begin(page, kind="pyramid", topic=TOPIC, name="mouse")
    open_editor(page, site, number)
    for name, words in PICKS:
        span = span_of(name, words)
        drag_over(page, ("Reference", name), span)
        assert shown(page, "picked") == [words]
        drag_pick_to(page, ("Reference", name), span, page.locator("#new-unit"))
        page.keyboard.press("Enter")
    assert contributors(page, number) == [[name, [span_of(name, words)]] for name, words in PICKS]
    open_editor(page, site, number)  # and back: what the server sends is painted where it was picked
    for place, (_, words) in enumerate(PICKS):
        page.locator(".a-unit").nth(place).click()
        assert shown(page, "current") == [words]


def test_spans_picked_with_the_keyboard_are_exact(site: Site, visitors: Visitors) -> None:
    """In texts that run to the left, the left arrow goes on."""
    page = visitors.new(viewport={"width": 1440, "height": 900})
    come_in(page, site, "erin")
    number = begin(page, kind="pyramid", topic=TOPIC, name="keys")
    open_editor(page, site, number)
    page.locator(".a-text").first.focus()
    fingers = Fingers(page)
    for name, words in PICKS:
        fingers.pick(name, [span_of(name, words)])
        assert shown(page, "picked") == [words]
        page.keyboard.press("n")
        page.keyboard.press("Enter")
    assert contributors(page, number) == [[name, [span_of(name, words)]] for name, words in PICKS]


def test_a_grapheme_is_never_split(site: Site, visitors: Visitors) -> None:
    """Wherever one presses, and however one trims, whole characters are picked."""
    page = visitors.new(viewport={"width": 1440, "height": 900})
    come_in(page, site, "erin")
    open_editor(page, site, begin(page, kind="pyramid", topic=TOPIC, name="graphemes"))
    body = page.locator(".a-text").first
    box = body.bounding_box()
    assert box is not None
    whole = {FAMILY, THUMB, FLAG, "🌧️", "🌊", "🌧️🌊", "𝔘nicode", "𝒽olds", "Rain", "fell", "on", "the", "dikes", "today"}
    seen = set()
    for x in range(16, int(box["width"]) - 10, 7):
        page.mouse.click(box["x"] + x, box["y"] + 18)
        seen.update(shown(page, "picked"))
    assert FAMILY in seen
    assert seen <= whole
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Alt+Shift+ArrowRight")
    assert shown(page, "picked") == [f"{FAMILY} "]
    page.keyboard.press("Alt+Shift+ArrowLeft")
    page.keyboard.press("Alt+Shift+ArrowLeft")
    assert shown(page, "picked") == [FAMILY]


def test_nothing_hostile_runs(tmp_path: Any, visitors: Visitors) -> None:
    with serve(hostile(), tmp_path) as site:
        account(site, "erin")
        page = visitors.new(viewport={"width": 1440, "height": 900})
        come_in(page, site, "erin")
        expect(page.get_by_text("Begin a pyramid")).to_be_visible()
        is_harmless(page)
        about = {"topic": IMAGE, "start": ATTRIBUTE}
        first, second = (begin(page, kind="pyramid", name=name, **about) for name in (SCRIPT, BREAKOUT))
        peer = begin(page, kind="peer", topic=IMAGE, system=SCRIPT, name=IMAGE, pyramid=ATTRIBUTE)
        page.reload()
        expect(page.get_by_role("link", name=SCRIPT, exact=True)).to_be_visible()
        is_harmless(page)
        open_editor(page, site, first)
        card(page, IMAGE).locator("button").click()
        expect(page.locator("#unit h2")).to_have_text(IMAGE)
        page.locator("#unit [data-act=suggest]").click()
        page.keyboard.press("r")
        page.get_by_label("Label of the unit").fill(f"{BREAKOUT} {SCRIPT}")
        page.keyboard.press("Enter")
        expect(card(page, f"{BREAKOUT} {SCRIPT}")).to_be_visible()
        saved(page)
        is_harmless(page)
        open_editor(page, site, peer)
        page.locator(".a-unit").first.click()
        page.keyboard.press("s")
        is_harmless(page)
        page.goto(f"{site.url}/annotate/compare?first={first}&second={second}")
        expect(page.get_by_role("table", name="Disagreements first")).to_be_visible()
        is_harmless(page)
        for path in (f"/annotate/{first}/print", "/annotate/guidelines"):
            page.goto(f"{site.url}{path}")
            is_harmless(page)
        come_in(page, site, "erin")
        assert call(page, f"/api/annotate/{first}")["pyramid"]["units"]
