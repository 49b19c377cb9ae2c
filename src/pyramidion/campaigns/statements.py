"""From what workers wrote to units, and back: which units rest on an answer that was removed since.

Which statements are fit to be judged, and which of them are drawn, is in `pyramids.statements`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.errors import Problem
from pyramidion.pyramids.statements import Dropped, pool_units
from pyramidion.study import ContentUnit, Contributor, Pyramid, Settings, Study

CROWD = "crowd"
"""The name of pyramids made of what workers wrote."""
UnitKey = tuple[str, str]
"""The topic and the id of a unit."""


@dataclass(frozen=True)
class CrowdUnits:
    """The units made from a writing campaign."""

    pyramids: tuple[Pyramid, ...]
    notes: tuple[Problem, ...]
    dropped: tuple[tuple[str, Dropped], ...] = ()
    """Statements that are not units, with their topic."""

    @property
    def kept(self) -> int:
        return sum(len(pyramid.units) for pyramid in self.pyramids)


@dataclass(frozen=True)
class UnitEdits:
    """What a manager changes about written statements, by topic and id: other words, kept although the filter drops it,
    dropped although it does not."""

    labels: Mapping[UnitKey, str] = field(default_factory=dict)
    keep: frozenset[UnitKey] = frozenset()
    drop: frozenset[UnitKey] = frozenset()

    def applied(self, topic: str, unit: ContentUnit) -> ContentUnit:
        """With the words that were written as a comment: they tell which answer a unit came from."""
        label = self.labels.get((topic, unit.id), "").strip()
        return replace(unit, label=label, comment=unit.label) if label and label != unit.label else unit

    def count(self) -> dict[str, int]:
        return {"edited": len(self.labels), "restored": len(self.keep), "dropped": len(self.drop)}


AS_WRITTEN = UnitEdits()


def make_units(
    study: Study,
    answers: Iterable[StoredAnswer],
    settings: Settings,
    rng: np.random.Generator,
    edits: UnitEdits = AS_WRITTEN,
) -> CrowdUnits:
    """One crowd pyramid per topic from written statements; every statement left out is in the notes."""
    notes: list[Problem] = []
    dropped: list[tuple[str, Dropped]] = []
    written: dict[str, list[ContentUnit]] = {}
    for answer in sorted(answers, key=lambda a: (a.task.topic, a.task.references, a.worker)):
        of_topic = written.setdefault(answer.task.topic, [])
        for text in answer.statements:
            contributor = Contributor(answer.task.references[0])
            of_topic.append(ContentUnit(f"s{len(of_topic) + 1:03}", text, (contributor,), author=answer.worker))
    pyramids = []
    for topic, units in written.items():
        made = pool_units(
            topic,
            tuple(sorted(r.system for r in study.references if r.topic == topic)),
            [edits.applied(topic, unit) for unit in units],
            name=CROWD,
            units_per_topic=settings.units_per_topic,
            units_per_task=settings.units_per_task,
            rng=rng,
            keep={unit for of, unit in edits.keep if of == topic},
            drop={unit for of, unit in edits.drop if of == topic},
        )
        notes += made.notes
        dropped += [(topic, one) for one in made.dropped]
        pyramids.append(made.pyramid)
    return CrowdUnits(tuple(pyramids), tuple(notes), tuple(dropped))


# -- units of removed answers --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnitsInUse:
    """Units from a removed answer that tasks ask about or judgments are about: they have to stay."""

    answer: StoredAnswer
    units: frozenset[str]
    judgments: int

    def note(self) -> Problem:
        what = (
            f"{len(self.units)} of its units are in pyramid {CROWD} and tasks ask about them; they stay, and "
            f"{self.judgments} judgments rest on them"
        )
        where = f"topic {self.answer.task.topic}, {self.answer.removed or 'removed'} answer {self.answer.id}"
        return Problem(where, what, "warning")


def units_of(study: Study, answer: StoredAnswer) -> frozenset[str]:
    """The units of the crowd's pyramid that came from an answer: by author, reference and the words it was written in,
    which are its comment where somebody has edited it."""
    pyramid = study.pyramid(answer.task.topic, CROWD)
    written, reference = set(answer.statements), set(answer.task.references[:1])
    units = pyramid.units if pyramid else ()
    return frozenset(
        unit.id
        for unit in units
        if unit.author == answer.worker and {unit.label, unit.comment} & written and unit.references <= reference
    )


def units_in_use(study: Study, removed: Iterable[StoredAnswer], asked: Collection[UnitKey]) -> Iterator[UnitsInUse]:
    """For each answer whose units are asked about or judged, which and how often. ``study`` holds the judgments."""
    answers = list(removed)
    judgments: dict[UnitKey, int] = {}
    for judgment in study.judgments if answers else ():
        key = (judgment.topic, judgment.unit)
        judgments[key] = judgments.get(key, 0) + 1
    for answer in answers:
        topic = answer.task.topic
        used = {unit for unit in units_of(study, answer) if (topic, unit) in asked or (topic, unit) in judgments}
        if used:
            count = sum(judgments.get((topic, unit), 0) for unit in used)
            yield UnitsInUse(answer, frozenset(used), count)


def without_units_of(study: Study, removed: Sequence[StoredAnswer], asked: Collection[UnitKey]) -> Study:
    """The study without the units that only removed answers gave, except those that are in use."""
    used = {(use.answer.task.topic, unit) for use in units_in_use(study, removed, asked) for unit in use.units}
    gone = {(a.task.topic, unit) for a in removed for unit in units_of(study, a)} - used
    if not gone:
        return study
    return replace(study, pyramids=tuple(_without(pyramid, gone) for pyramid in study.pyramids))


def _without(pyramid: Pyramid, gone: Collection[UnitKey]) -> Pyramid:
    if pyramid.name != CROWD:
        return pyramid
    return replace(pyramid, units=tuple(unit for unit in pyramid.units if (pyramid.topic, unit.id) not in gone))
