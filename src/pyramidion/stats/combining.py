"""Scores from a model that judged everything and people who judged a random part of it.

The difference estimator of survey sampling (Cassel, Särndal and Wretman 1976), known as control variates (Chaganty,
Mussmann and Liang 2018) and as prediction-powered inference (Angelopoulos et al. 2023): the model's mean over
everything, plus the mean of what people say beyond it over what they were asked, weighted by the probability of being
asked. It is right on average whatever the model says; the better the model, the narrower the interval.

What is asked is drawn as a stratified simple random sample without replacement. Its elements are parts: a few units of
a topic, asked about every system that is compared. How much the model is trusted (lambda, Angelopoulos, Duchi and
Zrnic 2023: PPI++) is learnt from the other topics, never from the one it is used in. There are two lambdas: what a
model says about units that all systems share is often worth more than what it says about their differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from pyramidion.stats.bounded import IntervalEnds, differences, wilson

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Question = Literal["these", "topics"]
"""Whether intervals are about these topics (only the choice of what to ask is random) or about topics of this kind."""
QUESTIONS: tuple[Question, ...] = get_args(Question)
LEAST_PARTS, LEAST_TOPICS = 20, 5
"""With fewer, intervals do not hold: in replays of real labels those of 12 parts contain the truth in 92 to 93 instead
of 95 of 100 cases (benchmarks/results/combine.md)."""
LEAST_TO_DECIDE = 2 * LEAST_PARTS
"""Parts that must have been asked about each system before a pair is decided for good: for many pairs and looks,
intervals are those of rare events, and normal only with more parts than a single interval needs."""


@dataclass(frozen=True)
class AskedParts:
    """What people were asked, and what the model says about it and about everything.

    A row of ``people`` and ``model`` is a part, a column a system: the mean over the part's units; NaN where people
    were not asked or did not answer. ``share`` is the part of its topic's units that a part makes up, ``places`` the
    number of parts in each stratum, asked or not. ``model_means`` has the model's mean over all units of each topic and
    system, NaN where a system has no summary. ``noise`` is how much the mean answer would vary with other people, as a
    variance; 0 if the people's answer is taken as it is.
    """

    topic: Codes
    stratum: Codes
    share: Floats
    people: Floats
    model: Floats
    places: Codes
    model_means: Floats
    noise: Floats | None = None

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Parts of topics on which a system has no summary: nothing to ask, and nothing to add."""
        return np.asarray(np.isnan(self.model_means)[self.topic])

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Parts that are part of a system's sample."""
        return ~np.isnan(self.people) | self.absent

    @cached_property
    def in_stratum(self) -> Floats:
        """Strata x parts: 1 where a part belongs to a stratum."""
        return np.asarray(np.arange(len(self.places))[:, None] == self.stratum, dtype=np.float64)

    @cached_property
    def taken(self) -> Floats:
        """Strata x systems: how many parts are in the sample."""
        return np.asarray(self.in_stratum @ self.counted)

    @cached_property
    def asked_about(self) -> Floats:
        """The same without parts of topics on which a system has no summary."""
        return np.asarray(self.in_stratum @ (self.counted & ~self.absent))

    @cached_property
    def factor(self) -> Floats:
        """Parts x systems: 1 / the probability of being asked."""
        with np.errstate(divide="ignore"):
            return np.asarray((self.places[:, None] / self.taken)[self.stratum])

    @cached_property
    def topics_asked(self) -> Codes:
        """For each system, the topics of which at least one part was asked."""
        held = np.zeros(self.model_means.shape, dtype=bool)
        np.logical_or.at(held, self.topic, self.counted & ~self.absent)
        return np.asarray(held.sum(axis=0))

    @cached_property
    def topics_of_system(self) -> Codes:
        return np.asarray((~np.isnan(self.model_means)).sum(axis=0))


@dataclass(frozen=True)
class Combined:
    """Estimates with their covariances. ``by_topic`` has a row per topic and a column per system, ``lambdas`` the
    trust in the model, on average over topics: in what systems share and in what sets them apart. ``observations`` is
    for each system the number of parts asked, as if there were no end to them. ``half_covariance`` is what the
    covariance for these topics would be if half of every stratum were asked; with a share f, 1/f - 1 times that.
    ``topics_asked`` counts for each system the topics that people were asked about."""

    by_topic: Floats
    lambdas: tuple[float, float]
    strata_covariances: Floats
    strata_freedom: Floats
    noise: Floats
    observations: Floats
    half_covariance: Floats
    topics_asked: Codes

    @cached_property
    def scores(self) -> Floats:
        return np.asarray(np.nanmean(self.by_topic, axis=0))

    @cached_property
    def _of_these(self) -> Floats:
        return np.asarray(self.strata_covariances.sum(axis=0) + np.diag(self.noise))

    @cached_property
    def _of_topics(self) -> Floats:
        """From how much topics differ; never less certain than what is said about these topics alone, which a few
        topics may seem to be by chance."""
        held = (~np.isnan(self.by_topic)).sum(axis=0)
        gaps = np.nan_to_num(self.by_topic - self.scores) / held * np.sqrt(held / np.maximum(held - 1, 1))
        found = gaps.T @ gaps
        own = np.diagonal(found)
        wider = np.maximum(np.diagonal(self._of_these), own)
        ratio = np.sqrt(np.divide(wider, own, out=np.ones_like(own), where=own > 0))
        found = found * np.outer(ratio, ratio)
        np.fill_diagonal(found, wider)
        return np.asarray(found)

    def covariance(self, question: Question) -> Floats:
        """Of the scores, systems x systems."""
        return self._of_topics if question == "topics" else self._of_these

    def variance_of_differences(self, question: Question) -> Floats:
        """Systems x systems; 0 on the diagonal."""
        return variances_of_differences(self.covariance(question))

    def freedom(self, question: Question) -> Floats:
        """Degrees of freedom of each score: the topics that people were asked about - 1, or by Welch and Satterthwaite
        over the strata."""
        if question == "topics":
            return np.asarray(self.topics_asked - 1, dtype=np.float64)
        each = np.diagonal(self.strata_covariances, axis1=1, axis2=2)
        own = np.diagonal(self.strata_freedom, axis1=1, axis2=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = each.sum(axis=0) ** 2 / np.where(each > 0, each**2 / own, 0.0).sum(axis=0)
        return np.asarray(np.where(np.isnan(found), own.sum(axis=0), found))

    def intervals(self, question: Question, level: float = 0.05) -> CombinedIntervals:
        """Of each score and of each difference, row minus column, that hold one at a time."""
        return self.intervals_at(question, student.ppf(1 - level / 2, np.maximum(self.freedom(question), 1.0)))

    def intervals_at(self, question: Question, quantile: Floats | float) -> CombinedIntervals:
        """The same for a given quantile of the estimates' distribution."""
        number = float(len(self.by_topic)) if question == "topics" else self.observations
        covariance = self.covariance(question)
        of_scores = wilson(self.scores, np.diagonal(covariance), quantile, number)
        return CombinedIntervals(of_scores, differences(self.scores, covariance, of_scores))


class CombinedIntervals(NamedTuple):
    of_scores: IntervalEnds
    of_differences: IntervalEnds


def variances_of_differences(covariance: Floats) -> Floats:
    """Of every two variables that have this covariance; 0 on the diagonal."""
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    return np.asarray(np.maximum(own[..., :, None] + own[..., None, :] - 2 * covariance, 0.0))


def combine(asked: AskedParts, *, with_model: bool = True) -> Combined:
    """The estimates; without the model, what people alone would give for the same sample."""
    model, means = asked.model, asked.model_means
    if not with_model:
        model, means = np.zeros_like(model), np.where(np.isnan(means), np.nan, 0.0)
    middle, middles = _row_means(model), _row_means(means)
    tuned = _Tuned(asked, model, middle)
    topic = asked.topic
    base = tuned.shared[:, None] * middles[:, None] + tuned.apart[:, None] * (means - middles[:, None]) + tuned.level
    expected = tuned.shared[topic, None] * middle[:, None] + tuned.level[topic]
    expected += tuned.apart[topic, None] * (model - middle[:, None])
    beyond = np.where(np.isnan(asked.people) | asked.absent, 0.0, asked.people - expected) * asked.share[:, None]
    added = np.zeros_like(base)
    np.add.at(added, topic, np.where(asked.counted, beyond * asked.factor, 0.0))
    covariances, freedom, half = _strata(asked, _residuals(asked, model, middle, tuned))
    noise = np.zeros(base.shape[1])
    if asked.noise is not None:
        each = np.where(asked.counted & ~asked.absent, asked.noise * asked.factor, 0.0) * asked.share[:, None] ** 2
        noise = each.sum(axis=0) / asked.topics_of_system**2
    weights = (float(tuned.shared.mean()), float(tuned.apart.mean()))
    with np.errstate(divide="ignore"):
        number = asked.asked_about.sum(axis=0)
        observations = 1 / np.maximum(1 / number - 1 / asked.places.sum(), 0.0)
    return Combined(base + added, weights, covariances, freedom, noise, observations, half, asked.topics_asked)


def _residuals(asked: AskedParts, model: Floats, middle: Floats, tuned: _Tuned) -> Floats:
    """What people say beyond the model, part by part, for the variance. Here lambdas and levels are those of all
    topics: leaving each topic out would count the uncertainty of the level twice (by 1 / parts: intervals of a few
    parts would be too wide)."""
    seen = asked.counted & ~asked.absent
    expected = tuned.shared.mean() * middle[:, None] + tuned.apart.mean() * (model - middle[:, None])
    beyond = np.where(seen, asked.people - expected, 0.0)
    weight = np.where(seen, asked.share[:, None] * asked.factor, 0.0)
    level = (weight * beyond).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
    return np.where(seen, (beyond - level) * asked.share[:, None], 0.0)


def _row_means(values: Floats) -> Floats:
    held = ~np.isnan(values)
    return np.asarray(np.where(held, values, 0.0).sum(axis=1) / np.maximum(held.sum(axis=1), 1))


class _Tuned:
    """Lambdas and levels for each topic, learnt from the other topics by least squares, each part weighted by what it
    adds to the variance of the estimate. ``level`` is what people say beyond the model, by system."""

    def __init__(self, asked: AskedParts, model: Floats, middle: Floats) -> None:
        topics = len(asked.model_means)
        seen = asked.counted & ~asked.absent
        missing = 1 - (asked.taken / asked.places[:, None])[asked.stratum]
        weight = np.where(seen, (asked.share[:, None] * asked.factor) ** 2 * missing, 0.0)
        if not weight.any():
            weight = np.where(seen, 1.0, 0.0)
        people = np.where(seen, asked.people, 0.0)
        model = np.where(seen, model, 0.0)
        held = np.maximum(seen.sum(axis=1), 1)
        people_middle, model_middle = people.sum(axis=1) / held, model.sum(axis=1) / held
        one = weight.sum(axis=1)
        self._topic, self._topics = asked.topic, topics
        self.shared = self._slope(one[:, None], people_middle[:, None], model_middle[:, None])
        self.apart = self._slope(weight, people - people_middle[:, None], model - model_middle[:, None])
        others = self._others(weight)
        says = self._others(weight * people)
        by_middle, by_gap = self._others(weight * middle[:, None]), self._others(weight * (model - middle[:, None]))
        rest = says - self.shared[:, None] * by_middle - self.apart[:, None] * by_gap
        overall = rest.sum(axis=1, keepdims=True) / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        self.level = np.where(others > 0, rest / np.where(others > 0, others, 1.0), overall)

    def _others(self, values: Floats) -> Floats:
        """For each topic the sum over parts of all other topics."""
        sums = np.zeros((self._topics, values.shape[1]))
        np.add.at(sums, self._topic, values)
        return np.asarray(sums.sum(axis=0) - sums)

    def _slope(self, weight: Floats, y: Floats, x: Floats) -> Floats:
        """The slope of y over x, with an intercept for each column, kept between 0 and 1."""
        total = np.maximum(self._others(weight), 1e-300)
        sum_y, sum_x = self._others(weight * y), self._others(weight * x)
        both = (self._others(weight * x * y) - sum_x * sum_y / total).sum(axis=1)
        square = (self._others(weight * x * x) - sum_x**2 / total).sum(axis=1)
        scale = np.maximum(self._others(weight * x * x).sum(axis=1), 1e-300)
        defined = square > 1e-12 * scale
        return np.where(defined, np.clip(both / np.where(defined, square, 1.0), 0.0, 1.0), 0.0)


def _strata(asked: AskedParts, beyond: Floats) -> tuple[Floats, Floats, Floats]:
    """Covariances of the scores, stratum by stratum, their degrees of freedom, and those if half were asked.

    For two samples of n_a and n_b parts that have n_ab in common, of N parts with covariance S, the covariance of the
    two totals is N² S (n_ab / (n_a n_b) - 1 / N).
    """
    systems = beyond.shape[1]
    covariances = np.zeros((len(asked.places), systems, systems))
    freedom = np.full_like(covariances, np.inf)
    half = np.zeros((systems, systems))
    per_topic = asked.topics_of_system[:, None] * asked.topics_of_system
    for number, places in enumerate(asked.places.tolist()):
        here = asked.stratum == number
        held = asked.counted[here].astype(np.float64)
        taken = held.sum(axis=0)
        values = beyond[here] * held
        gaps = (values - values.sum(axis=0) / np.maximum(taken, 1)) * held
        common = held.T @ held
        spread = gaps.T @ gaps / np.maximum(common - 1, 1)
        rest = common / np.maximum(taken[:, None] * taken, 1) - 1 / places
        covariances[number] = places**2 * spread * np.maximum(rest, 0.0) / per_topic
        half += places * spread / per_topic
        freedom[number] = np.maximum(common - 1, 0.0)
    return covariances, freedom, half
