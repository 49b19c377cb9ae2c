"""Scores of peers: the paper's worked number first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion import ContentUnit, Contributor, Judgment, Judgments, Pyramid
from pyramidion.scoring import auto
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import UNMATCHED
from pyramidion.study.judgments import COVERED


class Values(NamedTuple):
    extent: float | None
    coverage: float | None
    quality: float | None
    comprehensive: float | None
    raw: float | None


def scores(pyramid: Pyramid, degrees: Sequence[float], unmatched: int, covered: float | None = None) -> Values:
    """Of a peer with these degrees of the units, so many content units besides, and that share of the words."""
    said = [Judgment("t", "x", "auto", value, unit=unit.id) for unit, value in zip(pyramid.units, degrees, strict=True)]
    if covered is not None:
        said.append(Judgment("t", "x", "auto", covered, aspect=COVERED))
    judgments = Judgments([*said, Judgment("t", "x", "auto", unmatched, aspect=UNMATCHED)])
    return Values(**dict(auto.values(auto.peer_scores(pyramid, judgments, {})["x"])))


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
    found = scores(pyramid_of(weights, 5), degrees, 1)
    assert found == pytest.approx(Values(16 / 53, 16 / 53, 16 / 23, 0.4211, 16), abs=5e-5)


def test_degrees_count_in_part_and_below_a_fifth_not_at_all() -> None:
    """D = 3 x 0.5 + 1 x 0.25 = 1.75, and 2 x 0.19 adds nothing; two units and no unmatched content are X = 2, so
    Max(2) = 5; X_a = 6/3 = 2, and Max(2) = 5, too."""
    found = scores(pyramid_of([3, 2, 1], 3), [0.5, 0.19, 0.25], 0)
    assert found.raw == 1.75
    assert found.quality == pytest.approx(1.75 / 5)
    assert found.coverage == pytest.approx(1.75 / 5)
    assert found.comprehensive == pytest.approx(1.75 / 5)


def test_every_unit_counts_as_one_and_so_does_what_matches_nothing() -> None:
    """Three units in one segment: X is 3, so quality is 6 / Max(3) = 1; coverage is 6 / Max(2) = 6/5. One unit of the
    lightest tier and one unmatched segment: 1 / Max(2) = 1/5."""
    assert scores(pyramid_of([3, 2, 1], 3), [1, 1, 1], 0)[1:3] == (6 / 5, 1)
    assert scores(pyramid_of([3, 2, 1], 3), [0, 0, 1], 1).quality == 1 / 5


DEGREES = st.floats(0, 1) | st.sampled_from([0.0, 0.1999, 0.2, 0.5, 1.0])


@given(st.lists(st.tuples(st.integers(1, 4), DEGREES), min_size=1, max_size=15), st.integers(0, 8))
def test_quality_is_a_precision_whatever_the_degrees(units: list[tuple[int, float]], unmatched: int) -> None:
    """Each unit that adds to D, with at most its weight, counts as one in X, so that D <= Max(X). More unmatched
    content never raises it, and raw is the sum over the units that are listed."""
    pyramid = pyramid_of([weight for weight, _ in units], 4)
    degrees = [degree for _, degree in units]
    found = scores(pyramid, degrees, unmatched)
    assert found.quality is not None
    assert 0 <= found.quality <= 1 + 1e-12
    assert scores(pyramid, degrees, unmatched + 1).quality <= found.quality  # type: ignore[operator]
    assert found.raw == pytest.approx(sum(weight * degree for weight, degree in units if degree >= 0.2))


def test_an_empty_peer_scores_nothing_and_nothing_is_clipped() -> None:
    pyramid = pyramid_of([1, 1, 1], 3)
    assert scores(pyramid, [0, 0, 0], 0) == Values(0, 0, 0, 0, 0)
    assert scores(pyramid, [1, 1, 1], 0) == Values(3, 3, 1, 1.5, 3)


def test_extent_is_the_mean_of_coverage_and_of_the_words_said() -> None:
    """D = 3 x 0.5 = 1.5; X_a = 6/3 = 2 and Max(2) = 5, so coverage is 0.3; with 0.7 of the words, extent is 0.5."""
    found = scores(pyramid_of([3, 2, 1], 3), [0.5, 0, 0], 0, covered=0.7)
    assert found.coverage == pytest.approx(0.3)
    assert found.extent == pytest.approx(0.5)
    assert found.quality == pytest.approx(0.5), "nothing else changes: 1.5 / Max(1)"


def test_without_units_there_is_no_standard() -> None:
    assert scores(pyramid_of([], 2), [], 4) == Values(None, None, None, None, 0)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=12), st.integers(0, 8))
def test_whole_matches_score_as_an_annotators_would(units: list[tuple[int, bool]], unmatched: int) -> None:
    pyramid = pyramid_of([weight for weight, _ in units], 4)
    degrees = [float(matched) for _, matched in units]
    annotated = PeerScore(pyramid, {f"u{i}": int(matched) for i, (_, matched) in enumerate(units)}, unmatched)
    found = scores(pyramid, degrees, unmatched)
    assert found.raw == annotated.raw
    assert found.quality == annotated.original
    assert found.coverage == annotated.modified
    assert found.comprehensive == annotated.comprehensive
