"""A report of many topics, as a folder and as one page, in a real browser: paging, the keyboard, addresses, axe."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion.report import report_page, write_report_folder
from pyramidion.report.collect import findings
from tests.browser.people import Visitors
from tests.browser.test_accessibility import PHONE, WIDE, problems
from tests.browser.test_hostile import NAMES, SCRIPT
from tests.browser.test_report import download, fragment, hostile_study, is_harmless

pytestmark = pytest.mark.browser

TOPICS, SYSTEMS = 130, 4


def many_topics() -> pyr.Study:
    """Two judges on every summary, so that agreement is shown; a topic whose name is a piece of an address."""
    ids = ["50% of a/b #1?", *(f"D{number:03}" for number in range(1, TOPICS))]
    references = ("A", "B")
    units = tuple(
        pyr.ContentUnit(f"u{n}", f"Unit {n}.", tuple(pyr.Contributor(name) for name in references[: 1 + n % 2]))
        for n in range(4)
    )
    judgments = [
        pyr.Judgment(topic, f"s{s}", judge, float((t * 7 + s * 3 + n) % 5 < 3 - s % 2), unit=unit.id)
        for t, topic in enumerate(ids)
        for s in range(SYSTEMS)
        for judge in ("ann", "ben")
        for n, unit in enumerate(units)
    ]
    return pyr.Study(
        topics=tuple(pyr.Topic(id, f"About {id}") for id in ids),
        summaries=(
            *(pyr.Summary(id, f"s{s}", f"The text of s{s} on {id}.") for id in ids for s in range(SYSTEMS)),
            *(pyr.Summary(id, name, "A reference.", "reference") for id in ids for name in references),
        ),
        pyramids=tuple(pyr.Pyramid(id, references, units) for id in ids),
        judges=(pyr.Judge("ann", "expert"), pyr.Judge("ben", "expert")),
        judgments=pyr.Judgments(judgments),
        title="Many topics",
    )


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first page of the folder; one.html beside the folder is the same report in one page."""
    place = tmp_path_factory.mktemp("reports")
    found = findings(many_topics(), resamples=20)
    (place / "one.html").write_text(report_page(found), encoding="utf-8")
    return write_report_folder(found, place / "report")


def one_page(start: Path) -> Path:
    return start.parent.parent / "one.html"


@pytest.mark.parametrize("form", ["folder", "page"])
def test_the_first_page_shows_some_topics_at_a_time(form: str, start: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto((start if form == "folder" else one_page(start)).as_uri())
    heat, topics = page.locator("#map"), page.locator("#topics")
    expect(heat.locator("output").first).to_have_text(re.compile(r"^1–\d\d of 130 topics$"))
    fitting = heat.locator("thead th").count() - 2
    assert 30 <= fitting <= 60
    expect(topics.locator("tbody tr")).to_have_count(10)
    expect(page.locator("#agreement table")).to_be_visible()
    heat.get_by_role("button", name="Next").click()
    expect(heat.locator("output").first).to_have_text(f"{fitting + 1}–{2 * fitting} of 130 topics")
    expect(heat.locator("thead th").nth(1)).to_have_text(f"D{fitting:03}")
    heat.get_by_label("Filter the topics of the map").fill("d12")
    expect(heat.locator("thead th")).to_have_count(10 + 2)
    expect(heat.locator("tbody td").first).to_contain_text(".")  # there is room for numbers now
    topics.get_by_role("button", name="Show 100 at a time").click()
    expect(topics.locator("tbody tr")).to_have_count(100)
    topics.get_by_role("button", name="Next").click()
    expect(topics.locator("tbody tr")).to_have_count(30)
    topics.get_by_role("button", name="Next").press("Enter")  # there is no more
    expect(topics.locator("output")).to_have_text("101–130 of 130 topics")
    topics.get_by_role("button", name="Show fewer").click()
    expect(topics.locator("tbody tr")).to_have_count(10)
    topics.get_by_label("Filter topics").fill("ABOUT D007")
    expect(topics.locator("tbody th a")).to_have_text(["D007"])
    topics.get_by_label("Filter topics").fill("nothing")
    expect(topics.locator("output")).to_have_text("no topic")


def test_all_topics_are_sorted_not_only_those_shown(start: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(start.as_uri())
    topics = page.locator("#topics")
    heading = topics.get_by_role("columnheader", name="topic", exact=True)
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    heading.get_by_role("button").click()
    expect(topics.locator("tbody th a").first).to_have_text("D129")
    topics.get_by_role("button", name="mean").click()
    values = [float(text) for text in topics.locator("tbody td:nth-child(4)").all_text_contents()]
    scores = pyr.score(many_topics(), "pyramid").per_summary("modified")
    means = sorted(
        (sum(scores[topic.id, f"s{s}"] or 0 for s in range(SYSTEMS)) / SYSTEMS for topic in many_topics().topics),
        reverse=True,
    )
    assert values == pytest.approx(means[:10], abs=6e-4)


def test_the_map_keeps_its_order_from_page_to_page(start: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(start.as_uri())
    heat = page.locator("#map")
    names = heat.locator("tbody th")
    heat.locator("thead").get_by_role("button", name="system").click()
    heat.locator("thead").get_by_role("button", name="system").click()
    expect(names).to_have_text(["s3", "s2", "s1", "s0"])
    heat.get_by_role("button", name="Next").click()
    expect(names).to_have_text(["s3", "s2", "s1", "s0"])


def test_topics_are_reached_and_left_by_keyboard(start: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(start.as_uri())
    page.locator("table.heat td[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    told = (page.locator("#cell-says").text_content() or "").split(" on ")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h1")).to_have_text(told[0])
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert "/topics/D001.html#summary/D001/" in page.url
    page.get_by_role("link", name="Topic D001").press("Enter")
    expect(page.locator("h1")).to_have_text("About D001")
    page.get_by_role("link", name="Previous topic").press("Enter")
    expect(page.locator("h1")).to_have_text("About 50% of a/b #1?")
    expect(page.get_by_role("link", name="Previous topic")).to_have_count(0)
    page.get_by_role("link", name="Next topic").press("Enter")
    expect(page.locator("h1")).to_have_text("About D001")
    page.get_by_role("link", name="s2", exact=True).press("Enter")
    page.get_by_role("link", name="On D002").press("Enter")
    expect(page.locator("#detail")).to_contain_text("The text of s2 on D002.")
    page.get_by_role("link", name="← Report").press("Enter")
    expect(page.locator("#map")).to_be_in_viewport()
    assert page.url.endswith("/index.html#map")


def test_an_address_of_one_page_works_in_the_folder(start: Path, visitors: Visitors) -> None:
    page = visitors.new()
    page.goto(start.as_uri() + fragment("summary", "50% of a/b #1?", "s3"))
    expect(page.locator("#detail")).to_contain_text("The text of s3 on 50% of a/b #1?.")
    page.goto(start.as_uri() + fragment("topic", "D044"))
    expect(page.locator("h1")).to_have_text("About D044")
    page.goto(start.as_uri() + fragment("topic", "nowhere"))
    expect(page.locator("#overview")).to_be_visible()


def seen(page: Page, address: str) -> str:
    page.goto(address)
    page.locator("#detail h1").wait_for()
    return page.locator("#detail").inner_text()


def test_a_topic_shows_the_same_in_both_forms(start: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    other = visitors.new(viewport=WIDE)
    for parts in (("topic", "D044"), ("summary", "D044", "s1"), ("summary", "D129", "s0")):
        own = f"{start.parent.as_uri()}/topics/{parts[1]}.html{fragment(*parts)}"
        assert seen(page, own) == seen(other, one_page(start).as_uri() + fragment(*parts))


def test_downloads_are_the_same_in_both_forms(start: Path, visitors: Visitors) -> None:
    page = visitors.new()
    page.goto(one_page(start).as_uri())
    for name, file in (("Scores (CSV)", "scores.csv"), ("Units (CSV)", "units.csv")):
        assert download(page, name) == (start.parent / file).read_text("utf-8")
    assert json.loads(download(page, "Everything (JSON)")) == json.loads((start.parent / "report.json").read_text())
    page.goto(start.as_uri())
    links = page.locator(".downloads a")
    assert [link.get_attribute("href") for link in links.all()] == ["scores.csv", "units.csv", "report.json"]


def test_hostile_topics_have_pages_too(tmp_path: Path, visitors: Visitors) -> None:
    start = write_report_folder(findings(hostile_study(), resamples=20), tmp_path / "report")
    page = visitors.new()
    page.goto(start.as_uri())
    is_harmless(page)
    page.locator("#topics tbody th a").first.click()
    expect(page.locator("#detail h1")).to_contain_text(SCRIPT)
    is_harmless(page)
    page.locator("#detail tbody th a").first.click()
    expect(page.locator("#detail .text").first).to_contain_text(SCRIPT)
    is_harmless(page)
    for topic in NAMES[:2]:
        page.goto(start.as_uri() + fragment("summary", topic, NAMES[1]))
        expect(page.locator("#detail h1")).to_contain_text(NAMES[1])


@pytest.mark.parametrize("place", ["index.html", "topics/D044.html", "topics/D044.html#summary/D044/s1"])
def test_axe_finds_nothing_grave(place: str, start: Path, visitors: Visitors) -> None:
    page = visitors.new(bypass_csp=True)  # axe-core comes from outside
    page.goto(f"{start.parent.as_uri()}/{place}")
    expect(page.locator("main:visible h1")).to_be_visible()
    if place == "index.html":
        page.get_by_role("button", name="Show 100 at a time").click()
        page.locator("#map").get_by_role("button", name="Next").click()
    assert list(problems(page, [WIDE, PHONE])) == []
