"""Ideal content: what the best summaries of a topic say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pyramidion.errors import UsageError
from pyramidion.study import ContentUnit, Pyramid


@dataclass(frozen=True)
class IdealContent:
    """The best summaries with ``size`` units: all of ``required``, and ``chosen`` of the ``free`` units of one tier.

    Nenkova et al. 2007, section 2 and Figure 1: a summary is as informative as X units can be if it takes units from
    the top tier down. Every choice from the last tier it reaches is equally good: with two units in the top tier and
    four in the next, there are six best summaries of four units. ``weight`` is Max(size). A pyramid with fewer units
    than asked for (``asked``) has one best summary: all of them.
    """

    asked: int
    weight: int
    required: tuple[ContentUnit, ...]
    free: tuple[ContentUnit, ...]
    chosen: int

    @property
    def size(self) -> int:
        return len(self.required) + self.chosen

    @property
    def number(self) -> int:
        """How many equally good sets of units there are."""
        return math.comb(len(self.free), self.chosen)

    def sets(self) -> Iterator[tuple[ContentUnit, ...]]:
        """Iterate over all sets; there may be very many."""
        for some in combinations(self.free, self.chosen):
            yield (*self.required, *some)


def ideal_content(pyramid: Pyramid, units: int) -> IdealContent:
    """The best that a summary with this many units can say."""
    if units < 0:
        raise UsageError(f"the number of units cannot be {units}")
    best = pyramid.best_weights()
    required: list[ContentUnit] = []
    for tier in pyramid.tiers.values():
        left = units - len(required)
        if left < len(tier):
            return IdealContent(units, best[units], tuple(required), tier if left else (), left)
        required += tier
    return IdealContent(units, best[-1], tuple(required), (), 0)
