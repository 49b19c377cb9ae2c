"""Test the differences of many pairs one by one, with enough draws that chance never decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pyramidion.analysis.inputs import Floats
from pyramidion.errors import UsageError, check_choice
from pyramidion.stats import paired
from pyramidion.stats.paired import holm

Correction = Literal["holm", "none"]
RESAMPLES = {"permutation": paired.SAMPLES, "bootstrap": 10_000}
"""Draws that a test needs for a p-value accurate to a few per cent."""
REFINEMENTS = (8, 64)
"""Times as many draws for pairs near the level."""
DOUBT = 3.0
"""A p within this many standard errors of the level is near it."""


@dataclass(frozen=True)
class PairTests:
    """How pairs are tested, one by one."""

    test: str
    correction: str
    level: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, get_args(Correction))
        if self.drawn and self.resamples < 100:
            raise UsageError(f"{self.resamples} resamples are too few to test with; give at least 100")

    @property
    def drawn(self) -> bool:
        return self.test in {"permutation", "bootstrap"}

    def choices(self) -> dict[str, object]:
        """The choices to name in the signature; a test without random draws has no seed."""
        drawn = {"resamples": self.resamples, "seed": self.seed} if self.drawn else {}
        return {"test": self.test, "correction": self.correction, "level": self.level, **drawn}

    def corrected(self, p: Floats) -> Floats:
        return holm(p) if self.correction == "holm" else p

    def p_values(self, gaps: Floats) -> Floats:
        """The p-value of every row of differences, drawn precisely enough that drawing does not decide."""
        found = self._tested(gaps, self.resamples)
        p, error = found.p.copy(), found.error.copy()
        for more in REFINEMENTS:
            adjusted = self.corrected(p)
            doubt = DOUBT * error * adjusted / p
            near = (error > 0) & (np.abs(adjusted - self.level) <= doubt)
            if not near.any():
                break
            again = self._tested(gaps[near], more * self.resamples)
            p[near], error[near] = again.p, again.error
        return p

    def _tested(self, gaps: Floats, resamples: int) -> paired.RowTests:
        rng = np.random.default_rng([self.seed, resamples])
        if self.test == "permutation":
            return paired.permutation_rows(gaps, rng=rng, samples=resamples)
        if self.test == "bootstrap":
            return paired.bootstrap_rows(gaps, rng=rng, samples=resamples)
        exact = paired.wilcoxon_rows if self.test == "wilcoxon" else paired.mcnemar_rows
        return paired.RowTests(exact(gaps), np.zeros(len(gaps)))
