"""A manager who never opens a terminal: adds texts, creates, previews, edits and opens campaigns, and changes units."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.campaigns.checks import CONTENT
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.study import Settings
from pyramidion.study.tasks import TaskKind
from tests.browser.people import (
    Visitors,
    answer_check,
    counter,
    fact,
    judged,
    let_in,
    pass_check,
    plan_campaign,
    start_campaign,
)
from tests.browser.site import Site, serve, small_study
from tests.browser.test_accessibility import PHONE, WIDE, problems

pytestmark = pytest.mark.browser

ZOOMED = {"width": 640, "height": 400}
"""1280 x 800 at 200%."""


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Site]:
    with serve(pyr.Study(title="Nothing yet"), tmp_path) as site:
        yield site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    study = small_study(["extract", "vague"], ["A", "B", "C", "D"], units=8)
    with serve(study, tmp_path) as site:
        yield site


def accessible(page: Page) -> None:
    """Nothing grave, and nothing that scrolls sideways: on a desk, on a phone, at 200%."""
    assert list(problems(page, [WIDE, PHONE, ZOOMED])) == []
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="light")


def row(page: Page, table: str, text: str) -> Any:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=text)


# -- texts ---------------------------------------------------------------------------------------------------


def test_texts_are_looked_at_and_then_added(empty: Site, visitors: Visitors, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for name, text in {"references": "The river rose.", "bart": "Water came.", "t5": "Rain fell."}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "floods.txt").write_text(text)
    (folder / "t5" / "floods.txt").write_bytes(b"Rain\nfell \xff.")
    manager = visitors.new(bypass_csp=True)
    let_in(manager, empty)
    manager.get_by_role("link", name="Add texts").click()
    manager.get_by_label("A whole folder").set_input_files(folder)
    expect(manager.get_by_text("This cannot be added.")).to_be_visible()
    wrong = manager.get_by_role("listitem").filter(has_text="t5/floods.txt")
    expect(wrong).to_contain_text("line 2: byte 0xff is not UTF-8")
    accessible(manager)
    manager.get_by_text("How to read the files").first.click()
    manager.get_by_label("Leave out what has errors").check()
    expect(manager.get_by_role("button", name="Add to the study")).to_be_visible()

    (folder / "t5" / "floods.txt").write_text("Rain fell.")
    (folder / "bart" / "floods.txt").write_text("Water came. " * 200)
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in folder.rglob("*.txt"):
            packed.write(path, path.relative_to(tmp_path))
    manager.get_by_label("Files, or one archive").set_input_files(archive)
    expect(fact(manager, "Summaries of systems")).to_have_text("2")
    expect(row(manager, "Topics", "floods")).to_contain_text(re.compile(r"floods\s*1\s*2\s*0"))
    expect(manager.get_by_role("group", name="floods system t5")).to_have_text("Rain fell.")
    expect(manager.get_by_role("group", name="floods system bart")).to_contain_text("Water came.")
    accessible(manager)
    expect(manager.get_by_text("Nothing is in the study yet.")).to_be_visible()
    assert empty.desk.studies.load().counts()["peers"] == 0
    manager.get_by_role("button", name="Add to the study").click()
    expect(manager.get_by_text("The study now holds 1 topic, 1 reference, 2 systems")).to_be_visible()
    assert empty.desk.studies.load().counts()["peers"] == 2
    manager.get_by_role("link", name="Plan a campaign").click()
    expect(row(manager, "Changes", "added texts: 1 file")).to_contain_text("mona")


def test_a_table_says_which_of_its_columns_are_what(empty: Site, visitors: Visitors, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,d\nfloods,bart,Water came.,The river rose.\nfloods,t5,Rain fell.,The river rose.\n")
    manager = visitors.new()
    let_in(manager, empty, "/manage/texts")
    manager.get_by_label("Files, or one archive").set_input_files(table)
    expect(manager.get_by_role("heading", name="These files are not understood")).to_be_visible()
    for role, column in {"topic": "a", "system": "b", "summary": "c", "reference": "d"}.items():
        manager.get_by_label(role, exact=True).select_option(column)
    expect(fact(manager, "Systems")).to_have_text("2")
    expect(manager.get_by_role("button", name="Add to the study")).to_be_visible()


# -- a campaign ----------------------------------------------------------------------------------------------


def test_from_a_draft_to_an_open_campaign(site: Site, visitors: Visitors) -> None:
    manager = visitors.new(bypass_csp=True)
    visitors.expect_problem("status of 422")
    let_in(manager, site)
    methods = manager.get_by_label("Method").locator("option")
    expect(methods).to_have_count(len(plugins.names("methods")))
    assert {*methods.evaluate_all("all => all.map((one) => one.value)")} == {*plugins.names("methods")}

    manager.get_by_role("radio", name=re.compile("^Judge")).check()
    manager.get_by_label("Name of the campaign").fill("told")
    assert manager.get_by_label("Platform", exact=True).locator("option").all_text_contents()[1:3] == [
        "Prolific",
        "CloudResearch Connect",
    ]
    manager.get_by_label("Workers per task").fill("2000")
    manager.get_by_role("button", name="Preview counts and cost").click()
    workers = manager.get_by_label("Workers per task")
    expect(workers).to_be_focused()
    expect(workers).to_have_attribute("aria-invalid", "true")
    expect(manager.locator("#plan-workers-wrong")).to_have_text(
        "Workers per task must be a whole number from 1 to 1,000"
    )
    workers.fill("2")

    manager.get_by_text("Instructions and questions: the usual ones").click()
    title = manager.get_by_label("Title")
    expect(manager.locator(f"#{title.get_attribute('aria-describedby')}")).to_contain_text("Is it in the summary?")
    title.fill("Is it told?")
    expect(manager.get_by_text("Instructions and questions: your own")).to_be_visible()
    manager.get_by_text("Units: all of them").click()
    units = manager.get_by_role("table", name="Units to ask about").get_by_role("row")
    expect(units).to_have_count(1 + 8)
    first = units.nth(1).get_by_role("rowheader").text_content()
    units.nth(1).get_by_role("button", name=re.compile("^Drop")).click()
    units.nth(2).get_by_role("button", name=re.compile("^Drop")).click()
    units.nth(2).get_by_role("button", name=re.compile("^Restore")).click()
    expect(manager.get_by_text("Units: 1 unit left out")).to_be_visible()
    units.nth(3).get_by_role("button", name=re.compile("^Edit")).click()
    dialog = manager.get_by_role("dialog")
    dialog.get_by_label("Text").fill("The whole of it is in better words.")
    dialog.get_by_role("button", name="Save").click()
    expect(units.nth(3)).to_contain_text("in better words")
    accessible(manager)

    manager.get_by_role("button", name="Preview counts and cost").click()
    expect(fact(manager, "Tasks")).to_have_text("2")
    expect(manager.get_by_text("minutes per task")).to_be_visible()
    manager.get_by_role("button", name="Create told").click()
    expect(manager.get_by_text("told is a draft.")).to_be_visible()
    asked = {unit for task in site.desk.campaigns.tasks("told") for unit in task.task.units}
    assert len(asked) == 7
    look_as_a_worker(manager, site, str(first))
    edit_and_open(manager, visitors, site)


def look_as_a_worker(manager: Page, site: Site, dropped: str) -> None:
    """The real pages, from the questions to the thanks; nothing of it is stored."""
    manager.get_by_role("link", name="Preview as a worker").click()
    expect(manager.get_by_text("Nothing you do here is stored.")).to_be_visible()
    expect(manager.get_by_role("heading", name="Is it told?")).to_be_visible()
    accessible(manager)
    pass_check(manager, "judge")
    expect(counter(manager)).to_have_text("0 of 7 answered")
    expect(manager.get_by_text("The whole of it is in better words.", exact=True)).to_be_visible()
    expect(manager.get_by_text(dropped, exact=True)).to_have_count(0)
    for _ in range(7):
        manager.keyboard.press("p")
    assert judged(manager) == "PPPPPPP"
    manager.keyboard.press("Control+Enter")
    expect(manager.get_by_role("button", name="Next task")).to_be_visible()
    manager.get_by_role("link", name="At the first task").click()
    expect(counter(manager)).to_have_text("0 of 7 answered")
    assert site.desk.campaigns.answers("told") == []
    assert site.desk.workers.entries("told") == []
    manager.get_by_role("link", name="Back to told").click()
    expect(manager.get_by_text("Draft", exact=True)).to_be_visible()


def edit_and_open(manager: Page, visitors: Visitors, site: Site) -> None:
    manager.get_by_role("link", name="Edit", exact=True).click()
    expect(manager.get_by_text("This is a draft: everything can change")).to_be_visible()
    expect(manager.get_by_label("Workers per task")).to_have_value("2")
    expect(manager.get_by_text("Units: 1 unit left out")).to_be_visible()
    manager.get_by_label("Pay per assignment").fill("0.6")
    manager.get_by_role("button", name="Preview counts and cost").click()
    manager.get_by_role("button", name="Save changes").click()
    expect(manager.get_by_text("Saved.", exact=True)).to_be_visible()
    assert site.desk.campaigns.get("told").settings.pay == 0.6
    manager.get_by_role("link", name="Back to told").click()
    manager.get_by_role("button", name="Open to workers").click()
    manager.get_by_role("dialog").get_by_role("button", name="Open to workers").click()
    expect(manager.get_by_text("Running", exact=True)).to_be_visible()
    worker = visitors.new()
    worker.goto(site.link("told"))
    expect(worker.get_by_role("heading", name="Is it told?")).to_be_visible()
    pass_check(worker, "judge")

    manager.get_by_role("link", name="Edit", exact=True).click()
    expect(manager.get_by_text("People have begun with this campaign")).to_be_visible()
    expect(manager.get_by_label("Pay per assignment")).to_be_disabled()
    expect(manager.get_by_text("People were told this when they began.").first).to_be_visible()
    manager.get_by_text("Instructions and questions: your own").click()
    expect(manager.get_by_label("Title")).to_be_disabled()
    manager.get_by_text("Advanced settings").click()
    manager.get_by_label("Time for a task (minutes)").fill("90")
    accessible(manager)
    manager.get_by_role("button", name="Save changes").click()
    expect(manager.get_by_text("Saved.", exact=True)).to_be_visible()
    assert site.desk.campaigns.get("told").settings.lease_minutes == 90


def test_a_draft_is_made_with_the_keyboard_alone(site: Site, visitors: Visitors) -> None:
    manager = visitors.new()
    let_in(manager, site)
    name = manager.get_by_label("Name of the campaign")
    expect(name).to_have_value("judge-1")
    name.focus()
    manager.keyboard.press("Enter")
    expect(manager.get_by_role("heading", name="If you start it now")).to_be_focused()
    manager.keyboard.press("Tab")
    expect(manager.get_by_role("button", name="Create judge-1")).to_be_focused()
    manager.keyboard.press("Enter")
    expect(manager.get_by_text("judge-1 is a draft.").locator("xpath=ancestor-or-self::p")).to_be_focused()
    expect(manager.locator("#next .m-name")).to_have_css("display", "inline")
    manager.keyboard.press("Tab")
    manager.keyboard.press("Enter")
    expect(manager.get_by_text("judge-1 is running.")).to_be_visible()
    assert site.desk.campaigns.get("judge-1").state == "running"


def test_a_plan_that_is_not_stored_is_previewed(site: Site, visitors: Visitors) -> None:
    manager = visitors.new()
    let_in(manager, site)
    expect(manager.get_by_label("Name of the campaign")).to_have_value("judge-1")
    with manager.context.expect_page() as opened:
        manager.get_by_role("button", name="Preview as a worker").click()
    expect(opened.value.get_by_text("Nothing you do here is stored.")).to_be_visible()
    expect(opened.value.get_by_role("heading", name="Is it in the summary?")).to_be_visible()
    assert site.desk.campaigns.all() == []


def test_the_form_takes_the_pyramid_that_the_command_takes(tmp_path: Path, visitors: Visitors) -> None:
    study = small_study(["extract", "vague"], ["A", "B"], units=8)
    [crowd] = study.pyramids
    halves = tuple(replace(unit, id=f"a{n}", group=str(n % 2)) for n, unit in enumerate(crowd.units))
    pyramids = (replace(crowd, name="auto", units=halves), replace(crowd, name="expert"))
    with serve(replace(study, pyramids=pyramids), tmp_path) as site:
        manager = visitors.new()
        let_in(manager, site)
        expect(manager.get_by_label("Pyramid", exact=True)).to_have_value("expert")
        plan_campaign(manager, "Judge", "judged", {})
        usual = plan(site.desk.material(), "judge", "judged", Settings.for_kind("judge"))
        expect(fact(manager, "Tasks")).to_have_text(str(len(usual.tasks)))
        assert site.desk.campaigns.all() == []


def test_nobody_chooses_among_pyramids_but_the_manager(tmp_path: Path, visitors: Visitors) -> None:
    study = small_study(["extract"], ["A", "B"], units=4)
    [crowd] = study.pyramids
    renamed = tuple(replace(unit, id=f"a{unit.id}") for unit in crowd.units)
    pyramids = (replace(crowd, name="auto", units=renamed), replace(crowd, name="mine"))
    visitors.expect_problem("status of 4")
    with serve(replace(study, pyramids=pyramids), tmp_path) as site:
        manager = visitors.new()
        let_in(manager, site)
        expect(manager.get_by_label("Pyramid", exact=True)).to_have_value("")
        manager.get_by_role("button", name="Preview counts and cost").click()
        expect(manager.get_by_text("the study has several pyramids; choose one: auto, mine")).to_be_visible()
        planned = manager.get_by_role("heading", name="If you start it now")
        manager.get_by_label("Pyramid", exact=True).select_option("mine")
        manager.get_by_role("button", name="Preview counts and cost").click()
        expect(planned).to_be_visible()


@pytest.mark.parametrize("kind", ["write", "rate", "compare"])
def test_every_kind_is_previewed_as_its_workers_see_it(kind: TaskKind, site: Site, visitors: Visitors) -> None:
    site.start(kind, kind)
    manager = visitors.new()
    let_in(manager, site, f"/manage/campaigns/{kind}")
    manager.get_by_role("link", name="Preview as a worker").click()
    expect(manager.get_by_text("Nothing you do here is stored.")).to_be_visible()
    expect(manager.get_by_role("heading", level=1)).to_have_text(CONTENT[kind]["title"])
    answer_check(manager, kind)
    manager.get_by_role("button", name="Start with the first task").click()
    expect(manager.get_by_role("button", name="I cannot do this one")).to_be_visible()
    texts = site.desk.studies.load().references if kind == "write" else site.desk.studies.load().peers
    shown = [text for text in texts if manager.get_by_text(text.text, exact=True).count()]
    assert len(shown) == {"write": 1, "rate": 1, "compare": 2}[kind]
    assert site.desk.workers.entries(kind) == []


# -- units ---------------------------------------------------------------------------------------------------


def test_written_statements_are_reworded_dropped_and_restored(site: Site, visitors: Visitors) -> None:
    manager = visitors.new(bypass_csp=True)
    let_in(manager, site)
    plan_campaign(manager, "Write", "facts", {"Statements per task": "4", "Workers per task": "2"})
    start_campaign(manager, "facts")
    rehearse_campaign(site.desk, "facts", workers=4)
    manager.get_by_role("link", name="Watch it").click()
    manager.get_by_role("button", name="Preview units").click()
    kept = manager.get_by_role("table", name="Units that would be kept").get_by_role("row")
    dropped = manager.get_by_role("table", name="Dropped statements").get_by_role("row")
    expect(kept.nth(2)).to_be_visible()
    number = int(fact(manager, "Statements kept").text_content() or "0")
    text = kept.nth(1).get_by_role("rowheader").text_content() or ""
    kept.nth(1).get_by_role("button", name=re.compile("^Drop")).click()
    gone = dropped.filter(has_text=text).filter(has_text="by a manager")
    expect(gone).to_be_visible()
    accessible(manager)
    gone.get_by_role("button", name=re.compile("^Restore")).click()
    expect(gone).to_have_count(0)
    expect(fact(manager, "Statements kept")).to_have_text(str(number))
    kept.nth(1).get_by_role("button", name=re.compile("^Edit")).click()
    dialog = manager.get_by_role("dialog")
    dialog.get_by_label("Text").fill("The reservoir holds less than a quarter.")
    dialog.get_by_role("button", name="Use these words").click()
    expect(kept.filter(has_text="The reservoir holds less than a quarter.")).to_be_visible()
    labels = {unit.label for pyramid in site.desk.studies.load().pyramids for unit in pyramid.units}
    assert "The reservoir holds less than a quarter." not in labels, "nothing is stored by looking"


def test_units_that_a_rehearsal_wrote_are_marked_where_they_are_chosen(tmp_path: Path, visitors: Visitors) -> None:
    study = small_study(["extract"], ["A", "B"], units=4)
    [crowd] = study.pyramids
    made_up = tuple(replace(unit, id=f"a{unit.id}", author="simulated-w2") for unit in crowd.units)
    pyramids = (crowd, replace(crowd, name="rehearsed", units=made_up))
    with serve(replace(study, pyramids=pyramids), tmp_path) as site:
        manager = visitors.new()
        let_in(manager, site)
        expect(manager.get_by_role("complementary", name="Simulated answers")).to_be_visible()
        units = manager.locator("summary").filter(has_text="Units: all of them")
        expect(units.get_by_text("simulated")).to_be_hidden()
        manager.get_by_label("Pyramid", exact=True).select_option("rehearsed (simulated)")
        expect(units.get_by_text("simulated")).to_be_visible()
        units.click()
        rows = manager.get_by_role("table", name="Units to ask about").get_by_role("rowheader")
        expect(rows.filter(has_text="simulated")).to_have_count(4)
