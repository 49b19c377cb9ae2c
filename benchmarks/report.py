"""How long a report of a large study takes, how big it is, and how fast it opens: python benchmarks/report.py [--write]

As one page: 60 systems on 100 topics with summaries of about 250 words, annotated against pyramids of 90 units. As a
folder: 50 systems on 1,000 topics with summaries of 50 words and pyramids of 5 units, by the command itself. Texts are
drawn from the words of the bundled example by frequency, so they compress about as texts do. Opening is measured in
Chromium: until the page has loaded and drawn the map and the list of topics, and from a click on a cell of the map
until the summary is shown.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pyramidion as pyr
from pyramidion.report import report_page
from pyramidion.report.collect import findings
from pyramidion.study import UNMATCHED

TARGET = Path(__file__).parent / "results" / "report.md"
REFERENCES = 4


class Size(NamedTuple):
    systems: int
    topics: int
    units: int
    words: int

    def __str__(self) -> str:
        judged = self.systems * self.topics * self.units
        what = f"{self.systems} systems x {self.topics:,} topics, {judged:,} judgments of units"
        return f"{what}, {self.units} units a topic, summaries of {self.words} words"


ONE_PAGE, FOLDER = Size(60, 100, 90, 250), Size(50, 1000, 5, 50)


def large_study(size: Size) -> pyr.Study:
    rng = np.random.default_rng(3)
    vocabulary = " ".join(s.text for s in pyr.example().summaries).split()
    strength = rng.uniform(0.05, 0.5, size.systems)
    names = tuple("ABCD"[:REFERENCES])
    topics, summaries, pyramids, judgments = [], [], [], []
    for t in range(size.topics):
        topic = f"D{t:04}"
        topics.append(pyr.Topic(topic, " ".join(rng.choice(vocabulary, 6))))
        summaries += [pyr.Summary(topic, name, _text(rng, vocabulary, size.words), "reference") for name in names]
        units = []
        for u in range(size.units):
            weight = 1 + int(REFERENCES * (1 - u / size.units) ** 2)
            spans = [_span(rng, summaries[-REFERENCES + r].text) for r in range(weight)]
            held = tuple(pyr.Contributor(name, (span,)) for name, span in zip(names, spans, strict=False))
            units.append(pyr.ContentUnit(f"u{u}", " ".join(rng.choice(vocabulary, 9)), held))
        pyramids.append(pyr.Pyramid(topic, names, tuple(units)))
        for s in range(size.systems):
            text = _text(rng, vocabulary, size.words)
            summaries.append(pyr.Summary(topic, f"system{s}", text))
            present = rng.random(size.units) < strength[s]
            for u in range(size.units):
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


def _text(rng: np.random.Generator, vocabulary: list[str], words: int) -> str:
    return " ".join(rng.choice(vocabulary, words))


def _span(rng: np.random.Generator, text: str) -> pyr.Span:
    start = int(rng.integers(0, len(text) - 60))
    return pyr.Span(start, start + int(rng.integers(20, 60)))


def opening(page: Path) -> tuple[float, float]:
    """Seconds until the page has loaded and drawn its topics, and until a summary is shown after a click."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("PYRAMIDION_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.locator("table.topics tbody tr").first.wait_for()
        loaded = time.perf_counter() - start
        start = time.perf_counter()
        tab.locator("table.heat tbody td:not(.number)").nth(700).click()
        tab.locator("#detail h1").wait_for()
        clicked = time.perf_counter() - start
        browser.close()
    return loaded, clicked


def one_page(folder: Path) -> list[str]:
    """In seconds of processor time, which other work on the machine does not change much."""
    study = large_study(ONE_PAGE)
    steps: list[tuple[str, float]] = []
    start = time.process_time()
    found = findings(study, progress=lambda name: steps.append((name, time.process_time())))
    ends = [*(at for _, at in steps[1:]), time.process_time()]
    analysed = ends[-1] - start
    start = time.process_time()
    page = report_page(found)
    rendered = time.process_time() - start
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    loaded, clicked = opening(path)
    rows = [(f"analysis: {name.lower()}", end - at) for (name, at), end in zip(steps, ends, strict=True)]
    rows += [("all analysis", analysed), ("rendering the page", rendered)]
    rows += [("opening it in Chromium, by the clock", loaded), ("from a click to a summary, by the clock", clicked)]
    return [
        "## One page",
        "",
        f"{ONE_PAGE}.",
        "",
        f"The page has **{len(page.encode()) / 1e6:.1f} MB** (the limit is 10); rendering takes "
        f"{rendered / analysed:.2f} of the time that scoring and analysing take.",
        "",
        "| step | seconds of processor time |",
        "|---|---:|",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in rows),
    ]


def whole_folder(folder: Path) -> list[str]:
    """By the command, as a user runs it: its time and memory include reading the study."""
    study, report = folder / "study.jsonl", folder / "report"
    pyr.save(large_study(FOLDER), study)
    busy, start = max(os.getloadavg()[0] - 1, 0), time.perf_counter()
    subprocess.run([sys.executable, "-m", "pyramidion", "report", str(study), "-o", str(report), "-q"], check=True)
    took = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    loaded, clicked = opening(report / "index.html")
    pages = [page.stat().st_size for page in (report / "topics").iterdir()]
    files = [report / name for name in ("scores.csv", "units.csv", "report.json")]
    rows = [
        ("the command, from the study to the folder: processor time", f"{used.ru_utime + used.ru_stime:.0f} s"),
        (f"the same by the clock, with {busy:.1f} other processes at work", f"{took:.0f} s"),
        ("its greatest memory", f"{used.ru_maxrss / 1024:.0f} MiB"),
        ("the first page", f"{(report / 'index.html').stat().st_size / 1e6:.2f} MB"),
        (f"{len(pages):,} pages of topics", f"{sum(pages) / 1e6:.1f} MB, the largest {max(pages) / 1e3:.0f} kB"),
        ("files with all scores, units and everything", f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB"),
        ("opening the first page in Chromium", f"{loaded:.2f} s"),
        ("from a click to a summary", f"{clicked:.2f} s"),
    ]
    return [
        "## A folder",
        "",
        f"{FOLDER}.",
        "",
        "| | |",
        "|---|---:|",
        *(f"| {name} | {value} |" for name, value in rows),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace benchmarks/results/report.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        lines = [
            "# A report of a large study",
            "",
            f"Python {platform.python_version()}, {os.cpu_count()} cores.",
            "",
            *whole_folder(Path(place)),
            "",
            "Before there were folders, one page of the same study had 16.8 MB and 79,000 elements, and took 3.0 s to",
            "open.",
            "",
            *one_page(Path(place)),
        ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if arguments.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
