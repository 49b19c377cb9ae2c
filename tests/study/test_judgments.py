"""Judgments in columns behave like the list they stand for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.study import Judgment, Judgments, Span

one = st.builds(
    Judgment,
    topic=st.sampled_from(["t", "ü"]),
    system=st.sampled_from(["a", "b"]),
    judge=st.sampled_from(["j", "k"]),
    value=st.none() | st.floats(0, 10),
    unit=st.sampled_from(["u", "v"]),
    task=st.sampled_from(["", "k"]),
    evidence=st.sampled_from([(), ((Span(0, 1), Span(2, 3)), (Span(4, 5),))]),
)


@given(st.lists(one))
def test_a_sequence_like_any_other(items: list[Judgment]) -> None:
    judgments = Judgments(items)
    assert list(judgments) == items
    assert len(judgments) == len(items)
    assert list(judgments[1:4]) == items[1:4]
    assert list(judgments[::-1]) == items[::-1]
    assert judgments == Judgments(items)
    assert judgments + items == Judgments(items + items)
    if items:
        assert judgments[-1] == items[-1]
    with pytest.raises(IndexError):
        judgments[len(items)]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_only_none_is_missing(value: float) -> None:
    with pytest.raises(ValueError, match="is not a judgment"):
        Judgments([Judgment("t", "s", "j", value, unit="u")])


@pytest.mark.parametrize("question", [{}, {"unit": "u", "aspect": "a"}])
def test_a_judgment_answers_exactly_one_question(question: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either a unit or an aspect"):
        Judgments([Judgment("t", "s", "j", 1, **question)])


def test_columns_without_a_second_summary_are_of_no_comparison() -> None:
    items = [Judgment("t", "s", "j", value, unit="u") for value in (0, 1, None)]
    made = Judgments(items)
    parts = {name: getattr(made, name) for name in ("topic", "system", "unit", "aspect", "judge", "task", "value")}
    assert list(Judgments.of_columns(**parts)) == items


def test_judgments_equal_only_judgments() -> None:
    items = [Judgment("t", "s", "j", 1, unit="u")]
    assert Judgments(items) != items
    assert Judgments(items) != Judgments(items * 2)
