"""How experts use the annotation pages: words picked by mouse and by keyboard, commands given, results read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import pyramidion as pyr
from pyramidion.server.context import SESSION_COOKIE
from pyramidion.store.accounts import Accounts, Role
from tests.browser.site import TOPIC, Site, small_study
from tests.server.servers import PASSWORD

Spans = Sequence[Sequence[int]]
LARGE = "large"

# Where code points of a text lie on the screen. The page's own way of counting is not used here.
BOXES = """([role, name, start, end]) => {
  const body = document.querySelector(`.a-text[aria-label^="${CSS.escape(role)} ${CSS.escape(name)},"]`);
  const node = body.firstChild;
  const place = (points) => Array.from(node.data).slice(0, points).join("").length;
  const box = (from, to) => {
    const range = document.createRange();
    range.setStart(node, place(from));
    range.setEnd(node, place(to));
    return range.getClientRects()[0];
  };
  const middle = ({left, top, width, height}) => [left + width / 2, top + height / 2];
  const frame = body.closest(".a-texts");
  const first = box(start, start + 1);
  const view = frame.getBoundingClientRect();
  if (first.top < view.top + 20 || first.bottom > view.bottom - 120) frame.scrollTop += first.top - view.top - 120;
  return [middle(box(start, start + 1)), middle(box(end - 1, end))];
}"""
# Which keys go from word `at` to the first word of a span, sentence by sentence as far as that is shorter, and how many
# words further its last one is.
WAY = """async ([role, name, at, start, end]) => {
  const { Words } = await import("/static/shared/spans.js");
  const text = document.querySelector(`.a-text[aria-label^="${CSS.escape(role)} ${CSS.escape(name)},"]`).textContent;
  const place = (points) => Array.from(text).slice(0, points).join("").length;
  const words = new Words(text);
  const first = words.spans.findIndex(([from]) => from === place(start));
  const last = words.spans.findIndex(([, to]) => to === place(end));
  const by = first > at ? 1 : -1;
  const key = (by > 0) === !words.rtl ? "ArrowRight" : "ArrowLeft";
  const keys = [];
  for (let next = words.sentence(at, by); at !== first; next = words.sentence(at, by)) {
    const jump = Math.abs(first - next) < Math.abs(first - at) && next !== at && (next - first) * by <= 0;
    keys.push(jump ? `Control+${key}` : key);
    at = jump ? next : at + by;
  }
  return [keys, words.rtl ? "ArrowLeft" : "ArrowRight", first, last];
}"""


def account(site: Site, name: str, role: Role = "expert") -> None:
    Accounts(site.desk.database).add(name, PASSWORD, role)


def come_in(page: Page, site: Site, name: str, path: str = "/annotate") -> None:
    """Open a page as somebody, without the form: only so many people a minute may log in from one place."""
    token = Accounts(site.desk.database).log_in(name, PASSWORD)
    assert token is not None
    page.context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": site.url}])
    page.goto(f"{site.url}{path}")


def call(page: Page, path: str, body: dict[str, Any] | None = None) -> Any:
    """Ask the server beside the page, as the same person."""
    url = page.url.split("/annotate")[0]
    csrf = page.locator("main").get_attribute("data-csrf") or ""
    if body is None:
        response = page.request.get(f"{url}{path}")
    else:
        response = page.request.post(f"{url}{path}", headers={"X-CSRF-Token": csrf}, data=body)
    assert response.ok, response.text()
    return response.json()


def begin(page: Page, **about: Any) -> int:
    """A new annotation, made beside the page. The page must be one of the annotation pages."""
    number: int = call(page, "/api/annotate", {"topic": TOPIC, "shared": True, **about})["id"]
    return number


def open_editor(page: Page, site: Site, number: int, place: str = "") -> None:
    page.goto(f"{site.url}/annotate/{number}{place}")
    expect(page.locator("main[data-ready]")).to_be_attached()


def state(page: Page, number: int) -> Any:
    return call(page, f"/api/annotate/{number}")


def saved(page: Page) -> None:
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


# -- picking words -------------------------------------------------------------------------------------------


def drag_over(page: Page, text: tuple[str, str], span: Sequence[int], *, beside: bool = False) -> None:
    """Press on the first word of a span, release on the last; with Ctrl for a further piece."""
    (x, y), (to_x, to_y) = page.evaluate(BOXES, [*text, *span])
    if beside:
        page.keyboard.down("Control")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to_x) / 2, (y + to_y) / 2)
    page.mouse.move(to_x, to_y)
    page.mouse.up()
    if beside:
        page.keyboard.up("Control")


def pick_by_mouse(page: Page, text: tuple[str, str], spans: Spans) -> None:
    for number, span in enumerate(spans):
        drag_over(page, text, span, beside=number > 0)


def drag_pick_to(page: Page, text: tuple[str, str], span: Sequence[int], target: Locator) -> None:
    """Drag what is picked, by its first word, onto something."""
    target.scroll_into_view_if_needed()
    (x, y), _ = page.evaluate(BOXES, [*text, *span])
    box = target.bounding_box()
    assert box is not None
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y + 5)
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
    page.mouse.up()


class Fingers:
    """Somebody who only has a keyboard, and knows at which word the cursor of each text stands."""

    def __init__(self, page: Page, role: str = "Reference") -> None:
        self.page, self.role = page, role
        self.at: dict[str, int] = {}

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(key)

    def go_to_text(self, name: str) -> None:
        """Tab to a text from wherever the focus is among the texts."""
        wanted = self.page.locator(f'.a-text[aria-label^="{self.role} {name},"]')
        for _ in range(20):
            if wanted.evaluate("node => node === document.activeElement"):
                return
            self.press("Tab" if self._before(name) else "Shift+Tab")
        raise AssertionError(f"Tab does not get to {name}")

    def _before(self, name: str) -> bool:
        here: bool = self.page.evaluate(
            """(label) => {
              const wanted = document.querySelector(`.a-text[aria-label^="${label},"]`);
              return Boolean(document.activeElement.compareDocumentPosition(wanted) & 4);
            }""",
            f"{self.role} {name}",
        )
        return here

    def pick(self, name: str, spans: Spans) -> None:
        self.go_to_text(name)
        single = True
        for number, span in enumerate(spans):
            keys, forward, first, last = self.page.evaluate(WAY, [self.role, name, self.at.get(name, 0), *span])
            assert min(first, last) >= 0, f"{name} {span} does not begin and end with words"
            if number and not single:
                self.press("Space")  # keep what is picked; a single word picked with Space is kept already
            for key in keys:
                self.press(key)
            single = first == last
            if single:
                self.press("Space")
            else:
                self.press(f"Shift+{forward}", last - first)
            self.at[name] = last


# -- results -------------------------------------------------------------------------------------------------

Built = list[tuple[str, list[tuple[str, list[tuple[int, int]]]]]]


def golden(topic: str = TOPIC) -> pyr.Pyramid:
    return next(p for p in pyr.example().pyramids if (p.topic, p.name) == (topic, "expert"))


def content(pyramid: pyr.Pyramid) -> Built:
    """A pyramid without the names of its units: labels, and whose words at which places."""
    return [
        (unit.label, sorted((c.reference, [(span.start, span.end) for span in c.spans]) for c in unit.contributors))
        for unit in pyramid.units
    ]


def shown(page: Page, layer: str) -> list[str]:
    """The words painted in a layer, in the order of the page."""
    words: list[str] = page.evaluate(
        """(layer) => [...(CSS.highlights.get(layer) ?? [])]
          .sort((a, b) => a.startContainer === b.startContainer ? a.startOffset - b.startOffset
            : a.startContainer.compareDocumentPosition(b.startContainer) & 4 ? -1 : 1)
          .map((range) => range.startContainer.data.slice(range.startOffset, range.endOffset))""",
        layer,
    )
    return words


# The boxes shaded behind a text, and those of stretches given in code points, as left, top, width.
SHADED = """([name, kind, stretches]) => {
  const body = document.querySelector(`.a-text[aria-label^="Reference ${name},"]`);
  const d = body.parentElement.querySelector(`.a-${kind}`).getAttribute("d");
  const drawn = [...d.matchAll(/M(-?[\\d.]+) (-?[\\d.]+)h([\\d.]+)/g)].flatMap(([, ...numbers]) => numbers.map(Number));
  const place = (points) => Array.from(body.textContent).slice(0, points).join("").length;
  const {left, top} = body.getBoundingClientRect();
  const wanted = stretches.flatMap(([start, end]) => {
    const range = document.createRange();
    range.setStart(body.firstChild, place(start));
    range.setEnd(body.firstChild, place(end));
    return [...range.getClientRects()].filter(({width}) => width > 0)
      .flatMap((box) => [box.left - left, box.top - top, box.width]);
  });
  return [drawn, wanted];
}"""


def shaded_as(page: Page, reference: str, kind: str, stretches: Spans) -> None:
    """What is shaded in a way behind a reference are these stretches and no others."""
    drawn, wanted = page.evaluate(SHADED, [reference, kind, [list(span) for span in stretches]])
    assert drawn == pytest.approx(wanted, abs=0.1), (reference, kind)


def card(page: Page, label: str) -> Locator:
    return page.locator(".a-card").filter(has=page.locator(".a-label").get_by_text(label, exact=True))


def labels(page: Page) -> list[str]:
    return page.locator(".a-card:visible .a-label").all_text_contents()


# -- studies -------------------------------------------------------------------------------------------------

JUDGE = "annotator"


def expert_study(systems: Sequence[str] = ("extract", "lead", "repeat")) -> pyr.Study:
    """One topic of the bundled example with the expert's pyramid and what the expert found in these summaries."""
    whole = pyr.example()
    return replace(
        small_study(systems, golden().references),
        pyramids=(golden(),),
        judges=tuple(judge for judge in whole.judges if judge.id == JUDGE),
        judgments=pyr.Judgments(
            [j for j in whole.judgments if j.topic == TOPIC and j.judge == JUDGE and j.system in systems]
        ),
    )


def large_study(references: str = "ABCDEFGHIJ", units: int = 80, peers: int = 6) -> pyr.Study:
    """A topic of real size from the sentences of the bundled example: references of twelve sentences, units of all
    weights that meet and overlap, and summaries to annotate."""
    rng = np.random.default_rng(7)
    sentences = [s for x in pyr.example().summaries for s in re.split(r"(?<=[.!?])\s+", x.text) if len(s) > 40]

    def text(size: int) -> str:
        return " ".join(sentences[place] for place in rng.choice(len(sentences), size, replace=False))

    texts = {name: text(12) for name in references}
    made = []
    for number in range(units):
        weight = min(1 + int(len(references) * (1 - number / units) ** 2.5), len(references))
        held = {}
        for name in map(str, rng.choice(list(references), weight, replace=False)):
            words = [match.span() for match in re.finditer(r"\w+", texts[name])]
            first = int(rng.integers(0, len(words) - 9))
            held[name] = pyr.Span(words[first][0], words[first + int(rng.integers(3, 9))][1])
        label = next(span.of(texts[name]) for name, span in held.items()).capitalize()
        contributors = tuple(pyr.Contributor(name, (span,)) for name, span in held.items())
        made.append(pyr.ContentUnit(f"u{number}", label, contributors))
    written = [pyr.Summary(LARGE, f"system-{number}", text(8)) for number in range(peers)]
    return pyr.Study(
        topics=(pyr.Topic(LARGE, "A large topic"),),
        summaries=(*(pyr.Summary(LARGE, name, told, "reference") for name, told in texts.items()), *written),
        pyramids=(pyr.Pyramid(LARGE, tuple(references), tuple(made)),),
        title="Large",
    )
