"""EDUA-X: the greatest sum of (weight - 1) (attraction - t_edge), against brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from tests.pyramids.builders import pyramids, random_graph, segments_of, small_graphs

from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import packing
from pyramidion.pyramids.partition.edua_x import partition

LEAST = 0.001


def worth(graph: SimilarityGraph, nodes: tuple[int, ...]) -> float:
    return (len(nodes) - 1) * (graph.attraction(nodes) - graph.threshold + LEAST)


@given(small_graphs)
@settings(max_examples=100)
def test_no_pyramid_is_worth_more(graph: SimilarityGraph) -> None:
    found = partition(graph)
    assert found.proven
    best = max(sum(worth(graph, unit) for unit in units) for units in pyramids(graph))
    assert found.objective == pytest.approx(best, abs=1e-6)
    place = {int(i): node for node, i in enumerate(graph.order)}
    units = [tuple(place[i] for i in unit.members) for unit in found.units if unit.weight > 1]
    assert sum(worth(graph, unit) for unit in units) == pytest.approx(found.objective)


def test_related_facts_stay_apart() -> None:
    # The example of the docstring: (A B) and (C D) at .9, .55 across; E is at t_edge, .5, to all and joins nobody.
    similarity = np.full((5, 5), 0.55)
    similarity[4] = similarity[:, 4] = 0.5
    for a, b in [(0, 1), (2, 3)]:
        similarity[a, b] = similarity[b, a] = 0.9
    graph = SimilarityGraph.of(segments_of([[[1]]] * 5), similarity, percentile=0)
    found = partition(graph)
    assert [unit.members for unit in found.units] == [(0, 1), (2, 3), (4,)]
    assert found.objective == pytest.approx(0.8 + 2 * LEAST)


def test_a_sentence_is_cut_where_its_halves_are_worth_more() -> None:
    # A's sentence resembles B0 (.6) as a whole; its halves resemble B0 and B1 (.7 each).
    segments = segments_of([[[1, 2]], [[1], [1]]])
    similarity = np.full((5, 5), 0.1)
    for a, b, value in [(0, 3, 0.6), (1, 3, 0.7), (2, 4, 0.7)]:
        similarity[a, b] = similarity[b, a] = value
    found = partition(SimilarityGraph.of(segments, similarity, percentile=0, floor=0.5))
    assert [unit.members for unit in found.units] == [(1, 3), (2, 4)]


def triangles(count: int) -> SimilarityGraph:
    """Odd cycles, where the linear relaxation takes half of each edge: one pair fits, one and a half are bounded."""
    segments = segments_of([[[1]] * count] * 3)
    similarity = np.zeros((3 * count,) * 2)
    for i in range(count):
        for a, b in [(i, count + i), (count + i, 2 * count + i), (i, 2 * count + i)]:
            similarity[a, b] = similarity[b, a] = 0.9
    return SimilarityGraph.of(segments, similarity, percentile=0, floor=0.5)


def test_where_the_relaxation_is_not_whole_branch_and_bound_proves() -> None:
    graph = triangles(5)
    pairs = packing.Candidates(graph.cliques.members[2], np.full(15, 0.4))
    best = packing.pack(graph, [pairs], max_nodes=1000, max_seconds=30)
    assert best.proven
    assert (len(best.chosen), best.gain) == (5, pytest.approx(2.0))


def test_sifting_and_widening_find_what_one_large_programme_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph([[[1, 2]] * 5] * 5, np.random.default_rng(11), percentile=75.0)
    expected = partition(graph)
    monkeypatch.setattr(packing, "_START", 1)
    monkeypatch.setattr(packing, "_JOIN", 3)
    monkeypatch.setattr(packing, "_WIDTHS", (20, 50, 10_000))
    found = partition(graph)
    assert found.proven
    assert found.objective == pytest.approx(expected.objective, abs=1e-6)


def test_what_is_not_proven_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_WIDTHS", ())  # no branch and bound at all
    graph = triangles(5)
    pairs = packing.Candidates(graph.cliques.members[2], np.full(15, 0.4))
    best = packing.pack(graph, [pairs], max_nodes=1000, max_seconds=30)
    assert not best.proven
    assert best.notes("sum") == ("the search stopped at its limit with sum 2: a greater one, at most 3, may exist",)
    assert len(best.chosen) == 5, "the rounded relaxation is still a packing"


def test_classes_grow_towards_the_base() -> None:
    """Facts that few references share are many: nothing in the sum forces the shape, the similarities do."""
    rng = np.random.default_rng(2)
    told = [[fact for fact in range(12) if rng.random() < 1 / (1 + fact / 3)] for _ in range(5)]
    segments = segments_of([[[1]] * len(facts) for facts in told])
    fact = np.concatenate(told)
    similarity = np.where(fact[:, None] == fact[None, :], 0.8, 0.2)
    found = partition(SimilarityGraph.of(segments, similarity, percentile=0, floor=0.5))
    assert Counter(unit.weight for unit in found.units) == Counter(Counter(fact.tolist()).values())
