"""What people could be asked, what they said, and what a model says: a study as items.

An item is one question about one summary: whether a unit is present, or a rating. A row is a question about a topic, a
column a system. Rows that were drawn together are a part.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import count, listed
from pyramidion.analysis.inputs import restricted
from pyramidion.errors import Problem, UsageError
from pyramidion.scoring.aggregate import mean, questions
from pyramidion.scoring.choice import PEOPLE, choose, judge_ids, own_references
from pyramidion.scoring.lite import VoteChoices, at_most_once, take_vote
from pyramidion.stats.combining import Codes, Floats
from pyramidion.study import Aspect, Judgments, Study
from pyramidion.study.judgments import group
from pyramidion.study.tasks import TaskKind

Flags = NDArray[np.bool_]
Row = tuple[str, str]
"""A topic and a unit; the unit of a rating is the aspect."""


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

    @property
    def kind(self) -> TaskKind:
        """The kind of tasks in which such items are asked."""
        return "judge" if self.pyramid else "rate"

    def only(self, rows: Flags, systems: Flags) -> Items:
        return replace(
            self,
            rows=tuple(row for row, keep in zip(self.rows, rows.tolist(), strict=True) if keep),
            systems=tuple(system for system, keep in zip(self.systems, systems.tolist(), strict=True) if keep),
            people=self.people[rows][:, systems],
            model=self.model[rows][:, systems],
            noise=self.noise[rows][:, systems],
        )

    def of_topics(self, wanted: Collection[str] | None) -> Items:
        """The items of some topics, given by name or pattern; of all, by default."""
        if wanted is None:
            return self
        kept = set(restricted("topic", self.topics, wanted))
        return self.only(np.array([topic in kept for topic, _ in self.rows]), np.ones(len(self.systems), dtype=bool))


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
    units = {topic: held.sampled for topic, held in choice.pyramids.items()}
    rows = tuple(sorted((topic, unit.id) for topic, held in units.items() for unit in held))
    human = own_references(study)
    systems, notes = _without_human_peers(study, human, vote.present.system.present_names())
    said = at_most_once(_by_model(study, model))
    grid = _Grid(rows, systems)
    answers = grid.fill(vote.present)
    judged = grid.fill(said)
    exist = grid.exist(study, answers, judged)
    filled, gaps = _filled(judged, exist, model, rows, systems)
    noise = grid.fill_noise(at_most_once(vote.cast), filled) if aggregate == "mean" else np.zeros_like(answers)
    held = Items(rows, systems, answers, filled, noise, 0.0, 1.0, choice.pyramid)
    return _with_judges(held, choice.judges, (*choice.notes, *notes, *gaps))


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
    exist = grid.exist(study, answers, judged)
    filled, gaps = _filled(judged, exist, model, rows, systems)
    width = scale.high - scale.low
    noise = grid.fill_noise(given, scale.low + width * filled) / width**2
    held = Items(rows, systems, answers, filled, noise, scale.low, scale.high)
    return _with_judges(held, people, gaps)


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


def _with_judges(items: Items, judges: str, notes: tuple[Problem, ...]) -> Items:
    """Without rows and systems that there is nothing to ask about."""
    if not items.exist.any():
        raise UsageError("the study has no summaries to ask about")
    rows, held = (np.asarray(items.exist.any(axis=axis), dtype=bool) for axis in (1, 0))
    if bare := [system for system, some in zip(items.systems, held.tolist(), strict=True) if not some]:
        what = f"have no summary of a topic with units, and are left out: {listed(bare)}"
        notes = (*notes, Problem(count(len(bare), "system"), what, "warning"))
    return replace(items, judges=judges, notes=notes).only(rows, held)


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
