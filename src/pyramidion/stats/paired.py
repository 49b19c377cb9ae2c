"""Tests of whether two systems differ, on values paired by item: the same unit, or the same topic.

Nenkova et al. 2007, section 2: with each content unit as an observation, two summaries can be compared by a paired
test. McNemar's exact test is for yes/no values, the other two for any numbers. All are two-sided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from pyramidion.stats.intervals import blocks, resampling_weights, weighted_means

Floats = NDArray[np.float64]
EXHAUSTIVE = 16
"""Up to this many non-zero differences every sign pattern is enumerated instead of sampled."""
SAMPLES = 2000
"""Draws of signs; because they favour the tail, the error is a few per cent in any p."""
ENOUGH = 100
"""A share counted among fewer random resamples than this is too uncertain."""


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
    a: ArrayLike, b: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = SAMPLES
) -> PairedTest:
    """Paired permutation test of the mean: how often random signs give a sum at least as far from 0.

    Exact for few pairs; otherwise drawn in a way that reaches any tail (``_tilted_signs``).
    """
    difference = _differences(a, b)
    p = float(permutation_rows(difference[None, :], rng=rng, samples=samples).p[0])
    return PairedTest("permutation", float(difference.mean()), p, len(difference))


# -- many pairs at once: one row of differences per pair, NaN where an item is missing ------------------------------


@dataclass(frozen=True, slots=True)
class RowTests:
    """A p-value for every row, and its standard error from random draws: 0 if p is exact."""

    p: Floats
    error: Floats


def permutation_rows(
    differences: Floats, *, rng: np.random.Generator | None = None, samples: int = SAMPLES
) -> RowTests:
    """The p-value of ``permutation`` for every row: exact for rows with few differences, else drawn.

    The same random numbers serve all rows, so a row's p does not depend on the others.
    """
    moved = np.nan_to_num(np.asarray(differences, dtype=np.float64))
    few = (moved != 0).sum(axis=1) <= EXHAUSTIVE
    p, error = np.ones(len(moved)), np.zeros(len(moved))
    if few.any():
        to_the_left = np.argsort(moved[few] == 0, axis=1, kind="stable")[:, :EXHAUSTIVE]
        p[few] = _all_signs(np.take_along_axis(moved[few], to_the_left, axis=1))
    if not few.all():
        drawn = _tilted_signs(moved[~few], rng if rng is not None else np.random.default_rng(0), samples)
        p[~few], error[~few] = drawn.p, drawn.error
    return RowTests(p, error)


def _all_signs(moved: Floats) -> Floats:
    """The share of all sign patterns whose sum is at least as far from 0 as the observed one."""
    moved = moved[:, np.any(moved != 0, axis=0)]
    items = moved.shape[1]
    observed = np.abs(moved.sum(axis=1)) - 1e-12 * np.abs(moved).sum(axis=1)
    extreme = np.zeros(len(moved))
    most = max(1, 10_000_000 // max(items, len(moved), 1))
    for start in range(0, 2**items, most):
        patterns = np.arange(start, min(start + most, 2**items))
        bits = (patterns[:, None] >> np.arange(items)) & 1
        extreme += (np.abs((1.0 - 2.0 * bits) @ moved.T) >= observed).sum(axis=0)
    return np.asarray(extreme / 2**items)


def _tilted_signs(moved: Floats, rng: np.random.Generator, samples: int) -> RowTests:
    """Random signs that favour sums as large as the observed one, each draw weighted down accordingly.

    Importance sampling with exponential tilting (Siegmund 1976): the sum of d_i s_i, signs s_i = +-1, has the cumulant
    function K(t) = sum of log cosh(t d_i). With t such that K'(t) is the observed sum s, sign i is positive with
    probability 1 / (1 + exp(-2 t d_i)), and a draw with the sum S >= s counts exp(K(t) - t S). The estimate is
    unbiased, and its relative error stays a few per cent however small p is, where counting plain draws could never
    give a p below 1 / draws. The observed pattern and its mirror image are 2 of 2^items, so p is never below that.
    """
    total = np.abs(moved).sum(axis=1, keepdims=True)
    scaled = moved * np.sign(moved.sum(axis=1, keepdims=True)) / np.where(total > 0, total, 1.0)  # sizes add up to 1
    observed = scaled.sum(axis=1)
    tilt = _tilts(scaled, observed)
    # log cosh without overflow
    cumulant = np.logaddexp(tilt[:, None] * scaled, -tilt[:, None] * scaled).sum(axis=1) - scaled.shape[1] * np.log(2)
    first, second = np.zeros(len(moved)), np.zeros(len(moved))
    for draws in blocks(samples, max(1, 4_000_000 // scaled.shape[1])):
        uniform = rng.random((draws, scaled.shape[1]), dtype=np.float32)
        for row, (values, t) in enumerate(zip(scaled, tilt.tolist(), strict=True)):
            positive = uniform < special.expit(2 * t * values).astype(np.float32)
            sums = 2 * (positive.astype(np.float32) @ values.astype(np.float32)).astype(np.float64) - observed[row]
            reached = sums[sums >= observed[row] - 1e-6]
            weight = np.exp(cumulant[row] - t * reached)
            first[row] += weight.sum()
            second[row] += (weight**2).sum()
    mean = first / samples
    error = np.sqrt(np.maximum(second / samples - mean**2, 0.0) / samples)
    least = 2.0 ** (1 - (moved != 0).sum(axis=1))
    still = observed <= 1e-12  # every pattern is as far from 0
    p = np.where(still, 1.0, np.clip(2 * mean, least, 1.0))
    return RowTests(p, np.where(still, 0.0, 2 * error))


def _tilts(scaled: Floats, observed: Floats) -> Floats:
    """For every row the t at which sum of d tanh(t d) is the observed sum, by Newton's method.

    The function is concave, so the steps approach t from the left; where all signs are equal t is infinite, and the
    steps stop where every sign is as good as certain.
    """
    t = np.zeros(len(scaled))
    for _ in range(40):
        bent = np.tanh(t[:, None] * scaled)
        slope = (scaled**2 * (1 - bent**2)).sum(axis=1)
        gap = observed - (scaled * bent).sum(axis=1)
        t += np.where(gap > 1e-9, gap / np.maximum(slope, 1e-12), 0.0)
    return t


def bootstrap_rows(differences: Floats, *, rng: np.random.Generator, samples: int = 10_000) -> RowTests:
    """Two-sided p of a mean difference by a bootstrap over items: how often a resampled mean is at least as far from
    the observed one as that is from 0 (Efron and Tibshirani 1993, section 16.4, without studentizing).

    Counted among random resamples while there are at least ``ENOUGH`` that far, and continued beyond by the saddlepoint
    approximation to the same bootstrap distribution (Davison and Hinkley 1988).
    """
    cells = np.asarray(differences, dtype=np.float64)
    observed = np.nanmean(cells, axis=1)
    extreme = np.zeros(len(cells))
    most = max(1, 10_000_000 // max(cells.shape[1], len(cells), 1))
    for size in blocks(samples, most):
        drawn = weighted_means(resampling_weights(rng, cells.shape[1], size), cells.T)
        extreme += (np.abs(drawn - observed) >= np.abs(observed) - 1e-12).sum(axis=0)
    p = (extreme + 1) / (samples + 1)
    error = np.sqrt(p * (1 - p) / samples)
    few = extreme < ENOUGH
    p[few], error[few] = _bootstrap_tails(cells[few]), 0.0
    return RowTests(np.asarray(p), error)


def _bootstrap_tails(cells: Floats) -> Floats:
    present = ~np.isnan(cells)
    count = present.sum(axis=1)
    mean = np.nanmean(cells, axis=1) if len(cells) else np.zeros(0)
    away = np.where(present, cells - mean[:, None], 0.0)
    scale = np.abs(away).max(axis=1, initial=0.0)
    away /= np.where(scale > 0, scale, 1.0)[:, None]
    target = np.abs(mean) / np.where(scale > 0, scale, 1.0)
    both = sum(_saddlepoint_tail(sign * away, present, count, target) for sign in (1.0, -1.0))
    least = np.exp(-count * np.log(np.maximum(count, 1)))  # one resample of so many
    return np.asarray(np.clip(both, least, 1.0))


def _saddlepoint_tail(away: Floats, present: NDArray[np.bool_], count: NDArray[np.int64], target: Floats) -> Floats:
    """P(mean of ``count`` draws >= target), the draws from the items of a row, whose mean is 0."""

    def tilted(t: Floats) -> tuple[Floats, Floats, Floats]:
        exponent = np.where(present, t[:, None] * away, -np.inf)
        top = exponent.max(axis=1, keepdims=True)
        weight = np.exp(exponent - top)
        total = weight.sum(axis=1)
        first = (weight * away).sum(axis=1) / total
        spread = (weight * away**2).sum(axis=1) / total - first**2
        return top[:, 0] + np.log(total / count), first, spread

    within = target < away.max(axis=1, initial=0.0) - 1e-9
    low, high = np.zeros(len(away)), np.full(len(away), 1e4)
    for _ in range(60):
        middle = (low + high) / 2
        below = tilted(middle)[1] < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    cumulant, _, spread = tilted(low)
    root = np.sqrt(np.maximum(2 * count * (low * target - cumulant), 1e-12))
    lift = np.maximum(low * np.sqrt(count * np.maximum(spread, 0.0)), 1e-12)
    # Barndorff-Nielsen's form of the tail: never negative, and as close as Lugannani and Rice's.
    return np.where(within, stats.norm.sf(root + np.log(lift / root) / root), 0.0)


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
    found[few] = permutation_rows(signed[few]).p
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
    """1 if Wilcoxon's test finds the first system better, -1 if worse, 0 if there is no difference."""
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


# ----------------------------------------------------------------------
# Many comparisons at once: Holm's correction, and how papers show which of many systems differ.

Mask = NDArray[np.bool_]
MOST_GROUPS = 78


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (Holm 1979): if they are compared with a level, the chance of any false claim is at most
    that level. NaN marks a test that could not be made; it stays NaN and does not count."""
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return adjusted


def rightmost_different(differ: Mask) -> list[int | None]:
    """For each system, in order of rank, the last one before it that it differs from (Gillick and Liu 2010, Table 5).

    ``differ[i, j]`` says whether the systems at ranks i and j differ significantly.
    """
    before = [np.flatnonzero(differ[rank, :rank]) for rank in range(len(differ))]
    return [int(found[-1]) if len(found) else None for found in before]


def letter_groups(differ: Mask) -> list[str]:
    """A compact letter display: two systems share a letter if and only if they do not differ.

    Insert and absorb (Piepho 2004): begin with one group of all; for every pair that differs split each group that
    holds both; drop groups inside others. Letters go by the best rank in a group. If more than ``MOST_GROUPS`` groups
    are needed, nobody could read them: all letters are empty.
    """
    groups: list[frozenset[int]] = [frozenset(range(len(differ)))] if len(differ) else []
    for i, j in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        split = [part for group in groups for part in ((group - {i}, group - {j}) if {i, j} <= group else (group,))]
        groups = _largest(split)
        if len(groups) > MOST_GROUPS:
            return [""] * len(differ)
    ordered = sorted(groups, key=sorted)
    return ["".join(_letter(number) for number, group in enumerate(ordered) if i in group) for i in range(len(differ))]


def _largest(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(number: int) -> str:
    """a to z, then a2 to z2, and so on: many systems need many groups."""
    turn, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(turn + 1) if turn else "")
