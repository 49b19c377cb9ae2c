"""EDUA-C: the pyramid with the greatest AP, exactly: Gao et al. 2019, section 4.4.

AP adds, over the weight classes that occur, the mean attraction of the units in a class; single segments have
attraction 1, so the class of weight 1 adds 1 as soon as a segment is left alone.

**What that implies.** Take any pyramid and keep of each class above 1 only its most attractive unit; the others fall
apart into single segments. No mean gets smaller, and the class of weight 1 has its 1. So *a best pyramid exists with at
most one unit in each class above 1*, and that is what AP asks for (the paper's table 2 has one unit each of weight 5, 4
and 3). The pyramids made here are therefore nearly flat, and four identical references of one sentence are worth more
as a unit of weight 3 and a single segment (AP 2) than as a unit of weight 4 (AP 1). These are properties of the
objective, which is why EDUA-G has capacities and EDUA-X a sum. It also means that the exact search is small: one
candidate for each class, all compatible, by integer programming (`packing`).

``maximal=True`` (the partitioner ``edua-c-maximal``) asks for the greatest AP among pyramids to which no further unit
can be added, which is how the paper's depth-first search walks (`maximal`). Then a mean has to bear every unit that
cannot be avoided, nothing as simple holds, and only small graphs are solved to the end.
"""

from __future__ import annotations

from pyramidion.auto.graph import SimilarityGraph
from pyramidion.auto.partition.maximal import best_maximal
from pyramidion.auto.partition.packing import MAX_NODES, MAX_SECONDS, Candidates, pack
from pyramidion.auto.partition.result import Partition, assemble
from pyramidion.auto.segments import Untouched

_TIE = 1e-6  # for each contributor: where AP is the same to five decimals, heavier units are better


def partition(
    graph: SimilarityGraph,
    *,
    maximal: bool = False,
    max_nodes: int = MAX_NODES,
    max_seconds: float = MAX_SECONDS,
    untouched: Untouched = "whole",
) -> Partition:
    """The best pyramid by AP.

    ``max_nodes`` and ``max_seconds`` bound the search; a note says where that was not enough for a proof.
    """
    candidates = [
        Candidates(graph.cliques.members[size], attraction + _TIE * size)
        for size, attraction in graph.cliques.attraction.items()
    ]
    best = pack(graph, candidates, max_nodes=max_nodes, max_seconds=max_seconds, by_class=True)
    chosen, proven, notes = best.chosen, best.proven, best.notes("AP")
    if maximal:
        chosen, proven = best_maximal(graph, chosen, max_nodes=max_nodes)
        notes = () if proven else ("the search stopped at its limit: a maximal pyramid with a greater AP may exist",)
    return assemble(graph, chosen, untouched=untouched, proven=proven, notes=notes)


def partition_maximally(
    graph: SimilarityGraph,
    *,
    max_nodes: int = MAX_NODES,
    max_seconds: float = MAX_SECONDS,
    untouched: Untouched = "whole",
) -> Partition:
    """The partitioner ``edua-c-maximal``: the best by AP among pyramids to which no further unit can be added."""
    return partition(graph, maximal=True, max_nodes=max_nodes, max_seconds=max_seconds, untouched=untouched)
