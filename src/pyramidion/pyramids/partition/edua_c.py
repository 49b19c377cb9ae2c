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
can be added, which is how the paper's depth-first search walks (`maximal`). Then a mean includes every unit that cannot
be avoided, there is no such simple result, and only small graphs are solved completely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.sentences import Untouched
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Nodes, Partition, assemble, leaves_a_single
from pyramidion.pyramids.partition.packing import MAX_NODES, MAX_SECONDS, Candidates, pack

# ----------------------------------------------------------------------
# The greatest AP among pyramids to which no further unit of two and more can be added.
#
# Whatever is added to such a pyramid would clash with a unit in it. So take any candidate that still fits: every
# maximal pyramid contains a unit that clashes with it, or the candidate itself. Branching over those, and barring in
# later branches what earlier ones have tried, visits every maximal pyramid once. A class can at best get the mean
# that its best remaining candidates give it; where the sum of these is no better than the pyramid at hand, a branch
# ends. The pyramid at hand is at first the given one, completed by what leaves the greatest AP.
#
# The bound is weak, because it does not know which units cannot be avoided: beyond some fifty candidates expect a
# good pyramid rather than a proof.

_ZERO = 1e-9
_WORK = 10_000_000  # candidates looked at, all steps together: a few seconds

Some = NDArray[np.intp]


class Maximal(NamedTuple):
    chosen: list[Nodes]
    proven: bool


def best_maximal(graph: SimilarityGraph, start: Sequence[Nodes], *, max_nodes: int) -> Maximal:
    """The best maximal pyramid found within ``max_nodes`` steps (fewer where there are many candidates)."""
    search = _Search(graph, min(max_nodes, _WORK // max(graph.cliques.count, 1)))
    search.complete(start)
    search.explore((), np.arange(len(search.attraction)), np.zeros(0, dtype=np.intp))
    return Maximal([search.nodes_of(i) for i in search.best], search.steps < search.limit)


class _Search:
    """Candidates are numbered through, by size and attraction; their rows of nodes are filled up with one that is no
    node."""

    def __init__(self, graph: SimilarityGraph, limit: int) -> None:
        cliques, self.nothing = graph.cliques, len(graph.order)
        self.graph, self.limit, self.steps = graph, limit, 0
        self.best: tuple[int, ...] = ()
        self.value = -np.inf
        width = max(cliques.sizes, default=0)
        rows = [_filled(cliques.members[size], width, self.nothing) for size in cliques.sizes]
        self.members = np.concatenate([np.zeros((0, width), dtype=np.intp), *rows])
        self.attraction = np.concatenate([np.zeros(0), *(cliques.attraction[size] for size in cliques.sizes)])
        self.weight = np.concatenate(
            [np.zeros(0, dtype=np.intp), *(np.full(len(cliques.members[size]), size) for size in cliques.sizes)]
        )

    def nodes_of(self, candidate: int) -> Nodes:
        return tuple(node for node in self.members[candidate].tolist() if node != self.nothing)

    def _number(self, nodes: Nodes) -> int:
        row = _filled(np.array([nodes], dtype=np.int32), self.members.shape[1], self.nothing)
        return int((self.members == row).all(axis=1).argmax())

    def complete(self, start: Sequence[Nodes]) -> None:
        """Add to a pyramid, as long as anything fits, what leaves the greatest AP."""
        chosen = tuple(self._number(nodes) for nodes in start)
        fits = np.arange(len(self.attraction))
        for candidate in chosen:
            fits = self._beside(candidate, fits)
        while len(fits):
            tops = [int(fits[self.weight[fits] == weight][0]) for weight in np.unique(self.weight[fits])[::-1]]
            better = max(tops, key=lambda top: self._means((*chosen, top)))
            chosen, fits = (*chosen, better), self._beside(better, fits)
        self._offer(chosen)

    def explore(self, chosen: tuple[int, ...], fits: Some, barred: Some) -> None:
        """``fits`` may be added; ``barred`` could be added too, but pyramids with them were seen in another branch."""
        if not len(fits):
            if not len(barred):
                self._offer(chosen)
            return
        self.steps += 1
        if self.steps >= self.limit or self._bound(chosen, fits) <= self.value + _ZERO:
            return
        branches = fits[self._clashing(self._pivot(fits, barred), fits)]
        for place, candidate in enumerate(branches.tolist()):
            if self.steps >= self.limit:
                return
            tried = branches[:place]
            self.explore(
                (*chosen, candidate),
                self._beside(candidate, np.setdiff1d(fits, tried, assume_unique=True)),
                self._beside(candidate, np.concatenate([barred, tried])),
            )

    def _pivot(self, fits: Some, barred: Some) -> int:
        """The candidate whose sentences the fewest others want: it makes the fewest branches."""
        sentence_of = np.append(self.graph.sentence_of, len(self.graph.sentences))
        wanted = np.bincount(sentence_of[self.members[fits]].reshape(-1), minlength=len(self.graph.sentences) + 1)
        wanted[-1] = 0
        either = np.concatenate([fits, barred])
        return int(either[wanted[sentence_of[self.members[either]]].sum(axis=1).argmin()])

    def _clashing(self, candidate: int, some: Some) -> NDArray[np.bool_]:
        taken = np.append(self.graph.excludes[list(self.nodes_of(candidate))].any(axis=0), [False])
        return np.asarray(taken[self.members[some]].any(axis=1))

    def _beside(self, candidate: int, some: Some) -> Some:
        return np.asarray(some[~self._clashing(candidate, some)])

    def _means(self, chosen: tuple[int, ...]) -> float:
        """AP without the single segments."""
        rows = list(chosen)
        total = np.bincount(self.weight[rows], weights=self.attraction[rows])
        return float((total / np.maximum(np.bincount(self.weight[rows]), 1)).sum())

    def _bound(self, chosen: tuple[int, ...], fits: Some) -> float:
        rows = list(chosen)
        bound = 1.0
        for weight in self.graph.cliques.sizes:
            have = self.attraction[rows][self.weight[rows] == weight] if rows else np.zeros(0)
            more = self.attraction[fits[self.weight[fits] == weight]]
            total = have.sum() + np.concatenate([[0.0], np.cumsum(more)])
            count = len(have) + np.arange(len(more) + 1)
            bound += float((total / np.maximum(count, 1)).max())
        return bound

    def _offer(self, chosen: tuple[int, ...]) -> None:
        value = self._means(chosen) + leaves_a_single(self.graph, [self.nodes_of(i) for i in chosen])
        if value > self.value + _ZERO:
            self.best, self.value = chosen, value


def _filled(members: NDArray[np.int32], width: int, filler: int) -> Some:
    rows = np.full((len(members), width), filler, dtype=np.intp)
    rows[:, : members.shape[1]] = members
    return rows


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

    ``max_nodes`` and ``max_seconds`` bound the search; a note says if that was not enough for a proof.
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
