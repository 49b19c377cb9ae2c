"""Correlations by hand, and what is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pyramidion.stats.correlation import Kind, correlation, row_correlations, weighted_correlations, williams


def test_by_hand() -> None:
    # x = 1 2 3, y = 1 3 2: covariance 1/2 of both variances: r = .5; ranks are the values: rho = .5;
    # pairs (1,2), (1,3) concordant, (2,3) discordant: tau = (2 - 1) / 3.
    x, y = [1, 2, 3], [1, 3, 2]
    assert correlation(x, y).r == pytest.approx(0.5)
    assert correlation(x, y, "spearman").r == pytest.approx(0.5)
    assert correlation(x, y, "kendall").r == pytest.approx(1 / 3)


def test_missing_pairs_are_left_out_and_counted() -> None:
    found = correlation([1, 2, np.nan, 4], [2, 4, 1, 8])
    assert (found.n, found.r) == (3, pytest.approx(1.0))


@pytest.mark.parametrize(("x", "y"), [([1, 1, 1], [1, 2, 3]), ([1], [2]), ([], [])])
def test_undefined_is_none_not_nan(x: list[float], y: list[float]) -> None:
    assert correlation(x, y).r is None


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2"):
        correlation([1, 2, 3], [1, 2])


def random_rows(seed: int, rows: int = 6, columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with ties and gaps."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (rows, columns)).astype(float), rng.normal(size=(rows, columns)).round(1)
    x[rng.random(x.shape) < 0.1] = np.nan
    return x, y


def or_nan(r: float | None) -> float:
    return np.nan if r is None else r


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
@given(seed=st.integers(0, 10_000))
def test_rows_are_correlated_as_single_lists_are(kind: Kind, seed: int) -> None:
    x, y = random_rows(seed)
    x[0] = 3.0  # a constant row is undefined
    single = [or_nan(correlation(a, b, kind).r) for a, b in zip(x, y, strict=True)]
    assert row_correlations(x, y, kind) == pytest.approx(single, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
@given(seed=st.integers(0, 10_000))
def test_weights_are_repetitions(kind: Kind, seed: int) -> None:
    x, y = (part[0] for part in random_rows(seed))
    weights = np.random.default_rng(seed).integers(0, 3, size=(5, len(x)))
    repeated = [or_nan(correlation(np.repeat(x, w), np.repeat(y, w), kind).r) for w in weights]
    assert weighted_correlations(x, y, weights, kind) == pytest.approx(repeated, nan_ok=True, abs=1e-9)


def test_williams_by_a_second_formula() -> None:
    # Steiger 1980, equation 7, with the determinant taken from the correlation matrix itself.
    rng = np.random.default_rng(3)
    gold = rng.normal(size=20)
    x, y = gold + rng.normal(size=20), gold + 2 * rng.normal(size=20)
    matrix = np.corrcoef([x, y, gold])
    mean = (matrix[0, 2] + matrix[1, 2]) / 2
    below = 2 * (19 / 17) * np.linalg.det(matrix) + mean**2 * (1 - matrix[0, 1]) ** 3
    t = (matrix[0, 2] - matrix[1, 2]) * np.sqrt(19 * (1 + matrix[0, 1]) / below)
    found = williams(x, y, gold)
    assert found.difference == pytest.approx(matrix[0, 2] - matrix[1, 2])
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 17))


def test_williams_holds_its_level_and_finds_what_is_there() -> None:
    rng = np.random.default_rng(8)
    false, found = 0, 0
    for _ in range(600):
        gold = rng.normal(size=25)
        a, b, c = (gold + spread * rng.normal(size=25) for spread in (1.0, 1.0, 4.0))
        false += (williams(a, b, gold).p or 1) < 0.05
        found += (williams(a, c, gold).p or 1) < 0.05
    assert false / 600 == pytest.approx(0.05, abs=0.03)  # three standard errors are .027
    assert found / 600 > 0.6


def test_williams_is_undefined_for_three_systems_or_a_constant() -> None:
    assert williams([1, 2, 3], [3, 1, 2], [1, 2, 4]).p is None
    assert williams([1, 1, 1, 1, 1], [3, 1, 2, 5, 4], [1, 2, 4, 3, 5]).p is None
    assert williams([1, 2, 3, 5], [1, 2, 3, 5], [1, 2, 4, 3]).p == 1.0


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize(("x_unit", "y_unit"), [(1e-12, 1e-12), (1e12, 1e-12), (1e-12, 1e12), (1e12, 1e12)])
def test_units_of_measurement_never_matter(kind: Kind, x_unit: float, y_unit: float) -> None:
    x, y = np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, 3.0, 2.0, 9.0])
    expected = or_nan(correlation(x, y, kind).r)
    once, twice = np.ones((1, 4)), np.array([[2.0, 2.0, 2.0, 2.0]])
    assert row_correlations(x * x_unit, y * y_unit, kind) == pytest.approx(expected)
    for weights in (once, twice):
        assert weighted_correlations(x * x_unit, y * y_unit, weights, kind) == pytest.approx([expected])
    # .1 added up three times and divided by 3 is not .1: a spread of rounding errors only.
    flat = np.full(4, 0.1)
    for first, second in ((flat * x_unit, y * y_unit), (x * x_unit, flat * y_unit)):
        assert np.isnan(row_correlations(first, second, kind))
        assert np.isnan(weighted_correlations(first, second, np.array([[1.0, 1.0, 1.0, 0.0]]), kind)).all()


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_two_pairs_are_enough_and_one_is_not(kind: Kind) -> None:
    x = np.array([[1.0, 2.0, np.nan], [1.0, 2.0, np.nan], [1.0, np.nan, np.nan]])
    y = np.array([[3.0, 5.0, 9.0], [5.0, 3.0, 9.0], [3.0, 5.0, 9.0]])
    assert row_correlations(x, y, kind) == pytest.approx([1, -1, np.nan], nan_ok=True)


def test_long_rows_are_compared_in_blocks() -> None:
    # 2,100 columns make 2.2 million pairs, and four million fit into a block: one row at a time.
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 2100))
    y = np.array([[1.0], [-2.0], [0.0]]) * x + rng.normal(size=(3, 2100))
    theirs = [stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert row_correlations(x, y, "kendall") == pytest.approx(theirs)
