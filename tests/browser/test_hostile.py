"""Texts, ids and comments that try to be more than text stay text on every page and in every download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion.formats.files import plain_cell
from pyramidion.study import Aspect
from tests.browser.people import Visitors, begin, fact, log_in, statements, submitted
from tests.browser.site import Site, serve

pytestmark = pytest.mark.browser

SCRIPT = "<script>window.pwned=1</script>"
IMAGE = '<img src=x onerror="window.pwned=1">'
BREAKOUT = "</script><script>window.pwned=1</script>"
ATTRIBUTE = "\"' onfocus=window.pwned=1 autofocus x=\"'"
LINK = "javascript:window.pwned=1"
TEMPLATE = "{{7*7}} ${7*7} {% raw %}"
FORMULA = "=cmd|' /C calc'!A0"
TURNED = "\u202egnp.exe"
ESCAPES = "\x1b[31mred\x1b]0;pwned\x07"

NAMES = [SCRIPT, IMAGE, BREAKOUT, ATTRIBUTE, LINK, TEMPLATE, FORMULA, "@SUM(A1)", "+1", "-1"]
TEXTS = [*NAMES, TURNED, ESCAPES]  # marks that turn text around are refused in names
ALL = " ".join(TEXTS)
CODE = " ".join([SCRIPT, IMAGE, LINK])


def hostile_study() -> pyr.Study:
    """Everything that anybody can name or write is hostile. Ids stay on one line: others cannot be imported."""
    units = tuple(
        pyr.ContentUnit(f"{name} {number}", text, (pyr.Contributor(BREAKOUT),), author=IMAGE, group="1")
        for number, (name, text) in enumerate(zip([*NAMES, "t", "u"], TEXTS, strict=True))
    )
    return pyr.Study(
        topics=(pyr.Topic(FORMULA, ALL, ALL),),
        summaries=(
            *(pyr.Summary(FORMULA, name, f"{name} {ALL}") for name in NAMES[:7]),
            *(pyr.Summary(FORMULA, name, ALL, "reference") for name in (BREAKOUT, FORMULA)),
        ),
        pyramids=(pyr.Pyramid(FORMULA, (BREAKOUT, FORMULA), units, IMAGE),),
        aspects=(Aspect(FORMULA, 1, 10, ALL), Aspect(SCRIPT, 0, 100, SCRIPT)),
        title=ALL,
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(hostile_study(), tmp_path_factory.mktemp("hostile")) as site:
        for kind, name in (("write", "w"), ("judge", "j"), ("judge", "download"), ("rate", "r"), ("compare", "c")):
            settings = {"completion_code": CODE, "currency": IMAGE, "statements": len(TEXTS)}
            site.start(kind, name, check=False, most_per_worker=1, **settings)
        yield site


def test_texts_stay_texts_from_the_task_to_the_scores(hostile: Site, visitors: Visitors) -> None:
    for campaign, work in (("w", write), ("j", judge), ("r", rate), ("c", compare)):
        page = visitors.new()
        begin(page, hostile.link(campaign))
        holds(page, ALL)
        work(page)
        if campaign == "c":
            page.get_by_text("Add a comment").click()
        page.get_by_label("Comment (optional)").fill(ALL)
        is_harmless(page)
        page.get_by_role("button", name="Submit").click()
        submitted(page)
        holds(page, CODE)
        is_harmless(page)

    manager = visitors.new()
    log_in(manager, hostile)
    assert manager.title().startswith(f"{SCRIPT} {IMAGE}")
    holds(manager, ALL)
    for name in NAMES[:7]:
        expect(manager.get_by_role("checkbox", name=name, include_hidden=True, exact=True)).to_have_count(1)
    manager.get_by_label("Method").select_option("rouge")
    manager.get_by_role("button", name="Show scores").click()
    for name in NAMES[:7]:
        expect(manager.get_by_role("rowheader", name=name, exact=True)).to_be_visible()
    is_harmless(manager)
    manager.get_by_label("Method").select_option("lite")
    manager.get_by_role("button", name="Show scores").click()
    expect(manager.get_by_text("pyramid:")).to_be_visible()
    is_harmless(manager)
    for campaign in ("w", "j", "r", "c"):
        manager.goto(f"{hostile.url}/manage")
        manager.get_by_role("table", name="Campaigns").get_by_role("link", name=campaign, exact=True).click()
        watch(manager)
    manager.goto(f"{hostile.url}/manage/campaigns/w")
    manager.get_by_role("button", name="Preview units").click()
    expect(fact(manager, "Statements kept")).to_be_visible()
    is_harmless(manager)


def write(page: Page) -> None:
    for number, text in enumerate(TEXTS, 1):
        page.get_by_label(f"Statement {number}", exact=True).fill(text)


def judge(page: Page) -> None:
    assert statements(page) == TEXTS
    for _ in TEXTS:
        page.keyboard.press("p")


def rate(page: Page) -> None:
    page.get_by_role("radio", name="7").check()
    page.get_by_role("spinbutton").fill("50")


def compare(page: Page) -> None:
    page.get_by_label("The first is better").check()


def watch(page: Page) -> None:
    """Look at a worker's answers and decide something, with a reason that is hostile too."""
    workers = page.get_by_role("table", name="Workers")
    workers.get_by_role("button", name=re.compile("^Answers w")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("table")).to_be_visible()
    assert ALL in dialog.text_content()
    is_harmless(page)
    dialog.get_by_role("button", name="Close").click()
    workers.get_by_role("button", name="Decide").click()
    dialog.get_by_role("radio", name="Block They get no more tasks").check()
    dialog.get_by_label("Reason", exact=True).fill(ALL)
    dialog.get_by_role("button", name="Block worker").click()
    expect(dialog).to_have_count(0)
    expect(workers).to_contain_text(SCRIPT)
    expect(page.get_by_role("table", name="Decisions")).to_contain_text(SCRIPT)
    is_harmless(page)


def test_downloads_are_safe_in_a_spreadsheet_and_lose_nothing(hostile: Site, visitors: Visitors) -> None:
    page = visitors.new()
    begin(page, hostile.link("download"))
    judge(page)
    page.get_by_role("button", name="Submit").click()
    submitted(page)
    manager = visitors.new()
    log_in(manager, hostile)
    manager.goto(f"{hostile.url}/manage/campaigns/download")
    rows = list(csv.reader(io.StringIO(download(manager, "Table (CSV)"), newline="")))
    assert len(rows) == 1 + len(TEXTS)
    assert [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    units = {plain_cell(row[rows[0].index("unit")]) for row in rows[1:]}
    assert units == {unit.id for unit in hostile_study().pyramids[0].units}
    records = [json.loads(line) for line in download(manager, "Study with answers").split("\n") if line]
    assert [record["title"] for record in records if record["type"] == "study"] == [ALL]


def download(page: Page, name: str) -> str:
    with page.expect_download() as found:
        page.get_by_role("link", name=name).click()
    return found.value.path().read_bytes().decode()


# -- looking at a page ---------------------------------------------------------------------------------------


def holds(page: Page, text: str) -> None:
    """A page shows this text, character by character. Markup that was taken as markup would not be part of it."""
    assert text in page.get_by_role("main").text_content()


def is_harmless(page: Page) -> None:
    assert page.evaluate("typeof window.pwned") == "undefined"
    for made in ("img", "iframe", "script:not([src])", "[onerror]", "[onfocus]", "[href^='javascript:' i]"):
        assert page.locator(made).count() == 0, made
