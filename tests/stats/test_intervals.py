"""Percentile intervals by hand, and means of tables with holes."""

from __future__ import annotations

import numpy as np
import pytest

from pyramidion.stats.intervals import (
    Interval,
    blocks,
    bootstrap_p,
    divided,
    percentile_interval,
    resampling_weights,
    weighted_means,
)

NAN = float("nan")


def test_an_interval_by_hand() -> None:
    # The middle 80% of 0, 1, ..., 10 reaches from 1 to 9.
    assert percentile_interval(np.arange(11.0), 0.8) == Interval(pytest.approx(1), pytest.approx(9), 0.8, 11)


def test_undefined_resamples_are_left_out_up_to_half_of_them() -> None:
    found = percentile_interval(np.array([2.0, NAN, 2.0, NAN]))
    assert found == Interval(2, 2, 0.95, 4, undefined=2)
    assert percentile_interval(np.array([2.0, NAN, NAN])) is None
    assert percentile_interval(np.array([])) is None


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"confidence must be between 0 and 1, not {confidence}"):
        percentile_interval(np.arange(3.0), confidence)


def test_means_of_a_table_with_holes() -> None:
    # Rows weigh 1, 2, 0: (1 + 2 * 4) / 3 in the first column, 3 in the second, nothing in the third.
    cells = np.array([[1.0, 3.0, NAN], [4.0, NAN, NAN], [9.0, 9.0, 9.0]])
    assert weighted_means(np.array([[1.0, 2.0, 0.0]]), cells) == pytest.approx(np.array([[3, 3, NAN]]), nan_ok=True)


def test_nothing_is_divided_by_nothing() -> None:
    found = divided(np.array([1.0, 1.0, 0.0]), np.array([4, 0, 0]))
    assert found == pytest.approx([0.25, NAN, NAN], nan_ok=True)


def test_a_resample_draws_as_many_as_there_are() -> None:
    drawn = resampling_weights(np.random.default_rng(0), 7, 50)
    assert drawn.shape == (50, 7)
    assert set(drawn.sum(axis=1)) == {7}
    assert drawn.mean(axis=0) == pytest.approx(np.ones(7), abs=0.5)


def test_a_total_is_cut_into_blocks() -> None:
    assert list(blocks(10, 4)) == [4, 4, 2]
    assert list(blocks(8, 4)) == [4, 4]
    assert list(blocks(0, 4)) == []


def test_p_of_resampled_differences() -> None:
    # 3 of 99 on the other side of 0: p = 2 * (3 + 1) / (99 + 1). None at all: the floor 2 / 100.
    drawn = np.concatenate([np.full(96, 0.2), np.full(3, -0.1)])
    assert bootstrap_p(drawn) == pytest.approx(0.08)
    assert bootstrap_p(-drawn) == pytest.approx(0.08)
    assert bootstrap_p(np.full(99, 0.2)) == pytest.approx(0.02)
    assert bootstrap_p(np.zeros(99)) == 1.0
    assert bootstrap_p(np.array([0.1, np.nan, np.nan])) is None
    assert bootstrap_p(np.array([])) is None
