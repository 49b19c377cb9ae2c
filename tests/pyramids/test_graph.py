"""Edges, cliques and their limits."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pyramids.builders import graphs, random_graph, random_similarity, segments_of

from pyramidion.errors import UsageError
from pyramidion.pyramids.graph import SimilarityGraph


def test_t_edge_is_a_percentile_of_the_pairs_across_references_and_itself_an_edge() -> None:
    # A has two sentences, B two, so there are four pairs across: .1, .2, .3, .4; the pairs inside (.9) do not count.
    similarity = np.array([[1, 0.9, 0.1, 0.2], [0.9, 1, 0.3, 0.4], [0.1, 0.3, 1, 0.9], [0.2, 0.4, 0.9, 1]])
    graph = SimilarityGraph.of(segments_of([[[1], [1]], [[1], [1]]]), similarity, percentile=100 * 2 / 3)
    assert graph.threshold == pytest.approx(0.3)
    assert graph.cliques.members[2].tolist() == [[1, 3], [1, 2]]
    assert graph.cliques.attraction[2].tolist() == [0.4, 0.3]


def test_attraction_is_the_mean_edge() -> None:
    similarity = np.array([[1, 0.6, 0.8], [0.6, 1, 0.7], [0.8, 0.7, 1]])
    graph = SimilarityGraph.of(segments_of([[[1]]] * 3), similarity, percentile=0)
    assert graph.cliques.members[3].tolist() == [[0, 1, 2]]
    assert graph.cliques.attraction[3].tolist() == [pytest.approx(0.7)]
    assert graph.attraction([0, 1, 2]) == pytest.approx(0.7)
    assert graph.attraction([1]) == 1.0


@given(graphs())
def test_the_candidate_units_are_all_cliques(graph: SimilarityGraph) -> None:
    nodes = range(len(graph.order))
    reference = [node.id.summary for node in graph.nodes]

    def joined(a: int, b: int) -> bool:
        return reference[a] != reference[b] and bool(0 < graph.similarity[a, b] >= graph.threshold)

    expected = {
        some
        for size in range(2, len(graph.references) + 1)
        for some in combinations(nodes, size)
        if all(joined(a, b) for a, b in combinations(some, 2))
    }
    found = [tuple(row) for members in graph.cliques.members.values() for row in members.tolist()]
    assert len(found) == len(set(found)) == graph.cliques.count
    assert set(found) == expected
    for size, members in graph.cliques.members.items():
        attraction = [graph.attraction(row) for row in members.tolist()]
        assert np.allclose(graph.cliques.attraction[size], attraction)
        assert (np.diff(graph.cliques.attraction[size]) <= 1e-12).all()


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_segments_does_not_matter(graph: SimilarityGraph, random) -> None:  # type: ignore[no-untyped-def]
    mixed = random.sample(range(len(graph.order)), len(graph.order))
    again = SimilarityGraph.of(
        [graph.nodes[i] for i in mixed], graph.similarity[np.ix_(mixed, mixed)], percentile=graph.percentile
    )
    assert again.nodes == graph.nodes
    assert again.threshold == graph.threshold
    for size, members in graph.cliques.members.items():
        assert np.array_equal(again.cliques.members[size], members)


def test_the_last_digits_of_an_encoder_do_not_matter() -> None:
    segments = segments_of([[[1, 2]], [[1], [1]], [[1]]])
    similarity = random_similarity(len(segments), np.random.default_rng(1), levels=4)
    noise = np.random.default_rng(2).uniform(-4e-8, 4e-8, similarity.shape)
    plain, noisy = SimilarityGraph.of(segments, similarity), SimilarityGraph.of(segments, similarity + noise + noise.T)
    assert np.array_equal(plain.similarity, noisy.similarity)


def test_too_many_candidates_raise_the_percentile_and_say_so() -> None:
    layout = [[[1]] * 6] * 6
    full = random_graph(layout, np.random.default_rng(3), percentile=40.0)
    assert full.notes == ()
    assert full.percentile == 40.0
    limited = random_graph(layout, np.random.default_rng(3), percentile=40.0, max_cliques=500)
    assert limited.cliques.count <= 500 < full.cliques.count
    assert limited.threshold > full.threshold
    assert f"percentile {limited.percentile:g} (similarity" in limited.notes[0]
    below = random_graph(layout, np.random.default_rng(3), percentile=limited.percentile - 1)
    assert below.cliques.count > 500, "the percentile is raised no further than needed"


def test_more_identical_references_than_fit_are_refused_at_once() -> None:
    segments = segments_of([[[1]]] * 20)  # 2^20 cliques of the same similarity: no percentile helps
    with pytest.raises(UsageError, match="use fewer of them or raise max_cliques"):
        SimilarityGraph.of(segments, np.ones((20, 20)))


def test_a_floor_keeps_strangers_apart() -> None:
    segments = segments_of([[[1]], [[1]]])
    similarity = np.array([[1, 0.1], [0.1, 1]])
    assert SimilarityGraph.of(segments, similarity).cliques.count == 1
    assert SimilarityGraph.of(segments, similarity, floor=0.2).cliques.count == 0


def test_segments_with_nothing_in_common_are_never_joined() -> None:
    segments = segments_of([[[1]] * 5, [[1]] * 5])
    similarity = np.zeros((10, 10))
    similarity[0, 5] = similarity[5, 0] = 0.4
    graph = SimilarityGraph.of(segments, similarity)
    assert graph.threshold == 0.0
    assert graph.cliques.members[2].tolist() == [[0, 5]]


def test_one_reference_or_none_has_no_candidates() -> None:
    assert SimilarityGraph.of([], []).cliques.count == 0
    assert random_graph([[[1, 2], [1]]], np.random.default_rng(0)).cliques.count == 0


def test_input_that_does_not_fit_is_refused() -> None:
    segments = segments_of([[[1]], [[1]]])
    with pytest.raises(UsageError, match="2 x 2"):
        SimilarityGraph.of(segments, np.ones((3, 3)))
    with pytest.raises(UsageError, match="not a number"):
        SimilarityGraph.of(segments, np.full((2, 2), np.nan))
    with pytest.raises(UsageError, match="symmetric"):
        SimilarityGraph.of(segments, [[1, 0.5], [0.2, 1]])
    with pytest.raises(UsageError, match="percentile"):
        SimilarityGraph.of(segments, np.ones((2, 2)), percentile=101)
    with pytest.raises(UsageError, match="same id"):
        SimilarityGraph.of([segments[0]] * 2, np.ones((2, 2)))
