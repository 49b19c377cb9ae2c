"""Do two metrics differ in how they correlate with a gold? System level: Deutsch, Dror and Roth 2021, and Williams.

The permutation test swaps the two metrics' standardised scores of single summaries at random (their PERM-BOTH).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pyramidion.analysis.inputs import Floats, Grid, Measure, column_means
from pyramidion.stats.correlation import Kind, correlation, row_correlations, williams
from pyramidion.stats.intervals import blocks


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
    """Every two metrics against the same gold, on system means."""
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
