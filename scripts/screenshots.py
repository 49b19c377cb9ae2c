"""Take the pictures for README and docs: python scripts/screenshots.py [report] [annotate]

Needs Chromium (or PYRAMIDION_BROWSER). Pictures go to docs/images; colours are reduced where Pillow is there, so that
the files stay small.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' way of starting servers is ours too

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from tests.server.servers import (  # noqa: E402
    PASSWORD,
    running_server,
)

import pyramidion as pyr  # noqa: E402
from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.judging import judge_study  # noqa: E402
from pyramidion.report import (  # noqa: E402
    Correction,
    correct,
    report_page,
    write_feedback,
)
from pyramidion.report.collect import findings  # noqa: E402
from pyramidion.scoring.explain import explain  # noqa: E402
from pyramidion.server.context import SESSION_COOKIE  # noqa: E402
from pyramidion.store.accounts import Accounts  # noqa: E402
from pyramidion.store.database import Database  # noqa: E402

IMAGES = ROOT / "docs" / "images"


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
    Picture("check", "feedback/check.html#drought-plan/extract", 1180, 820),
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


# -- annotation ----------------------------------------------------------------------------------------------

TOPIC = "drought-plan"


def send(page: Page, address: str, body: dict[str, Any]) -> Any:
    """Ask the server beside the page."""
    csrf = page.locator("main").get_attribute("data-csrf") or ""
    made = page.request.post(address, headers={"X-CSRF-Token": csrf}, data=body)
    assert made.ok, made.text()
    return made.json()


def annotation(page: Page, url: str, **about: Any) -> int:
    """Begin an annotation beside the page and open it."""
    made = send(page, f"{url}/api/annotate", {"topic": TOPIC, **about})
    page.goto(f"{url}{made['url']}")
    page.locator("main[data-ready]").wait_for(state="attached")
    return int(made["id"])


def pick(page: Page, first: int, words: int) -> None:
    """Words of the first text, by keyboard."""
    page.locator(".a-text").first.focus()
    for key in ("Home", *["ArrowRight"] * first, *["Shift+ArrowRight"] * (words - 1)):
        page.keyboard.press(key)


def take_annotation(browser: Browser, folder: Path) -> list[Path]:
    """An expert at a pyramid and at a summary of the bundled example."""
    place = folder / "study.db"
    database = Database.create(place, title="Water in Port Ambry")
    Accounts(database).add("erin", PASSWORD, "expert")
    CampaignDesk(database).import_study(pyr.example())
    token = Accounts(database).log_in("erin", PASSWORD) or ""
    taken = []
    with running_server(place) as server:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": server.url}])
        page = context.new_page()
        page.goto(f"{server.url}/annotate")
        annotation(page, server.url, kind="pyramid", name="erin", start="expert")
        page.locator(".a-unit").nth(3).click()
        pick(page, 83, 6)
        page.locator(".a-card").nth(1).hover()
        taken.append(shot(page, "annotate-pyramid"))
        for key in ("Escape", "o", "t"):
            page.keyboard.press(key)
        taken.append(shot(page, "annotate-tree"))
        for key in ("o", "t"):
            page.keyboard.press(key)
        page.goto(f"{server.url}/annotate")
        about = {"kind": "peer", "system": "extract", "pyramid": "expert", "start": "annotator"}
        other = annotation(page, server.url, name="ben", **about)
        first = annotation(page, server.url, name="erin", **about)
        page.locator(".a-unit").nth(1).click()
        page.locator("#unit").get_by_text("In the references").wait_for()
        page.mouse.move(5, 5)
        taken.append(shot(page, "annotate-peer"))
        taken.append(take_adjudication(page, server.url, first, other))
        context.close()
    database.close()
    return taken


def take_adjudication(page: Page, url: str, first: int, other: int) -> Path:
    """Two annotations that differ in three ways, one of them settled."""
    changes = (
        {"type": "unmatch", "id": "1"},
        {"type": "match_unit", "unit": "u33", "spans": [[0, 40]]},
        {"type": "match_unit", "unit": "u08", "spans": [[0, 40]]},
    )
    for number, command in enumerate(changes):
        send(page, f"{url}/api/annotate/{other}/commands", {"command": command, "base": number + 1})
    page.goto(f"{url}/annotate/compare?first={first}&second={other}")
    page.get_by_role("button", name="Begin the third").click()
    page.get_by_text("disagreements settled").wait_for()
    page.keyboard.press("1")
    page.get_by_text("1 of 3 disagreements settled").wait_for()
    page.evaluate("scrollTo(0, 0)")
    return shot(page, "annotate-compare")


def shot(page: Page, name: str) -> Path:
    target = IMAGES / f"{name}.png"
    page.screenshot(path=target)
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


def judged_example() -> pyr.Study:
    """The example's expert pyramids, judged by the embedded model, one verdict corrected."""
    study = judge_study(pyr.example(), pyramid="expert").study
    choices: dict[str, Any] = {"method": "pyramid", "pyramid": "expert", "judges": "align"}
    unit = explain(study, TOPIC, "extract", **choices).perhaps[0].id
    return correct(study, [Correction(TOPIC, "extract", unit, True)], **choices)


def take_report(browser: Browser, folder: Path) -> list[Path]:
    found = findings(pyr.example())
    (folder / "report.html").write_text(report_page(found), encoding="utf-8")
    write_feedback(findings(judged_example(), judges="align"), folder / "feedback")
    return [take(browser, folder, picture) for picture in PICTURES]


def main() -> None:
    sets = {"report": take_report, "annotate": take_annotation}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help="which pictures (all)")
    chosen = parser.parse_args().sets or list(sets)
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name in chosen:
            for picture in sets[name](browser, Path(place)):
                shrink(picture)
        browser.close()


if __name__ == "__main__":
    main()
