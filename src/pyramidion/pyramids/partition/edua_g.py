"""EDUA-G: units from the heaviest down, the most attractive first, in a pyramid's shape: Gao et al. 2019, appendix A.

Weight class r holds at most y_r = (segments + alpha) (1/r)^beta units, and no more than the class below it (formulas 1
and 2). Classes are filled from the top. Where a class stays smaller than the one above, the least attractive units of
that one are taken apart: a unit of weight r+1 becomes its most attractive part of weight r, and the segment that comes
free may complete another unit. Segments in no unit have weight 1. Where the paper leaves room for choices:

- y_r counts whole units, but a first unit of a class always has a place (algorithm 1 enters a class when 0 <= y_r), and
  is not taken apart for the shape either. Otherwise short or identical references could have no unit of full weight.
- Alpha is the constant added to the number of segments, which is how appendix B tunes it (alpha = 10).
- The condition that can fail after filling is formula 2; all others hold by construction. Backtracking keeps to the
  capacities (the released code does not) and ends: each step makes the list of class sizes, from the top, smaller.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from pyramidion.encoder.sentences import Untouched
from pyramidion.errors import UsageError
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Nodes, Partition, assemble


def partition(
    graph: SimilarityGraph, *, alpha: float = 10.0, beta: float = 2.5, untouched: Untouched = "whole"
) -> Partition:
    """The greedy pyramid. Its reported objective is the paper's AP, which it does not maximise."""
    draft = _Draft(graph, capacities(len(graph.order), graph.cliques.sizes, alpha=alpha, beta=beta))
    for weight in graph.cliques.sizes:
        draft.fill(weight)
        draft.restore_shape(weight)
    chosen = [unit.nodes for tier in draft.tiers.values() for unit in tier]
    return assemble(graph, chosen, untouched=untouched, proven=False)


def capacities(segments: int, weights: list[int], *, alpha: float, beta: float) -> dict[int, int]:
    """The greatest number of units of each weight."""
    if beta < 0 or segments + alpha < 0:
        raise UsageError(f"capacities need beta >= 0 and segments + alpha >= 0, not beta {beta:g} and alpha {alpha:g}")
    return {weight: max(1, int((segments + alpha) * weight**-beta)) for weight in weights}


class _Placed(NamedTuple):
    nodes: Nodes
    attraction: float


class _Draft:
    """A pyramid in the making: ``taken`` are the nodes that no further unit may have."""

    def __init__(self, graph: SimilarityGraph, capacity: dict[int, int]) -> None:
        self.graph = graph
        self.capacity = capacity
        self.tiers: dict[int, list[_Placed]] = {weight: [] for weight in capacity}
        self.taken = np.zeros(len(graph.order), dtype=bool)

    def fill(self, weight: int) -> None:
        """Place candidates of this weight, the most attractive first, as far as segments and capacity go."""
        members, attraction = self.graph.cliques.members[weight], self.graph.cliques.attraction[weight]
        free = np.flatnonzero(~self.taken[members].any(axis=1))
        while len(free) and len(self.tiers[weight]) < self.capacity[weight]:
            best = free[0]
            self._place(_Placed(tuple(members[best].tolist()), float(attraction[best])))
            free = free[~self.taken[members[free]].any(axis=1)]

    def restore_shape(self, weight: int) -> None:
        """Take units of the class above apart until it has one, or no more than this class; then look further up."""
        above = weight + 1
        while above in self.tiers and len(self.tiers[above]) > max(1, len(self.tiers[weight])):
            weakest = min(self.tiers[above], key=lambda unit: (unit.attraction, unit.nodes))
            self._remove(weakest)
            parts = (_Placed(part, self.graph.attraction(part)) for part in combinations(weakest.nodes, weight))
            self._place(max(parts, key=lambda unit: (unit.attraction, unit.nodes)))
            self.fill(weight)
            self.restore_shape(above)

    def _place(self, unit: _Placed) -> None:
        self.tiers[len(unit.nodes)].append(unit)
        self.taken |= self.graph.excludes[list(unit.nodes)].any(axis=0)

    def _remove(self, unit: _Placed) -> None:
        self.tiers[len(unit.nodes)].remove(unit)
        left = [node for tier in self.tiers.values() for placed in tier for node in placed.nodes]
        self.taken = np.asarray(self.graph.excludes[left].any(axis=0))
