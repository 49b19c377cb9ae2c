"""Judgments in columns behave like the list they stand for; grouping rows gives the same groups for any codes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.study import Column, Judgment, Judgments, Span
from pyramidion.study.judgments import group

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


@given(st.lists(one, min_size=1), st.data())
def test_taken_rows_are_those_of_the_list(items: list[Judgment], data: st.DataObject) -> None:
    """With their evidence, however many have some, and however often each is taken."""
    rows = data.draw(st.lists(st.integers(0, len(items) - 1)))
    assert list(Judgments(items).take(rows)) == [items[row] for row in rows]


@given(st.lists(one))
def test_a_sequence_like_any_other(items: list[Judgment]) -> None:
    judgments = Judgments(items)
    assert list(judgments) == items
    assert len(judgments) == len(items)
    assert list(judgments[1:4]) == items[1:4]
    assert list(judgments[::-1]) == items[::-1]
    assert judgments == Judgments(items)
    assert judgments + items == judgments + judgments == Judgments(items + items)
    assert list(judgments[2:] + judgments[:2]) == items[2:] + items[:2]
    assert list(judgments.take([j.system == "a" for j in items])) == [j for j in items if j.system == "a"]
    assert list(judgments.take([0, 0][: len(items)])) == [*items[:1], *items[:1]][: len(items)]
    if items:
        assert judgments[-1] == items[-1]
    with pytest.raises(IndexError):
        judgments[len(items)]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_only_none_is_missing(value: float) -> None:
    with pytest.raises(ValueError, match="is not a number; use None"):
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


def test_columns_do_not_change() -> None:
    judgments = Judgments([Judgment("t", "s", "j", 1, unit="u")])
    with pytest.raises(ValueError, match="read-only"):
        judgments.value[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        judgments.unit.codes[0] = 1


def test_a_column_knows_its_names() -> None:
    column = Column(("b", "unused", "a"), [2, 0, 2])
    assert list(column) == ["a", "b", "a"]
    assert column.present_names() == ["a", "b"]
    assert column.is_in({"a"}).tolist() == [True, False, True]
    assert column.ranks().tolist() == [0, 1, 0]
    assert list(Column.join([column.rename(str.upper), Column(("c", "B"), [1, 0])])) == ["A", "B", "A", "B", "c"]
    assert list(Column.repeat("x", 2)) == ["x", "x"]


def test_judgments_equal_only_judgments() -> None:
    items = [Judgment("t", "s", "j", 1, unit="u")]
    assert Judgments(items) != items
    assert Judgments(items) != Judgments(items * 2)


codes = st.sampled_from([0, 1, 2, 2**20, 2**40, 2**45])


@given(st.lists(st.tuples(codes, codes, codes), max_size=12))
def test_rows_that_agree_are_together_and_groups_are_in_order(rows: list[tuple[int, int, int]]) -> None:
    # Products of codes up to 2 ** 45 do not fit into 64 bits, unless codes are renumbered on the way.
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = group(*columns)
    distinct = sorted(set(rows))
    assert len(found) == len(distinct)
    assert [distinct[number] for number in found.of_row] == rows
    assert [rows[row] for row in found.first] == distinct
    assert found.first.tolist() == [rows.index(row) for row in distinct]  # the first row of each
