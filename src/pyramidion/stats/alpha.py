"""Krippendorff's alpha: agreement beyond chance, for any number of judges and with missing answers.

Krippendorff, Content Analysis (2004), chapter 11; the 1-Dice distance over counts is Passonneau's, as Nenkova et al.
2007 use it for peer annotation. alpha = 1 - observed / expected disagreement, both over pairs of answers: those to one
item, and those of all. Our own implementation, because the known ones are GPL or slow. Items with the same answers form
one *pattern*. A million yes/no answers by five judges have six patterns, so a bootstrap over items only draws how often
each pattern occurs: its cost depends on the patterns, not on the answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyramidion.stats.intervals import Interval, blocks, percentile_interval

# ----------------------------------------------------------------------
# Values as numbers of levels, for counting.


class Levels(NamedTuple):
    """Values from low to high, and which of them each answer is."""

    values: NDArray[np.float64]
    of: NDArray[np.int64]


def levels(value: NDArray[np.float64]) -> Levels:
    """The levels of some answers. Small counts need no sorting; values that do not occur then also have a level."""
    if len(value) and value.min() >= 0 and value.max() < 256:
        counts = value.astype(np.int64)
        if np.array_equal(counts, value):
            return Levels(np.arange(counts.max() + 1, dtype=np.float64), counts)
    distinct, level = np.unique(value, return_inverse=True)
    return Levels(distinct, level.astype(np.int64))


Distance = Literal["nominal", "ordinal", "interval", "dice"]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alpha:
    """``value`` is None if alpha is undefined: no item has two answers, or nothing varies."""

    value: float | None
    distance: str
    items: int
    answers: int
    interval: Interval | None = None


def alpha(items: ArrayLike, values: ArrayLike, *, distance: Distance = "nominal") -> Alpha:
    """Alpha of a long table: ``values[i]`` is one judge's answer to ``items[i]``; NaN answers do not count."""
    answers = _Answers.of(items, values, distance)
    return answers.alpha()


def alpha_interval(
    items: ArrayLike,
    values: ArrayLike,
    *,
    distance: Distance = "nominal",
    rng: np.random.Generator,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Alpha:
    """Alpha with a percentile bootstrap interval over items: with the judges kept."""
    answers = _Answers.of(items, values, distance)
    found = answers.alpha()
    if found.value is None or resamples < 1:
        return found
    drawn = np.concatenate(list(answers.resampled(rng, resamples)))
    interval = percentile_interval(drawn, confidence)
    return Alpha(found.value, distance, found.items, found.answers, interval)


@dataclass(frozen=True)
class _Answers:
    """The answers to items with at least two, as patterns: how often each has each level, and how often it occurs."""

    distance: str
    levels: Floats
    counts: sparse.csr_array  # patterns x levels
    size: Floats  # answers per item of a pattern
    occurs: Codes

    @classmethod
    def of(cls, items: ArrayLike, values: ArrayLike, distance: str) -> _Answers:
        if distance not in get_args(Distance):
            raise ValueError(f"unknown distance {distance!r}; known values are {', '.join(get_args(Distance))}")
        value = np.asarray(values, dtype=np.float64)
        answered = ~np.isnan(value)
        item = _codes(np.asarray(items)[answered])
        known, level = levels(value[answered])
        size = np.bincount(item)
        paired = size[item] > 1 if len(item) else np.zeros(0, dtype=bool)
        return cls._of_pairs(item[paired], level[paired], known, distance)

    @classmethod
    def _of_pairs(cls, item: Codes, level: Codes, levels: Floats, distance: str) -> _Answers:
        if not len(item):
            empty = sparse.csr_array((0, len(levels)))
            return cls(distance, levels, empty, np.zeros(0), np.zeros(0, dtype=np.int64))
        # An item's pattern is its bag of levels: the sum of one random number a level tells bags apart.
        mark = np.random.default_rng(0).integers(1, 2**63, size=len(levels), dtype=np.uint64)
        bag = np.zeros(int(item.max()) + 1, dtype=np.uint64)
        np.add.at(bag, item, mark[level])
        present = np.flatnonzero(np.bincount(item))
        _, some, occurs = np.unique(bag[present], return_index=True, return_counts=True)
        number = np.full(len(bag), -1, dtype=np.int64)
        number[present[some]] = np.arange(len(some))
        shown = number[item] >= 0  # one item stands for its pattern
        rows, columns = number[item[shown]], level[shown]
        counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(some), len(levels)))
        counts.sum_duplicates()
        size = np.asarray(counts.sum(axis=1), dtype=np.float64)
        return cls(distance, levels, counts, size, np.asarray(occurs, dtype=np.int64))

    def alpha(self) -> Alpha:
        value = self._values(self.occurs[None, :].astype(np.float64))[0]
        items, answers = int(self.occurs.sum()), int(self.occurs @ self.size)
        return Alpha(None if np.isnan(value) else float(value), self.distance, items, answers)

    def resampled(self, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
        items = int(self.occurs.sum())
        share = self.occurs / items
        for many in blocks(resamples, max(1, 4_000_000 // max(len(share), 1))):
            yield self._values(rng.multinomial(items, share, size=many).astype(np.float64))

    def _values(self, weights: Floats) -> Floats:
        """Alpha for each row of pattern weights; NaN where undefined."""
        total = weights @ self.size
        if self.distance == "ordinal":
            observed, expected = self._by_rank(weights)
        else:
            observed, expected = weights @ self._observed(self.levels), self._expected(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = 1.0 - (total - 1.0) * observed / expected
        return np.where(expected > 0, found, np.nan)

    def _observed(self, values: Floats) -> Floats:
        """The disagreement within an item of each pattern, over ordered pairs, divided by the number of its answers
        minus one."""
        if self.distance == "nominal":
            agreeing = np.asarray((self.counts**2).sum(axis=1), dtype=np.float64)
            return np.asarray((self.size**2 - agreeing) / (self.size - 1))
        if self.distance == "dice":
            return np.asarray(self._dice_within() / (self.size - 1))
        spread = self.size * (self.counts @ values**2) - (self.counts @ values) ** 2
        return np.asarray(2 * np.maximum(spread, 0) / (self.size - 1))

    def _expected(self, weights: Floats) -> Floats:
        """The disagreement over all ordered pairs of answers."""
        if self.distance == "interval":
            middle = self.levels - self.levels.mean() if len(self.levels) else self.levels
            total, first, second = (
                weights @ part for part in (self.size, self.counts @ middle, self.counts @ middle**2)
            )
            return np.asarray(2 * np.maximum(total * second - first**2, 0))
        totals = weights @ self.counts
        if self.distance == "nominal":
            return np.asarray(totals.sum(axis=1) ** 2 - (totals**2).sum(axis=1))
        return np.asarray(((totals @ dice_distances(self.levels)) * totals).sum(axis=1))

    def _by_rank(self, weights: Floats) -> tuple[Floats, Floats]:
        """The ordinal distance of two values is that of their middle ranks, which depend on how often each occurs."""
        totals = weights @ self.counts
        ranks = np.cumsum(totals, axis=1) - totals / 2
        ranks -= totals.sum(axis=1, keepdims=True) / 2
        count, first, second = totals.sum(axis=1), (totals * ranks).sum(axis=1), (totals * ranks**2).sum(axis=1)
        observed = np.array([row @ self._observed(rank) for row, rank in zip(weights, ranks, strict=True)])
        return observed, np.asarray(2 * np.maximum(count * second - first**2, 0))

    def _dice_within(self) -> Floats:
        """Over the levels an item has: few, however many there are in all."""
        found = np.zeros(self.counts.shape[0])
        start, column, count = self.counts.indptr, self.counts.indices, self.counts.data
        for row in range(len(found)):
            mine = slice(start[row], start[row + 1])
            found[row] = count[mine] @ dice_distances(self.levels[column[mine]]) @ count[mine]
        return found


def dice_distances(levels: Floats) -> Floats:
    """1 - Dice between every two counts, where Dice of a and b is 2 min(a, b) / (a + b), and 1 for 0 and 0."""
    first, second = levels[:, None], levels[None, :]
    total = first + second
    dice = np.divide(2 * np.minimum(first, second), total, out=np.ones_like(total), where=total > 0)
    return np.asarray(1.0 - dice, dtype=np.float64)


def _codes(items: NDArray[np.generic]) -> Codes:
    """Small whole numbers are used directly; everything else is numbered."""
    if items.dtype.kind in "iu" and len(items) and int(items.min()) >= 0 and int(items.max()) <= 8 * len(items):
        return np.asarray(items, dtype=np.int64)
    return np.asarray(np.unique(items, return_inverse=True)[1], dtype=np.int64)
