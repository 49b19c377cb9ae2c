"""Three linear fits: robust, non-negative, and by canonical correlation. Features and targets are centred, so that the
intercept is free in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Floats = NDArray[np.float64]
HUBER = 1.345
"""Residuals beyond this many robust standard deviations lose weight; 95% as efficient as least squares on normal
data."""
SAME = 1e-9
"""Correlations that differ by less are equal."""


@dataclass(frozen=True)
class Line:
    """value = intercept + features @ weights"""

    weights: Floats
    intercept: float

    def predict(self, features: Floats) -> Floats:
        return np.asarray(features @ self.weights + self.intercept)


def least_squares(features: Floats, target: Floats) -> Line:
    centre, middle = features.mean(axis=0), target.mean()
    return _line(np.linalg.lstsq(features - centre, target - middle, rcond=None)[0], centre, middle)


def robust(features: Floats, target: Floats, *, rounds: int = 50) -> Line:
    """Huber's regression by reweighted least squares; the scale is the median absolute residual in each round."""
    design = np.column_stack([np.ones(len(target)), features])
    beta = np.linalg.lstsq(design, target, rcond=None)[0]
    for _ in range(rounds):
        residual = target - design @ beta
        scale = float(np.median(np.abs(residual))) / 0.6744897501960817
        if scale <= 1e-12:
            break
        weight = np.sqrt(np.minimum(1.0, HUBER / np.maximum(np.abs(residual) / scale, 1e-12)))
        moved = np.linalg.lstsq(design * weight[:, None], target * weight, rcond=None)[0]
        done = np.abs(moved - beta).max() <= 1e-8 * max(1.0, float(np.abs(beta).max()))
        beta = moved
        if done:
            break
    return Line(np.asarray(beta[1:]), float(beta[0]))


def non_negative(features: Floats, target: Floats) -> Line:
    """Least squares in which no feature may count against a summary (Lawson and Hanson)."""
    centre, middle = features.mean(axis=0), target.mean()
    return _line(optimize.nnls(features - centre, target - middle)[0], centre, middle)


def canonical(features: Floats, target: Floats, others: Floats | None = None) -> Line:
    """The combination of features that correlates most with some combination of all targets, scaled to the first one.

    With one target this is least squares; further targets (``others``, one per column) stabilise the direction. With
    few rows several combinations can correlate equally, often perfectly: of those, the one closest to the first target.
    """
    centre, middle = features.mean(axis=0), target.mean()
    targets = target[:, None] if others is None else np.column_stack([target, others])
    x, x_back = _whitened(features - centre)
    y, _ = _whitened(targets - targets.mean(axis=0))
    left, correlations, _ = np.linalg.svd(x.T @ y, full_matrices=False)
    best = left[:, correlations >= correlations.max(initial=0.0) - SAME]
    return _line(x_back @ (best @ (best.T @ (x.T @ (target - middle)))), centre, middle)


def _whitened(columns: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns that span the same, and the matrix that makes them from the original ones."""
    left, size, right = np.linalg.svd(columns, full_matrices=False)
    kept = size > size.max(initial=0.0) * 1e-10
    return left[:, kept], np.asarray(right[kept].T / size[kept])


def _line(weights: Floats, centre: Floats, middle: float) -> Line:
    return Line(np.asarray(weights), float(middle - centre @ weights))
