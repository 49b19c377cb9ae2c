"""EDUA-X: the exact optimum of a sum over units. Ours; the constraints are those of Gao et al. 2019, section 4.3.

A unit of weight w and attraction AS is worth

    (w - 1) (AS - t_edge)

and a single segment nothing; the pyramid with the greatest sum is found by integer programming (`packing`).

Why this sum. The paper's AP averages within a weight class, so a second good unit in a class can only lower it. Any sum
ends that, but sums differ in what they merge. Take two facts, each told by two references with similarity .9, that are
related (.55) while t_edge is .5. The sum of all similarities within units, with or without t_edge taken off, rises when
the four become one unit, because a unit of weight w has w(w-1)/2 edges: weak edges win by their number. (w-1) AS
rises as well: 2.0 against 1.8. With (w-1)(AS - t_edge) it falls from .8 to .5 and the facts stay apart. Up to a factor,
this is the average association of graph clustering (Shi and Malik 2000), that is k-means over the segments, and t_edge
is the similarity that just pays for one more member: a segment at t_edge to all others in a unit never improves it.

An edge at t_edge exactly still counts for a little (one thousandth), so that references which are all alike are merged.
"""

from __future__ import annotations

from pyramidion.encoder.sentences import Untouched
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Partition, assemble
from pyramidion.pyramids.partition.packing import MAX_NODES, MAX_SECONDS, Candidates, pack

_LEAST = 0.001


def partition(
    graph: SimilarityGraph,
    *,
    max_nodes: int = MAX_NODES,
    max_seconds: float = MAX_SECONDS,
    untouched: Untouched = "whole",
) -> Partition:
    """The pyramid with the greatest sum.

    ``max_nodes`` and ``max_seconds`` bound branch and bound; a note says if that was not enough for a proof.
    """
    candidates = [
        Candidates(graph.cliques.members[size], (size - 1) * (attraction - graph.threshold + _LEAST))
        for size, attraction in graph.cliques.attraction.items()
    ]
    best = pack(graph, candidates, max_nodes=max_nodes, max_seconds=max_seconds)
    return assemble(
        graph, best.chosen, untouched=untouched, objective=best.gain, proven=best.proven, notes=best.notes("sum")
    )
