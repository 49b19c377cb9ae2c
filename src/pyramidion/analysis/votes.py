"""Crowd judgments as one array, from which smaller designs are re-aggregated without scoring again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.inputs import column_means
from pyramidion.errors import Problem, UsageError
from pyramidion.scoring.choice import choose
from pyramidion.scoring.screening import screen
from pyramidion.stats.intervals import divided
from pyramidion.study import Study
from pyramidion.study.judgments import PRESENT, group

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class VoteArray:
    """``answers`` is topics x systems x units x workers, NaN where there is no answer; units and workers are padded.

    A worker's position is within one task; ``task`` says which of a summary's tasks each unit was judged in. A
    summary's score is the share of judged units that most workers found; ties count as absent (Shapira et al. 2019).
    """

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    answers: Floats
    task: Codes
    notes: tuple[Problem, ...] = ()

    @property
    def units(self) -> int:
        return int(self.answers.shape[2])

    @property
    def workers(self) -> int:
        return int(self.answers.shape[3])

    def present(self) -> tuple[Floats, Floats]:
        """Whether most workers found each unit, and whether anybody judged it: topics x systems x units."""
        return _majority(np.nan_to_num(self.answers).sum(axis=3), (~np.isnan(self.answers)).sum(axis=3))

    def summary_scores(self) -> Floats:
        """Topics x systems; NaN where nothing was judged."""
        present, judged = self.present()
        return divided(present.sum(axis=2), judged.sum(axis=2))

    def with_units(self, rng: np.random.Generator) -> Floats:
        """System scores with 1, 2, ... units of each topic, in an order that all systems share: units x systems."""
        present, judged = self.present()
        held = judged.any(axis=1)  # topics x units
        order = np.argsort(np.where(held, rng.random(held.shape), 2.0), axis=1)[:, None, :]
        found, asked = (np.take_along_axis(part, order, axis=2).cumsum(axis=2) for part in (present, judged))
        return column_means(np.moveaxis(divided(found, asked), 2, 0))

    def with_topics(self, rng: np.random.Generator) -> Floats:
        """System scores with 1, 2, ... topics in a random order: topics x systems."""
        scores = self.summary_scores()[rng.permutation(len(self.topics))]
        defined = ~np.isnan(scores)
        return divided(np.where(defined, scores, 0.0).cumsum(axis=0), defined.cumsum(axis=0))

    def with_workers(self, rng: np.random.Generator) -> Floats:
        """System scores with 1, 2, ... workers on each task, drawn task by task: workers x systems."""
        answered = ~np.isnan(self.answers)
        topics, systems, _, workers = self.answers.shape
        tasks = int(self.task.max()) + 1
        key = rng.random((topics, systems, tasks, workers))
        took_part = np.zeros(key.shape, dtype=bool)
        t, s, u, w = np.nonzero(answered)
        took_part[t, s, self.task[t, s, u], w] = True
        order = np.argsort(np.where(took_part, key, 2.0), axis=3)
        t, s = np.ogrid[:topics, :systems]
        by_unit = order[t[..., None], s[..., None], self.task]  # topics x systems x units x workers
        yes, asked = (
            np.take_along_axis(part, by_unit, axis=3).cumsum(axis=3) for part in (np.nan_to_num(self.answers), answered)
        )
        present, judged = _majority(yes, asked)
        scores = divided(present.sum(axis=2), judged.sum(axis=2))  # topics x systems x workers
        return column_means(np.moveaxis(scores, 2, 0))


def _majority(yes: Floats, asked: NDArray[np.int64]) -> tuple[Floats, Floats]:
    return (2 * yes > asked).astype(np.float64), (asked > 0).astype(np.float64)


def unit_votes(
    study: Study, *, pyramid: str | None = None, judges: str | None = None, min_agreement: float | None = 0.5
) -> VoteArray:
    """The judgments on units, without workers who disagree with everybody. A worker who answered a question twice,
    yes and no, counts as no, like a tie."""
    choice = choose(study, kind="crowd", pyramid=pyramid, judges=judges)
    kept = choice.on_units if min_agreement is None else screen(choice.on_units, minimum=min_agreement).kept
    kept = choice.counted(kept)
    kept = kept.take(~np.isnan(kept.value))
    if not len(kept):
        raise UsageError(f"pyramid {choice.pyramid}: no judgments on units to draw from")
    topic, topics = _numbered(kept.topic.ranks(), sorted(kept.topic.names))
    system, systems = _numbered(kept.system.ranks(), sorted(kept.system.names))
    unit = _within(topic, kept.unit.ranks())
    summary = topic * len(systems) + system
    task = _within(summary, _apart(summary, unit, kept.task.ranks()))
    worker = _within(group(summary, task).of_row, kept.judge.ranks())
    shape = (len(topics), len(systems), int(unit.max()) + 1, int(worker.max()) + 1)
    answers = np.full(shape, np.inf)
    np.minimum.at(answers, (topic, system, unit, worker), (kept.value >= PRESENT).astype(np.float64))
    answers[np.isinf(answers)] = np.nan
    tasks = np.zeros(shape[:3], dtype=np.int64)
    tasks[topic, system, unit] = task
    return VoteArray(topics, systems, answers, tasks, choice.notes)


def _apart(summary: Codes, unit: Codes, task: Codes) -> Codes:
    """The task of each answer; all of a summary's are one where some unit was asked in several of them."""
    asked = group(summary, unit, task)
    units = group(summary[asked.first], unit[asked.first])
    repeated = np.bincount(units.of_row)[units.of_row] > 1
    joined = np.unique(summary[asked.first[repeated]])
    return np.where(np.isin(summary, joined), 0, task)


def _numbered(code: Codes, names: list[str]) -> tuple[Codes, tuple[str, ...]]:
    present, packed = np.unique(code, return_inverse=True)
    return packed.astype(np.int64), tuple(names[i] for i in present.tolist())


def _within(outer: Codes, inner: Codes) -> Codes:
    """Number the inner names from 0 within each outer one."""
    pairs = group(outer, inner)
    owner = outer[pairs.first]  # groups come sorted by the outer name
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    place = np.arange(len(owner)) - np.repeat(start, np.diff(np.append(start, len(owner))))
    return np.asarray(place[pairs.of_row], dtype=np.int64)
