"""A report of real size, read by people: nothing clipped, long tables folded, readers' words, dark for more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion.report import report_page, write_feedback, write_report_folder
from pyramidion.report.collect import findings
from tests.browser.people import Visitors
from tests.browser.test_accessibility import FOCUSED
from tests.browser.test_report import fragment
from tests.waiting import until

pytestmark = pytest.mark.browser

SYSTEMS, TOPICS, JUDGES = 25, 50, 14
NAMES = ("abs_semsim_out", "ext_pnbert_out_bert_lstm_pn_rl", "abs_ptr_generator_out_pointer_gen_cov", "T5", "lead")
SIZES: dict[str, Any] = {
    "wide": {"width": 1440, "height": 900},
    "laptop": {"width": 1280, "height": 720},
    "laptop at 200%": {"width": 640, "height": 360},
    "phone": {"width": 390, "height": 844},
}


def real_size(count: int = TOPICS) -> pyr.Study:
    """25 systems with the names of real ones on 50 topics with titles, two of 14 experts on every summary."""
    systems = [f"{NAMES[n % 5]}_{n}" for n in range(SYSTEMS)]
    topics = [f"cnndm{1000 + 37 * n}" for n in range(count)]
    references = ("A", "B")
    units = tuple(
        pyr.ContentUnit(f"u{n}", f"Unit {n}.", tuple(pyr.Contributor(name) for name in references[: 1 + n % 2]))
        for n in range(6)
    )
    judgments = [
        pyr.Judgment(
            topic, system, f"expert{(t + k) % JUDGES}", float((t * 7 + s * 3 + n + k // 2) % 11 > s % 7), unit=unit.id
        )
        for t, topic in enumerate(topics)
        for s, system in enumerate(systems)
        for k in range(2)
        for n, unit in enumerate(units)
    ]
    return pyr.Study(
        topics=tuple(pyr.Topic(id, f"What the council of the town said about {id}, and why") for id in topics),
        summaries=(
            *(pyr.Summary(id, system, f"The town council spoke of {id}.") for id in topics for system in systems),
            *(pyr.Summary(id, name, "The council spoke.", "reference") for id in topics for name in references),
        ),
        pyramids=tuple(pyr.Pyramid(id, references, units) for id in topics),
        judges=tuple(pyr.Judge(f"expert{n}", "expert") for n in range(JUDGES)),
        judgments=pyr.Judgments(judgments),
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real-size")
    large, example = findings(real_size(), method="pyramid", resamples=20), findings(pyr.example(), resamples=20)
    for name, found in (("large", large), ("report", example)):
        (folder / f"{name}.html").write_text(report_page(found), "utf-8")
        write_report_folder(found, folder / name)
    (folder / "few.html").write_text(report_page(findings(real_size(8), method="pyramid", resamples=20)), "utf-8")
    write_feedback(example, folder / "feedback")
    return folder


CLIPPED = """() => [...document.querySelectorAll(".table-wrap")]
  .filter((wrap) => wrap.scrollWidth > wrap.clientWidth + 1)
  .map((wrap) => wrap.closest("section")?.id)"""


@pytest.mark.parametrize("size", ["wide", "laptop"])
def test_no_table_is_clipped(size: str, place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES[size])
    page.goto((place / "large.html").as_uri())
    expect(page.locator("#topics tbody tr")).to_have_count(10)
    for table in page.get_by_text("Table", exact=True).all():
        table.click()
    assert page.evaluate(CLIPPED) == []
    page.locator("#topics").get_by_role("button", name="Show all 50").click()
    assert page.evaluate(CLIPPED) == []
    page.set_viewport_size(SIZES["laptop"])  # the map takes out what does not fit any more
    until(lambda: page.evaluate(CLIPPED) == [])


@pytest.mark.parametrize("size", ["wide", "laptop"])
@pytest.mark.parametrize(
    ("report", "topic", "system"), [("report", "drought-plan", "extract"), ("large", "cnndm1000", "T5_3")]
)
def test_no_table_of_a_topic_or_summary_is_clipped(
    report: str, topic: str, system: str, size: str, place: Path, visitors: Visitors
) -> None:
    page = visitors.new(viewport=SIZES[size])
    for path in (f"{report}.html", f"{report}/topics/{topic}.html"):
        page.goto(f"{place.as_uri()}/{path}{fragment('topic', topic)}")
        expect(page.locator("#detail table")).to_be_visible()
        assert page.evaluate(CLIPPED) == [], path
        page.goto(f"{place.as_uri()}/{path}{fragment('summary', topic, system)}")
        expect(page.locator("#detail h1")).to_have_text(system)
        assert page.evaluate(CLIPPED) == [], path


def test_a_phone_shows_the_scores_of_the_ranking(place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["phone"])
    page.goto((place / "report.html").as_uri())
    expect(page.locator("#topics tbody tr")).to_have_count(4)
    score = page.locator("#rank-0 tbody tr").first.locator("td.number:not(.rank)").first.bounding_box()
    assert score
    assert score["x"] + score["width"] <= SIZES["phone"]["width"] - 8


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("report.html", "#topics tbody tr"),
        ("large.html", "#topics tbody tr"),
        ("report.html#topic/drought-plan", "#detail tbody tr"),
        ("large/topics/cnndm1000.html", "#detail tbody tr"),
        ("feedback/overview.html", "tbody tr"),
    ],
)
def test_a_phone_cuts_no_table(name: str, last: str, place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["phone"])
    page.goto(f"{place.as_uri()}/{name}")
    expect(page.locator(last).first).to_be_visible()
    assert page.evaluate(CLIPPED) == []
    for method in page.locator("#overview .tabs button:visible").all():
        method.click()
        assert page.evaluate(CLIPPED) == [], method.text_content()


ROWS = """() => {
  const around = (node, start, end) => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return range.getBoundingClientRect();
  };
  const written = (cell) => {
    const nodes = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const found = [];
    while (nodes.nextNode()) {
      const node = nodes.currentNode;
      for (let at = 0; at < node.length; at += 1) {
        const {top, right, width} = around(node, at, at + 1);
        if (width && node.data[at].trim()) found.push({letter: node.data[at], top, right});
      }
    }
    return found;
  };
  const lines = (cell) => {
    const found = {};
    for (const {letter, top} of written(cell)) found[top] = (found[top] ?? "") + letter;
    return Object.entries(found).sort(([a], [b]) => a - b).map(([, text]) => text);
  };
  return [...document.querySelectorAll("#rank-0 tbody tr")].map((row) => {
    const {right} = row.closest(".table-wrap").getBoundingClientRect();
    const group = row.querySelector(".letters");
    const seen = written(group).filter((each) => each.right <= right);
    const name = lines(row.querySelector("th"));
    return {group: group.dataset.v, seen: seen.map(({letter}) => letter).join(""), name};
  });
}"""
TICKS = """() => [...document.querySelectorAll("#rank-0 .axis")].map((axis) =>
  [...axis.querySelectorAll(".tick")].map((tick) => tick.getBoundingClientRect()).filter(({width}) => width)
    .map(({left, right}) => [left, right]))"""


@pytest.mark.parametrize(("name", "letters"), [("few.html", 6), ("large.html", 26)])
def test_a_phone_shows_every_letter_and_breaks_names_between_parts(
    name: str, letters: int, place: Path, visitors: Visitors
) -> None:
    page = visitors.new(viewport=SIZES["phone"])
    page.goto((place / name).as_uri())
    rows = page.evaluate(ROWS)
    assert len(rows) == SYSTEMS
    assert len({letter for row in rows for letter in row["group"]}) >= letters
    assert [row["seen"] for row in rows] == [row["group"] for row in rows]
    assert {"".join(row["name"]) for row in rows} == {f"{NAMES[n % 5]}_{n}" for n in range(SYSTEMS)}
    assert [line for row in rows for line in row["name"][:-1] if not line.endswith("_")] == []
    [axis] = page.evaluate(TICKS)
    assert len(axis) == 2
    assert axis[0][1] + 2 < axis[1][0]


def test_long_tables_are_folded_and_searched(place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((place / "large.html").as_uri())
    folded = page.locator("#agreement > div")
    judges = folded.locator("tbody tr:visible")
    expect(judges).to_have_count(10)
    folded.get_by_label("Filter judges").fill("expert13")
    expect(judges).to_have_count(1)
    folded.get_by_label("Filter judges").fill("")
    folded.get_by_role("button", name="Show all 14 judges").click()
    expect(judges).to_have_count(14)
    folded.get_by_role("button", name="Show fewer").click()
    expect(judges).to_have_count(10)
    folded.get_by_role("button", name="judge", exact=True).click()  # the others come into view
    assert judges.first.locator("th").text_content() == "expert0"
    expect(judges).to_have_count(10)


UNDER_TITLES = """() => [...document.querySelectorAll(".scatter")].flatMap((plot) => {
  const [titles, drawn] = [".label", ".point, .grid, .tick"].map((kind) =>
    [...plot.querySelectorAll(kind)].map((each) => each.getBoundingClientRect()));
  const meet = (one, other) => one.left <= other.right && other.left <= one.right &&
    one.top <= other.bottom && other.top <= one.bottom;
  const {left, right, top, bottom} = plot.getBoundingClientRect();
  const outside = titles.filter((box) => box.left < left || box.right > right || box.top < top || box.bottom > bottom);
  return [...titles.filter((title) => drawn.some((each) => meet(title, each))), ...outside];
})"""


def test_nothing_is_drawn_on_the_titles_of_a_plot(place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((place / "report.html").as_uri())
    assert page.locator(".scatter").count() >= 5
    assert page.evaluate(UNDER_TITLES) == []


def test_readers_are_told_names_they_know(place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["wide"])
    page.goto((place / "report.html").as_uri())
    expect(page.locator(".lead")).to_contain_text("ranks first by Pyramid score (modified)")
    tabs = page.get_by_role("group", name="Rank by").get_by_role("button")
    assert tabs.all_text_contents() == ["Pyramid", "Lightweight Pyramid", "Responsiveness", "ROUGE"]
    expect(
        page.get_by_text("Pyramid score (modified): 1 is as much as an average reference summary says")
    ).to_be_visible()
    expect(page.locator("#metrics tbody th").first).to_have_text("Responsiveness (content)")
    shown = page.locator("body").inner_text().split("How it was made\n")[0]  # there are signatures
    for jargon in ("by modified", "mean modified", "Ratings", "Lightweight Pyramids", "content unit", "rouge-2-recall"):
        assert jargon not in shown, jargon


LIGHTNESS = """() => [...Array(10).keys()].map((step) => {
  const rgb = getComputedStyle(document.querySelector(`.ramp .h${step}`)).backgroundColor.match(/\\d+/g).map(Number);
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
})"""


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_dark_means_more(colours: Any, place: Path, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZES["wide"], color_scheme=colours)
    page.goto((place / "report.html").as_uri())
    steps = page.evaluate(LIGHTNESS)
    assert steps == sorted(steps, reverse=True)


PLACES = (
    "report.html",
    "report.html" + fragment("topic", "drought-plan"),
    "report.html" + fragment("topic", "nowhere"),
    "large.html",
    "feedback/overview.html",
    "feedback/check.html",
    "feedback/writers/extract/drought-plan.html",
)


@pytest.mark.parametrize("name", PLACES)
def test_axe_finds_nothing_at_all(name: str, place: Path, visitors: Visitors) -> None:
    """Not even what is minor; on a phone and at 200% as well, and nothing to scroll sideways."""
    page = visitors.new(bypass_csp=True)
    path, *rest = name.split("#")
    page.goto((place / path).as_uri() + "".join(f"#{part}" for part in rest))
    expect(page.locator("main:visible h1")).to_be_visible()
    for number, (what, size) in enumerate(SIZES.items()):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=("light", "dark")[number % 2])  # type: ignore[arg-type]
        assert every_finding(page) == [], what
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), what


NAMED = """() => {
  const node = document.activeElement;
  const labels = [...(node.labels ?? [])].map((label) => label.textContent);
  return [node.getAttribute("aria-label"), node.textContent, ...labels].some((text) => text?.trim());
}"""


@pytest.mark.parametrize("name", ["report.html", "feedback/overview.html", "feedback/check.html"])
def test_tab_goes_through_everything_in_order(name: str, place: Path, visitors: Visitors) -> None:
    """What has the focus can be seen, has a name, and comes after what had it before."""
    page = visitors.new(viewport=SIZES["laptop"])
    page.goto((place / name).as_uri())
    expect(page.locator("main:visible h1")).to_be_visible()
    stops, last = [], page.evaluate_handle("document.body")
    for _ in range(200):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            break
        stops.append(stop)
        assert page.evaluate(NAMED), stop
        after = "(before) => Boolean(before.compareDocumentPosition(document.activeElement) & 4)"
        assert last.evaluate(after), stop
        last = page.evaluate_handle("document.activeElement")
    assert len(stops) >= 5
    assert [stop["what"] for stop in stops if not stop["ringed"] or not stop["seen"]] == []


def every_finding(page: Page) -> list[str]:
    found: dict[str, list[dict[str, Any]]] = Axe().run(page).response
    assert "color-contrast" in [rule["id"] for rule in found["passes"]], "axe has not looked"
    return [f"{each['id']} at {[node['target'] for node in each['nodes']]}" for each in found["violations"]]
