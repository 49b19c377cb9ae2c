"""Peers: matches, repeated mentions, content in no unit, live scores, proposals; two annotations and a third."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import pyramidion as pyr
from pyramidion.scoring.pyramid import PeerScore
from tests.browser.annotating import (
    JUDGE,
    Fingers,
    account,
    begin,
    call,
    card,
    come_in,
    drag_pick_to,
    expert_study,
    golden,
    open_editor,
    pick_by_mouse,
    saved,
    shown,
    state,
)
from tests.browser.people import Visitors
from tests.browser.site import TOPIC, Site, serve

pytestmark = pytest.mark.browser

GOLDEN = golden()
LABELS = {unit.id: unit.label for unit in GOLDEN.units}
SCORES = ("original", "modified", "comprehensive")
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(expert_study(), tmp_path_factory.mktemp("peers")) as site:
        for name in ("erin", "ben"):
            account(site, name)
        yield site


def mentions(system: str) -> list[tuple[str, list[list[int]]]]:
    """What the expert of the bundled example marked in a summary, mention by mention; no unit: content in none."""
    judged = [j for j in expert_study().judgments if j.system == system]
    return [(j.unit, [list(span) for span in spans]) for j in judged for spans in j.evidence]


def score_of(found: list[tuple[str, list[list[int]]]]) -> PeerScore:
    counts: dict[str, int] = {}
    for unit, _ in found:
        counts[unit] = counts.get(unit, 0) + 1
    return PeerScore(GOLDEN, {unit: n for unit, n in counts.items() if unit}, unmatched=counts.get("", 0))


def new_peer(page: Page, site: Site, system: str, name: str, **more: Any) -> int:
    come_in(page, site, "erin")
    number = begin(page, kind="peer", system=system, name=name, pyramid="expert", **more)
    open_editor(page, site, number)
    return number


def scores(page: Page) -> dict[str, float | None]:
    """The three scores as shown, to 4 decimals."""
    texts = {name: page.locator(f'[data-score="{name}"] .a-score').text_content() or "" for name in SCORES}
    return {name: None if text == "–" else float(text) for name, text in texts.items()}


def near(found: list[tuple[str, list[list[int]]]]) -> Any:
    """What the product says about these mentions, as exactly as the page shows it."""
    wanted = score_of(found)
    return {name: pytest.approx(getattr(wanted, name), abs=0.5e-4 + 1e-9) for name in SCORES}


def annotated(page: Page, number: int) -> list[tuple[str, list[list[int]]]]:
    saved(page)
    peer = state(page, number)["peer"]
    return [(m["unit"], m["spans"]) for m in peer["matches"]] + [("", m["spans"]) for m in peer["marks"]]


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_whole_peer(way: str, site: Site, visitors: Visitors, tmp_path: Path) -> None:
    """Summary "repeat" says some things twice. Scores are the product's own at every step, and so is the export."""
    page = visitors.new(viewport=SIZE)
    number = new_peer(page, site, "repeat", way)
    fingers = Fingers(page, "Summary")
    wanted = mentions("repeat")
    assert len({unit for unit, _ in wanted}) < len(wanted), "nothing is repeated"
    done = []
    for unit, spans in wanted:
        if way == "mouse":
            pick_by_mouse(page, ("Summary", "repeat"), spans)
            target = card(page, LABELS[unit]) if unit else page.locator("#no-unit")
            drag_pick_to(page, ("Summary", "repeat"), spans[0], target)
        else:
            fingers.pick("repeat", spans)
            if unit:
                page.keyboard.press("/")
                page.keyboard.insert_text(LABELS[unit])
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("n")
        done.append((unit, spans))
        saved(page)
        assert scores(page) == near(done)
    assert sorted(annotated(page, number)) == sorted(wanted)
    page.get_by_text("File", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as .pan").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    study = pyr.load(tmp_path / download.value.suggested_filename)
    expert = [j for j in expert_study().judgments if j.system == "repeat"]
    labels = {unit.id: unit.label for pyramid in study.pyramids for unit in pyramid.units}
    assert {labels.get(j.unit, ""): (j.value, j.evidence) for j in study.judgments if j.value} == {
        LABELS.get(j.unit, ""): (j.value, j.evidence) for j in expert if j.value
    }


def test_matches_are_lit_counted_and_removed(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZE)
    number = new_peer(page, site, "extract", "removing", start=JUDGE)
    wanted = mentions("extract")
    assert sorted(annotated(page, number)) == sorted(wanted)
    assert scores(page) == near(wanted)
    unit, spans = next((unit, spans) for unit, spans in wanted if unit)
    text = next(s.text for s in expert_study().summaries if s.system == "extract")
    card(page, LABELS[unit]).hover()
    assert shown(page, "lit") == [text[start:end] for start, end in spans]
    card(page, LABELS[unit]).locator("button").click()
    expect(page.get_by_role("list", name="Contributors")).to_contain_text(
        GOLDEN.units[0].contributors[0].spans[0].of(next(s.text for s in expert_study().summaries if s.system == "A"))
    )
    page.keyboard.press("Delete")
    left = [each for each in wanted if each[0] != unit]
    assert sorted(annotated(page, number)) == sorted(left)
    assert scores(page) == near(left)
    page.keyboard.press("Control+z")
    expect(card(page, LABELS[unit])).to_contain_text("✓")
    saved(page)
    assert scores(page) == near(wanted)


def test_proposals_wait_to_be_accepted(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZE)
    number = new_peer(page, site, "lead", "proposals")
    page.locator("#unit [data-act=suggest]").click()
    expect(page.get_by_text("Proposal:").first).to_be_visible()
    assert annotated(page, number) == []
    proposal = page.locator(".a-suggestion").first
    label = proposal.locator("bdi").first.text_content() or ""
    proposal.hover()
    words = shown(page, "hint")
    assert words
    page.locator(".a-suggestion").last.get_by_role("button", name="Dismiss").click()
    proposal.get_by_role("button", name="Accept").click()
    expect(card(page, label)).to_contain_text("✓")
    saved(page)
    text = next(s.text for s in expert_study().summaries if s.system == "lead")
    ((unit, spans),) = annotated(page, number)
    assert LABELS[unit] == label
    assert [text[start:end] for start, end in spans] == words


# -- two and a third -----------------------------------------------------------------------------------------


def send(page: Page, number: int, *commands: dict[str, Any]) -> None:
    for command in commands:
        base = call(page, f"/api/annotate/{number}")["version"]
        call(page, f"/api/annotate/{number}/commands", {"command": command, "base": base})


def adjudicate(page: Page, name: str) -> int:
    page.get_by_label("Name of the third annotation").fill(name)
    page.get_by_role("button", name="Begin the third").click()
    link = page.locator("#third").get_by_role("link", name=name)
    expect(link).to_be_visible()
    return int((link.get_attribute("href") or "").rsplit("/", 1)[1])


def test_two_pyramids_and_a_third(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZE)
    come_in(page, site, "erin")
    first, second = (begin(page, kind="pyramid", name=name, start="expert") for name in ("one", "two"))
    words = [{"reference": "A", "spans": [[0, 4]]}]
    send(
        page,
        second,
        {"type": "remove_contributor", "unit": "u03", "reference": "C"},
        {"type": "delete_unit", "unit": "u08"},
        {"type": "add_unit", "unit": "x", "label": "only in two", "contributors": words},
    )
    page.goto(f"{site.url}/annotate")
    for name in ("one", "two"):
        page.get_by_role("checkbox", name=f"Compare {name},").check()
    page.get_by_role("button", name="Put two side by side").click()
    expect(page.get_by_text("3 disagreements")).to_be_visible()
    rows = page.locator(".a-rows").get_by_role("row").filter(has=page.locator("td")).and_(page.locator(":visible"))
    expect(rows).to_have_count(3)
    third = adjudicate(page, "three")
    for label in (LABELS["u03"], LABELS["u08"], "only in two"):
        two = rows.filter(has_text=label).get_by_role("button", name="two")
        two.click()
        expect(two).to_have_attribute("aria-pressed", "true")
    one = rows.filter(has_text=LABELS["u08"]).get_by_role("button", name="one")
    one.click()
    expect(page.locator("#third")).to_contain_text("All changes saved")
    page.reload()  # what was chosen is seen again
    expect(one).to_have_attribute("aria-pressed", "true")
    found = {unit["label"]: unit for unit in call(page, f"/api/annotate/{third}")["pyramid"]["units"]}
    assert [c["reference"] for c in found[LABELS["u03"]]["contributors"]] == ["A", "B", "D"]
    assert found["only in two"]["contributors"] == words
    assert found[LABELS["u08"]]["weight"] == next(u.weight for u in GOLDEN.units if u.id == "u08")
    assert len(found) == len(GOLDEN.units) + 1
    assert [call(page, f"/api/annotate/{n}")["version"] for n in (first, second)] == [1, 4]


def test_two_annotations_of_a_peer_and_a_third(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=SIZE)
    come_in(page, site, "erin")
    about: dict[str, Any] = {"kind": "peer", "system": "extract", "pyramid": "expert", "start": JUDGE}
    first, second = (begin(page, name=name, **about) for name in ("peer one", "peer two"))
    found = state(page, second)["peer"]
    send(
        page,
        second,
        {"type": "unmatch", "id": found["matches"][0]["id"]},
        {"type": "match_unit", "unit": "u33", "spans": [[0, 5]]},
        {"type": "remove_mark", "id": found["marks"][0]["id"]},
    )
    page.goto(f"{site.url}/annotate/compare?first={first}&second={second}")
    expect(page.get_by_text("3 disagreements")).to_be_visible()
    third = adjudicate(page, "peer three")
    rows = page.locator(".a-rows").get_by_role("row").filter(has=page.locator("td")).and_(page.locator(":visible"))
    for row in range(3):
        rows.nth(row).get_by_role("button", name="peer two").click()
        expect(rows.nth(row).get_by_role("button", name="peer two")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#third")).to_contain_text("All changes saved")
    made, wanted = (call(page, f"/api/annotate/{number}")["peer"] for number in (third, second))
    for part in ("matches", "marks"):
        assert sorted((m.get("unit", ""), m["spans"]) for m in made[part]) == sorted(
            (m.get("unit", ""), m["spans"]) for m in wanted[part]
        )


# -- the desk ------------------------------------------------------------------------------------------------


def test_beginning_from_the_desk_and_from_files(site: Site, visitors: Visitors, tmp_path: Path) -> None:
    pyr.save(expert_study(), tmp_path / "golden", format="ducview")
    (pyramid,) = (tmp_path / "golden").rglob("*.pyr")
    peer = next(path for path in (tmp_path / "golden").rglob("*.pan") if "extract" in path.name)
    page = visitors.new(viewport=SIZE)
    come_in(page, site, "ben")
    topic = page.get_by_role("region", name=TOPIC)
    topic.get_by_role("button", name="Begin a pyramid").click()
    page.get_by_label("Name of the annotation").fill("from a file")
    page.get_by_label("Or with a .pyr file").set_input_files(pyramid)
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.locator(".a-card")).to_have_count(len(GOLDEN.units))
    page.get_by_role("link", name="Desk of pyramidion").click()
    topic.get_by_role("button", name="Annotate a summary").click()
    page.get_by_label("Name of the annotation").fill("peer from a file")
    page.get_by_label("Summary", exact=True).select_option("extract")
    page.get_by_label("Pyramid", exact=True).select_option("“expert” of the study")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.locator("main[data-ready]")).to_be_attached()
    page.get_by_text("File", exact=True).click()
    page.get_by_label("Import a .pan file").set_input_files(peer)
    expect(page.get_by_text("is imported.")).to_be_visible()
    assert scores(page) == near(mentions("extract"))
    page.get_by_text("File", exact=True).click()
    page.get_by_role("button", name="Put into the study").click()
    expect(page.get_by_text("This is in the study now.")).to_be_visible()
