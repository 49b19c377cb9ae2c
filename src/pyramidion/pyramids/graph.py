"""Segments of several references, joined by similarity; cliques are candidate units: Gao et al. 2019, section 4.3.

Two segments of *different* references are joined if their similarity reaches t_edge, the 83rd percentile of all such
similarities, and is positive (if most are 0, so is the percentile). A clique has at most one segment of each reference
and is a candidate unit; its attraction is the mean similarity of its edges, and 1 for a single segment.

Nothing depends on the order in which references or segments come. Inside, they are in an order that follows from what
the references say, so equally good solutions are told apart by content, and by name only where two references say the
same. Similarities count to six decimals: the same sentence encoded in two batches differs in the seventh.

The number of cliques can explode (k near-identical segments in each of n references alone give (k+1)^n). Above
``max_cliques`` the percentile is raised to the first that stays within it, and ``notes`` says so: the partition is then
exact for that graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyramidion.encoder.sentences import Segment, SentenceId
from pyramidion.errors import UsageError

# ----------------------------------------------------------------------
# Every clique of a graph whose nodes belong to groups, level by level: pairs, then triples, then fours...
#
# All cliques count, not only maximal ones, because each is a candidate unit. A level is one array, made from the one
# before by set operations on whole arrays: the later neighbours that all members share are a row of bits.

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]

_BLOCK = 1 << 25  # bits unpacked at a time
_ONES = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class Cliques:
    """Cliques by size. ``members[k]`` has one row of k ascending node numbers each; ``attraction[k]`` the mean edge.

    The most attractive come first; equally attractive ones are ordered by their members.
    """

    members: Mapping[int, Indices]
    attraction: Mapping[int, Floats]

    @property
    def count(self) -> int:
        return sum(map(len, self.members.values()))

    @property
    def sizes(self) -> list[int]:
        """The sizes that occur, greatest first."""
        return sorted(self.members, reverse=True)


def find_cliques(similarity: Floats, edges: Flags, *, limit: int) -> Cliques | None:
    """All cliques of two or more nodes, or None if there are more than ``limit``."""
    nodes = len(edges)
    later = np.packbits(np.triu(edges, 1), axis=1)
    members: Indices = np.arange(nodes, dtype=np.int32)[:, None]
    common, total = later, np.zeros(nodes)
    levels: list[tuple[Indices, Floats]] = []
    count = 0
    while (more := int(_ONES[common].sum(dtype=np.int64))) > 0:
        count += more
        if count > limit:
            return None
        row, column = _set_bits(common, nodes)
        members_so_far = members[row]
        total = total[row]
        for place in range(members.shape[1]):
            total += similarity[members_so_far[:, place], column]
        members = np.concatenate([members_so_far, column[:, None]], axis=1)
        common = common[row] & later[column]
        levels.append((members, total))
    return _ordered(levels)


def _ordered(levels: list[tuple[Indices, Floats]]) -> Cliques:
    """Every level by attraction. Rows come by ascending members, and a stable sort keeps that among equals."""
    members: dict[int, Indices] = {}
    attraction: dict[int, Floats] = {}
    for rows, total in levels:
        size = rows.shape[1]
        mean = total / (size * (size - 1) / 2)
        order = np.argsort(-mean, kind="stable")
        members[size], attraction[size] = rows[order], mean[order]
    return Cliques(members, attraction)


def _set_bits(bits: Bits, columns: int) -> tuple[NDArray[np.intp], Indices]:
    """Row and column of every set bit."""
    step = max(1, _BLOCK // max(columns, 1))
    parts = []
    for start in range(0, len(bits), step):
        flat = np.flatnonzero(np.unpackbits(bits[start : start + step], axis=1, count=columns).view(np.bool_))
        row = flat // columns
        parts.append((row + start, (flat - row * columns).astype(np.int32)))
    rows, columns_set = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(columns_set)


PERCENTILE = 83.0
MAX_CLIQUES = 500_000
_DECIMALS = 6
_LEAST = 10.0**-_DECIMALS


class _Edges(NamedTuple):
    percentile: float
    threshold: float
    cliques: Cliques


@dataclass(frozen=True)
class SimilarityGraph:
    """Segments, their similarities, and the candidate units.

    ``segments`` are as the caller gave them; every array, and every number in ``cliques``, follows the order of
    ``order``: node i is ``segments[order[i]]``.
    """

    segments: tuple[Segment, ...]
    order: NDArray[np.intp]
    similarity: Floats
    threshold: float
    percentile: float
    cliques: Cliques
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        segments: Sequence[Segment],
        similarity: ArrayLike,
        *,
        percentile: float = PERCENTILE,
        floor: float | None = None,
        max_cliques: int = MAX_CLIQUES,
    ) -> SimilarityGraph:
        """The graph over segments, given their similarities (a square, symmetric array in the same order).

        ``floor`` is a similarity below which two segments are never joined, whatever the percentile: with very short
        references even the most similar pairs may have nothing in common.
        """
        if not 0 <= percentile <= 100:
            raise UsageError(f"a percentile must be between 0 and 100, not {percentile:g}")
        order = canonical_order(segments)
        similar = _checked(similarity, len(segments))[np.ix_(order, order)]
        across = _different_reference([segments[i] for i in order])
        pairs = similar[np.triu(across, 1)]

        def attempt(level: float) -> _Edges | None:
            threshold = _threshold(pairs, level, floor)
            cliques = find_cliques(similar, across & (similar >= max(threshold, _LEAST)), limit=max_cliques)
            return None if cliques is None else _Edges(level, threshold, cliques)

        edges = attempt(percentile) or _first(attempt, _levels(percentile))
        if edges is None:
            raise UsageError(
                f"more than {max_cliques:,} candidate units even among the most similar segments: the references are "
                "nearly identical; use fewer of them or raise max_cliques"
            )
        notes = () if edges.percentile == percentile else (_raised(percentile, edges, max_cliques),)
        return cls(tuple(segments), order, similar, edges.threshold, edges.percentile, edges.cliques, notes)

    @cached_property
    def nodes(self) -> list[Segment]:
        return [self.segments[i] for i in self.order]

    @cached_property
    def references(self) -> list[str]:
        """The references, ordered by what they say."""
        return list(dict.fromkeys(segment.id.summary for segment in self.nodes))

    @cached_property
    def sentences(self) -> list[SentenceId]:
        return list(dict.fromkeys(segment.id.of_sentence for segment in self.nodes))

    @cached_property
    def sentence_of(self) -> NDArray[np.intp]:
        """For each node the number of its sentence in `sentences`."""
        number = {sentence: i for i, sentence in enumerate(self.sentences)}
        return np.array([number[segment.id.of_sentence] for segment in self.nodes], dtype=np.intp)

    @cached_property
    def segmentation_of(self) -> NDArray[np.intp]:
        return np.array([segment.id.segmentation for segment in self.nodes], dtype=np.intp)

    @cached_property
    def excludes(self) -> Flags:
        """``excludes[i, j]``: a pyramid that has node i in one unit cannot have node j in another.

        A node is used once, and all of a sentence's nodes come from one segmentation.
        """
        same_sentence = self.sentence_of[:, None] == self.sentence_of[None, :]
        other_cut = self.segmentation_of[:, None] != self.segmentation_of[None, :]
        return np.asarray((same_sentence & other_cut) | np.eye(len(self.order), dtype=bool))

    def attraction(self, nodes: Sequence[int]) -> float:
        """Mean similarity between the nodes of a unit; 1 for a single one."""
        if len(nodes) < 2:
            return 1.0
        chosen = np.asarray(nodes)
        return float(self.similarity[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), 1)].mean())


def canonical_order(segments: Sequence[Segment]) -> NDArray[np.intp]:
    """Segments by reference, sentence, segmentation and place; references by their text, then by name."""
    if len({segment.id for segment in segments}) < len(segments):
        raise UsageError("two segments have the same id; give every reference a different name")
    inside = sorted(range(len(segments)), key=lambda i: segments[i].id)
    said: dict[str, list[str]] = {}
    for i in inside:
        said.setdefault(segments[i].id.summary, []).append(segments[i].text)
    ranked = sorted(said, key=lambda name: (said[name], name))
    rank = {name: number for number, name in enumerate(ranked)}
    order = sorted(inside, key=lambda i: rank[segments[i].id.summary])
    return np.array(order, dtype=np.intp)


def _checked(similarity: ArrayLike, size: int) -> Floats:
    given = np.asarray(similarity, dtype=np.float64)
    if not size:
        return np.zeros((0, 0))
    if given.shape != (size, size):
        raise UsageError(f"{size} segments need {size} x {size} similarities, not {' x '.join(map(str, given.shape))}")
    if not np.isfinite(given).all():
        raise UsageError("a similarity is not a number")
    if not np.allclose(given, given.T, atol=1e-5):
        raise UsageError("similarities are not symmetric")
    return np.round((given + given.T) / 2, _DECIMALS)


def _different_reference(nodes: Sequence[Segment]) -> Flags:
    number = {name: i for i, name in enumerate(dict.fromkeys(node.id.summary for node in nodes))}
    reference = np.array([number[node.id.summary] for node in nodes], dtype=np.intp)
    return np.asarray(reference[:, None] != reference[None, :])


def _threshold(pairs: Floats, percentile: float, floor: float | None) -> float:
    """t_edge. Without pairs (a single reference) there is nothing to join, so any threshold will do."""
    threshold = float(np.percentile(pairs, percentile)) if len(pairs) else 1.0
    return threshold if floor is None else max(threshold, floor)


def _levels(percentile: float) -> list[float]:
    """The percentiles to try: whole numbers above the given one, then smaller steps up to the greatest similarity."""
    whole = [float(level) for level in range(int(percentile) + 1, 100)]
    return [*whole, *(level for level in (99.5, 99.9, 100.0) if level > percentile)]


def _first(attempt: Callable[[float], _Edges | None], levels: Sequence[float]) -> _Edges | None:
    """The edges at the lowest level that has any, by halving: a higher level has fewer cliques."""
    edges = None
    low, high = 0, len(levels)
    while low < high:
        middle = (low + high) // 2
        if (tried := attempt(levels[middle])) is None:
            low = middle + 1
        else:
            edges, high = tried, middle
    return edges


def _raised(asked: float, edges: _Edges, max_cliques: int) -> str:
    return (
        f"more than {max_cliques:,} candidate units at percentile {asked:g}: segments are joined from percentile "
        f"{edges.percentile:g} (similarity {edges.threshold:.3f}) instead; raise max_cliques to keep more"
    )
