"""The heaviest set of compatible candidate units, exactly: set packing with one segmentation per sentence.

A candidate uses its segments, each segment may be used once, and only where its segmentation is the one chosen for the
sentence. As an integer programme: maximise the gain of the candidates x subject to

    the candidates that have segment s   <=  z of s's segmentation
    the z of a sentence's segmentations  <=  1

and, for an objective that averages within weight classes (EDUA-C), a reward of 1 for leaving a segment alone, y, with

    the candidates of a size             <=  1
    y  +  segments in candidates         <=  segments in the chosen segmentations

There may be half a million candidates and hardly any of them matters, so the linear relaxation is solved over a few
thousand (sifting): its prices tell in one array operation which others could improve it, and those join until none can.
The relaxation is usually integral already. Where it is not, candidates that the prices rule out (they cost more than
the distance between the relaxation and a solution at hand) are left out, and HiGHS solves the rest by branch and bound.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from pyramidion.pyramids.graph import Floats, Indices, SimilarityGraph
from pyramidion.pyramids.partition import leaves_a_single

MAX_NODES = 10_000
# The one limit that may strike in one run and not in another; similarities of texts stay far from it.
MAX_SECONDS = 10.0
_START = 500  # candidates of each size to begin with
_JOIN = 1500  # how many join at a time
_NEAR = 0.01
_WIDTHS = (250, 1_000, 4_000, 16_000)  # candidates that branch and bound gets, in turn
_ZERO = 1e-7  # the tolerance of HiGHS


Columns = NDArray[np.intp]


class Candidates(NamedTuple):
    """Units of one size, a row of nodes each, and what each is worth."""

    members: Indices
    gain: Floats


class Packing(NamedTuple):
    """``bound`` is an upper bound on the gain; infinite if there was no time to find one."""

    chosen: list[tuple[int, ...]]
    gain: float
    proven: bool
    bound: float = np.inf

    def notes(self, what: str) -> tuple[str, ...]:
        """Notes on a result without proof."""
        if self.proven:
            return ()
        most = f", at most {self.bound:.4g}," if np.isfinite(self.bound) else ""
        return (f"the search stopped at its limit with {what} {self.gain:.4g}: a greater one{most} may exist",)


def pack(
    graph: SimilarityGraph,
    candidates: Sequence[Candidates],
    *,
    max_nodes: int,
    max_seconds: float,
    by_class: bool = False,
) -> Packing:
    """The best packing; not ``proven`` where the search stopped after ``max_nodes`` or ``max_seconds``.

    ``by_class``: at most one candidate of each size, and 1 for leaving a segment alone.
    """
    pool = [each for each in candidates if len(each.gain)]
    if not pool:
        return Packing([], float(by_class and len(graph.order) > 0), proven=True)
    problem = _Problem(graph, pool, by_class)
    effort = _Effort(max_nodes, time.monotonic() + max_seconds)
    closed = _Closed(problem.greedy(), proven=False)
    if relaxed := problem.relax(effort):
        closed = problem.close(relaxed, max(closed.columns, problem.rounded(relaxed), key=problem.value), effort)
    chosen = [problem.nodes_of(column) for column in sorted(closed.columns.tolist())]
    return Packing(chosen, problem.value(closed.columns), closed.proven, relaxed.bound if relaxed else np.inf)


class _Relaxed(NamedTuple):
    """The solution of the linear relaxation: its value, what each candidate is worth beyond the price of what it uses,
    and the candidates in use."""

    bound: float
    reduced: Floats
    columns: Columns
    share: Floats


class _Effort(NamedTuple):
    """How much branch and bound may do: nodes each time, and until when in all."""

    nodes: int
    until: float

    def seconds_left(self) -> float:
        return max(0.1, self.until - time.monotonic())


class _Closed(NamedTuple):
    columns: Columns
    proven: bool


class _Uses(NamedTuple):
    """Which nodes candidates have: node, and column of the candidate."""

    node: NDArray[np.intp]
    column: NDArray[np.intp]


class _Rows(NamedTuple):
    matrix: sparse.csr_array
    limit: Floats


class _Problem:
    """Rows are nodes, sentences, sizes and a last one; columns are candidates, segmentations and the lone segment."""

    def __init__(self, graph: SimilarityGraph, pool: Sequence[Candidates], by_class: bool) -> None:
        self.graph = graph
        self.pool = pool
        self.by_class = by_class
        self.most = 1 if by_class else len(graph.order)  # candidates of a size
        self.gain: Floats = np.concatenate([each.gain for each in pool])
        self.first = np.cumsum([0, *(len(each.gain) for each in pool)])
        cuts = np.stack([graph.sentence_of, graph.segmentation_of], axis=1)
        distinct, number, size = np.unique(cuts, axis=0, return_inverse=True, return_counts=True)
        self.cut_sentence, self.cut_of, self.cut_size = distinct[:, 0], number.reshape(-1), size

    def nodes_of(self, column: int) -> tuple[int, ...]:
        size = int(np.searchsorted(self.first, column, side="right")) - 1
        return tuple(self.pool[size].members[column - self.first[size]].tolist())

    def value(self, columns: Columns) -> float:
        """What a packing is worth."""
        alone = not len(columns) or leaves_a_single(self.graph, [self.nodes_of(i) for i in columns.tolist()])
        return float(self.gain[columns].sum() + (self.by_class and alone))

    def reduced_gain(self, price: Floats) -> Floats:
        """What each candidate is worth beyond the prices of its nodes, its size and the places it takes."""
        parts = [each.gain - price[each.members].sum(axis=1) for each in self.pool]
        if self.by_class:
            of_sizes = price[-1 - len(self.pool) : -1]
            for part, each, of_size in zip(parts, self.pool, of_sizes, strict=True):
                part -= of_size + each.members.shape[1] * price[-1]
        return np.concatenate(parts)

    def relax(self, effort: _Effort) -> _Relaxed | None:
        """The linear relaxation, or None where time has run out."""
        columns = np.concatenate(
            [np.arange(min(len(each.gain), _START)) + first for each, first in zip(self.pool, self.first, strict=False)]
        )
        while True:
            rows, worth = self._rows(columns), self._worth(columns)
            bounds = [(0, None)] * (len(worth) - 1) + [(0, 1)]  # the rows bound all but the lone segment
            solved = linprog(  # type: ignore[call-overload]  # it does take sparse arrays
                -worth,
                A_ub=rows.matrix,
                b_ub=rows.limit,
                bounds=bounds,
                method="highs",
                options={"time_limit": effort.seconds_left()},
            )
            if solved.status != 0:
                return None
            reduced = self.reduced_gain(-solved.ineqlin.marginals)
            joining = reduced.copy()
            joining[columns] = -np.inf
            if joining.max() <= _ZERO:
                return _Relaxed(-float(solved.fun), reduced, columns, solved.x[: len(columns)])
            near = np.flatnonzero(joining > -_NEAR)  # those that nearly pay may well do so at the next prices
            order = np.argsort(-joining[near], kind="stable")
            columns = np.concatenate([columns, near[order[:_JOIN]]])

    def greedy(self) -> Columns:
        """What fits from the largest candidates down, those with the greatest gain first."""
        taken = np.zeros(len(self.graph.order), dtype=bool)
        chosen: list[int] = []
        for each, first in sorted(zip(self.pool, self.first, strict=False), key=lambda pair: -pair[0].members.shape[1]):
            free, left = np.argsort(-each.gain, kind="stable"), self.most
            while left and len(free := free[~taken[each.members[free]].any(axis=1)]):
                chosen.append(int(first + free[0]))
                taken |= self.graph.excludes[each.members[free[0]]].any(axis=0)
                left -= 1
        return np.array(chosen, dtype=np.intp)

    def rounded(self, relaxed: _Relaxed) -> Columns:
        """What fits of the relaxation, by share and then by gain."""
        used = relaxed.share > _ZERO
        columns, share = relaxed.columns[used], np.round(relaxed.share[used], 6)
        columns = columns[np.lexsort((columns, -self.gain[columns], -share))]
        taken = np.zeros(len(self.graph.order), dtype=bool)
        left: dict[int, int] = {}
        chosen = []
        for column in columns.tolist():
            nodes = list(self.nodes_of(column))
            if not taken[nodes].any() and left.setdefault(len(nodes), self.most) > 0:
                chosen.append(column)
                taken |= self.graph.excludes[nodes].any(axis=0)
                left[len(nodes)] -= 1
        return np.array(chosen, dtype=np.intp)

    def close(self, relaxed: _Relaxed, at_hand: Columns, effort: _Effort) -> _Closed:
        """From a packing at hand to the best one.

        A candidate that costs more than the distance to the bound cannot be part of anything better. The most promising
        are tried first: what they give narrows the distance for the rest.
        """
        unused = np.ones(len(self.gain), dtype=bool)
        unused[relaxed.columns[relaxed.share > _ZERO]] = False
        order = np.lexsort((-relaxed.reduced, unused))
        tried, certain = 0, True
        for width in (*_WIDTHS, 0):
            gap = relaxed.bound - self.value(at_hand)
            promising = int((relaxed.reduced >= -gap - _ZERO).sum())
            if gap <= _ZERO or promising <= tried:
                return _Closed(at_hand, certain)
            if not width or not certain:
                break
            tried = min(width, promising)
            at_hand, certain = self._branch(order[:tried], at_hand, effort)
        return _Closed(at_hand, proven=False)

    def _branch(self, columns: Columns, at_hand: Columns, effort: _Effort) -> _Closed:
        """The best packing of these candidates, unless that at hand is better."""
        rows, worth = self._rows(columns), self._worth(columns)
        solved = milp(
            -worth,
            constraints=LinearConstraint(rows.matrix, -np.inf, rows.limit),
            integrality=np.ones(len(worth), dtype=np.int8),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0, "node_limit": effort.nodes, "time_limit": effort.seconds_left()},
        )
        chosen = at_hand if solved.x is None else columns[solved.x[: len(columns)] > 0.5]
        better = chosen if self.value(chosen) >= self.value(at_hand) else at_hand
        return _Closed(better, proven=solved.status == 0)

    def _rows(self, columns: Columns) -> _Rows:
        nodes, sentences, sizes = len(self.graph.order), len(self.graph.sentences), len(self.pool)
        cuts, lone, last = len(self.cut_sentence), len(columns) + len(self.cut_sentence), nodes + sentences + sizes
        cut = len(columns) + np.arange(cuts)
        uses = self._uses(columns)
        size_of = np.searchsorted(self.first, columns, side="right") - 1
        parts = [
            (uses.node, uses.column, np.ones(len(uses.node))),
            (np.arange(nodes), cut[self.cut_of], -np.ones(nodes)),
            (nodes + self.cut_sentence, cut, np.ones(cuts)),
            (nodes + sentences + size_of, np.arange(len(columns)), np.ones(len(columns))),
            (np.full(len(columns), last), np.arange(len(columns)), self._sizes(columns)),
            (np.full(cuts, last), cut, -self.cut_size),
            (np.array([last]), np.array([lone]), np.ones(1)),
        ]
        row, column, value = (np.concatenate(each) for each in zip(*parts, strict=True))
        matrix = sparse.csr_array((value, (row, column)), shape=(last + 1, lone + 1))
        limit = np.concatenate([np.zeros(nodes), np.ones(sentences), np.full(sizes, self.most), np.zeros(1)])
        used = slice(None if self.by_class else nodes + sentences)  # rows that bind nothing would only cost time
        return _Rows(matrix[used], limit[used])

    def _sizes(self, columns: Columns) -> NDArray[np.intp]:
        sizes = np.array([each.members.shape[1] for each in self.pool], dtype=np.intp)
        return sizes[np.searchsorted(self.first, columns, side="right") - 1]

    def _uses(self, columns: Columns) -> _Uses:
        nodes, places = [], []
        for i, each in enumerate(self.pool):
            mine = np.flatnonzero((columns >= self.first[i]) & (columns < self.first[i + 1]))
            members = each.members[columns[mine] - self.first[i]]
            nodes.append(members.reshape(-1).astype(np.intp))
            places.append(np.repeat(mine, members.shape[1]))
        return _Uses(np.concatenate(nodes), np.concatenate(places))

    def _worth(self, columns: Columns) -> Floats:
        return np.concatenate([self.gain[columns], np.zeros(len(self.cut_sentence)), [float(self.by_class)]])
