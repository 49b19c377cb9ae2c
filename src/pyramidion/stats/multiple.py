"""Many comparisons at once: Holm's correction, and how papers show which of many systems differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Mask = NDArray[np.bool_]
MOST_GROUPS = 78


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (Holm 1979): if they are compared with a level, the chance of any false claim is at most
    that level. NaN marks a test that could not be made; it stays NaN and does not count."""
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return adjusted


def rightmost_different(differ: Mask) -> list[int | None]:
    """For each system, in order of rank, the last one before it that it differs from (Gillick and Liu 2010, Table 5).

    ``differ[i, j]`` says whether the systems at ranks i and j differ significantly.
    """
    before = [np.flatnonzero(differ[rank, :rank]) for rank in range(len(differ))]
    return [int(found[-1]) if len(found) else None for found in before]


def letter_groups(differ: Mask) -> list[str]:
    """A compact letter display: two systems share a letter if and only if they do not differ.

    Insert and absorb (Piepho 2004): begin with one group of all; for every pair that differs split each group that
    holds both; drop groups inside others. Letters go by the best rank in a group. If more than ``MOST_GROUPS`` groups
    are needed, nobody could read them: all letters are empty.
    """
    groups: list[frozenset[int]] = [frozenset(range(len(differ)))] if len(differ) else []
    for i, j in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        split = [part for group in groups for part in ((group - {i}, group - {j}) if {i, j} <= group else (group,))]
        groups = _largest(split)
        if len(groups) > MOST_GROUPS:
            return [""] * len(differ)
    ordered = sorted(groups, key=sorted)
    return ["".join(_letter(number) for number, group in enumerate(ordered) if i in group) for i in range(len(differ))]


def _largest(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(number: int) -> str:
    """a to z, then a2 to z2, and so on: many systems need many groups."""
    turn, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(turn + 1) if turn else "")
