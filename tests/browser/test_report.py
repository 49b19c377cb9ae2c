"""The report and feedback pages in a real browser: hostile texts, the enforced policy, the keyboard, downloads, axe."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

import pyramidion as pyr
from pyramidion.formats.files import plain_cell
from pyramidion.report import report_page, write_feedback
from pyramidion.report.collect import findings
from pyramidion.study import UNMATCHED
from tests.browser.people import Visitors
from tests.browser.test_accessibility import PHONE, WIDE, problems
from tests.browser.test_hostile import ALL, NAMES, SCRIPT, TEXTS
from tests.scoring.test_human_peers import study as humans

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(findings(pyr.example(), resamples=50)), encoding="utf-8")
    return path


def hostile_study() -> pyr.Study:
    """Every id, label and text tries to be more than text; two topics, so that there is something to rank."""
    topics, systems = NAMES[:2], NAMES[:5]
    references = tuple(NAMES[5:7])
    contributors = tuple(pyr.Contributor(name, (pyr.Span(0, 9),)) for name in references)
    outside = ((pyr.Span(5, 40),),)
    units = tuple(
        pyr.ContentUnit(f"{name} {n}", text, contributors[: 1 + n % 2])
        for n, (name, text) in enumerate(zip([*NAMES, "t", "u"], TEXTS, strict=True))
    )
    judgments = [
        pyr.Judgment(topic, system, SCRIPT, float((n + s) % 3), unit=unit.id, evidence=((pyr.Span(0, 12 + n),),))
        for topic in topics
        for s, system in enumerate(systems)
        for n, unit in enumerate(units)
    ]
    judgments += [pyr.Judgment(t, s, SCRIPT, 1.0, aspect=UNMATCHED, evidence=outside) for t in topics for s in systems]
    return pyr.Study(
        topics=tuple(pyr.Topic(topic, ALL, ALL) for topic in topics),
        summaries=(
            *(pyr.Summary(topic, system, f"{system} {ALL}") for topic in topics for system in systems),
            *(pyr.Summary(topic, name, ALL, "reference") for topic in topics for name in references),
        ),
        pyramids=tuple(pyr.Pyramid(topic, references, units) for topic in topics),
        judges=(pyr.Judge(SCRIPT, "expert"),),
        judgments=pyr.Judgments(judgments),
        title=ALL,
    )


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile-report") / "report.html"
    path.write_text(report_page(findings(hostile_study(), resamples=20)), encoding="utf-8")
    return path


def fragment(*parts: str) -> str:
    return "#" + "/".join(quote(part, safe="") for part in parts)


def is_harmless(page: Page) -> None:
    assert page.evaluate("typeof window.pwned") == "undefined"
    for made in ("img", "iframe", "[onerror]", "[onfocus]", "[href^='javascript:' i]"):
        assert page.locator(made).count() == 0, made
    assert page.locator("script:not([type='application/json'],[type='application/gzip'])").count() <= 1


def test_hostile_texts_stay_texts_in_every_view(hostile_file: Path, visitors: Visitors) -> None:
    page = visitors.new()
    page.goto(hostile_file.as_uri())
    expect(page.locator("h1")).to_contain_text(SCRIPT)
    expect(page.get_by_role("rowheader", name=SCRIPT, exact=True).first).to_be_visible()
    is_harmless(page)
    for parts in (("topic", NAMES[0]), ("topic", NAMES[1]), *(("summary", NAMES[0], name) for name in NAMES[:5])):
        page.goto(hostile_file.as_uri() + fragment(*parts))
        expect(page.locator("#detail h1")).to_contain_text(parts[-1] if len(parts) == 3 else SCRIPT)
        assert SCRIPT in (page.locator("#detail").text_content() or "")
        for closed in page.locator("#detail details:not([open]) > summary").all():
            if closed.is_visible():
                closed.click()
        is_harmless(page)
    text = page.locator("#detail .text").first.text_content() or ""
    assert text == f"{NAMES[4]} {ALL}"


def test_the_policy_is_enforced(page_file: Path, visitors: Visitors) -> None:
    """What is not the page's own script does not run, whichever way it gets in."""
    visitors.expect_problem("Content-Security-Policy")
    visitors.expect_problem("Content Security Policy")
    visitors.expect_problem("requires 'Trusted")
    page = visitors.new()
    page.goto(page_file.as_uri())
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          try { script.text = "window.pwned = 1"; document.body.append(script); } catch {}
          try { document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned=1'>"); } catch {}
          const link = document.createElement("button");
          try { link.setAttribute("onclick", "window.pwned = 1"); } catch {}
          document.body.append(link);
          link.click();
        }"""
    )
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')") == "refused"


def test_tables_sort_and_filter(page_file: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(page_file.as_uri())
    ranking = page.locator("#rank-0 table")
    names = ranking.locator("tbody th")
    assert names.all_text_contents()[0] == "paraphrase"
    ranking.get_by_role("button", name="system").click()
    assert names.all_text_contents() == sorted(names.all_text_contents())
    ranking.get_by_role("button", name="Pyramid score (modified)").click()
    assert names.all_text_contents()[0] == "paraphrase"
    ranking.get_by_role("button", name="Pyramid score (modified)").click()
    assert names.all_text_contents()[0] == "offtopic"
    expect(ranking.get_by_role("columnheader", name="Pyramid score (modified)", exact=True)).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_role("button", name="ROUGE", exact=True).click()
    expect(page.locator("#rank-0")).to_be_hidden()
    assert page.locator("#rank-3 tbody th").all_text_contents()[0] == "extract"


def test_long_tables_have_a_filter(tmp_path: Path, visitors: Visitors) -> None:
    study = pyr.example()
    extra = [replace(s, system=f"copy{n}") for n in range(8) for s in study.peers if s.system == "lead"]
    votes = [replace(j, system=f"copy{n}") for n in range(8) for j in study.judgments if j.system == "lead"]
    large = replace(study, summaries=(*study.summaries, *extra), judgments=study.judgments + votes)
    path = tmp_path / "large.html"
    path.write_text(report_page(findings(large, method="pyramid", resamples=20)), encoding="utf-8")
    page = visitors.new()
    page.goto(path.as_uri())
    panel = page.locator("#rank-0")
    panel.get_by_label("Filter systems").fill("COPY")
    assert panel.locator("tbody tr:visible").count() == 8


def test_the_map_is_walked_with_the_keyboard(page_file: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(page_file.as_uri())
    page.locator("table.heat td[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#cell-says")).to_have_text("extract on harbor-bridge: 0.60")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h1")).to_have_text("extract")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.go_back()
    expect(page.locator("#overview")).to_be_visible()


def test_a_summary_shows_what_it_says_and_misses(page_file: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE)
    page.goto(page_file.as_uri() + fragment("summary", "drought-plan", "extract"))
    detail = page.locator("#detail")
    expect(detail.locator("h1")).to_have_text("extract")
    peer = pyr.example().summary("drought-plan", "extract")
    assert peer
    assert detail.locator(".text").first.text_content() == peer.text
    expect(detail.get_by_text("12 units expressed")).to_be_visible()
    expect(detail.get_by_text("important units not found, heaviest first")).to_be_visible()
    expect(detail.get_by_text("4 passages in no unit of the pyramid")).to_be_visible()
    detail.get_by_role("button", name="Farmers have gone to court against the city").click()
    lit = "".join(detail.locator("mark.lit").all_text_contents())
    assert lit == "Growers in the nearby Orlen Valleyfiled a lawsuit against the city"
    page.goto(page_file.as_uri() + fragment("summary", "drought-plan", "nobody"))
    expect(page.locator("#overview")).to_be_visible()
    expect(page.get_by_text("There is no summary of drought-plan by nobody in this report.")).to_be_visible()


def test_a_summary_shows_what_each_annotator_gives(tmp_path: Path, visitors: Visitors) -> None:
    """A second annotator finds nothing: half of the score, and every unit by one of two."""
    study = pyr.example()
    [first] = {j.judge for j in study.judgments if j.unit} & study.judges_of("expert")
    second = [replace(j, judge="ben", value=0.0, evidence=()) for j in study.judgments if j.judge == first]
    judged = pyr.Judgments([*study.judgments, *second])
    both = replace(study, judges=(*study.judges, pyr.Judge("ben", "expert")), judgments=judged)
    path = tmp_path / "report.html"
    path.write_text(report_page(findings(both, method="pyramid", resamples=20)), encoding="utf-8")
    page = visitors.new(viewport=WIDE)
    page.goto(path.as_uri() + fragment("summary", "drought-plan", "extract"))
    value = pyr.score(study, "pyramid").per_summary("modified")["drought-plan", "extract"]
    detail = page.locator("#detail")
    each = f"Pyramid score (modified) is the mean of 2 annotators: {value:.3f} by {first}, 0.000 by ben"
    expect(detail.get_by_text(each)).to_be_visible()
    expect(detail.get_by_text("12 units expressed")).to_be_visible()
    expect(detail.get_by_text("1 of 2 judges say it is there").first).to_be_visible()


def test_everything_can_be_downloaded(page_file: Path, visitors: Visitors) -> None:
    page = visitors.new()
    page.goto(page_file.as_uri())
    table = pyr.score(pyr.example(), "pyramid")
    rows = list(csv.DictReader(io.StringIO(download(page, "Scores (CSV)"), newline="")))
    found = {(r["topic"], r["system"]): float(r["value"]) for r in rows if r["measure"] == "modified" and r["topic"]}
    assert found == pytest.approx(table.per_summary("modified"))
    held = json.loads(download(page, "Everything (JSON)"))
    assert [topic["id"] for topic in held["topics"]] == [topic.id for topic in pyr.example().topics]
    units = list(csv.DictReader(io.StringIO(download(page, "Units (CSV)"), newline="")))
    assert len([u for u in units if (u["topic"], u["system"]) == ("drought-plan", "extract")]) == 12


def test_downloads_disarm_formulas(hostile_file: Path, visitors: Visitors) -> None:
    page = visitors.new()
    page.goto(hostile_file.as_uri())
    for name in ("Scores (CSV)", "Units (CSV)"):
        rows = list(csv.reader(io.StringIO(download(page, name), newline="")))
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))]
        place = rows[0].index("system")
        assert {plain_cell(row[place]) for row in rows[1:]} == set(NAMES[:5])


def download(page: Page, name: str) -> str:
    with page.expect_download() as found:
        page.get_by_role("button", name=name).click()
    return found.value.path().read_bytes().decode()


@pytest.mark.parametrize(
    "place", ["", fragment("topic", "drought-plan"), fragment("summary", "drought-plan", "repeat")]
)
def test_axe_finds_nothing_grave(place: str, page_file: Path, visitors: Visitors) -> None:
    page = visitors.new(bypass_csp=True)  # axe-core comes from outside
    page.goto(page_file.as_uri() + place)
    expect(page.locator("main:visible h1")).to_be_visible()
    assert list(problems(page, [WIDE, PHONE])) == []


def test_paper_is_light_and_shows_every_ranking(page_file: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=WIDE, color_scheme="dark")
    page.goto(page_file.as_uri())
    dark = page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(34, 38, 42)" != dark
    expect(page.locator("#rank-3 table")).to_be_visible()
    expect(page.locator("nav.contents")).to_be_hidden()


def test_feedback_is_accessible_and_harmless(tmp_path: Path, visitors: Visitors) -> None:
    write_feedback(findings(pyr.example(), resamples=20), tmp_path / "good")
    page = visitors.new(bypass_csp=True)
    for name in ("writers/extract/drought-plan.html", "overview.html"):
        page.goto((tmp_path / "good" / name).as_uri())
        assert list(problems(page, [WIDE, PHONE])) == []
    page.get_by_role("link", name="paraphrase", exact=True).first.click()
    expect(page.get_by_role("heading", name="What you could add")).to_be_visible()
    written = write_feedback(findings(hostile_study(), resamples=20), tmp_path / "bad")
    other = visitors.new()
    for path in written[:4] + written[-3:-1]:
        other.goto(path.as_uri())
        expect(other.get_by_role("heading").first).to_contain_text(SCRIPT)
        is_harmless(other)


def test_a_human_peer_is_shown_against_the_other_references(tmp_path: Path, visitors: Visitors) -> None:
    """Weights without its own contribution, and no unit that only it contributes to: what its score is made of."""
    path = tmp_path / "report.html"
    path.write_text(report_page(findings(humans(), resamples=20)), encoding="utf-8")
    page = visitors.new()
    page.goto(path.as_uri() + fragment("summary", "t", "A"))
    detail = page.locator("#detail")
    expect(detail).to_contain_text("This is reference A itself, so it is compared with the other references only.")
    lines = {line.locator(".unit").text_content(): line.locator(".weight").text_content() for line in unit_lines(page)}
    assert lines == {"one": "2", "two": "1", "five": "2", "four": "1"}
    assert [tick.text_content() for tick in detail.locator(".big-pyramid .tick").all()] == ["2", "1"]
    page.goto(path.as_uri() + fragment("summary", "t", "s"))
    expect(detail.locator("h1")).to_have_text("s")
    lines = {line.locator(".unit").text_content(): line.locator(".weight").text_content() for line in unit_lines(page)}
    assert lines == {"one": "3", "five": "2", "two": "2", "three": "1", "four": "1"}
    expect(detail).not_to_contain_text("itself")


def unit_lines(page: Page) -> list[Locator]:
    """The lines of units on a summary's page, in open and in closed parts."""
    return page.locator("#detail ul.units li[data-unit]").all()
