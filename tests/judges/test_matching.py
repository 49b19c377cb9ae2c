"""Matching: which units a peer expresses, and by which of its segments."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pyramids.builders import cuts as sentence_cuts
from tests.pyramids.builders import text_of

from pyramidion import plugins
from pyramidion.encoder.sentences import SegmentedText
from pyramidion.errors import UsageError
from pyramidion.judges import exact, wmin
from pyramidion.judges.matching import Matcher, UnitMatch, WeightedUnits

NAMES = plugins.names("matchers")
every = pytest.mark.parametrize("match", [plugins.load("matchers", name) for name in NAMES], ids=NAMES)


@every
def test_similarity_with_a_unit_is_the_mean_over_its_contributors(match: Matcher) -> None:
    units = WeightedUnits.of([2, 1], [0, 0, 1])
    found = match(units, text_of("P", [[1]]), [[0.9, 0.3, 0.55]])
    assert found.matches == (UnitMatch(0, 0, 0.6),), "mean .6 of weight 2 rather than .55 of weight 1"
    assert found.weight == 2
    assert found.unmatched == 0


@every
def test_below_the_threshold_nothing_matches(match: Matcher) -> None:
    units = WeightedUnits.of([1])
    peer = text_of("P", [[1], [1, 3]])
    similarity = np.full((5, 1), 0.49)
    assert match(units, peer, similarity).unmatched == 2
    assert match(units, peer, similarity, untouched="finest").unmatched == 4
    assert match(units, peer, similarity, threshold=0.49).weight == 1


@every
def test_only_the_best_units_of_a_segment_count(match: Matcher) -> None:
    units = WeightedUnits.of([1, 1, 9])
    similarity = [[0.9, 0.8, 0.7]]
    assert match(units, text_of("P", [[1]]), similarity).matches == (UnitMatch(0, 0, 0.9),)
    assert match(units, text_of("P", [[1]]), similarity, top_k=3).matches == (UnitMatch(2, 0, 0.7),)


@every
def test_a_segmentation_that_says_more_is_preferred(match: Matcher) -> None:
    units = WeightedUnits.of([3, 2])
    peer = text_of("P", [[1, 2, 3]])
    # The whole says unit 0; the halves say both; the thirds one of them.
    similarity = [[0.9, 0.1], [0.8, 0.1], [0.1, 0.7], [0.1, 0.6], [0.1, 0.1], [0.1, 0.1]]
    found = match(units, peer, similarity)
    assert found.matches == (UnitMatch(0, 1, 0.8), UnitMatch(1, 2, 0.7))
    assert found.segmentations == (1,)
    assert (found.weight, found.unmatched) == (5, 0)


@every
def test_a_unit_is_matched_once(match: Matcher) -> None:
    found = match(WeightedUnits.of([4]), text_of("P", [[1], [1]]), [[0.7], [0.9]])
    assert found.matches == (UnitMatch(0, 1, 0.9),)
    assert found.unmatched == 1


@every
def test_what_is_left_of_a_sentence_still_counts(match: Matcher) -> None:
    """Sentence 1 takes unit 0 with its only segment; of sentence 0 the other half remains."""
    units = WeightedUnits.of([1, 1, 5])
    peer = text_of("P", [[1, 2], [1]])
    similarity = [[0, 0, 0], [0.9, 0, 0], [0, 0, 0.9], [0.95, 0, 0]]
    found = match(units, peer, similarity)
    assert {each.unit for each in found.matches} == {0, 2}
    assert found.weight == 6


@every
def test_empty_peers_and_empty_pyramids_match_nothing(match: Matcher) -> None:
    nothing = match(WeightedUnits.of([2]), SegmentedText(""), [])
    assert (nothing.matches, nothing.unmatched, nothing.weight) == ((), 0, 0)
    lost = match(WeightedUnits.of([]), text_of("P", [[1], [1, 2]]), [])
    assert (lost.matches, lost.unmatched, lost.segmentations) == ((), 2, (0, 0))


def test_input_that_does_not_fit_is_refused() -> None:
    units, peer = WeightedUnits.of([1, 2]), text_of("P", [[1]])
    with pytest.raises(UsageError, match="1 segments x 2 contributors"):
        wmin.match(units, peer, [[0.1, 0.2, 0.3]])
    with pytest.raises(UsageError, match="top_k"):
        wmin.match(units, peer, [[0.1, 0.2]], top_k=0)
    with pytest.raises(UsageError, match="every unit must have one"):
        WeightedUnits.of([1, 2], [0, 0])
    with pytest.raises(UsageError, match="greater than 0"):
        WeightedUnits.of([0])


def test_gwmin_takes_weight_by_degree() -> None:
    # Sakai et al. 2003. A star: centre of weight 5, leaves of weight 2. A leaf has 2 / (1 + 1) = 1. With three leaves
    # the centre has 5 / 4 and wins; with five it has 5 / 6 and the leaves win.
    for leaves, expected in [(3, [0]), (5, [1, 2, 3, 4, 5])]:
        star = np.zeros((leaves + 1,) * 2, dtype=bool)
        star[0, 1:] = star[1:, 0] = True
        assert wmin.independent_set([5] + [2] * leaves, star, range(leaves + 1)) == expected


@st.composite
def peers(draw: st.DrawFn) -> tuple[WeightedUnits, SegmentedText, np.ndarray]:
    peer = text_of("P", draw(st.lists(sentence_cuts, max_size=4)))
    weights = draw(st.lists(st.integers(1, 4), max_size=5))
    unit_of = [*range(len(weights)), *(draw(st.lists(st.integers(0, len(weights) - 1), max_size=4)) if weights else [])]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    similarity = rng.integers(0, 11, size=(len(peer.clauses()), len(unit_of))) / 10
    return WeightedUnits.of(weights, unit_of), peer, similarity


@every
@given(case=peers(), top_k=st.integers(1, 3), threshold=st.sampled_from([0.3, 0.5, 0.7]))
def test_matches_keep_the_rules(
    match: Matcher, case: tuple[WeightedUnits, SegmentedText, np.ndarray], top_k: int, threshold: float
) -> None:
    units, peer, similarity = case
    found = match(units, peer, similarity, top_k=top_k, threshold=threshold)
    segments = peer.segments("P")
    chosen = {i for i, s in enumerate(segments) if found.segmentations[s.id.sentence] == s.id.segmentation}
    assert len({each.unit for each in found.matches}) == len(found.matches) == len({m.segment for m in found.matches})
    assert {each.segment for each in found.matches} <= chosen
    assert found.unmatched == len(chosen) - len(found.matches)
    assert found.weight == sum(units.weights[each.unit] for each in found.matches)
    mean = units.mean_similarity(similarity, len(segments))
    for each in found.matches:
        assert each.similarity == mean[each.segment, each.unit] >= threshold
        assert (mean[each.segment] > each.similarity).sum() < top_k


def greatest_weight(units: WeightedUnits, peer: SegmentedText, similarity: np.ndarray) -> float:
    """Brute force: every choice of segmentations, every way to give segments their candidate units."""
    mean = units.mean_similarity(similarity, len(peer.clauses()))
    ids = [segment.id for segment in peer.segments("P")]

    def best(segments: list[int], used: frozenset[int]) -> float:
        if not segments:
            return 0.0
        first, *rest = segments
        ranked = [u for u in np.argsort(-mean[first], kind="stable")[:2].tolist() if mean[first, u] >= 0.5]
        taking = [units.weights[u] + best(rest, used | {u}) for u in ranked if u not in used]
        return max([best(rest, used), *taking])

    choices = product(*(range(len(sentence.segmentations)) for sentence in peer.sentences))
    return max(
        best([i for i, s in enumerate(ids) if choice[s.sentence] == s.segmentation], frozenset()) for choice in choices
    )


@pytest.mark.parametrize("choices", [64, 0], ids=["assignments", "integer programme"])
def test_exact_finds_the_greatest_weight(choices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_CHOICES", choices)

    @given(peers())
    def compare(case: tuple[WeightedUnits, SegmentedText, np.ndarray]) -> None:
        found = exact.match(*case).weight
        assert found == greatest_weight(*case)
        assert wmin.match(*case).weight <= found

    compare()


def test_greedy_can_miss_what_exact_finds() -> None:
    # Sentence 0 can say unit 0 or 1, sentence 1 only unit 0; all weights 1. Whichever WMIN starts with by similarity,
    # exact must end with both.
    units = WeightedUnits.of([1, 1])
    similarity = [[0.9, 0.6], [0.8, 0.1]]
    assert exact.match(units, text_of("P", [[1], [1]]), similarity).matches == (
        UnitMatch(1, 0, 0.6),
        UnitMatch(0, 1, 0.8),
    )


def test_sakai_bound_holds_for_the_greedy_set() -> None:
    """Theorem of Sakai et al. 2003: the set weighs at least the sum over nodes of weight / (degree + 1)."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        size = int(rng.integers(1, 12))
        adjacent = np.triu(rng.random((size, size)) < 0.4, 1)
        adjacent |= adjacent.T
        weights = rng.integers(1, 6, size=size)
        chosen = wmin.independent_set(weights.tolist(), adjacent, range(size))
        assert not adjacent[np.ix_(chosen, chosen)].any()
        assert weights[chosen].sum() >= (weights / (adjacent.sum(axis=1) + 1)).sum() - 1e-9
