"""Three fits against statsmodels, scipy and scikit-learn-free derivations."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.regression import canonical, least_squares, non_negative, robust


def noisy(seed: int, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    return x, x @ [1.0, -0.5, 0.0] + 2 + 0.3 * rng.standard_t(2, size=rows)


@given(seed=st.integers(0, 300))
def test_robust_equals_statsmodels(seed: int) -> None:
    x, y = noisy(seed)
    theirs = sm.RLM(y, sm.add_constant(x), M=sm.robust.norms.HuberT()).fit(
        scale_est=sm.robust.scale.mad, maxiter=200, tol=1e-12
    )
    ours = robust(x, y)
    # statsmodels centres the residuals before taking their scale; ours does not: equal up to that.
    assert [ours.intercept, *ours.weights] == pytest.approx(theirs.params.tolist(), abs=0.03)


def test_robust_does_not_follow_an_outlier() -> None:
    x = np.arange(20.0)[:, None]
    y = 3 * x[:, 0] + 1
    y[4] = 500
    assert robust(x, y).weights[0] == pytest.approx(3, abs=0.1)
    assert abs(least_squares(x, y).weights[0] - 3) > 1


def test_non_negative_drops_what_counts_against() -> None:
    x, y = noisy(1)
    y += x[:, 2]  # the first and the third count for, the second against
    found = non_negative(x, y)
    alone = least_squares(x[:, [0, 2]], y)
    assert alone.weights.min() > 0.5
    assert found.weights == pytest.approx([alone.weights[0], 0, alone.weights[1]])
    assert found.intercept == pytest.approx(alone.intercept)


def test_canonical_with_one_target_is_least_squares() -> None:
    x, y = noisy(2)
    ours, plain = canonical(x, y), least_squares(x, y)
    assert ours.weights == pytest.approx(plain.weights)
    assert ours.intercept == pytest.approx(plain.intercept)


def test_canonical_finds_the_best_combination() -> None:
    rng = np.random.default_rng(3)
    x, y = noisy(3)
    other = x @ [0.9, -0.6, 0.1] + 0.3 * rng.normal(size=60)
    found = canonical(x, y, other[:, None])
    best = max(_canonical_correlation(x @ w, np.column_stack([y, other])) for w in rng.normal(size=(3000, 3)))
    assert _canonical_correlation(x @ found.weights, np.column_stack([y, other])) >= best - 1e-9


def _canonical_correlation(variate: np.ndarray, targets: np.ndarray) -> float:
    return float(np.sqrt(sm.OLS(variate, sm.add_constant(targets)).fit().rsquared))


def test_a_line_is_found_and_predicts() -> None:
    # value = 1 + 3a - 2b without noise: nothing is left to be robust against.
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 5.0]])
    y = np.array([1.0, 4.0, -1.0, -3.0])
    for fit in (least_squares, robust, canonical):
        found = fit(x, y)
        assert found.weights == pytest.approx([3, -2])
        assert found.predict(np.array([[10.0, 1.0]])) == pytest.approx([29])


def test_without_rounds_robust_is_least_squares() -> None:
    x, y = noisy(4)
    assert robust(x, y, rounds=0).weights == pytest.approx(least_squares(x, y).weights)
    assert robust(x, y).weights != pytest.approx(least_squares(x, y).weights)


def test_where_nothing_varies_nothing_weighs() -> None:
    target = np.array([1.0, 2.0, 3.0, 6.0])
    constant = canonical(np.ones((4, 2)), target)
    assert (constant.weights.tolist(), constant.intercept) == ([0, 0], 3)
    untargeted = canonical(target[:, None], np.ones(4))
    assert (untargeted.weights.tolist(), untargeted.intercept) == ([0], 1)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_of_features_never_matter(unit: float) -> None:
    x, y = noisy(5)
    for fit in (least_squares, canonical):
        assert fit(x * unit, y).weights * unit == pytest.approx(fit(x, y).weights)


def test_canonical_of_few_rows_is_the_fit_closest_to_the_target() -> None:
    """Six rows, four features and four targets: a space of three dimensions is in both, and any direction in it
    correlates perfectly. What is chosen must not depend on rounding, such as that of another order of rows."""
    rng = np.random.default_rng(5)
    x, y, others = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=(6, 3))
    found = canonical(x, y, others)
    for _ in range(20):
        order = rng.permutation(6)
        again = canonical(x[order], y[order], others[order])
        assert again.weights == pytest.approx(found.weights, abs=1e-9)
        assert again.intercept == pytest.approx(found.intercept, abs=1e-9)
    assert _canonical_correlation(x @ found.weights, np.column_stack([y, others])) == pytest.approx(1)
    # By hand: the projection of the target on what features and targets have in common.
    features, targets = (np.linalg.qr(c - c.mean(axis=0))[0] for c in (x, np.column_stack([y, others])))
    left, size, _ = np.linalg.svd(features.T @ targets)
    common = features @ left[:, size > 1 - 1e-9]
    assert common.shape[1] == 3
    assert found.predict(x) == pytest.approx(common @ common.T @ (y - y.mean()) + y.mean())
