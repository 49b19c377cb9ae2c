"""Which units peers express: by alignment, to a degree; or by a matcher, each unit once by one segment or not at all.

``align`` is ours: a unit is expressed to the degree that the words of its best contributor are, anywhere in the peer,
from a fifth on. The peer need not say it in one segment, and may say two units in one. Content of the peer is
unmatched where no expressed unit has a word: clauses, every sentence cut as finely as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.segments import Clause, SegmentedText, Sentence, left_over
from pyramidion.judges.matching import PeerMatch, WeightedUnits
from pyramidion.study.judgments import PARTLY, Mention

Doubles = NDArray[np.float64]
DECIMALS = 4
"""Of a degree: what is kept with a study gives the same scores as what was computed."""


class Found(NamedTuple):
    """A unit (by number) that a peer expresses, how far, how similar its words are, and where they are."""

    unit: int
    degree: float
    similarity: float
    mention: Mention


@dataclass(frozen=True, slots=True)
class JudgedPeer:
    """A peer against a pyramid: the degree of each unit, the units it expresses, and the clauses that express none."""

    degrees: Sequence[float]
    found: tuple[Found, ...] = ()
    outside: tuple[Mention, ...] = ()

    @property
    def unmatched(self) -> int:
        """Content units of the peer that express none of the pyramid's."""
        return len(self.outside)

    @property
    def size(self) -> int:
        """X: content units of the peer."""
        return len(self.found) + len(self.outside)


class Match(Protocol):
    """A matcher with its choices made."""

    def __call__(self, units: WeightedUnits, peer: SegmentedText, similarity: Doubles) -> PeerMatch: ...


def aligned(
    units: WeightedUnits,
    peers: Sequence[SegmentedText],
    shares: Doubles,
    evidence: Callable[[int, int], Mention],
) -> Iterable[JudgedPeer]:
    """Peer by peer, given the share of every contributor (in the order of ``unit_of``) that is in every peer, and where
    a contributor is said in a peer."""
    shares = (shares * np.array([bool(peer.sentences) for peer in peers])).round(DECIMALS)  # an empty one says nothing
    degrees = np.zeros((len(units.weights), len(peers)))
    np.maximum.at(degrees, units.unit_of, shares)
    for number, peer in enumerate(peers):
        found = tuple(
            Found(unit, share, share, evidence(contributor, number))
            for unit, (contributor, share) in sorted(_best_contributors(units, shares[:, number]).items())
        )
        yield JudgedPeer(degrees[:, number].tolist(), found, outside(peer, [each.mention for each in found]))


def _best_contributors(units: WeightedUnits, shares: Doubles) -> dict[int, tuple[int, float]]:
    """For every unit that a peer expresses, the contributor it says most of (of equals the first), and how much."""
    best: dict[int, tuple[int, float]] = {}
    for contributor in np.flatnonzero(shares >= PARTLY).tolist():
        unit, share = int(units.unit_of[contributor]), float(shares[contributor])
        if unit not in best or share > best[unit][1]:
            best[unit] = contributor, share
    return best


def outside(peer: SegmentedText, evidence: Iterable[Mention]) -> tuple[Mention, ...]:
    """The clauses, every sentence cut as finely as it goes, of which no evidence has a character."""
    marked = np.zeros(len(peer.text) + 1, dtype=bool)
    for start, end in (span for mention in evidence for span in mention):
        marked[start:end] = True
    clauses = (clause for sentence in peer.sentences for clause in sentence.segmentations[_finest(sentence)])
    return tuple(clause.spans for clause in clauses if not any(marked[slice(*span)].any() for span in clause.spans))


def _finest(sentence: Sentence) -> int:
    return left_over([len(clauses) for clauses in sentence.segmentations], "finest")


def matched(
    units: WeightedUnits, peers: Sequence[SegmentedText], similarity: Doubles, match: Match
) -> Iterable[JudgedPeer]:
    """What a matcher finds, given the similarity of all clauses of all peers with every contributor."""
    first = 0
    for peer in peers:
        clauses = peer.clauses()
        yield _as_judged(units, peer, clauses, match(units, peer, similarity[first : first + len(clauses)]))
        first += len(clauses)


def _as_judged(units: WeightedUnits, peer: SegmentedText, clauses: Sequence[Clause], found: PeerMatch) -> JudgedPeer:
    degrees = [0.0] * len(units.weights)
    for each in found.matches:
        degrees[each.unit] = 1.0
    where = sorted(Found(each.unit, 1.0, each.similarity, clauses[each.segment].spans) for each in found.matches)
    used = {each.segment for each in found.matches}
    free = (clauses[segment].spans for segment in _segments(peer, found.segmentations) if segment not in used)
    return JudgedPeer(degrees, tuple(where), tuple(free))


def _segments(peer: SegmentedText, chosen: Sequence[int]) -> Iterable[int]:
    """The numbers among all clauses of a peer of those that the chosen segmentations consist of."""
    first = 0
    for sentence, segmentation in zip(peer.sentences, chosen, strict=True):
        ends = list(accumulate(map(len, sentence.segmentations), initial=first))
        yield from range(ends[segmentation], ends[segmentation + 1])
        first = ends[-1]
