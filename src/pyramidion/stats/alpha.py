"""Krippendorff's alpha: agreement beyond chance, for any number of judges and with missing answers.

Krippendorff, Content Analysis (2004), chapter 11; the 1-Dice distance over counts is Passonneau's, as Nenkova et
al. 2007 use it for peer annotation. alpha = 1 - observed / expected disagreement, both from the coincidences of
values within items. Our own implementation, because the known ones are GPL or slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Distance = Literal["nominal", "ordinal", "interval", "dice"]


@dataclass(frozen=True, slots=True)
class Alpha:
    """``value`` is None where alpha is undefined: fewer than two answers to any item, or no variation at all."""

    value: float | None
    distance: str
    items: int
    answers: int


def alpha(items: ArrayLike, values: ArrayLike, *, distance: Distance = "nominal") -> Alpha:
    """Alpha of a long table: ``values[i]`` is one judge's answer to ``items[i]``; NaN answers do not count."""
    value = np.asarray(values, dtype=np.float64)
    answered = ~np.isnan(value)
    _, item = np.unique(np.asarray(items)[answered], return_inverse=True)
    levels, level = np.unique(value[answered], return_inverse=True)
    paired = np.bincount(item)[item] > 1 if len(item) else np.zeros(0, dtype=bool)
    _, item = np.unique(item[paired], return_inverse=True)
    level = level[paired]
    coincidences = _coincidences(item, level, len(levels))
    totals = coincidences.sum(axis=1)
    answers = totals.sum()
    item_count = int(item.max()) + 1 if len(item) else 0
    distances = _distances(levels, totals, distance)
    expected = float(totals @ distances @ totals)
    if answers < 2 or expected == 0:
        return Alpha(None, distance, item_count, len(item))
    observed = float((coincidences * distances).sum())
    return Alpha(1.0 - (answers - 1.0) * observed / expected, distance, item_count, len(item))


def _coincidences(item: NDArray[np.intp], level: NDArray[np.intp], levels: int) -> NDArray[np.float64]:
    """The symmetric table of how often values occur together, each item counting as many times as its answers."""
    table = np.zeros((levels, levels))
    if not len(item):
        return table
    # Items in blocks, so that memory stays bounded when there are many values.
    size = np.bincount(item)
    order = np.argsort(item, kind="stable")
    item, level = item[order], level[order]
    block = max(1, 4_000_000 // max(levels, 1))
    for first in range(0, len(size), block):
        rows = slice(*np.searchsorted(item, [first, first + block]))
        count = len(size[first : first + block])
        counts = np.bincount((item[rows] - first) * levels + level[rows], minlength=count * levels)
        counts = counts.reshape(count, levels).astype(np.float64)
        weight = 1.0 / (size[first : first + block] - 1.0)
        table += counts.T @ (counts * weight[:, None])
        table[np.diag_indices(levels)] -= weight @ counts
    return table


def _distances(levels: NDArray[np.float64], totals: NDArray[np.float64], distance: str) -> NDArray[np.float64]:
    """Disagreement between every two values; the ordinal one depends on how often the values between occur."""
    first, second = levels[:, None], levels[None, :]
    if distance == "nominal":
        return np.asarray(first != second, dtype=np.float64)
    if distance == "interval":
        return np.asarray((first - second) ** 2, dtype=np.float64)
    if distance == "ordinal":
        rank = np.cumsum(totals) - totals / 2
        return np.asarray((rank[:, None] - rank[None, :]) ** 2, dtype=np.float64)
    if distance == "dice":
        total = first + second
        dice = np.divide(2 * np.minimum(first, second), total, out=np.ones_like(total), where=total > 0)
        return np.asarray(1.0 - dice, dtype=np.float64)
    raise ValueError(f"distance {distance!r} is unknown; there are nominal, ordinal, interval and dice")
