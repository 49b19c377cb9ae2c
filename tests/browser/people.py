"""How people use the pages: managers, and workers who were invited."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response, expect

from pyramidion.campaigns.checks import CONTENT, QUESTIONS_PER_TRY
from pyramidion.server.context import SESSION_COOKIE
from pyramidion.store.accounts import Accounts
from pyramidion.study.tasks import TaskKind
from tests.browser.site import MANAGER, Site
from tests.server.servers import PASSWORD

# Patience, not speed: the machine may be busy, and nothing waits longer than it has to.
PATIENCE = 30_000
expect.set_options(timeout=PATIENCE)

REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI, sample}) =>
  console.error(`Content-Security-Policy: ${violatedDirective} blocked ${blockedURI} ${sample}`));
"""
LOST_NETWORK = "net::ERR_INTERNET_DISCONNECTED"


class Visitors:
    """Browsers of several people, apart from each other, and everything that went wrong on their pages."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._problems: list[str] = []
        self._expected: list[str] = []

    def new(self, **options: Any) -> Page:
        """The page of somebody new. Without motion, so that nothing is looked at halfway."""
        context = self._browser.new_context(**{"locale": "en-GB", "reduced_motion": "reduce", **options})
        context.set_default_timeout(PATIENCE)
        context.add_init_script(REPORT_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self._problems.append(str(error.error)))
        context.on("response", self._look_at)
        self._contexts.append(context)
        return context.new_page()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._problems.append(message.text)

    def _look_at(self, response: Response) -> None:
        policy = response.headers.get("content-security-policy", "")
        if response.url.startswith("http") and ("script-src 'self'" not in policy or "unsafe" in policy):
            self._problems.append(f"{response.url} has the Content-Security-Policy {policy!r}")

    def expect_problem(self, text: str) -> None:
        """Console errors that say this are part of the test."""
        self._expected.append(text)

    def leave(self) -> None:
        for context in self._contexts:
            context.close()
        surprises = [problem for problem in self._problems if not any(text in problem for text in self._expected)]
        assert not surprises, "on the pages: " + "; ".join(surprises)


# -- managers ------------------------------------------------------------------------------------------------


def log_in(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/manage")
    page.get_by_label("Name").fill(MANAGER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Plan a campaign")).to_be_visible()


def let_in(page: Page, site: Site, path: str = "/manage") -> None:
    """Open a manager's page without the form: only so many people a minute may log in from one place."""
    token = Accounts(site.desk.database).log_in(MANAGER, PASSWORD)
    assert token is not None
    page.context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": site.url}])
    page.goto(f"{site.url}{path}")


def plan_campaign(page: Page, kind: str, name: str, settings: dict[str, str]) -> None:
    """Fill in the form and look at the preview, without starting. ``settings`` are by label."""
    page.get_by_role("radio", name=re.compile(f"^{kind}")).check()
    page.get_by_label("Name of the campaign").fill(name)
    if not page.get_by_text("Random seed").is_visible():
        page.get_by_text("Advanced settings").click()
    for label, value in settings.items():
        field = page.get_by_label(label)
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Preview counts and cost").click()
    expect(page.get_by_role("heading", name="If you start it now")).to_be_visible()


def start_campaign(page: Page, name: str) -> None:
    """Create it as a draft, then open it."""
    page.get_by_role("button", name=f"Create {name}").click()
    expect(page.get_by_text(f"{name} is a draft.")).to_be_visible()
    page.get_by_role("button", name=f"Open {name} to workers").click()
    expect(page.get_by_text(f"{name} is running.")).to_be_visible()
    expect(page.get_by_role("table", name="Campaigns").get_by_role("link", name=name)).to_be_visible()


def make_links(page: Page, campaign: str, count: int) -> list[str]:
    page.get_by_label("Campaign", exact=True).select_option(campaign)
    page.get_by_label("How many").fill(str(count))
    page.get_by_role("button", name="Make links").click()
    links = page.get_by_label(f"{count} links for {campaign}")
    expect(links).to_have_value(re.compile(r"/join/"))
    return links.input_value().split()


def fact(page: Page, title: str) -> Any:
    """What stands under a title in a list of facts."""
    return page.locator("dl > div").filter(has=page.locator("dt").get_by_text(title, exact=True)).locator("dd").first


# -- workers -------------------------------------------------------------------------------------------------


def begin(page: Page, link: str) -> None:
    """Open an invitation without questions, and start with the first task."""
    page.goto(link)
    page.get_by_role("button", name="Start with the first task").click()
    expect(page.get_by_role("button", name="I cannot do this one")).to_be_visible()


def pass_check(page: Page, kind: TaskKind) -> None:
    answer_check(page, kind)
    page.get_by_role("button", name="Start with the first task").click()
    expect(counter(page)).to_be_visible()


def answer_check(page: Page, kind: TaskKind, *, rightly: bool = True) -> None:
    """Answer the questions that are shown, all of them rightly or all of them wrongly."""
    known = {question["text"]: question for question in CONTENT[kind]["questions"]}
    expect(page.locator("fieldset")).to_have_count(QUESTIONS_PER_TRY)
    for text in page.locator("fieldset legend").all_text_contents():
        option = known[text]["right"] if rightly else known[text]["wrong"][0]
        page.get_by_role("group", name=text, exact=True).get_by_label(option, exact=True).check()
    page.get_by_role("button", name="Check my answers").click()


def pass_check_by_keyboard(page: Page, kind: TaskKind) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    known = {question["text"]: question["right"] for question in CONTENT[kind]["questions"]}
    for question in page.locator("fieldset").all():
        text = question.locator("legend").text_content() or ""
        page.keyboard.press("Tab")
        at = question.locator("label").all_text_contents().index(known[text])
        for key in ["ArrowDown"] * at or ["Space"]:
            page.keyboard.press(key)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start with the first task")).to_be_focused()
    page.keyboard.press("Enter")
    expect(counter(page)).to_be_visible()


def submitted(page: Page) -> None:
    """What was sent has arrived, and the next task, or none, is here: at once on Enter, otherwise by itself."""
    thanks = page.get_by_role("button", name="Next task")
    onwards = page.get_by_text(re.compile(r"^0 of \d+ ")).or_(page.get_by_role("heading", name="All done. Thank you!"))
    expect(thanks.or_(onwards)).to_be_visible()
    page.keyboard.press("Enter")
    expect(onwards).to_be_visible()


def counter(page: Page) -> Any:
    """How much is done, at the bottom of the page."""
    return page.get_by_text(re.compile(r"^\d+ of \d+ (answered|written|rated)$"))


def statements(page: Page) -> list[str]:
    """The statements to judge, in the order shown."""
    return page.get_by_role("group", name=re.compile("^Statement")).locator(".text").all_text_contents()


def judged(page: Page) -> str:
    """The answer to each statement in order: P, N, or - for none."""
    groups = page.get_by_role("group", name=re.compile("^Statement")).all()
    given = ["".join(group.get_by_role("button", pressed=True).all_text_contents()) for group in groups]
    return "".join("N" if "Not present" in text else "P" if "Present" in text else "-" for text in given)


def says(page: Page, text: str) -> Any:
    """A text that can be seen, not only heard."""
    return page.get_by_role("main").get_by_text(text)
