"""A whole campaign as people live through it: write, make units, judge, exclude, score. And what may go wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import (
    LOST_NETWORK,
    Visitors,
    answer_check,
    begin,
    counter,
    fact,
    judged,
    let_in,
    log_in,
    make_links,
    pass_check,
    pass_check_by_keyboard,
    plan_campaign,
    says,
    start_campaign,
    statements,
    submitted,
)
from tests.browser.site import Site, serve, small_study

pytestmark = pytest.mark.browser

COPIED = "Port Ambry will ration water for the first time in its history."
AGAIN = "For the first time in its history, Port Ambry will ration water."
TOO_SHORT = "Lawns stay dry."

WRITTEN = [
    [COPIED, "Every resident may use 120 litres a day.", "Lake Tessary is only 23 percent full."],
    [AGAIN, "Lawns may not be watered.", "A first offence costs 200 dollars."],
    [TOO_SHORT, "Farmers in the Orlen Valley have gone to court.", "The city has approved a desalination plant."],
]
SAYS = {
    "extract": {COPIED, AGAIN, *WRITTEN[0][1:2], *WRITTEN[1][1:], WRITTEN[2][1]},
    "vague": {COPIED, AGAIN, *WRITTEN[2][1:]},
}
"""Which of the statements each system's summary contains: 5 and 3 of the 7 that are kept."""


@pytest.fixture(scope="module")
def beginning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Texts, no units, no campaigns; and the server as people start it."""
    with serve(small_study(list(SAYS), ["A"]), tmp_path_factory.mktemp("beginning"), apart=True) as site:
        yield site


@pytest.fixture(scope="module")
def with_units(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    study = small_study(["extract"], ["A", "B", "C", "D"], units=5)
    with serve(study, tmp_path_factory.mktemp("with-units")) as site:
        yield site


def test_from_references_to_scores(beginning: Site, visitors: Visitors) -> None:
    manager = visitors.new()
    log_in(manager, beginning)
    plan_campaign(manager, "Write", "facts", {"Statements per task": "3", "Workers per task": "3"})
    expect(fact(manager, "Tasks")).to_have_text("1")
    expect(fact(manager, "Assignments")).to_have_text("3")
    expect(fact(manager, "Cost when all is done")).to_contain_text("$1.80")
    start_campaign(manager, "facts")
    for link, texts in zip(make_links(manager, "facts", 3), WRITTEN, strict=True):
        worker = visitors.new()
        worker.goto(link)
        pass_check(worker, "write")
        write(worker, texts)

    store_units(manager)

    plan_campaign(manager, "Judge", "presence", {"Workers per task": "5", "Too fast below (seconds)": "0"})
    expect(fact(manager, "Tasks")).to_have_text("2")
    expect(fact(manager, "Assignments")).to_have_text("10")
    start_campaign(manager, "presence")
    links = make_links(manager, "presence", 5)
    manager.get_by_role("link", name="Watch it").click()
    expect(manager.get_by_text("of 10 answers", exact=True)).to_be_visible()
    for number, link in enumerate(links):
        worker = visitors.new()
        worker.goto(link)
        pass_check_by_keyboard(worker, "judge")
        judge_by_keyboard(worker, beginning, contrary=number == 3)
        submitted(worker)
        judge_by_keyboard(worker, beginning, contrary=number == 3)
        submitted(worker)
        expect(worker.get_by_role("heading", name="All done. Thank you!")).to_be_visible()

    exclude_the_contrary_one(manager)
    approve_the_others(manager)
    look_at_scores(manager)


def write(page: Page, texts: list[str]) -> None:
    for number, text in enumerate(texts, 1):
        field = page.get_by_label(f"Statement {number}")
        if text == COPIED:
            select(page, text)
            page.get_by_role("button", name=f"Copy to statement {number}").click()
            expect(field).to_be_focused()
        else:
            field.press_sequentially(text)
        expect(field).to_have_value(text)
    if TOO_SHORT in texts:
        expect(page.get_by_text("This has 3 words, fewer than 4.", exact=True)).to_be_visible()
    expect(counter(page)).to_have_text("3 of 3 written")
    page.get_by_role("button", name="Submit").click()
    submitted(page)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()


def select(page: Page, sentence: str) -> None:
    """As with a mouse: press before the first letter, drag behind the last one, let go."""
    lines = page.get_by_text(sentence, exact=True).evaluate(
        "node => [...node.getClientRects()].map(({left, right, top, height}) => [left, right, top + height / 2])"
    )
    page.mouse.move(lines[0][0], lines[0][2])
    page.mouse.down()
    page.mouse.move(lines[-1][1], lines[-1][2], steps=4)
    page.mouse.up()


def store_units(manager: Page) -> None:
    manager.get_by_role("table", name="Campaigns").get_by_role("link", name="facts").click()
    expect(manager.get_by_text("of 3 answers")).to_be_visible()
    manager.get_by_role("button", name="Preview units").click()
    expect(fact(manager, "Statements kept")).to_have_text("7")
    expect(fact(manager, "Statements dropped")).to_have_text("2")
    units = manager.get_by_role("table", name="Units that would be kept")
    expect(units.get_by_role("row")).to_have_count(1 + 7)
    expect(units.get_by_text("Lawns may not be watered.")).to_be_visible()
    expect(units.get_by_text(TOO_SHORT)).to_have_count(0)
    dropped = manager.get_by_role("table", name="Dropped statements").get_by_role("row")
    expect(dropped.filter(has_text=TOO_SHORT)).to_contain_text("3 words, fewer than 4")
    expect(dropped.filter(has_text=re.compile(r"nearly the same as s00\d"))).to_be_visible()
    manager.get_by_role("button", name="Store 7 units").click()
    manager.get_by_role("dialog").get_by_role("button", name="Store units").click()
    manager.get_by_role("link", name="plan a judging campaign").click()
    expect(fact(manager, "units")).to_have_text("7")


def judge_by_keyboard(page: Page, site: Site, *, contrary: bool) -> None:
    """P and N for the answers, Enter for the review, Tab and Enter to submit; the mouse is not touched."""
    peers = site.desk.studies.load().peers
    system = next(peer.system for peer in peers if page.get_by_text(peer.text, exact=True).is_visible())
    asked = statements(page)
    assert len(asked) == 7
    for text in asked:
        page.keyboard.press("p" if (text in SAYS[system]) != contrary else "n")
    expect(counter(page)).to_have_text("7 of 7 answered")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Review and submit")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")


def exclude_the_contrary_one(manager: Page) -> None:
    """The page has been open all the time and has followed."""
    expect(manager.get_by_text("of 10 answers", exact=True)).to_be_visible()
    expect(manager.get_by_text("100%").first).to_be_visible()
    expect(manager.get_by_text("1 flagged, 0 excluded, 0 blocked")).to_be_visible()
    workers = manager.get_by_role("table", name="Workers")
    expect(workers.get_by_role("row")).to_have_count(1 + 5)
    flagged = workers.get_by_role("row").filter(has_text="agrees with others at 0.00, below 0.5")
    expect(flagged).to_have_count(1)
    flagged.get_by_role("button", name="Decide").click()
    dialog = manager.get_by_role("dialog")
    dialog.get_by_role("radio", name="Exclude from scores").check()
    dialog.get_by_role("button", name="Exclude worker").click()
    expect(dialog.get_by_text("Enter a reason.")).to_be_visible()
    dialog.get_by_label("Reason", exact=True).fill("says the opposite of everybody")
    dialog.get_by_role("button", name="Exclude worker").click()
    expect(dialog).to_have_count(0)
    expect(flagged).to_contain_text("says the opposite of everybody")
    expect(manager.get_by_text("1 flagged, 1 excluded, 0 blocked")).to_be_visible()
    decisions = manager.get_by_role("table", name="Decisions").get_by_role("row")
    expect(decisions.filter(has_text="mona").filter(has_text="excluded")).to_contain_text("says the opposite")


def approve_the_others(manager: Page) -> None:
    manager.get_by_role("button", name="Approve all without a flag").click()
    dialog = manager.get_by_role("dialog")
    dialog.get_by_role("button", name="good work").click()
    dialog.get_by_role("button", name="Approve", exact=True).click()
    expect(manager.locator("#toast")).to_have_text("8 answers of 4 workers approved, 1 worker left to decide.")
    expect(dialog).to_have_count(0)
    decisions = manager.get_by_role("table", name="Decisions").get_by_role("row")
    expect(decisions.filter(has_text="approved").filter(has_text="good work")).to_contain_text("4 workers 8 answers")


def look_at_scores(manager: Page) -> None:
    manager.get_by_role("link", name="Scores").click()
    table = manager.get_by_role("table", name="Systems by lite")
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"1\s*extract\s*0\.714"))
    expect(table.get_by_role("row").nth(2)).to_contain_text(re.compile(r"2\s*vague\s*0\.429"))
    notes = manager.get_by_role("listitem").filter(has_text="says the opposite of everybody")
    expect(notes).to_contain_text(re.compile(r"worker w\w+"))
    expect(notes).to_contain_text("left out: says the opposite of everybody")
    expect(manager.get_by_text("judges:crowd")).to_be_visible()


def test_people_are_invited_by_name(with_units: Site, visitors: Visitors) -> None:
    with_units.start("judge", "by-name", check=False, workers=2)
    manager = visitors.new()
    log_in(manager, with_units)
    manager.get_by_label("Campaign", exact=True).select_option("by-name")
    manager.get_by_label("For", exact=True).select_option("People by name")
    expect(manager.get_by_label("How many")).to_be_hidden()
    manager.get_by_label("Names", exact=True).fill("Ann Ash\n\n Ben \n")
    manager.get_by_role("button", name="Make links").click()
    made = manager.get_by_label("2 links for by-name")
    expect(made).to_have_value(re.compile(r"^Ann Ash\t.*\nBen\t"))
    _, worker, link = made.input_value().split("\n")[0].split("\t")
    page = visitors.new()
    begin(page, link)
    expect(counter(page)).to_have_text("0 of 5 answered")
    assert with_units.desk.workers.get(worker) is not None


def test_rejected_work_is_offered_again_and_a_block_can_remove_answers(with_units: Site, visitors: Visitors) -> None:
    campaign = "second-look"
    with_units.start("judge", campaign, check=False, workers=1)
    judge_all(visitors.new(), with_units.link(campaign), "p")
    manager = visitors.new()
    let_in(manager, with_units, f"/manage/campaigns/{campaign}")
    expect(manager.locator("#done")).to_have_text("1")
    workers = manager.get_by_role("table", name="Workers").get_by_role("row")
    workers.nth(1).get_by_role("button", name="Answers").click()
    dialog = manager.get_by_role("dialog").first
    dialog.get_by_role("button", name="Reject").click()
    asked = manager.get_by_role("dialog").last
    expect(asked).to_contain_text("in no score, and somebody else gets the task")
    asked.get_by_label("Reason", exact=True).fill("all the same")
    asked.get_by_role("button", name="Reject").click()
    expect(dialog.get_by_text("not counted")).to_be_visible()
    expect(dialog.get_by_text("rejected", exact=True).first).to_be_visible()
    expect(dialog.get_by_role("button", name="Restore")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(manager.locator("#done")).to_have_text("0")
    expect(fact(manager, "Removed answers")).to_have_text("1")
    assert with_units.answers(campaign) == []

    judge_all(visitors.new(), with_units.link(campaign), "n")
    expect(manager.locator("#done")).to_have_text("1")
    second = workers.filter(has_not_text="1 removed").nth(1)
    second.get_by_role("button", name="Decide").click()
    dialog = manager.get_by_role("dialog")
    dialog.get_by_role("radio", name="Block and remove their answers").check()
    dialog.get_by_label("Reason", exact=True).fill("read nothing")
    dialog.get_by_role("button", name="Block and remove").click()
    expect(manager.locator("#toast")).to_contain_text("blocked, answers removed. 1 answer removed from scores.")
    expect(dialog).to_have_count(0)
    expect(fact(manager, "Removed answers")).to_have_text("2")
    expect(manager.get_by_text("0 excluded, 1 blocked")).to_be_visible()
    assert with_units.answers(campaign) == []
    assert with_units.desk.campaigns.progress(campaign)["open"] == 1


def judge_all(page: Page, link: str, key: str) -> None:
    begin(page, link)
    expect(counter(page)).to_have_text("0 of 5 answered")
    for _ in range(5):
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


# -- the gates -----------------------------------------------------------------------------------------------


def test_a_second_try_at_the_questions(with_units: Site, visitors: Visitors) -> None:
    with_units.start("judge", "explained-twice", workers=2)
    link = with_units.link("explained-twice")
    worker = visitors.new()
    worker.goto(link)
    expect(worker.get_by_text("You have 2 tries.")).to_be_visible()
    first = worker.locator("fieldset legend").all_text_contents()
    worker.reload()
    expect(worker.locator("fieldset legend")).to_have_text(first)
    answer_check(worker, "judge", rightly=False)
    expect(worker.get_by_text("Some of your answers were wrong.", exact=True)).to_be_visible()
    expect(worker.get_by_text("This is your last try, so take your time.")).to_be_visible()
    expect(worker.get_by_role("heading", name="How to do it")).to_be_visible()
    expect(worker.get_by_role("radio", checked=True)).to_have_count(0)
    assert not set(first) & set(worker.locator("fieldset legend").all_text_contents())
    worker.goto(link)
    expect(worker.get_by_text("Some of your answers were wrong.", exact=True)).to_be_visible()
    pass_check(worker, "judge")

    guesser = visitors.new()
    guesser.goto(with_units.link("explained-twice"))
    answer_check(guesser, "judge", rightly=False)
    expect(guesser.get_by_text("This is your last try, so take your time.")).to_be_visible()
    answer_check(guesser, "judge", rightly=False)
    expect(guesser.get_by_role("heading", name="Thank you for trying")).to_be_visible()


def test_who_gives_everything_back_is_told_what_the_code_is_for(with_units: Site, visitors: Visitors) -> None:
    with_units.start("judge", "with-code", check=False, workers=2, completion_code="C0DE")
    worker = visitors.new()
    begin(worker, with_units.link("with-code"))
    worker.get_by_role("button", name="I cannot do this one").click()
    worker.get_by_role("dialog").get_by_role("button", name="Give it back").click()
    expect(worker.get_by_role("heading", name="No more tasks for you")).to_be_visible()
    expect(worker.get_by_text("The completion code is for people who have sent at least 1.")).to_be_visible()
    assert "C0DE" not in worker.content()


# -- what may go wrong ---------------------------------------------------------------------------------------


@dataclass
class Judging:
    """Somebody with a judging task of five statements."""

    page: Page
    campaign: str
    link: str


@pytest.fixture
def judging(with_units: Site, visitors: Visitors, request: pytest.FixtureRequest) -> Judging:
    campaign = request.node.name.replace("_", "-")[:60]
    with_units.start("judge", campaign, check=False, workers=1)
    page, link = visitors.new(), with_units.link(campaign)
    begin(page, link)
    expect(counter(page)).to_have_text("0 of 5 answered")
    return Judging(page, campaign, link)


def test_a_reload_and_another_browser_keep_the_answers(judging: Judging, visitors: Visitors) -> None:
    page = judging.page
    for key in ("p", "n", "p", "ArrowUp", "ArrowUp", "p"):  # back to the second one, another answer, on to the third
        page.keyboard.press(key)
    page.reload()
    expect(counter(page)).to_have_text("3 of 5 answered")
    assert judged(page) == "PPP--"
    page.keyboard.press("n")  # on with the first open one
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    elsewhere = visitors.new()
    elsewhere.goto(judging.link)
    expect(counter(elsewhere)).to_have_text("4 of 5 answered")
    assert judged(elsewhere) == "PPPN-"


def test_a_lost_network_loses_nothing(judging: Judging, with_units: Site, visitors: Visitors) -> None:
    page, campaign = judging.page, judging.campaign
    visitors.expect_problem(LOST_NETWORK)
    page.keyboard.press("p")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.context.set_offline(True)
    for key in ("n", "n", "p"):
        page.keyboard.press(key)
    expect(page.get_by_text("Offline - kept on this device")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(counter(page)).to_have_text("4 of 5 answered")
    page.keyboard.press("n")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="No connection - trying again")).to_be_visible()
    expect(says(page, "kept on this device and will be sent once")).to_be_visible()
    assert with_units.answers(campaign) == []
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    [answer] = with_units.answers(campaign)
    assert list(answer["units"].values()) == [1, 0, 0, 1, 0]


def test_an_answer_sent_without_network_arrives_when_the_page_is_opened_again(
    judging: Judging, with_units: Site, visitors: Visitors
) -> None:
    page, campaign = judging.page, judging.campaign
    visitors.expect_problem(LOST_NETWORK)
    page.context.set_offline(True)
    for key in ("p", "p", "n", "n", "p", "Control+Enter"):
        page.keyboard.press(key)
    expect(says(page, "kept on this device and will be sent once")).to_be_visible()
    address, context = page.url, page.context
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    [answer] = with_units.answers(campaign)
    assert list(answer["units"].values()) == [1, 1, 0, 0, 1]


def test_what_is_unanswered_is_named_and_cannot_be_submitted(judging: Judging, with_units: Site) -> None:
    page, campaign = judging.page, judging.campaign
    asked = statements(page)
    for key in ("p", "ArrowDown", "n", "n"):  # not the second and the last one
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Review and submit")).to_be_focused()
    submit = page.get_by_role("button", name="Submit")
    expect(submit).to_be_disabled()
    expect(page.get_by_text("2 of 5 still open:")).to_be_visible()
    expect(page.get_by_text("You can submit when nothing is open.")).to_be_visible()
    review = page.get_by_role("region", name="Review and submit")
    expect(review.get_by_role("link")).to_have_text([f"2. {asked[1]}", f"5. {asked[4]}"])
    assert with_units.answers(campaign) == []
    review.get_by_role("link").first.click()
    page.keyboard.press("n")
    expect(page.get_by_text("1 of 5 still open:")).to_be_visible()
    review.get_by_role("link").first.click()
    page.keyboard.press("n")
    expect(submit).to_be_enabled()
    expect(page.get_by_text("All 5 statements answered: 1 present, 4 not present.")).to_be_visible()
    submit.click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    [answer] = with_units.answers(campaign)
    assert list(answer["units"].values()) == [1, 0, 0, 0, 0]
