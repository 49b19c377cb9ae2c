"""The script that Shapira et al. 2019 released with Lightweight Pyramids: ``compat="litepyramids-2019"``.

It differs from the paper, which ``lite.py`` follows:

- Every answer other than "not present" is "present", also a missing one.
- Two workers on one task are compared by difflib's ratio, which looks for common runs at any position. The ratio
  depends on the order of the statements in the task, and on which of the two comes first in the file of results.
- A further round measures those whom the round before did not exclude, and forgets whom that one excluded.
- A unit is decided by five answers. Of more than five, every combination of five votes, and the results are averaged.

The script itself is not part of this project. docs/reference/compat.md says what is known of it and what is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import combinations, groupby
from math import comb, fsum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import UsageError
from pyramidion.scoring.aggregate import questions
from pyramidion.scoring.choice import Choice
from pyramidion.scoring.screening import Measured, Screening, WorkerAgreement
from pyramidion.study import Judgment, Judgments, Study
from pyramidion.study.judgments import group

Compat = Literal["litepyramids-2019"]

DRAWN = 5
"""The number of answers that decide a unit."""
_NO_ORDER = "Give MTurk's file of results, or a study with tasks and assignments; or keep every worker (min_agreement)"


def with_blanks_present(study: Study, choice: Choice) -> Judgments:
    """The judgments on units with every missing answer as "present": unanswered ones, and the units of a task that
    somebody has no judgment on who judged others of it."""
    judgments = choice.on_units
    odd = ~np.isnan(judgments.value) & (judgments.value != 0) & (judgments.value != 1)
    for row in np.flatnonzero(odd)[:1].tolist():
        where = f"topic {judgments.topic[row]}, system {judgments.system[row]}, judge {judgments.judge[row]}"
        raise UsageError(f"{where}: {judgments.value[row]:g} is neither present (1) nor not present (0)")
    answered = judgments.with_columns(value=np.where(np.isnan(judgments.value), 1.0, judgments.value))
    return answered + list(_left_blank(study, choice))


def _left_blank(study: Study, choice: Choice) -> Iterator[Judgment]:
    judgments, held = choice.on_units, {(t, unit.id) for t, p in choice.pyramids.items() for unit in p.units}
    shown = {task.id: [unit for unit in task.units if (task.topic, unit) in held] for task in study.tasks}
    work = group(judgments.task.ranks(), judgments.judge.ranks())
    row = np.argsort(work.of_row, kind="stable")
    start = np.searchsorted(work.of_row[row], np.arange(len(work) + 1))
    for number, first in enumerate(work.first.tolist()):
        task = judgments.task[first]
        if start[number + 1] - start[number] < len(shown.get(task, ())):
            judged = {judgments.unit[each] for each in row[start[number] : start[number + 1]].tolist()}
            for unit in (unit for unit in shown[task] if unit not in judged):
                yield Judgment(
                    judgments.topic[first], judgments.system[first], judgments.judge[first], 1.0, unit=unit, task=task
                )


# -- agreement -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answer:
    """One worker's answers to one task as letters, in the order shown; ``turn`` is its place among the assignments."""

    task: str
    judge: str
    letters: str
    turn: int | None


class SequenceAgreement:
    """How far workers agree by the released script's measure: the mean of difflib's ratio over pairs on one task.

    The order of statements is that of the task, the order of workers that of the assignments of the study; where a
    study does not have them and the ratio depends on them, it is refused.
    """

    def __init__(self, study: Study) -> None:
        self._place = {task.id: {unit: place for place, unit in enumerate(task.units)} for task in study.tasks}
        self._turn = {(work.task, work.judge): turn for turn, work in enumerate(study.assignments)}
        self._ratio = lru_cache(maxsize=2**16)(lambda first, second: SequenceMatcher(None, first, second).ratio())

    def __call__(self, judgments: Judgments) -> Measured:
        shares: dict[str, list[float]] = {judge: [] for judge in judgments.judge.present_names()}
        for _, answers in groupby(self._answers(judgments), key=lambda answer: answer.task):
            for first, second in combinations(answers, 2):
                ratio = self._ratio(first.letters, second.letters)
                if first.turn is None or second.turn is None:
                    self._check_both_ways(first, second)
                shares[first.judge].append(ratio)
                shares[second.judge].append(ratio)
        # Summed exactly, so that the order of tasks cannot tip a mean of one half.
        return {judge: (fsum(each) / len(each) if each else None, len(each)) for judge, each in shares.items()}

    def _answers(self, judgments: Judgments) -> Sequence[_Answer]:
        """Task by task, in the order of assignments."""
        work = group(judgments.task.ranks(), judgments.judge.ranks())
        row = np.lexsort((self._places(judgments), work.of_row))
        letter = np.where(judgments.value[row] == 0, b"n", b"p").tobytes().decode()
        start = np.searchsorted(work.of_row[row], np.arange(len(work) + 1))
        answers = []
        for number, first in enumerate(work.first.tolist()):
            key = judgments.task[first], judgments.judge[first]
            answers.append(_Answer(*key, letter[start[number] : start[number + 1]], self._turn.get(key)))
        return sorted(answers, key=lambda answer: (answer.task, -1 if answer.turn is None else answer.turn))

    def _places(self, judgments: Judgments) -> NDArray[np.int64]:
        """Where each unit is in its task."""
        asked = group(judgments.task.ranks(), judgments.unit.ranks())
        places = np.zeros(len(asked), dtype=np.int64)
        for number, row in enumerate(asked.first.tolist()):
            place = self._place.get(judgments.task[row], {}).get(judgments.unit[row])
            if place is None:
                where = f"topic {judgments.topic[row]}, system {judgments.system[row]}, unit {judgments.unit[row]}"
                raise UsageError(
                    f"{where}: no task of the study says in which order its units were shown, and the agreement of "
                    f"workers depends on that. {_NO_ORDER}"
                )
            places[number] = place
        return places[asked.of_row]

    def _check_both_ways(self, first: _Answer, second: _Answer) -> None:
        there, back = self._ratio(first.letters, second.letters), self._ratio(second.letters, first.letters)
        if there != back:
            raise UsageError(
                f"task {first.task}: the study does not say whose answers come first, those of {first.judge} or of "
                f"{second.judge}, and their agreement depends on that ({there:.3f} or {back:.3f}). {_NO_ORDER}"
            )


def screen_and_forget(study: Study, judgments: Judgments, *, minimum: float, rounds: int) -> Screening:
    """Exclude whom the last round excludes. Each round measures all but those whom the round before excluded."""
    agreement = SequenceAgreement(study)
    excluded: frozenset[str] = frozenset()
    ever: set[str] = set()
    latest: Measured = {}
    known: dict[frozenset[str], Measured] = {}  # a round depends on the one before only, so rounds soon repeat
    for _ in range(rounds):
        if excluded not in known:
            known[excluded] = agreement(judgments.take(~judgments.judge.is_in(excluded)))
        latest |= known[excluded]
        excluded = frozenset(j for j, (share, _) in known[excluded].items() if share is not None and share < minimum)
        ever |= excluded
    workers = (WorkerAgreement(judge, *latest[judge], rounds * (judge in excluded)) for judge in sorted(latest))
    return Screening(judgments.take(~judgments.judge.is_in(excluded)), tuple(workers), frozenset(ever - excluded))


# -- the vote ------------------------------------------------------------------------------------------------------


def majority_of_five(judgments: Judgments) -> Judgments:
    """Whether most of five answers say that a unit is present; a tie of four or two is "not present".

    With more than five answers, the share of all combinations of five in which most do.
    """
    asked = questions(judgments)
    count = np.bincount(asked.of_row, minlength=len(asked))
    yes = np.bincount(asked.of_row[judgments.value > 0], minlength=len(asked))
    value = np.array([_share_present(*each) for each in zip(yes.tolist(), count.tolist(), strict=True)])
    return judgments.as_judged_by("majority", asked.first, value)


@cache
def _share_present(yes: int, count: int) -> float:
    if count <= DRAWN:
        return float(2 * yes > count)
    most = range(DRAWN // 2 + 1, DRAWN + 1)
    return sum(comb(yes, chosen) * comb(count - yes, DRAWN - chosen) for chosen in most) / comb(count, DRAWN)
