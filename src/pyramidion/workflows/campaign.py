"""A campaign from start to scores, over a study database: import, start, collect, make units, watch, export.

write -> filter -> sample -> judge -> screen -> aggregate -> score. Everything left out on the way - a statement, a
worker, a cell - is listed with its reason.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.formats.judgment_tables import write_judgments
from pyramidion.methods.sampling import sample_units, split_into_groups
from pyramidion.methods.statements import filter_statements
from pyramidion.model import (
    Aspect,
    Assignment,
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Settings,
    Study,
)
from pyramidion.store import Assignments, Campaigns, Database, Reviews, StoredAnswer, Studies, Workers
from pyramidion.workflows.planning import ATTENTION, Plan
from pyramidion.workflows.pseudonyms import with_pseudonyms

PREFERENCE = "preference"
"""The aspect of head-to-head judgments: 1 prefers ``system``, 0 ``other``, 0.5 neither."""
CROWD = "crowd"
"""The name of pyramids made of what workers wrote."""


@dataclass(frozen=True)
class UnitsMade:
    """What became of the statements of a writing campaign."""

    pyramids: tuple[Pyramid, ...]
    notes: tuple[Problem, ...]

    @property
    def kept(self) -> int:
        return sum(len(pyramid.units) for pyramid in self.pyramids)


class Desk:
    """Everything that can be done with an open study database, for the command line and the pages alike."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.studies = Studies(database)
        self.campaigns = Campaigns(database)
        self.reviews = Reviews(database)
        self.workers = Workers(database)
        self.assignments = Assignments(database)

    @classmethod
    def open(cls, place: str | Path) -> Desk:
        return cls(Database.open(place))

    def import_study(self, study: Study) -> int:
        """Add a study to what is there; both together must be sound. Returns how many records were added.

        Crowd workers get pseudonyms; see pyramidion.workflows.pseudonyms.
        """
        held = self.studies.load()
        renamed = with_pseudonyms(study, lambda id: self.workers.pseudonym("imported", id))
        new = without_known(renamed, held)
        problems = [p for p in joined(held, new).problems() if p.severity == "error"]
        if problems:
            raise InputError(problems)
        return self.studies.add(new)

    def start(self, plan: Plan) -> None:
        """Put a planned campaign into the database; from then on it gives out tasks."""
        if plan.aspects:
            self.studies.add(Study(aspects=plan.aspects))
        self.campaigns.add(plan.campaign, plan.tasks, plan.gold)

    def make_units(self, campaign: str, *, seed: int = 0) -> UnitsMade:
        """Turn what workers wrote into a crowd pyramid per topic: filter, sample, group. Nothing is stored."""
        found = self.campaigns.get(campaign)
        if found.kind != "write":
            raise UsageError(f"campaign {campaign} is of kind {found.kind}; units come from writing")
        written = self._counted(campaign)
        if not written:
            raise UsageError(f"nobody has written anything for campaign {campaign} yet")
        kept, left_out = self._without_excluded(written)
        made = units_from(self.studies.load(), kept, found.settings, np.random.default_rng(seed))
        return replace(made, notes=(*left_out, *made.notes))

    def store_units(self, made: UnitsMade) -> None:
        held = self.studies.load()
        for pyramid in made.pyramids:
            if held.pyramid(pyramid.topic, pyramid.name):
                raise UsageError(f"topic {pyramid.topic} has a {pyramid.name} pyramid already")
        self.studies.add(Study(pyramids=made.pyramids))

    def study(self, *, keep_excluded: bool = False) -> Study:
        """The study with everything the campaigns have collected, as every method and format reads it.

        Answers of excluded workers are left out, and its notes say so.
        """
        answers = [answer for answer in self.campaigns.answers() if answer.counted]
        kept, left_out = (answers, ()) if keep_excluded else self._without_excluded(answers)
        return replace(with_answers(self.studies.load(), kept), notes=left_out)

    def study_of(self, campaign: str) -> Study:
        """The study with the answers to one campaign, whoever gave them."""
        return with_answers(self.studies.load(), self._counted(campaign))

    def answers_table(self, campaign: str) -> str:
        """The answers to one campaign as CSV, which can be read again as a table of judgments."""
        file = io.StringIO()
        write_judgments(with_answers(Study(), self._counted(campaign)), file, campaign=campaign)
        return file.getvalue()

    def _counted(self, campaign: str) -> list[StoredAnswer]:
        self.campaigns.get(campaign)  # or UnknownError
        return [answer for answer in self.campaigns.answers(campaign) if answer.counted]

    def _without_excluded(self, answers: list[StoredAnswer]) -> tuple[list[StoredAnswer], tuple[Problem, ...]]:
        """The answers that managers want to count, and a note for each worker whose answers are not among them."""
        excluded = self.reviews.excluded()
        kept = [answer for answer in answers if answer.worker not in excluded]
        out = sorted({answer.worker for answer in answers} & set(excluded))
        return kept, tuple(Problem(f"worker {worker}", f"left out: {excluded[worker]}", "warning") for worker in out)


def without_known(study: Study, held: Study) -> Study:
    """Leave out what is there already in the same words, so that importing twice changes nothing."""
    parts: dict[str, Any] = {}
    for name in ("topics", "summaries", "pyramids", "judges", "aspects", "tasks", "assignments"):
        known = set(getattr(held, name))
        parts[name] = tuple(item for item in getattr(study, name) if item not in known)
    seen = set(held.judgments)
    parts["judgments"] = Judgments(j for j in study.judgments if j not in seen)
    return Study(**parts)


def joined(first: Study, second: Study) -> Study:
    """Two studies as one; whether they fit together is for ``problems()`` to say."""
    return Study(
        topics=first.topics + second.topics,
        summaries=first.summaries + second.summaries,
        pyramids=first.pyramids + second.pyramids,
        judges=first.judges + second.judges,
        judgments=first.judgments + second.judgments,
        aspects=first.aspects + second.aspects,
        tasks=first.tasks + second.tasks,
        assignments=first.assignments + second.assignments,
        title=first.title or second.title,
    )


# -- from answers to judgments and units ---------------------------------------------------------------------


def with_answers(study: Study, answers: Iterable[StoredAnswer]) -> Study:
    """A study with the answers of its campaigns as tasks, assignments, judges and judgments."""
    given = list(answers)
    known = {judge.id for judge in study.judges}
    workers = sorted({answer.worker for answer in given} - known)
    tasks = {answer.task.id: answer.task for answer in given}
    return replace(
        study,
        judges=study.judges + tuple(Judge(worker, "crowd") for worker in workers),
        tasks=study.tasks + tuple(tasks.values()),
        assignments=study.assignments + tuple(map(_assignment, given)),
        judgments=study.judgments + [judgment for answer in given for judgment in judgments_of(answer)],
        aspects=study.aspects + _needed_aspects(study, given),
    )


def _needed_aspects(study: Study, answers: list[StoredAnswer]) -> tuple[Aspect, ...]:
    known = {aspect.id for aspect in study.aspects}
    compared = any(answer.task.kind == "compare" for answer in answers)
    return (Aspect(PREFERENCE, 0, 1, "Preference"),) if compared and PREFERENCE not in known else ()


def _assignment(answer: StoredAnswer) -> Assignment:
    return Assignment(
        task=answer.task.id,
        judge=answer.worker,
        id=str(answer.id),
        accepted=_when(answer.leased),
        submitted=_when(answer.submitted),
        seconds=None if answer.seconds is None else round(answer.seconds, 3),
    )


def _when(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def judgments_of(answer: StoredAnswer) -> Iterator[Judgment]:
    task, given = answer.task, answer.answer or {}
    about = Judgment(task.topic, task.system, answer.worker, None, task=task.id)
    for unit, value in given.get("units", {}).items():
        if unit != ATTENTION:
            yield replace(about, unit=unit, value=value)
    for aspect, value in given.get("aspects", {}).items():
        yield replace(about, aspect=aspect, value=value)
    if "winner" in given:
        value = {"first": 1.0, "second": 0.0, "tie": 0.5}[given["winner"]]
        yield replace(about, other=task.other, aspect=PREFERENCE, value=value)


def units_from(
    study: Study,
    answers: Iterable[StoredAnswer],
    settings: Settings,
    rng: np.random.Generator,
) -> UnitsMade:
    """One crowd pyramid per topic from written statements; every statement left out is in the notes."""
    notes: list[Problem] = []
    written: dict[str, list[ContentUnit]] = {}
    for answer in sorted(answers, key=lambda a: (a.task.topic, a.task.references, a.worker)):
        of_topic = written.setdefault(answer.task.topic, [])
        for text in (answer.answer or {}).get("statements", []):
            contributor = Contributor(answer.task.references[0])
            of_topic.append(ContentUnit(f"s{len(of_topic) + 1:03}", text, (contributor,), author=answer.worker))
    pyramids = []
    for topic, units in written.items():
        filtered = filter_statements(units)
        notes += [
            Problem(f"topic {topic}, statement {d.unit.id}", f"dropped: {d.reason}", "warning")
            for d in filtered.dropped
        ]
        references = tuple(sorted(r.system for r in study.references if r.topic == topic))
        sample = sample_units(filtered.kept, size=settings.units_per_topic, rng=rng, references=references)
        notes += [replace(p, where=f"topic {topic}, {p.where}") for p in sample.shortfalls]
        groups = {u.id: u.group for u in split_into_groups(sample.units, group_size=settings.units_per_task, rng=rng)}
        kept = tuple(replace(unit, group=groups.get(unit.id, "")) for unit in filtered.kept)
        pyramids.append(Pyramid(topic, references, kept, CROWD))
    return UnitsMade(tuple(pyramids), tuple(notes))
