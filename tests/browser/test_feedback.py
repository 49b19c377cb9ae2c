"""The teacher's page in a real browser: verdicts are corrected, downloaded, and the pages made again."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import pyramidion as pyr
from pyramidion.report import read_corrections, write_feedback
from pyramidion.report.collect import findings
from tests.browser.people import Visitors
from tests.browser.test_accessibility import PHONE, WIDE, problems
from tests.browser.test_hostile import ALL, NAMES, SCRIPT, TEXTS
from tests.browser.test_report import is_harmless
from tests.cli.running import run
from tests.report.test_corrections import judged

pytestmark = pytest.mark.browser

SMALL = {"width": 1280, "height": 720}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A judged study and its pages, as the command makes them."""
    pyr.save(judged(), tmp_path / "judged.jsonl")
    make(tmp_path)
    return tmp_path


def make(files: Path, *options: object) -> None:
    done = run("feedback", files / "judged.jsonl", "-o", files / "pages", *options)
    assert done.returncode == 0, done.stderr


def opened(visitors: Visitors, files: Path, place: str = "#t/ada") -> Page:
    page = visitors.new(viewport=SMALL, accept_downloads=True)
    page.goto((files / "pages" / "check.html").as_uri() + place)
    expect(page.locator("#view h2").first).to_be_visible()
    return page


def idea(page: Page, label: str) -> Locator:
    return page.locator(".checks li").filter(has_text=label)


def verdict(page: Page, label: str) -> str:
    return idea(page, label).locator('[aria-pressed="true"]').text_content() or ""


def downloaded(page: Page, files: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download corrections").click()
    assert waiting.value.suggested_filename == "corrections.jsonl"
    waiting.value.save_as(files / "corrections.jsonl")
    return files / "corrections.jsonl"


def test_correct_download_and_make_again(files: Path, visitors: Visitors) -> None:
    page = opened(visitors, files)
    expect(page.locator(".tally")).to_have_text("1 expressed, 2 perhaps, 1 not found")
    expect(page.locator("mark.perhaps").first).to_have_text("ten families left")
    idea(page, "Ten families fled").get_by_role("button", name="expressed").click()
    expect(page.locator(".tally")).to_have_text("2 expressed, 1 perhaps, 1 not found")
    expect(page.locator("mark.t1").nth(1)).to_have_text("ten families left")
    expect(idea(page, "Ten families fled")).to_contain_text("Corrected by you. The first verdict: perhaps")
    page.locator("#writer").select_option("bob")
    expect(page.locator(".tally")).to_have_text("1 expressed, 0 perhaps, 3 not found")
    idea(page, "It cost a million").get_by_role("button", name="not found").click()
    expect(page.locator("#state")).to_have_text("2 corrections, not downloaded")
    path = downloaded(page, files)
    expect(page.locator("#state")).to_have_text("2 corrections, downloaded")
    assert [(c.system, c.unit, c.expressed) for c in read_corrections(path)] == [
        ("ada", "fled", True),
        ("bob", "cost", False),
    ]
    make(files, "--corrections", path, "--replace")

    again = opened(visitors, files)
    expect(again.locator("#state")).to_have_text("2 corrections, in these pages")
    expect(idea(again, "Ten families fled")).to_contain_text("Corrected by you. The first verdict: perhaps")
    assert verdict(again, "Ten families fled") == "expressed"
    assert downloaded(again, files).read_text() == (files / "pages" / "corrections.jsonl").read_text(), "the same again"
    writer = visitors.new()
    writer.goto((files / "pages" / "writers" / "ada" / "t.html").as_uri())
    expect(writer.locator(".lead")).to_contain_text("Your summary expresses 2 of the 2 main ideas")
    expect(writer.locator(".trust")).to_contain_text("Your teacher checked 1 of the verdicts.")
    writer.goto((files / "pages" / "overview.html").as_uri())
    expect(writer.locator(".trust")).to_contain_text("You checked 2 verdicts.")


def test_earlier_corrections_can_be_taken_back(files: Path, visitors: Visitors) -> None:
    line = {"topic": "t", "system": "bob", "unit": "cost", "verdict": "not found"}
    (files / "first.jsonl").write_text(json.dumps(line))
    make(files, "--corrections", files / "first.jsonl", "--replace")
    page = opened(visitors, files, "#t/bob")
    assert verdict(page, "It cost a million") == "not found"
    idea(page, "It cost a million").get_by_role("button", name="expressed").click()
    expect(page.locator("#state")).to_have_text("All corrections taken back, not downloaded")
    path = downloaded(page, files)
    assert path.read_text() == ""
    make(files, "--corrections", path, "--replace")
    assert not (files / "pages" / "corrections.jsonl").exists()


def test_corrections_of_writers_who_are_not_shown_stay(files: Path, visitors: Visitors) -> None:
    lines = [
        {"topic": "t", "system": "bob", "unit": "cost", "verdict": "not found"},
        {"topic": "t", "system": "ada", "unit": "rain", "verdict": "not found"},
    ]
    (files / "first.jsonl").write_text("\n".join(map(json.dumps, lines)))
    make(files, "--corrections", files / "first.jsonl", "--replace", "--system", "ada")
    page = opened(visitors, files)
    expect(page.locator("#state")).to_have_text("2 corrections, in these pages")
    idea(page, "Ten families fled").get_by_role("button", name="expressed").click()
    assert {(c.system, c.unit) for c in read_corrections(downloaded(page, files))} == {
        ("ada", "fled"),
        ("ada", "rain"),
        ("bob", "cost"),
    }


def test_by_keyboard_with_undo(files: Path, visitors: Visitors) -> None:
    page = opened(visitors, files)
    for key in ("j", "j", "e"):
        page.keyboard.press(key)
    expect(page.locator("li.current")).to_contain_text("Ten families fled")
    assert verdict(page, "Ten families fled") == "expressed"
    page.keyboard.press("n")
    assert verdict(page, "Ten families fled") == "not found"
    page.keyboard.press("b")
    assert verdict(page, "Ten families fled") == "perhaps"
    expect(page.locator("#state")).to_have_text("No corrections yet")
    page.keyboard.press("k")
    page.keyboard.press("n")
    assert verdict(page, "The river rose") == "not found"
    page.keyboard.press("]")
    expect(page.locator("#view h2").first).to_have_text("bob")
    assert page.url.endswith("#t/bob")
    for expected in ("expressed", "expressed"):
        page.keyboard.press("u")
        expect(page.locator("#view h2").first).to_have_text("ada")
        assert verdict(page, "The river rose") == expected
    page.get_by_role("button", name="Undo").click()
    page.keyboard.press("Control+z")
    assert verdict(page, "Ten families fled") == "perhaps"
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.locator("#writer").focus()
    page.keyboard.press("e")
    expect(page.locator("#state")).to_have_text("No corrections yet")


def test_nothing_is_lost_silently(files: Path, visitors: Visitors) -> None:
    page = opened(visitors, files)
    asked: list[str] = []

    def stay(dialog: object) -> None:
        asked.append(dialog.type)  # type: ignore[attr-defined]
        dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", stay)
    idea(page, "Ten families fled").get_by_role("button", name="expressed").click()
    page.reload()
    assert asked == ["beforeunload"]
    expect(page.locator("#state")).to_have_text("1 correction, not downloaded (found in this browser)")
    assert verdict(page, "Ten families fled") == "expressed"
    downloaded(page, files)
    page.reload()
    expect(page.locator("#state")).to_have_text("1 correction, downloaded")
    assert len(asked) == 1, "what was downloaded needs no warning"
    other = visitors.new(viewport=SMALL)
    other.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } })")
    other.goto((files / "pages" / "check.html").as_uri())
    expect(other.locator("#state")).to_have_text("No corrections yet")
    idea(other, "Ten families fled").get_by_role("button", name="expressed").click()
    expect(other.locator("#state")).to_have_text("1 correction, not downloaded")
    other.on("dialog", stay)
    before = len(asked)
    other.reload()
    assert len(asked) == before + 1
    expect(other.locator("#state")).to_have_text("No corrections yet")


def test_answers_of_several_people_can_be_read_only(tmp_path: Path, visitors: Visitors) -> None:
    write_feedback(findings(pyr.example(), method="lite", resamples=20), tmp_path / "pages")
    page = visitors.new()
    page.goto((tmp_path / "pages" / "check.html").as_uri())
    expect(page.get_by_text("Several people judged")).to_be_visible()
    expect(page.locator(".verdict span").first).to_be_visible()
    assert page.locator(".verdict button").count() == 0
    assert page.get_by_role("button", name="Download corrections").count() == 0


def test_every_page_is_for_everybody(files: Path, visitors: Visitors) -> None:
    page = visitors.new(bypass_csp=True)
    for name in ("writers/ada/t.html", "overview.html", "check.html#t/ada"):
        page.goto((files / "pages").as_uri() + f"/{name}")
        expect(page.locator("h1")).to_be_visible()
        assert list(problems(page, [WIDE, PHONE])) == []
        for size in (SMALL, PHONE):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"


def test_writers_pages_are_alone_on_screen_and_paper(files: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=PHONE, color_scheme="dark")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((files / "pages" / "writers" / "ada" / "t.html").as_uri())
    assert page.locator("a, script, iframe, form").count() == 0
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert "bob" not in page.content()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.emulate_media(media="print")
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert dark != paper == "rgb(255, 255, 255)"


# -- hostile and large -----------------------------------------------------------------------------------------------


def hostile() -> pyr.Study:
    """Every id, label and text tries to be more than text; a program judged."""
    units = tuple(
        pyr.ContentUnit(f"{name} {n}", text, (pyr.Contributor(NAMES[5], (pyr.Span(0, 9),)),))
        for n, (name, text) in enumerate(zip([*NAMES, "t", "u"], TEXTS, strict=True))
    )
    return pyr.Study(
        topics=(pyr.Topic(NAMES[0], ALL, ALL),),
        summaries=(
            *(pyr.Summary(NAMES[0], system, f"{system} {ALL}") for system in NAMES[:3]),
            pyr.Summary(NAMES[0], NAMES[5], ALL, "reference"),
        ),
        pyramids=(pyr.Pyramid(NAMES[0], (NAMES[5],), units),),
        judges=(pyr.Judge(SCRIPT, "model", expressed=0.6, perhaps=0.2),),
        judgments=pyr.Judgments(
            pyr.Judgment(NAMES[0], system, SCRIPT, (0.9, 0.4, 0.1)[n % 3], unit=unit.id, evidence=((pyr.Span(0, 12),),))
            for system in NAMES[:3]
            for n, unit in enumerate(units)
        ),
        title=ALL,
    )


def test_hostile_texts_stay_texts_and_survive_the_file(tmp_path: Path, visitors: Visitors) -> None:
    pyr.save(hostile(), tmp_path / "judged.jsonl")
    make(tmp_path)
    page = visitors.new(accept_downloads=True)
    page.goto((tmp_path / "pages" / "check.html").as_uri())
    expect(page.locator("h1")).to_contain_text(SCRIPT)
    expect(page.locator(".checks li").first).to_be_visible()
    is_harmless(page)
    for line in page.locator(".checks li").all():
        line.get_by_role("button", name="expressed").click()
        line.get_by_role("button", name="not found").click()
    is_harmless(page)
    path = downloaded(page, tmp_path)
    make(tmp_path, "--corrections", path, "--replace")
    page.goto((tmp_path / "pages" / "check.html").as_uri())
    expect(page.locator(".tally")).to_contain_text("0 expressed, 0 perhaps")
    for written in sorted((tmp_path / "pages").rglob("*.html")):
        page.goto(written.as_uri())
        expect(page.get_by_role("heading").first).to_contain_text(SCRIPT)
        is_harmless(page)


REAL = Path(__file__).parents[2].parent / "shared" / "data" / "realsumm-half"


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the REALSumm data is not here")
def test_real_size(tmp_path: Path, visitors: Visitors) -> None:
    """25 systems on 50 topics, every value replaced by a probability: 1,250 summaries on one page."""
    study = pyr.load(REAL)
    model = pyr.Judge("align", "model", expressed=0.6, perhaps=0.2)
    values = (0.05, 0.3, 0.7, 0.9)
    rows = (replace(j, judge="align", value=values[n % 4]) for n, j in enumerate(study.judgments) if j.unit)
    study = replace(study, judges=(model,), judgments=pyr.Judgments(rows))
    begun = time.monotonic()
    made = write_feedback(findings(study, resamples=20), tmp_path / "pages")
    print(f"{len(made)} files in {time.monotonic() - begun:.1f} s")
    assert (tmp_path / "pages" / "check.html").stat().st_size < 3_000_000
    assert (tmp_path / "pages" / "overview.html").stat().st_size < 3_000_000
    page = visitors.new(viewport=SMALL)
    page.goto((tmp_path / "pages" / "check.html").as_uri())
    expect(page.locator(".checks li").first).to_be_visible()
    assert page.locator("#topic option").count() == 50
    assert page.locator("#writer option").count() == 25
    page.keyboard.press("[")
    expect(page.locator("#view h2").first).to_have_text(sorted(study.systems)[-1])
    for key in ("j", "e", "n"):
        page.keyboard.press(key)
    expect(page.locator("#state")).to_contain_text("correction")
    assert page.evaluate("document.querySelector('#undo').disabled") is False
