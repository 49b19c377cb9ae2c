"""Paired tests by hand and by exhaustive enumeration."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pyramidion.stats.paired import mcnemar, permutation, wilcoxon


def test_mcnemar_by_hand() -> None:
    # 6 units only the first system has, 1 only the second: two-sided sign test 2 * (C(7,0) + C(7,1)) / 2^7.
    a = [1] * 6 + [0] + [1] * 3 + [0] * 5
    b = [0] * 6 + [1] + [1] * 3 + [0] * 5
    found = mcnemar(a, b)
    assert found.p == pytest.approx(2 * (comb(7, 0) + comb(7, 1)) / 2**7)
    assert found.difference == pytest.approx(5 / 15)
    assert found.n == 15


def test_equal_systems_do_not_differ() -> None:
    for test in (mcnemar, wilcoxon, permutation):
        assert test([1, 0, 1], [1, 0, 1]).p == 1.0


def test_wilcoxon_by_hand() -> None:
    # Differences 1 2 3 4 5, all positive: of 2^5 sign patterns one has W- = 0; two-sided 2/32.
    assert wilcoxon([1, 2, 3, 4, 5], [0] * 5).p == pytest.approx(2 / 32)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_permutation_equals_enumeration(differences: list[int]) -> None:
    observed = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert permutation(differences, [0] * len(differences)).p == pytest.approx(np.mean([s >= observed for s in sums]))


def test_sampled_permutation_agrees_with_scipy_and_is_seeded() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.3, 1, 60), rng.normal(0, 1, 60)
    first, again = (permutation(a, b, rng=np.random.default_rng(1)) for _ in range(2))
    assert first == again
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=5,
    ).pvalue
    assert first.p == pytest.approx(theirs, abs=0.02)


def test_p_is_never_zero() -> None:
    assert permutation(np.ones(200), np.zeros(200), samples=500).p == pytest.approx(2.0**-199)  # 2 of 2^200 patterns


def test_lists_must_pair() -> None:
    with pytest.raises(ValueError, match="same length"):
        mcnemar([1], [1, 0])
