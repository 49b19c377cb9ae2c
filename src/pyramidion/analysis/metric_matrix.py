"""Measures against measures: their correlations at system, summary or pooled level (Nenkova et al. 2007, Table VI), and
whether two metrics differ in how they correlate with a gold (system level: Deutsch, Dror and Roth 2021, and Williams).

The permutation test swaps the two metrics' standardised scores of single summaries at random (their PERM-BOTH).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pyramidion.analysis.answer import Heatmap, Table, count, listed
from pyramidion.analysis.inputs import Floats, Grid, Measure, by_numbers, by_signature, column_means
from pyramidion.errors import Problem
from pyramidion.stats.correlation import Kind, correlation, row_correlations, williams
from pyramidion.stats.intervals import blocks


@dataclass(frozen=True, slots=True)
class AtLevel:
    """A correlation of two measures. ``undefined`` counts topics without one (summary level)."""

    r: float | None
    p: float | None
    n: int
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """``values[i][j]`` is the correlation of measures i and j; None on the diagonal and where it is undefined."""

    level: str
    kind: str
    measures: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]

    def of(self, first: str, second: str) -> float | None:
        return self.values[self.measures.index(first)][self.measures.index(second)]


def at_level(data: Grid, first: str, second: str, level: str, kind: Kind) -> AtLevel:
    """Two measures on the same systems and topics."""
    x, y = data.cells[first], data.cells[second]
    if level == "summary":
        each = row_correlations(x, y, kind)
        defined = ~np.isnan(each)
        r = float(np.nanmean(each)) if defined.any() else None
        return AtLevel(r, None, int(defined.sum()), int((~defined).sum()))
    pair = (data.means[first], data.means[second]) if level == "system" else (x.ravel(), y.ravel())
    whole = correlation(*pair, kind)
    return AtLevel(whole.r, whole.p, whole.n)


def matrix(data: Grid, names: Sequence[str], level: str, kind: Kind) -> Matrix:
    """Correlate all measures with each other; a measure without scores by topic has only system-level correlations."""
    found: dict[tuple[str, str], float | None] = {}
    for pair in combinations(names, 2):
        lacking = level != "system" and any(np.isnan(data.cells[name]).all() for name in pair)
        found[pair] = None if lacking else at_level(data, *pair, level, kind).r
    values = tuple(tuple(found.get((a, b), found.get((b, a))) for b in names) for a in names)
    return Matrix(level, kind, tuple(names), values)


def matrix_table(found: Matrix) -> Table:
    numbers = tuple(str(number) for number in range(1, len(found.measures) + 1))
    rows = tuple(
        (name, number, *row) for number, (name, row) in enumerate(zip(found.measures, found.values, strict=True), 1)
    )
    title = f"Measures with each other ({found.kind}, {found.level} level)"
    columns = ("measure", "no.", *found.measures)
    return Table(title, columns, rows, heads=("measure", "no.", *numbers), naming=2)


def matrix_figure(found: Matrix) -> Heatmap:
    known = [value for row in found.values for value in row if value is not None]
    title = f"Measures with each other, {found.level} level"
    return Heatmap(title, found.kind, found.measures, found.measures, found.values, min([0.0, *known]), 1.0)


def dependent_pairs(data: Grid, measures: Sequence[Measure]) -> Iterator[Problem]:
    """One note on all pairs in a matrix that come from the same judgments or numbers."""
    numbers = {m.name: data.cells[m.name].ravel() if data.topics else data.means[m.name] for m in measures}
    pairs = [
        f"{a.name} with {b.name}"
        for a, b in combinations(measures, 2)
        if by_signature(a.table, a.measure, b.table, b.measure) or by_numbers(numbers[a.name], numbers[b.name])
    ]
    if pairs:
        what = (
            f"{count(len(pairs), 'pair')} from the same judgments or numbers, so their correlation is not "
            f"agreement: {listed(pairs, 3)}"
        )
        yield Problem("matrix", what, "warning")


# -- do two metrics differ in how they correlate with a gold? -------------------------------------------------


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Two metrics on one gold at system level: the difference of their correlations, and two tests of it."""

    first: str
    second: str
    kind: str
    difference: float | None
    williams: float | None
    permutation: float | None


def metric_differences(
    data: Grid,
    gold: str,
    metrics: Sequence[Measure],
    kinds: Sequence[Kind],
    own_means: bool,
    permutations: int,
    seed: int,
) -> tuple[MetricDifference, ...]:
    """Compare every pair of metrics against the same gold, on system means."""
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
