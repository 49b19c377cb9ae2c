"""The documentation site in a real browser: pictures load and are described, and nobody is shut out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.people import Visitors
from tests.browser.test_accessibility import FOCUSED
from tests.browser.test_report_large import SIZES, every_finding

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PAGES = (
    "README",
    "CHANGELOG",
    "benchmarks/results/judge",
    "docs/adr/README",
    "docs/explanation/statistics",
    "docs/howto/campaign",
    "docs/reference/cli",
    "docs/reference/pages",
    "docs/start",
    "docs/tutorials/tour",
    "models/README",
    "genindex",
    "search",
)
"""One of each kind: axe takes minutes for all."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, ROOT / "scripts" / "site.py", folder]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_at_all(name: str, site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")  # a page from the disk may not fetch its search index
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((site / f"{name}.html").as_uri())
    for size, colours in (("wide", "light"), ("laptop at 200%", "light"), ("phone", "dark")):
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        assert every_finding(page) == [], (size, colours)


FAULTY = """async () => {
  const images = [...document.images];
  for (const image of images) image.loading = "eager";
  await Promise.all(images.map((image) => image.complete ||
    new Promise((done) => ["load", "error"].forEach((event) => image.addEventListener(event, done)))));
  return images.filter((image) => !image.alt || !image.naturalWidth).map((image) => image.src);
}"""


def test_every_page_fits_a_phone_and_has_its_pictures(site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")
    page = visitors.new(viewport=SIZES["phone"])
    pictures = 0
    for path in sorted({*site.rglob("*.html")} - {site / "index.html"}):  # that one only leads to the start page
        page.goto(path.as_uri())
        assert page.evaluate(FAULTY) == [], path
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), path
        pictures += page.locator("img").count()
    assert pictures > 30


@pytest.mark.parametrize("size", ["wide", "phone"])
@pytest.mark.parametrize("name", ["docs/start", "docs/reference/cli", "search"])
def test_the_focus_can_be_seen_wherever_tab_goes(name: str, size: str, site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")
    page = visitors.new(viewport=SIZES[size])
    page.goto((site / f"{name}.html").as_uri())
    stops = []
    for _ in range(150):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            break
        stops.append(stop)
    assert len(stops) > 50
    assert [stop["what"] for stop in stops if not stop["ringed"] or not stop["seen"]] == []


def test_a_phone_shows_where_everybody_starts_and_goes_on(site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")
    page = visitors.new(viewport=SIZES["phone"])
    page.goto((site / "docs" / "start.html").as_uri())
    links = page.get_by_role("main").locator("a.reference").all()
    assert len(links) > 20
    for link in links:
        box = link.bounding_box()
        assert box
        assert box["x"] + box["width"] <= SIZES["phone"]["width"], link.text_content()


def test_the_start_page_leads_to_the_tour(site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((site / "index.html").as_uri())
    expect(page.get_by_role("heading", name="Where to start")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="The tour").click()
    expect(page.get_by_role("heading", name="A tour in two minutes")).to_be_visible()
    assert page.get_by_role("main").locator("img").count() == 10
