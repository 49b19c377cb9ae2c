"""Rounding stops short of a limit that the number itself does not reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.stats.rounding import rounded_beside


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (0.4996, 0.5, "0.4996"),
        (0.4949, 0.5, "0.49"),
        (0.5, 0.5, "0.50"),
        (0.5001, 0.5, "0.5001"),
        (0.0, 0.5, "0.00"),
        (1 / 3, 1 / 3, "0.33"),
        (0.49999999999999994, 0.5, "0.4999999999999999"),
    ],
)
def test_examples(value: float, limit: float, text: str) -> None:
    assert rounded_beside(value, limit) == text


def test_several_limits_and_other_digits() -> None:
    assert rounded_beside(0.7996, 0.67, 0.8) == "0.7996"
    assert rounded_beside(0.6703, 0.67, 0.8, digits=3) == "0.6703"
    assert rounded_beside(3.00001, 3.0, digits=3) == "3.00001"


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_text_is_on_the_side_of_the_number(value: float, limit: float) -> None:
    shown = float(rounded_beside(value, limit))
    assert not (value < limit and shown >= limit)
    assert not (value > limit and shown <= limit)
    assert shown == pytest.approx(value, abs=0.005001)
