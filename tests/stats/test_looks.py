"""Critical values of planned looks against published ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import studentized_range

from pyramidion.stats import looks
from pyramidion.stats.combining import AskedParts, Combined, combine
from pyramidion.stats.looks import Paths, decide


def independent(systems: int, half: float = 0.01) -> Combined:
    """Scores that vary independently, with equal variances, and not with the topics."""
    none = np.zeros((1, systems, systems))
    parts = AskedParts(
        topic=np.array([0]),
        stratum=np.array([0]),
        share=np.ones(1),
        people=np.full((1, systems), 0.5),
        model=np.zeros((1, systems)),
        places=np.array([1]),
        model_means=np.zeros((1, systems)),
    )
    covariance = np.eye(systems) * half
    freedom = np.full_like(none, 1e6)
    return replace(
        combine(parts), strata_covariances=covariance[None], half_covariance=covariance, strata_freedom=freedom
    )


def quantile(found: Combined, shares: list[float], now: int, level: float = 0.05) -> float:
    paths = Paths(found, "these", shares, now, seed=0)
    first, second = np.triu_indices(len(found.scores), 1)
    return float(np.quantile(paths.largest_of_pairs(first, second).max(axis=1), 1 - level))


@pytest.mark.parametrize("systems", [2, 5, 10])
def test_one_look_is_tukeys_range_test(systems: int) -> None:
    """Of independent means, the largest |t| of all pairs is the studentized range over the square root of 2."""
    known = studentized_range.ppf(0.95, systems, 1e6) / np.sqrt(2)
    assert quantile(independent(systems), [0.5], 1) == pytest.approx(known, abs=0.05)


@pytest.mark.parametrize(("number", "known"), [(2, 2.178), (5, 2.413), (10, 2.555)])
def test_looks_at_even_distances_have_pococks_bounds(number: int, known: float) -> None:
    """Jennison and Turnbull 2000, Table 2.1, level .05. The information is 1 / variance, so 1 / (1 / share - 1): even
    distances are shares of k c / (1 + k c)."""
    shares = [look * 0.1 / (1 + look * 0.1) for look in range(1, number + 1)]
    found = independent(2)
    for now in (1, number):  # the present look says how large variances are, not how they relate
        scale = 1 / shares[now - 1] - 1
        here = replace(found, strata_covariances=found.half_covariance[None] * scale)
        assert quantile(here, shares, now) == pytest.approx(known, abs=0.06)


def test_a_decided_pair_makes_the_others_easier() -> None:
    """Step-down: with scores .2, .5 and .575, the third pair needs the lower bound of a single pair."""
    found = replace(independent(3, half=0.0005), by_topic=np.array([[0.2, 0.5, 0.575]]))
    everything = ~np.eye(3, dtype=bool)
    verdicts = decide(found, "these", everything, shares=[0.5], now=1)
    assert np.argwhere(verdicts.better).tolist() == [[1, 0], [2, 0], [2, 1]]
    larger = replace(independent(4, half=0.0005), by_topic=np.array([[0.46, 0.5, 0.575, 0.53]]))
    all_pairs = decide(larger, "these", ~np.eye(4, dtype=bool), shares=[0.5], now=1).better
    assert not all_pairs[2, 1]


def test_decided_pairs_are_not_tested_again() -> None:
    found = replace(independent(2, half=0.0001), by_topic=np.array([[0.2, 0.8]]))
    none = np.zeros((2, 2), dtype=bool)
    assert not decide(found, "these", none, shares=[0.5], now=1).better.any()


def test_no_pair_is_decided_wrongly_over_nine_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 campaigns on systems that do not differ: at most 5% decide anything (3 standard errors: 9%)."""
    monkeypatch.setattr(looks, "DRAWS", 1000)
    rng = np.random.default_rng(0)
    shares = [number / 10 for number in range(1, 10)]
    wrong = 0
    for campaign in range(300):
        labels = (rng.random((300, 4)) < rng.beta(1, 1, (300, 1))).astype(float)
        model = np.clip(labels * 0.3 + rng.random(labels.shape) * 0.7, 0, 1)
        labels -= labels.mean(axis=0) - labels.mean()  # equal scores on these topics, exactly
        topic = np.repeat(np.arange(30), 10)
        means = model.reshape(30, 10, 4).mean(axis=1)
        undecided = ~np.eye(4, dtype=bool)
        order = rng.permutation(300)
        for now, share in enumerate(shares, 1):
            rows = order[: round(300 * share)]
            parts = AskedParts(
                topic[rows], np.zeros(len(rows), int), np.full(len(rows), 0.1), labels[rows], model[rows],
                np.array([300]), means,
            )  # fmt: skip
            better = decide(combine(parts), "these", undecided, shares=shares, now=now, seed=campaign).better
            if better.any():
                wrong += 1
                break
    assert 0 < wrong <= 0.09 * 300
