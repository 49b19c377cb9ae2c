"""A second implementation of what LitePyramids' released script does, and files of results to try it on.

It is written straight from the description in docs/reference/compat.md: it reads the file itself, counts combinations
by making them, and shares no code with the package.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import random
import statistics
from collections import defaultdict
from pathlib import Path

SHOWN = 16
Cells = dict[tuple[str, str], float]


# -- files of results, as MTurk writes them ------------------------------------------------------------------------


def results(
    rng: random.Random, *, blank: float = 0.05, answers: tuple[int, ...] = (3, 4, 5, 5, 7)
) -> list[dict[str, str]]:
    """Two topics, three systems, two tasks each; some workers answer at random, and some answers are left blank."""
    careless = {f"w{number}": number % 3 == 0 for number in range(9)}
    rows = []
    for topic, system, half in itertools.product(("D1", "D2"), ("a", "b", "c"), (0, 1)):
        units = rng.sample(range(half * SHOWN, (half + 1) * SHOWN), SHOWN)
        truth = [rng.random() < 0.4 for _ in units]
        for worker in rng.sample(sorted(careless), rng.choice((3, 4, 5, 5, 7))):
            row = {"HITId": f"{topic}{system}{half}", "AssignmentId": f"A{len(rows)}", "WorkerId": worker}
            row |= {"Input.eventId": topic, "Input.summaryId": system, "Input.summary_text": f"{system} on {topic}"}
            row["Input.qIdList"] = ";".join(map(str, units))
            for number, (unit, true) in enumerate(zip(units, truth, strict=True), 1):
                said = rng.random() < 0.5 if careless[worker] else true != (rng.random() < 0.1)
                row[f"Input.statement_{number}"] = f"Statement {unit} of {topic}."
                row[f"Answer.S{number}Answer"] = "" if rng.random() < 0.05 else "np"[said]
            rows.append(row)
    return rows


def write(rows: list[dict[str, str]], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, sorted(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


# -- the second implementation -------------------------------------------------------------------------------------


def second_implementation(path: Path, rounds: int = 1, minimum: float = 0.5) -> tuple[Cells, set[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["said"] = ["n" if row[f"Answer.S{i}Answer"] == "n" else "p" for i in range(1, SHOWN + 1)]
    bad: set[str] = set()
    for _ in range(rounds):
        ratios = defaultdict(list)
        for one, two in itertools.combinations([row for row in rows if row["WorkerId"] not in bad], 2):
            if one["HITId"] == two["HITId"]:
                ratio = difflib.SequenceMatcher(None, one["said"], two["said"]).ratio()
                ratios[one["WorkerId"]].append(ratio)
                ratios[two["WorkerId"]].append(ratio)
        bad = {worker for worker, each in ratios.items() if statistics.mean(each) < minimum}
    said = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["WorkerId"] not in bad:
            for unit, answer in zip(row["Input.qIdList"].split(";"), row["said"], strict=True):
                said[row["Input.eventId"], row["Input.summaryId"]][unit].append(answer)
    return {cell: statistics.fmean(map(decided, units.values())) for cell, units in said.items()}, bad


def decided(answers: list[str]) -> float:
    counts = [five.count("p") > five.count("n") for five in itertools.combinations(answers, min(5, len(answers)))]
    return sum(counts) / len(counts)
