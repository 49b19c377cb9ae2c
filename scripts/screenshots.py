"""Take the pictures of every page for README and docs: python scripts/screenshots.py [NAME ...]

A name may be the beginning of several: `worker` takes all pictures of the worker's pages. Real servers over the bundled
example, and a real browser: Chromium, or what PYRAMIDION_BROWSER names. Pictures go to docs/images; colours are reduced
where Pillow is there, so that the files stay small. tests/test_pictures.py checks that every page has a picture, and
every picture a place in the docs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' way of starting servers and using pages is ours too

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402
from tests.browser.annotating import account, begin, call, come_in, open_editor  # noqa: E402
from tests.browser.people import answer_check, let_in  # noqa: E402
from tests.browser.site import TOPIC, Site, serve  # noqa: E402

import pyramidion as pyr  # noqa: E402
from pyramidion.campaigns.rehearsal import rehearse_campaign  # noqa: E402
from pyramidion.judging import judge_study  # noqa: E402
from pyramidion.report import Correction, correct, report_page, write_feedback, write_report_folder  # noqa: E402
from pyramidion.report.collect import findings  # noqa: E402
from pyramidion.scoring.explain import explain  # noqa: E402

IMAGES = ROOT / "docs" / "images"
LAPTOP, SCREEN, PAGE, PHONE = (1280, 800), (1180, 980), (820, 1100), (390, 844)


class Place(NamedTuple):
    """Where pages come from: a server over the example, and a folder with reports and feedback."""

    site: Site
    folder: Path


class Picture(NamedTuple):
    """``templates`` are the pages that it shows; ``go`` opens them."""

    name: str
    templates: tuple[str, ...]
    go: Callable[[Page, Place], None]
    size: tuple[int, int] = LAPTOP
    colours: str = "light"


# -- reports and feedback: files ---------------------------------------------------------------------------------


def file(path: str) -> Callable[[Page, Place], None]:
    def go(page: Page, place: Place) -> None:
        name, _, fragment = path.partition("#")
        page.goto((place.folder / name).as_uri() + (f"#{fragment}" if fragment else ""))
        page.locator("main:visible h1").wait_for()

    return go


def judged_example() -> pyr.Study:
    """The example's expert pyramids, judged by the embedded model, one verdict corrected."""
    study = judge_study(pyr.example(), pyramid="expert").study
    choices: dict[str, Any] = {"method": "pyramid", "pyramid": "expert", "judges": "align"}
    unit = explain(study, TOPIC, "extract", **choices).perhaps[0].id
    return correct(study, [Correction(TOPIC, "extract", unit, True)], **choices)


def write_files(folder: Path) -> None:
    found = findings(pyr.example())
    (folder / "report.html").write_text(report_page(found), encoding="utf-8")
    write_report_folder(found, folder / "report")
    write_feedback(findings(judged_example(), judges="align"), folder / "feedback")


# -- workers -----------------------------------------------------------------------------------------------------


def join(campaign: str) -> Callable[[Page, Place], None]:
    def go(page: Page, place: Place) -> None:
        page.goto(place.site.link(campaign))
        page.locator("main h1, main h2").first.wait_for()

    return go


def task(kind: Any, *keys: str) -> Callable[[Page, Place], None]:
    """The first task of a campaign, past instructions and check where there are any, and some keys pressed."""

    def go(page: Page, place: Place) -> None:
        join(kind)(page, place)
        ready = page.locator("main .task-bar")
        start = page.get_by_role("button", name="Start")
        page.locator("main :is(.text, fieldset, button):visible").first.wait_for()
        if page.get_by_role("button", name="Check my answers").count():
            answer_check(page, kind)
        if start.count():
            start.first.click()
        ready.wait_for()
        for key in keys:
            page.keyboard.press(key)

    return go


def writing(page: Page, place: Place) -> None:
    task("write")(page, place)
    sentences = ("Port Ambry rations water.", "The reservoir is at 31 percent.", "Farmers have gone to court.")
    for field, text in zip(page.locator("main textarea, main input[type=text]").all(), sentences, strict=False):
        field.fill(text)
    page.locator("main textarea, main input[type=text]").first.focus()


def unknown_link(page: Page, place: Place) -> None:
    page.goto(f"{place.site.url}/join/mistyped")
    page.locator("main h1").wait_for()


# -- managers ----------------------------------------------------------------------------------------------------


def manage(path: str, *, to: str = "") -> Callable[[Page, Place], None]:
    def go(page: Page, place: Place) -> None:
        let_in(page, place.site, path)
        page.locator("main h1").first.wait_for()
        page.wait_for_load_state("networkidle")
        if to:
            heading = page.get_by_role("heading", name=to).first
            heading.evaluate("(node) => node.scrollIntoView({ block: 'start' })")
            page.evaluate("scrollBy(0, -16)")

    return go


def units(page: Page, place: Place) -> None:
    manage("/manage/campaigns/written")(page, place)
    button = page.get_by_role("button", name="Preview units")
    button.click()
    page.get_by_role("heading", name="What would be stored").wait_for()
    button.evaluate("(node) => node.scrollIntoView({ block: 'start' })")


def texts(page: Page, place: Place) -> None:
    """What a file would add to the study, before it does."""
    given = place.folder / "answers.csv"
    rows = [f"{TOPIC},{name},Port Ambry rations water from Monday." for name in ("new-system", "newer-system")]
    given.write_text("\n".join(["topic,system,summary", *rows]) + "\n", encoding="utf-8")
    manage("/manage/texts")(page, place)
    page.locator("input[type=file]").first.set_input_files(given)
    page.get_by_role("button", name="Add to the study").wait_for()


def preview(page: Page, place: Place) -> None:
    manage("/manage/campaigns/explained/preview")(page, place)
    page.wait_for_load_state("networkidle")


def login(page: Page, place: Place) -> None:
    page.goto(f"{place.site.url}/login")
    page.locator("main h1").wait_for()


# -- experts -----------------------------------------------------------------------------------------------------


def desk(path: str) -> Callable[[Page, Place], None]:
    def go(page: Page, place: Place) -> None:
        come_in(page, place.site, "erin", path)
        page.locator("main h1").first.wait_for()
        page.wait_for_load_state("networkidle")

    return go


def pyramid(page: Page, place: Place) -> None:
    """An expert at a pyramid: a unit is chosen, and words of the first reference are picked by keyboard."""
    come_in(page, place.site, "erin")
    name = "erin" if page.evaluate("matchMedia('(prefers-color-scheme: light)').matches") else "erin, at night"
    open_editor(page, place.site, begin(page, kind="pyramid", name=name, start="expert"))
    page.locator(".a-unit").nth(3).click()
    page.locator(".a-text").first.focus()
    for key in ("Home", *["ArrowRight"] * 83, *["Shift+ArrowRight"] * 5):
        page.keyboard.press(key)


def peer(page: Page, place: Place) -> None:
    come_in(page, place.site, "erin")
    about = {"kind": "peer", "system": "extract", "name": "erin", "pyramid": "expert", "start": "annotator"}
    open_editor(page, place.site, begin(page, **about))
    page.locator(".a-unit").nth(1).click()
    page.locator("#unit").get_by_text("In the references").wait_for()
    page.mouse.move(5, 5)


def tree(page: Page, place: Place) -> None:
    """The same pyramid, compact, with the contributors of every unit."""
    come_in(page, place.site, "erin")
    open_editor(page, place.site, begin(page, kind="pyramid", name="erin, all in view", start="expert"))
    page.keyboard.press("t")


def compare(page: Page, place: Place) -> None:
    """Two annotations that differ in three ways, one of them settled."""
    come_in(page, place.site, "erin")
    about = {"kind": "peer", "system": "extract", "pyramid": "expert", "start": "annotator"}
    first, second = (begin(page, **about, name=name) for name in ("erin, first", "jonas"))
    for number, command in enumerate(
        (
            {"type": "unmatch", "id": "1"},
            {"type": "match_unit", "unit": "u33", "spans": [[0, 40]]},
            {"type": "match_unit", "unit": "u08", "spans": [[0, 40]]},
        )
    ):
        call(page, f"/api/annotate/{second}/commands", {"command": command, "base": number + 1})
    page.goto(f"{place.site.url}/annotate/compare?first={first}&second={second}")
    page.get_by_role("button", name="Begin the third").click()
    page.get_by_text("disagreements settled").wait_for()
    page.keyboard.press("1")
    page.get_by_text("1 of 3 disagreements settled").wait_for()
    page.evaluate("scrollTo(0, 0)")


def printed(page: Page, place: Place) -> None:
    come_in(page, place.site, "erin")
    number = begin(page, kind="pyramid", name="printed", start="expert")
    page.goto(f"{place.site.url}/annotate/{number}/print")
    page.wait_for_load_state("networkidle")


PICTURES = (
    Picture("report", ("report.html",), file("report.html"), SCREEN),
    Picture("report-dark", ("report.html",), file("report.html"), SCREEN, "dark"),
    Picture("report-phone", ("report.html",), file("report.html"), PHONE),
    Picture("report-topic", ("report.html",), file(f"report.html#topic/{TOPIC}"), SCREEN),
    Picture("report-summary", ("topic.html",), file(f"report/topics/{TOPIC}.html#summary/{TOPIC}/extract"), LAPTOP),
    Picture("feedback", ("writer.html",), file(f"feedback/writers/extract/{TOPIC}.html"), PAGE),
    Picture("feedback-dark", ("writer.html",), file(f"feedback/writers/extract/{TOPIC}.html"), PAGE, "dark"),
    Picture("feedback-overview", ("overview.html",), file("feedback/overview.html"), PAGE),
    Picture("check", ("check.html",), file(f"feedback/check.html#{TOPIC}/extract"), LAPTOP),
    Picture("check-dark", ("check.html",), file(f"feedback/check.html#{TOPIC}/extract"), LAPTOP, "dark"),
    Picture("worker-instructions", ("worker.html",), join("explained")),
    Picture("worker-write", ("worker.html",), writing),
    Picture("worker-judge", ("worker.html",), task("judge", "p", "n", "p")),
    Picture("worker-judge-dark", ("worker.html",), task("judge", "p", "n", "p"), LAPTOP, "dark"),
    Picture("worker-rate", ("worker.html",), task("rate")),
    Picture("worker-compare", ("worker.html",), task("compare")),
    Picture("worker-phone", ("worker.html",), task("judge"), PHONE),
    Picture("worker-lost", ("notice.html",), unknown_link, (820, 460)),
    Picture("login", ("login.html",), login, (820, 560)),
    Picture("manage", ("manage.html",), manage("/manage"), SCREEN),
    Picture("manage-campaign", ("campaign.html",), manage("/manage/campaigns/answered"), SCREEN),
    Picture("manage-campaign-dark", ("campaign.html",), manage("/manage/campaigns/answered"), SCREEN, "dark"),
    Picture("manage-workers", ("campaign.html",), manage("/manage/campaigns/answered", to="Workers"), SCREEN),
    Picture("manage-units", ("campaign.html",), units, SCREEN),
    Picture("manage-texts", ("texts.html",), texts, SCREEN),
    Picture("manage-edit", ("edit.html",), manage("/manage/campaigns/explained/edit"), SCREEN),
    Picture("manage-preview", ("preview.html",), preview, SCREEN),
    Picture("annotate", ("annotate.html",), desk("/annotate")),
    Picture("annotate-pyramid", ("annotate-pyramid.html",), pyramid),
    Picture("annotate-pyramid-dark", ("annotate-pyramid.html",), pyramid, (1280, 720), "dark"),
    Picture("annotate-tree", ("annotate-pyramid.html",), tree),
    Picture("annotate-peer", ("annotate-peer.html",), peer),
    Picture("annotate-compare", ("annotate-compare.html",), compare),
    Picture("annotate-guidelines", ("annotate-guidelines.html",), desk("/annotate/guidelines")),
    Picture("annotate-print", ("annotate-print.html",), printed, PAGE),
)
PARTS = ("base.html", "parts.html", "page.html", "staff.html", "annotate-base.html", "annotate-editor.html")
"""Templates that other templates are made of."""


@contextmanager
def example_site(folder: Path) -> Iterator[Site]:
    """Every kind of campaign over the example without its crowd's answers, two of them worked on; an expert."""
    whole = pyr.example()
    asked = whole.judgments.task.is_in({*whole.judgments.task} - {""})
    study = replace(whole, judgments=whole.judgments.take(~asked))
    with serve(study, folder, apart=True) as site:
        account(site, "erin")
        for kind in ("judge", "rate", "compare"):
            site.start(kind, kind, check=False)
        site.start("write", "write", check=False, statements=4)
        site.start("judge", "explained")
        site.start("judge", "answered", min_seconds=60)
        site.start("write", "written", statements=4)
        rehearse_campaign(site.desk, "answered", workers=12, careless=0.2, adversarial=0.1)
        rehearse_campaign(site.desk, "written", workers=6)
        yield site


def take(browser: Browser, place: Place, picture: Picture) -> Path:
    width, height = picture.size
    colours: Any = picture.colours
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce", locale="en-GB"
    )
    page = context.new_page()
    picture.go(page, place)
    page.wait_for_timeout(300)  # what fades in has faded in
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which pictures, or how their names begin (all)")
    wanted = tuple(parser.parse_args().names)
    chosen = [each for each in PICTURES if not wanted or each.name.startswith(wanted)]
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_files(Path(folder))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        with example_site(Path(folder)) as site:
            for picture in chosen:
                print(picture.name)
                shrink(take(browser, Place(site, Path(folder)), picture))
        browser.close()


if __name__ == "__main__":
    main()
