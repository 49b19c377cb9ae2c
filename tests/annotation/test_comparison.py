"""Two annotations side by side: units are paired by their words, and disagreements come first."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.analysis.pyramid_pairs import compare_pyramids, dice
from pyramidion.annotation.api.views import rows as view_rows
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation
from pyramidion.annotation.comparison import alikeness, compare_peers, differing_fields
from pyramidion.study import ContentUnit, Contributor, Pyramid, Span


def unit(id: str, label: str = "", **references: tuple[int, int] | None) -> ContentUnit:
    """A unit with one span a reference; None is a contributor without spans."""
    return ContentUnit(
        id, label, tuple(Contributor(name, (Span(*span),) if span else ()) for name, span in references.items())
    )


def pyramid(*units: ContentUnit) -> Pyramid:
    return Pyramid("t", ("A", "B"), units)


def paired(first: Pyramid, second: Pyramid) -> list[tuple[str | None, str | None, float, bool]]:
    return [
        (pair.first and pair.first.id, pair.second and pair.second.id, pair.shared, pair.same)
        for pair in compare_pyramids(first, second)
    ]


def test_dice_by_hand() -> None:
    # Two of 3 and 5 are common: 2 * 2 / 8.
    assert dice(frozenset("abc"), frozenset("bcdef")) == 0.5
    assert dice(frozenset(), frozenset("a")) == 0
    assert dice(frozenset(), frozenset()) == 1


def test_units_are_paired_by_words_whatever_their_names() -> None:
    first = pyramid(unit("1", A=(0, 10)), unit("2", A=(20, 30), B=(0, 10)), unit("3", B=(40, 50)))
    second = pyramid(unit("1", A=(20, 30)), unit("7", A=(0, 10)), unit("8", B=(60, 70)))
    # 2 and 1 share 10 of 20 and 10 characters: 2 * 10 / 30. 1 and 7 are the same; 3 and 8 have nobody.
    assert paired(first, second) == [
        ("3", None, 0, False),
        (None, "8", 0, False),
        ("2", "1", pytest.approx(2 / 3), False),
        ("1", "7", 1, True),
    ]


def test_the_references_that_differ_are_named() -> None:
    first = pyramid(unit("1", A=(0, 10), B=(5, 9)))
    (pair,) = compare_pyramids(first, pyramid(unit("1", A=(0, 10), B=(5, 8), C=(0, 1))))
    assert pair.differing == ("B", "C")
    (alone,) = compare_pyramids(first, pyramid())
    assert (alone.differing, alone.same) == (("A", "B"), False)


def test_a_unit_is_paired_once_with_the_one_that_shares_most() -> None:
    # 1 shares 10 of 10 and 14 with a (20/24), and 4 of 10 and 4 with b (8/14): a gets it, b stays alone.
    first = pyramid(unit("1", A=(0, 10)))
    second = pyramid(unit("b", A=(0, 4)), unit("a", A=(0, 14)))
    assert paired(first, second) == [(None, "b", 0, False), ("1", "a", pytest.approx(20 / 24), False)]


def test_all_pairs_together_share_most() -> None:
    # 1 and a share most (16/18), but then 2 and b share 4/12 only. 1 with b (12/16) and 2 with a (12/14) is more.
    first = pyramid(unit("1", A=(0, 10)), unit("2", A=(0, 6)))
    second = pyramid(unit("a", A=(0, 8)), unit("b", A=(4, 10)))
    assert {(one, other): shared for one, other, shared, _ in paired(first, second)} == {
        ("1", "b"): pytest.approx(12 / 16),
        ("2", "a"): pytest.approx(12 / 14),
    }
    # Where only pairs of .8 and more count, there can be but one, and the better one is left.
    strict = compare_pyramids(first, second, least=0.8)
    assert {(p.first and p.first.id, p.second and p.second.id) for p in strict} == {
        ("1", "a"),
        ("2", None),
        (None, "b"),
    }


def test_labels_in_other_words_are_compared_where_nothing_is_marked() -> None:
    first = pyramid(unit("1", "The bridge was closed", A=None))
    second = pyramid(unit("8", "Seven people were hurt", A=(6, 9)), unit("9", "They closed the old bridge", A=(0, 4)))
    (alone, pair) = compare_pyramids(first, second)
    assert alone.second is second.units[0]
    # Stems of content words: {bridg, close} and {bridg, close, old}: 2 * 2 / 5.
    assert (pair.second, pair.shared, pair.by_label) == (second.units[1], pytest.approx(0.8), True)


def test_where_words_are_equal_the_name_decides() -> None:
    first = pyramid(unit("1", A=(0, 10)), unit("2", A=(0, 10)))
    second = pyramid(unit("2", A=(0, 10)), unit("1", A=(0, 10)))
    assert {(one, other) for one, other, _, _ in paired(first, second)} == {("1", "1"), ("2", "2")}


def test_without_spans_the_label_stands_for_the_words() -> None:
    first = pyramid(unit("1", "closed", A=None), unit("2", "nobody wrote it"))
    second = pyramid(unit("8", "nobody wrote it"), unit("9", "closed", A=None), unit("7", "closed", B=None))
    assert paired(first, second) == [(None, "7", 0, False), ("1", "9", 1, True), ("2", "8", 1, True)]


def peer(*matches: Match, marks: tuple[Mark, ...] = ()) -> PeerAnnotation:
    return PeerAnnotation("t", "s", matches, marks)


def test_matches_are_compared_unit_by_unit_disagreements_first() -> None:
    units = pyramid(*(unit(id) for id in ("same", "words", "count", "unmatched")))
    first = peer(
        Match("1", "same", (Span(0, 4),)),
        Match("2", "words", (Span(0, 6),)),
        Match("3", "count", (Span(0, 4),)),
        Match("4", "count", (Span(4, 8),)),
        marks=(Mark("5", (Span(10, 20),)),),
    )
    second = peer(
        Match("1", "same", (Span(0, 2), Span(2, 4))),
        Match("2", "words", (Span(2, 4),)),
        Match("3", "count", (Span(0, 8),)),
    )
    # A mark on one side only and two mentions against one: one mention apart, the former shares no word, the latter
    # all. Then other words: 2 * 2 / (6 + 2) = .5. What both left alone is not shown.
    rows = compare_peers(first, second, units)
    assert [(row.unit, len(row.first), len(row.second), row.shared, row.same) for row in rows] == [
        ("", 1, 0, 0, False),
        ("count", 2, 1, 1, False),
        ("words", 1, 1, 0.5, False),
        ("same", 1, 1, 1, True),
    ]
    assert compare_peers(peer(), peer(), units) == []
    assert [row.unit for row in compare_peers(peer(), peer(marks=first.marks), units)] == [""]
    assert [row.unit for row in compare_peers(peer(), first, units)] == ["count", "same", "words", ""]


spans = st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))
pyramids = st.lists(st.fixed_dictionaries({}, optional={"A": spans, "B": spans}), max_size=4).map(
    lambda found: pyramid(*(unit(str(i), f"label {i}", **references) for i, references in enumerate(found)))
)


@given(pyramids, pyramids)
def test_no_other_pairing_shares_more(first: Pyramid, second: Pyramid) -> None:
    few, many = sorted((first.units, second.units), key=len)
    alike = {(p.id, q.id): sum(x.shared for x in compare_pyramids(pyramid(p), pyramid(q))) for p in few for q in many}
    best = max(sum(alike[p.id, q.id] for p, q in zip(few, some, strict=True)) for some in permutations(many, len(few)))
    assert sum(pair.shared for pair in compare_pyramids(first, second)) == pytest.approx(best, abs=1e-6)


@given(pyramids, pyramids)
def test_every_unit_is_shown_once_and_a_pyramid_is_the_same_as_itself(first: Pyramid, second: Pyramid) -> None:
    found = compare_pyramids(first, second)
    assert sorted(p.first.id for p in found if p.first) == [u.id for u in first.units]
    assert sorted(p.second.id for p in found if p.second) == [u.id for u in second.units]
    assert all(p.same and p.shared == 1 for p in compare_pyramids(first, first))


def test_how_far_two_annotators_agree_by_hand() -> None:
    units = pyramid(*(unit(id, A=(0, 1)) for id in "1234"))
    one = PeerAnnotation("t", "s", (Match("1", "1", (Span(0, 4),)), Match("2", "2", (Span(5, 9),))))
    other = PeerAnnotation("t", "s", (Match("1", "1", (Span(0, 2),)), Match("2", "3", (Span(5, 9),))))
    found = alikeness(compare_peers(one, other, units), units)
    # Units 1 and 4 are alike; in unit 1 two of 4 and 2 characters are common. Of the 8 answers 4 are "there": 2 of 4
    # units differ, expected are 2 * 4 * 4 / (8 * 7) = 4/7.
    assert (found.same, found.of, found.words) == (2, 4, pytest.approx(2 / 3))
    assert found.alpha == pytest.approx(1 - (1 / 2) / (4 / 7))
    pairs = compare_pyramids(pyramid(unit("1", A=(0, 10)), unit("2", B=(0, 4))), pyramid(unit("7", A=(0, 10))))
    assert alikeness(pairs, pyramid()) == (1, 2, 1.0, None)
    assert alikeness([], pyramid()) == (0, 0, None, None)


def test_labels_and_comments_are_disagreements_that_do_not_count_in_the_agreement() -> None:
    units = (unit("1", "one", A=(0, 4)), unit("2", "two", A=(5, 9)), unit("3", "three", B=(0, 4)), unit("4", B=(5, 9)))
    other = (
        units[0],
        replace(units[1], comment="why"),
        replace(units[2], label="III"),
        replace(units[3], label="IV", contributors=unit("", B=(5, 8)).contributors),
    )
    pairs = compare_pyramids(pyramid(*units), pyramid(*other))
    assert {pair.first.id: differing_fields(pair) for pair in pairs if pair.first} == {
        "1": (),
        "2": ("comment",),
        "3": ("label",),
        "4": ("label",),
    }
    assert differing_fields(compare_pyramids(pyramid(units[0]), pyramid())[0]) == ()
    seen = [(row["first"]["id"], row["same"], row["differing"], row["fields"]) for row in view_rows(pairs)]
    assert seen == [
        ("4", False, ["B"], ["label"]),
        ("2", False, [], ["comment"]),
        ("3", False, [], ["label"]),
        ("1", True, [], []),
    ]
    assert alikeness(pairs, pyramid()) == (3, 4, pytest.approx((3 + 6 / 7) / 4), None)
