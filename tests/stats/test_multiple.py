"""Holm's correction and letter displays."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pyramidion.stats.paired import holm, letter_groups, rightmost_different


def test_holm_by_hand() -> None:
    # Sorted .01, .02, .04 times 3, 2, 1: .03, .04, .04.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.04, np.nan, 0.01]) == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_equals_statsmodels(p: list[float]) -> None:
    with mock.patch("gc.collect"):  # statsmodels collects garbage in every call, which takes long beside other tests
        theirs = multipletests(p, method="holm")[1]
    assert holm(p) == pytest.approx(theirs)


@given(seed=st.integers(0, 5000), size=st.integers(1, 9), share=st.floats(0, 1))
def test_systems_share_a_letter_exactly_where_they_do_not_differ(seed: int, size: int, share: float) -> None:
    differ = np.triu(np.random.default_rng(seed).random((size, size)) < share, 1)
    differ = differ | differ.T
    groups = letter_groups(differ)
    for i in range(size):
        for j in range(size):
            assert bool(set(groups[i]) & set(groups[j])) == (i == j or not differ[i, j])


def test_rightmost_as_the_paper_shows_it() -> None:
    # D differs from A and B, E from A only, as superscripts: A B C D^B E^A.
    differ = np.zeros((5, 5), dtype=bool)
    for i, j in ((0, 3), (1, 3), (0, 4)):
        differ[i, j] = differ[j, i] = True
    assert rightmost_different(differ) == [None, None, None, 1, 0]


def all_differ(*sizes: int) -> np.ndarray:
    """Sets of systems that all differ from each other, but not from those of other sets."""
    member = np.repeat(np.arange(len(sizes)), sizes)
    return (member[:, None] == member) & ~np.eye(len(member), dtype=bool)


def test_letters_go_on_after_z() -> None:
    # Five pairs make 32 groups, in the order of their members: the first system is in the first 16, the last one in
    # every second group.
    letters = letter_groups(all_differ(2, 2, 2, 2, 2))
    assert letters[0] == "abcdefghijklmnop"
    assert letters[9] == "bdfhjlnprtvxzb2d2f2"


def test_verdicts_too_tangled_to_read_have_no_letters() -> None:
    # Of 2, 3 and 13 systems that all differ from each other, one each makes a group: 78 in all, which is the most.
    assert all(letter_groups(all_differ(2, 3, 13)))
    assert letter_groups(all_differ(2, 2, 2, 10)) == [""] * 16


def test_no_systems_have_no_letters() -> None:
    assert letter_groups(np.zeros((0, 0), dtype=bool)) == []
