"""The worked numbers of the Pyramid method."""

from __future__ import annotations

import pytest

from pyramidion.scoring.pyramid import PeerScore, mean_units_per_reference
from pyramidion.study import ContentUnit, Contributor, Pyramid


def pyramid_of(weights: list[int], references: int) -> Pyramid:
    names = tuple(f"r{i}" for i in range(references))
    units = tuple(
        ContentUnit(f"u{i}", f"unit {i}", tuple(map(Contributor, names[:weight]))) for i, weight in enumerate(weights)
    )
    return Pyramid("t", names, units)


def test_the_example_of_gao_et_al_2019_section_4_6() -> None:
    # Matched weights 5, 5, 4, 2 and one unmatched unit: D = 16, X = 5. The pyramid has three units of weight 5, so
    # Max(5) = 5+5+5+4+4 = 23; X_a = 75 contributors / 5 references = 15, and the best 15 units weigh
    # 3*5 + 4*4 + 6*3 + 2*2 = 53. quality = 16/23, coverage = 16/53, harmonic mean 0.4211.
    weights = [5] * 3 + [4] * 4 + [3] * 6 + [2] * 2 + [1] * 22
    pyramid = pyramid_of(weights, 5)
    assert mean_units_per_reference(pyramid) == 15
    score = PeerScore(pyramid, {"u0": 1, "u1": 1, "u3": 1, "u13": 1}, unmatched=1)
    assert score.raw == 16
    assert score.max_weight(5) == 23
    assert score.max_weight(15) == 53
    assert score.original == pytest.approx(0.6957, abs=5e-5)
    assert score.modified == pytest.approx(0.3019, abs=5e-5)
    assert score.comprehensive == pytest.approx(0.4211, abs=5e-5)
    assert score.precision == 4 / 5
    assert score.recall == 4 / 37


def test_repeated_mentions_and_unmatched_content_count_in_x() -> None:
    # Units of weight 2, 2, 1: u0 expressed three times, one unmatched. D = 2, X = 1 + 2 + 1 = 4 > 3 units, so
    # Max(4) is the whole pyramid, 5. original = 2/5; precision = 1/4.
    score = PeerScore(pyramid_of([2, 2, 1], 2), {"u0": 3}, unmatched=1)
    assert (score.matched, score.repeated, score.size) == (1, 2, 4)
    assert score.original == 2 / 5
    assert score.precision == 1 / 4


@pytest.mark.parametrize(
    ("weights", "references", "expected"),
    [
        # 5 contributors over 2 references: 2.5
        ([2, 1, 1, 1], 2, {"half-up": 3, "floor": 2, "ceiling": 3, "half-even": 2}),
        # 9 over 4: 2.25
        ([4, 3, 2], 4, {"half-up": 2, "floor": 2, "ceiling": 3, "half-even": 2}),
        # 7 over 2: 3.5
        ([2, 2, 1, 1, 1], 2, {"half-up": 4, "floor": 3, "ceiling": 4, "half-even": 4}),
    ],
)
def test_rounding_of_the_mean_number_of_units(weights: list[int], references: int, expected: dict[str, int]) -> None:
    pyramid = pyramid_of(weights, references)
    assert {r: mean_units_per_reference(pyramid, rounding=r) for r in expected} == expected


def test_a_modified_score_may_exceed_one_and_is_clipped_only_on_request() -> None:
    # 2 references, weights 1, 1, 1: X_a = floor(1.5 + 0.5) = 2, Max(2) = 2; a peer with all three has D = 3.
    pyramid = pyramid_of([1, 1, 1], 2)
    everything = {"u0": 1, "u1": 1, "u2": 1}
    assert PeerScore(pyramid, everything, 0).modified == 1.5
    assert PeerScore(pyramid, everything, 0, clip=True).modified == 1.0


def test_undefined_scores_are_none_and_an_empty_peer_scores_zero() -> None:
    pyramid = pyramid_of([2, 1], 2)
    uncounted = PeerScore(pyramid, {"u0": 1}, unmatched=None)
    assert uncounted.original is None
    assert uncounted.comprehensive is None
    assert uncounted.precision is None
    assert uncounted.modified == 2 / 3  # X_a = floor(3/2 + 0.5) = 2, Max(2) = 3
    nothing = PeerScore(pyramid, {}, unmatched=0)
    assert (nothing.original, nothing.modified, nothing.comprehensive, nothing.precision) == (0, 0, 0, 0)
    no_pyramid = PeerScore(Pyramid("t", (), ()), {}, unmatched=0)
    assert (no_pyramid.original, no_pyramid.modified, no_pyramid.recall) == (None, None, None)
