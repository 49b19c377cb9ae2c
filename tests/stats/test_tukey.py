"""Tukey's test against printed tables, statsmodels and scipy, on balanced, unbalanced and rank-deficient designs."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from pyramidion.stats.tukey import r_squared, studentized_range_sf, tukey


@pytest.mark.parametrize(
    ("groups", "df", "q"), [(3, 10, 3.877), (5, 20, 4.232), (8, 30, 4.602), (2, 5, 3.635), (10, 120, 4.560)]
)
def test_the_printed_table_of_the_studentized_range(groups: int, df: int, q: float) -> None:
    # Upper 5% points as printed in statistics textbooks, to three decimals.
    assert studentized_range_sf(q, groups, df) == pytest.approx(0.05, abs=2e-4)


@given(groups=st.integers(2, 60), df=st.integers(1, 500), q=st.floats(0.1, 12))
def test_the_studentized_range_equals_scipys(groups: int, df: int, q: float) -> None:
    expected = stats.studentized_range.sf(q, groups, df)
    assert studentized_range_sf(q, groups, df) == pytest.approx(expected, abs=1e-8)


def one_way(seed: int, balanced: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = [8] * 4 if balanced else [3, 12, 7, 5]
    group = np.repeat(np.arange(4), sizes)
    return rng.normal(size=len(group)) + 0.7 * group, group


@pytest.mark.parametrize("balanced", [True, False])
def test_one_way_equals_statsmodels(balanced: bool) -> None:
    y, group = one_way(3, balanced)
    theirs = pairwise_tukeyhsd(y, group)
    ours = tukey(y, group)
    upper = np.triu_indices(4, 1)
    assert ours.p[upper] == pytest.approx(theirs.pvalues, abs=1e-4)
    assert -ours.difference[upper] == pytest.approx(theirs.meandiffs)
    assert ours.df == len(y) - 4


def unbalanced(seed: int, rows: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    system, judge, topic = rng.integers(0, 4, rows), rng.integers(0, 6, rows), rng.integers(0, 8, rows)
    y = 0.5 * system + rng.normal(size=6)[judge] + rng.normal(size=8)[topic] + rng.normal(size=rows)
    return y, system, judge, topic


@given(seed=st.integers(0, 200))
def test_contrasts_equal_those_of_a_full_rank_regression(seed: int) -> None:
    y, system, judge, topic = unbalanced(seed)
    columns = [np.ones(len(y))]
    columns += [(code == value).astype(float) for code in (system, judge, topic) for value in np.unique(code)[1:]]
    fitted = sm.OLS(y, np.stack(columns, axis=1)).fit()
    ours = tukey(y, system, [judge, topic])
    assert ours.df == int(fitted.df_resid)
    contrast = np.zeros(len(columns))
    contrast[3] = 1.0  # system 3 against system 0
    theirs = fitted.t_test(contrast)
    assert ours.difference[3, 0] == pytest.approx(float(theirs.effect[0]))
    assert ours.error[3, 0] == pytest.approx(float(theirs.sd[0, 0]))
    q = abs(float(theirs.tvalue[0, 0])) * np.sqrt(2)
    assert ours.p[3, 0] == pytest.approx(stats.studentized_range.sf(q, 4, ours.df), abs=1e-8)


def test_what_the_data_does_not_link_is_not_compared() -> None:
    # Judge 0 scores systems 0 and 1, judge 1 systems 2 and 3: nobody can tell systems of different judges apart.
    judge = np.repeat([0, 1], 8)
    system = np.concatenate([np.tile([0, 1], 4), np.tile([2, 3], 4)])
    y = np.random.default_rng(0).normal(size=16) + 5 * judge
    found = tukey(y, system, [judge])
    assert np.isnan(found.p[0, 2])
    assert np.isnan(found.difference[1, 3])
    assert not np.isnan(found.p[0, 1])
    assert np.isnan(found.effects).all()


def test_without_residual_degrees_nothing_is_tested() -> None:
    found = tukey([1.0, 2.0, 3.0], [0, 1, 2])
    assert np.isnan(found.p).all()
    assert found.df == 0


@pytest.mark.parametrize("others", [(), ([0, 1, 0, 1, 0, 1],)])
def test_an_exact_fit_leaves_no_doubt(others: tuple[list[int], ...]) -> None:
    # No residual at all: systems 1 and 2 are equal, both differ from system 0 for certain. In floating point sixths
    # add up to a little less or more, which says nothing.
    found = tukey([1 / 6, 1 / 6, 0.7, 0.7, 0.7, 0.7], [0, 0, 1, 1, 2, 2], others)
    assert (found.p[0, 1], found.p[0, 2], found.p[1, 2]) == (0, 0, 1)
    assert found.p[2, 1] == 1
    assert found.sigma == 0
    assert found.effects == pytest.approx([1 / 6, 0.7, 0.7])


@pytest.mark.slow
def test_it_holds_its_familywise_level() -> None:
    rng = np.random.default_rng(9)
    system = rng.integers(0, 5, 80)
    judge = rng.integers(0, 10, 80)
    false = [np.nanmin(tukey(rng.normal(size=80) + judge, system, [judge]).p) < 0.05 for _ in range(400)]
    assert np.mean(false) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 400))


def test_r_squared_by_hand_and_by_regression() -> None:
    # Means 1 and 4 around 2.5 over 1, 1, 3, 5: total 11, within 2: 9 / 11.
    assert r_squared([1, 1, 3, 5], [0, 0, 1, 1]) == pytest.approx(9 / 11)
    y, system, *_ = unbalanced(1)
    assert r_squared(y, system) == pytest.approx(sm.OLS(y, np.eye(4)[system]).fit().rsquared)
    assert r_squared([2, 2, 2], [0, 1, 1]) is None
    assert r_squared([1, 2], [0, 1]) == 1
    assert r_squared([1], [0]) is None
