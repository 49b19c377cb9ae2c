"""Bootstrap intervals. Undefined resamples are counted and left out, never turned into numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle ``confidence`` of the defined resamples; ``undefined`` of the ``resamples`` had no value."""

    low: float
    high: float
    confidence: float
    resamples: int
    undefined: int = 0


def percentile_interval(drawn: Floats, confidence: float = 0.95) -> Interval | None:
    """Efron's percentile interval; None where fewer than half of the resamples are defined."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < max(1, len(drawn) / 2):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high), confidence, len(drawn), len(drawn) - len(defined))


def bootstrap_p(drawn: Floats) -> float | None:
    """Two-sided p of "no difference" from resampled differences: how seldom they are on the other side of 0.

    At least 2 / (resamples + 1); None where fewer than half of the resamples are defined.
    """
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < max(1, len(drawn) / 2):
        return None
    beyond = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (len(defined) + 1))


def resampling_weights(rng: np.random.Generator, things: int, resamples: int) -> Floats:
    """How often each item is drawn in each resample: rows of whole numbers that add up to ``things``."""
    return rng.multinomial(things, np.full(things, 1 / things), size=resamples).astype(np.float64)


def weighted_means(weights: Floats, cells: Floats) -> Floats:
    """Column means of a table with missing cells (NaN), for each row of row weights; NaN where nothing is left."""
    present = ~np.isnan(cells)
    total, count = weights @ np.where(present, cells, 0.0), weights @ present
    return divided(total, count)


def divided(total: NDArray[Any], count: NDArray[Any]) -> Floats:
    """Total over count; NaN where there is nothing to divide by."""
    shape = np.broadcast_shapes(total.shape, count.shape)
    return np.asarray(np.divide(total, count, out=np.full(shape, np.nan), where=count > 0), dtype=np.float64)


def blocks(total: int, most: int) -> Iterator[int]:
    """A total cut into parts of bounded size, so that memory stays bounded."""
    for done in range(0, total, most):
        yield min(most, total - done)
