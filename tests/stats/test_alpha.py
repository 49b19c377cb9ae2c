"""Krippendorff's alpha: a textbook table, hand derivations, and a second implementation on random data."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.alpha import alpha

NAN = np.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units.
TEXTBOOK = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def long(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.tile(np.arange(matrix.shape[1]), matrix.shape[0]), matrix.ravel()


@pytest.mark.parametrize(("distance", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_textbook_table(distance: str, expected: float) -> None:
    found = alpha(*long(TEXTBOOK), distance=distance)  # type: ignore[arg-type]
    assert found.value == pytest.approx(expected, abs=5e-4)
    assert (found.items, found.answers) == (11, 40)


def test_dice_by_hand() -> None:
    # Two coders count mentions of three units: (2, 3), (0, 0), (1, 1). Dice of 2 and 3 is 0.8, so distance 0.2.
    # Observed: (0.2 + 0.2) / 6 answers. Expected over all ordered pairs of the six values 2 3 0 0 1 1: distances are
    # 0-1, 0-2, 0-3: 1; 1-2: 1/3; 1-3: 1/2; 2-3: 0.2; weighted by how often: 2 (4 + 2 + 2 + 2/3 + 1 + 0.2) / 30.
    observed, expected = 0.4 / 6, 2 * (4 + 2 + 2 + 2 / 3 + 1 + 0.2) / 30
    found = alpha([1, 2, 3, 1, 2, 3], [2, 0, 1, 3, 0, 1], distance="dice")
    assert found.value == pytest.approx(1 - observed / expected)


def test_undefined_without_variation_or_pairs() -> None:
    assert alpha([1, 1, 2, 2], [1, 1, 1, 1]).value is None  # unanimous: nothing to disagree about
    assert alpha([1, 2, 3], [0, 1, 0]).value is None  # one answer each
    assert alpha([], []).value is None
    assert alpha([1, 1], [NAN, 1]).value is None


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(ValueError, match="euclid"):
        alpha([1, 1], [0, 1], distance="euclid")  # type: ignore[arg-type]


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval"])
@given(seed=st.integers(0, 2**32 - 1), coders=st.integers(2, 5), units=st.integers(2, 30), levels=st.integers(2, 6))
def test_equal_to_the_krippendorff_package(distance: str, seed: int, coders: int, units: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, levels, size=(coders, units)).astype(float)
    matrix[rng.random(matrix.shape) < 0.2] = NAN
    ours = alpha(*long(matrix), distance=distance).value  # type: ignore[arg-type]
    if ours is None:  # undefined: among the answers to items with two or more nothing varies
        paired = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
        assert len(set(paired[~np.isnan(paired)])) < 2
        return
    theirs = krippendorff.alpha(matrix, level_of_measurement=distance)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(seed=st.integers(0, 1000))
def test_order_and_item_names_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, values = rng.integers(0, 20, 100), rng.integers(0, 3, 100)
    shuffle = rng.permutation(100)
    renamed = np.array([f"item {i}" for i in items[shuffle]])
    assert alpha(renamed, values[shuffle]).value == pytest.approx(alpha(items, values).value)


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "dice"])
@pytest.mark.parametrize("unit", [0.5, 1000])
def test_the_unit_of_measurement_does_not_matter(distance: str, unit: float) -> None:
    # Halves, and numbers too large to count by, are told apart as well as small whole numbers.
    whole = alpha(*long(TEXTBOOK), distance=distance)  # type: ignore[arg-type]
    assert alpha(*long(TEXTBOOK * unit), distance=distance).value == pytest.approx(whole.value)  # type: ignore[arg-type]
