"""Correlation of two lists of numbers, or of many at once, and tests of the difference of two correlations.

A correlation is undefined, None or NaN and never 0, where one of the lists does not vary.
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
        raise ValueError(f"lists of different length: {len(a)} and {len(b)}")
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(kind, None, None, len(a))
    result = measure(a, b)
    r, p = (float(x) if np.isfinite(x) else None for x in (result.statistic, result.pvalue))
    return Correlation(kind, r, p, len(a))


def row_correlations(x: ArrayLike, y: ArrayLike, kind: Kind = "pearson") -> Floats:
    """The correlation of each row of ``x`` with the same row of ``y``; NaN where it is undefined.

    Pairs with a missing number (NaN) do not count. One call serves a thousand resamples.
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
    """Middle ranks; pairs that do not count go to the end, where they move nobody."""
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


@dataclass(frozen=True, slots=True)
class Difference:
    """Two metrics against one gold: the difference of their correlations and how surprising it is."""

    name: str
    difference: float
    p: float | None
    n: int


def williams(metric: ArrayLike, other: ArrayLike, gold: ArrayLike) -> Difference:
    """Williams' t-test of two dependent Pearson correlations that share the gold (Williams 1959; Steiger 1980).

    Two-sided, n - 3 degrees of freedom; p is None where it is undefined: fewer than four systems, or a constant one.
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
