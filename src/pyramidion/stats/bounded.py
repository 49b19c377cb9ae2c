"""Intervals of means that cannot leave a scale, from an estimate and its variance, however they came about.

Of one mean: Wilson's interval with the effective number of observations that the variance implies (Kish 1965; Dean and
Pagano 2015 find it the best of seven for surveys). A share of .02 has a skewed interval inside the scale, where
estimate ± t standard errors would be too short on one side and leave the scale on the other. Of a difference: the
square-and-add method of Newcombe 1998, with the correlation of the two estimates (Zou and Donner 2008: MOVER).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class IntervalEnds(NamedTuple):
    low: Floats
    high: Floats


def wilson(means: Floats, variances: Floats, quantile: Floats | float, observations: Floats | float) -> IntervalEnds:
    """The intervals of means on a scale from 0 to 1. ``observations`` stands in for the effective number where the
    variance says nothing, because all values are equal, and bounds it at the ends of the scale."""
    middle = np.clip(means, 0.0, 1.0)
    spread = middle * (1 - middle)
    least = 1 / np.asarray(observations)
    edge = np.clip(middle, least / 8, 1 - least / 8)
    wide = edge * (1 - edge)
    told = (variances > 0) & (wide > 0)
    each = np.where(told, np.where(told, variances, 0.0) / np.where(told, wide, 1.0), least)
    each = np.where(edge != middle, np.clip(each, least, 4 * least), each)  # next to an end a variance says little
    each = np.minimum(each, 1e12)
    square = np.square(quantile)
    centre = (middle + square * each / 2) / (1 + square * each)
    half = quantile / (1 + square * each) * np.sqrt(spread * each + square * each**2 / 4)
    low, high = np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
    return IntervalEnds(np.minimum(low, means), np.maximum(high, means))


def differences(means: Floats, covariance: Floats, of_mean: IntervalEnds) -> IntervalEnds:
    """The intervals of all differences of means, row minus column, from the interval of each mean."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    scale = np.outer(deviation, deviation)
    correlation = np.clip(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0), -1.0, 1.0)
    gaps = means[:, None] - means
    below, above = means - of_mean.low, of_mean.high - means

    def reach(one: Floats, other: Floats) -> Floats:
        square = one[:, None] ** 2 + other**2 - 2 * correlation * one[:, None] * other
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    return IntervalEnds(gaps - reach(below, above), gaps + reach(above, below))
