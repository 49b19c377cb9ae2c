"""How long a report of a large study takes, how big it is, and how fast it opens: python benchmarks/report.py [--write]

60 systems on 100 topics with summaries of about 250 words, annotated against pyramids of 90 units. Texts are drawn from
the words of the bundled example by frequency, so they compress about as texts do. Opening is measured in Chromium:
until the page has loaded, and from a click on a cell of the map until the summary is shown.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pyramidion as pyr
from pyramidion.report import report_page
from pyramidion.report.collect import findings
from pyramidion.study import UNMATCHED

TARGET = Path(__file__).parent / "results" / "report.md"
SYSTEMS, TOPICS, UNITS, REFERENCES, WORDS = 60, 100, 90, 4, 250


def large_study() -> pyr.Study:
    rng = np.random.default_rng(3)
    vocabulary = " ".join(s.text for s in pyr.example().summaries).split()
    strength = rng.uniform(0.05, 0.5, SYSTEMS)
    names = tuple("ABCD"[:REFERENCES])
    topics, summaries, pyramids, judgments = [], [], [], []
    for t in range(TOPICS):
        topic = f"D{t:04}"
        topics.append(pyr.Topic(topic, " ".join(rng.choice(vocabulary, 6))))
        summaries += [pyr.Summary(topic, name, _text(rng, vocabulary), "reference") for name in names]
        units = []
        for u in range(UNITS):
            weight = 1 + int(REFERENCES * (1 - u / UNITS) ** 2)
            spans = [_span(rng, summaries[-REFERENCES + r].text) for r in range(weight)]
            held = tuple(pyr.Contributor(name, (span,)) for name, span in zip(names, spans, strict=False))
            units.append(pyr.ContentUnit(f"u{u}", " ".join(rng.choice(vocabulary, 9)), held))
        pyramids.append(pyr.Pyramid(topic, names, tuple(units)))
        for s in range(SYSTEMS):
            text = _text(rng, vocabulary)
            summaries.append(pyr.Summary(topic, f"system{s}", text))
            present = rng.random(UNITS) < strength[s]
            for u in range(UNITS):
                evidence = ((_span(rng, text),),) if present[u] else ()
                value = float(present[u])
                judgments.append(pyr.Judgment(topic, f"system{s}", "expert", value, unit=f"u{u}", evidence=evidence))
            judgments.append(pyr.Judgment(topic, f"system{s}", "expert", 4.0, aspect=UNMATCHED))
    return pyr.Study(
        tuple(topics),
        tuple(summaries),
        tuple(pyramids),
        (pyr.Judge("expert", "expert"),),
        pyr.Judgments(judgments),
        title="A large study",
    )


def _text(rng: np.random.Generator, vocabulary: list[str]) -> str:
    return " ".join(rng.choice(vocabulary, WORDS))


def _span(rng: np.random.Generator, text: str) -> pyr.Span:
    start = int(rng.integers(0, len(text) - 60))
    return pyr.Span(start, start + int(rng.integers(20, 60)))


def opening(page: Path) -> tuple[float, float]:
    """Seconds until the page has loaded, and until a summary is shown after a click."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri())
        loaded = time.perf_counter() - start
        start = time.perf_counter()
        tab.locator("table.heat tbody td").nth(700).click()
        tab.locator("#detail h1").wait_for()
        clicked = time.perf_counter() - start
        browser.close()
    return loaded, clicked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace benchmarks/results/report.md")
    study = large_study()
    steps: list[tuple[str, float]] = []
    start = time.perf_counter()
    found = findings(study, progress=lambda name: steps.append((name, time.perf_counter())))
    ends = [*(at for _, at in steps[1:]), time.perf_counter()]
    analysed = ends[-1] - start
    start = time.perf_counter()
    page = report_page(found)
    rendered = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        loaded, clicked = opening(path)
    rows = [(f"analysis: {name.lower()}", end - at) for (name, at), end in zip(steps, ends, strict=True)]
    rows += [("all analysis", analysed), ("rendering the page", rendered), ("opening it in Chromium", loaded)]
    rows += [("from a click to a summary", clicked)]
    lines = [
        "# A report of a large study",
        "",
        f"{SYSTEMS} systems x {TOPICS} topics, {len(study.judgments):,} judgments, {UNITS} units a topic, summaries of "
        f"{WORDS} words. Python {platform.python_version()}, {os.cpu_count()} cores.",
        "",
        f"The page has **{len(page.encode()) / 1e6:.1f} MB** (the limit is 10); rendering takes "
        f"{rendered / analysed:.2f} of the time that scoring and analysing take.",
        "",
        "| step | seconds |",
        "|---|---:|",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in rows),
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if parser.parse_args().write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
