"""Leave out workers who disagree with everybody: Shapira et al. 2019, section 3.

A worker's agreement is the mean, over all pairs of this worker and another one on the same task, of the share of
units on which the two agree, position by position. Below the minimum (0.5) the worker is excluded; further rounds
look at those who remain. A worker without a partner is kept and reported.

The released scripts compare the two answer sequences with a diff ratio instead, so that two workers who disagree on
all 16 alternating answers get 0.94; ``agreement="sequence"`` does that, for comparison only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import check_choice
from pyramidion.methods.columns import Codes, Groups, group, is_in, present_names, ranks, take, values
from pyramidion.model import Judgments

Agreement = Literal["positional", "sequence"]


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
    """The judgments that remain, and what was found about every worker."""

    kept: Judgments
    workers: tuple[WorkerAgreement, ...]

    @property
    def excluded(self) -> tuple[WorkerAgreement, ...]:
        return tuple(worker for worker in self.workers if worker.excluded)


def screen(
    judgments: Judgments, *, minimum: float = 0.5, rounds: int = 1, agreement: Agreement = "positional"
) -> Screening:
    """Exclude workers whose agreement is below the minimum; each round measures those who are left."""
    check_choice("agreement", agreement, _MEASURES)
    measure = _MEASURES[agreement]
    found: dict[str, WorkerAgreement] = {}
    kept = judgments
    for number in range(1, rounds + 1):
        measured = measure(kept)
        for judge, (share, pairs) in measured.items():
            bad = share is not None and share < minimum
            found[judge] = WorkerAgreement(judge, share, pairs, number if bad else 0)
        out = {judge for judge in measured if found[judge].excluded}
        if not out:
            break
        kept = take(kept, ~is_in(kept.judge, out))
    return Screening(kept, tuple(found[judge] for judge in sorted(found)))


Measured = dict[str, tuple[float | None, int]]


def _tasks(judgments: Judgments) -> Codes:
    """Without task ids, everything asked about one summary counts as one task."""
    return group(ranks(judgments.topic), ranks(judgments.system), ranks(judgments.task)).of_row


def _positional(judgments: Judgments) -> Measured:
    answered = take(judgments, ~np.isnan(values(judgments)))
    found: Measured = dict.fromkeys(present_names(judgments.judge), (None, 0))
    if not len(answered):
        return found
    task, judge = _tasks(answered), ranks(answered.judge)
    work = group(task, judge)  # one judge on one task, numbered task by task
    first_work = np.full(int(task.max()) + 1, len(work))
    np.minimum.at(first_work, task[work.first], np.arange(len(work)))
    most = int(np.bincount(task[work.first]).max())
    units, agreed = _pairs(answered, task, work, first_work, most)
    pair = np.flatnonzero(units)
    share = agreed[pair] / units[pair]
    left = pair // most
    right = first_work[task[work.first[left]]] + pair % most
    total, pairs = np.zeros(judge.max() + 1), np.zeros(judge.max() + 1, dtype=np.int64)
    for side in (left, right):
        who = judge[work.first[side]]
        total += np.bincount(who, weights=share, minlength=len(total))
        pairs += np.bincount(who, minlength=len(pairs))
    for code, name in enumerate(sorted(answered.judge.names)):
        if code < len(pairs) and pairs[code]:
            found[name] = (float(total[code] / pairs[code]), int(pairs[code]))
    return found


def _pairs(
    answered: Judgments, task: Codes, work: Groups, first_work: Codes, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For every two judges on a task, how many units both answered and on how many they agree.

    A pair is numbered by the work of the first judge and the place of the second one within the task.
    """
    cell = group(task, ranks(answered.unit)).of_row
    order = np.argsort(cell, kind="stable")
    cell, value, who, start = cell[order], values(answered)[order], work.of_row[order], first_work[task[order]]
    units, agreed = np.zeros(len(work) * most), np.zeros(len(work) * most)
    lag = 1
    # Rows lie cell by cell: every pair within a cell is some row and the row `lag` further on.
    while lag < len(cell) and (same := np.flatnonzero(cell[lag:] == cell[:-lag])).size:
        one, other = who[same], who[same + lag]
        key = np.minimum(one, other) * most + np.maximum(one, other) - start[same]
        units += np.bincount(key, minlength=len(units))
        agreed += np.bincount(key, weights=value[same] == value[same + lag], minlength=len(agreed))
        lag += 1
    return units, agreed


def _sequence(judgments: Judgments) -> Measured:
    """The released scripts' measure. Answers are taken in the order of unit ids; an unanswered one is "?"."""
    answers: dict[int, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for task, judgment in zip(_tasks(judgments).tolist(), judgments, strict=True):
        shown = "?" if judgment.value is None else f"{judgment.value:g}"
        answers[task][judgment.judge].append((judgment.unit, shown))
    shares: dict[str, list[float]] = {judge: [] for judge in present_names(judgments.judge)}
    for by_judge in answers.values():
        for first, second in combinations(sorted(by_judge), 2):
            left, right = ([shown for _, shown in sorted(by_judge[judge])] for judge in (first, second))
            ratio = SequenceMatcher(None, left, right).ratio()
            shares[first].append(ratio)
            shares[second].append(ratio)
    return {judge: (sum(s) / len(s) if s else None, len(s)) for judge, s in shares.items()}


_MEASURES: dict[str, Callable[[Judgments], Measured]] = {"positional": _positional, "sequence": _sequence}
