"""Scores of peers: the paper's worked number first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion import ContentUnit, Contributor, Pyramid
from pyramidion.auto.scores import PeerScores, peer_scores
from pyramidion.methods.pyramid import PeerScore


def pyramid_of(weights: list[int], references: int) -> Pyramid:
    names = tuple("ABCDEFGHIJ"[:references])
    units = (
        ContentUnit(f"u{i}", f"u{i}", tuple(Contributor(name) for name in names[:weight]))
        for i, weight in enumerate(weights)
    )
    return Pyramid("t", names, tuple(units))


def test_the_worked_number_of_the_paper() -> None:
    """Gao et al. 2019, section 4.6: weights 5, 5, 4, 2 matched and one segment unmatched, so D = 16 and X = 5. Three
    units of weight 5 and two of 4 give Max(5) = 23; X_a = 75 / 5 = 15, and ten units of weight 3 make Max(15) = 53."""
    weights = [5] * 3 + [4] * 2 + [3] * 10 + [2] + [1] * 20
    degrees = [0.0] * len(weights)
    for unit in (0, 1, 3, 15):
        degrees[unit] = 1.0
    found = peer_scores(pyramid_of(weights, 5), degrees, 5)
    assert found == pytest.approx(PeerScores(16 / 53, 16 / 23, 0.4211, 16), abs=5e-5)


def test_degrees_count_in_part() -> None:
    """D = 3 x 0.5 + 1 x 0.25 = 1.75; X = 1 gives Max 3; X_a = 6/3 = 2 gives Max 5."""
    found = peer_scores(pyramid_of([3, 2, 1], 3), [0.5, 0.0, 0.25], 1)
    assert found.raw == 1.75
    assert found.quality == pytest.approx(1.75 / 3)
    assert found.coverage == pytest.approx(1.75 / 5)
    assert found.comprehensive == pytest.approx(2 / (3 / 1.75 + 5 / 1.75))


def test_a_peer_has_at_least_as_many_content_units_as_it_expresses() -> None:
    """Three units in one segment: X is 3, not 1, so quality is 6 / Max(3) = 1; coverage is 6 / Max(2) = 6/5."""
    assert peer_scores(pyramid_of([3, 2, 1], 3), [1, 1, 1], 1)[:2] == (6 / 5, 1)


def test_an_empty_peer_scores_nothing_and_nothing_is_clipped() -> None:
    pyramid = pyramid_of([1, 1, 1], 3)
    assert peer_scores(pyramid, [0, 0, 0], 0) == PeerScores(0, 0, 0, 0)
    assert peer_scores(pyramid, [1, 1, 1], 1) == PeerScores(3, 1, 1.5, 3)


def test_without_units_there_is_no_standard() -> None:
    assert peer_scores(pyramid_of([], 2), [], 4) == PeerScores(None, None, None, 0)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=12), st.integers(0, 8))
def test_whole_matches_score_as_an_annotators_would(units: list[tuple[int, bool]], unmatched: int) -> None:
    pyramid = pyramid_of([weight for weight, _ in units], 4)
    degrees = [float(matched) for _, matched in units]
    annotated = PeerScore(pyramid, {f"u{i}": int(matched) for i, (_, matched) in enumerate(units)}, unmatched)
    found = peer_scores(pyramid, degrees, sum(matched for _, matched in units) + unmatched)
    assert found.raw == annotated.raw
    assert found.quality == annotated.original
    assert found.coverage == annotated.modified
    assert found.comprehensive == annotated.comprehensive
