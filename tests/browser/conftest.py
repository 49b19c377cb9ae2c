"""A real browser, and people who use it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.people import Visitors

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_browser() -> str:
    """The path of a browser. A test that silently did not run is worse than one that fails, so CI gets no skip."""
    found = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    reason = f"no browser found: install one of {', '.join(NAMES)}, or set PYRAMIDION_BROWSER to its path"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


# Not for the whole session: while Playwright runs, no other test could start an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visitors(browser: Browser) -> Iterator[Visitors]:
    """People with browsers of their own. Whatever goes wrong on any of their pages fails the test."""
    visitors = Visitors(browser)
    yield visitors
    visitors.leave()
