"""Measures against measures at system, summary or pooled level: Nenkova et al. 2007, Table VI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pyramidion.analysis.answer import Heatmap, Table, count, listed
from pyramidion.analysis.inputs import Grid, Measure, by_numbers, by_signature
from pyramidion.errors import Problem
from pyramidion.stats.correlation import Kind, correlation, row_correlations

FOLD = 5
"""So many columns of numbers, besides the measures, fit a terminal of 80 columns."""


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
    """All measures with each other; a measure without scores by topic has no correlation at the other levels."""
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
    return Table(title, columns, rows, heads=("measure", "no.", *numbers), naming=2, fold=FOLD)


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
        what = f"{count(len(pairs), 'pair')} of one set of judgments or numbers, so no agreement: {listed(pairs, 3)}"
        yield Problem("matrix", what, "warning")
