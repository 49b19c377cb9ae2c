"""EDUA-G: capacities, greed, and taking units apart. Gao et al. 2019, appendix A."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from tests.pyramids.builders import graphs, segments_of

from pyramidion.errors import UsageError
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition.edua_g import capacities, partition


def test_capacities_follow_the_power_law() -> None:
    # 100 segments: alpha 110; 110 / 5^2.5 = 1.97, / 4^2.5 = 3.44, / 3^2.5 = 7.06, / 2^2.5 = 19.4
    assert capacities(100, [5, 4, 3, 2], alpha=10, beta=2.5) == {5: 1, 4: 3, 3: 7, 2: 19}
    assert capacities(4, [4], alpha=10, beta=2.5) == {4: 1}, "14 / 32 is less than one, but a first unit has a place"
    with pytest.raises(UsageError, match="beta"):
        capacities(4, [4], alpha=10, beta=-1)


def test_the_most_attractive_unit_of_the_heaviest_class_goes_first() -> None:
    # A0 B0 C0 all at .7; A1 B1 at .9. Greedy takes the triple although the pair is more attractive, then the pair.
    segments = segments_of([[[1], [1]], [[1], [1]], [[1]]])
    similarity = np.full((5, 5), 0.1)
    for a, b, value in [(0, 2, 0.7), (0, 4, 0.7), (2, 4, 0.7), (1, 3, 0.9)]:
        similarity[a, b] = similarity[b, a] = value
    found = partition(SimilarityGraph.of(segments, similarity, percentile=50))
    assert [unit.members for unit in found.units] == [(0, 2, 4), (1, 3)]
    assert found.objective == pytest.approx(0.7 + 0.9)


def test_a_class_larger_than_the_one_below_is_taken_apart() -> None:
    # Two triples, .9 and .8, and nothing else to pair: the class of pairs would be empty. The weaker triple gives its
    # best pair, (1, 3) at .85, and node 5 is left.
    segments = segments_of([[[1], [1]]] * 3)
    similarity = np.full((6, 6), 0.1)
    for a, b, value in [(0, 2, 0.9), (0, 4, 0.9), (2, 4, 0.9), (1, 3, 0.85), (1, 5, 0.8), (3, 5, 0.75)]:
        similarity[a, b] = similarity[b, a] = value
    graph = SimilarityGraph.of(segments, similarity, percentile=0, floor=0.5)
    found = partition(graph, alpha=100)  # room for six triples
    assert [unit.members for unit in found.units] == [(0, 2, 4), (1, 3), (5,)]


@given(graphs())
def test_no_class_exceeds_its_capacity_or_the_class_below(graph: SimilarityGraph) -> None:
    limits = capacities(len(graph.order), graph.cliques.sizes, alpha=10, beta=2.5)
    count = Counter(unit.weight for unit in partition(graph).units)
    for weight, limit in limits.items():
        assert count[weight] <= limit
        if weight > 2:
            assert count[weight] <= max(1, count[weight - 1])
