"""Correlations by hand, and what is undefined."""

from __future__ import annotations

import numpy as np
import pytest

from pyramidion.stats.correlation import correlation


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
