"""How long the hands need at the expert's desk: python benchmarks/desk_keystrokes.py [--write]

The keystroke-level model of Card, Moran and Newell (The keystroke-level model for user performance time with
interactive systems, CACM 23 (7), 1980): K .28 s per key (an average typist), P 1.1 s to point, B .1 s to press or
release the mouse button, H .4 s whenever a hand goes from the mouse to the keys or back, M 1.35 s to make up one's
mind. The model says nothing about reading and judging, which take most of an annotator's day; it counts what the page
makes the hands do.

The work: the ten heaviest units of the bundled expert pyramid of one topic over its 4 references, and what the expert
matched to them in 5 summaries, in the expert's own words. Both ways are carried out in Chromium on the real page, and
what the server holds afterwards is compared with the expert's. Loading, scrolling and waiting are not counted.

**Before** (what the page had until now; all of it still works). A unit: M, drag over the words of the first contributor
(P B P B; further pieces with Ctrl, K), N, Enter for the label offered. Every other contributor: M, drag, A. A summary:
M, to the desk (P B B), *Annotate a summary* (P B B), write over the name offered, which had a number (4 K), choose the
summary (P B B P B B), *Begin* (P B B). A match: M, drag over the words, drag them onto the unit (P B P B).

**Now.** Suggestions are switched on once (S). A unit: M, the first contributor by a double click (P B B B B) where that
picks the clause wanted, else by the same drag as before; N, Enter. Then every suggestion that is looked at costs M: E
accepts it, D dismisses a wrong one that is before a right one; one M for seeing that no right one is left. Right is
what has the same words but for a few (Dice of the characters of .8 or more). What is left: M, pick, A. A summary: M, J;
only the first one is begun from the desk. Its proposals come by themselves and cost the same. What is left: M, pick,
the number of the unit if it is among the three likely ones shown (K), else a drag onto the unit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' way of using the pages is ours too

from playwright.sync_api import Locator, Page, expect, sync_playwright  # noqa: E402
from tests.browser.annotating import (  # noqa: E402
    BOXES,
    account,
    begin,
    call,
    card,
    come_in,
    drag_over,
    drag_pick_to,
    golden,
    open_editor,
    saved,
    state,
)
from tests.browser.site import TOPIC, Site, serve, small_study  # noqa: E402

import pyramidion as pyr  # noqa: E402

TARGET = ROOT / "benchmarks" / "results" / "desk_keystrokes.md"
SECONDS = {"K": 0.28, "P": 1.1, "B": 0.1, "H": 0.4, "M": 1.35}
SYSTEMS = ("extract", "lead", "paraphrase", "repeat", "vague")
UNITS = golden().units[:10]
ALIKE = 0.8
NAME = "erin"
Spans = Sequence[Sequence[int]]
Wanted = tuple[str, Spans]
"""The label of a unit, and the words of a text that belong to it."""


class Hands:
    """Somebody at the page whose operations are counted, by part of the work."""

    def __init__(self, page: Page) -> None:
        self.page, self.part, self.device = page, "pyramid", "mouse"
        self.counts: dict[str, Counter[str]] = {"pyramid": Counter(), "summaries": Counter()}
        self.notes: Counter[str] = Counter()

    def count(self, **operators: int) -> None:
        self.counts[self.part].update(operators)

    def _use(self, device: str) -> None:
        self.count(H=int(device != self.device))
        self.device = device

    def think(self) -> None:
        self.count(M=1)

    def keys(self, *keys: str) -> None:
        self._use("keys")
        for key in keys:
            self.page.keyboard.press(key)
        self.count(K=len(keys))

    def click(self, target: Locator) -> None:
        self._use("mouse")
        target.click()
        self.count(P=1, B=2)

    def choose(self, field: Locator, value: str) -> None:
        """Open a list and point at an entry."""
        self._use("mouse")
        field.select_option(value)
        self.count(P=2, B=4)

    def drag(self, text: tuple[str, str], spans: Spans) -> None:
        self._use("mouse")
        for number, span in enumerate(spans):
            drag_over(self.page, text, span, beside=number > 0)
            self.count(P=2, B=2, K=int(number > 0))

    def drop(self, text: tuple[str, str], span: Sequence[int], target: Locator) -> None:
        drag_pick_to(self.page, text, span, target)
        self.count(P=2, B=2)

    def pick(self, text: tuple[str, str], spans: Spans) -> None:
        """The clause by a double click where that is what is wanted: who sees the text knows beforehand."""
        (x, y), _ = self.page.evaluate(BOXES, [*text, *spans[0]])
        self.page.mouse.dblclick(x, y)
        if alike(painted(self.page)[1], spans):
            self._use("mouse")
            self.count(P=1, B=4)
            self.notes["picks by a double click"] += 1
            return
        self.page.keyboard.press("Escape")
        self.notes["picks by dragging"] += 1
        self.drag(text, spans)

    def settle(self, is_right: Callable[[Locator], bool]) -> None:
        """Accept the right ones of what is suggested, until none of them is right."""
        rows = self.page.locator(".a-suggestion")
        expect(self.page.locator(".a-suggestions").locator("h3, p:not(:text('Looking'))").first).to_be_visible()
        while rows.count():
            self.think()
            self.notes["suggestions looked at"] += 1
            right = [is_right(row) for row in rows.all()]
            if not any(right):
                break
            self.notes["accepted"] += right[0]
            self.keys("e" if right[0] else "d")

    def match(self, label: str, text: tuple[str, str]) -> None:
        """Match what is picked to the unit of this label."""
        self.page.wait_for_timeout(200)  # until the likely units are shown
        chips = self.page.locator(".a-chip bdi").all_text_contents()
        if label in chips:
            self.keys(str(chips.index(label) + 1))
            self.notes["into a likely unit by its number"] += 1
        else:
            self._use("mouse")
            self.drop(text, painted(self.page)[1][0], card(self.page, label))
            self.notes["into a unit by dragging"] += 1


# What is painted in a layer: the text's name and the spans, in characters; the example has none beyond U+FFFF.
PAINTED = """(layer) => {
  const ranges = [...(CSS.highlights.get(layer) ?? [])];
  const body = ranges[0]?.startContainer.parentElement;
  const name = body ? /^\\S+ (.*), /.exec(body.getAttribute("aria-label"))[1] : "";
  return [name, ranges.map(({startOffset, endOffset}) => [startOffset, endOffset]).sort((a, b) => a[0] - b[0])];
}"""


def painted(page: Page, layer: str = "picked") -> tuple[str, Spans]:
    name, spans = page.evaluate(PAINTED, layer)
    return name, spans


def suggested(row: Locator) -> tuple[str, Spans]:
    """The text and the words that a suggestion is about, which the page shows to whoever points at it."""
    row.dispatch_event("pointerenter")
    return painted(row.page, "hint")


class Work:
    """What is to be done, and whether it was."""

    def __init__(self) -> None:
        whole = pyr.example()
        self.texts = {s.system: s.text for s in whole.summaries if s.topic == TOPIC}
        ids = {unit.id for unit in UNITS}
        labels = {unit.id: unit.label for unit in UNITS}
        self.matches: dict[str, list[tuple[str, Spans]]] = {system: [] for system in SYSTEMS}
        for judgment in whole.judgments:
            if (judgment.topic, judgment.judge) == (TOPIC, "annotator") and judgment.unit in ids:
                for spans in judgment.evidence if judgment.system in self.matches else ():
                    self.matches[judgment.system].append((labels[judgment.unit], [list(span) for span in spans]))


def alike(some: Spans, others: Spans) -> bool:
    one, other = ({place for span in spans for place in range(*span)} for spans in (some, others))
    return 2 * len(one & other) >= ALIKE * (len(one) + len(other))


# -- before --------------------------------------------------------------------------------------------------


def build_before(hands: Hands) -> dict[str, str]:
    """Returns the labels that units have here, by those of the expert."""
    labels = {}
    for unit in UNITS:
        for number, each in enumerate(unit.contributors):
            hands.think()
            hands.drag(("Reference", each.reference), each.spans)
            hands.keys(*(("a",) if number else ("n", "Enter")))
            if not number:
                labels[unit.label] = hands.page.locator(".a-current .a-label").text_content() or ""
    saved(hands.page)
    return labels


def annotate_before(hands: Hands, work: Work, labels: dict[str, str]) -> None:
    page = hands.page
    for number, system in enumerate(SYSTEMS):
        hands.think()
        hands.click(page.get_by_role("link", name="Desk of pyramidion"))
        hands.click(page.get_by_role("region", name=TOPIC).get_by_role("button", name="Annotate a summary"))
        if number:  # the first has no number yet
            hands.keys(*NAME)
            hands.choose(page.get_by_label("Summary", exact=True), system)
        hands.click(page.get_by_role("button", name="Begin", exact=True))
        expect(page.locator("main[data-ready]")).to_be_attached()
        for label, spans in work.matches[system]:
            hands.think()
            hands.drag(("Summary", system), spans)
            hands.drop(("Summary", system), spans[0], card(page, labels[label]))
        saved(page)


# -- now -----------------------------------------------------------------------------------------------------


def build_now(hands: Hands) -> dict[str, str]:
    labels: dict[str, str] = {}
    for number, unit in enumerate(UNITS):
        first, *rest = unit.contributors
        hands.think()
        hands.pick(("Reference", first.reference), first.spans)
        hands.keys("n", "Enter")
        labels[unit.label] = hands.page.locator(".a-current .a-label").text_content() or ""
        saved(hands.page)
        if not number:
            hands.keys("s")
        left: dict[str, Spans] = {each.reference: each.spans for each in rest}

        def is_right(row: Locator, left: dict[str, Spans] = left) -> bool:
            name, spans = suggested(row)
            return name in left and alike(spans, left[name])

        hands.settle(is_right)
        held = hands.page.locator("#unit .a-contributors .a-from").all_text_contents()
        for each in rest:
            if each.reference not in held:
                hands.think()
                hands.pick(("Reference", each.reference), each.spans)
                hands.keys("a")
    saved(hands.page)
    return labels


def annotate_now(hands: Hands, work: Work, labels: dict[str, str]) -> None:
    page = hands.page
    for place, system in enumerate(SYSTEMS):
        hands.think()
        if place:
            hands.keys("j")
            expect(page.get_by_text(f"Summary {place + 1} of")).to_be_visible()
        else:
            hands.click(page.get_by_role("link", name="Desk of pyramidion"))
            hands.click(page.get_by_role("region", name=TOPIC).get_by_role("button", name="Annotate a summary"))
            hands.keys("Enter")
        expect(page.locator("main[data-ready]")).to_be_attached()
        left = [(labels[label], spans) for label, spans in work.matches[system]]

        def is_right(row: Locator, left: list[tuple[str, Spans]] = left) -> bool:
            label, spans = row.locator("bdi").first.text_content(), suggested(row)[1]
            return any(label == wanted and alike(spans, words) for wanted, words in left)

        hands.settle(is_right)
        saved(page)
        for label, spans in matched(page):
            left.remove(next(each for each in left if each[0] == label and alike(each[1], spans)))
        for label, spans in left:
            hands.think()
            hands.pick(("Summary", system), spans)
            hands.match(label, ("Summary", system))
        saved(page)


# -- the table -----------------------------------------------------------------------------------------------


def matched(page: Page, number: int | None = None) -> list[Wanted]:
    """What is matched in a summary, by default the one at hand: labels, and the words that belong to them."""
    held = state(page, number or int(page.url.split("#")[0].rsplit("/", 1)[1]))
    names = {unit["id"]: unit["label"] for unit in held["pyramid"]["units"]}
    return [(names[match["unit"]], match["spans"]) for match in held["peer"]["matches"]]


def check(page: Page, work: Work, pyramid: int, labels: dict[str, str]) -> float:
    """Every contributor and match of the expert is there, in the same words but for a few; the share that is exact."""
    exact: list[bool] = []
    units = {unit["label"]: unit for unit in state(page, pyramid)["pyramid"]["units"]}
    assert len(units) == len(UNITS)
    for unit in UNITS:
        held = {c["reference"]: c["spans"] for c in units[labels[unit.label]]["contributors"]}
        assert set(held) == {c.reference for c in unit.contributors}, unit.label
        for c in unit.contributors:
            assert alike(held[c.reference], c.spans), (unit.label, c.reference)
            exact.append([list(span) for span in c.spans] == held[c.reference])
    peers = [a for a in call(page, "/api/annotate")["annotations"] if a["pyramid_id"] == pyramid]
    for peer in peers:
        assert peer["name"] == NAME
        found = matched(page, peer["id"])
        wanted = [(labels[label], spans) for label, spans in work.matches[peer["system"]]]
        assert len(found) == len(wanted), peer["system"]
        for label, spans in wanted:
            assert any(label == other and alike(spans, there) for other, there in found), (peer["system"], label)
            exact.append(any(label == other and spans == there for other, there in found))
    return sum(exact) / len(exact)


def carry_out(page: Page, site: Site, way: str, work: Work) -> tuple[Hands, float]:
    hands = Hands(page)
    come_in(page, site, NAME)
    pyramid = begin(page, kind="pyramid", name=NAME)
    open_editor(page, site, pyramid)
    labels = build_before(hands) if way == "before" else build_now(hands)
    hands.part = "summaries"
    (annotate_before if way == "before" else annotate_now)(hands, work, labels)
    return hands, check(page, work, pyramid, labels)


def measure() -> dict[str, tuple[Hands, float]]:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for way in ("before", "now"):
            with (
                tempfile.TemporaryDirectory() as folder,
                serve(small_study(SYSTEMS, golden().references), Path(folder)) as site,
            ):
                account(site, NAME)
                page = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
                page.set_default_timeout(120_000)
                found[way] = carry_out(page, site, way, Work())
                page.close()
        browser.close()
    return found


def row(way: str, part: str, counts: Counter[str]) -> str:
    hands = sum(SECONDS[each] * counts[each] for each in "KPBH")
    numbers = " | ".join(str(counts[each]) for each in "KPBHM")
    return f"| {way} | {part} | {numbers} | {hands:.0f} s | {hands + SECONDS['M'] * counts['M']:.0f} s |"


def report(found: dict[str, tuple[Hands, float]]) -> str:
    totals = {way: sum(hands.counts.values(), Counter()) for way, (hands, _) in found.items()}
    hands = {way: sum(SECONDS[each] * counts[each] for each in "KPBH") for way, counts in totals.items()}
    whole = {way: hands[way] + SECONDS["M"] * counts["M"] for way, counts in totals.items()}
    work = Work()
    contributors = sum(len(unit.contributors) for unit in UNITS)
    about = (__doc__ or "").split("\n\n", 1)[1].strip()
    lines = ["# Operations at the expert's desk", "", about, ""]
    lines += [
        f"{len(UNITS)} units with {contributors} contributors, {len(SYSTEMS)} summaries with "
        f"{sum(map(len, work.matches.values()))} matches.",
        "",
        f"The hands need **{hands['now']:.0f} s instead of {hands['before']:.0f} s** "
        f"({hands['now'] / hands['before']:.0%}); with M, {whole['now']:.0f} s instead of {whole['before']:.0f} s "
        f"({whole['now'] / whole['before']:.0%}). M is counted once per decision both ways. Before, it is counted for "
        "the words that are picked alone; now also for every suggestion that is looked at, right or wrong, although "
        "Card, Moran and Newell would call that acquiring the task and not count it.",
        "",
        "| page | part | K | P | B | H | M | hands | with M |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for way, (counted, _) in found.items():
        lines += [row(way, part, counts) for part, counts in counted.counts.items()]
        lines.append(row(way, "**all**", totals[way]))
    lines += ["", f"How, now: {', '.join(f'{count} {what}' for what, count in found['now'][0].notes.items())}."]
    lines += ["", f"Exactly the expert's words: {found['before'][1]:.0%} before, {found['now'][1]:.0%} now."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    text = report(measure())
    sys.stdout.write(text)
    if chosen.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
