"""Match a peer by WMIN, a greedy maximum weight independent set: Sakai, Togasaki and Yamazaki 2003 (their GWMIN).

As Gao et al. 2019, section 4.6, use it: a node is a sentence, one of its segmentations and a set of units that its
segments express, each unit by the segment that gives the greatest similarity. Its weight is the sum of the units'
weights. Two nodes exclude each other where they cut the same sentence or use the same unit. The node with the greatest
weight / (degree + 1) is taken and its neighbours are removed, until none is left; the sum is at least that over all
nodes of weight / (degree + 1) in the whole graph. (The released code weights nodes by unit ids and does not divide.)

Sets that leave a segment unmatched are nodes too; otherwise one unit taken elsewhere would rule out all that a sentence
says. A segmentation contributes its 64 heaviest sets: all there are up to three segments of two candidates each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyramidion.encoder.sentences import SegmentedText, Untouched
from pyramidion.judges.matching import THRESHOLD, TOP_K, Cut, PeerMatch, UnitMatch, WeightedUnits, cuts, peer_match

_SETS = 64


class Node(NamedTuple):
    """A sentence, how it is cut, and units its segments express; ``similarity`` is the sum over the matches."""

    sentence: int
    segmentation: int
    weight: float
    similarity: float
    matches: tuple[UnitMatch, ...]


def match(
    units: WeightedUnits,
    peer: SegmentedText,
    similarity: ArrayLike,
    *,
    top_k: int = TOP_K,
    threshold: float = THRESHOLD,
    untouched: Untouched = "whole",
) -> PeerMatch:
    """Which units the peer expresses, and where."""
    ways = cuts(units, peer, similarity, top_k=top_k, threshold=threshold)
    nodes = [node for cut in ways for node in _sets(cut, units.weights)]
    chosen = [nodes[i] for i in independent_set([node.weight for node in nodes], neighbours(nodes), _ranks(nodes))]
    matches = [each for node in chosen for each in node.matches]
    return peer_match(units, peer, matches, {node.sentence: node.segmentation for node in chosen}, untouched)


def independent_set(weights: Sequence[float], adjacent: NDArray[np.bool_], ranks: Sequence[int]) -> list[int]:
    """GWMIN. Among nodes with equally good ratios the one with the lowest rank goes first."""
    weight, rank = np.asarray(weights, dtype=np.float64), np.asarray(ranks)
    alive = np.ones(len(weight), dtype=bool)
    degree = adjacent.sum(axis=1)
    chosen: list[int] = []
    while alive.any():
        ratio = np.where(alive, weight / (degree + 1), -1.0)
        best = np.flatnonzero(ratio == ratio.max())
        node = int(best[rank[best].argmin()])
        chosen.append(node)
        gone = adjacent[node] & alive
        gone[node] = True
        alive &= ~gone
        degree = degree - adjacent[:, gone].sum(axis=1)
    return chosen


def neighbours(nodes: Sequence[Node]) -> NDArray[np.bool_]:
    """Which nodes exclude each other: the same sentence, or a unit in common."""
    sentence = np.array([node.sentence for node in nodes], dtype=np.intp)
    used = sorted({match.unit for node in nodes for match in node.matches})
    number = {unit: i for i, unit in enumerate(used)}
    has = np.zeros((len(nodes), -(-len(used) // 64) * 64), dtype=np.bool_)
    rows = [row for row, node in enumerate(nodes) for _ in node.matches]
    has[rows, [number[match.unit] for node in nodes for match in node.matches]] = True
    bits = np.packbits(has, axis=1).view(np.uint64)  # 64 units at a time
    shared = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
    for column in bits.T:
        shared |= (column[:, None] & column[None, :]) != 0
    adjacent = (sentence[:, None] == sentence[None, :]) | shared
    np.fill_diagonal(adjacent, val=False)
    return np.asarray(adjacent)


def _sets(cut: Cut, weights: NDArray[np.float64]) -> list[Node]:
    """The sets of units this segmentation can express, each by its most similar segments, heaviest first."""
    nodes = [Node(cut.sentence, cut.segmentation, 0.0, 0.0, ())]
    for segment, candidates in zip(cut.segments, cut.candidates, strict=True):
        best = {frozenset(each.unit for each in node.matches): node for node in nodes}
        for node in nodes:
            taken = {each.unit for each in node.matches}
            for unit, similarity in candidates:
                if unit in taken:
                    continue
                total = node.similarity + similarity
                known = best.get(key := frozenset(taken | {unit}))
                if known is None or total > known.similarity:
                    weight = node.weight + float(weights[unit])
                    matches = (*node.matches, UnitMatch(unit, segment, similarity))
                    best[key] = Node(cut.sentence, cut.segmentation, weight, total, matches)
        nodes = sorted(best.values(), key=_goodness)[:_SETS]
    return [node for node in nodes if node.matches]


def _goodness(node: Node) -> tuple[float, float, tuple[UnitMatch, ...]]:
    """Heavier first, then more similar, then by numbers."""
    return (-node.weight, -node.similarity, node.matches)


def _ranks(nodes: Sequence[Node]) -> list[int]:
    """Among equal ratios: the more similar, then the earlier sentence and segmentation."""
    order = sorted(range(len(nodes)), key=lambda i: (-nodes[i].similarity, nodes[i][:2], nodes[i].matches))
    ranks = [0] * len(nodes)
    for rank, node in enumerate(order):
        ranks[node] = rank
    return ranks
