"""Intervals of bounded means against published values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.bounded import differences, wilson

Z = 1.959964


def share(successes: int, number: int) -> tuple[float, float]:
    mean = successes / number
    return mean, mean * (1 - mean) / number


def test_wilsons_interval_of_newcombe_1998() -> None:
    """Newcombe 1998 (Statistics in Medicine 17, 857), Table I: 81 of 263 gives .2553 to .3662, 15 of 148 .0624 to
    .1605."""
    means, variances = map(np.array, zip(share(81, 263), share(15, 148), strict=True))
    low, high = wilson(means, variances, Z, np.array([263.0, 148.0]))
    assert low == pytest.approx([0.2553, 0.0624], abs=5e-5)
    assert high == pytest.approx([0.3662, 0.1605], abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "interval"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
    ],
)
def test_difference_of_independent_shares(
    first: tuple[int, int], second: tuple[int, int], interval: tuple[float, float]
) -> None:
    """Newcombe 1998 (Statistics in Medicine 17, 873), Table II, method 10."""
    means, variances = map(np.array, zip(share(*first), share(*second), strict=True))
    of_mean = wilson(means, variances, Z, np.array([first[1], second[1]], dtype=float))
    low, high = differences(means, np.diag(variances), of_mean)
    assert (low[0, 1], min(high[0, 1], 1.0)) == pytest.approx(interval, abs=2e-4)
    assert (-high[1, 0], -low[1, 0]) == pytest.approx((low[0, 1], high[0, 1]))


def test_no_and_all_successes_use_the_given_number() -> None:
    """0 of 20: 0 to .1611; 10 of 10: .7225 to 1 (Newcombe 1998, Table I)."""
    low, high = wilson(np.array([0.0, 1.0]), np.zeros(2), Z, np.array([20.0, 10.0]))
    assert (low[0], high[0], low[1], high[1]) == pytest.approx((0, 0.1611, 0.7225, 1), abs=5e-5)


def test_with_everything_known_the_interval_is_a_point() -> None:
    low, high = wilson(np.array([0.25, 0.0]), np.zeros(2), Z, np.inf)
    assert low.tolist() == high.tolist() == [0.25, 0.0]


def test_perfectly_correlated_estimates_differ_for_certain() -> None:
    means, covariance = np.array([0.5, 0.5]), np.full((2, 2), 0.01)
    low, high = differences(means, covariance, wilson(means, np.diagonal(covariance), Z, 1.0))
    assert np.abs([low[0, 1], high[0, 1]]).max() < 1e-9


@given(st.floats(-0.2, 1.2), st.floats(0, 0.1), st.floats(0.5, 6))
def test_an_interval_contains_its_estimate_and_stays_on_the_scale(
    mean: float, variance: float, quantile: float
) -> None:
    low, high = wilson(np.array([mean]), np.array([variance]), quantile, 10.0)
    assert low[0] <= mean <= high[0]
    assert min(mean, 0.0) <= low[0]
    assert high[0] <= max(mean, 1.0)


def test_nothing_jumps_at_the_end_of_the_scale() -> None:
    """With a standard error of .02, the upper end stays between .1 and .25 however near to 0 the mean is."""
    means = np.array([0.02, 0.01, 0.005, 0.001, 1e-6, 0.0, -0.01])
    low, high = wilson(means, np.full(7, 0.0004), Z, 60.0)
    assert ((high > 0.1) & (high < 0.25)).all()
    assert np.abs(np.diff(high)).max() < 0.1
    assert (low <= means).all()
