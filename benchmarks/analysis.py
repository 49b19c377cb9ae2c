"""How fast questions are answered: python benchmarks/analysis.py [--write]

Each comparison runs both sides in the same process, one after the other, checks that they agree where they compute
the same, and gives their ratio. Beside ours stands what one would write or install otherwise: nltk's alpha, the
krippendorff package, scoring every drawn sub-study again, a Python loop over resamples, scipy's test pair by pair.
Times are the best of three, or one where a run takes longer than 20 s; what would take minutes is scaled from a part,
as marked.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import krippendorff
import numpy as np
import scipy
from nltk.metrics import agreement as nltk_agreement
from scipy import stats

from pyramidion.analysis import metric_accuracy, resampling, significance
from pyramidion.analysis.correlate import correlate
from pyramidion.analysis.votes import unit_votes
from pyramidion.scoring import lite
from pyramidion.stats.alpha import alpha, alpha_interval
from pyramidion.stats.tukey import studentized_range_sf
from pyramidion.study import (
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Score,
    ScoreTable,
    Signature,
    Study,
    Summary,
    Topic,
)

TARGET = Path(__file__).parent / "results" / "analysis.md"
TOPICS, SYSTEMS, UNITS, WORKERS = 20, 22, 32, 5


def best_of(run: Callable[[], object], times: int = 3) -> float:
    found: list[float] = []
    while len(found) < times and sum(found) < 20:
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def crowd() -> Study:
    """22 systems x 20 topics x 32 units x 5 of 40 workers: the size of Shapira et al.'s DUC 2006 study."""
    rng = np.random.default_rng(7)
    truth = rng.random((TOPICS, SYSTEMS, UNITS)) < rng.uniform(0.2, 0.6, (1, SYSTEMS, 1))
    judgments = []
    for t in range(TOPICS):
        for s in range(SYSTEMS):
            for task in range(2):
                for w in rng.choice(40, WORKERS, replace=False):
                    for u in range(task * 16, task * 16 + 16):
                        value = float(truth[t, s, u] if rng.random() < 0.85 else ~truth[t, s, u])
                        unit, name = f"u{u:02}", f"t{t}-s{s}-{task}"
                        judgments.append(Judgment(f"t{t}", f"s{s}", f"w{w}", value, unit=unit, task=name))
    units = tuple(ContentUnit(f"u{u:02}", "", (Contributor("A"),)) for u in range(UNITS))
    return Study(
        topics=tuple(Topic(f"t{t}") for t in range(TOPICS)),
        summaries=tuple(Summary(f"t{t}", f"s{s}", "text") for t in range(TOPICS) for s in range(SYSTEMS)),
        pyramids=tuple(Pyramid(f"t{t}", ("A",), units, "crowd") for t in range(TOPICS)),
        judges=tuple(Judge(f"w{w}") for w in range(40)),
        judgments=Judgments(judgments),
    )


def scored_table(topics: int, systems: int) -> ScoreTable:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=systems)
    scores = [
        Score(f"t{t:03}", f"s{s:02}", measure, float(truth[s] + noise * rng.normal()))
        for measure, noise in (("gold", 1.0), ("metric", 2.0))
        for t in range(topics)
        for s in range(systems)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("benchmark"))


def _nltk_alpha(triples: list[tuple[str, int, int]]) -> float:
    return float(nltk_agreement.AnnotationTask(triples).alpha())


def alphas() -> list[tuple[str, float, str, float]]:
    rows = []
    rng = np.random.default_rng(0)
    for count in (100_000, 1_000_000):
        item = np.repeat(np.arange(count // 5), 5)
        truth = rng.integers(0, 2, count // 5)
        value = np.where(rng.random(count) < 0.2, 1 - truth[item], truth[item]).astype(np.float64)
        ours = best_of(partial(alpha, item, value))
        matrix = value.reshape(-1, 5).T
        theirs = best_of(partial(krippendorff.alpha, matrix, level_of_measurement="nominal"))
        expected = krippendorff.alpha(matrix, level_of_measurement="nominal")
        assert abs((alpha(item, value).value or 0.0) - expected) < 1e-9, "the two must agree"
        rows.append((f"alpha, {count:,} judgments", ours, "krippendorff", theirs))
        triples = [(f"j{i % 5}", int(item[i]), int(value[i])) for i in range(count)]
        nltk = best_of(partial(_nltk_alpha, triples), 1)
        rows.append((f"alpha, {count:,} judgments", ours, "nltk", nltk))
        with_interval = best_of(partial(alpha_interval, item, value, rng=rng))

        def loop(matrix: np.ndarray = matrix) -> None:
            for _ in range(5):
                drawn = matrix[:, rng.integers(0, matrix.shape[1], matrix.shape[1])]
                krippendorff.alpha(drawn, level_of_measurement="nominal")

        name = f"alpha with 1,000 resamples, {count:,} judgments"
        rows.append((name, with_interval, "krippendorff in a loop, scaled from 5", best_of(loop, 1) * 200))
    return rows


def curves() -> tuple[str, float, str, float]:
    study = crowd()
    votes = unit_votes(study)
    ours = best_of(lambda: resampling(study, repetitions=70))
    rng = np.random.default_rng(0)

    def again() -> None:
        """One draw of units, topics and workers each, scored from the judgments as a script would."""
        units = {f"u{u:02}" for u in rng.permutation(UNITS)[:16]}
        topics = {f"t{t}" for t in rng.permutation(TOPICS)[:10]}
        judges = {f"w{w}" for w in rng.permutation(40)[:24]}
        for column, names in (
            (study.judgments.unit, units),
            (study.judgments.topic, topics),
            (study.judgments.judge, judges),
        ):
            lite.score(replace(study, judgments=study.judgments.take(column.is_in(names))), min_agreement=None)

    settings = (votes.units + votes.workers + len(votes.topics)) / 3
    theirs = best_of(again) * 70 * settings
    return f"70 draws of all {int(3 * settings)} sizes of the three curves", ours, "scoring each draw again", theirs


def correlations() -> tuple[str, float, str, float]:
    table = scored_table(50, 50)
    ours = best_of(
        lambda: correlate(table, gold="gold", levels=["system"], kinds=["pearson"], resamples=1000, permutations=0)
    )
    gold, metric = (
        np.array([[table.value(f"s{s:02}", m, f"t{t:03}") for s in range(50)] for t in range(50)], dtype=np.float64)
        for m in ("gold", "metric")
    )
    rng = np.random.default_rng(0)

    def loop() -> None:
        for _ in range(2000):  # over topics, and over topics and systems
            which = rng.integers(0, 50, 50)
            stats.pearsonr(gold[which].mean(axis=0), metric[which].mean(axis=0))

    return "correlation, 50 systems x 50 topics, 2 x 1,000 resamples", ours, "loop over scipy's pearsonr", best_of(loop)


def verdicts() -> tuple[str, float, str, float]:
    table = scored_table(46, 43)
    ours = best_of(lambda: metric_accuracy(table, gold="gold"), 1)
    gaps = np.random.default_rng(0).normal(size=(903, 41))
    one = best_of(lambda: [stats.wilcoxon(row) for row in gaps], 1)
    return "metric accuracy, 43 systems, 100 x 41 of 46 topics", ours, "scipy's wilcoxon pair by pair", one * 202


def ranges() -> tuple[str, float, str, float]:
    q = np.linspace(1, 6, 1225)
    ours = best_of(lambda: studentized_range_sf(q, 50, 2000))
    some = slice(None, None, len(q) // 20)
    assert np.allclose(
        studentized_range_sf(q[some], 50, 2000), stats.studentized_range.sf(q[some], 50, 2000), atol=1e-8
    )
    theirs = best_of(lambda: stats.studentized_range.sf(q[some], 50, 2000), 1) * len(q) / len(q[some])
    return "Tukey's p-values of 50 systems (1,225 pairs)", ours, "scipy, scaled from a sample", theirs


def ladder(systems: int, topics: int) -> ScoreTable:
    """Systems whose means go from 0 to .98 in even steps, with a standard deviation of .05."""
    rng = np.random.default_rng(0)
    cells = np.linspace(0, 0.98, systems) + rng.normal(0, 0.05, (topics, systems))
    scores = [Score(f"t{t}", f"s{s}", "m", float(cells[t, s])) for t in range(topics) for s in range(systems)]
    return ScoreTable.of_summaries(scores, Signature.of("benchmark"))


def permutations() -> tuple[str, float, str, float]:
    table = ladder(100, 200)
    ours = best_of(lambda: significance(table), 1)
    row = np.random.default_rng(0).normal(0.2, 1, 200)

    def peer() -> None:
        stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=9999, vectorized=True, axis=-1)

    what = "which of 100 systems x 200 topics differ (4,950 pairs), p to 1e-60"
    return what, ours, "scipy's permutation test, p to 1e-4, scaled from one pair", best_of(peer) * 4950


def growth_in_pairs() -> list[str]:
    rows = ["| systems | topics | pairs | s | pairs that differ |", "|---:|---:|---:|---:|---:|"]
    for systems, topics in ((25, 50), (25, 200), (50, 50), (50, 200), (100, 50), (100, 200)):
        table = ladder(systems, topics)
        found = significance(table).result
        seconds = best_of(partial(significance, table), 2)
        rows.append(f"| {systems} | {topics} | {len(found.pairs):,} | {seconds:.2f} | {len(found.significant):,} |")
    return rows


def growth() -> list[str]:
    rows = ["| judgments | alpha, s | ns per judgment | with 1,000 resamples, s |", "|---:|---:|---:|---:|"]
    rng = np.random.default_rng(2)
    for count in (10_000, 100_000, 1_000_000, 4_000_000):
        item, value = rng.integers(0, count // 5, count), rng.integers(0, 2, count).astype(np.float64)
        plain = best_of(partial(alpha, item, value))
        drawn = best_of(partial(alpha_interval, item, value, rng=rng))
        rows.append(f"| {count:,} | {plain:.4f} | {plain / count * 1e9:.0f} | {drawn:.3f} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET}")
    write = parser.parse_args().write
    rows = ["| what | ours, s | beside it | s | times as long |", "|---|---:|---|---:|---:|"]
    for what, ours, beside, theirs in [*alphas(), curves(), correlations(), verdicts(), ranges(), permutations()]:
        rows.append(f"| {what} | {ours:.3f} | {beside} | {theirs:,.2f} | {theirs / ours:,.1f} |")
        print(rows[-1], flush=True)
    machine = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, 2 shared cores."
    about = (__doc__ or "").split("\n\n", 1)[1].strip()
    pairs = ["Testing every pair of systems grows with pairs times topics:", "", *growth_in_pairs()]
    text = "\n".join(
        [
            "# Analyses",
            "",
            about,
            "",
            *rows,
            "",
            "Cost grows linearly in judgments:",
            "",
            *growth(),
            "",
            *pairs,
            "",
            machine,
            "",
        ]
    )
    sys.stdout.write(text)
    if write:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
