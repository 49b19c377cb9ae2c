"""Take the pictures of the report for README and docs: python scripts/screenshots.py

Needs Chromium (or PYRAMIDION_BROWSER). Pictures go to docs/images; colours are reduced where Pillow is there, so that
the files stay small.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

import pyramidion as pyr
from pyramidion.report import report_page, write_feedback
from pyramidion.workflows.reporting import findings

IMAGES = Path(__file__).parents[1] / "docs" / "images"


class Picture(NamedTuple):
    name: str
    page: str
    width: int
    height: int
    colours: str = "light"


PICTURES = (
    Picture("report", "report.html", 1180, 1180),
    Picture("report-dark", "report.html", 1180, 1180, "dark"),
    Picture("report-phone", "report.html", 390, 844),
    Picture("report-topic", "report.html#topic/drought-plan", 1180, 980),
    Picture("report-summary", "report.html#summary/drought-plan/extract", 1180, 820),
    Picture("feedback", "feedback/writers/extract/drought-plan.html", 820, 1100),
)


def take(browser: Browser, folder: Path, picture: Picture) -> Path:
    size: Any = {"width": picture.width, "height": picture.height}
    colours: Any = picture.colours
    context = browser.new_context(viewport=size, color_scheme=colours, reduced_motion="reduce")
    page = context.new_page()
    page.goto((folder / "report.html").as_uri().replace("report.html", picture.page))
    page.locator("main:visible h1").wait_for()
    target = IMAGES / f"{picture.name}.png"
    page.screenshot(path=target)
    context.close()
    return target


def shrink(path: Path) -> None:
    """128 colours are enough for flat pages."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(path) as image:
        reduced = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)


def main() -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    IMAGES.mkdir(parents=True, exist_ok=True)
    found = findings(pyr.example())
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        (folder / "report.html").write_text(report_page(found), encoding="utf-8")
        write_feedback(found, folder / "feedback")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for picture in PICTURES:
            shrink(take(browser, folder, picture))
        browser.close()


if __name__ == "__main__":
    main()
