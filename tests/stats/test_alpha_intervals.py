"""Bootstrap intervals of alpha: equal to resampling items one by one, and covering at their rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.alpha import alpha, alpha_interval


def raters(rng: np.random.Generator, items: int, judges: int = 3, levels: int = 2, noise: float = 0.2) -> np.ndarray:
    """Judges who see the truth and answer at random now and then."""
    truth = rng.integers(0, levels, size=items)
    heard = np.where(rng.random((items, judges)) < noise, rng.integers(0, levels, (items, judges)), truth[:, None])
    return heard.astype(float)


def long(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(matrix)), matrix.shape[1]), matrix.ravel()


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "dice"])
def test_the_same_spread_as_resampling_items_by_hand(distance: str) -> None:
    rng = np.random.default_rng(5)
    matrix = raters(rng, 60, levels=4)
    by_hand = [
        alpha(*long(matrix[rng.integers(0, 60, 60)]), distance=distance).value  # type: ignore[arg-type]
        for _ in range(2000)
    ]
    found = alpha_interval(*long(matrix), distance=distance, rng=rng, resamples=2000)  # type: ignore[arg-type]
    assert found.interval is not None
    low, high = np.quantile(np.array(by_hand, dtype=float), [0.025, 0.975])
    assert found.interval.low == pytest.approx(low, abs=0.015)
    assert found.interval.high == pytest.approx(high, abs=0.015)


def test_it_covers_the_truth_at_its_rate() -> None:
    # Two of three answers are right, one in five is a guess between two: any two judges disagree with probability
    # (1 - .8 ** 2) / 2 = .18, and two random answers with .5, so alpha tends to 1 - .18 / .5 = .64.
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        interval = alpha_interval(*long(raters(rng, 150)), rng=rng, resamples=400).interval
        assert interval is not None
        covered += interval.low <= 0.64 <= interval.high
    # 95% less the bootstrap's known shortfall; three standard errors of 300 trials are .038.
    assert 0.905 <= covered / 300 <= 0.985


def test_the_same_seed_gives_the_same_interval() -> None:
    data = long(raters(np.random.default_rng(0), 40))
    first, second = (alpha_interval(*data, rng=np.random.default_rng(3)).interval for _ in range(2))
    assert first == second


def test_many_levels_need_no_table_of_levels() -> None:
    # 40,000 distinct values: a levels-by-levels table would take 12 GB.
    rng = np.random.default_rng(1)
    truth = rng.normal(size=20_000)
    matrix = truth[:, None] + rng.normal(size=(20_000, 2))
    for distance in ("interval", "ordinal"):
        # Half of the variance is shared: the intraclass correlation, to which interval alpha tends, is .5.
        found = alpha(*long(matrix), distance=distance)  # type: ignore[arg-type]
        assert found.value == pytest.approx(0.5, abs=0.03)


def test_resamples_without_variation_are_counted() -> None:
    # One of four items differs: about a third of the resamples miss it and have nothing to disagree about.
    found = alpha_interval([0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 1, 1, 1, 1, 0, 0], rng=np.random.default_rng(0))
    assert found.interval is not None
    assert found.interval.undefined == pytest.approx(1000 * 0.75**4, abs=60)


@given(seed=st.integers(0, 1000), items=st.integers(1, 30))
def test_an_interval_is_in_order_and_only_where_alpha_is(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = raters(rng, items, levels=3)
    matrix[rng.random(matrix.shape) < 0.3] = np.nan
    found = alpha_interval(*long(matrix), rng=rng, resamples=50)
    if found.value is None:
        assert found.interval is None
    elif found.interval is not None:
        assert found.interval.low <= found.interval.high <= 1


def test_without_resamples_there_is_no_interval() -> None:
    data = long(raters(np.random.default_rng(0), 40))
    assert alpha_interval(*data, rng=np.random.default_rng(3), resamples=0) == alpha(*data)
    once = alpha_interval(*data, rng=np.random.default_rng(3), resamples=1).interval
    assert once is not None
    assert (once.resamples, once.low) == (1, once.high)
