"""What people were asked and how it was chosen: from a study to the arrays that `stats.combining` reads.

An item is one question about one summary: whether a unit is present, or a rating. A row is a question about a topic, a
column a system. Rows that were drawn together are a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import Problem, UsageError
from pyramidion.scoring.aggregate import mean, questions
from pyramidion.scoring.choice import PEOPLE, choose, judge_ids, own_references
from pyramidion.scoring.lite import VoteChoices, at_most_once, take_vote
from pyramidion.stats.combining import AskedParts, Codes, Floats
from pyramidion.study import Aspect, Judgments, Study
from pyramidion.study.judgments import group

Flags = NDArray[np.bool_]
Row = tuple[str, str]
"""A topic and a unit; the unit of a rating is the aspect."""
HowChosen = Literal["drawn", "given", "everything", "assumed"]
ALL_BUT_SOME = 0.95
"""Where people answered at least so much, everything was asked, and the rest is missing."""
STRATA = 4
"""Probabilities that all differ are put into so many strata."""


@dataclass(frozen=True)
class Items:
    """Everything that could be asked. ``people`` and ``model`` are rows x systems: NaN where nobody answered, or where
    a system has no summary. ``noise`` is the variance of an answer over people, 0 if it is taken as it is."""

    rows: tuple[Row, ...]
    systems: tuple[str, ...]
    people: Floats
    model: Floats
    noise: Floats
    low: float = 0.0
    high: float = 1.0
    pyramid: str = ""
    judges: str = ""
    notes: tuple[Problem, ...] = ()

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted({topic for topic, _ in self.rows}))

    @property
    def exist(self) -> Flags:
        return ~np.isnan(self.model)


# -- what could be asked -------------------------------------------------------------------------------------


def items_of_units(
    study: Study, *, people: str = PEOPLE, model: str, pyramid: str | None = None, aggregate: str = "majority"
) -> Items:
    """Presence of units: what the people's vote says, or the mean of their answers with aggregate="mean"."""
    who = None if people == PEOPLE else people
    choice = choose(study, kind="crowd", pyramid=pyramid, judges=who)
    if choice.judges == "all" or choice.kind == "model":
        raise UsageError("no person has judged a unit of this study; --people says whose judgments to use")
    vote = take_vote(study, choice, VoteChoices(aggregate=aggregate))
    units = {topic: held.sampled or held.units for topic, held in choice.pyramids.items()}
    rows = tuple(sorted((topic, unit.id) for topic, held in units.items() for unit in held))
    human = own_references(study)
    systems, notes = _without_human_peers(study, human, vote.present.system.present_names())
    said = at_most_once(_by_model(study, model))
    grid = _Grid(rows, systems)
    answers = grid.fill(vote.present)
    judged = grid.fill(said)
    noise = grid.fill_noise(at_most_once(vote.cast), judged) if aggregate == "mean" else np.zeros_like(answers)
    exist = grid.exist(study, answers, judged)
    filled, gaps = _filled(judged, exist, model, rows, systems)
    held = Items(rows, systems, answers, filled, noise, 0.0, 1.0, choice.pyramid)
    return _dropped_rows(held, choice.judges, (*choice.notes, *notes, *gaps))


def items_of_ratings(study: Study, aspect: str, *, people: str = PEOPLE, model: str) -> Items:
    """Ratings on an aspect: the mean of the people's, on a scale from 0 to 1."""
    scale = next((known for known in study.aspects if known.id == aspect), None)
    if scale is None:
        known = ", ".join(known.id for known in study.aspects) or "none"
        raise UsageError(f"the study has no aspect {aspect!r}; it has: {known}")
    ratings = study.judgments.take(study.judgments.aspect.is_in({aspect}) & study.judgments.other.is_in({""}))
    given = ratings.take(ratings.judge.is_in(judge_ids(study, people) - study.judges_of("model")))
    if not len(given):
        raise UsageError(f"no person has rated {aspect}; --people says whose ratings to use")
    said = ratings.take(ratings.judge.is_in(_model_id(study, model)))
    rows = tuple(
        (topic, aspect) for topic in sorted(set(given.topic.present_names()) | set(said.topic.present_names()))
    )
    systems = tuple(sorted(set(given.system.present_names()) | set(said.system.present_names())))
    grid = _Grid(rows, systems)
    answers = _on_scale(grid.fill(mean(given)), scale)
    judged = _on_scale(grid.fill(said), scale)
    width = scale.high - scale.low
    noise = grid.fill_noise(given, scale.low + width * judged) / width**2
    exist = grid.exist(study, answers, judged)
    filled, gaps = _filled(judged, exist, model, rows, systems)
    held = Items(rows, systems, answers, filled, noise, scale.low, scale.high)
    return _dropped_rows(held, people, gaps)


def _on_scale(values: Floats, scale: Aspect) -> Floats:
    return (values - scale.low) / (scale.high - scale.low)


def _model_id(study: Study, model: str) -> frozenset[str]:
    models = study.judges_of("model")
    if model in models:
        return frozenset({model})
    known = f"; its models are: {', '.join(sorted(models))}" if models else ""
    what = "" if known else f"; judge it first: pyramidion judge STUDY --judge {model} --save FILE"
    raise UsageError(f"the study has no judgments of a model called {model!r}{known or what}")


def _by_model(study: Study, model: str) -> Judgments:
    return study.judgments.take(study.judgments.judge.is_in(_model_id(study, model)))


def _without_human_peers(
    study: Study, human: Mapping[tuple[str, str], str], judged: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    people = sorted({system for _, system in human})
    systems = tuple(sorted((set(study.systems) | set(judged)) - set(people)))
    if not people:
        return systems, ()
    what = f"are references themselves, so other units count for them; they are left out: {', '.join(people)}"
    return systems, (Problem("human peers", what, "warning"),)


def _filled(
    judged: Floats, exist: Flags, model: str, rows: Sequence[Row], systems: Sequence[str]
) -> tuple[Floats, tuple[Problem, ...]]:
    """The model's judgments, where it has none the mean of those on the same unit, or of all: whatever stands in for a
    judgment, the estimate is right on average."""
    missing = np.argwhere(np.isnan(judged) & exist)
    if not len(missing):
        return np.where(exist, judged, np.nan), ()
    (topic, unit), system, total = rows[missing[0][0]], systems[missing[0][1]], int(exist.sum())
    what = f"has not judged {len(missing):,} of {total:,} questions, such as {unit} of {system} on {topic}"
    if 2 * len(missing) > total:
        raise UsageError(f"{model} {what}; let it judge everything: pyramidion judge STUDY --judge {model} --save FILE")
    held = ~np.isnan(judged)
    number = held.sum(axis=1)
    usual = np.where(number > 0, np.where(held, judged, 0.0).sum(axis=1) / np.maximum(number, 1), judged[held].mean())
    note = Problem(f"judge {model}", f"{what}; its mean for the unit stands in", "warning")
    return np.where(exist, np.where(held, judged, usual[:, None]), np.nan), (note,)


def _dropped_rows(items: Items, judges: str, notes: tuple[Problem, ...]) -> Items:
    kept: Flags = np.asarray(items.exist.any(axis=1))
    if not kept.any():
        raise UsageError("the study has no summaries to ask about")
    rows = tuple(row for row, keep in zip(items.rows, kept.tolist(), strict=True) if keep)
    parts = (items.people[kept], items.model[kept], items.noise[kept])
    return Items(rows, items.systems, *parts, items.low, items.high, items.pyramid, judges, notes)


class _Grid:
    """Puts judgments into rows x systems."""

    def __init__(self, rows: Sequence[Row], systems: Sequence[str]) -> None:
        self._row = {row: place for place, row in enumerate(rows)}
        self._system = {system: place for place, system in enumerate(systems)}
        self.shape = (len(rows), len(systems))

    def places(self, judgments: Judgments) -> tuple[Codes, Codes]:
        """The row and the column of each judgment; -1 where it has none."""
        asked = group(judgments.topic.ranks(), judgments.unit.ranks(), judgments.aspect.ranks())
        topics, units, aspects = judgments.topic, judgments.unit, judgments.aspect
        keys = ((topics[first], units[first] or aspects[first]) for first in asked.first.tolist())
        rows = np.array([self._row.get(key, -1) for key in keys], dtype=np.int64)
        system = np.array([self._system.get(name, -1) for name in judgments.system.names], dtype=np.int64)
        held = len(judgments) > 0
        return (rows[asked.of_row], system[judgments.system.codes]) if held else (rows[:0], system[:0])

    def fill(self, judgments: Judgments) -> Floats:
        rows, systems = self.places(judgments)
        held = (rows >= 0) & (systems >= 0)
        found = np.full(self.shape, np.nan)
        found[rows[held], systems[held]] = judgments.value[held]
        return found

    def fill_noise(self, answers: Judgments, judged: Floats) -> Floats:
        """How much the mean answer to a question would vary with other people: the variance of its answers over their
        number. A question with one answer gets the mean variance of the others; where all have one answer, that may
        be all that people say beyond the model, so all of it is taken to be."""
        asked = questions(answers)
        value = np.nan_to_num(answers.value)
        given = ~np.isnan(answers.value)
        number = np.bincount(asked.of_row, weights=given, minlength=len(asked))
        total = np.bincount(asked.of_row, weights=value, minlength=len(asked))
        square = np.bincount(asked.of_row, weights=value**2, minlength=len(asked))
        several = number > 1
        spread = np.zeros(len(asked))
        spread[several] = (square[several] - total[several] ** 2 / number[several]) / (number[several] - 1)
        rows, systems = self.places(answers.take(asked.first))
        held = (rows >= 0) & (systems >= 0)
        found = np.zeros(self.shape)
        if not several.any():
            found[rows[held], systems[held]] = (value[asked.first[held]] - judged[rows[held], systems[held]]) ** 2
            return np.nan_to_num(found)
        each = np.where(several, spread, float(spread[several].mean())) / np.maximum(number, 1)
        found[rows[held], systems[held]] = np.maximum(each[held], 0.0)
        return found

    def exist(self, study: Study, answers: Floats, judged: Floats) -> Flags:
        """Which questions can be asked: where there is a summary, or in a study without texts, a judgment."""
        if not study.peers:
            return ~np.isnan(answers) | ~np.isnan(judged)
        by_topic: dict[str, list[int]] = {}
        for peer in study.peers:
            if peer.system in self._system:
                by_topic.setdefault(peer.topic, []).append(self._system[peer.system])
        found = np.zeros(self.shape, dtype=bool)
        for (topic, _), row in self._row.items():
            found[row, by_topic.get(topic, [])] = True
        return found


# -- how it was chosen ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """How rows were put into parts and parts into strata; ``part`` is -1 for rows that were not drawn. ``weight``
    corrects parts whose probability differs from that of their stratum. ``asked`` is rows x systems."""

    design: HowChosen
    part: Codes
    stratum: Codes
    places: Codes
    asked: Flags
    weight: Floats
    notes: tuple[Problem, ...] = ()


def choose_design(
    study: Study, items: Items, *, chances: Mapping[Row, float] | None = None, assume_random: bool = False
) -> Chosen:
    """How it was chosen what people were asked: as its tasks say, as is given, everything, or assumed to be random."""
    answered = ~np.isnan(items.people)
    if chances is not None:
        return _given(items, chances, answered)
    if any(task.stratum for task in study.tasks):
        return _drawn(study, items, answered)
    share = answered.sum() / items.exist.sum()
    if share >= ALL_BUT_SOME:
        return _single_rows("everything", items, items.exist)
    if not assume_random:
        raise UsageError(
            f"people answered {answered.sum():,} of {items.exist.sum():,} questions, and the study does not say how "
            "these were chosen, so nothing follows for the others. Plan with `campaign plan --with-model`, give the "
            "probabilities with --chances, or say with --assume-random that they were drawn at random"
        )
    what = "is not recorded; the answer assumes that it was drawn at random"
    return _assumed(items, answered, (Problem("what was asked", what, "warning"),))


def _single_rows(design: HowChosen, items: Items, asked: Flags, notes: tuple[Problem, ...] = ()) -> Chosen:
    number = len(items.rows)
    drawn = asked.any(axis=1)
    part = np.where(drawn, np.cumsum(drawn) - 1, -1)
    total = int(drawn.sum())
    zeros, places = np.zeros(total, dtype=np.int64), np.array([number])
    return Chosen(design, part, zeros, places, asked, np.ones(total), notes)


def _assumed(items: Items, answered: Flags, notes: tuple[Problem, ...]) -> Chosen:
    """Whole topics where each topic was asked about completely or not at all, otherwise single rows."""
    topics = np.unique([topic for topic, _ in items.rows], return_inverse=True)[1]
    drawn = answered.any(axis=1)
    rows, held = np.bincount(topics), np.bincount(topics, weights=drawn)
    if not ((held == 0) | (held == rows)).all() or len(rows) == len(items.rows):
        return _single_rows("assumed", items, answered, notes)
    whole = np.cumsum(held > 0) - 1
    total = int((held > 0).sum())
    part = np.where(drawn, whole[topics], -1)
    return Chosen("assumed", part, np.zeros(total, np.int64), np.array([len(rows)]), answered, np.ones(total), notes)


def _drawn(study: Study, items: Items, answered: Flags) -> Chosen:
    """As the tasks say: the parts of each stratum that a system was asked about."""
    row_of = {row: place for place, row in enumerate(items.rows)}
    column_of = {system: place for place, system in enumerate(items.systems)}
    tasks = [task for task in study.tasks if task.stratum]
    parts = sorted({(task.stratum, task.place) for task in tasks})
    number = {key: place for place, key in enumerate(parts)}
    strata = sorted({stratum for stratum, _ in parts})
    places = {task.stratum: task.places for task in tasks}
    part = np.full(len(items.rows), -1, dtype=np.int64)
    asked = np.zeros(items.people.shape, dtype=bool)
    for task in tasks:
        if places[task.stratum] != task.places:
            raise UsageError(
                f"task {task.id}: stratum {task.stratum} has {task.places} places, or {places[task.stratum]}"
            )
        for unit in task.units or (items.rows[0][1],):
            row = row_of.get((task.topic, unit))
            if row is None or task.system not in column_of:
                continue
            mine = number[task.stratum, task.place]
            if part[row] not in {-1, mine}:
                what = f"unit {unit} of topic {task.topic} was drawn twice, so it has two probabilities of being asked"
                raise UsageError(f"task {task.id}: {what}; combine one campaign at a time")
            part[row], asked[row, column_of[task.system]] = mine, True
    kept = np.unique(part[part >= 0])
    place_of = np.full(len(parts), -1, dtype=np.int64)
    place_of[kept] = np.arange(len(kept))
    part = np.where(part >= 0, place_of[part], -1)
    stratum = np.array([strata.index(parts[k][0]) for k in kept.tolist()], dtype=np.int64)
    sizes = np.array([places[name] for name in strata], dtype=np.int64)
    notes = []
    if further := int((answered & ~asked).sum()):
        what = f"{further:,} questions were answered that the design had not drawn; they are left out"
        notes.append(Problem("what was asked", what, "warning"))
    return Chosen("drawn", part, stratum, sizes, asked, np.ones(len(kept)), tuple(notes))


def _given(items: Items, chances: Mapping[Row, float], answered: Flags) -> Chosen:
    """Rows with the given probabilities. Those of one probability are a stratum; where there are many probabilities,
    neighbours share one, and each row keeps its own weight."""
    probability = np.array([chances.get(row, np.nan) for row in items.rows])
    drawn = answered.any(axis=1)
    if (missing := drawn & np.isnan(probability)).any():
        topic, unit = items.rows[int(np.argmax(missing))]
        raise UsageError(f"{missing.sum():,} rows that people answered have no probability, such as {unit} of {topic}")
    held = np.flatnonzero(drawn)
    mine = probability[held]
    values, code = np.unique(mine, return_inverse=True)
    if len(values) > STRATA:
        order = np.argsort(mine, kind="stable")
        code = np.empty(len(mine), dtype=np.int64)
        code[order] = np.arange(len(mine)) * STRATA // len(mine)
    taken = np.bincount(code)
    size = np.maximum(np.bincount(code, weights=1 / mine), taken)
    part = np.full(len(items.rows), -1, dtype=np.int64)
    part[held] = np.arange(len(held))
    weight = (taken / size)[code] / mine
    places = np.maximum(np.rint(size), taken).astype(np.int64)
    return Chosen("given", part, code.astype(np.int64), places, answered, weight)


# -- both together -------------------------------------------------------------------------------------------


def asked_parts(items: Items, chosen: Chosen, people: Floats | None = None) -> AskedParts:
    """The arrays of the estimate. ``people`` may replace the answers, to see what missing ones could change."""
    answers = np.where(chosen.asked, items.people if people is None else people, np.nan)
    topics, topic = np.unique([topic for topic, _ in items.rows], return_inverse=True)
    parts = len(chosen.stratum)
    drawn = chosen.part >= 0
    exist = items.exist
    in_topic = np.zeros((len(topics), len(items.systems)))
    np.add.at(in_topic, topic, exist)
    sums = np.zeros_like(in_topic)
    np.add.at(sums, topic, np.where(exist, items.model, 0.0))
    with np.errstate(invalid="ignore"):
        means = sums / np.where(in_topic > 0, in_topic, np.nan)
    given = ~np.isnan(answers)

    def by_part(values: Floats) -> Floats:
        total = np.zeros((parts, len(items.systems)))
        np.add.at(total, chosen.part[drawn], values[drawn])
        return total

    number = by_part(given.astype(np.float64))
    with np.errstate(invalid="ignore"):
        says = by_part(np.where(given, answers, 0.0)) / np.where(number > 0, number, np.nan)
    whole = by_part(exist.astype(np.float64))
    judged_given = by_part(np.where(given, items.model, 0.0)) / np.maximum(number, 1)
    judged = by_part(np.where(exist, items.model, 0.0)) / np.maximum(whole, 1)
    noise = by_part(np.where(given, items.noise, 0.0)) / np.maximum(number, 1) ** 2
    first = np.full(parts, -1, dtype=np.int64)
    first[chosen.part[drawn][::-1]] = topic[drawn][::-1]
    size = np.bincount(chosen.part[drawn], minlength=parts) / np.bincount(topic)[first]
    model = np.where(number > 0, judged_given, judged)
    share = size * chosen.weight
    return AskedParts(first, chosen.stratum, share, says, model, chosen.places, means, noise if noise.any() else None)
