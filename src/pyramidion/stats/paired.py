"""Tests of whether two systems differ, on values paired by item: the same unit, or the same topic.

Nenkova et al. 2007, section 2: with each content unit as an observation, two summaries can be compared by a paired
test. McNemar's exact test is for yes/no values, the other two for any numbers. All are two-sided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

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
    p = float(stats.wilcoxon(difference).pvalue) if np.any(difference) else 1.0
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
    observed = abs(moved.sum())
    tolerance = 1e-12 * max(1.0, np.abs(moved).sum())
    if len(moved) <= EXHAUSTIVE:
        patterns = (np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved))) & 1
        sums = np.abs((1 - 2 * patterns) @ moved)
        p = float((sums >= observed - tolerance).mean())
    else:
        generator = rng if rng is not None else np.random.default_rng(0)
        extreme = 0
        for size in _batches(samples, max(1, 10_000_000 // len(moved))):
            signs = generator.integers(0, 2, size=(size, len(moved)), dtype=np.int8) * 2 - 1
            extreme += int((np.abs(signs @ moved) >= observed - tolerance).sum())
        p = (extreme + 1) / (samples + 1)
    return PairedTest("permutation", float(difference.mean()), p, len(difference))


def _batches(total: int, most: int) -> list[int]:
    full, rest = divmod(total, most)
    return [most] * full + ([rest] if rest else [])
