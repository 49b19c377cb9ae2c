"""What pyramids of n references say about summaries, compared with what all references say.

Nenkova et al. 2007, section 3: score ranges (Figure 2), errors (Table I) and rank correlations (Table II).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.inputs import Floats
from pyramidion.stats.correlation import row_correlations

SAME, CLEAR = 0.06, 0.1
"""Two summaries that differ by less than the first are the same; for pairs that differ by more than the second, the
paper asks when they diverge."""
FIVE, FEWEST = 5, 3
"""The number of summaries the paper ranks, and the minimum for a ranking."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    references: int
    pyramids: int
    range: float | None
    diverged: float | None
    e1: float | None
    e2: float | None
    e3: float | None
    given_same: float | None
    given_different_same: float | None
    given_different_reversed: float | None
    spearman: float | None
    ranked: int
    undefined: int

    @property
    def error(self) -> float | None:
        return None if self.e1 is None or self.e2 is None or self.e3 is None else self.e1 + self.e2 + self.e3


@dataclass(frozen=True)
class Held:
    """The scores of one topic's held-out summaries: summaries x sub-pyramids, NaN where one cannot be scored.

    ``full`` is the score by all references, or where a summary is one, by all the others.
    """

    topic: str
    summaries: tuple[str, ...]
    references: tuple[str, ...]
    sizes: NDArray[np.int64]
    scores: Floats
    full: Floats


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """The scores of one summary by all pyramids of one size; None if none could score it."""

    topic: str
    summary: str
    references: int
    pyramids: int
    least: float | None
    mean: float | None
    greatest: float | None


def size_row(n: int, topics: tuple[Held, ...]) -> SizeRow:
    ranges: list[float] = []
    diverged: list[bool] = []
    rank: list[float] = []
    ranked: list[int] = []
    undefined = pyramids = same_n = different_n = 0
    errors = np.zeros(3)
    for held in topics:
        at = held.scores[:, held.sizes == n]
        pyramids += at.shape[1]
        if not at.shape[1]:
            continue
        low, high = _extremes(at)
        ranges += (high - low)[~np.isnan(high)].tolist()
        number = (~np.isnan(at) & ~np.isnan(held.full)[:, None]).sum(axis=0)
        ranked += number[number > 0].tolist()
        r = np.where(number >= FEWEST, row_correlations(at.T, held.full, "spearman"), np.nan)
        rank += r[~np.isnan(r)].tolist()
        undefined += int(np.isnan(r).sum())
        for i, j in combinations(range(len(held.summaries)), 2):
            better, worse = (i, j) if held.full[i] >= held.full[j] else (j, i)
            gap, whole = at[better] - at[worse], held.full[better] - held.full[worse]
            gap = gap[~np.isnan(gap)]
            if np.isnan(whole):
                continue
            if whole > CLEAR and not np.isnan(low[better] + high[worse]):
                diverged.append(bool(low[better] > high[worse]))
            equal = np.abs(gap) < SAME
            same_n += int(equal.sum())
            different_n += int((~equal).sum())
            if whole < SAME:
                errors[1] += (~equal).sum()
            else:
                errors += [equal.sum(), 0, (gap <= -SAME).sum()]
    total = same_n + different_n
    e1, e2, e3 = (float(e / total) if total else None for e in errors)
    return SizeRow(
        n,
        pyramids,
        float(np.mean(ranges)) if ranges else None,
        float(np.mean(diverged)) if diverged else None,
        e1,
        e2,
        e3,
        float(errors[0] / same_n) if same_n else None,
        float(errors[1] / different_n) if different_n else None,
        float(errors[2] / different_n) if different_n else None,
        float(np.mean(rank)) if rank else None,
        min(ranked, default=0),
        undefined,
    )


def _extremes(at: Floats) -> tuple[Floats, Floats]:
    low, high = np.where(np.isnan(at), np.inf, at).min(axis=1), np.where(np.isnan(at), -np.inf, at).max(axis=1)
    nothing = np.isnan(at).all(axis=1)
    return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)


def score_ranges(topics: Iterable[Held]) -> Iterator[ScoreRange]:
    """Figure 2 in numbers, for every summary."""
    for held in topics:
        for i, summary in enumerate(held.summaries):
            for n in np.unique(held.sizes).tolist():
                at = held.scores[i, held.sizes == n]
                at = at[~np.isnan(at)]
                three = [float(how(at)) if len(at) else None for how in (np.min, np.mean, np.max)]
                yield ScoreRange(held.topic, summary, n, len(at), *three)


def mean_divergence(topics: tuple[Held, ...]) -> tuple[float | None, int]:
    """The mean size at which clearly different summaries first diverge, and how many such pairs there are."""
    first = []
    for held in topics:
        sizes = np.unique(held.sizes).tolist()
        bounds = {n: _extremes(held.scores[:, held.sizes == n]) for n in sizes}
        for i, j in combinations(range(len(held.summaries)), 2):
            better, worse = (i, j) if held.full[i] >= held.full[j] else (j, i)
            if held.full[better] - held.full[worse] > CLEAR:
                first.append(next((n for n in sizes if bounds[n][0][better] > bounds[n][1][worse]), sizes[-1] + 1))
    return (float(np.mean(first)) if first else None), len(first)
