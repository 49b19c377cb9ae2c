"""What is matched: a pyramid's units, a peer's segments, and which of the units each segment may express.

Gao et al. 2019, section 4.6. A segment is as similar to a unit as to its contributors on average. It may express one of
the ``top_k`` most similar units, if that mean reaches ``threshold``; both defaults are the released code's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyramidion.encoder.sentences import SegmentedText, Untouched, left_over
from pyramidion.errors import UsageError

Floats = NDArray[np.float64]
TOP_K = 2
THRESHOLD = 0.5
_DECIMALS = 6  # a mean must not depend on the order of contributors


@dataclass(frozen=True, eq=False)
class WeightedUnits:
    """The units of a pyramid, made once for all peers.

    ``weights[u]`` is the weight of unit u; ``unit_of[c]`` the unit that contributor c belongs to. For similarities with
    units rather than with contributors, give every unit one contributor.
    """

    weights: NDArray[np.float64]
    unit_of: NDArray[np.intp]

    @classmethod
    def of(cls, weights: ArrayLike, unit_of: ArrayLike | None = None) -> WeightedUnits:
        weight = np.asarray(weights, dtype=np.float64).reshape(-1)
        units = np.arange(len(weight)) if unit_of is None else np.asarray(unit_of, dtype=np.intp).reshape(-1)
        if set(units.tolist()) != set(range(len(weight))):
            raise UsageError(f"contributors must belong to units 0 to {len(weight) - 1}, and every unit must have one")
        if (weight <= 0).any():
            raise UsageError("a unit's weight must be greater than 0")
        return cls(weight, units.astype(np.intp))

    @cached_property
    def _mean(self) -> Floats:
        """Contributors x units: the share of each contributor in the mean of its unit."""
        share = np.zeros((len(self.unit_of), len(self.weights)))
        share[np.arange(len(self.unit_of)), self.unit_of] = 1.0
        return np.asarray(share / np.maximum(share.sum(axis=0), 1.0))

    def mean_similarity(self, similarity: ArrayLike, segments: int) -> Floats:
        """Segments x units, from segments x contributors."""
        given = np.asarray(similarity, dtype=np.float64)
        wanted = (segments, len(self.unit_of))
        if not given.size and 0 in wanted:
            given = given.reshape(wanted)
        if given.shape != wanted:
            raise UsageError(f"similarities must be {wanted[0]} segments x {wanted[1]} contributors, not {given.shape}")
        return np.asarray(np.round(given @ self._mean, _DECIMALS))


class UnitMatch(NamedTuple):
    """A unit, the segment that expresses it (its number in the peer's `clauses`), and how similar they are."""

    unit: int
    segment: int
    similarity: float


@dataclass(frozen=True, slots=True)
class PeerMatch:
    """What a peer expresses: matches in the order of segments, how each sentence was cut, and what matches nothing.

    ``weight`` is the summed weight of the matched units; ``unmatched`` counts segments of the chosen segmentations.
    """

    matches: tuple[UnitMatch, ...]
    segmentations: tuple[int, ...]
    unmatched: int
    weight: float


class Matcher(Protocol):
    def __call__(
        self,
        units: WeightedUnits,
        peer: SegmentedText,
        similarity: ArrayLike,
        *,
        top_k: int = TOP_K,
        threshold: float = THRESHOLD,
        untouched: Untouched = "whole",
    ) -> PeerMatch:
        """``similarity`` has a row for each of the peer's clauses and a column for each contributor."""
        ...


class Candidate(NamedTuple):
    unit: int
    similarity: float


class Cut(NamedTuple):
    """One segmentation of one sentence: the numbers of its segments, and what each may express."""

    sentence: int
    segmentation: int
    segments: range
    candidates: tuple[tuple[Candidate, ...], ...]


def cuts(
    units: WeightedUnits, peer: SegmentedText, similarity: ArrayLike, *, top_k: int, threshold: float
) -> Iterator[Cut]:
    """Every way to cut every sentence, with the units its segments may express."""
    if top_k < 1:
        raise UsageError(f"top_k must be at least 1, not {top_k}")
    sizes = [[len(clauses) for clauses in sentence.segmentations] for sentence in peer.sentences]
    mean = units.mean_similarity(similarity, sum(map(sum, sizes)))
    best = np.argsort(-mean, axis=1, kind="stable")[:, :top_k]
    value = np.take_along_axis(mean, best, axis=1)
    candidates = [
        tuple(Candidate(unit, alike) for unit, alike in zip(row, values, strict=True) if alike >= threshold)
        for row, values in zip(best.tolist(), value.tolist(), strict=True)
    ]
    first = 0
    for sentence, counts in enumerate(sizes):
        for segmentation, count in enumerate(counts):
            yield Cut(sentence, segmentation, range(first, first + count), tuple(candidates[first : first + count]))
            first += count


def peer_match(
    units: WeightedUnits,
    peer: SegmentedText,
    matches: Iterable[UnitMatch],
    cut: Mapping[int, int],
    untouched: Untouched,
) -> PeerMatch:
    """Put matches and the segmentations they need (``cut``, by sentence) together with the sentences left over."""
    ordered = tuple(sorted(matches, key=lambda match: match.segment))
    sizes = [[len(clauses) for clauses in sentence.segmentations] for sentence in peer.sentences]
    chosen = tuple(cut.get(i, left_over(counts, untouched)) for i, counts in enumerate(sizes))
    total = sum(counts[segmentation] for counts, segmentation in zip(sizes, chosen, strict=True))
    weight = float(sum(units.weights[match.unit] for match in ordered))
    return PeerMatch(ordered, chosen, total - len(ordered), weight)
