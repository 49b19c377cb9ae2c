"""Estimates from people and a model: hand-derived values, and what no model may do to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.combining import QUESTIONS, AskedParts, Floats, Question, combine


class World:
    """Labels and a model's judgments of every part, from which samples are drawn. Topics have equal parts."""

    def __init__(self, topics: int, parts: int, systems: int, *, seed: int = 0, r: float = 0.6) -> None:
        rng = np.random.default_rng(seed)
        self.topic = np.repeat(np.arange(topics), parts)
        level = rng.uniform(0.25, 0.75, systems) + rng.normal(0, 0.1, (topics, 1))[self.topic]
        self.labels = (rng.random(level.shape) < level).astype(float)
        noise = rng.normal(0, self.labels.std() * np.sqrt(1 / r**2 - 1), self.labels.shape)
        self.model = 0.5 + (self.labels + noise - 0.5) * r**2
        self.share = np.full(len(self.topic), 1 / parts)

    @property
    def truth(self) -> Floats:
        return self.labels.mean(axis=0)

    def sample(self, number: int, rng: np.random.Generator) -> AskedParts:
        rows = rng.permutation(len(self.topic))[:number]
        return self.asked(rows)

    def asked(self, rows: np.ndarray) -> AskedParts:
        means = np.array([self.model[self.topic == topic].mean(axis=0) for topic in np.unique(self.topic)])
        strata, places = np.zeros(len(rows), dtype=np.int64), np.array([len(self.topic)])
        return AskedParts(
            self.topic[rows], strata, self.share[rows], self.labels[rows], self.model[rows], places, means
        )


def test_if_everything_is_asked_the_model_does_not_matter() -> None:
    world = World(6, 4, 3)
    found = combine(world.asked(np.arange(24)))
    by_topic = world.labels.reshape(6, 4, 3).mean(axis=1)
    assert found.by_topic == pytest.approx(by_topic)
    assert found.covariance("these") == pytest.approx(np.zeros((3, 3)), abs=1e-15)
    assert found.covariance("topics") == pytest.approx(np.cov(by_topic.T) / 6)
    assert found.freedom("topics").tolist() == [5, 5, 5]


def test_people_alone_by_hand() -> None:
    """Topics of 2 parts, of which 4 of 6 are asked: answers 1, 0 | 1 | 1. Levels without each topic, weighted alike:
    1, 2/3, 2/3. Topic means: all asked would give .5; each asked part counts 6/4 times its share of 1/2:
    1 + 3/4 (0 - 1) = .25; 2/3 + 3/4 (1 - 2/3) = .9167 twice; their mean is .6944.

    Variance: the residuals from the mean .75 are .25, -.75, .25, .25, times the share 1/2; their variance is 1/16;
    6² (1/4 - 1/6) / 16 / 3 topics² = 1/48.
    """
    asked = AskedParts(
        topic=np.array([0, 0, 1, 2]),
        stratum=np.zeros(4, dtype=np.int64),
        share=np.full(4, 0.5),
        people=np.array([[1.0], [0.0], [1.0], [1.0]]),
        model=np.zeros((4, 1)),
        places=np.array([6]),
        model_means=np.zeros((3, 1)),
    )
    found = combine(asked)
    assert found.by_topic[:, 0] == pytest.approx([0.25, 11 / 12, 11 / 12])
    assert found.scores[0] == pytest.approx(25 / 36)
    assert found.covariance("these")[0, 0] == pytest.approx(1 / 48)
    assert found.freedom("these")[0] == pytest.approx(3)
    assert found.half_covariance[0, 0] == pytest.approx(1 / 24)  # half asked: 6² (1/3 - 1/6) / 16 / 9


def test_a_perfect_model_leaves_no_error() -> None:
    world = World(10, 5, 4)
    world.model = world.labels.copy()
    found = combine(world.sample(20, np.random.default_rng(0)))
    assert found.lambdas == pytest.approx((1, 1))
    assert found.scores == pytest.approx(world.truth)
    assert found.variance_of_differences("these") == pytest.approx(np.zeros((4, 4)), abs=1e-15)


def mean_error(world: World, number: int, *, with_model: bool = True, draws: int = 400) -> tuple[Floats, Floats]:
    """The mean error of each score over samples, in standard errors, and the mean squared error."""
    errors = []
    for seed in range(draws):
        asked = world.sample(number, np.random.default_rng(seed))
        errors.append(combine(asked, with_model=with_model).scores - world.truth)
    held = np.array(errors)
    return held.mean(axis=0) / (held.std(axis=0) / np.sqrt(draws)), (held**2).mean(axis=0)


@pytest.mark.parametrize("bias", [0.0, 0.3])
def test_a_biased_model_does_not_bias(bias: float) -> None:
    world = World(20, 5, 4)
    world.model = np.clip(world.model + bias * np.array([1, 0, 1, 0]), 0, 1)
    errors, _ = mean_error(world, 30)
    assert np.abs(errors).max() < 3.5


def test_a_useless_model_costs_next_to_nothing_and_a_good_one_pays() -> None:
    """With r = .6 the variance falls by r², so to .64 of what people alone give."""
    good, useless = World(40, 5, 4), World(40, 5, 4)
    useless.model = np.random.default_rng(3).random(useless.model.shape)
    alone = mean_error(good, 50, with_model=False)[1].mean()
    assert mean_error(good, 50)[1].mean() / alone == pytest.approx(0.64, abs=0.06)
    assert mean_error(useless, 50)[1].mean() / alone < 1.03
    assert combine(useless.sample(50, np.random.default_rng(0))).lambdas[1] < 0.1


@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_hold_with_ten_topics(question: Question) -> None:
    """Of 95% intervals 93 to 97 of 100 contain the truth: of each score and of each difference."""
    wide = World(400, 6, 5, seed=5)
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(400):
        chosen = rng.integers(0, 400, 10)
        rows = (chosen[:, None] * 6 + np.arange(6)).ravel()
        world = World(10, 6, 5)
        world.labels, world.model = wide.labels[rows], wide.model[rows]
        found = combine(world.sample(30, rng))
        truth = world.truth if question == "these" else wide.truth
        scores, gaps = found.intervals(question)
        differences = truth[:, None] - truth
        upper = np.triu_indices(5, 1)
        inside.append(
            [
                ((scores.low <= truth) & (truth <= scores.high)).mean(),
                ((gaps.low <= differences) & (differences <= gaps.high))[upper].mean(),
            ]
        )
    of_scores, of_differences = np.mean(inside, axis=0)
    assert 0.93 <= of_scores <= 0.97
    assert 0.93 <= of_differences <= 0.97


def test_strata_are_weighted_by_their_size() -> None:
    """Of a stratum of 2 parts with answers 1 both are asked, of one of 8 with answers 0 two: the score is .2."""
    asked = AskedParts(
        topic=np.arange(4),
        stratum=np.array([0, 0, 1, 1]),
        share=np.ones(4),
        people=np.array([[1.0], [1.0], [0.0], [0.0]]),
        model=np.zeros((4, 1)),
        places=np.array([2, 8]),
        model_means=np.zeros((10, 1)),
    )
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):  # which of the 10 topics are drawn: 0 and 1 always, two of the others
        topics = np.concatenate(([0, 1], 2 + rng.permutation(8)[:2]))
        found.append(combine(replace(asked, topic=topics)).scores[0])
    assert np.mean(found) == pytest.approx(0.2, abs=0.01)


def test_a_system_that_was_asked_about_less_has_a_wider_interval() -> None:
    world = World(30, 4, 3)
    rows = np.random.default_rng(0).permutation(120)[:60]
    whole = world.asked(rows)
    people = whole.people.copy()
    people[30:, 2] = np.nan
    found, before = combine(replace(whole, people=people)), combine(whole)
    own, whole_own = np.diagonal(found.covariance("these")), np.diagonal(before.covariance("these"))
    assert own[:2] == pytest.approx(whole_own[:2], rel=0.1)
    assert own[2] / whole_own[2] == pytest.approx((1 / 30 - 1 / 120) / (1 / 60 - 1 / 120), rel=0.35)


def test_a_system_without_some_summaries_is_scored_on_the_others() -> None:
    world = World(20, 4, 3)
    asked = world.sample(40, np.random.default_rng(0))
    means = asked.model_means.copy()
    means[:5, 1] = np.nan
    people = np.where((asked.topic < 5)[:, None] & (np.arange(3) == 1), np.nan, asked.people)
    found = combine(replace(asked, people=people, model_means=means))
    assert np.isnan(found.by_topic[:5, 1]).all()
    assert found.scores[1] == pytest.approx(found.by_topic[5:, 1].mean())
    assert np.isfinite(found.intervals("topics").of_differences.low).all()


@given(st.integers(0, 1000))
def test_the_order_of_parts_and_systems_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    asked = World(8, 4, 3).sample(20, rng)
    order, systems = rng.permutation(20), rng.permutation(3)
    moved = replace(
        asked,
        topic=asked.topic[order],
        stratum=asked.stratum[order],
        share=asked.share[order],
        people=asked.people[order][:, systems],
        model=asked.model[order][:, systems],
        model_means=asked.model_means[:, systems],
    )
    found, again = combine(asked), combine(moved)
    assert again.by_topic == pytest.approx(found.by_topic[:, systems])
    assert again.covariance("topics") == pytest.approx(found.covariance("topics")[np.ix_(systems, systems)])
