"""Correlation of two lists of numbers, or of many at once, and tests of the difference of two correlations.

If one of the lists does not vary, the correlation is undefined: None or NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from pyramidion.stats.intervals import divided

Kind = Literal["pearson", "spearman", "kendall"]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Correlation:
    """``r`` and ``p`` are None where the correlation is undefined: a constant list, or fewer than two pairs."""

    kind: str
    r: float | None
    p: float | None
    n: int


def correlation(x: ArrayLike, y: ArrayLike, kind: Kind = "pearson") -> Correlation:
    """Pearson's r, Spearman's rho or Kendall's tau-b of the pairs in which neither number is missing (NaN)."""
    measure: Any = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"the lists have different lengths: {len(a)} and {len(b)}")
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(kind, None, None, len(a))
    result = measure(a, b)
    r, p = (float(x) if np.isfinite(x) else None for x in (result.statistic, result.pvalue))
    return Correlation(kind, r, p, len(a))


def row_correlations(x: ArrayLike, y: ArrayLike, kind: Kind = "pearson") -> Floats:
    """The correlation of each row of ``x`` with the same row of ``y``; NaN where it is undefined.

    Pairs with a missing number (NaN) do not count. One call handles thousands of resamples.
    """
    a, b = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    both = ~(np.isnan(a) | np.isnan(b))
    if kind == "kendall":
        return _kendall_rows(a, b, both)
    if kind == "spearman":
        a, b = _ranked(a, both), _ranked(b, both)
    return _pearson_rows(a, b, both)


def _pearson_rows(a: Floats, b: Floats, both: Mask) -> Floats:
    count = both.sum(axis=-1)
    safe = np.maximum(count, 1)[..., None]
    a, b = np.where(both, a, 0.0), np.where(both, b, 0.0)
    scale = np.abs(a).max(axis=-1, initial=0.0) * np.abs(b).max(axis=-1, initial=0.0)
    a = np.where(both, a - a.sum(axis=-1, keepdims=True) / safe, 0.0)
    b = np.where(both, b - b.sum(axis=-1, keepdims=True) / safe, 0.0)
    spread = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    # A constant row has a spread of rounding errors only.
    defined = (count > 1) & (spread > 1e-13 * scale * np.maximum(count, 1))
    r = divided((a * b).sum(axis=-1), np.where(defined, spread, 0.0))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _ranked(values: Floats, both: Mask) -> Floats:
    """Middle ranks; pairs that do not count go to the end, where they change no rank."""
    return np.asarray(stats.rankdata(np.where(both, values, np.inf), axis=-1), dtype=np.float64)


def _kendall_rows(a: Floats, b: Floats, both: Mask) -> Floats:
    """Tau-b by comparing every two columns, in blocks of rows that fit into memory."""
    shape, columns = a.shape[:-1], a.shape[-1]
    a, b, both = a.reshape(-1, columns), b.reshape(-1, columns), both.reshape(-1, columns)
    found = np.full(len(a), np.nan)
    first, second = np.triu_indices(columns, 1)
    step = max(1, 4_000_000 // max(len(first), 1))
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        counted = both[rows][:, first] & both[rows][:, second]
        with np.errstate(invalid="ignore"):
            x = np.where(counted, np.sign(a[rows][:, first] - a[rows][:, second]), 0.0)
            y = np.where(counted, np.sign(b[rows][:, first] - b[rows][:, second]), 0.0)
        untied = np.sqrt((x != 0).sum(axis=1) * (y != 0).sum(axis=1).astype(np.float64))
        found[rows] = divided((x * y).sum(axis=1), untied)
    return found.reshape(shape)


def weighted_correlations(x: ArrayLike, y: ArrayLike, weights: ArrayLike, kind: Kind = "pearson") -> Floats:
    """The correlation of ``x`` and ``y`` for each row of weights: how often each pair was drawn in a resample.

    The same as repeating pairs, but a resample of a thousand pairs costs a product of matrices, not a new ranking.
    """
    a, b, w = (np.asarray(part, dtype=np.float64) for part in (x, y, weights))
    both = ~(np.isnan(a) | np.isnan(b))
    a, b, w = a[both], b[both], w[:, both]
    if kind == "kendall":
        return _weighted_kendall(a, b, w)
    if kind == "spearman":
        return _weighted_pearson(_weighted_ranks(a, w), _weighted_ranks(b, w), w)
    return _weighted_pearson(a - a.mean() if len(a) else a, b - b.mean() if len(b) else b, w)


def _weighted_pearson(a: Floats, b: Floats, w: Floats) -> Floats:
    a, b = np.broadcast_to(a, w.shape), np.broadcast_to(b, w.shape)
    total = np.maximum(w.sum(axis=1, keepdims=True), 1.0)
    scale = np.abs(a).max(axis=1, initial=0.0) * np.abs(b).max(axis=1, initial=0.0) * total[:, 0]
    a, b = a - (w * a).sum(axis=1, keepdims=True) / total, b - (w * b).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((w * a**2).sum(axis=1) * (w * b**2).sum(axis=1))
    r = divided((w * a * b).sum(axis=1), np.where(spread > 1e-13 * scale, spread, 0.0))
    return np.asarray(np.clip(r, -1.0, 1.0))


def _weighted_ranks(values: Floats, w: Floats) -> Floats:
    """Middle ranks in each resample: what is below, and half of what is equal."""
    _, level = np.unique(values, return_inverse=True)
    mass = w @ np.eye(int(level.max(initial=-1)) + 1)[level]
    return np.asarray((np.cumsum(mass, axis=1) - mass / 2)[:, level])


def _weighted_kendall(a: Floats, b: Floats, w: Floats) -> Floats:
    x, y = np.sign(a[:, None] - a[None, :]), np.sign(b[:, None] - b[None, :])
    agreed, moved, other = (((w @ part) * w).sum(axis=1) for part in (x * y, np.abs(x), np.abs(y)))
    return divided(agreed, np.sqrt(moved * other))


MOST_COMPARED = 10_000
"""Kendall's tau is not resampled for more items, because it compares every pair."""


def clustered_correlations(
    x: ArrayLike, y: ArrayLike, cluster: NDArray[np.int64], weights: Floats, kind: Kind = "pearson"
) -> Floats:
    """The correlation of items for each row of weights of the clusters they belong to: all summaries of a system.

    The same as ``weighted_correlations`` with the weight of its cluster for every item, but a resample costs as much as
    there are clusters, not items. NaN for Kendall's tau of more than ``MOST_COMPARED`` items.
    """
    a, b = (np.asarray(part, dtype=np.float64) for part in (x, y))
    if kind == "pearson":
        return _clustered_pearson(a, b, cluster, weights)
    if kind == "kendall":
        return _clustered_kendall(a, b, cluster, weights)
    found = np.full(len(weights), np.nan)
    step = max(1, 2_000_000 // max(len(a), 1))
    for start in range(0, len(weights), step):
        w = weights[start : start + step]
        first, second = (_clustered_ranks(part, cluster, w) for part in (a, b))
        found[start : start + step] = _weighted_pearson(first, second, w[:, cluster])
    return found


def _clustered_pearson(a: Floats, b: Floats, cluster: NDArray[np.int64], weights: Floats) -> Floats:
    if not len(a):
        return np.full(len(weights), np.nan)
    a, b = a - a.mean(), b - b.mean()
    size = weights.shape[1]
    parts = (np.ones(len(a)), a, b, a * a, b * b, a * b)
    n, sa, sb, saa, sbb, sab = (weights @ np.bincount(cluster, part, size) for part in parts)
    safe = np.maximum(n, 1.0)
    spread_a, spread_b = saa - sa**2 / safe, sbb - sb**2 / safe
    varied = (spread_a > 1e-12 * safe * np.square(a).max()) & (spread_b > 1e-12 * safe * np.square(b).max())
    spread = np.sqrt(np.where(varied, spread_a * spread_b, 0.0))
    return np.asarray(np.clip(divided(sab - sa * sb / safe, spread), -1.0, 1.0))


def _clustered_ranks(values: Floats, cluster: NDArray[np.int64], weights: Floats) -> Floats:
    levels, level = np.unique(values, return_inverse=True)
    held = np.zeros((weights.shape[1], len(levels)))
    np.add.at(held, (cluster, level), 1.0)
    mass = weights @ held
    return np.asarray((np.cumsum(mass, axis=1) - mass / 2)[:, level])


def _clustered_kendall(a: Floats, b: Floats, cluster: NDArray[np.int64], weights: Floats) -> Floats:
    """Concordant minus discordant pairs, and untied pairs, counted once between every pair of clusters."""
    if not 0 < len(a) <= MOST_COMPARED:
        return np.full(len(weights), np.nan)
    order = np.argsort(cluster, kind="stable")
    a, b, cluster = a[order], b[order], cluster[order]
    present, starts = np.unique(cluster, return_index=True)
    counts = np.zeros((3, len(present), len(present)))
    step = max(1, 4_000_000 // len(a))
    row_of = np.searchsorted(present, cluster)
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        x, y = (np.sign(part[rows, None] - part[None, :]) for part in (a, b))
        for place, signs in enumerate((x * y, np.abs(x), np.abs(y))):
            np.add.at(counts[place], row_of[rows], np.add.reduceat(signs, starts, axis=1))
    w = weights[:, present]
    agreed, moved, other = (((w @ part) * w).sum(axis=1) for part in counts)
    return divided(agreed, np.sqrt(moved * other))


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two correlations over the same things, and its p-value."""

    name: str
    difference: float
    p: float | None
    n: int


def williams(metric: ArrayLike, other: ArrayLike, gold: ArrayLike) -> Difference:
    """Williams' t-test of two dependent Pearson correlations that share the gold (Williams 1959; Steiger 1980).

    Two-sided, n - 3 degrees of freedom; p is None if undefined: fewer than four systems, or a constant list.
    """
    x, y, g = (np.asarray(part, dtype=np.float64) for part in (metric, other, gold))
    kept = np.isfinite(x) & np.isfinite(y) & np.isfinite(g)
    x, y, g = x[kept], y[kept], g[kept]
    n = len(g)
    r_x, r_y, r_xy = (float(row_correlations(a, b)) for a, b in ((x, g), (y, g), (x, y)))
    if n < 4 or np.isnan(r_x + r_y + r_xy):
        return Difference("williams", r_x - r_y, None, n)
    determinant = max(0.0, 1 - r_x**2 - r_y**2 - r_xy**2 + 2 * r_x * r_y * r_xy)
    spread = 2 * determinant * (n - 1) / (n - 3) + (r_x + r_y) ** 2 / 4 * (1 - r_xy) ** 3
    if spread <= 1e-15:  # the two metrics rank every system alike
        return Difference("williams", r_x - r_y, 1.0 if np.isclose(r_x, r_y) else None, n)
    t = (r_x - r_y) * np.sqrt((n - 1) * (1 + r_xy) / spread)
    return Difference("williams", r_x - r_y, float(2 * stats.t.sf(abs(t), n - 3)), n)


def steiger(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]) -> Difference:
    """Steiger's test of two dependent Pearson correlations without a common variable (Steiger 1980, equation 15).

    The same systems before and after a change of both sides: is r(first) - r(second) more than chance? Two-sided and
    normal. Correlations are Fisher-transformed, and the covariance of the two is that of Pearson and Filon (1898) with
    both replaced by their mean, which Steiger found to hold its level in small samples. p is None where it is
    undefined: fewer than four systems, a constant list, or a correlation of exactly 1.
    """
    lists = np.array([np.asarray(part, dtype=np.float64) for part in (*first, *second)])
    lists = lists[:, np.isfinite(lists).all(axis=0)]
    n = lists.shape[1]
    r = {(i, j): float(row_correlations(lists[i], lists[j])) for i in range(4) for j in range(i)}
    difference = r[1, 0] - r[3, 2]
    if n < 4 or np.isnan(sum(r.values())) or max(abs(r[1, 0]), abs(r[3, 2])) > 1 - 1e-12:
        return Difference("steiger", difference, None, n)
    mean = (r[1, 0] + r[3, 2]) / 2
    shared = _filon(mean, mean, r[2, 0], r[3, 0], r[2, 1], r[3, 1]) / (1 - mean**2) ** 2
    spread = 2 - 2 * shared
    if spread <= 1e-12:  # nothing changed
        return Difference("steiger", difference, 1.0 if np.isclose(difference, 0) else None, n)
    z = (np.arctanh(r[1, 0]) - np.arctanh(r[3, 2])) * np.sqrt((n - 3) / spread)
    return Difference("steiger", difference, float(2 * stats.norm.sf(abs(z))), n)


def _filon(ab: float, cd: float, ac: float, ad: float, bc: float, bd: float) -> float:
    """n times the covariance of the sample correlations of a with b and of c with d, in normal data."""
    return 0.5 * (
        (ac - ab * bc) * (bd - bc * cd)
        + (ad - ac * cd) * (bc - ab * ac)
        + (ac - ad * cd) * (bd - ab * ad)
        + (ad - ab * bd) * (bc - bd * cd)
    )
