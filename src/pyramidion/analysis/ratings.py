"""Scores as columns of numbers: one row per judgment (study) or summary score (table), with codes for judge, topic,
system and unit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.inputs import choose_measures, grid, measures_of, restricted
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import PEOPLE, choose, default_raters, judge_ids
from pyramidion.stats.intervals import Interval, percentile_interval
from pyramidion.stats.tukey import r_squared
from pyramidion.study import Judgments, ScoreTable, Study
from pyramidion.study.judgments import NO_RATING, JudgeKind

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """``item`` numbers what was judged: a summary, or one unit in a summary. Names are in the order of codes. Rows are
    sorted by topic, system, unit and judge, so that nothing made of them depends on the order in which they arrived.

    ``judges`` is empty if the numbers are scores of summaries, which no single judge gave.
    """

    measure: str
    value: NDArray[np.float64]
    judge: Codes
    topic: Codes
    system: Codes
    item: Codes
    judges: tuple[str, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    notes: tuple[Problem, ...] = ()


def ratings_of(
    source: Study | ScoreTable,
    measure: str | None = None,
    *,
    judges: str | None = None,
    systems: Collection[str] | None = None,
    topics: Collection[str] | None = None,
) -> Ratings:
    """Ratings of an aspect in a study, or a measure of a score table. Models are included only if named.

    ``systems`` and ``topics`` may be patterns.
    """
    if isinstance(source, ScoreTable):
        if judges is not None:
            raise UsageError("a score table does not say who judged; choose judges when you score the study")
        return _of_table(source, measure, systems, topics)
    held = rated_aspects(source)
    if not held:
        raise UsageError("the study has no ratings of summaries")
    aspect = measure or held[0]
    check_choice("rated aspect", aspect, held)
    judgments = source.judgments
    kept = judgments.aspect.is_in({aspect}) & judgments.other.is_in({""})
    who = judges or default_raters(source, judgments.take(kept))
    by_them = judgments.judge.is_in(judge_ids(source, who))
    notes: tuple[Problem, ...] = ()
    if judges is None and who == PEOPLE:
        what = f"{(kept & ~by_them).sum():,} by models are left out; name judges to include them"
        notes = (Problem(f"ratings of {aspect}", what, "warning"),)
    kept &= by_them
    rated = judgments.take(kept)
    kept &= judgments.system.is_in(set(restricted("system", rated.system.present_names(), systems)))
    kept &= judgments.topic.is_in(set(restricted("topic", rated.topic.present_names(), topics)))
    return replace(of_judgments(aspect, judgments.take(kept)), notes=notes)


def rated_aspects(study: Study) -> list[str]:
    """Aspects with ratings, as the study declares them first."""
    single = study.judgments.take(study.judgments.other.is_in({""}))
    present = [name for name in single.aspect.present_names() if name not in NO_RATING]
    declared = [aspect.id for aspect in study.aspects if aspect.id in present]
    return declared + [name for name in present if name not in declared]


def unit_answers(
    study: Study, *, kind: JudgeKind = "crowd", pyramid: str | None = None, judges: str | None = None
) -> Ratings:
    """Judgments on the units of a pyramid: every (topic, system, unit) is an item."""
    choice = choose(study, kind=kind, pyramid=pyramid, judges=judges)
    found = of_judgments(f"units of pyramid {choice.pyramid}", choice.on_units)
    return replace(found, notes=choice.notes)


def of_judgments(measure: str, judgments: Judgments) -> Ratings:
    """Answered judgments as columns."""
    answered = judgments.take(~np.isnan(judgments.value))
    answered = answered.take(np.lexsort((answered.value, *_by_name(answered))))
    judge, topic, system, unit = (
        part.ranks() for part in (answered.judge, answered.topic, answered.system, answered.unit)
    )
    (judge, judges), (topic, topics), (system, systems) = (
        _packed(code, column.names)
        for code, column in ((judge, answered.judge), (topic, answered.topic), (system, answered.system))
    )
    width = int(unit.max()) + 1 if len(unit) else 1
    key = (topic * max(len(systems), 1) + system) * width + unit
    item = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return Ratings(measure, answered.value, judge, topic, system, item, judges, topics, systems)


def _by_name(judgments: Judgments) -> list[Codes]:
    """Keys for sorting, the last one first."""
    return [part.ranks() for part in (judgments.judge, judgments.unit, judgments.system, judgments.topic)]


def _packed(code: Codes, names: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    """Codes without gaps, and the names that occur."""
    present, packed = np.unique(code, return_inverse=True)
    ordered = sorted(names)
    return packed.astype(np.int64), tuple(ordered[i] for i in present.tolist())


def _of_table(
    table: ScoreTable, measure: str | None, systems: Collection[str] | None, topics_wanted: Collection[str] | None
) -> Ratings:
    known = measures_of(table)
    chosen = choose_measures(known, [measure or known[0].name])[0]
    data = grid([chosen], systems=systems, topics=topics_wanted)
    cells = data.cells[chosen.name]
    if not cells.size:
        raise UsageError(f"{chosen.name} has only system means; a test needs scores by topic")
    at_topic, at_system = np.nonzero(~np.isnan(cells))
    (topic, topics), (system, systems_held) = _packed(at_topic, data.topics), _packed(at_system, data.systems)
    item = np.arange(len(topic))
    nobody = np.zeros(len(topic), dtype=np.int64)
    value = cells[at_topic, at_system]
    return Ratings(chosen.name, value, nobody, topic, system, item, (), topics, systems_held, data.notes)


# ----------------------------------------------------------------------
# How much of the variance of scores do judges, topics and systems explain? Gillick and Liu 2010, Table 4.
#
# R squared of score ~ judge, ~ topic and ~ system, each in a model of its own. They removed redundant answers, so
# that every item had one. Which one is removed changes the figures, so we draw it at random many times and give the
# mean with the middle of the draws: keeping the first answer of each item would let the order of a file decide.

FACTORS = ("judge", "topic", "system")


@dataclass(frozen=True, slots=True)
class Explained:
    """R squared of score ~ one factor, over all answers and with one answer per item: the mean over the removals and
    their middle 95%. None if the values do not vary."""

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
    """Rows with one answer per item, drawn again for each removal; ``item`` is sorted."""
    start = np.flatnonzero(np.diff(item, prepend=-1))
    size = np.diff(np.append(start, len(item)))
    for _ in range(removals):
        yield start + rng.integers(0, size)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
