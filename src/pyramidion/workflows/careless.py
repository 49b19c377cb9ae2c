"""Who answers carelessly? How far each worker is from a model judge, beside how far from the other workers.

The agreement filter (Shapira et al. 2019, section 3) needs several people on the same task; a model judges every task,
so that a worker who works alone can be checked as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from pyramidion.errors import UsageError
from pyramidion.methods.choice import choose
from pyramidion.methods.columns import present_names
from pyramidion.methods.screening import screen
from pyramidion.model import Judgments, Study

SUSPECT, LEAST_SPREAD = 3.0, 0.03
"""Suspect is who is this many spreads above the crowd's median. Small crowds agree by chance: hence a least spread."""


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """``excess``: how much further a worker's answers are from the model's probabilities than a careful person's would
    be if the model were right about them; a coin's is up to .5. ``deviation`` is how many spreads of the crowd it lies
    above the crowd's median, because a model that errs on these texts errs for everybody. ``agreement`` is with the
    other workers, None for one who shared no task."""

    worker: str
    answers: int
    excess: float | None
    deviation: float | None
    agreement: float | None
    pairs: int

    @property
    def suspect(self) -> bool:
        return self.deviation is not None and self.deviation > SUSPECT


def check_workers(study: Study, judge: str, *, pyramid: str) -> tuple[WorkerCheck, ...]:
    """Every crowd worker, from the most suspect to the least. ``judge`` is a judge with judgments in the study."""
    crowd = choose(study, kind="crowd", pyramid=pyramid, judges="crowd").on_units
    model = choose(study, kind="model", pyramid=pyramid, judges=judge).on_units
    if not len(crowd):
        raise UsageError(f"no crowd worker judged pyramid {pyramid}, so there is nobody to check")
    excesses = _excesses(crowd, model)
    middle, spread = _middle([found.mean for found in excesses.values()])
    agreements = {worker.judge: worker for worker in screen(crowd, minimum=0.0).workers}
    found = []
    for worker in present_names(crowd.judge):
        excess, known = excesses.get(worker), agreements[worker]
        found.append(
            WorkerCheck(
                worker,
                excess.answers if excess else 0,
                excess.mean if excess else None,
                (excess.mean - middle) / spread if excess else None,
                known.agreement,
                known.pairs,
            )
        )
    return tuple(sorted(found, key=lambda check: math.inf if check.excess is None else -check.excess))


class _Excess(NamedTuple):
    answers: int
    mean: float


def _excesses(crowd: Judgments, model: Judgments) -> dict[str, _Excess]:
    """A careful person says "present" with probability p, so |answer - p| is 2p(1-p) on average; the rest is excess."""
    said = {(j.topic, j.system, j.unit): j.value for j in model if j.value is not None}
    found: dict[str, list[float]] = {}
    for judgment in crowd:
        p = said.get((judgment.topic, judgment.system, judgment.unit))
        if p is not None and judgment.value is not None:
            excess = abs(min(judgment.value, 1.0) - p) - 2 * p * (1 - p)
            found.setdefault(judgment.judge, []).append(excess)
    return {worker: _Excess(len(each), math.fsum(each) / len(each)) for worker, each in found.items()}


def _middle(means: list[float]) -> tuple[float, float]:
    """The median, and a spread that a few careless workers do not widen: 1.4826 x the median distance from it."""
    if not means:
        return 0.0, LEAST_SPREAD
    middle = median(means)
    return middle, max(1.4826 * median(abs(mean - middle) for mean in means), LEAST_SPREAD)
