"""Correlations by hand, and what is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pyramidion.stats.correlation import (
    Kind,
    _filon,
    clustered_correlations,
    correlation,
    row_correlations,
    steiger,
    weighted_correlations,
    williams,
)
from pyramidion.stats.intervals import resampling_weights


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


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
@given(seed=st.integers(0, 10_000))
def test_a_clusters_weight_is_that_of_its_items(kind: Kind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 20).astype(float), rng.normal(size=20).round(1) + 100
    cluster = rng.integers(0, 5, 20)
    weights = resampling_weights(rng, 6, 8)  # the sixth cluster is empty
    expected = weighted_correlations(x, y, weights[:, cluster], kind)
    assert clustered_correlations(x, y, cluster, weights, kind) == pytest.approx(expected, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_clusters_without_items_or_spread_are_undefined(kind: Kind) -> None:
    weights = np.array([[1.0, 1.0]])
    none = np.zeros(0, dtype=np.int64)
    assert np.isnan(clustered_correlations([], [], none, weights, kind)).all()
    assert np.isnan(clustered_correlations([0.1] * 3, [1, 2, 3], np.array([0, 1, 1]), weights, kind)).all()


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


def lists_with(matrix: list[list[float]], n: int) -> np.ndarray:
    """n draws whose sample correlations are exactly these: white noise, made uncorrelated, then mixed."""
    noise = np.random.default_rng(0).normal(size=(len(matrix), n))
    noise -= noise.mean(axis=1, keepdims=True)
    white = np.linalg.solve(np.linalg.cholesky(np.cov(noise)), noise)
    return np.linalg.cholesky(np.array(matrix)) @ white


def test_steigers_own_examples() -> None:
    # As usually quoted from Steiger 1980, n = 103: case A (shared variable, Williams) t = -.89; case B (no shared
    # variable) z = -1.40. The formula itself is derived by the delta method in the next test.
    a, b, gold = lists_with([[1, 0.1, 0.4], [0.1, 1, 0.5], [0.4, 0.5, 1]], 103)
    assert williams(a, b, gold).p == pytest.approx(2 * stats.t.sf(0.8913, 100), abs=1e-4)
    one, two, three, four = lists_with(
        [[1, 0.5, 0.7, 0.5], [0.5, 1, 0.5, 0.8], [0.7, 0.5, 1, 0.6], [0.5, 0.8, 0.6, 1]], 103
    )
    found = steiger((one, two), (three, four))
    assert found.difference == pytest.approx(-0.1)
    assert found.p == pytest.approx(2 * stats.norm.sf(1.40), abs=2e-3)
    assert found.p == pytest.approx(2 * stats.norm.sf(1.40497), abs=1e-5)  # by hand to more places


def test_the_covariance_of_two_correlations_by_the_delta_method() -> None:
    # In normal data cov(s_ij, s_kl) = s_ik s_jl + s_il s_jk (Isserlis); r is a function of covariances.
    matrix = np.array([[1, 0.5, 0.7, 0.5], [0.5, 1, 0.4, 0.8], [0.7, 0.4, 1, 0.6], [0.5, 0.8, 0.6, 1]])
    pairs = [(i, j) for i in range(4) for j in range(i, 4)]
    spread = np.array([[matrix[i, k] * matrix[j, m] + matrix[i, m] * matrix[j, k] for k, m in pairs] for i, j in pairs])

    def gradient(a: int, b: int) -> np.ndarray:
        r = matrix[a, b]
        return np.array([1.0 if p == (a, b) else -r / 2 if p in ((a, a), (b, b)) else 0.0 for p in pairs])

    expected = gradient(0, 1) @ spread @ gradient(2, 3)
    assert _filon(0.5, 0.6, 0.7, 0.5, 0.4, 0.8) == pytest.approx(expected)


def test_steiger_holds_its_level_and_finds_what_is_there() -> None:
    # Two halves of 24 topics correlate alike; with 8 topics scored at random they do less than without those.
    rng = np.random.default_rng(8)
    false = found = 0
    for _ in range(500):
        gold = rng.normal(size=25)
        manual, metric = (gold + spread * rng.normal(size=(24, 25)) for spread in (2.0, 3.0))
        halves = [(manual[part].mean(0), metric[part].mean(0)) for part in (slice(12), slice(12, None))]
        false += (steiger(*halves).p or 1) < 0.05
        noisy = manual + np.where(np.arange(24) < 16, 0, 20)[:, None] * rng.normal(size=(24, 25))
        sides = [(noisy[part].mean(0), metric[part].mean(0)) for part in (slice(None), slice(16))]
        found += (steiger(*sides).p or 1) < 0.05
    assert false / 500 == pytest.approx(0.05, abs=0.03)  # three standard errors are .029
    assert found / 500 > 0.4


def test_steiger_without_a_change_or_without_data() -> None:
    x, y = [1.0, 2.0, 3.0, 5.0, 4.0], [2.0, 1.0, 3.0, 4.0, 6.0]
    assert steiger((x, y), (x, y)).p == 1.0
    assert steiger((x, y), (y, x)).p == 1.0
    assert steiger((x, y), ([1.0] * 5, y)).p is None
    assert steiger((x, x), (x, y)).p is None  # a correlation of 1 has no Fisher transform
    assert steiger((x[:3], y[:3]), (y[:3], x[:3])).p is None
    assert steiger((x, [*y[:4], np.nan]), (y, x)).n == 4
