"""Simulated campaigns: a world from which topics, units and answers are drawn, and their results. The world is

    a pilot study     its topics and units with replacement, and each unit's share of workers who found it; the pilot's
                      own scores are the truth
    assumptions       systems with true scores around a mean, topics and units that are easier or harder for all of them
                      (on the logit scale), and workers who are right with a given probability

Systems are scored as lightweight pyramids are (Shapira et al. 2019), and two of them are told apart by a paired t-test
over topics. Votes of different workers are taken to be independent given the unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from pyramidion.analysis.answer import count
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.analysis.votes import VoteArray
from pyramidion.errors import Problem, UsageError
from pyramidion.stats.correlation import row_correlations
from pyramidion.stats.intervals import blocks, divided

POPULATION = (200, 96)
"""Topics and units in an assumed world: enough that draws hardly repeat."""
BLOCK = 64
"""Topics are drawn this many at a time, so that a longer campaign begins with the same topics as a shorter one."""
ZERO = 1e-12
"""True scores that differ by less are equal; the rest is rounding."""


@dataclass(frozen=True)
class Assumptions:
    """A world without a pilot. ``difference`` is the difference between the two best systems, which are to be told
    apart."""

    systems: int = 10
    mean: float = 0.35
    spread: float = 0.10
    difference: float = 0.05
    accuracy: float = 0.85
    topic_spread: float = 0.5
    unit_spread: float = 1.0
    interaction: float = 0.4

    def __post_init__(self) -> None:
        if self.systems < 2:
            raise UsageError(f"at least 2 systems are needed, not {self.systems}")
        for name, low in (("mean", 0.0), ("accuracy", 0.5)):
            value = getattr(self, name)
            if not low < value <= 1:
                raise UsageError(f"{name} must be above {low:g} and at most 1, not {value}")
        if not self.difference >= 0:
            raise UsageError(f"difference must be 0 or more, not {self.difference}")
        best, second = self.scores[:2]
        if not math.isclose(best - second, self.difference, abs_tol=1e-9):
            what = (
                f"the best system would score {self._second + self.difference:.2f}, {self.difference:g} above the next"
            )
            raise UsageError(f"{what}; scores are between 0 and 1: choose another mean or difference")

    @property
    def _places(self) -> Floats:
        """The standing of all systems but the best: evenly spread by normal quantiles, from high to low."""
        return np.asarray(stats.norm.ppf((np.arange(self.systems - 1) + 0.5) / (self.systems - 1))[::-1])

    @property
    def _second(self) -> float:
        return self.mean + self.spread * float(self._places[0])

    @property
    def scores(self) -> Floats:
        """True scores, the best first, ``difference`` above the second; none is nearer to 0 or 1 than .01."""
        rest = self.mean + self.spread * self._places
        return np.asarray(np.clip([self._second + self.difference, *rest], 0.01, 0.99))


class Gaps(NamedTuple):
    """For each topic the chance that one unit is found in the first summary only, and in the second only."""

    first: Floats
    second: Floats

    @property
    def mean(self) -> float:
        """The difference to be expected; below 0 where the first system would come out worse."""
        return float((self.first - self.second).mean())


@dataclass(frozen=True)
class World:
    """``chance(workers)[t, s, u]`` is the chance that most of this many workers find unit u in system s's summary of
    topic t; NaN is padding. ``truth`` holds the true score of each system; ``pair`` the two to be told apart, the
    better one first.
    """

    systems: tuple[str, ...]
    truth: Floats
    chance: Callable[[int], Floats]
    pair: tuple[int, int]
    source: str

    @property
    def difference(self) -> float:
        gap = float(self.truth[self.pair[0]] - self.truth[self.pair[1]])
        return gap if gap > ZERO else 0.0

    def gaps(self, workers: int) -> Gaps:
        """Over the topics and units on which both systems of the pair were judged."""
        one, other = (self.chance(workers)[:, system] for system in self.pair)
        shared = ~np.isnan(one + other)
        number = shared.sum(axis=1)
        if not number.any():
            names = " and ".join(self.systems[system] for system in self.pair)
            raise UsageError(f"{names} were judged on no unit in common; choose another pair of systems")
        parts = (one * (1 - other), (1 - one) * other)
        first, second = (divided(np.where(shared, part, 0.0).sum(axis=1), number)[number > 0] for part in parts)
        return Gaps(np.clip(first, 0.0, 1.0), np.clip(second, 0.0, 1.0))


def from_pilot(votes: VoteArray, pair: tuple[str, str] | None, notes: list[Problem]) -> World:
    answered = ~np.isnan(votes.answers)
    number = answered.sum(axis=3)
    found = np.where(number > 0, np.nan_to_num(votes.answers).sum(axis=3) / np.maximum(number, 1), np.nan)
    truth = column_means(votes.summary_scores())
    if len(votes.systems) < 2:
        raise UsageError("a plan needs a pilot with at least 2 systems")
    if len(votes.topics) < 8:
        what = (
            f"only {count(len(votes.topics), 'topic')}: the variation between topics is hardly known, so power is "
            "a rough guess"
        )
        notes.append(Problem("pilot", what, "warning"))
    if votes.workers < 2:
        what = "has one answer per unit, which is treated as certain: more workers per task will seem to bring nothing"
        notes.append(Problem("pilot", what, "warning"))
    chosen = _typical(truth)
    if pair is not None:
        for name in pair:
            if name not in votes.systems:
                raise UsageError(f"system {name!r} is not in the pilot; it has: {', '.join(votes.systems)}")
        one, other = (votes.systems.index(name) for name in pair)
        if one == other:
            raise UsageError(f"the pair names {pair[0]!r} twice; name two systems to tell apart")
        chosen = (one, other) if truth[one] >= truth[other] else (other, one)
    return World(votes.systems, truth, partial(_majority, found), chosen, "pilot")


def _typical(truth: Floats) -> tuple[int, int]:
    """The pair whose difference is closest to the median of all, the better system first."""
    first, second = np.triu_indices(len(truth), 1)
    gaps = np.abs(truth[first] - truth[second])
    place = int(np.argmin(np.abs(gaps - np.nanmedian(gaps))))
    one, other = int(first[place]), int(second[place])
    return (one, other) if truth[one] >= truth[other] else (other, one)


def _majority(found: Floats, workers: int) -> Floats:
    """The chance that more than half of so many workers find a unit."""
    return np.asarray(stats.binom.sf(workers // 2, workers, found))


def from_assumptions(given: Assumptions, rng: np.random.Generator) -> World:
    truth = given.scores
    topics, units = POPULATION
    easier = given.topic_spread * rng.normal(size=(topics, 1, 1)) + given.unit_spread * rng.normal(
        size=(topics, 1, units)
    )
    logit = easier + given.interaction * rng.normal(size=(topics, len(truth), 1))
    base = np.array([_centre(value, logit[:, s]) for s, value in enumerate(truth)])
    present = special.expit(logit + base[None, :, None])
    names = tuple(f"system {number}" for number in range(1, len(truth) + 1))
    return World(names, truth, partial(_by_accuracy, present, given.accuracy), (0, 1), "assumptions")


def _by_accuracy(present: Floats, accuracy: float, workers: int) -> Floats:
    """The chance that more than half of so many workers say that a unit is there, if each is right so often."""
    seen, imagined = (float(stats.binom.sf(workers // 2, workers, p)) for p in (accuracy, 1 - accuracy))
    return np.asarray(present * seen + (1 - present) * imagined)


def _centre(wanted: float, logit: Floats) -> float:
    """The offset at which a system's mean chance over all topics and units is the wanted score."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if special.expit(logit + middle).mean() < wanted else (low, middle)
    return (low + high) / 2


class PowerCurve:
    """The power to find the first system of a pair better, with 2, 3, ... topics of a given number of units. On one
    topic only the units found in just one of the two summaries matter: how many there are, and in which summary, are
    two binomial draws. Topics are added to the same campaigns as needed."""

    def __init__(self, gaps: Gaps, units: int, *, campaigns: int, level: float, rng: np.random.Generator) -> None:
        self.gaps, self.units, self._level, self._rng = gaps, units, level, rng
        self._either = np.minimum(gaps.first + gaps.second, 1.0)
        self._which = divided(gaps.first, gaps.first + gaps.second)
        self._sum = np.zeros((campaigns, 1), dtype=np.int64)
        self._squares = np.zeros((campaigns, 1), dtype=np.int64)
        self._power = np.full(1, np.nan)

    def upto(self, topics: int) -> Floats:
        """``[n]`` is the power with n topics; NaN where there is no test, with fewer than two."""
        while len(self._power) <= topics:
            self._grow()
        return self._power[: topics + 1]

    def _grow(self) -> None:
        """Sums are kept in whole units, so that the test is exact; it does not depend on the scale."""
        topic = self._rng.integers(0, len(self._either), size=(len(self._sum), BLOCK))
        apart = self._rng.binomial(self.units, self._either[topic])
        gap = 2 * self._rng.binomial(apart, np.nan_to_num(self._which)[topic]) - apart
        total = self._sum + gap.cumsum(axis=1)
        squares = self._squares + (gap**2).cumsum(axis=1)
        number = len(self._power) + np.arange(BLOCK)
        with np.errstate(invalid="ignore", divide="ignore"):
            critical = stats.t.isf(self._level / 2, number - 1)
            # mean > critical * error, both sides times the number of topics
            found = total > critical * np.sqrt((number * squares - total**2) / (number - 1.0))
        power = np.where(number > 1, found.mean(axis=0), np.nan)
        self._sum, self._squares = total[:, -1:], squares[:, -1:]
        self._power = np.concatenate([self._power, power])


class Outcome(NamedTuple):
    """Mean correlations with the true system scores, and the mean power over all pairs of systems."""

    pearson: float | None
    spearman: float | None
    separated: float | None


def outcome(
    world: World, topics: int, units: int, workers: int, *, campaigns: int, level: float, rng: np.random.Generator
) -> Outcome:
    """The mean outcome of campaigns with all systems."""
    present = world.chance(workers)
    one = topics * units * present.shape[1]
    # Large campaigns differ little from each other, so fewer of them say as much.
    many = min(campaigns, max(4, min(100, 10_000_000 // one)))
    scores = [_scores(present, topics, units, part, rng) for part in blocks(many, max(1, 4_000_000 // one))]
    return _outcome(np.concatenate(scores), world.truth, level)


def _scores(present: Floats, topics: int, units: int, campaigns: int, rng: np.random.Generator) -> Floats:
    """Scores of all systems by drawn units of drawn topics: campaigns x topics x systems."""
    which = rng.integers(0, len(present), size=(campaigns, topics))
    judged = ~np.isnan(present).all(axis=1)  # topics x units: padding is never drawn
    held = judged.sum(axis=1)
    order = np.argsort(~judged, axis=1, kind="stable")
    pick = (rng.random((campaigns, topics, units)) * held[which][..., None]).astype(np.int64)
    unit = np.take_along_axis(order[which], pick, axis=2)
    chance = present[which[:, :, None], :, unit]  # campaigns x topics x units x systems
    found = (rng.random(chance.shape) < np.nan_to_num(chance)).sum(axis=2)
    return divided(found, (~np.isnan(chance)).sum(axis=2))


def _outcome(scores: Floats, truth: Floats, level: float) -> Outcome:
    means = column_means(scores)
    pearson, spearman = (_mean(row_correlations(means, truth, kind)) for kind in ("pearson", "spearman"))
    if scores.shape[1] < 2:
        return Outcome(pearson, spearman, None)
    present = (~np.isnan(scores)).astype(np.float64)
    x = np.nan_to_num(scores)
    turned = np.swapaxes(x, 1, 2)
    number = np.swapaxes(present, 1, 2) @ present  # campaigns x systems x systems: topics that two systems share
    total = turned @ present
    gap = divided(total - np.swapaxes(total, 1, 2), number)
    squares = (turned**2) @ present
    spread = squares + np.swapaxes(squares, 1, 2) - 2 * (turned @ x) - number * np.nan_to_num(gap) ** 2
    error = np.sqrt(divided(np.maximum(spread, 0.0), number * (number - 1.0)))
    critical = stats.t.isf(level / 2, np.maximum(number - 1, 1))
    first, second = np.triu_indices(len(truth), 1)
    # Significant and in the right direction; a pair with one topic in common cannot be tested.
    right = gap[:, first, second] * np.sign(truth[first] - truth[second])
    found = right > (critical * error)[:, first, second] + ZERO
    return Outcome(pearson, spearman, float(found.mean()))


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
