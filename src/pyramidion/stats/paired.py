"""Tests of whether two systems differ, on values paired by item: the same unit, or the same topic.

Nenkova et al. 2007, section 2: with each content unit as an observation, two summaries can be compared by a paired
test. McNemar's exact test is for yes/no values, the other two for any numbers. All are two-sided.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from pyramidion.stats.intervals import blocks, resampling_weights, weighted_means

Floats = NDArray[np.float64]
EXHAUSTIVE = 14
"""Up to this many non-zero differences every sign pattern is enumerated instead of sampled."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """``difference`` is the mean of a - b over all ``n`` pairs."""

    name: str
    difference: float
    p: float
    n: int


def _differences(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError("a paired test needs two lists of the same length, at least 1")
    return np.asarray(first - second, dtype=np.float64)


def mcnemar(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """McNemar's exact test: a sign test on the pairs that disagree."""
    difference = _differences(a, b)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    p = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return PairedTest("mcnemar", float(difference.mean()), p, len(difference))


def wilcoxon(a: ArrayLike, b: ArrayLike) -> PairedTest:
    """Wilcoxon's signed-rank test; zero differences are dropped, and p is 1 where nothing differs."""
    difference = _differences(a, b)
    p = float(wilcoxon_rows(difference[None, :])[0])
    return PairedTest("wilcoxon", float(difference.mean()), p, len(difference))


def permutation(
    a: ArrayLike, b: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 10_000
) -> PairedTest:
    """Paired permutation test of the mean: how often random signs give a sum at least as far from 0.

    Exhaustive for few pairs; otherwise sampled, with the observed pattern counted as one of the samples, so that p
    is never 0 (Phipson and Smyth 2010).
    """
    difference = _differences(a, b)
    moved = difference[difference != 0]
    p = float(permutation_rows(moved[None, :], rng=rng, samples=samples)[0])
    return PairedTest("permutation", float(difference.mean()), p, len(difference))


# -- many pairs at once: one row of differences a pair, NaN where an item is missing --------------------------------


def permutation_rows(differences: Floats, *, rng: np.random.Generator | None = None, samples: int = 10_000) -> Floats:
    """The p-value of ``permutation`` for every row. The same random signs serve all rows, so each p is as valid."""
    moved = np.nan_to_num(np.asarray(differences, dtype=np.float64))
    moved = moved[:, np.any(moved != 0, axis=0)]
    items = moved.shape[1]
    observed = np.abs(moved.sum(axis=1)) - 1e-12 * np.abs(moved).sum(axis=1)
    exhaustive = items <= EXHAUSTIVE
    extreme, drawn = np.zeros(len(moved)), 2**items if exhaustive else samples
    generator = rng if rng is not None else np.random.default_rng(0)
    most = max(1, 10_000_000 // max(items, len(moved), 1))
    for start in range(0, drawn, most):
        size = min(most, drawn - start)
        if exhaustive:
            bits = (np.arange(start, start + size)[:, None] >> np.arange(items)) & 1
        else:
            bits = generator.integers(0, 2, size=(size, items), dtype=np.int8)
        extreme += (np.abs((1.0 - 2.0 * bits) @ moved.T) >= observed).sum(axis=0)
    return extreme / drawn if exhaustive else (extreme + 1) / (drawn + 1)


def bootstrap_rows(differences: Floats, *, rng: np.random.Generator, samples: int = 10_000) -> Floats:
    """Two-sided p of a mean difference by a bootstrap over items: how often a resampled mean lies at least as far from
    the observed one as that does from 0 (Efron and Tibshirani 1993, section 16.4, without studentizing).
    """
    cells = np.asarray(differences, dtype=np.float64)
    observed = np.nanmean(cells, axis=1)
    extreme = np.zeros(len(cells))
    most = max(1, 10_000_000 // max(cells.shape[1], len(cells), 1))
    for size in blocks(samples, most):
        drawn = weighted_means(resampling_weights(rng, cells.shape[1], size), cells.T)
        extreme += (np.abs(drawn - observed) >= np.abs(observed) - 1e-12).sum(axis=0)
    return np.asarray((extreme + 1) / (samples + 1))


def mcnemar_rows(differences: Floats) -> Floats:
    """The p-value of ``mcnemar`` for every row of differences."""
    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    tail = stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    return np.asarray(np.where(wins == losses, 1.0, np.minimum(1.0, 2 * tail)))


def wilcoxon_rows(differences: Floats) -> Floats:
    """The p-value of Wilcoxon's test for every row. Exact up to 50 items without ties and zeros, and for up to 13 items
    in any case (every pattern of signs); else normal, with the correction for ties.
    """
    cells = np.asarray(differences, dtype=np.float64)
    signed = signed_ranks(cells)
    rank, count = np.abs(signed), (signed != 0).sum(axis=1)
    above = np.maximum(signed, 0.0).sum(axis=1)
    smaller = np.minimum(above, count * (count + 1) / 2 - above)
    tied = (rank**2).sum(axis=1) < count * (count + 1) * (2 * count + 1) / 6 - 1e-6
    exact = ~tied & (count <= EXACT_RANKS) & (count == (~np.isnan(cells)).sum(axis=1))
    found = np.ones(len(cells))
    for n in np.unique(count[exact]).tolist():
        rows = exact & (count == n)
        found[rows] = np.minimum(1.0, 2 * _signed_rank_cdf(n)[smaller[rows].astype(np.int64)])
    few = ~exact & (count > 0) & ((~np.isnan(cells)).sum(axis=1) <= FEW)
    if few.any():
        to_the_left = np.argsort(signed[few] == 0, axis=1, kind="stable")[:, :FEW]
        found[few] = permutation_rows(np.take_along_axis(signed[few], to_the_left, axis=1))
    rows = ~exact & ~few & (count > 0)
    # Sums of squared ranks carry the correction for ties.
    spread = np.sqrt((rank[rows] ** 2).sum(axis=1) / 4)
    found[rows] = 2 * stats.norm.cdf((smaller - count * (count + 1) / 4)[rows] / spread)
    return found


EXACT_RANKS, FEW = 50, 13


def signed_ranks(differences: Floats) -> Floats:
    """Ranks of the sizes of differences, with their signs; 0 for no difference and for what is missing."""
    cells = np.nan_to_num(np.asarray(differences, dtype=np.float64))
    rank = stats.rankdata(np.where(cells != 0, np.abs(cells), np.inf), axis=1)
    return np.asarray(np.sign(cells) * rank)


def verdict_rows(differences: Floats, level: float) -> NDArray[np.int64]:
    """1 where Wilcoxon's test finds the first system better, -1 where worse, 0 where there is no difference."""
    direction = np.sign(signed_ranks(differences).sum(axis=1))
    return np.where(wilcoxon_rows(differences) < level, direction, 0.0).astype(np.int64)


@cache
def _signed_rank_cdf(n: int) -> Floats:
    """P(sum of positive ranks <= w) for n items without ties, by counting subsets of 1..n by their sum."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return np.asarray(np.cumsum(ways) / 2.0**n)
