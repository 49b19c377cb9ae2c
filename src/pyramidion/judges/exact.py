"""Match a peer exactly: the greatest summed weight of distinct units that its segments can express.

WMIN (`wmin`) solves the same problem greedily: one segmentation per sentence, at most one unit per segment, and each
unit once; among equally heavy solutions the most similar one is chosen. Sentences that share no candidate unit are
independent. For the others, every choice of segmentations leaves a plain assignment problem; if there are too many
choices, the whole is solved as an integer program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from pyramidion.encoder.sentences import SegmentedText, Untouched
from pyramidion.judges.matching import THRESHOLD, TOP_K, Cut, PeerMatch, UnitMatch, WeightedUnits, cuts, peer_match

_CHOICES = 64  # up to this many, trying every choice of segmentations is quicker than an integer programme
_TIE = 1e-4  # how much similarity counts beside weight: it never outweighs one


class _Answer(NamedTuple):
    value: float
    matches: list[UnitMatch]
    cuts: list[Cut]


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
    ways = [cut for cut in cuts(units, peer, similarity, top_k=top_k, threshold=threshold) if any(cut.candidates)]
    answers = [_best(group, units.weights) for group in _apart(ways)]
    matches = [each for answer in answers for each in answer.matches]
    chosen = {cut.sentence: cut.segmentation for answer in answers for cut in answer.cuts}
    return peer_match(units, peer, matches, chosen, untouched)


def _apart(ways: Sequence[Cut]) -> Iterator[list[list[Cut]]]:
    """Groups of sentences (each a list of its cuts) such that no two groups want the same unit."""
    sentences: dict[int, list[Cut]] = defaultdict(list)
    for cut in ways:
        sentences[cut.sentence].append(cut)
    groups: list[tuple[set[int], list[list[Cut]]]] = []
    for of_sentence in sentences.values():
        wanted = {candidate.unit for cut in of_sentence for candidates in cut.candidates for candidate in candidates}
        joined = [of_sentence]
        apart = []
        for units, members in groups:
            if units & wanted:
                wanted |= units
                joined = [*members, *joined]
            else:
                apart.append((units, members))
        groups = [*apart, (wanted, joined)]
    yield from (members for _, members in groups)


def _best(group: Sequence[Sequence[Cut]], weights: NDArray[np.float64]) -> _Answer:
    if prod(map(len, group)) > _CHOICES:
        return _programmed(group, weights)
    answers = [_assigned(choice, weights) for choice in product(*group)]
    return max(answers, key=lambda answer: answer.value)  # the first of equals


def _assigned(chosen: Sequence[Cut], weights: NDArray[np.float64]) -> _Answer:
    """The best matches once every sentence is cut."""
    pairs = list(_pairs(chosen))
    rows = {segment: i for i, segment in enumerate(dict.fromkeys(pair.segment for pair in pairs))}
    columns = {unit: i for i, unit in enumerate(dict.fromkeys(pair.unit for pair in pairs))}
    value = np.zeros((len(rows), len(columns)))
    for pair in pairs:
        value[rows[pair.segment], columns[pair.unit]] = _value(pair, weights)
    row, column = linear_sum_assignment(value, maximize=True)
    taken = set(zip(row.tolist(), column.tolist(), strict=True))
    matches = [pair for pair in pairs if (rows[pair.segment], columns[pair.unit]) in taken]
    return _Answer(sum(_value(pair, weights) for pair in matches), matches, _used(chosen, matches))


def _programmed(group: Sequence[Sequence[Cut]], weights: NDArray[np.float64]) -> _Answer:
    """All at once: a match needs its segment, its unit, and the segmentation; a sentence has one of those."""
    ways = [cut for sentence in group for cut in sentence]
    pairs = [(place, pair) for place, cut in enumerate(ways) for pair in _pairs([cut])]
    rows: dict[tuple[str, int], int] = {}
    entries: list[tuple[int, int, float]] = []
    limits: list[float] = []

    def add(row: tuple[str, int], column: int, value: float, limit: float) -> None:
        if row not in rows:
            rows[row] = len(rows)
            limits.append(limit)
        entries.append((rows[row], column, value))

    for place, cut in enumerate(ways):
        add(("sentence", cut.sentence), place, 1, 1)
        for segment in cut.segments:
            add(("segment", segment), place, -1, 0)
    for number, (_, pair) in enumerate(pairs, start=len(ways)):
        add(("segment", pair.segment), number, 1, 0)
        add(("unit", pair.unit), number, 1, 1)
    row, column, value = zip(*entries, strict=True)
    size = len(ways) + len(pairs)
    matrix = sparse.csr_array((value, (row, column)), shape=(len(rows), size))
    worth = [0.0] * len(ways) + [_value(pair, weights) for _, pair in pairs]
    solved = milp(
        -np.array(worth),
        constraints=LinearConstraint(matrix, -np.inf, np.array(limits)),
        integrality=np.ones(size, dtype=np.int8),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert solved.x is not None  # matching nothing is always allowed, and there is no limit to reach
    matches = [pair for (_, pair), share in zip(pairs, solved.x[len(ways) :], strict=True) if share > 0.5]
    return _Answer(sum(_value(pair, weights) for pair in matches), matches, _used(ways, matches))


def _pairs(chosen: Sequence[Cut]) -> Iterator[UnitMatch]:
    for cut in chosen:
        for segment, candidates in zip(cut.segments, cut.candidates, strict=True):
            yield from (UnitMatch(candidate.unit, segment, candidate.similarity) for candidate in candidates)


def _value(pair: UnitMatch, weights: NDArray[np.float64]) -> float:
    return float(weights[pair.unit]) + _TIE * pair.similarity


def _used(ways: Sequence[Cut], matches: Sequence[UnitMatch]) -> list[Cut]:
    """The cuts that have a match; a sentence without one is left over."""
    segments = {each.segment for each in matches}
    return [cut for cut in ways if segments & set(cut.segments)]
