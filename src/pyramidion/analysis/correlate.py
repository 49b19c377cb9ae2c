"""Does a metric rank systems and summaries as the gold does?

Shapira et al. 2019, Table 1; Nenkova et al. 2007, Table VI. Three levels:

    system    of system means
    summary   the mean over topics of the correlation over systems within a topic
    pooled    of all summaries together, whatever their topic

Intervals are percentile bootstraps over topics ("would other topics give the same?") and over systems and topics
("would other systems, too?"), as Deutsch, Dror and Roth 2021 recommend. Two metrics on the same gold are compared by
Williams' test and by a permutation test that swaps the two metrics' standardised scores of single
summaries (their PERM-BOTH).

A topic on which one side does not vary has no correlation: it is counted and left out of the mean, never taken as 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np

from pyramidion.analysis.answer import Answer, Cell, Table, count, p_text
from pyramidion.analysis.figures import Estimate, Figure, Intervals, Point, Scatter
from pyramidion.analysis.inputs import Floats, Grid, Means, Measure, Tables, column_means, gold_and_metrics, grid
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.model import Signature
from pyramidion.stats.correlation import Kind, correlation, row_correlations, weighted_correlations, williams
from pyramidion.stats.intervals import (
    Interval,
    blocks,
    divided,
    percentile_interval,
    resampling_weights,
    weighted_means,
)

LEVELS = ("system", "summary", "pooled")
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, slots=True)
class Correlated:
    """One correlation of a metric with the gold. ``undefined`` counts topics without one (summary level)."""

    metric: str
    level: str
    kind: str
    r: float | None
    p: float | None
    n: int
    undefined: int
    over_topics: Interval | None
    over_both: Interval | None


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Two metrics on one gold at system level: the difference of their correlations, and two tests of it."""

    first: str
    second: str
    kind: str
    difference: float | None
    williams: float | None
    permutation: float | None


@dataclass(frozen=True)
class Correlations:
    gold: str
    systems: int
    topics: int
    correlations: tuple[Correlated, ...]
    differences: tuple[MetricDifference, ...]

    def of(self, metric: str, level: str = "system", kind: str = "pearson") -> Correlated:
        return next(c for c in self.correlations if (c.metric, c.level, c.kind) == (metric, level, kind))


def correlate(
    tables: Tables,
    *,
    gold: str,
    metrics: Sequence[str] | None = None,
    levels: Sequence[str] = LEVELS,
    kinds: Sequence[Kind] = KINDS,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
    means: Means = "shared",
    resamples: int = 1000,
    confidence: float = 0.95,
    permutations: int = 1000,
    seed: int = 0,
) -> Answer[Correlations]:
    """Correlate every metric with the gold. ``means="given"`` takes system means as the tables give them."""
    for level in levels:
        check_choice("level", level, LEVELS)
    for kind in kinds:
        check_choice("correlation", kind, KINDS)
    chosen, others = gold_and_metrics(tables, gold, metrics)
    data = grid([chosen, *others], systems=systems, topics=topics, means=means)
    if len(data.systems) < 2:
        raise UsageError(f"a correlation needs at least 2 systems; the tables share {data.systems[0]} only")
    own_means = means == "shared" and not np.isnan(data.cells[chosen.name]).all()
    found = [
        _correlated(data, chosen.name, m.name, level, kind, own_means, resamples, confidence, seed)
        for m in others
        for level in levels
        for kind in kinds
        if level == "system" or not np.isnan(data.cells[m.name]).all()
    ]
    differences = _differences(data, chosen.name, others, kinds, own_means, permutations, seed)
    result = Correlations(chosen.name, len(data.systems), len(data.topics), tuple(found), differences)
    signature = Signature.of(
        "correlate", gold=chosen.name, means=means, interval="percentile", resamples=resamples, seed=seed
    )
    notes = (*data.notes, *_too_few(data.systems), *_undefined(found))
    figures: list[Figure] = [_intervals(result)]
    figures += [_scatter(data, chosen.name, m.name) for m in others]
    return Answer("correlate", _sentence(result), _tables(result), signature, result, tuple(figures), notes)


def _correlated(
    data: Grid,
    gold: str,
    metric: str,
    level: str,
    kind: Kind,
    own_means: bool,
    resamples: int,
    confidence: float,
    seed: int,
) -> Correlated:
    x, y = data.cells[metric], data.cells[gold]
    undefined, p, n = 0, None, 0
    if level == "summary":
        each = row_correlations(x, y, kind)
        r = float(np.nanmean(each)) if not np.isnan(each).all() else None
        undefined, n = int(np.isnan(each).sum()), int((~np.isnan(each)).sum())
    else:
        pair = (data.means[metric], data.means[gold]) if level == "system" else (x.ravel(), y.ravel())
        whole = correlation(*pair, kind)
        r, p, n = whole.r, whole.p, whole.n
    intervals: list[Interval | None] = [None, None]
    if r is not None and resamples and len(data.topics) > 1 and (own_means or level != "system"):
        for place, both in enumerate((False, True)):
            intervals[place] = interval(x, y, level, kind, both, resamples, seed, confidence)
    return Correlated(metric, level, kind, r, p, n, undefined, *intervals)


def interval(
    x: Floats, y: Floats, level: str, kind: Kind, both: bool, resamples: int, seed: int, confidence: float = 0.95
) -> Interval | None:
    """Of the correlation of two tables, topics x systems: over other topics, or other topics and systems."""
    rng = np.random.default_rng([seed, LEVELS.index(level), int(both)])
    return percentile_interval(_drawn(x, y, level, kind, both, resamples, rng), confidence)


def _drawn(
    x: Floats, y: Floats, level: str, kind: Kind, both: bool, resamples: int, rng: np.random.Generator
) -> Floats:
    """The correlation in every resample of topics, and of systems too."""
    topics, systems = x.shape
    if level == "system":
        weights = resampling_weights(rng, topics, resamples)
        a, b = weighted_means(weights, x), weighted_means(weights, y)
        if both:
            who = rng.integers(0, systems, size=a.shape)
            a, b = np.take_along_axis(a, who, axis=1), np.take_along_axis(b, who, axis=1)
        return row_correlations(a, b, kind)
    if level == "summary" and not both:
        each = row_correlations(x, y, kind)
        return weighted_means(resampling_weights(rng, topics, resamples), each[:, None])[:, 0]
    by_topic = resampling_weights(rng, topics, resamples)
    by_system = resampling_weights(rng, systems, resamples) if both else np.ones((resamples, systems))
    if level == "pooled":
        step = max(1, 4_000_000 // x.size)
        parts = [slice(start, start + step) for start in range(0, resamples, step)]
        drawn = [(by_topic[part, :, None] * by_system[part, None, :]).reshape(-1, x.size) for part in parts]
        return np.concatenate([weighted_correlations(x.ravel(), y.ravel(), weights, kind) for weights in drawn])
    each = np.stack([weighted_correlations(a, b, by_system, kind) for a, b in zip(x, y, strict=True)], axis=1)
    defined = ~np.isnan(each)
    total, number = (by_topic * np.where(defined, each, 0.0)).sum(axis=1), (by_topic * defined).sum(axis=1)
    return divided(total, number)


def _differences(
    data: Grid,
    gold: str,
    metrics: Sequence[Measure],
    kinds: Sequence[Kind],
    own_means: bool,
    permutations: int,
    seed: int,
) -> tuple[MetricDifference, ...]:
    found = []
    for first, second in combinations([m.name for m in metrics], 2):
        exact = williams(data.means[first], data.means[second], data.means[gold])
        for kind in kinds:
            a, b = (correlation(data.means[m], data.means[gold], kind).r for m in (first, second))
            gap = None if a is None or b is None else a - b
            p = None
            if gap is not None and permutations:
                rng = np.random.default_rng([seed, 9])
                p = _swapped(data, gold, first, second, kind, own_means, permutations, rng)
            t = exact.p if kind == "pearson" else None
            found.append(MetricDifference(first, second, kind, gap, t, p))
    return tuple(found)


def _swapped(
    data: Grid,
    gold: str,
    first: str,
    second: str,
    kind: Kind,
    own_means: bool,
    permutations: int,
    rng: np.random.Generator,
) -> float:
    """Swap the two metrics' standardised scores at random: how often is the difference at least as large?"""
    cells = {m: data.cells[m] if own_means else data.means[m][None, :] for m in (first, second)}
    a, b = (_standardised(cells[m]) for m in (first, second))
    target = data.means[gold]

    def gap(one: Floats, other: Floats) -> Floats:
        return np.asarray(row_correlations(one, target, kind) - row_correlations(other, target, kind))

    observed = abs(float(gap(column_means(a), column_means(b))))
    extreme = 0
    for many in blocks(permutations, max(1, 4_000_000 // a.size)):
        swap = rng.random((many, *a.shape)) < 0.5
        drawn = gap(column_means(np.where(swap, b, a)), column_means(np.where(swap, a, b)))
        extreme += int((np.abs(np.nan_to_num(drawn)) >= observed - 1e-12).sum())
    return (extreme + 1) / (permutations + 1)


def _standardised(cells: Floats) -> Floats:
    spread = np.nanstd(cells)
    return np.asarray((cells - np.nanmean(cells)) / (spread if spread > 0 else 1.0))


# -- how people see it ---------------------------------------------------------------------------------------------


def _tables(result: Correlations) -> tuple[Table, ...]:
    rows: list[tuple[Cell, ...]] = []
    for c in result.correlations:
        topics, both = c.over_topics, c.over_both
        rows.append(
            (
                c.metric,
                c.level,
                c.kind,
                c.r,
                c.p,
                c.n,
                *((topics.low, topics.high) if topics else (None, None)),
                *((both.low, both.high) if both else (None, None)),
                c.undefined,
            )
        )
    columns = ("metric", "level", "kind", "r", "p", "n", "low", "high", "low, both", "high, both", "undefined")
    note = (
        "n: systems, topics or summaries that count. low and high: interval over other topics; both: over other "
        "systems as well. undefined: topics on which a side does not vary."
    )
    tables = [Table(f"Correlation with {result.gold}", columns, tuple(rows), note)]
    if result.differences:
        tables.append(
            Table(
                f"Do metrics differ in their correlation with {result.gold}? (system level)",
                ("metric", "other", "kind", "difference", "p, Williams", "p, permutation"),
                tuple((d.first, d.second, d.kind, d.difference, d.williams, d.permutation) for d in result.differences),
            )
        )
    return tuple(tables)


def _sentence(result: Correlations) -> str:
    at_system = [c for c in result.correlations if c.level == "system" and c.r is not None]
    about = f"{count(result.systems, 'system')}, {count(result.topics, 'topic')}"
    if not at_system:
        return f"No metric has a defined correlation with {result.gold} ({about})."
    kind = at_system[0].kind
    same = sorted((c for c in at_system if c.kind == kind), key=lambda c: -(c.r or 0.0))
    best = same[0]
    named = f"{kind.capitalize()} {'tau' if kind == 'kendall' else 'rho' if kind == 'spearman' else 'r'}"
    text = f"{best.metric} agrees best with {result.gold} on systems: {named} = {best.r:.3f}"
    if best.over_topics:
        text += f" [{best.over_topics.low:.3f}, {best.over_topics.high:.3f}]"
    text += f" ({about})."
    rivals = [d for d in result.differences if best.metric in (d.first, d.second) and d.kind == kind]
    if rivals:
        second = same[1].metric if len(same) > 1 else ""
        gap = next((d for d in rivals if second in (d.first, d.second)), None)
        if gap is not None and gap.permutation is not None:
            verdict = "a significant" if gap.permutation < 0.05 else "no significant"
            text += f" Next is {second}, {verdict} difference ({p_text(gap.permutation)}, permutation)."
    return text


def _too_few(systems: Sequence[str]) -> list[Problem]:
    what = "a correlation over two systems is 1 or -1 and says only whether both put them in the same order"
    return [Problem(" and ".join(systems), what, "warning")] if len(systems) == 2 else []


def _undefined(found: Sequence[Correlated]) -> list[Problem]:
    notes = []
    for c in found:
        if c.r is None:
            what = f"{c.kind} at {c.level} level is undefined: one side does not vary, or fewer than two pairs count"
            notes.append(Problem(c.metric, what, "warning"))
        elif c.undefined:
            what = f"{c.kind}: {count(c.undefined, 'topic')} without a correlation left out of the mean"
            notes.append(Problem(c.metric, what, "warning"))
    for metric, group in groupby(found, key=lambda c: c.metric):
        drawn = [i for c in group for i in (c.over_topics, c.over_both) if i and i.undefined]
        if drawn:
            worst = max(drawn, key=lambda interval: interval.undefined)
            what = f"in up to {worst.undefined} of {worst.resamples} resamples a side does not vary; they are left out"
            notes.append(Problem(f"{metric}: intervals", what, "warning"))
    return notes


def _intervals(result: Correlations) -> Intervals:
    level = result.correlations[0].level if result.correlations else "system"
    rows = tuple(
        Estimate(
            f"{c.metric}, {c.kind}",
            c.r,
            c.over_topics.low if c.over_topics else None,
            c.over_topics.high if c.over_topics else None,
        )
        for c in result.correlations
        if c.level == level
    )
    return Intervals(f"Correlation with {result.gold}, {level} level", "correlation", rows)


def _scatter(data: Grid, gold: str, metric: str) -> Scatter:
    points = tuple(
        Point(system, float(x), float(y))
        for system, x, y in zip(data.systems, data.means[metric], data.means[gold], strict=True)
        if np.isfinite(x) and np.isfinite(y)
    )
    return Scatter(f"{metric} and {gold}, one point a system", metric, gold, points)
