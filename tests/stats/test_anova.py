"""Analysis of variance: by hand, against printed tables, a paper's table, scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from pyramidion.stats.anova import one_way, several_way

VALUES = [6, 8, 4, 5, 3, 4, 8, 12, 9, 11, 6, 8, 13, 9, 11, 8, 7, 12]
GROUPS = np.repeat([0, 1, 2], 6)


def test_by_hand() -> None:
    # Means 5, 9 and 10, grand mean 8.
    # Between: 6 (9 + 1 + 4) = 84 over 2 degrees of freedom, 42.
    # Within: (1+9+1+0+4+1) + (1+9+0+4+9+1) + (9+1+1+4+9+4) = 16 + 24 + 28 = 68 over 15, 4.5333.
    # F = 42 / 4.5333 = 9.2647; its share is 84 / 152. A printed table has 6.36 as the upper 1% point of F(2, 15).
    found = one_way(VALUES, GROUPS)
    assert (found.between, found.within) == (2, 15)
    assert found.f == pytest.approx(42 / (68 / 15))
    assert found.share == pytest.approx(84 / 152)
    assert found.p is not None
    assert 0.001 < found.p < 0.01


@pytest.mark.parametrize(
    ("between", "within", "f"), [(2, 15, 3.68), (4, 20, 2.87), (1, 10, 4.96), (3, 30, 2.92), (9, 40, 2.12)]
)
def test_the_printed_table_of_f(between: int, within: int, f: float) -> None:
    # Upper 5% points as printed in statistics textbooks, to two decimals. Each group has two values but the last,
    # and the means are moved apart until F is the printed one.
    sizes = [2] * between + [within - between + 1]
    groups = np.repeat(np.arange(between + 1), sizes)
    noise = np.concatenate([_spread(size) for size in sizes])
    means = np.arange(between + 1.0)
    plain = one_way(noise + means[groups], groups)
    assert plain.f is not None
    scaled = one_way(noise + means[groups] * np.sqrt(f / plain.f), groups)
    assert scaled.f == pytest.approx(f)
    assert scaled.p == pytest.approx(0.05, abs=5e-4)


def _spread(size: int) -> np.ndarray:
    """Values with mean 0."""
    values = np.arange(size, dtype=float)
    return values - values.mean()


@pytest.mark.parametrize(
    ("f", "levels", "p"),
    [(0.31, 5, 0.872), (104.31, 5, 0.0), (6.56, 12, 0.0)],
)
def test_the_table_of_gao_and_others(f: float, levels: int, p: float) -> None:
    # Gao et al. 2019, table 5: F and p of alpha (5 levels), beta (5) and t_edge (12) over 300 settings. Their F has two
    # decimals, which moves p by less than .005. The data is made such that F is theirs.
    groups = np.tile(np.arange(levels), 300 // levels)
    noise = np.repeat(_spread(300 // levels), levels)
    means = _spread(levels)
    plain = one_way(noise + means[groups], groups)
    assert plain.f is not None
    found = one_way(noise + means[groups] * np.sqrt(f / plain.f), groups)
    assert found.f == pytest.approx(f)
    assert (found.between, found.between + found.within) == (levels - 1, 299)
    assert found.p == pytest.approx(p, abs=0.005)


@given(
    groups=st.lists(st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=1, max_size=8), min_size=2),
    shift=st.floats(-10, 10),
)
def test_equals_scipys_and_ignores_units(groups: list[list[float]], shift: float) -> None:
    values = np.concatenate(groups)
    named = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    assume(len(values) > len(groups))
    assume(any(np.ptp(group) > 0.01 for group in groups))
    expected = stats.f_oneway(*groups)
    assume(not np.isnan([expected.statistic, expected.pvalue]).any())  # where rounding makes it 0 / 0
    found = one_way(values, named)
    assert found.f == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-9)
    moved = one_way(values * -3 + shift, named)
    assert moved.f == pytest.approx(found.f, rel=1e-4, abs=1e-6)
    order = np.random.default_rng(0).permutation(len(values))
    assert one_way(values[order], named[order]).f == pytest.approx(found.f, rel=1e-6, abs=1e-9)


@given(seed=st.integers(0, 500))
def test_two_groups_are_a_t_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=6), rng.normal(size=9)
    t = stats.ttest_ind(x, y)
    found = one_way([*x, *y], [7] * 6 + [3] * 9)
    assert found.f == pytest.approx(t.statistic**2)
    assert found.p == pytest.approx(t.pvalue)


def test_it_holds_its_level() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(5), 12)
    p = [one_way(rng.normal(size=60), groups).p for _ in range(2000)]
    share = np.mean([value is not None and value < 0.05 for value in p])
    assert share == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 2000))


def test_what_is_undefined() -> None:
    assert one_way([], []).f is None
    assert one_way([0.1] * 6, [0, 0, 1, 1, 2, 2]).share is None  # nothing varies, for all that floats can tell
    alone = one_way([1, 2, 3], [0, 0, 0])
    assert (alone.f, alone.p, alone.between, alone.within) == (None, None, 0, 2)
    single = one_way([1, 2, 3], [0, 1, 2])
    assert (single.f, single.p, single.share, single.within) == (None, None, 1.0, 0)
    certain = one_way([1, 1, 2, 2], [0, 0, 1, 1])
    assert (certain.f, certain.p, certain.share) == (None, 0.0, 1.0)
    assert one_way([1, np.nan, 2, 4], [0, 0, 1, 1]) == one_way([1, 2, 4], [0, 1, 1])
    with pytest.raises(ValueError, match="there are 2 values but 3 group labels"):
        one_way([1, 2], [0, 0, 1])


# -- several factors -----------------------------------------------------------------------------------------------


def test_two_factors_by_hand() -> None:
    # Two by three, one value in each cell: 1 2 6 / 3 6 6. Grand mean 4, row means 3 and 5, column means 2, 4 and 6.
    # Rows: 3 (1 + 1) = 6 over 1. Columns: 2 (4 + 0 + 4) = 16 over 2. Total: 9 + 4 + 4 + 1 + 4 + 4 = 26, so 4 are left
    # over 2. F = 6 / 2 = 3 and 8 / 2 = 4.
    rows, columns = several_way([1, 2, 6, 3, 6, 6], {"row": [0, 0, 0, 1, 1, 1], "column": [0, 1, 2, 0, 1, 2]})
    assert (rows.f, rows.df, rows.residual, rows.levels) == (pytest.approx(3), 1, 2, 2)
    assert (columns.f, columns.df, columns.residual, columns.levels) == (pytest.approx(4), 2, 2, 3)
    assert (rows.share, columns.share) == (pytest.approx(6 / 26), pytest.approx(16 / 26))
    assert rows.p == pytest.approx(stats.f.sf(3, 1, 2))


@pytest.mark.parametrize("seed", range(6))
def test_unbalanced_designs_equal_statsmodels(seed: int) -> None:
    import pandas
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({name: rng.integers(0, levels, 90) for name, levels in (("a", 3), ("b", 7), ("c", 12))})
    frame["y"] = rng.normal(size=90) + 0.4 * frame["a"] + 0.1 * frame["c"]
    expected = anova_lm(ols("y ~ C(a) + C(b) + C(c)", frame).fit(), typ=2)
    for effect in several_way(frame["y"], {name: frame[name] for name in "abc"}):
        theirs = expected.loc[f"C({effect.factor})"]
        assert effect.f == pytest.approx(theirs["F"], rel=1e-9)
        assert effect.p == pytest.approx(theirs["PR(>F)"], rel=1e-7)
        assert (effect.df, effect.residual) == (theirs["df"], expected.loc["Residual", "df"])
        assert effect.share == pytest.approx(theirs["sum_sq"] / ((frame["y"] - frame["y"].mean()) ** 2).sum())


def test_a_factor_is_tested_without_what_is_nested_in_it() -> None:
    # Units are nested in topics: topics are tested without them, units beyond the topics. All by statsmodels.
    import pandas
    from statsmodels.formula.api import ols

    rng = np.random.default_rng(3)
    unit = rng.integers(0, 12, 150)
    frame = pandas.DataFrame({"topic": unit // 4, "unit": unit, "peer": rng.integers(0, 5, 150)})
    frame["y"] = rng.normal(size=150) + 0.3 * frame["topic"]
    topic, units, peer = several_way(frame["y"], {name: frame[name] for name in ("topic", "unit", "peer")})
    models = {
        name: ols(f"y ~ {name}", frame).fit()
        for name in ("C(peer)", "C(peer) + C(topic)", "C(peer) + C(unit)", "C(unit)")
    }
    full = models["C(peer) + C(unit)"]
    for effect, less, more in (
        (topic, "C(peer)", "C(peer) + C(topic)"),
        (units, "C(peer) + C(topic)", "C(peer) + C(unit)"),
        (peer, "C(unit)", "C(peer) + C(unit)"),
    ):
        explained, df = models[less].ssr - models[more].ssr, models[less].df_resid - models[more].df_resid
        assert (effect.df, effect.residual) == (df, full.df_resid)
        assert effect.f == pytest.approx(explained / df / (full.ssr / full.df_resid), rel=1e-9)


def test_factors_without_anything_to_explain() -> None:
    (alone,) = several_way([1.0, 2.0, 4.0], {"peer": [0, 1, 2]})
    assert (alone.f, alone.p, alone.df, alone.residual, alone.share) == (None, None, 2, 0, pytest.approx(1))
    constant, other = several_way([5.0] * 4, {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    assert (constant.f, constant.share, other.f) == (None, None, None)
    single, _ = several_way([1.0, 2.0, 3.0, 5.0], {"a": [0, 0, 0, 0], "b": [0, 1, 0, 1]})
    assert (single.df, single.f) == (0, None)
    exact, noise = several_way([1.0, 1.0, 2.0, 2.0], {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    assert (exact.f, exact.p, exact.share) == (None, 0.0, pytest.approx(1))
    assert (noise.f, noise.p) == (None, None)
    assert several_way([], {"a": []})[0].f is None
    with pytest.raises(ValueError, match="there are 3 values but 2 levels of a"):
        several_way([1.0, 2.0, 3.0], {"a": [0, 1]})


@given(st.integers(0, 10_000))
def test_the_order_of_rows_and_of_factors_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 40).astype(float)
    factors = {"a": rng.integers(0, 3, 40), "b": rng.integers(0, 9, 40)}
    order = rng.permutation(40)
    for one, other in zip(
        several_way(y, factors),
        reversed(several_way(y[order], {name: factors[name][order] for name in ("b", "a")})),
        strict=True,
    ):
        assert (one.factor, one.df, one.residual) == (other.factor, other.df, other.residual)
        assert one.f == pytest.approx(other.f, rel=1e-9)
