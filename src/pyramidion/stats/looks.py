"""Looking at results while they come in, without finding differences that are not there.

The looks are planned beforehand: what share of the parts will have been asked at each. At a look, all undecided pairs
are tested together. The critical value is a quantile of the largest statistic of any of these pairs at any of the
planned looks (max-t), and is lowered as pairs are decided (step-down: Romano and Wolf 2005); so the probability of
deciding any pair wrongly, at any look, is at most the level. The largest statistic is drawn from the joint distribution
of the estimates: a longer sample contains the shorter one, so the covariance of two looks is the variance at the later
(independent increments, as in group-sequential trials: Jennison and Turnbull 2000). The bound is the same at every look
(Pocock 1977), because here what is decided early is what saves money (docs/adr/0029-planned-looks.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from pyramidion.stats.combining import Combined, Floats, Question, variances_of_differences

Flags = NDArray[np.bool_]
DRAWS = 10_000
CAUTION = 0.6
"""Pairs are tested at this share of the level. Scores of topics are skewed, so the largest of many statistics is large
more often than normal ones would be: in replays of systems that do not differ, tests at the full level decided
something in 4 to 8 of 100 campaigns, at .8 of it in 2 to 6 (benchmarks/results/stopping.md)."""
TIE = 1e-9
"""Scores that differ by less are equal: where everything was asked, rounding errors would decide."""


class Paths:
    """What the scores might do over all planned looks if no two systems differed: drawn from the covariances that the
    present look has. ``shares`` are those of the parts asked at each look; ``now`` is the number of this one."""

    def __init__(self, found: Combined, question: Question, shares: Sequence[float], now: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        covariance, half = found.covariance(question), found.half_covariance
        systems = len(covariance)
        root, step = _root(covariance + (1 / shares[-1] - 1 / shares[now - 1]) * half), _root(half)
        last = root @ root.T  # of the last look; what is subtracted may leave less than nothing
        self._covariances = [last + (1 / share - 1 / shares[-1]) * half for share in shares]
        self._least = 1e-6 * max(float(np.diagonal(covariance).max(initial=0.0)), 1e-300)
        drawn = rng.standard_normal((DRAWS, systems)) @ root.T
        self._scores = [drawn]
        for later, earlier in zip(shares[::-1], shares[-2::-1], strict=False):
            drawn = drawn + np.sqrt(max(1 / earlier - 1 / later, 0.0)) * rng.standard_normal((DRAWS, systems)) @ step.T
            self._scores.append(drawn)
        self._scores.reverse()

    def largest_of_pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float32]:
        """Draws x pairs: the largest |t| of a pair at any look."""
        most = np.zeros((DRAWS, len(first)), dtype=np.float32)
        for scores, covariance in zip(self._scores, self._covariances, strict=True):
            spread = variances_of_differences(covariance)[first, second]
            told = spread > self._least
            gaps = (scores[:, first[told]] - scores[:, second[told]]) / np.sqrt(spread[told])
            most[:, told] = np.maximum(most[:, told], np.abs(gaps))
        return most

    def largest_of_scores(self, level: float) -> Floats:
        """For each system the value that its score's |t| exceeds at any look with probability ``level``."""
        most = np.zeros_like(self._scores[0])
        for scores, covariance in zip(self._scores, self._covariances, strict=True):
            own = np.diagonal(covariance)
            told = own > self._least
            most[:, told] = np.maximum(most[:, told], np.abs(scores[:, told]) / np.sqrt(own[told]))
        return np.maximum(np.quantile(most, 1 - level, axis=0), norm.ppf(1 - level / 2))


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(frozen=True)
class PairVerdicts:
    """``better[i, j]``: system i was found better than j at this look. ``low`` and ``high`` are intervals of the scores
    that hold over all looks, one system at a time."""

    better: Flags
    low: Floats
    high: Floats


def decide(
    found: Combined,
    question: Question,
    undecided: Flags,
    *,
    shares: Sequence[float],
    now: int,
    active: Flags | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> PairVerdicts:
    """Test undecided pairs (a symmetric matrix) at look ``now`` (from 1) together; a pair is decided if neither its
    interval at the critical value nor that of Student's t contains 0. ``shares`` are those of the parts asked at each
    planned look. Only pairs of ``active`` systems are tested; those of systems that have left undecided still count for
    the critical value, since they were tested before."""
    paths = Paths(found, question, shares, now, seed)
    freedom = found.freedom(question)
    first, second = np.nonzero(np.triu(undecided & undecided.T, 1))
    better = np.zeros_like(undecided)
    tested = np.ones(len(first), dtype=bool) if active is None else active[first] & active[second]
    gaps, spread = found.scores[:, None] - found.scores, np.sqrt(found.variance_of_differences(question))
    most = paths.largest_of_pairs(first, second)
    while len(first):
        drawn = float(np.quantile(most.max(axis=1), 1 - CAUTION * level))
        quantile = _heavier(max(drawn, float(norm.ppf(1 - CAUTION * level / 2))), freedom)
        low = np.minimum(
            found.intervals_at(question, quantile).of_differences.low,
            gaps - np.maximum(quantile[:, None], quantile) * spread,  # wider where scores are about .5
        )
        ahead, behind = (low[first, second] > TIE) & tested, (low[second, first] > TIE) & tested
        if not (ahead | behind).any():
            break
        better[first[ahead], second[ahead]] = better[second[behind], first[behind]] = True
        left = ~(ahead | behind)
        first, second, most, tested = first[left], second[left], most[:, left], tested[left]
    low, high = found.intervals_at(question, _heavier(paths.largest_of_scores(level), freedom)).of_scores
    return PairVerdicts(better, low, high)


def _heavier(quantile: Floats | float, freedom: Floats) -> Floats:
    """The quantile of Student's distributions that is exceeded as seldom as this one of the normal distribution."""
    return np.asarray(student.isf(norm.sf(quantile), np.maximum(freedom, 1.0)))
