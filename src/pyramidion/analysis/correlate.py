"""Does a metric rank systems and summaries as the gold does?

Shapira et al. 2019, Table 1; Nenkova et al. 2007, Table VI. Three levels: system correlation of system means summary
mean over topics of the correlation over systems within a topic pooled correlation over all summaries, whatever their
topic

Intervals are percentile bootstraps over topics ("would other topics give the same?") and over systems and topics
("would other systems, too?"), as Deutsch, Dror and Roth 2021 recommend. Two metrics on the same gold are compared by
Williams' test and by a permutation test that swaps the two metrics' standardised scores of single
summaries (their PERM-BOTH).

A topic on which one side does not vary has no correlation: it is counted and left out of the mean, never treated as 0.
A metric that comes from the gold's own judgments or numbers is left out, or marked if it was asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pyramidion.analysis.answer import (
    Answer,
    Cell,
    Estimate,
    Figure,
    Intervals,
    Point,
    Scatter,
    Table,
    count,
    listed,
    p_text,
)
from pyramidion.analysis.inputs import DEPENDENT, Floats, Grid, Means, Measure, Tables, gold_and_metrics, grid, released
from pyramidion.analysis.metric_matrix import (
    Matrix,
    MetricDifference,
    at_level,
    dependent_pairs,
    matrix_figure,
    matrix_table,
    metric_differences,
)
from pyramidion.analysis.metric_matrix import matrix as matrix_of
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.stats.correlation import Kind, row_correlations, weighted_correlations
from pyramidion.stats.intervals import Interval, divided, percentile_interval, resampling_weights, weighted_means
from pyramidion.study import Signature

LEVELS = ("system", "summary", "pooled")
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, slots=True)
class Correlated:
    """One correlation of a metric with the gold. ``undefined`` counts topics without one (summary level);
    ``dependent`` says why the metric is not independent of the gold.
    """

    metric: str
    level: str
    kind: str
    r: float | None
    p: float | None
    n: int
    undefined: int
    over_topics: Interval | None
    over_both: Interval | None
    dependent: str = ""


@dataclass(frozen=True)
class Correlations:
    gold: str
    systems: int
    topics: int
    correlations: tuple[Correlated, ...]
    differences: tuple[MetricDifference, ...]
    levels: tuple[str, ...] = LEVELS
    matrices: tuple[Matrix, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.metric for c in self.correlations))

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
    matrix: bool = False,
    resamples: int = 1000,
    confidence: float = 0.95,
    permutations: int = 1000,
    seed: int = 0,
    naming: Callable[[str], str] = str,
) -> Answer[Correlations]:
    """Correlate every metric with the gold, and with ``matrix`` all measures with each other as well.

    Metrics from the gold's own judgments or numbers are left out unless ``metrics`` names them. ``means="given"`` uses
    the system means in the tables. ``naming`` says what the sentence and the figures call a measure.
    """
    for level in levels:
        check_choice("level", level, LEVELS)
    for kind in kinds:
        check_choice("correlation", kind, KINDS)
    levels, kinds = tuple(dict.fromkeys(levels)), tuple(dict.fromkeys(kinds))
    compared = gold_and_metrics(tables, gold, metrics)
    chosen, others = compared.gold, compared.metrics
    data = grid([chosen, *others], systems=systems, topics=topics, means=means)
    if len(data.systems) < 2:
        raise UsageError(f"a correlation needs at least 2 systems; the tables share only {data.systems[0]}")
    own_means = means == "shared" and not np.isnan(data.cells[chosen.name]).all()
    found = [
        _correlated(
            data,
            chosen.name,
            m.name,
            level,
            kind,
            compared.dependent.get(m.name, ""),
            own_means,
            resamples,
            confidence,
            seed,
        )
        for m in others
        for level in levels
        for kind in kinds
        if level == "system" or _by_topic(data, chosen.name, m.name)
    ]
    independent = [m for m in others if m.name not in compared.dependent] if "system" in levels else []
    differences = metric_differences(data, chosen.name, independent, kinds, own_means, permutations, seed)
    named = (chosen, *others) if matrix else ()
    matrices = tuple(
        matrix_of(data, [m.name for m in named], level, kind) for level in levels for kind in kinds if named
    )
    result = Correlations(chosen.name, len(data.systems), len(data.topics), tuple(found), differences, levels, matrices)
    signature = Signature.of(
        "correlate",
        gold=chosen.name,
        **released(*(m.table for m in (chosen, *others))),
        means=means,
        interval="percentile",
        resamples=resamples,
        seed=seed,
    )
    notes = (
        *compared.notes,
        *data.notes,
        *_bare(data, chosen.name, others, levels),
        *_too_few(data.systems),
        *_undefined(found),
        *dependent_pairs(data, [m for m in named if m.name not in compared.dependent]),
    )
    figures: list[Figure] = [_intervals(result, naming)]
    figures += [matrix_figure(each) for each in matrices]
    figures += [_scatter(data, chosen.name, m.name, naming) for m in others]
    return Answer("correlate", _sentence(result, naming), _tables(result), signature, result, tuple(figures), notes)


def _correlated(
    data: Grid,
    gold: str,
    metric: str,
    level: str,
    kind: Kind,
    dependent: str,
    own_means: bool,
    resamples: int,
    confidence: float,
    seed: int,
) -> Correlated:
    x, y = data.cells[metric], data.cells[gold]
    whole = at_level(data, metric, gold, level, kind)
    can_draw = len(data.topics) > 1 and (own_means or level != "system") and _by_topic(data, metric, gold)
    topics = both = None
    if whole.r is not None and resamples and can_draw:
        topics = interval(x, y, level, kind, False, resamples, seed, confidence)
        both = interval(x, y, level, kind, True, resamples, seed, confidence)
    return Correlated(metric, level, kind, whole.r, whole.p, whole.n, whole.undefined, topics, both, dependent)


def interval(
    x: Floats, y: Floats, level: str, kind: Kind, both: bool, resamples: int, seed: int, confidence: float = 0.95
) -> Interval | None:
    """The interval of the correlation of two tables (topics x systems): over other topics, or over other topics and
    systems."""
    rng = np.random.default_rng([seed, LEVELS.index(level), int(both)])
    return percentile_interval(_drawn(x, y, level, kind, both, resamples, rng), confidence)


def _by_topic(data: Grid, *names: str) -> bool:
    """Whether all of these measures have scores by topic."""
    return all(not np.isnan(data.cells[name]).all() for name in names)


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


# -- how people see it ---------------------------------------------------------------------------------------------


def _tables(result: Correlations) -> tuple[Table, ...]:
    rows: list[tuple[Cell, ...]] = []
    marked = any(c.dependent for c in result.correlations)
    drawn = any(c.over_topics or c.over_both for c in result.correlations)
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
                *(((topics.low, topics.high) if topics else (None, None)) if drawn else ()),
                *(((both.low, both.high) if both else (None, None)) if drawn else ()),
                c.undefined,
                *((bool(c.dependent),) if marked else ()),
            )
        )
    intervals = ["low", "high", "low, both", "high, both"] if drawn else []
    columns = ["metric", "level", "kind", "r", "p", "n", *intervals, "undefined", *(["dependent"] if marked else [])]
    note = "n: number of systems, topics or summaries used. "
    note += "low and high: interval over other topics; both: over other systems as well. " if drawn else ""
    note += "undefined: topics on which a side does not vary." + (DEPENDENT if marked else "")
    tables = [Table(f"Correlation with {result.gold}", tuple(columns), tuple(rows), note)]
    if result.differences:
        tables.append(
            Table(
                f"Do metrics differ in their correlation with {result.gold}? (system level)",
                ("metric", "other", "kind", "difference", "p, Williams", "p, permutation"),
                tuple((d.first, d.second, d.kind, d.difference, d.williams, d.permutation) for d in result.differences),
            )
        )
    return (*tables, *map(matrix_table, result.matrices))


_WHERE = {"system": "on systems", "summary": "on the summaries of a topic", "pooled": "on all summaries together"}


def _sentence(result: Correlations, naming: Callable[[str], str]) -> str:
    """The best metric that is independent of the gold, at the first requested level with a correlation."""
    gold = naming(result.gold)
    about = f"{count(result.systems, 'system')}, {count(result.topics, 'topic')}"
    defined = [c for c in result.correlations if c.r is not None]
    defined = [c for c in defined if not c.dependent] or defined
    if not defined:
        asked = "" if set(result.levels) == set(LEVELS) else f" at {' or '.join(result.levels)} level"
        return f"No metric has a defined correlation with {gold}{asked} ({about})."
    level = min((c.level for c in defined), key=result.levels.index)
    kind = next(c.kind for c in defined if c.level == level)
    same = sorted((c for c in defined if (c.level, c.kind) == (level, kind)), key=lambda c: -(c.r or 0.0))
    best = same[0]
    named = f"{kind.capitalize()} {'tau' if kind == 'kendall' else 'rho' if kind == 'spearman' else 'r'}"
    if best.dependent:
        value = f"{named} = {best.r:.3f} {_WHERE[level]}"
        return f"{naming(best.metric)} {best.dependent} ({gold}), so {value} says nothing about it."
    text = f"{naming(best.metric)} agrees best with {gold} {_WHERE[level]}: {named} = {best.r:.3f}"
    if best.over_topics:
        text += f" [{best.over_topics.low:.3f}, {best.over_topics.high:.3f}]"
    text += f" ({about})."
    rivals = [d for d in result.differences if best.metric in (d.first, d.second) and d.kind == kind]
    if rivals and level == "system":
        second = same[1].metric if len(same) > 1 else ""
        gap = next((d for d in rivals if second in (d.first, d.second)), None)
        if gap is not None and gap.permutation is not None:
            verdict = "a significant" if gap.permutation < 0.05 else "no significant"
            text += f" Next is {naming(second)}, {verdict} difference ({p_text(gap.permutation)}, permutation)."
    return text


def _bare(data: Grid, gold: str, metrics: Sequence[Measure], levels: Sequence[str]) -> list[Problem]:
    """Note measures that have only system means and so no correlation at other levels."""
    bare = [name for name in (gold, *(m.name for m in metrics)) if not _by_topic(data, name)]
    lost = [level for level in levels if level != "system"]
    if not bare or not lost:
        return []
    what = f"no scores by topic, so no correlation at {' or '.join(lost)} level"
    return [Problem(listed(bare), what, "warning")]


def _too_few(systems: Sequence[str]) -> list[Problem]:
    what = (
        "a correlation over two systems is always 1 or -1: it says only whether both sides rank them in the same order"
    )
    return [Problem(" and ".join(systems), what, "warning")] if len(systems) == 2 else []


def _undefined(found: Sequence[Correlated]) -> list[Problem]:
    notes = []
    for c in found:
        if c.r is None:
            what = (
                f"{c.kind} at {c.level} level is undefined: one side does not vary, or there are fewer than two pairs"
            )
            notes.append(Problem(c.metric, what, "warning"))
        elif c.undefined:
            what = f"{c.kind}: {count(c.undefined, 'topic')} without a correlation, left out of the mean"
            notes.append(Problem(c.metric, what, "warning"))
    for metric, group in groupby(found, key=lambda c: c.metric):
        drawn = [i for c in group for i in (c.over_topics, c.over_both) if i and i.undefined]
        if drawn:
            worst = max(drawn, key=lambda interval: interval.undefined)
            what = (
                f"one side does not vary in up to {worst.undefined} of {worst.resamples} resamples, which are left out"
            )
            notes.append(Problem(f"{metric}: intervals", what, "warning"))
    return notes


def _intervals(result: Correlations, naming: Callable[[str], str]) -> Intervals:
    level = result.correlations[0].level if result.correlations else "system"
    rows = tuple(
        Estimate(
            f"{naming(c.metric)}, {c.kind}",
            c.r,
            c.over_topics.low if c.over_topics else None,
            c.over_topics.high if c.over_topics else None,
        )
        for c in result.correlations
        if c.level == level
    )
    return Intervals(f"Correlation with {naming(result.gold)}, {level} level", "correlation", rows)


def _scatter(data: Grid, gold: str, metric: str, naming: Callable[[str], str]) -> Scatter:
    points = tuple(
        Point(system, float(x), float(y))
        for system, x, y in zip(data.systems, data.means[metric], data.means[gold], strict=True)
        if np.isfinite(x) and np.isfinite(y)
    )
    x, y = naming(metric), naming(gold)
    return Scatter(f"{x} and {y}, one point per system", x, y, points)
