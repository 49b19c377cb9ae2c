"""The heaviest set of compatible candidate units, exactly: set packing with one segmentation a sentence.

A candidate uses its segments, each segment may be used once, and only where its segmentation is the one chosen for the
sentence. As an integer programme: maximise the gain of the candidates x subject to

    the candidates that have segment s   <=  z of s's segmentation
    the z of a sentence's segmentations  <=  1

There may be half a million candidates and hardly any of them matters, so the linear relaxation is solved over a few
thousand (sifting): its prices tell in one array operation which others could improve it, and those join until none can.
The relaxation is usually whole already. Where it is not, candidates that the prices rule out (they cost more than
the distance between the relaxation and a solution at hand) are left out, and HiGHS solves the rest by branch and bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from pyramidion.auto.cliques import Floats, Indices
from pyramidion.auto.graph import SimilarityGraph

_START = 500  # candidates of each size to begin with
_JOIN = 1500  # how many join at a time
_NEAR = 0.01
_WIDTHS = (2_000, 8_000, 32_000)  # candidates that branch and bound gets, in turn
_ZERO = 1e-7  # the tolerance of HiGHS


class Candidates(NamedTuple):
    """Units of one size, a row of nodes each, and what each is worth."""

    members: Indices
    gain: Floats


class Packing(NamedTuple):
    chosen: list[tuple[int, ...]]
    gain: float
    proven: bool


def pack(graph: SimilarityGraph, candidates: Sequence[Candidates], *, max_nodes: int) -> Packing:
    """The best packing; not ``proven`` where branch and bound stopped after ``max_nodes``."""
    pool = [each for each in candidates if len(each.gain)]
    if not pool:
        return Packing([], 0.0, proven=True)
    problem = _Problem(graph, pool)
    relaxed = problem.relax()
    chosen, proven = problem.close(relaxed, problem.rounded(relaxed), max_nodes)
    units = [problem.nodes_of(i) for i in sorted(chosen.tolist())]
    return Packing(units, float(problem.gain[chosen].sum()), proven)


class _Relaxed(NamedTuple):
    """The solution of the linear relaxation: its value, the price of each node, and the candidates in use."""

    bound: float
    price: Floats
    columns: NDArray[np.intp]
    share: Floats


class _Problem:
    def __init__(self, graph: SimilarityGraph, pool: Sequence[Candidates]) -> None:
        self.graph = graph
        self.pool = pool
        self.gain: Floats = np.concatenate([each.gain for each in pool])
        self.first = np.cumsum([0, *(len(each.gain) for each in pool)])
        cuts = np.stack([graph.sentence_of, graph.segmentation_of], axis=1)
        self.cut_sentence, self.cut_of = self._cuts(cuts)

    @staticmethod
    def _cuts(cuts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The sentence of every segmentation, and the segmentation (numbered through) of every node."""
        distinct, number = np.unique(cuts, axis=0, return_inverse=True)
        return distinct[:, 0], number.reshape(-1)

    def nodes_of(self, column: int) -> tuple[int, ...]:
        size = int(np.searchsorted(self.first, column, side="right")) - 1
        return tuple(self.pool[size].members[column - self.first[size]].tolist())

    def reduced_gain(self, price: Floats) -> Floats:
        """What each candidate is worth beyond the price of its nodes."""
        return np.concatenate([each.gain - price[each.members].sum(axis=1) for each in self.pool])

    def relax(self) -> _Relaxed:
        columns = np.concatenate(
            [np.arange(min(len(each.gain), _START)) + first for each, first in zip(self.pool, self.first, strict=False)]
        )
        while True:
            rows = self._rows(columns)
            found = linprog(  # type: ignore[call-overload]  # it does take sparse arrays
                -self._worth(columns), A_ub=rows.matrix, b_ub=rows.limit, bounds=(0, None), method="highs"
            )
            price = -found.ineqlin.marginals[: len(self.graph.order)]
            reduced = self.reduced_gain(price)
            reduced[columns] = 0.0
            if reduced.max() <= _ZERO:
                return _Relaxed(-float(found.fun), price, columns, found.x[: len(columns)])
            reduced[columns] = -np.inf
            near = np.flatnonzero(reduced > -_NEAR)  # those that nearly pay may well do so at the next prices
            order = np.argsort(-reduced[near], kind="stable")
            columns = np.concatenate([columns, near[order[:_JOIN]]])

    def rounded(self, relaxed: _Relaxed) -> NDArray[np.intp]:
        """A packing at hand: candidates by their share in the relaxation, then by gain, wherever they fit."""
        used = relaxed.share > _ZERO
        columns, share = relaxed.columns[used], relaxed.share[used]
        order = np.lexsort((columns, -self.gain[columns], -np.round(share, 6)))
        taken = np.zeros(len(self.graph.order), dtype=bool)
        chosen = []
        for column in columns[order].tolist():
            nodes = list(self.nodes_of(column))
            if not taken[nodes].any():
                chosen.append(column)
                taken |= self.graph.excludes[nodes].any(axis=0)
        return np.array(chosen, dtype=np.intp)

    def close(self, relaxed: _Relaxed, at_hand: NDArray[np.intp], max_nodes: int) -> tuple[NDArray[np.intp], bool]:
        """From a packing at hand to the best one, and whether it is certain to be.

        A candidate whose reduced gain is below the distance to the bound cannot be part of anything better. The most
        promising are tried first: what they give narrows the distance for the rest.
        """
        reduced = self.reduced_gain(relaxed.price)
        order = np.argsort(-reduced, kind="stable")
        tried = 0
        for width in _WIDTHS:
            gap = relaxed.bound - self.gain[at_hand].sum()
            promising = int((reduced >= -gap - _ZERO).sum())
            if gap <= _ZERO or promising <= tried:
                return at_hand, True
            tried = min(width, promising)
            at_hand, certain = self.branch(order[:tried], at_hand, max_nodes)
            if not certain:
                return at_hand, False
        gap = relaxed.bound - self.gain[at_hand].sum()
        return at_hand, bool((reduced >= -gap - _ZERO).sum() <= tried)

    def branch(
        self, columns: NDArray[np.intp], at_hand: NDArray[np.intp], max_nodes: int
    ) -> tuple[NDArray[np.intp], bool]:
        """Branch and bound over some candidates."""
        rows = self._rows(columns)
        worth = self._worth(columns)
        found = milp(
            -worth,
            constraints=LinearConstraint(rows.matrix, -np.inf, rows.limit),
            integrality=np.ones(len(worth), dtype=np.int8),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0, "node_limit": max_nodes},
        )
        proven = found.status == 0
        if found.x is None:
            return at_hand, proven
        chosen = columns[found.x[: len(columns)] > 0.5]
        return (chosen if self.gain[chosen].sum() >= self.gain[at_hand].sum() else at_hand), proven

    class _Rows(NamedTuple):
        matrix: sparse.csr_array
        limit: Floats

    def _rows(self, columns: NDArray[np.intp]) -> _Rows:
        """The constraints: nodes first, then sentences; candidates first, then segmentations."""
        nodes, cuts, sentences = len(self.graph.order), len(self.cut_sentence), len(self.graph.sentences)
        row, column = self._uses(columns)
        place = len(columns) + np.arange(cuts)
        rows = np.concatenate([row, np.arange(nodes), nodes + self.cut_sentence])
        across = np.concatenate([column, place[self.cut_of], place])
        value = np.concatenate([np.ones(len(row)), -np.ones(nodes), np.ones(cuts)])
        matrix = sparse.csr_array((value, (rows, across)), shape=(nodes + sentences, len(columns) + cuts))
        return self._Rows(matrix, np.concatenate([np.zeros(nodes), np.ones(sentences)]))

    def _uses(self, columns: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which node each of these candidates has, as (node, place of the candidate) pairs."""
        nodes, places = [], []
        for i, each in enumerate(self.pool):
            mine = np.flatnonzero((columns >= self.first[i]) & (columns < self.first[i + 1]))
            members = each.members[columns[mine] - self.first[i]]
            nodes.append(members.reshape(-1).astype(np.intp))
            places.append(np.repeat(mine, members.shape[1]))
        return np.concatenate(nodes), np.concatenate(places)

    def _worth(self, columns: NDArray[np.intp]) -> Floats:
        return np.concatenate([self.gain[columns], np.zeros(len(self.cut_sentence))])
