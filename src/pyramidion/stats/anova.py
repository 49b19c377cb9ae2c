"""Analysis of variance: do the means of several groups differ by more than their spread explains?

With one factor F is the variance between group means over the variance within groups; Gao et al. 2019 use it in
appendix B. With several, each factor is tested on what it explains beyond the others (type II sums of squares, no
interactions), whatever the number of values in each cell; Nenkova et al. 2007 use this to ask what agreement depends
on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ROUNDING = 1e-13
"""Sums of squares below this share of the values' own squares are rounding errors."""


@dataclass(frozen=True, slots=True)
class OneWay:
    """``between`` and ``within`` are degrees of freedom; ``share`` is the share of the sum of squares that is
    between the groups. Everything is None if nothing varies; F and p are None with one group, or with one value in
    each. If groups differ and nothing varies inside them, F is infinite, so None, and p is 0."""

    f: float | None
    between: int
    within: int
    p: float | None
    share: float | None


def one_way(values: ArrayLike, groups: ArrayLike) -> OneWay:
    """Test whether the groups, named by any numbers, have one mean. Missing values (NaN) do not count."""
    y, named = np.asarray(values, dtype=np.float64), np.asarray(groups)
    if y.shape != named.shape:
        raise ValueError(f"there are {y.size} values but {named.size} group labels")
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


@dataclass(frozen=True, slots=True)
class FactorEffect:
    """One factor of several. ``df`` and ``residual`` are degrees of freedom; ``share`` is that of all variation.

    F and p are None if nothing varies, if the factor explains nothing beyond the others (``df`` 0), or if the model
    leaves no residual to test against. An exact fit has no F, and p is 0.
    """

    factor: str
    levels: int
    df: int
    residual: int
    f: float | None
    p: float | None
    share: float | None


def several_way(values: ArrayLike, factors: Mapping[str, ArrayLike]) -> tuple[FactorEffect, ...]:
    """Test each factor beyond all others but those nested in it: a factor whose every level belongs to one level of
    another (units in topics) explains all that the other does, so that it is left out when the other is tested.
    """
    y = np.asarray(values, dtype=np.float64)
    codes = {
        name: np.unique(np.asarray(part), return_inverse=True)[1].astype(np.int64) for name, part in factors.items()
    }
    for name, code in codes.items():
        if code.shape != y.shape:
            raise ValueError(f"there are {y.size} values but {code.size} levels of {name}")
    total = float(((y - y.mean()) ** 2).sum()) if len(y) else 0.0
    least = _ROUNDING * float((y**2).sum())
    left, rank = _residual(y, list(codes.values()))
    found = []
    for name, code in codes.items():
        others = [part for other, part in codes.items() if other != name and not _nested(part, code)]
        (without, less), (with_it, more) = _residual(y, others), _residual(y, [*others, code])
        df, residual = more - less, len(y) - rank
        explained = max(without - with_it, 0.0)
        levels = int(code.max(initial=-1)) + 1
        if total <= least or df < 1 or residual < 1:
            share = explained / total if total > least else None
            found.append(FactorEffect(name, levels, df, residual, None, None, share))
        elif left <= least:
            p = 0.0 if explained > least else None
            found.append(FactorEffect(name, levels, df, residual, None, p, explained / total))
        else:
            f = (explained / df) / (left / residual)
            found.append(
                FactorEffect(name, levels, df, residual, f, float(stats.f.sf(f, df, residual)), explained / total)
            )
    return tuple(found)


def _codes(levels: ArrayLike) -> Codes:
    return np.asarray(np.unique(np.asarray(levels), return_inverse=True)[1], dtype=np.int64)


def _nested(inner: Codes, outer: Codes) -> bool:
    """Whether every level of the inner factor occurs with one level of the outer one only."""
    pairs = np.unique(inner * (int(outer.max(initial=0)) + 1) + outer)
    return len(pairs) == int(inner.max(initial=-1)) + 1


def _residual(y: Floats, factors: Sequence[Codes]) -> tuple[float, int]:
    """The sum of squares that a model with indicators of these factors leaves, and its rank.

    The factor with the most levels is absorbed by taking its level means off everything (Frisch and Waugh 1933), so
    that thousands of units cost no more than their number.
    """
    if not len(y):
        return 0.0, 0
    by_size = sorted(factors, key=lambda code: int(code.max()))
    largest = by_size.pop() if by_size else np.zeros(len(y), dtype=np.int64)
    size = np.bincount(largest).astype(np.float64)

    def centred(column: Floats) -> Floats:
        return np.asarray(column - (np.bincount(largest, weights=column) / size)[largest])

    rest = centred(y)
    if not by_size:
        return float((rest**2).sum()), len(size)
    indicators = sparse.csr_array(sparse.hstack([_indicators(code) for code in by_size]))
    owner = _indicators(largest)
    shared = (owner.T @ indicators).toarray()
    gram = (indicators.T @ indicators).toarray()
    inner = gram - shared.T @ (shared / size[:, None])
    value, vector = np.linalg.eigh(inner)
    kept = value > gram.max() * len(gram) * 1e-12
    beta = vector[:, kept] @ ((vector[:, kept].T @ (indicators.T @ rest)) / value[kept])
    return float((centred(y - indicators @ beta) ** 2).sum()), len(size) + int(kept.sum())


def _indicators(code: Codes) -> sparse.csr_array:
    rows = len(code)
    return sparse.csr_array((np.ones(rows), (np.arange(rows), code)), shape=(rows, int(code.max()) + 1))
