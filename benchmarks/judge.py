"""How good, how fast and how useful the presence judge is: python benchmarks/judge.py [--write] [--data FOLDER]

FOLDER holds PyrXSum in the Lite2-3Pyramid layout; without it, accuracy comes from the model's own card alone, and the
crowds work on the bundled example. Speed is measured on made-up texts, the best of several runs, beside a pass of the
same encoder over each pair, in the same run.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata

import pyramidion as pyr
from pyramidion.analysis.calibrate import WorkerCheck, check_workers
from pyramidion.campaigns.simulated_workers import answer, crowd
from pyramidion.encoder.minilm import Encoded, Encoder
from pyramidion.encoder.words import Bag, bags
from pyramidion.jobs import judged_topics
from pyramidion.judges import Questions, lexical, make_judge, questions
from pyramidion.judges.accuracy import model_card
from pyramidion.judges.presence import JudgedUnits
from pyramidion.judging import judge_study
from pyramidion.study import Judge, Judgment, Judgments, Study

TARGET = Path(__file__).parent / "results" / "judge.md"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "pyrxsum"
Truth = dict[tuple[str, str, str], float]
Doubles = NDArray[np.float64]


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best_of(times: int, run: Callable[[], object]) -> float:
    return min(timed(run) for _ in range(times))


# -- how fast ------------------------------------------------------------------------------------------------

WORDS = (
    "river police mayor budget storm school court company price union bridge water vote strike fire island plant rose "
    "fell closed opened said argued banned raised killed moved promised denied the a in on of after before without"
)


def texts(count: int, sentences: int, rng: np.random.Generator, length: int = 14) -> list[str]:
    """Made-up sentences: their meaning does not matter for how long they take."""
    made = []
    for _ in range(count):
        parts = [rng.choice(WORDS.split(), length).tolist() for _ in range(sentences)]
        made.append(" ".join(" ".join(words).capitalize() + f" {rng.integers(10_000)}." for words in parts))
    return made


def _encode(texts: list[str]) -> list[Bag]:
    return list(bags(texts, Encoder()))


def _encode_whole(texts: list[str]) -> list[Encoded]:
    return list(Encoder().encode(texts))


def _judge(units: list[Bag], summaries: list[Bag]) -> object:
    return JudgedUnits(units, summaries).probability()


def speed(rng: np.random.Generator) -> list[str]:
    encoder = Encoder()
    list(encoder.encode(["warm up"]))
    lines = []
    for units, summaries in ((20, 10), (20, 50), (20, 200), (100, 50), (400, 50)):
        asked, peers = texts(units, 1, rng, length=8), texts(summaries, 4, rng)
        sentences = units + 4 * summaries
        pairs = units * summaries
        picked = rng.choice(pairs, min(pairs, 100), replace=False).tolist()
        sample = [f"{peers[pair % summaries]} {asked[pair // summaries]}" for pair in picked]
        encoding = each = np.inf
        for _ in range(3):  # in turns, so that a busy moment of the machine meets both
            encoding = min(encoding, timed(partial(_encode, [*asked, *peers])))
            each = min(each, timed(partial(_encode_whole, sample)) / len(sample))
        found = list(bags([*asked, *peers], encoder))
        first, second = found[:units], found[units:]
        judged = best_of(50, partial(_judge, first, second))
        lines.append(
            f"| {units} | {summaries} | {pairs:,} | {sentences} | {encoding:.2f} | {sentences / encoding:.0f} | "
            f"{judged:.4f} | {pairs / judged:,.0f} | {each * pairs:.1f} | {each * pairs / (encoding + judged):.0f} |"
        )
    return lines


def large(rng: np.random.Generator) -> list[str]:
    """Through the public function, encoding and all."""
    import tracemalloc

    lines = []
    for what, units, peers in (
        ("20,000 units, 3 summaries", texts(20_000, 1, rng, length=4), texts(3, 4, rng)),
        ("50 units, a summary of 10,000 words", texts(50, 1, rng, length=8), texts(1, 660, rng)),
    ):
        pyr.judge(["A unit."], ["A summary."])  # loads the encoder
        tracemalloc.start()
        start = time.perf_counter()
        pyr.judge(units, peers)
        took = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        lines.append(f"| {what} | {took:.1f} | {peak:.0f} |")
    return lines


# -- how good ------------------------------------------------------------------------------------------------


def auc(score: Doubles, bad: NDArray[np.bool_]) -> float:
    ones = int(bad.sum())
    return float((rankdata(score)[bad].sum() - ones * (ones + 1) / 2) / (ones * (len(bad) - ones)))


def truth_of(study: Study) -> Truth:
    return {(j.topic, j.system, j.unit): float(min(j.value, 1.0)) for j in study.judgments if j.value is not None}


def accuracy(study: Study) -> list[str]:
    topics = judged_topics(study, "expert")
    asked = list(questions(topics))
    truth = truth_of(study)
    people = [
        np.array([[truth[pyramid.topic, system, unit.id] for system in peers] for unit in pyramid.sampled])
        for pyramid, peers, _ in topics
    ]
    lines = []
    for name in ("align", "lexical"):
        judge = make_judge(name)
        found = [verdicts.probability for verdicts in judge.judge(asked)]
        lines.append(_quality(f"`{name}` as shipped", found, people, judge.threshold))
    return [*lines, _quality("`lexical`, five folds", _held_out(asked, people), people, lexical.THRESHOLD)]


def _quality(name: str, found: list[Doubles], people: list[Doubles], threshold: float) -> str:
    ours, theirs = (np.array([each.mean(0) for each in matrices]) for matrices in (found, people))
    levels = [pearsonr(a, b)[0] for a, b in zip(ours, theirs, strict=True) if a.std() and b.std()]
    p, y = (np.concatenate([each.ravel() for each in matrices]) for matrices in (found, people))
    right = float(((p >= threshold) == (y > 0.5)).mean())
    return (
        f"| {name} | {pearsonr(ours.mean(0), theirs.mean(0))[0]:.3f} | {np.mean(levels):.3f} | "
        f"{auc(p, y > 0.5):.3f} | {right:.3f} | {p.mean():.3f} | {y.mean():.3f} |"
    )


def _held_out(asked: list[Questions], people: list[Doubles], folds: int = 5) -> list[Doubles]:
    """The two numbers of `lexical` fitted anew on the other folds' documents."""
    stems = lexical.Stems.of
    shares = [lexical.shares([stems(u) for u in q.units], [stems(s) for s in q.summaries]) for q in asked]
    order = np.random.default_rng(0).permutation(len(asked))
    found = list(shares)
    for fold in range(folds):
        held = set(order[fold::folds].tolist())
        x, y = (
            np.concatenate([each.ravel() for i, each in enumerate(matrices) if i not in held])
            for matrices in (shares, people)
        )

        def loss(numbers: Doubles, x: Doubles = x, y: Doubles = y) -> float:
            odds = numbers[0] * x + numbers[1]
            return float(np.mean(np.logaddexp(0, odds) - y * odds))

        slope, constant = minimize(loss, np.array([lexical.SLOPE, lexical.CONSTANT])).x
        for i in held:
            found[i] = 1 / (1 + np.exp(-(slope * shares[i] + constant)))
    return found


def card_lines() -> list[str]:
    card = model_card()["held_out"]
    names = ("system", "summary", "auc", "calibration_error", "mean", "mean_of_people")
    lines = [
        "| | system Pearson | summary Pearson | AUC | calibration error | mean | mean of people |",
        "|---" + "|---:" * 6 + "|",
    ]
    for kind, what in (("read", "with references"), ("alone", "without")):
        for collection, row in card[kind].items():
            lines.append(f"| {collection}, {what} | " + " | ".join(f"{row[name]:.3f}" for name in names) + " |")
    lines += ["", "| units with | judgments | AUC | accuracy |", "|---|---:|---:|---:|"]
    for kind, row in card["by_kind_of_unit"].items():
        lines.append(f"| {kind} | {row['judgments']:,} | {row['auc']:.3f} | {row['accuracy']:.3f} |")
    return lines


# -- how useful ----------------------------------------------------------------------------------------------


class SimulatedCrowd(NamedTuple):
    """Who is careless, and the study with everybody's judgments beside the model's."""

    careless: dict[str, bool]
    study: Study


def simulated(
    study: Study, truth: Truth, pyramid: str, people: int, each: int, rng: np.random.Generator
) -> SimulatedCrowd:
    """Every worker does some tasks, a summary with all its units; ``each`` workers share a task."""
    workers = crowd(people, rng)
    tasks = [(held, system, text) for held, peers, _ in judged_topics(study, pyramid) for system, text in peers.items()]
    chosen = rng.permutation(len(tasks))[: max(1, people * TASKS_A_WORKER // each)]
    judgments = [j for j in study.judgments if j.judge == "align"]
    for number, place in enumerate(chosen.tolist()):
        held, system, text = tasks[place]
        units = [{"id": unit.id, "label": unit.label} for unit in held.sampled]
        page = {"kind": "judge", "summary": text, "units": units}
        known = ((unit.id, (held.topic, system, unit.id)) for unit in held.sampled)
        right = {unit: truth[key] for unit, key in known if key in truth}
        for turn in range(each):
            worker = workers[(number * each + turn) % people]
            said = answer(worker, page, right, rng)["units"]
            judgments += [Judgment(held.topic, system, worker.name, float(v), unit=u) for u, v in said.items()]
    who = tuple(Judge(worker.name) for worker in workers)
    bad = {worker.name: worker.accuracy < 0.8 for worker in workers}
    return SimulatedCrowd(bad, replace(study, judges=(*who, Judge("align", "model")), judgments=Judgments(judgments)))


TASKS_A_WORKER, PEOPLE, FEW, CROWDS = 10, 40, 12, 40


def detection(study: Study, truth: Truth, pyramid: str, people: int) -> list[str]:
    lines = []
    judged = judge_study(study, pyramid=pyramid, evidence=False).study
    for each in (1, 2, 3, 5):
        rng = np.random.default_rng(each)
        found = [_areas(simulated(judged, truth, pyramid, people, each, rng), pyramid) for _ in range(CROWDS)]
        shown = [f"{np.mean(column):.3f}" if None not in column else "-" for column in zip(*found, strict=True)]
        lines.append(f"| {each} | " + " | ".join(shown) + " |")
    return lines


def _areas(crowd: SimulatedCrowd, pyramid: str) -> tuple[float | None, float, float]:
    checks = [check for check in check_workers(crowd.study, "align", pyramid=pyramid) if check.excess is not None]
    careless = np.array([crowd.careless[check.worker] for check in checks])
    excess = np.array([check.excess for check in checks], float)
    if any(check.agreement is None for check in checks):
        return None, auc(excess, careless), auc(excess, careless)
    apart = _apart(checks)
    return auc(apart, careless), auc(excess, careless), auc(apart / apart.std() + excess / excess.std(), careless)


def _apart(checks: list[WorkerCheck]) -> Doubles:
    return np.array([1 - (check.agreement or 0.0) for check in checks])


def main() -> None:
    os.environ["PYRAMIDION_ENCODINGS_MB"] = "0"  # encodings.py measures what keeping them saves
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    real = pyr.load(options.data) if options.data.is_dir() else None
    example = pyr.example()
    sections = [
        "# The presence judge\n",
        "## How good\n",
        "`align` on documents that neither the encoder nor the answer was fitted on: five folds by document "
        "(`models/train_judge.py`).\n",
        *card_lines(),
    ]
    if real is not None:
        sections += ["", REAL, *accuracy(real)]
    sections += ["", SPEED, *speed(np.random.default_rng(1)), "", LARGE, *large(np.random.default_rng(2))]
    sections += ["", CARELESS]
    if real is not None:
        sections += [HELD, HEAD, *detection(real, truth_of(real), "expert", PEOPLE), ""]
    sections += [OWN, HEAD]
    sections += [*detection(example, _majority(example), "crowd", FEW), ""]
    machine = f"{platform.system()} {platform.machine()}, 2 shared cores"
    sections.append(f"Python {platform.python_version()}, numpy {np.__version__}, {machine}.")
    page = "\n".join(sections) + "\n"
    sys.stdout.write(page)
    if options.write:
        TARGET.write_text(page, "utf-8")


def _majority(study: Study) -> Truth:
    from pyramidion.scoring.aggregate import majority
    from pyramidion.scoring.choice import choose
    from pyramidion.scoring.screening import screen

    kept = screen(choose(study, kind="crowd", pyramid="crowd", judges="crowd").on_units).kept
    return {(j.topic, j.system, j.unit): float(j.value) for j in majority(kept) if j.value is not None}


REAL = """On all of PyrXSum, which the shipped model was **trained on**, so that its row is too good; and `lexical`
fitted on the other folds.

| judge | system Pearson | summary Pearson | AUC | accuracy | mean | mean of people |
|---|---:|---:|---:|---:|---:|---:|"""
SPEED = """## How fast

Summaries of four sentences. Encoding is the cost, and grows with distinct sentences; judging is what is left. Beside
it, the same encoder over unit and summary together, once for each pair, as a cross-encoder of its size would run:
measured on 100 pairs and scaled. The ratio compares that to encoding and judging together. Encoding and pairs are the
best of three in turns, judging the best of 50. On a machine shared with other work, all of them move severalfold
between runs: take them for orders of magnitude.

| units | summaries | pairs | sentences | encoding, s | sentences/s | judging, s | judgments/s | each pair, s | ratio |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""
LARGE = """## Large input

`pyr.judge`, encoding and all; memory is the peak above the texts themselves.

| what | s | MB |
|---|---:|---:|"""
CARELESS = f"""## Finding careless workers

{CROWDS} simulated crowds, a fifth careless, one in twenty adversarial. The area under the ROC curve of three ways to
tell them from the careful: disagreement with the other workers (the agreement filter of Lightweight Pyramids),
excess distance from `align`, and both together.
"""
HELD = f"""PyrXSum, which the judge was trained on, so that its columns are too good: {PEOPLE}
workers with {TASKS_A_WORKER} tasks each.
"""
OWN = f"""The bundled example, which nothing was fitted on: {FEW} workers share 24 tasks, so that
each does {24 // FEW} at one worker a task.
"""
HEAD = "| workers a task | agreement | distance from `align` | both |\n|---:|---:|---:|---:|"

if __name__ == "__main__":
    main()
