"""The documentation site in a real browser: pictures load and are described, and nobody is shut out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.people import Visitors
from tests.browser.test_report_large import SIZES, every_finding

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PAGES = ("docs/start", "docs/tutorials/tour", "docs/reference/pages", "docs/reference/cli", "README", "search")


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
    for size in ("wide", "laptop at 200%", "phone"):
        page.set_viewport_size(SIZES[size])
        assert every_finding(page) == [], size


def test_the_start_page_leads_to_pictures_that_load(site: Path, visitors: Visitors) -> None:
    visitors.expect_problem("")
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((site / "index.html").as_uri())
    expect(page.get_by_role("heading", name="Where to start")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="The tour").click()
    expect(page.get_by_role("heading", name="A tour in two minutes")).to_be_visible()
    pictures = page.get_by_role("main").locator("img")
    assert pictures.count() == 10
    broken = "(images) => images.filter((image) => !image.alt || image.complete && !image.naturalWidth).length"
    assert pictures.evaluate_all(broken) == 0
