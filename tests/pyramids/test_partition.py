"""What every partitioner must give, whatever the input: a valid pyramid that does not depend on any order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pyramids.builders import graphs, segments_of

from pyramidion import plugins
from pyramidion.encoder.sentences import Segment, SegmentId
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Partition, Partitioner, Unit, attraction_of_pyramid

NAMES = plugins.names("partitioners")
every = pytest.mark.parametrize("partition", [plugins.load("partitioners", name) for name in NAMES], ids=NAMES)


def ids(units: Iterable[Unit], segments: tuple[Segment, ...]) -> list[frozenset[SegmentId]]:
    return [frozenset(segments[i].id for i in unit.members) for unit in units]


def check(graph: SimilarityGraph, found: Partition) -> None:
    """Each sentence by one segmentation, each of its segments in one unit, one contributor a reference."""
    assert set(found.segmentations) == {segment.id.of_sentence for segment in graph.segments}
    wanted = [
        i
        for i, segment in enumerate(graph.segments)
        if found.segmentations[segment.id.of_sentence] == segment.id.segmentation
    ]
    assert sorted(i for unit in found.units for i in unit.members) == wanted
    place = {int(i): node for node, i in enumerate(graph.order)}
    for unit in found.units:
        assert len({graph.segments[i].id.summary for i in unit.members}) == unit.weight
        nodes = [place[i] for i in unit.members]
        assert unit.attraction == pytest.approx(graph.attraction(nodes))
        assert all(graph.similarity[a, b] >= graph.threshold for a in nodes for b in nodes if a != b)
    shape = [(-unit.weight, -unit.attraction) for unit in found.units]
    assert shape == sorted(shape)


@every
@given(graph=graphs(), untouched=st.sampled_from(["whole", "finest"]))
def test_the_result_is_a_pyramid(partition: Partitioner, graph: SimilarityGraph, untouched: str) -> None:
    check(graph, partition(graph, untouched=untouched))  # type: ignore[arg-type]


@every
@given(graph=graphs(), random=st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(partition: Partitioner, graph: SimilarityGraph, random) -> None:  # type: ignore[no-untyped-def]
    """Segments in any order, and references under any names (their texts differ, so they can be told apart)."""
    mixed = random.sample(range(len(graph.order)), len(graph.order))
    names = dict(zip(graph.references, random.sample(graph.references, len(graph.references)), strict=True))
    renamed = [Segment(s.id._replace(summary=names[s.id.summary]), s.spans, s.text) for s in graph.nodes]
    again = SimilarityGraph.of(
        [renamed[i] for i in mixed], graph.similarity[np.ix_(mixed, mixed)], percentile=graph.percentile
    )
    first, second = partition(graph), partition(again)
    texts = [
        [frozenset(g.segments[i].text for i in u.members) for u in p.units]
        for g, p in ((graph, first), (again, second))
    ]
    assert texts[0] == texts[1]
    assert first.objective == second.objective


@every
def test_identical_references_make_units_of_full_weight(partition: Partitioner) -> None:
    segments = segments_of([[[1], [1, 2], [1]]] * 3)
    text = [segment.id[1:] for segment in segments]
    similarity = np.array([[1.0 if a == b else 0.1 for b in text] for a in text])
    found = partition(SimilarityGraph.of(segments, similarity))
    assert found.units[0].weight == 3
    assert found.units[0].attraction == 1.0


@pytest.mark.parametrize("name", ["edua-g", "edua-x"])  # for EDUA-C see test_edua_c: its objective wants otherwise
def test_identical_one_sentence_references_are_one_unit(name: str) -> None:
    partition = plugins.load("partitioners", name)
    found = partition(SimilarityGraph.of(segments_of([[[1]]] * 4), np.ones((4, 4))))
    assert [unit.weight for unit in found.units] == [4]


@every
def test_nothing_gives_nothing(partition: Partitioner) -> None:
    found = partition(SimilarityGraph.of([], []))
    assert found.units == ()
    assert found.segmentations == {}


@every
def test_one_reference_has_units_of_weight_one(partition: Partitioner) -> None:
    segments = segments_of([[[1], [1, 2, 3]]])
    graph = SimilarityGraph.of(segments, np.ones((len(segments),) * 2))
    assert [unit.members for unit in partition(graph).units] == [(0,), (1,)]
    assert [unit.members for unit in partition(graph, untouched="finest").units] == [(0,), (4,), (5,), (6,)]


@every
def test_without_edges_every_sentence_is_a_unit(partition: Partitioner) -> None:
    segments = segments_of([[[1], [1, 2]], [[1]]])
    graph = SimilarityGraph.of(segments, np.eye(len(segments)), floor=0.5)
    assert [unit.members for unit in partition(graph).units] == [(0,), (1,), (4,)]


@every
def test_notes_of_the_graph_are_passed_on(partition: Partitioner) -> None:
    segments = segments_of([[[1]] * 3] * 3)
    similarity = np.linspace(0, 1, len(segments) ** 2).reshape(len(segments), -1)
    graph = SimilarityGraph.of(segments, similarity + similarity.T, percentile=10, max_cliques=10)
    assert len(graph.notes) == 1
    assert set(graph.notes) <= set(partition(graph).notes)


def test_ap_adds_the_means_of_the_weight_classes() -> None:
    # (.8 + .6) / 2 + .5 + 1
    units = [Unit((0, 1, 2), 0.8), Unit((3, 4, 5), 0.6), Unit((6, 7), 0.5), Unit((8,), 1.0), Unit((9,), 1.0)]
    assert attraction_of_pyramid(units) == pytest.approx(2.2)
