"""How reading grows with the number of tasks of one summary: python benchmarks/readers.py [--write]

MTurk files: two input files with different tasks of one summary (a plan that was extended), and the results of as many
tasks. Each task has a statement of its own, so a topic also has as many units.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import mturk

TARGET = Path(__file__).parent / "results" / "readers.md"
SIZES = (500, 1000, 2000, 4000, 8000)
PLANS_BEFORE = {500: 3.7, 1000: 11.7, 2000: 59.5, 4000: 158.7}
RESULTS_BEFORE = {500: 0.030, 1000: 0.066, 2000: 0.166, 4000: 0.474, 8000: 1.582}
"""Seconds when a task looked for its number, and a statement for its text, among all of them; measured once, on a busy
machine."""
SHOWN = ("eventId", "summaryId", "qIdList", "summary_text", "statement_1")


def _shown(number: int) -> tuple[str, ...]:
    return "t", "s", f"u{number}", "A short text.", f"Statement {number}."


def _write(path: Path, head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def plans(folder: Path, count: int) -> None:
    for number in range(2):
        first = number * count
        _write(folder / f"plan{number}.csv", SHOWN, map(_shown, range(first, first + count)))


def results(folder: Path, count: int) -> None:
    head = ("HITId", "AssignmentId", "WorkerId", *(f"Input.{name}" for name in SHOWN), "Answer.S1Answer")
    rows = ((f"H{n}", f"A{n}", f"W{n % 9}", *_shown(n), "p") for n in range(count))
    _write(folder / "results.csv", head, rows)


def seconds(make: Callable[[Path, int], None], count: int) -> float:
    """The best of three."""
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), count)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            problems = Problems()
            mturk.read(Path(place), problems)
            times.append(time.perf_counter() - start)
            assert not problems.errors
    return min(times)


def table(make: Callable[[Path, int], None], before: dict[int, float]) -> list[str]:
    lines = ["| tasks | before, s | seconds | times as long as for half |", "|---:|---:|---:|---:|"]
    last = 0.0
    for count in SIZES:
        now = seconds(make, count)
        old = f"{before[count]:.3g}" if count in before else ""
        lines.append(f"| {count:,} | {old} | {now:.3f} | {f'{now / last:.1f}' if last else ''} |")
        last = now
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace benchmarks/results/readers.md")
    arguments = parser.parse_args()
    lines = [
        "# Reading many tasks of one summary",
        "",
        f"MTurk files, best of three. Python {platform.python_version()}. Twice the tasks take about twice as long: "
        "the work per task does not grow with their number.",
        "",
        "## Two input files, each with this many other tasks",
        "",
        *table(plans, PLANS_BEFORE),
        "",
        "Before, measured on a busy machine: every task looked for its number among those of its summary, one after "
        "the other, and every statement for its text among all of its topic.",
        "",
        "## Results",
        "",
        *table(results, RESULTS_BEFORE),
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if arguments.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
