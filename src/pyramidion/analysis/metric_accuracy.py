"""Would a metric have led to the same conclusions about systems as the gold? Gao, Sun and Passonneau 2019, Table 4.

For every two systems a Wilcoxon signed-rank test over topics says better, worse or no difference, once by the gold and
once by the metric. Accuracy is the share of pairs with the same verdict. Drawing subsets of the topics (the paper: 100
times 41 of 46) shows how much it depends on them; each subset has gold verdicts of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Estimate, Intervals, Table, count, listed
from pyramidion.analysis.inputs import DEPENDENT, Compared, Floats, Measure, Tables, gold_and_metrics, grid, released
from pyramidion.errors import Problem, UsageError
from pyramidion.stats.paired import verdict_rows
from pyramidion.study import Signature

SHARE = 41 / 46
"""The share of topics in a subset that the paper drew."""


@dataclass(frozen=True, slots=True)
class MetricAccuracy:
    """``low`` and ``high`` bound the mean over subsets, as the paper's intervals do; ``least`` and ``most`` bound the
    middle 95% of the subsets themselves. ``reversed`` counts pairs in which the metric prefers the other system;
    ``dependent`` says why the metric is not independent of the gold.
    """

    metric: str
    accuracy: float
    mean: float
    sd: float
    low: float
    high: float
    least: float
    most: float
    missed: int
    invented: int
    reversed: int
    dependent: str = ""


@dataclass(frozen=True)
class MetricAccuracies:
    gold: str
    pairs: int
    gold_differences: int
    topics: int
    subset: int
    metrics: tuple[MetricAccuracy, ...]

    def of(self, metric: str) -> MetricAccuracy:
        return next(m for m in self.metrics if m.metric == metric)


def metric_accuracy(
    tables: Tables,
    *,
    gold: str,
    metrics: Sequence[str] | None = None,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    samples: int = 100,
    subset: int | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> Answer[MetricAccuracies]:
    """Compare the verdicts of metrics with those of the gold. ``subset`` topics are drawn in each sample."""
    compared = gold_and_metrics(tables, gold, metrics)
    chosen, others, bare = _with_topics(compared)
    data = grid([chosen, *others], systems=systems, topics=topics)
    if len(data.systems) < 2 or len(data.topics) < 3:
        held = f"{count(len(data.systems), 'system')} and {count(len(data.topics), 'topic')}"
        raise UsageError(f"verdicts need at least 2 systems and 3 topics; the tables share {held}")
    drawn = subset or max(2, round(SHARE * len(data.topics)))
    if not 2 <= drawn <= len(data.topics):
        raise UsageError(f"a subset must have 2 to {len(data.topics)} topics, not {drawn}")
    rng = np.random.default_rng(seed)
    subsets = [rng.permutation(len(data.topics))[:drawn] for _ in range(samples)]
    expected, expected_in = _verdicts(data.cells[chosen.name], subsets, level)
    found = []
    for m in others:
        given, given_in = _verdicts(data.cells[m.name], subsets, level)
        shares = (expected_in == given_in).mean(axis=1)
        found.append(_accuracy(m.name, expected, given, shares, compared.dependent.get(m.name, "")))
    result = MetricAccuracies(
        chosen.name, len(expected), int((expected != 0).sum()), len(data.topics), drawn, tuple(found)
    )
    made = Signature.of(
        "metric-accuracy",
        gold=chosen.name,
        **released(*(m.table for m in (chosen, *others))),
        test="wilcoxon",
        level=level,
        samples=samples,
        subset=drawn,
        seed=seed,
    )
    notes = (*compared.notes, *bare, *data.notes, *_no_power(result, level))
    return Answer("metric-accuracy", _sentence(result), (_table(result),), made, result, (_figure(result),), notes)


def _with_topics(compared: Compared) -> tuple[Measure, tuple[Measure, ...], list[Problem]]:
    """Verdicts need scores by topic: the gold must have them; metrics without are left out and named."""
    bare = [m for m in (compared.gold, *compared.metrics) if not m.table.per_summary(m.measure)]
    if compared.gold in bare or len(bare) == len(compared.metrics):
        what = listed([m.name for m in bare])
        raise UsageError(f"verdicts need scores by topic; these have only system means: {what}")
    kept = tuple(m for m in compared.metrics if m not in bare)
    what = "no scores by topic, so no verdicts; left out"
    notes = [Problem(listed([m.name for m in bare]), what, "warning")] if bare else []
    return compared.gold, kept, notes


def _verdicts(
    cells: Floats, subsets: Sequence[NDArray[np.int64]], level: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The verdict on every pair over all topics, and in each subset of them."""
    first, second = np.triu_indices(cells.shape[1], 1)
    gaps = (cells[:, first] - cells[:, second]).T
    inside = [verdict_rows(gaps[:, chosen], level) for chosen in subsets]
    return verdict_rows(gaps, level), np.array(inside, dtype=np.int64).reshape(len(subsets), len(gaps))


def _accuracy(
    metric: str, gold: NDArray[np.int64], given: NDArray[np.int64], shares: Floats, dependent: str
) -> MetricAccuracy:
    mean = float(shares.mean()) if len(shares) else float("nan")
    sd = float(shares.std(ddof=1)) if len(shares) > 1 else 0.0
    error = 1.96 * sd / np.sqrt(max(len(shares), 1))
    least, most = np.quantile(shares, [0.025, 0.975]) if len(shares) else (mean, mean)
    return MetricAccuracy(
        metric,
        float((gold == given).mean()),
        mean,
        sd,
        mean - error,
        mean + error,
        float(least),
        float(most),
        int(((gold != 0) & (given == 0)).sum()),
        int(((gold == 0) & (given != 0)).sum()),
        int((gold * given == -1).sum()),
        dependent,
    )


def _no_power(result: MetricAccuracies, level: float) -> list[Problem]:
    least = 2.0 ** (1 - result.subset)
    if least < level:
        return []
    what = f"no Wilcoxon test on {result.subset} topics can give p < {level:g}, so every verdict is 'no difference'"
    return [Problem("subsets", what, "warning")]


def _sentence(result: MetricAccuracies) -> str:
    best = max(result.metrics, key=lambda m: (not m.dependent, m.accuracy))
    if not result.gold_differences:
        return (
            f"{result.gold} finds no difference in any of {count(result.pairs, 'pair')} of systems over "
            f"{count(result.topics, 'topic')}, so there are no conclusions to compare."
        )
    if best.dependent:
        return f"{best.metric} {best.dependent} ({result.gold}), so equal conclusions say nothing about it."
    equals = [m.metric for m in result.metrics if m.accuracy == best.accuracy and not m.dependent]
    over = f" ({best.mean:.1%} over subsets of {result.subset})" if len(equals) == 1 else ""
    who = f"{best.metric} draws" if len(equals) == 1 else f"{listed(equals)} each draw"
    return (
        f"{who} the same conclusion as {result.gold} on {best.accuracy:.1%} of "
        f"{count(result.pairs, 'pair')} of systems over {count(result.topics, 'topic')}"
        f"{over}; {result.gold} finds {result.gold_differences} differences."
    )


def _table(result: MetricAccuracies) -> Table:
    rows = sorted(result.metrics, key=lambda m: -m.accuracy)
    marked = any(m.dependent for m in rows)
    columns = ("metric", "all topics", "mean", "sd", "low", "high", "least", "most", "missed", "invented", "reversed")
    return Table(
        f"Same verdict as {result.gold} on pairs of systems",
        (*columns, *(("dependent",) if marked else ())),
        tuple(
            (m.metric, m.accuracy, m.mean, m.sd, m.low, m.high, m.least, m.most, m.missed, m.invented, m.reversed)
            + ((bool(m.dependent),) if marked else ())
            for m in rows
        ),
        f"mean, sd, low, high: over subsets of {result.subset} topics, low and high for their mean; least, most: the "
        "middle 95% of subsets. missed: differences that the gold finds and the metric does not; invented: the reverse."
        + (DEPENDENT if marked else ""),
    )


def _figure(result: MetricAccuracies) -> Intervals:
    rows = sorted(result.metrics, key=lambda m: -m.accuracy)
    estimates = tuple(Estimate(m.metric, m.accuracy, m.least, m.most) for m in rows)
    return Intervals(f"Same verdict as {result.gold}, all topics and subsets", "accuracy", estimates)
