"""Scores of a peer from the units it expresses, wholly or to a degree: Gao et al. 2019, section 4.6.

    raw            D: the sum of weight x degree over units; a unit that is matched or not has degree 1 or 0
    coverage       D / Max(X_a), X_a being the mean number of units in a reference, rounded half up
    quality        D / Max(X), X being the number of content units in the peer
    comprehensive  their harmonic mean (the released code takes the arithmetic one, and clips both at 1)

Max(x) is the greatest weight that x units of the pyramid can have, as in `methods.pyramid`. For an x that is not whole
it lies between its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pyramidion.methods.pyramid import mean_units_per_reference
from pyramidion.model import Pyramid

MEASURES = ("coverage", "quality", "comprehensive", "raw")
"""Tables are ranked by the first; raw sums say little across topics, so they come last."""


class PeerScores(NamedTuple):
    """What a peer is worth. None where a pyramid without weight sets no standard."""

    coverage: float | None
    quality: float | None
    comprehensive: float | None
    raw: float


class Scale:
    """A pyramid as the measure of peers."""

    def __init__(self, pyramid: Pyramid) -> None:
        self._weights = [unit.weight for unit in pyramid.units]
        self._best = pyramid.best_weights()
        self._standard = self.max_weight(mean_units_per_reference(pyramid))

    def max_weight(self, units: float) -> float:
        """Max(x): all units where x exceeds their number."""
        inside = min(units, len(self._best) - 1)
        below = math.floor(inside)
        if below == inside:
            return float(self._best[below])
        return self._best[below] + (inside - below) * (self._best[below + 1] - self._best[below])

    def scores(self, degrees: Sequence[float], size: float) -> PeerScores:
        """``degrees`` says for each unit how far the peer expresses it, ``size`` is X. An empty peer scores 0."""
        raw = math.fsum(weight * degree for weight, degree in zip(self._weights, degrees, strict=True))
        if not self._best[-1]:
            return PeerScores(None, None, None, raw)
        quality = _share(raw, self.max_weight(size))
        coverage = _share(raw, self._standard) if self._standard else None
        if coverage is None:
            return PeerScores(None, quality, None, raw)
        both = quality + coverage
        return PeerScores(coverage, quality, 2 * quality * coverage / both if both else 0.0, raw)


def _share(raw: float, best: float) -> float:
    return raw / best if best else 0.0
