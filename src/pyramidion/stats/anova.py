"""One-way analysis of variance: do the means of several groups differ by more than their spread explains?

F is the variance between group means over the variance within groups; Gao et al. 2019 use it in appendix B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

_ROUNDING = 1e-13
"""Sums of squares below this share of the values' own squares are rounding errors."""


@dataclass(frozen=True, slots=True)
class OneWay:
    """``between`` and ``within`` are degrees of freedom; ``share`` is that of the sum of squares between the groups.

    Undefined, None: everything where nothing varies; F and p with one group, or with one value in each. Where groups
    differ and nothing varies inside them F is beyond all numbers, so None, and p is 0.
    """

    f: float | None
    between: int
    within: int
    p: float | None
    share: float | None


def one_way(values: ArrayLike, groups: ArrayLike) -> OneWay:
    """Test whether the groups, named by any numbers, have one mean. Missing values (NaN) do not count."""
    y, named = np.asarray(values, dtype=np.float64), np.asarray(groups)
    if y.shape != named.shape:
        raise ValueError(f"{y.size} values have {named.size} groups")
    known = ~np.isnan(y)
    y = y[known]
    _, group, size = np.unique(named[known], return_inverse=True, return_counts=True)
    between, within = max(len(size) - 1, 0), len(y) - len(size)
    if not len(y):
        return OneWay(None, between, within, None, None)
    centred = y - y.mean()
    means = np.bincount(group, weights=centred) / size
    explained, left = float((size * means**2).sum()), float(((centred - means[group]) ** 2).sum())
    least = _ROUNDING * float((y**2).sum())
    if explained + left <= least:
        return OneWay(None, between, within, None, None)
    share = explained / (explained + left)
    if not between or not within:
        return OneWay(None, between, within, None, share)
    if left <= least:
        return OneWay(None, between, within, 0.0, 1.0)
    f = (explained / between) / (left / within)
    return OneWay(f, between, within, float(stats.f.sf(f, between, within)), share)
