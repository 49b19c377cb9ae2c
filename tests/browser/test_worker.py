"""Pages on which hours of work neither go wrong nor hurt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pyramidion.campaigns.tasks import ATTENTION
from tests.browser.people import Visitors, answer_check, begin, counter, judged
from tests.browser.site import TERMS, Site, serve, small_study

pytestmark = pytest.mark.browser

LAPTOP, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
ZOOMED = {"width": 640, "height": 360}
"""A laptop's window at 200%."""
TOUCH: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    study = small_study(["extract", "vague", "lead"], ["A", "B", "C", "D"], units=12)
    topic = replace(study.topics[0], description="Describe the plan of the city for the drought.")
    with serve(replace(study, topics=(topic,)), tmp_path_factory.mktemp("worker")) as site:
        for kind in ("write", "judge", "rate", "compare"):
            site.start(kind, kind, check=False, workers=9)
        site.start("judge", "terms", workers=9, **TERMS)
        site.start("judge", "failing", workers=9, contact="Ada Ash, ada@example.org")
        site.start("judge", "over", contact="Ada Ash, ada@example.org")
        site.desk.campaigns.set_state("over", "closed")
        site.start("judge", "evidence", check=False, evidence=True, workers=9)
        yield site


# -- nothing goes wrong silently -----------------------------------------------------------------------------


def test_a_key_answers_the_statement_that_is_marked(site: Site, visitors: Visitors) -> None:
    """A click goes on to the next statement, and so does the focus: help, or another window, must not bring it back."""
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("judge"))
    groups = page.get_by_role("group", name=re.compile("^Statement"))
    groups.nth(0).get_by_role("button", name="Not present").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(groups.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("p")
    assert judged(page)[:3] == "NP-"
    groups.nth(2).get_by_role("button", name="Not present").click()
    page.get_by_role("button", name="Instructions").click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    page.keyboard.press("p")
    assert judged(page)[:5] == "NPNP-"


# -- judging -------------------------------------------------------------------------------------------------

IN_VIEW = """() => {
  const bar = document.querySelector(".task-bar").getBoundingClientRect().top;
  const nodes = [...document.querySelectorAll(".statement")].map((node) => node.getBoundingClientRect());
  return nodes.filter(({top, bottom}) => top >= 0 && bottom <= bar).length;
}"""
CURRENT = """() => {
  const {top, bottom} = document.querySelector(".is-current").getBoundingClientRect();
  const panel = document.querySelector(".panel").getBoundingClientRect().bottom;
  return panel <= top && bottom <= document.querySelector(".task-bar").getBoundingClientRect().top;
}"""


def test_a_laptop_shows_six_statements_and_a_phone_where_a_text_goes_on(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("judge"))
    assert page.evaluate(IN_VIEW) >= 6
    topic = page.locator("details.about")
    expect(topic.locator("summary")).to_contain_text("Topic: ")
    topic.locator("summary").click()
    expect(topic).to_contain_text("It is not your task.")

    phone = visitors.new(**TOUCH)
    begin(phone, site.link("judge"))
    for _ in range(7):
        phone.keyboard.press("n")
    expect(phone.get_by_text("Saved", exact=True)).to_be_visible()
    phone.reload()
    expect(counter(phone)).to_have_text("7 of 12 answered")
    assert phone.evaluate(CURRENT), "it is not under the panel"
    cue = phone.get_by_text("More below")
    expect(cue).to_be_visible()
    phone.locator(".panel-body").evaluate("(body) => body.scrollTo(0, body.scrollHeight)")
    expect(cue).to_be_hidden()


def word(page: Page, number: int) -> Any:
    return page.locator(".markable .word").nth(number)


def test_words_are_marked_by_drag_by_taps_and_by_keys(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("evidence"))
    groups = page.get_by_role("group", name=re.compile("^Statement"))
    text = page.locator(".markable").text_content() or ""
    groups.nth(0).get_by_role("button", name="Present", exact=True).click()
    expect(groups.nth(0)).to_contain_text("Mark the words that say it.")
    expect(counter(page)).to_have_text("0 of 12 answered")
    word(page, 1).hover()
    page.mouse.down()
    word(page, 3).hover()
    page.mouse.up()
    dragged = " ".join(word(page, n).text_content() or "" for n in (1, 2, 3))
    expect(groups.nth(0)).to_contain_text(f"“{dragged}”")
    expect(counter(page)).to_have_text("1 of 12 answered")

    groups.nth(1).get_by_role("button", name="Present", exact=True).click()
    page.keyboard.press("m")
    expect(page.locator(".markable")).to_be_focused()
    for key in ("Home", "Space", "ArrowRight", "ArrowRight", "Space", "Enter"):
        page.keyboard.press(key)
    expect(counter(page)).to_have_text("2 of 12 answered")
    expect(groups.nth(2)).to_be_focused()
    for _ in range(10):
        page.keyboard.press("n")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.reload()
    expect(groups.nth(0)).to_contain_text(f"“{dragged}”")
    groups.nth(1).get_by_role("button", name="Clear").click()
    expect(page.get_by_text("2. Mark the words:")).to_be_visible()
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    word(page, 0).click()  # the first, and then the last
    word(page, 2).click()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    [answer] = site.answers("evidence")
    spans = list(answer["evidence"].values())
    assert [[text[start:end] for start, end in held] for held in spans] == [[dragged], [text[: spans[1][0][1]]]]
    assert ATTENTION not in answer["evidence"]

    phone = visitors.new(**TOUCH)
    begin(phone, site.link("evidence"))
    word(phone, 0).tap()  # what is marked is present
    word(phone, 4).tap()
    expect(counter(phone)).to_have_text("1 of 12 answered")
    assert judged(phone)[0] == "P"
    expect(phone.locator(".word.is-marked")).to_have_count(5)


def line_ends(page: Page) -> list[dict[str, float]]:
    """The first and the last word of each line of the text, by number, and where they are."""
    found: list[dict[str, float]] = page.locator(".markable .word").evaluate_all(
        """(words) => {
          const lines = new Map();
          words.forEach((word, at) => {
            const {left, right, top, bottom} = word.getBoundingClientRect();
            const line = lines.get(top) ?? {first: at, left, top, bottom};
            lines.set(top, {...line, last: at, right});
          });
          return [...lines.values()];
        }"""
    )
    return found


def test_a_drag_that_begins_beside_a_word_marks_from_the_nearest(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("evidence"))
    marked = page.locator(".word.is-marked")
    words = page.locator(".markable .word").all_text_contents()
    lines = line_ends(page)
    middle = (lines[0]["top"] + lines[0]["bottom"]) / 2

    page.mouse.move(lines[0]["left"] - 3, middle)
    page.mouse.down()
    word(page, 3).hover()
    page.mouse.up()
    expect(marked).to_have_text(words[:4])
    expect(counter(page)).to_have_text("1 of 12 answered")
    page.get_by_role("button", name="Clear").click()

    # From behind a line to between two others, nearer to the upper one.
    page.mouse.move(lines[0]["right"] + 3, middle)
    page.mouse.down()
    page.mouse.move(lines[2]["left"] + 1, lines[2]["bottom"] + 1)
    expect(page.locator(".word.is-picked").last).to_have_text(words[int(lines[2]["first"])])
    page.mouse.up()
    expect(marked).to_have_text(words[int(lines[0]["last"]) : int(lines[2]["first"]) + 1])
    page.get_by_role("button", name="Clear").click()

    page.mouse.click(lines[0]["left"] - 3, middle)  # a click in the margin is no choice of a word
    expect(page.locator(".word.is-picked, .word.is-marked")).to_have_count(0)


# -- rating, comparing, writing ------------------------------------------------------------------------------


def test_rating_by_digits_with_the_candidate_in_view(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("rate"))
    order = ["Information content", "Linguistic quality", "Overall quality"]
    expect(page.locator("fieldset.scale legend")).to_have_text(order)
    expect(page.get_by_text("Your ratings are compared with other people's")).to_be_visible()
    expect(page.get_by_text("bonus")).to_have_count(0)  # nobody has set money aside
    steps = page.get_by_role("button", name="Instructions")
    steps.click()
    told = page.get_by_role("dialog").locator("ol.steps").text_content() or ""
    assert [told.index(f"{name}:") for name in order] == sorted(told.index(f"{name}:") for name in order)
    page.keyboard.press("Escape")
    page.locator("h1").click()
    candidate = page.get_by_role("heading", name="Candidate summary")
    for key in ("7", "8", "0"):
        page.keyboard.press(key)
        expect(candidate).to_be_in_viewport()
    expect(counter(page)).to_have_text("3 of 3 rated")
    expect(page.get_by_text("Information content: 7, Linguistic quality: 8, Overall quality: 10")).to_be_visible()
    page.get_by_role("button", name="Review", exact=True).click()
    expect(candidate).to_be_in_viewport()

    phone = visitors.new(**TOUCH)
    begin(phone, site.link("rate"))
    points = phone.locator("fieldset.scale").first
    low, high, poor, good = (
        points.locator(name).nth(at).evaluate("(node) => node.getBoundingClientRect().toJSON()")
        for name, at in ((".point", 0), (".point", 9), (".ends span", 0), (".ends span", 1))
    )
    assert low["top"] == high["top"], "one row"
    assert (abs(poor["left"] - low["left"]) < 3, abs(good["right"] - high["right"]) < 3) == (True, True)
    points.locator(".point").first.scroll_into_view_if_needed()
    expect(phone.get_by_role("heading", name="Candidate summary")).to_be_in_viewport()


def test_comparing_goes_straight_on(site: Site, visitors: Visitors) -> None:
    phone = visitors.new(**TOUCH)
    begin(phone, site.link("compare"))
    assert phone.evaluate("document.scrollingElement.scrollHeight / innerHeight") <= 3
    expect(phone.get_by_text("Review")).to_have_count(0)
    expect(counter(phone)).to_have_count(0)
    expect(phone.get_by_role("button", name="Submit")).to_be_disabled()
    phone.get_by_role("radio", name="The second is better").check()
    phone.get_by_role("button", name="Submit").tap()
    expect(phone.get_by_text("1 task done in less than a minute")).to_be_visible()
    expect(phone.get_by_role("radio", checked=True)).to_have_count(0)
    expect(phone.get_by_role("button", name="Next task")).to_have_count(0)
    for key in ("1", "Enter"):
        phone.keyboard.press(key)
    expect(phone.get_by_text("2 tasks done in less than a minute")).to_be_visible()
    assert [answer["winner"] for answer in site.answers("compare")] == ["second", "first"]
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("compare"))
    page.keyboard.press("2")
    assert page.evaluate("scrollY") == 0, "the texts stay where they are"
    for name in ("Submit", "Instructions"):
        assert page.get_by_role("button", name=name).evaluate("(node) => node.getClientRects()[0].height") < 50


def test_both_candidates_are_in_view_on_a_laptop(site: Site, visitors: Visitors) -> None:
    page = visitors.new(viewport=LAPTOP)
    begin(page, site.link("compare"))
    bar = page.locator(".task-bar").bounding_box()
    texts = [
        page.locator("section").filter(has=page.get_by_role("heading", name=f"{place} candidate")).bounding_box()
        for place in ("First", "Second")
    ]
    assert bar
    assert all(text and text["y"] + text["height"] <= bar["y"] for text in texts)
    expect(page.get_by_role("heading", name="Reference summaries")).to_be_visible()


def test_the_review_of_writing_lists_what_is_odd(site: Site, visitors: Visitors) -> None:
    page = visitors.new()
    begin(page, site.link("write"))
    long = " ".join(["The city of Port Ambry rations water"] * 5)[:180]
    texts = ["Too short", long, "Every resident may use 120 litres a day.", "Every resident may use 120 litres a day."]
    for number, text in enumerate([*texts, *(f"The council of town {n} met on day {n} to vote." for n in range(4))], 1):
        page.get_by_label(f"Statement {number}").fill(text)
    review = page.get_by_role("region", name="Review and submit")
    expect(review.get_by_role("link", name="Statement 1: This has 2 words, fewer than 4.")).to_be_visible()
    expect(
        review.get_by_role("link", name=re.compile(r"Statement 2: This has \d+ words, more than 20"))
    ).to_be_visible()
    expect(
        review.get_by_role("link", name="Statement 4: This says nearly the same as your statement 3")
    ).to_be_visible()
    expect(review.locator(".complete")).to_have_count(0)
    expect(review.get_by_role("button", name="Submit")).to_be_enabled()
    review.get_by_role("link", name="Statement 1:").click()
    page.keyboard.type(" is what this statement was")
    expect(review.get_by_role("link", name="Statement 1:")).to_have_count(0)


# -- for everybody -------------------------------------------------------------------------------------------


def terms(page: Page, site: Site) -> None:
    page.goto(site.link("terms"))
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_text("Please agree")).to_be_visible()


def marking(page: Page, site: Site) -> None:
    begin(page, site.link("evidence"))
    page.keyboard.press("p")
    word(page, 0).click()
    page.keyboard.press("j")
    page.keyboard.press("p")


def odd(page: Page, site: Site) -> None:
    begin(page, site.link("write"))
    for number in range(1, 9):
        page.get_by_label(f"Statement {number}").fill("Too short")
    expect(page.get_by_text("Please look at these once more")).to_be_visible()


def comparing(page: Page, site: Site) -> None:
    begin(page, site.link("compare"))
    page.keyboard.press("1")


def rating(page: Page, site: Site) -> None:
    begin(page, site.link("rate"))
    page.keyboard.press("3")


def stopping(page: Page, site: Site) -> None:
    begin(page, site.link("judge"))
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("heading", name="See you later")).to_be_visible()


def failed(page: Page, site: Site) -> None:
    page.goto(site.link("failing"))
    for tries in (2, 1):
        expect(page.get_by_text("This is your last try")).to_have_count(int(tries == 1))
        answer_check(page, "judge", rightly=False)
    expect(page.get_by_role("heading", name="Thank you for trying")).to_be_visible()


def over(page: Page, site: Site) -> None:
    page.goto(site.link("over"))
    expect(page.get_by_role("heading", name="This campaign is finished")).to_be_visible()


def uninvited(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/work/judge")
    expect(page.get_by_role("heading", name="Please open your invitation link")).to_be_visible()


def at(path: str) -> Callable[[Page, Site], None]:
    return lambda page, site: page.goto(f"{site.url}{path}") and None


PAGES: dict[str, Callable[[Page, Site], None]] = {
    "terms": terms,
    "marking": marking,
    "odd": odd,
    "comparing": comparing,
    "rating": rating,
    "stopping": stopping,
    "failed": failed,
    "over": over,
    "uninvited": uninvited,
    "log-in": at("/login"),
    "bad-link": at("/join/nonsense"),
    "nothing": at("/nowhere"),
}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_at_all_at_any_size_or_zoom(name: str, site: Site, visitors: Visitors) -> None:
    visitors.expect_problem("status of 40")
    page = visitors.new(bypass_csp=True, viewport=LAPTOP)
    PAGES[name](page, site)
    for size, colours in ((LAPTOP, "light"), (PHONE, "dark"), (ZOOMED, "light")):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=colours)  # type: ignore[arg-type]
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), (size, "scrolls sideways")
        found = Axe().run(page).response["violations"]
        assert [(size, one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
