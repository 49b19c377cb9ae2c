"""Many pairs at once: every p-value against scipy, statsmodels or an enumeration; level and power by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as second_mcnemar

from pyramidion.stats.paired import (
    bootstrap_rows,
    mcnemar_rows,
    permutation,
    permutation_rows,
    verdict_rows,
    wilcoxon_rows,
)


@given(seed=st.integers(0, 10_000), items=st.integers(2, 60), ties=st.booleans())
def test_wilcoxon_equals_scipy(seed: int, items: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (8, items)).astype(float) if ties else rng.normal(size=(8, items))
    theirs = [stats.wilcoxon(row).pvalue if np.any(row) else 1.0 for row in rows]
    assert wilcoxon_rows(rows) == pytest.approx(theirs, abs=1e-12)


def test_missing_items_do_not_count() -> None:
    row = np.array([[0.3, -0.1, np.nan, 0.4, 0.2, np.nan, 0.7]])
    held = row[~np.isnan(row)]
    assert wilcoxon_rows(row)[0] == pytest.approx(stats.wilcoxon(held).pvalue)
    assert permutation_rows(row).p[0] == pytest.approx(permutation(held, np.zeros(5)).p)


@given(seed=st.integers(0, 10_000), items=st.integers(1, 8))
def test_permutation_equals_an_enumeration(seed: int, items: int) -> None:
    row = np.random.default_rng(seed).integers(-4, 5, items).astype(float)
    sums = [abs(sum(sign * x for sign, x in zip(signs, row, strict=True))) for signs in product((1, -1), repeat=items)]
    expected = np.mean([total >= abs(row.sum()) - 1e-9 for total in sums])
    assert permutation_rows(row[None, :]).p[0] == pytest.approx(expected)


def test_sampled_permutation_is_close_to_scipys() -> None:
    row = np.random.default_rng(4).normal(0.3, 1, 25)
    theirs = stats.permutation_test(
        (row,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0)
    ).pvalue
    ours = permutation_rows(row[None, :], rng=np.random.default_rng(1), samples=20_000).p[0]
    assert ours == pytest.approx(theirs, abs=4 * np.sqrt(theirs * (1 - theirs) / 10_000))


@given(seed=st.integers(0, 10_000))
def test_mcnemar_equals_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, 30))
    table = [[((a == i) & (b == j)).sum() for j in (1, 0)] for i in (1, 0)]
    expected = second_mcnemar(table, exact=True).pvalue
    assert mcnemar_rows((a - b)[None, :].astype(float))[0] == pytest.approx(expected)


def test_bootstrap_by_enumeration() -> None:
    # Three items: 27 resamples, all equally likely. Count those whose mean is as far from the mean as that from 0.
    row = np.array([1.0, 2.0, 6.0])
    drawn = [np.mean(sample) for sample in product(row, repeat=3)]
    exact = np.mean([abs(mean - 3) >= 3 - 1e-9 for mean in drawn])
    found = bootstrap_rows(row[None, :], rng=np.random.default_rng(0), samples=40_000).p[0]
    assert found == pytest.approx(exact, abs=0.004)


@pytest.mark.parametrize("name", ["permutation", "wilcoxon", "mcnemar"])
def test_tests_hold_their_level(name: str) -> None:
    rng = np.random.default_rng(21)
    if name == "mcnemar":
        p = mcnemar_rows(rng.integers(-1, 2, (2000, 40)).astype(float))
        assert (p < 0.05).mean() < 0.05  # exact, so conservative
        return
    rows = rng.standard_t(4, (2000, 16))
    p = permutation_rows(rows, rng=rng).p if name == "permutation" else wilcoxon_rows(rows)
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 2000))


def test_power_matches_theory() -> None:
    # A shift of .6 sd over 25 pairs: the t-test has power .82 (noncentral t); the permutation test comes close to it.
    rng = np.random.default_rng(2)
    p = permutation_rows(rng.normal(0.6, 1, (1500, 25)), rng=rng).p
    critical = stats.t.isf(0.025, 24)
    theory = stats.nct.sf(critical, 24, 3.0) + stats.nct.cdf(-critical, 24, 3.0)
    assert (p < 0.05).mean() == pytest.approx(theory, abs=0.04)


def test_verdicts_by_hand() -> None:
    # Six differences of one sign: 2 of 2^6 patterns of signs are as extreme, p = .03125. With the smallest turned
    # round it is 4 of 2^6, p = .0625, and nothing is found at .05.
    better = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    rows = np.array([better, -better, better * [-1, 1, 1, 1, 1, 1], better * 0])
    assert verdict_rows(rows, 0.05).tolist() == [1, -1, 0, 0]
    assert verdict_rows(rows, 0.07).tolist() == [1, -1, 1, 0]
    assert verdict_rows(rows, 0.03125).tolist() == [0, 0, 0, 0]  # below the level, not at it


@given(seed=st.integers(0, 10_000), unit=st.sampled_from([1e-15, 1e-9, 1e9, 1e15]))
def test_units_of_measurement_never_matter(seed: int, unit: float) -> None:
    # Tenths do not add up exactly, and a large unit makes the rounding errors large.
    row = np.random.default_rng(seed).integers(-9, 10, (1, 7)) / 10
    assert permutation_rows(row * unit).p == pytest.approx(permutation_rows(row).p)
    assert wilcoxon_rows(row * unit) == pytest.approx(wilcoxon_rows(row))


def exact_p(row: np.ndarray) -> float:
    """All 2^n sign patterns, met in the middle: sorted sums of one half are searched for what the other half lacks."""

    def sums(part: np.ndarray) -> np.ndarray:
        total = np.zeros(1)
        for value in part:
            total = np.concatenate([total + value, total - value])
        return total

    left, right = np.sort(sums(row[: len(row) // 2])), sums(row[len(row) // 2 :])
    reached = len(left) - np.searchsorted(left, abs(row.sum()) - 1e-9 - right)
    return min(1.0, 2 * float(reached.sum()) / 2.0 ** len(row)) if row.sum() else 1.0


@given(
    seed=st.integers(0, 10_000),
    shift=st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.5]),
    grid=st.sampled_from([0.0, 0.25, 1.0]),
)
def test_drawn_permutation_reaches_the_exact_tail(seed: int, shift: float, grid: float) -> None:
    # 24 items: too many to enumerate as such, few enough to count exactly; with ties and without.
    row = np.random.default_rng(seed).normal(shift, 1, 24)
    row = np.round(row / grid) * grid if grid else row
    found = permutation_rows(row[None, :], rng=np.random.default_rng(seed + 1), samples=4000)
    exact = exact_p(row)
    assert found.p[0] == pytest.approx(exact, rel=max(0.02, 5 * found.error[0] / exact))
    assert found.error[0] <= 0.06 * exact


def test_a_row_does_not_depend_on_the_others() -> None:
    rows = np.random.default_rng(3).normal(0.4, 1, (20, 60))
    together = permutation_rows(rows, rng=np.random.default_rng(0)).p
    alone = [permutation_rows(row[None, :], rng=np.random.default_rng(0)).p[0] for row in rows]
    assert together.tolist() == alone


@pytest.mark.parametrize("shift", [0.6, 1.0, 1.6])
def test_bootstrap_tails_equal_a_convolution(shift: float) -> None:
    # Whole hundredths: the sum of n draws has an exact distribution, the n-th convolution power of that of one draw.
    row = np.round(np.random.default_rng(5).normal(shift, 1, 30) * 100)
    low = int(row.min())
    one = np.bincount((row - low).astype(int)) / len(row)
    total = np.ones(1)
    for _ in row:
        total = np.convolve(total, one)
    sums = np.arange(len(total)) + low * len(row)
    exact = total[np.abs(sums - row.sum()) >= abs(row.sum()) - 1e-6].sum()
    found = bootstrap_rows(row[None, :] / 100, rng=np.random.default_rng(0), samples=200)  # too few to count any
    assert exact < 0.02
    assert found.p[0] == pytest.approx(exact, rel=0.05)
