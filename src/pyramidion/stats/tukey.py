"""Tukey's honestly significant differences on a linear model with indicators; unbalanced and rank-deficient too.

Gillick and Liu 2010, section 4.2, after Yandell 1997: score = a + judge + topic + system, and all differences between
system coefficients at once. The p-value of a difference d with standard error e is that of the studentized range at
|d| sqrt(2) / e (Tukey and Kramer), with as many degrees of freedom as observations beyond the rank of the design.

Designs of real campaigns are rank-deficient: indicators of every judge, topic and system always depend on each other,
and judges who share no items make it worse. Coefficients are then arbitrary but differences need not be: a difference
is *estimable* if it is in the row space of the design, and only then does it have a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special, stats
from scipy.interpolate import CubicSpline

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NODES = 128
WIDEST = 17.0
"""No range of normal values is wider, to the precision of a float."""


@dataclass(frozen=True)
class Comparisons:
    """All differences between the levels of one factor, ``difference[i, j]`` = level i minus level j.

    NaN where a difference is not estimable. ``effects`` are adjusted means: where every level can be compared with
    every other, the value each would have with the same judges and topics; NaN otherwise.
    """

    difference: Floats
    error: Floats
    p: Floats
    effects: Floats
    df: int
    rank: int
    columns: int
    sigma: float


def tukey(values: ArrayLike, factor: ArrayLike, others: Sequence[ArrayLike] = ()) -> Comparisons:
    """Compare the levels of ``factor`` (codes from 0) in a model with the other factors as well."""
    y = np.asarray(values, dtype=np.float64)
    codes = [np.asarray(part, dtype=np.int64) for part in (factor, *others)]
    design = _indicators(codes, len(y))
    inverse, rank = _pseudo_inverse((design.T @ design).toarray())
    beta = inverse @ (design.T @ y)
    df = len(y) - rank
    scale = float(np.abs(y).max(initial=0.0))
    residual = float((_cleared(y - design @ beta, scale) ** 2).sum())
    sigma2 = residual / df if df > 0 else np.nan
    levels = int(codes[0].max()) + 1 if len(y) else 0
    block = slice(1, 1 + levels)
    estimable = _estimable(inverse, design, levels)
    variance = np.diag(inverse)[block][:, None] + np.diag(inverse)[block][None, :] - 2 * inverse[block, block]
    error = np.where(estimable, np.sqrt(np.maximum(sigma2 * variance, 0)), np.nan)
    difference = np.where(estimable, _cleared(beta[block][:, None] - beta[block][None, :], scale), np.nan)
    p = _p_values(difference, error, levels, df)
    effects = beta[block] - beta[block].mean() + y.mean() if estimable.all() else np.full(levels, np.nan)
    return Comparisons(difference, error, p, effects, df, rank, design.shape[1], float(np.sqrt(sigma2)))


def _cleared(values: Floats, scale: float) -> Floats:
    """Rounding errors are 0: where the model fits exactly, they must not be tested against each other."""
    return np.where(np.abs(values) <= 1e-10 * scale, 0.0, values)


def _indicators(codes: Sequence[Codes], rows: int) -> sparse.csr_array:
    """An intercept and one column per level of each factor."""
    parts = [sparse.csr_array(np.ones((rows, 1)))]
    for code in codes:
        width = int(code.max()) + 1 if rows else 0
        parts.append(sparse.csr_array((np.ones(rows), (np.arange(rows), code)), shape=(rows, width)))
    return sparse.csr_array(sparse.hstack(parts))


def _pseudo_inverse(gram: Floats) -> tuple[Floats, int]:
    values, vectors = np.linalg.eigh(gram)
    kept = values > values.max(initial=0.0) * len(gram) * 1e-13
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return np.asarray(inverse), int(kept.sum())


def _estimable(inverse: Floats, design: sparse.csr_array, levels: int) -> NDArray[np.bool_]:
    """A contrast c is estimable where c (X'X)^- X'X = c."""
    projection = inverse @ (design.T @ design).toarray()
    rows = projection[1 : 1 + levels]
    target = np.eye(levels, design.shape[1], k=1)
    missed = rows - target
    gaps = np.abs(missed[:, None, :] - missed[None, :, :]).max(axis=2)
    return np.asarray(gaps < 1e-7)


def _p_values(difference: Floats, error: Floats, levels: int, df: int) -> Floats:
    p = np.full(difference.shape, np.nan)
    if df < 1 or levels < 2:
        return p
    pairs = np.triu(~np.isnan(difference) & (error > 0), 1)
    # Residuals of exactly 0 leave no doubt about any difference.
    certain = np.triu(~np.isnan(difference) & (error == 0), 1)
    p[certain] = np.where(difference[certain] == 0, 1.0, 0.0)
    p[pairs] = studentized_range_sf(np.abs(difference[pairs]) * np.sqrt(2) / error[pairs], levels, df)
    p.T[np.triu(np.ones_like(pairs), 1)] = p[np.triu(np.ones_like(pairs), 1)]
    return p


def studentized_range_sf(q: ArrayLike, groups: int, df: float) -> Floats:
    """P(Q > q) for the range of ``groups`` normal values over an independent deviation with ``df`` degrees of freedom.

    The range's own distribution is tabulated once and integrated over the deviation for all q together
    (Gauss-Legendre): exact to ten digits, and hundreds of q take no longer than one.
    """
    wanted = np.asarray(q, dtype=np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    low, high = np.sqrt(stats.chi2.ppf(1e-15, df) / df), np.sqrt(stats.chi2.isf(1e-15, df) / df)
    s = low + (high - low) * (nodes + 1) / 2
    log_density = (df - 1) * np.log(s) - df * s**2 / 2 + df / 2 * np.log(df) - special.gammaln(df / 2)
    mass = np.exp(log_density - (df / 2 - 1) * np.log(2)) * weights * (high - low) / 2
    within = _range_cdf(groups)(np.minimum(wanted[..., None] * s, WIDEST))
    return np.asarray(np.clip(1.0 - within @ mass, 0.0, 1.0), dtype=np.float64)


@cache
def _range_cdf(groups: int) -> CubicSpline:
    """P(range <= w) for a given number of standard normal values: the integral over the largest one."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    z = WIDEST / 2 * nodes
    largest = groups * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * weights * WIDEST / 2
    w = np.linspace(0, WIDEST, 1501)
    others = special.ndtr(z)[:, None] - special.ndtr(z[:, None] - w)
    return CubicSpline(w, largest @ others ** (groups - 1))


def r_squared(values: ArrayLike, factor: ArrayLike) -> float | None:
    """The share of variance that one factor's level means explain; None where the values do not vary."""
    y, code = np.asarray(values, dtype=np.float64), np.asarray(factor, dtype=np.int64)
    if len(y) < 2 or np.ptp(y) == 0:
        return None
    count = np.bincount(code)
    means = np.bincount(code, weights=y) / np.maximum(count, 1)
    return float(1 - ((y - means[code]) ** 2).sum() / ((y - y.mean()) ** 2).sum())
