"""What the words of a unit tell by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.judges.wording import credited, needed, verbatim

REFERENCE = "On Monday, Egypt's army said that Cairo had reopened. About 1,500 people came, among them Jane Doe."


@pytest.mark.parametrize(
    ("unit", "summary", "expected"),
    [
        ("About 1,500 people came.", "Some 1500 people were there.", True),
        ("About 1,500 people came.", "Some 1,600 people were there.", False),
        ("Twelve people came.", "There were 12.", True),
        ("12 people came.", "There were twelve.", True),
        ("12 people came.", "There were twenty.", False),
        ("It runs at 30mph.", "It does 30 mph.", True),
        ("The army of Egypt spoke.", "The Egyptian army spoke.", True),
        ("The army of Egypt spoke.", "The army of Syria spoke.", False),
        ("It was said by Jane Doe.", "Doe said it.", True),
        ("It was said by Jane Doe.", "Roe said it.", False),
        ("Cairo has reopened.", "The city has reopened.", False),
        ("The army spoke.", "Soldiers spoke.", True),
        ("I think so.", "Perhaps.", True),
        ("MINISTER RESIGNS AFTER LONG PUBLIC DEBATE TODAY", "The minister has gone.", True),
    ],
)
def test_numbers_and_names_must_be_in_the_summary(unit: str, summary: str, expected: bool) -> None:
    assert credited([unit], [summary], [REFERENCE]).tolist() == [[expected]]


def test_the_first_word_is_a_name_only_if_it_is_one_elsewhere() -> None:
    assert needed("Cairo has reopened.", frozenset()).names == ()
    assert needed("Cairo has reopened.", frozenset({"cairo"})).names == (frozenset({"cairo"}),)


def test_word_for_word_is_in_a_row_and_whole() -> None:
    summary = "He said the bridge, is open again."
    units = ["The bridge is open", "The bridge is open now", "he bridge is open", "is open", ""]
    assert verbatim(units, [summary])[:, 0].tolist() == [True, False, False, False, False]


@given(st.lists(st.text(max_size=40), max_size=4), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_can_be_asked_about(units: list[str], summaries: list[str]) -> None:
    assert credited(units, summaries).shape == verbatim(units, summaries).shape == (len(units), len(summaries))
    same = credited(units, units)
    assert same.diagonal().all(), "a text contains its own numbers and names"
    rows = np.arange(len(units))[::-1]
    assert (credited(units[::-1], summaries) == credited(units, summaries)[rows]).all()


def test_a_figure_that_is_not_stated_is_never_present() -> None:
    units = ["The flood destroyed 40 houses in Aller.", "The flood destroyed 12 houses in Aller."]
    found = pyr.judge(units, ["On Monday, the flood destroyed 12 houses in Aller, the mayor said."])
    assert found.present.tolist() == [[False], [True]]
    assert found[1, 0] == 0.99, "word for word"
