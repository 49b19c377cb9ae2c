"""EDUA-C: the greatest AP, and what that objective is like. Gao et al. 2019, sections 4.3 to 4.5."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.pyramids.builders import graphs, pyramids, random_graph, segments_of, small_graphs

from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Unit, attraction_of_pyramid, leaves_a_single
from pyramidion.pyramids.partition.edua_c import partition, partition_maximally


def ap(graph: SimilarityGraph, units: list[tuple[int, ...]]) -> float:
    singles = [Unit((0,), 1.0)] * leaves_a_single(graph, units)
    return attraction_of_pyramid([*(Unit(unit, graph.attraction(unit)) for unit in units), *singles])


def is_maximal(graph: SimilarityGraph, units: list[tuple[int, ...]]) -> bool:
    used = [node for unit in units for node in unit]
    taken = graph.excludes[used].any(axis=0) if used else np.zeros(len(graph.order), dtype=bool)
    return all(taken[members].any(axis=1).all() for members in graph.cliques.members.values())


@given(small_graphs)
@settings(max_examples=100)
def test_no_pyramid_has_a_greater_ap(graph: SimilarityGraph) -> None:
    found = partition(graph)
    assert found.proven
    every = pyramids(graph) if len(graph.order) else [[]]
    assert found.objective == pytest.approx(max(ap(graph, units) for units in every), abs=1e-5)


@given(small_graphs)
@settings(max_examples=100)
def test_no_maximal_pyramid_has_a_greater_ap(graph: SimilarityGraph) -> None:
    found = partition(graph, maximal=True)
    assert found.proven
    best = max(ap(graph, units) for units in pyramids(graph) if is_maximal(graph, units))
    assert found.objective == pytest.approx(best)
    place = {int(i): node for node, i in enumerate(graph.order)}
    assert is_maximal(graph, [tuple(place[i] for i in unit.members) for unit in found.units if unit.weight > 1])


@given(graphs())
def test_one_unit_a_class_is_enough(graph: SimilarityGraph) -> None:
    """The property of the docstring: the best pyramid found has at most one unit in each class above 1."""
    weights = [unit.weight for unit in partition(graph).units if unit.weight > 1]
    assert len(weights) == len(set(weights))


def test_by_hand() -> None:
    # A0 B0 C0 (.9 .8 .7: AS .8) and the pair A1 B1 (.6) leave C1: AP = .8 + .6 + 1.
    # The pair A0 B0 (.9) would give .9 + 1 and no triple.
    segments = segments_of([[[1], [1]], [[1], [1]], [[1], [1]]])
    similarity = np.full((6, 6), 0.1)
    for a, b, value in [(0, 2, 0.9), (0, 4, 0.8), (2, 4, 0.7), (1, 3, 0.6)]:
        similarity[a, b] = similarity[b, a] = value
    found = partition(SimilarityGraph.of(segments, similarity, percentile=0, floor=0.5))
    assert [unit.members for unit in found.units] == [(0, 2, 4), (1, 3), (5,)]
    assert found.objective == pytest.approx(0.8 + 0.6 + 1)


def test_a_unit_is_better_than_segments_alone_where_ap_is_the_same() -> None:
    graph = SimilarityGraph.of(segments_of([[[1]]] * 2), np.ones((2, 2)))
    found = partition(graph)
    assert [unit.members for unit in found.units] == [(0, 1)]
    assert found.objective == 1.0


def test_ap_prefers_a_segment_alone_to_a_unit_of_full_weight() -> None:
    """Four identical references of one sentence: weight 3 and a single (AP 2) beats weight 4 (AP 1)."""
    graph = SimilarityGraph.of(segments_of([[[1]]] * 4), np.ones((4, 4)))
    assert [unit.weight for unit in partition(graph).units] == [3, 1]
    assert partition(graph).objective == 2.0
    assert [unit.weight for unit in partition(graph, maximal=True).units] == [3, 1]


def test_maximal_pyramids_have_many_pairs() -> None:
    graph = random_graph([[[1]] * 6] * 4, np.random.default_rng(4))
    best, full = partition(graph), partition(graph, maximal=True)
    assert partition_maximally(graph) == full
    assert full.objective < best.objective
    assert sum(unit.weight > 1 for unit in full.units) > sum(unit.weight > 1 for unit in best.units)


def test_a_search_cut_short_says_so_and_is_still_maximal() -> None:
    graph = random_graph([[[1, 2]] * 6] * 4, np.random.default_rng(4))
    found = partition(graph, maximal=True, max_nodes=20)
    assert not found.proven
    assert "a maximal pyramid with a greater AP may exist" in found.notes[-1]
    place = {int(i): node for node, i in enumerate(graph.order)}
    assert is_maximal(graph, [tuple(place[i] for i in unit.members) for unit in found.units if unit.weight > 1])
