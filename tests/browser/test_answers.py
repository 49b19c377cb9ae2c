"""What a manager decides by: answers beside those of the others, approval, the log and its undo, and the numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pyramidion.campaigns.management import decide_answers, decide_worker
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.rehearsal import rehearse_campaign
from pyramidion.campaigns.tasks import CompareAnswer, JudgeAnswer, RateAnswer, WriteAnswer, asked_units
from tests.browser.people import Visitors, fact, let_in
from tests.browser.site import Site, serve, small_study

pytestmark = pytest.mark.browser

SYSTEMS = ["extract", "lead", "vague"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Campaigns that people have answered by hand: judging with known answers, rating, comparing."""
    with serve(small_study(SYSTEMS, ["A", "B"], units=4), tmp_path_factory.mktemp("answers")) as made:
        made.start("judge", "judged", gold_rate=1, check=False, min_seconds=0, workers=4)
        made.start("rate", "rated", check=False, min_seconds=0, workers=2)
        made.start("compare", "compared", check=False, min_seconds=0, workers=1)
        for number, said in enumerate(([1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1])):
            work(made, "judged", f"person {number}", said)
        for number in range(2):
            work(made, "rated", f"person {number}", [8])
        work(made, "compared", "person 0", [])
        yield made


def work(site: Site, campaign: str, person: str, said: list[int]) -> None:
    """Somebody does every task that they get, and says the same of every summary."""
    entry = site.desk.workers.enter(campaign, Arrival("local", person, study=campaign))
    while (lease := site.desk.assignments.lease(campaign, entry.worker, entry.id)) is not None:
        kind = lease.task.kind
        answer: JudgeAnswer | RateAnswer | CompareAnswer
        if kind == "judge":
            units = dict(zip(lease.task.units, said, strict=False))
            answer = JudgeAnswer(
                {unit: units.get(unit, 0) for unit in asked_units(lease.task, lease.gold)}, "Looks odd."
            )
        elif kind == "rate":
            answer = RateAnswer(dict.fromkeys(("overall", "linguistic", "content"), float(said[0])))
        else:
            answer = CompareAnswer("first" if lease.task.system == "extract" else "tie")
        site.desk.assignments.submit(lease.id, entry.worker, f"{lease.id}", answer)


def worker_of(site: Site, person: str) -> str:
    return site.desk.workers.id_of("local", person)


def opened(visitors: Visitors, site: Site, path: str, **options: object) -> Page:
    page = visitors.new(**options)
    let_in(page, site, path)
    return page


def row(page: Page | Locator, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table).get_by_role("row").filter(has_text=text)


LINES = """(node) => {
  const words = document.createRange();
  words.selectNodeContents(node);
  return words.getClientRects().length;
}"""


def test_no_answer_is_rejected_without_seeing_the_others(site: Site, visitors: Visitors) -> None:
    odd = worker_of(site, "person 3")
    page = opened(visitors, site, "/manage/campaigns/judged")
    one = row(page, "Workers", odd)
    expect(one).to_contain_text("3 to decide")
    one.get_by_role("button", name="Answers").click()
    answers = page.get_by_role("dialog", name=f"Answers of {odd}")
    answers.get_by_role("button", name="Reject").first.click()
    asked = page.get_by_role("dialog", name=re.compile("Reject the answer to"))
    study = site.desk.studies.load()
    shown = asked.get_by_role("group").first
    expect(shown).to_be_visible()
    name = shown.get_attribute("aria-label")
    summary = study.summary("drought-plan", str(name))
    assert summary is not None
    expect(shown).to_have_text(summary.text)
    table = asked.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["Unit", "This answer", "The others", "Their majority", "Known"]
    )
    units = study.pyramids[0].units
    first = table.get_by_role("row").filter(has_text=units[0].label)
    expect(first).to_contain_text("not present")
    expect(first).to_contain_text("differs")
    expect(first).to_contain_text("3 of 3 say present")
    expect(table.get_by_role("row").filter(has_text="wrong").or_(asked.get_by_text("known answer"))).not_to_have_count(
        0
    )
    expect(asked).to_contain_text("agrees with the majority of the others on")
    expect(asked).to_contain_text("Looks odd.")
    asked.get_by_label("Reason").fill("all the wrong way round")
    asked.get_by_role("button", name="Reject").click()
    expect(asked).to_be_hidden()
    page.keyboard.press("Escape")
    expect(one).to_contain_text("1 rejected")
    expect(one).to_contain_text("2 to decide")


def test_what_was_written_and_compared_is_shown_beside_the_others(
    site: Site, tmp_path: Path, visitors: Visitors
) -> None:
    page = opened(visitors, site, "/manage/campaigns/compared")
    row(page, "Workers", worker_of(site, "person 0")).get_by_role("button", name="Answers").click()
    answers = page.get_by_role("dialog", name="Answers of")
    one = answers.get_by_role("row").filter(has_text="the first is better").first
    one.get_by_role("button", name="Compare compared").click()
    dialog = page.get_by_role("dialog").last
    expect(dialog.get_by_role("group")).to_have_count(4)
    expect(fact(page, "This answer")).to_have_text("extract")
    expect(fact(page, "The others: extract")).to_have_text("0 of 0")
    with serve(small_study(["extract"], ["A"]), tmp_path) as other:
        other.start("write", "written", check=False, min_seconds=0, statements=2, workers=2)
        for name in ("Ann", "Ben"):
            entry = other.desk.workers.enter("written", Arrival("local", name, study="written"))
            lease = other.desk.assignments.lease("written", entry.worker, entry.id)
            assert lease is not None
            other.desk.assignments.submit(lease.id, entry.worker, name, WriteAnswer((f"{name} saw it.", "It rained.")))
        page = opened(visitors, other, "/manage/campaigns/written")
        row(page, "Workers", worker_of(other, "Ann")).get_by_role("button", name="Answers").click()
        answers = page.get_by_role("dialog", name="Answers of")
        expect(answers.get_by_role("listitem")).to_have_text(["Ann saw it.", "It rained."])
        answers.get_by_role("button", name="Compare").click()
        dialog = page.get_by_role("dialog").last
        expect(dialog.get_by_role("listitem")).to_have_text(["Ann saw it.", "It rained.", "Ben saw it.", "It rained."])


def test_all_work_is_rejected_with_the_answers_at_hand(site: Site, visitors: Visitors) -> None:
    odd = worker_of(site, "person 3")
    page = opened(visitors, site, "/manage/campaigns/judged")
    one = row(page, "Workers", odd)
    expect(one).to_contain_text("known answers right")
    one.get_by_role("button", name="Decide").click()
    asked = page.get_by_role("dialog", name=f"Decide about {odd}")
    expect(asked).to_contain_text(
        re.compile(r"3 answers \(\d to decide\).*agreement with others 0\.\d+, \d of \d known answers right")
    )
    asked.get_by_role("radio", name="Reject all work").check()
    asked.get_by_role("button", name="Look at their answers").click()
    answers = page.get_by_role("dialog", name=f"Answers of {odd}")
    answers.get_by_role("button", name="Compare").first.click()
    expect(page.get_by_role("dialog").last).to_contain_text("agrees with the majority of the others on")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(asked.get_by_role("radio", name="Reject all work")).to_be_checked()
    expect(asked.get_by_role("button", name="Look at their answers")).to_be_focused()


def test_marked_words_are_quoted_and_underlined(tmp_path: Path, visitors: Visitors) -> None:
    study = small_study(["extract"], ["A"], units=2)
    text = "\N{WATER WAVE} The river rose. Nobody was hurt."
    flood = replace(study, summaries=(*study.references, replace(study.peers[0], text=text)))
    with serve(flood, tmp_path) as site:
        site.start("judge", "marked", check=False, evidence=True, gold_rate=0)
        ann = site.desk.workers.enter("marked", Arrival("local", "ann", study="marked"))
        lease = site.desk.assignments.lease("marked", ann.worker, ann.id)
        assert lease is not None
        first, second = lease.task.units
        spans = {first: [[2, 5], [6, 17]]}
        answer = JudgeAnswer({first: 1, second: 0}, evidence=spans)
        site.desk.assignments.submit(lease.id, ann.worker, "marked", answer)
        page = opened(visitors, site, "/manage/campaigns/marked")
        row(page, "Workers", ann.worker).get_by_role("button", name="Answers").click()
        answers = page.get_by_role("dialog", name=f"Answers of {ann.worker}")
        answers.get_by_text("1 of 2 present").click()
        expect(answers.get_by_role("listitem").filter(has_text="river rose.").locator("q")).to_have_text(
            ["The", "river rose."]
        )
        assert "evidence" not in answers.inner_text()
        for look in ("Compare", "Reject"):
            answers.get_by_role("button", name=look).click()
            dialog = page.get_by_role("dialog").last
            expect(dialog.get_by_role("group").locator("u")).to_have_text(["The", "river rose."])
            expect(dialog.get_by_role("rowheader").locator("q")).to_have_text(["The", "river rose."])
            page.keyboard.press("Escape")


def test_a_bulk_decision_is_one_row_that_can_be_undone(site: Site, visitors: Visitors) -> None:
    good = worker_of(site, "person 0")
    page = opened(visitors, site, "/manage/campaigns/rated")
    page.get_by_role("button", name="Approve all without a flag").click()
    asked = page.get_by_role("dialog")
    asked.get_by_role("button", name="good work").click()
    asked.get_by_role("button", name="Approve", exact=True).click()
    expect(row(page, "Workers", good)).to_contain_text("3 approved")
    log = page.get_by_role("table", name="Decisions")
    expect(log.get_by_role("row")).to_have_count(2)
    expect(log).to_contain_text("2 workers 6 answers")
    log.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="decided by mistake").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo", exact=True).click()
    expect(row(page, "Workers", good)).to_contain_text("3 to decide")
    expect(log.get_by_role("row")).to_have_count(3)
    expect(log).to_contain_text("undecided again")
    expect(log.get_by_role("button", name="Undo")).to_have_count(0)


def test_blocks_exclusions_and_rejections_are_taken_back(tmp_path: Path, visitors: Visitors) -> None:
    with serve(small_study(["extract", "lead"], ["A"], units=2), tmp_path) as site:
        site.start("rate", "rated", check=False, min_seconds=0, workers=4)
        people = [f"person {number}" for number in range(4)]
        for person in people:
            work(site, "rated", person, [8])
        removed, blocked, excluded, rejected = (worker_of(site, person) for person in people)
        boss = {"actor": "boss", "reason": "odd"}
        decide_worker(site.desk, "block", blocked, **boss)
        decide_worker(site.desk, "exclude", excluded, **boss)
        decide_answers(site.desk, "reject", "rated", worker=rejected, **boss)
        page = opened(visitors, site, "/manage/campaigns/rated")
        row(page, "Workers", removed).get_by_role("button", name="Decide").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("radio", name="Block and remove their answers").check()
        dialog.get_by_label("Reason").fill("odd")
        dialog.get_by_role("button", name="Block and remove").click()
        done = row(page, "Decisions", removed)
        expect(done).to_have_count(1)
        expect(done).to_contain_text("blocked, answers removed")
        expect(done).to_contain_text("2 answers")
        expect(fact(page, "Removed answers")).to_have_text("4")
        for worker, gone in (
            (removed, "Blocked"),
            (blocked, "Blocked"),
            (excluded, "Excluded"),
            (rejected, "2 removed"),
        ):
            expect(row(page, "Workers", worker)).to_contain_text(gone)
            row(page, "Decisions", worker).get_by_role("button", name="Undo").click()
            page.get_by_role("dialog").get_by_role("button", name="decided by mistake").click()
            page.get_by_role("dialog").get_by_role("button", name="Undo", exact=True).click()
            expect(row(page, "Workers", worker)).not_to_contain_text(gone)
            expect(row(page, "Decisions", worker).get_by_role("button", name="Undo")).to_have_count(0)
        expect(fact(page, "Removed answers")).to_have_text("0")
        assert not site.desk.worker_decisions.exclusions()
        assert not any(worker.blocked for worker in site.desk.workers.all())
        assert all(answer.counted for answer in site.desk.campaigns.answers("rated"))


def test_numbers_say_what_they_measure_and_add_up(site: Site, visitors: Visitors) -> None:
    page = opened(visitors, site, "/manage/campaigns/judged")
    alpha = page.locator("#alpha")
    expect(page.get_by_text("Agreement (Krippendorff’s α)")).to_be_visible()
    expect(page.locator("#alpha-help")).to_contain_text("without excluded workers")
    before = alpha.inner_text()
    site.desk.worker_decisions.add("exclude", worker=worker_of(site, "person 3"), actor="mona", reason="odd")
    expect(alpha).not_to_have_text(before)
    assert float(alpha.inner_text()) > float(before.replace("−", "-"))
    page.goto(f"{site.url}/manage/campaigns/compared")
    systems = page.get_by_role("table", name="Progress by system")
    expect(systems.get_by_role("row").filter(has_text="vague")).to_contain_text("2 of 2")
    expect(page.get_by_text("Each comparison counts for both of its systems.")).to_be_visible()
    preferred = page.get_by_role("table", name="How often each system is preferred").get_by_role("row")
    expect(preferred.nth(1)).to_contain_text("extract")
    expect(preferred.nth(1)).to_contain_text(re.compile("100%|75%"))
    page.goto(f"{site.url}/manage")
    expect(page.locator("#counts > div").filter(has_text=re.compile(r"^answers"))).to_contain_text("21")
    page.get_by_label("Method").select_option("responsiveness")
    page.get_by_role("button", name="Show scores").click()
    cell = page.get_by_role("table", name="Systems by overall").get_by_role("row").nth(1).locator(".m-score").first
    expect(page.get_by_role("columnheader", name="overall (1 to 10)")).to_be_visible()
    assert float(str(cell.locator("rect").get_attribute("width"))) == pytest.approx(100 * (8 - 1) / 9, abs=0.1)
    expect(page.locator("#simulated")).to_be_hidden()


def test_a_large_rehearsal_says_so_and_stays_readable(
    tmp_path_factory: pytest.TempPathFactory, visitors: Visitors
) -> None:
    study = small_study(["extract"], ["A", "B"], units=4)
    text = study.peers[0]
    peers = tuple(replace(text, system=f"a-system-with-a-long-name-{number:02}") for number in range(50))
    large = replace(study, summaries=(*study.references, *peers))
    with serve(large, tmp_path_factory.mktemp("large")) as site:
        site.start("judge", "large", workers=8, most_per_worker=1, min_seconds=0)
        rehearse_campaign(site.desk, "large", workers=400)
        for elsewhere in ("/manage/texts", "/annotate"):
            page = opened(visitors, site, elsewhere)
            expect(page.get_by_role("complementary", name="Simulated answers")).to_be_visible()
        for size in ({"width": 1280, "height": 720}, {"width": 390, "height": 844}):
            page = opened(visitors, site, "/manage", viewport=size)
            expect(page.locator("#simulated")).to_contain_text("A rehearsal made up answers")
            expect(row(page, "Campaigns", "large")).to_contain_text("simulated")
            expect(page.locator("#scores .notice.warn")).to_contain_text("not real")
            page.goto(f"{site.url}/manage/campaigns/large")
            expect(page.locator("#simulated")).to_contain_text("workers are not people")
            expect(page.locator("#badges")).to_contain_text("simulated")
            expect(page.locator("#cost-help")).to_contain_text("Simulated: nobody was paid")
            first = page.get_by_role("table", name="Workers").get_by_role("row").nth(1)
            expect(first).to_contain_text("simulated")
            ids = page.get_by_role("table", name="Workers").get_by_role("rowheader").locator("bdi").all()
            assert {id.evaluate(LINES) for id in ids} <= {1, 2}, "an id breaks after simulated-, and nowhere else"
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, "the page does not scroll sideways"
            first.get_by_role("button", name="Answers").click()
            page.get_by_role("dialog").get_by_role("button", name="Compare").first.click()
            compared = page.get_by_role("dialog").last
            expect(compared.get_by_role("table")).to_be_visible()
            box = compared.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size["width"]
            heads = compared.get_by_role("columnheader", name="Known")
            assert [head.evaluate(LINES) for head in heads.all()] in ([1], []), "no word is cut in two"
