"""How much of the variance of scores do judges, topics and systems explain? Gillick and Liu 2010, Table 4.

R squared of score ~ judge, ~ topic and ~ system, each in a model of its own. They removed redundant answers, so that
every item had one. Which one is removed changes the figures, so we draw it at random many times and give the mean with
the middle of the draws: keeping the first answer of each item would let the order of a file decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pyramidion.analysis.ratings import Codes, Ratings
from pyramidion.stats.intervals import Interval, percentile_interval
from pyramidion.stats.tukey import r_squared

FACTORS = ("judge", "topic", "system")


@dataclass(frozen=True, slots=True)
class Explained:
    """R squared of score ~ one factor, over all answers and with one answer per item: the mean over the removals, and
    the middle of them. None where the values do not vary.
    """

    factor: str
    levels: int
    r2: float | None
    r2_single: float | None
    single: Interval | None


def explained_variance(
    data: Ratings, *, removals: int, rng: np.random.Generator, confidence: float = 0.95
) -> Iterator[Explained]:
    """Each factor alone. The rows of ``data`` are sorted by item and judge, so a seed always removes the same ones."""
    kept = list(single_answers(data.item, removals, rng))
    for factor in FACTORS:
        code, names = getattr(data, factor), getattr(data, f"{factor}s")
        drawn = np.array([_or_nan(r_squared(data.value[rows], code[rows])) for rows in kept])
        defined = drawn[~np.isnan(drawn)]
        yield Explained(
            factor,
            len(names),
            r_squared(data.value, code),
            float(defined.mean()) if len(defined) else None,
            percentile_interval(drawn, confidence),
        )


def single_answers(item: Codes, removals: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Rows with one answer of each item, drawn anew for each removal; ``item`` is sorted."""
    start = np.flatnonzero(np.diff(item, prepend=-1))
    size = np.diff(np.append(start, len(item)))
    for _ in range(removals):
        yield start + rng.integers(0, size)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
