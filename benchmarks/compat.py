"""What the released script of LitePyramids changes: python benchmarks/compat.py [--write]

Scores the same answers our way and with `compat="litepyramids-2019"`, and each of its steps alone as far as it can be
separated. `mean` and `most` are the mean and the greatest difference of a system's score, `rho` is Spearman's
correlation of the two rankings of systems, `out` is how many workers each way excludes (ours / theirs). Seconds are
those of the whole chain, the best of three, in the same run.

QAPyramid has real workers; the order of its rows stands for that of assignments. The example is the bundled one.
Campaigns are simulated, with the numbers of the paper: 2005 is 25 systems x 10 topics, 2006 is 22 x 20, each with 2
tasks of 16 units for 5 workers; "10 answers" has 10 workers for each. Of 60 workers 6 answer at random, the others
err in 5 to 20% of cases, and 1% of answers are blank. `either way` is the share of pairs of answers to one task for
which difflib's ratio depends on which of them comes first.
"""

from __future__ import annotations

import argparse
import csv
import platform
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import pyramidion as pyr
from pyramidion.stats.correlation import correlation
from pyramidion.study import Assignment, ContentUnit, Judge, Judgment, Judgments, Pyramid, Study, Summary, Task, Topic

HERE = Path(__file__).parent
TARGET = HERE / "results" / "compat.md"
REAL = HERE.parent / "tests" / "data" / "qapyramid" / "judgments.csv"
COMPAT = {"compat": "litepyramids-2019"}
STEPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all steps": ({}, COMPAT),
    "agreement alone": ({}, {"agreement": "sequence"}),
    "blanks and five answers alone": ({"min_agreement": None}, {"min_agreement": None, **COMPAT}),
    "all steps, two rounds": ({"rounds": 2}, {"rounds": 2, **COMPAT}),
    "all steps, minimum .7": ({"min_agreement": 0.7}, {"min_agreement": 0.7, **COMPAT}),
}


# -- what is scored ------------------------------------------------------------------------------------------------


def qapyramid() -> Study:
    """The questions about one predicate that the same workers answered for a system are a task, in the file's order."""
    judgments: list[Judgment] = []
    units: dict[str, dict[str, None]] = {}
    tasks: dict[str, dict[str, None]] = {}
    where: dict[str, tuple[str, str]] = {}
    with REAL.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            topic, predicate, question = (row.pop(name) for name in ("document", "predicate", "unit"))
            unit = f"{predicate}.{question}"
            units.setdefault(topic, {})[unit] = None
            for system, answers in row.items():
                task = f"{topic}/{predicate}/{system}/{answers[::2]}"
                tasks.setdefault(task, {})[unit] = None
                where[task] = topic, system
                judgments += [
                    Judgment(topic, system, worker, float(said), unit=unit, task=task)
                    for worker, said in zip(answers[::2], answers[1::2], strict=True)
                ]
    return study_of(
        {topic: list(names) for topic, names in units.items()},
        [Task(id, *where[id], tuple(shown)) for id, shown in tasks.items()],
        judgments,
    )


def example() -> Study:
    study = pyr.example()
    works = dict.fromkeys((j.task, j.judge) for j in study.judgments if j.task)
    return replace(study, assignments=tuple(Assignment(task, judge, id=f"{task}/{judge}") for task, judge in works))


def campaign(systems: int, topics: int, answers: int = 5, *, seed: int = 3) -> Study:
    rng = random.Random(seed)
    error = [0.5 if number < 6 else rng.uniform(0.05, 0.2) for number in range(60)]
    judgments: list[Judgment] = []
    tasks: list[Task] = []
    units = [f"{number}" for number in range(32)]
    for topic in range(topics):
        for system in range(systems):
            share = 0.15 + 0.5 * system / systems
            for half in (units[:16], units[16:]):
                task = Task(f"{topic}/{system}/{half[0]}", f"D{topic}", f"s{system:02}", tuple(rng.sample(half, 16)))
                tasks.append(task)
                truth = {unit: rng.random() < share for unit in half}
                for worker in rng.sample(range(60), answers):
                    for unit in task.units:
                        said = truth[unit] != (rng.random() < error[worker])
                        value = None if rng.random() < 0.01 else float(said)
                        judgments.append(
                            Judgment(task.topic, task.system, f"w{worker}", value, unit=unit, task=task.id)
                        )
    return study_of({f"D{topic}": units for topic in range(topics)}, tasks, judgments)


def study_of(units: dict[str, list[str]], tasks: list[Task], judgments: list[Judgment]) -> Study:
    works = dict.fromkeys((j.task, j.judge) for j in judgments)
    return Study(
        topics=tuple(map(Topic, units)),
        summaries=tuple(Summary(*pair, "-") for pair in dict.fromkeys((task.topic, task.system) for task in tasks)),
        pyramids=tuple(Pyramid(t, (), tuple(ContentUnit(u, u) for u in names), "crowd") for t, names in units.items()),
        judges=tuple(map(Judge, sorted({j.judge for j in judgments}))),
        judgments=Judgments(judgments),
        tasks=tuple(tasks),
        assignments=tuple(Assignment(task, judge, id=f"{n}") for n, (task, judge) in enumerate(works)),
    )


# -- what differs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    mean: float
    most: float
    rho: float | None
    out: tuple[int, int]
    seconds: tuple[float, float]


def difference(study: Study, ours: dict[str, Any], theirs: dict[str, Any]) -> Difference:
    timed = [_timed(study, choices) for choices in (ours, theirs)]
    tables = [table for _, table in timed]
    systems = sorted(set(tables[0].per_system("lite")) & set(tables[1].per_system("lite")))
    a, b = (np.array([table.value(system, "lite") for system in systems], dtype=float) for table in tables)
    out = [sum("excluded in round" in note.what for note in table.notes) for table in tables]
    apart = np.abs(a - b)
    rho = correlation(a, b, "spearman").r
    return Difference(float(apart.mean()), float(apart.max()), rho, (out[0], out[1]), (timed[0][0], timed[1][0]))


def answers_of(study: Study, *, blank: str = "p", by_column: bool = False) -> dict[str, dict[str, str]]:
    """The letters of each worker's answers, task by task, in the order shown or in that of MTurk's columns."""
    place = {(task.id, unit): n for task in study.tasks for n, unit in enumerate(task.units, 1)}
    said: dict[str, dict[str, list[tuple[Any, str]]]] = {}
    for j in study.judgments.take(study.judgments.judge.is_in(study.judges_of("crowd"))):
        at: Any = f"S{place[j.task, j.unit]}Answer" if by_column else place[j.task, j.unit]
        letter = blank if j.value is None else "np"[int(j.value)]
        said.setdefault(j.task, {}).setdefault(j.judge, []).append((at, letter))
    joined = {task: {judge: sorted(given) for judge, given in by.items()} for task, by in said.items()}
    return {task: {judge: "".join(x for _, x in given) for judge, given in by.items()} for task, by in joined.items()}


def either_way(study: Study) -> float:
    pairs = Counter(pair for by in answers_of(study).values() for pair in combinations(by.values(), 2))
    return sum(count for (a, b), count in pairs.items() if ratio(a, b) != ratio(b, a)) / pairs.total()


def agreements(answers: dict[str, dict[str, str]], *, reverse: bool = False) -> dict[str, float]:
    ratios: dict[str, list[float]] = {}
    for by in answers.values():
        for (one, a), (two, b) in combinations(by.items(), 2):
            common = ratio(b, a) if reverse else ratio(a, b)
            ratios.setdefault(one, []).append(common)
            ratios.setdefault(two, []).append(common)
    return {judge: sum(each) / len(each) for judge, each in ratios.items()}


def assumption_lines() -> Iterator[str]:
    yield "| answers | if instead | most | excluded below .5 | below .7 |"
    yield "|---|---|---:|---|---|"
    for name, study in (("example", example()), ("simulated, 2005", campaign(25, 10))):
        usual = agreements(answers_of(study))
        for what, found in {
            "the later of two answers comes first": agreements(answers_of(study), reverse=True),
            "answers are in the order of columns: S10, ..., S16, S1, S2, ...": agreements(
                answers_of(study, by_column=True)
            ),
            "a blank is unlike both answers": agreements(answers_of(study, blank="?")),
        }.items():
            most = max(abs(usual[judge] - found[judge]) for judge in usual)
            counts = (
                f"{sum(v < least for v in usual.values())} -> {sum(v < least for v in found.values())}"
                for least in (0.5, 0.7)
            )
            yield f"| {name} | {what} | {most:.4f} | {' | '.join(counts)} |"


@cache
def ratio(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b).ratio()


def _timed(study: Study, choices: dict[str, Any]) -> tuple[float, pyr.ScoreTable]:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        table = pyr.score(study, "lite", **choices)
        best = min(best, time.perf_counter() - start)
    return best, table


def lines() -> Iterator[str]:
    yield "| answers | judgments | either way | step | mean | most | rho | out | s, ours | s, theirs |"
    yield "|---|---:|---:|---|---:|---:|---:|---|---:|---:|"
    for name, study in (
        ("QAPyramid (real workers)", qapyramid()),
        ("example", example()),
        ("simulated, 2005", campaign(25, 10)),
        ("simulated, 2006", campaign(22, 20)),
        ("simulated, 2005, 10 answers", campaign(25, 10, 10)),
        ("simulated, 10^6", campaign(50, 125)),
    ):
        order = f"{either_way(study):.1%}"
        for step, (ours, theirs) in list(STEPS.items())[: 1 if name.endswith("10^6") else None]:
            found = difference(study, ours, theirs)
            rho = "-" if found.rho is None else f"{found.rho:.3f}"
            yield (
                f"| {name} | {len(study.judgments):,} | {order} | {step} | {found.mean:.4f} | {found.most:.4f} | {rho} "
                f"| {found.out[0]} / {found.out[1]} | {found.seconds[0]:.2f} | {found.seconds[1]:.2f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    text = ["# The released script of LitePyramids", "", (__doc__ or "").split("\n\n", 1)[1].strip(), ""]
    text += lines()
    text += [
        "",
        "What if an assumption about the script is wrong? `most` is the greatest change of a worker's agreement.",
        "",
    ]
    text += assumption_lines()
    made = f"Python {platform.python_version()}, numpy {np.__version__}, {platform.system()} {platform.machine()}"
    text += ["", f"{made}, 2 shared cores."]
    print("\n".join(text))
    if parser.parse_args().write:
        TARGET.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
