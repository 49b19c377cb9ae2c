"""Grouping rows by several columns gives the same groups, however large the codes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.study.columns import group

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
