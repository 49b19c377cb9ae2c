"""Leave out workers who disagree with everybody: Shapira et al. 2019, section 3.

A worker's agreement is the mean, over all pairs of this worker and another one on the same task, of the share of
units on which the two agree, position by position. Below the minimum (0.5) the worker is excluded; further rounds
look at those who remain. A worker without a partner is kept and reported. What the released script measures instead is
in ``litepyramids.py``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pyramidion.study import Judgments
from pyramidion.study.judgments import Codes, Groups, group

Measured = dict[str, tuple[float | None, int]]
"""The agreement of every worker, and with how many others it was measured; None for a worker without a partner."""

MINIMUM = 0.5
"""Workers who agree less with others are left out."""


@dataclass(frozen=True, slots=True)
class WorkerAgreement:
    """``agreement`` is None for a worker who shared no task; ``round`` is when the worker was excluded, 0 if kept."""

    judge: str
    agreement: float | None
    pairs: int
    round: int = 0

    @property
    def excluded(self) -> bool:
        return self.round > 0


@dataclass(frozen=True)
class Screening:
    """The judgments that remain, and how far every worker agrees. ``forgotten`` are workers whom an earlier round
    excluded and a later one did not, which happens in the released script only."""

    kept: Judgments
    workers: tuple[WorkerAgreement, ...]
    forgotten: frozenset[str] = frozenset()

    @property
    def excluded(self) -> tuple[WorkerAgreement, ...]:
        return tuple(worker for worker in self.workers if worker.excluded)


def screen(
    judgments: Judgments,
    *,
    minimum: float = MINIMUM,
    rounds: int = 1,
    measure: Callable[[Judgments], Measured] | None = None,
) -> Screening:
    """Exclude workers whose agreement is below the minimum; each round measures those who are left."""
    workers: dict[str, WorkerAgreement] = {}
    kept = judgments
    for number in range(1, rounds + 1):
        measured = (measure or agreement_by_position)(kept)
        for judge, (share, pairs) in measured.items():
            bad = share is not None and share < minimum
            workers[judge] = WorkerAgreement(judge, share, pairs, number if bad else 0)
        out = {judge for judge in measured if workers[judge].excluded}
        if not out:
            break
        kept = kept.take(~kept.judge.is_in(out))
    return Screening(kept, tuple(workers[judge] for judge in sorted(workers)))


def _tasks(judgments: Judgments) -> Codes:
    """Without task ids, everything asked about one summary counts as one task."""
    return group(judgments.topic.ranks(), judgments.system.ranks(), judgments.task.ranks()).of_row


def agreement_by_position(judgments: Judgments) -> Measured:
    """The mean share of units, among those that both answered, on which a worker agrees with another one."""
    answered = judgments.take(~np.isnan(judgments.value))
    shares: Measured = dict.fromkeys(judgments.judge.present_names(), (None, 0))
    if not len(answered):
        return shares
    task, judge = _tasks(answered), answered.judge.ranks()
    work = group(task, judge)  # one judge on one task, numbered task by task
    left, right, units, agreed = _pairs(answered, task, work)
    names = sorted(answered.judge.names)
    totals: dict[int, Fraction] = defaultdict(Fraction)
    pairs: Counter[int] = Counter()
    # Summed exactly, so that neither the order of judgments nor the judges' names can tip a mean of one half.
    for size in np.unique(units).tolist():
        same = units == size
        for side in (left, right):
            who = judge[work.first[side[same]]]
            for code, count in enumerate(np.bincount(who).tolist()):
                pairs[code] += count
            for code, total in enumerate(np.bincount(who, weights=agreed[same]).tolist()):
                totals[code] += Fraction(int(total), size)
    for code, count in pairs.items():
        if count:
            shares[names[code]] = (float(totals[code] / count), count)
    return shares


def _pairs(answered: Judgments, task: Codes, work: Groups) -> tuple[Codes, Codes, Codes, Codes]:
    """For every pair of judges on a task: their work, how many units both answered, and on how many they agree."""
    task_of_work = task[work.first]
    size = np.bincount(task_of_work).astype(np.int64)
    first_work = np.cumsum(size) - size
    offset = (
        np.cumsum(size**2) - size**2
    )  # pairs are numbered within their task, so that one big task costs only itself
    cell = group(task, answered.unit.ranks()).of_row
    order = np.argsort(cell, kind="stable")
    cell, value, who, at = cell[order], answered.value[order], work.of_row[order], task[order]
    units, agreed = (np.zeros(int((size**2).sum()), dtype=np.int64) for _ in range(2))
    lag = 1
    # Rows are in the order of cells: every pair within a cell is some row and the row `lag` further on.
    while lag < len(cell) and (same := np.flatnonzero(cell[lag:] == cell[:-lag])).size:
        same = same[who[same] != who[same + lag]]
        one, other, start = who[same], who[same + lag], first_work[at[same]]
        key = offset[at[same]] + (np.minimum(one, other) - start) * size[at[same]] + np.maximum(one, other) - start
        np.add.at(units, key, 1)
        np.add.at(agreed, key, value[same] == value[same + lag])
        lag += 1
    pair = np.flatnonzero(units)
    of_task = (np.searchsorted(offset, pair, side="right") - 1).astype(np.int64)
    within = (pair - offset[of_task]).astype(np.int64)
    left, right = first_work[of_task] + within // size[of_task], first_work[of_task] + within % size[of_task]
    return left, right, units[pair], agreed[pair]
