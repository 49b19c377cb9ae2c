"""Scores of a peer from the units it expresses, wholly or to a degree: Gao et al. 2019, section 4.6.

Their names for measures of `methods.pyramid`, which defines them: coverage is modified, quality is original. X is the
number of content units in the peer: those it expresses, at least in part, and those that match nothing. (The released
code takes the arithmetic mean of both as comprehensive, and clips both at 1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import Pyramid

MEASURES = ("coverage", "quality", "comprehensive", "raw")
"""Tables are ranked by the first; raw sums say little across topics, so they come last."""


class PeerScores(NamedTuple):
    """What a peer is worth. None where a pyramid without weight sets no standard."""

    coverage: float | None
    quality: float | None
    comprehensive: float | None
    raw: float | None


NO_SCORES = PeerScores(None, None, None, None)
"""Of a peer that is the only reference, so that there is nothing to compare it with."""


def peer_scores(pyramid: Pyramid, degrees: Sequence[float], unmatched: int) -> PeerScores:
    """``degrees`` says for each unit how far the peer expresses it, ``unmatched`` how many of its content units express
    none. An empty peer scores 0."""
    expressed = {unit.id: degree for unit, degree in zip(pyramid.units, degrees, strict=True)}
    found = PeerScore(pyramid, expressed, unmatched)
    return PeerScores(found.modified, found.original, found.comprehensive, found.raw)
