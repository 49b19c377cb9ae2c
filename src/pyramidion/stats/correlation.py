"""Correlation of two lists of numbers, with its p-value; undefined where one of them does not vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

Kind = Literal["pearson", "spearman", "kendall"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """``r`` and ``p`` are None where the correlation is undefined: a constant list, or fewer than two pairs."""

    kind: str
    r: float | None
    p: float | None
    n: int


def correlation(x: ArrayLike, y: ArrayLike, kind: Kind = "pearson") -> Correlation:
    """Pearson's r, Spearman's rho or Kendall's tau-b of the pairs in which neither number is missing (NaN)."""
    measure: Any = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"lists of different length: {len(a)} and {len(b)}")
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Correlation(kind, None, None, len(a))
    result = measure(a, b)
    r, p = (float(x) if np.isfinite(x) else None for x in (result.statistic, result.pvalue))
    return Correlation(kind, r, p, len(a))
