"""Which units peers express: by alignment, to a degree; or by a matcher, each unit once by one segment or not at all.

``align`` is ours: a unit is expressed to the degree that the words of its best contributor are, anywhere in the peer.
The peer need not say it in one segment, and may say two units in one. X, the number of the peer's content units, is
then the number of its segments where every sentence is cut as finely as it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pyramidion.auto.match import PeerMatch, WeightedUnits
from pyramidion.auto.presence import Alignment
from pyramidion.auto.segments import Clause, SegmentedText, left_over
from pyramidion.model.judgments import PRESENT, Mention

Doubles = NDArray[np.float64]
DECIMALS = 4
"""Of a degree: what is kept with a study gives the same scores as what was computed."""


class Found(NamedTuple):
    """A unit (by number) that a peer expresses, how surely or how similarly, and where."""

    unit: int
    similarity: float
    mention: Mention


@dataclass(frozen=True, slots=True)
class JudgedPeer:
    """A peer against a pyramid: the degree of each unit, X, and, where explained, what counts as expressed."""

    degrees: Sequence[float]
    size: int
    found: tuple[Found, ...] = ()

    @property
    def unmatched(self) -> int:
        """Content units of the peer that express none of the pyramid's."""
        return max(self.size - len(self.found), 0)


class Match(Protocol):
    """A matcher with its choices made."""

    def __call__(self, units: WeightedUnits, peer: SegmentedText, similarity: Doubles) -> PeerMatch: ...


def aligned(
    units: WeightedUnits, peers: Sequence[SegmentedText], alignment: Alignment, *, explain: bool
) -> list[JudgedPeer]:
    """Degrees by alignment of contributors (in the order of ``unit_of``) with whole peers; ``explain`` says where."""
    shares = alignment.mean() * np.array([bool(peer.sentences) for peer in peers])  # an empty peer expresses nothing
    degrees = unit_degrees(units, shares)
    return [
        JudgedPeer(
            degrees[:, number].tolist(),
            finest_size(peer),
            _evidence(units, alignment, shares, number) if explain else (),
        )
        for number, peer in enumerate(peers)
    ]


def unit_degrees(units: WeightedUnits, shares: Doubles) -> Doubles:
    """Units x peers: each unit is expressed as far as its best contributor, given contributors x peers."""
    degrees = np.zeros((len(units.weights), shares.shape[1]))
    np.maximum.at(degrees, units.unit_of, shares)
    return degrees.round(DECIMALS)


def _evidence(units: WeightedUnits, alignment: Alignment, shares: Doubles, peer: int) -> tuple[Found, ...]:
    """For every unit that counts as expressed, its best contributor and where that is said."""
    best: dict[int, int] = {}
    for contributor in np.flatnonzero(shares[:, peer].round(DECIMALS) >= PRESENT).tolist():
        unit = int(units.unit_of[contributor])
        if unit not in best or shares[contributor, peer] > shares[best[unit], peer]:
            best[unit] = contributor
    return tuple(
        Found(unit, float(shares[contributor, peer]), alignment.evidence(contributor, peer))
        for unit, contributor in sorted(best.items())
    )


def finest_size(peer: SegmentedText) -> int:
    """How many segments a text has where every sentence is cut as finely as it goes."""
    sizes = ([len(clauses) for clauses in sentence.segmentations] for sentence in peer.sentences)
    return sum(counts[left_over(counts, "finest")] for counts in sizes)


def matched(
    units: WeightedUnits, peers: Sequence[SegmentedText], similarity: Doubles, match: Match
) -> list[JudgedPeer]:
    """What a matcher finds, given the similarity of all clauses of all peers with every contributor."""
    judged: list[JudgedPeer] = []
    first = 0
    for peer in peers:
        clauses = peer.clauses()
        judged.append(_as_judged(units, clauses, match(units, peer, similarity[first : first + len(clauses)])))
        first += len(clauses)
    return judged


def _as_judged(units: WeightedUnits, clauses: Sequence[Clause], found: PeerMatch) -> JudgedPeer:
    degrees = [0.0] * len(units.weights)
    for each in found.matches:
        degrees[each.unit] = 1.0
    where = sorted(Found(each.unit, each.similarity, clauses[each.segment].spans) for each in found.matches)
    return JudgedPeer(degrees, len(found.matches) + found.unmatched, tuple(where))
