"""Values as numbers of levels, for counting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
