"""Scores of a peer from the units it expresses, wholly or to a degree: Gao et al. 2019, section 4.6.

Their names for measures of `methods.pyramid`, which defines them: coverage is modified, quality is original. X is the
number of content units in the peer, at least as many as it expresses. (The released code takes the arithmetic mean of
both as comprehensive, and clips both at 1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyramidion.methods.pyramid import PeerScore
from pyramidion.model import Pyramid
from pyramidion.model.judgments import times

MEASURES = ("coverage", "quality", "comprehensive", "raw")
"""Tables are ranked by the first; raw sums say little across topics, so they come last."""


class PeerScores(NamedTuple):
    """What a peer is worth. None where a pyramid without weight sets no standard."""

    coverage: float | None
    quality: float | None
    comprehensive: float | None
    raw: float


def peer_scores(pyramid: Pyramid, degrees: Sequence[float], size: int) -> PeerScores:
    """``degrees`` says for each unit how far the peer expresses it, ``size`` is X. An empty peer scores 0."""
    expressed = {unit.id: degree for unit, degree in zip(pyramid.units, degrees, strict=True)}
    found = PeerScore(pyramid, expressed, max(size - sum(map(times, degrees)), 0))
    return PeerScores(found.modified, found.original, found.comprehensive, found.raw)
