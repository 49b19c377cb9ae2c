"""How long an annotator waits for a key: python benchmarks/annotate.py [--quick] [--write]

Pyramids of 50, 100 and 200 units over 7 references of 250 words, in Chromium, against a real server process on this
machine. Texts are drawn from the words of the bundled example; a unit has one to seven contributors of 3 to 12 words,
some of them in two pieces. A key is pressed by the browser's own input; its time runs from the moment the browser saw
it to the frame after the page was painted with its effect. Between two keys there are 60 ms or more.
Changes and undo show what the page makes of them; the server's reply, which confirms it, comes later and is not in the
times. They depend on what else the machine does: the load is given.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the tests' way of starting servers is ours too

import numpy as np  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from tests.server.servers import (  # noqa: E402
    PASSWORD,
    running_server,
)

import pyramidion as pyr  # noqa: E402
from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.server.context import SESSION_COOKIE  # noqa: E402
from pyramidion.store.accounts import Accounts  # noqa: E402
from pyramidion.store.database import Database  # noqa: E402

TARGET = ROOT / "benchmarks" / "results" / "annotate.md"
REFERENCES, WORDS = "ABCDEFG", 250
SIZES = (50, 100, 200)
LIMIT = 100
REST = 60  # ms between keys, about as fast as keys repeat: what went before is painted

# Between a key and the frame that shows what it did. `effect` says what has to change first, for keys that wait.
CLOCK = """() => {
  window.times = [];
  const painted = (from) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.times.push(performance.now() - from);
    channel.port2.postMessage(null);
  });
  addEventListener("keydown", (event) => {
    const from = event.timeStamp;
    if (!window.effect) return painted(from);
    const watched = document.querySelector(window.effect);
    new MutationObserver((_, observer) => {
      observer.disconnect();
      painted(from);
    }).observe(watched, {subtree: true, childList: true, characterData: true});
  }, {capture: true});
}"""

TAKEN = """() => new Promise((done) => {
  const look = () => window.times.length ? done(window.times.at(-1)) : setTimeout(look, 5);
  look();
})"""


class Measured(NamedTuple):
    key: str
    units: int
    times: Sequence[float]

    def row(self) -> str:
        low, high = statistics.median(self.times), statistics.quantiles(self.times, n=20)[-1]
        return f"| {self.key} | {self.units} | {low:.0f} | {high:.0f} | {max(self.times):.0f} |"


def large_study(units: int) -> pyr.Study:
    rng = np.random.default_rng(7)
    vocabulary = " ".join(s.text for s in pyr.example().summaries).split()
    texts = {name: list(map(str, rng.choice(vocabulary, WORDS))) for name in REFERENCES}
    made = []
    for number in range(units):
        weight = 1 + int(len(REFERENCES) * (1 - number / units) ** 2.5)
        held = []
        for name in rng.choice(list(REFERENCES), min(weight, len(REFERENCES)), replace=False):
            held.append(pyr.Contributor(str(name), _spans(rng, texts[str(name)])))
        made.append(pyr.ContentUnit(f"u{number}", " ".join(map(str, rng.choice(vocabulary, 9))), tuple(held)))
    return pyr.Study(
        topics=(pyr.Topic("D0001", "A large topic"),),
        summaries=tuple(pyr.Summary("D0001", name, " ".join(words), "reference") for name, words in texts.items()),
        pyramids=(pyr.Pyramid("D0001", tuple(REFERENCES), tuple(made)),),
    )


def _spans(rng: np.random.Generator, words: Sequence[str]) -> tuple[pyr.Span, ...]:
    """One piece, or sometimes two with a gap of some words."""
    first = int(rng.integers(0, WORDS - 30))
    pieces = [(first, first + int(rng.integers(3, 13)))]
    if rng.random() < 0.2:
        second = pieces[0][1] + int(rng.integers(2, 6))
        pieces.append((second, second + int(rng.integers(2, 6))))
    starts = np.concatenate([[0], np.cumsum([len(word) + 1 for word in words])])
    return tuple(pyr.Span(int(starts[a]), int(starts[b]) - 1) for a, b in pieces)


def measure(page: Page, units: int, presses: int) -> list[Measured]:
    def run(name: str, key: str, *, effect: str = "", before: Callable[[], None] = lambda: None) -> Measured:
        page.evaluate("(effect) => { window.times = []; window.effect = effect; }", effect)
        kept: list[float] = []
        for _ in range(presses):
            before()
            page.wait_for_timeout(REST)
            page.evaluate("() => { window.times.length = 0; }")
            page.keyboard.press(key)
            kept.append(page.evaluate(TAKEN))
        return Measured(name, units, kept)

    def pick() -> None:
        for key in ("Escape", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
            page.keyboard.press(key)

    def redo() -> None:
        """What was undone last, so that there is always something to undo."""
        page.keyboard.press("Control+y")
        page.locator("#saving[data-state=saved]").wait_for()

    page.locator(".a-text").first.focus()
    found = [run("move the cursor by a word", "ArrowRight"), run("pick a further word", "Shift+ArrowRight")]
    page.keyboard.press("Escape")
    page.locator(".a-unit").first.focus()
    found.append(run("go to the next unit of the list", "ArrowDown"))
    page.locator(".a-text").first.focus()
    page.keyboard.press("Home")
    found.append(run("add the words picked to the current unit", "a", before=pick))
    found.append(run("undo", "Control+z", effect="#tiers", before=redo))
    page.locator("#search").focus()
    found.append(run("type a letter into the search", "e"))
    return found


def editor(page: Page, url: str) -> None:
    page.goto(f"{url}/annotate")
    csrf = page.locator("main").get_attribute("data-csrf") or ""
    body = {"kind": "pyramid", "topic": "D0001", "name": "large", "start": "expert"}
    made = page.request.post(f"{url}/api/annotate", headers={"X-CSRF-Token": csrf}, data=body)
    assert made.ok, made.text()
    page.goto(f"{url}{made.json()['url']}")
    page.locator("main[data-ready]").wait_for(state="attached")
    page.evaluate(CLOCK)


def measure_size(units: int, presses: int) -> list[Measured]:
    names = ("chromium", "chromium-browser", "google-chrome")
    browser_path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder) / "study.db"
        database = Database.create(place, title="A large study")
        Accounts(database).add("erin", PASSWORD, "expert")
        CampaignDesk(database).import_study(large_study(units))
        token = Accounts(database).log_in("erin", PASSWORD) or ""
        with running_server(place) as server:
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
            context = browser.new_context(viewport={"width": 1680, "height": 1050})
            context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": server.url}])
            page = context.new_page()
            editor(page, server.url)
            found = measure(page, units, presses)
            browser.close()
        database.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the largest pyramid, few keys")
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET.relative_to(ROOT)}")
    chosen = parser.parse_args()
    sizes, presses = ((SIZES[-1],), 20) if chosen.quick else (SIZES, 60)
    before = os.getloadavg()[0]
    found = [row for units in sizes for row in measure_size(units, presses)]
    worst = max(statistics.quantiles(row.times, n=20)[-1] for row in found)
    about = (__doc__ or "").split("\n\n", 1)[1].strip()
    lines = [
        "# Annotating in the browser",
        "",
        about,
        "",
        f"The slowest key has a p95 of **{worst:.0f} ms**; the limit is {LIMIT} ms. A frame takes 17 ms, so that a key "
        "waits up to that long even where nothing is to be done.",
        "",
        "| key | units | p50, ms | p95, ms | longest, ms |",
        "|---|---:|---:|---:|---:|",
        *(row.row() for row in found),
        "",
        f"{presses} presses each. Python {platform.python_version()}, {os.cpu_count()} cores, shared by the browser, "
        f"the server and the driver; software rendering; load average {before:.1f} before and {os.getloadavg()[0]:.1f} "
        f"after, niceness {os.nice(0)}.",
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if chosen.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
