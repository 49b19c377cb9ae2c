"""A campaign from start to scores, over a study database: import, start, collect, make units, watch, export.

write -> filter -> sample -> judge -> screen -> aggregate -> score. Everything left out - a statement, a worker, a cell
- is listed with its reason.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.decisions import AnswerDecisions
from pyramidion.campaigns.payments import Payments
from pyramidion.campaigns.plan import Plan
from pyramidion.campaigns.rounds import Rounds
from pyramidion.campaigns.sampling import Part
from pyramidion.campaigns.statements import (
    AS_WRITTEN,
    CrowdUnits,
    UnitEdits,
    UnitKey,
    make_units,
    units_in_use,
    without_units_of,
)
from pyramidion.campaigns.tables import REMOVED, Campaigns, StoredAnswer
from pyramidion.campaigns.tasks import PREFERENCE
from pyramidion.campaigns.workers import PSEUDONYM, WorkerDecisions, Workers
from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.formats.judgment_tables import write_judgments
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies, long_ids
from pyramidion.study import Aspect, Assignment, Campaign, Judge, Pyramid, Study, Task, Topic
from pyramidion.study.judgments import SIMULATED

# ----------------------------------------------------------------------
# Imported crowd workers get pseudonyms like those who come to the server: a vendor's worker ids are ids of people.
#
# Experts keep their names, and pseudonyms of this or another study stay as they are, so that an export can come back.


def with_pseudonyms(study: Study, pseudonym: Callable[[str], str]) -> Study:
    """The same study with pseudonyms for all workers."""
    others = {judge.id for judge in study.judges if judge.kind != "crowd"}

    def name(id: str) -> str:
        if not id or id in others or PSEUDONYM.fullmatch(id):
            return id
        return (SIMULATED if id in study.simulated else "") + pseudonym(id)

    return rename_judges(study, name)


def rename_judges(study: Study, name: Callable[[str], str]) -> Study:
    """The same study with other ids for whoever judged, worked or wrote units."""
    return replace(
        study,
        judges=tuple(
            replace(judge, id=name(judge.id), corrects=judge.corrects and name(judge.corrects))
            for judge in study.judges
        ),
        judgments=study.judgments.with_columns(judge=study.judgments.judge.rename(name)),
        assignments=tuple(replace(work, judge=name(work.judge)) for work in study.assignments),
        pyramids=tuple(_with_authors(pyramid, name) for pyramid in study.pyramids),
    )


def _with_authors(pyramid: Pyramid, name: Callable[[str], str]) -> Pyramid:
    units = tuple(replace(unit, author=name(unit.author)) if unit.author else unit for unit in pyramid.units)
    return replace(pyramid, units=units)


class CampaignDesk:
    """Everything that can be done with the campaigns of a study database, for the command line and the pages alike."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.studies = Studies(database)
        self.campaigns = Campaigns(database)
        self.worker_decisions = WorkerDecisions(database)
        self.decisions = AnswerDecisions(database)
        self.workers = Workers(database)
        self.assignments = Assignments(database)
        self.payments = Payments(database)
        self.rounds = Rounds(database)

    @classmethod
    def open(cls, place: str | Path) -> CampaignDesk:
        return cls(Database.open(place))

    def import_study(self, study: Study) -> int:
        """Add a study to the database; both together must be consistent. Returns how many records were added.

        Crowd workers get pseudonyms.
        """
        new, problems = self.check_import(study)
        if problems:
            raise InputError(problems)
        return self.studies.add(new)

    def check_import(self, study: Study) -> tuple[Study, list[Problem]]:
        """What of a study is not in the database yet, under pseudonyms, and why it cannot be added. Nothing is."""
        held = self.studies.load()
        named = with_pseudonyms(study, lambda id: self.workers.pseudonym("imported", id))
        renamed = rename_judges(named, cache(self.workers.current_id))
        new = without_known(renamed, held)
        unfit = (problem for problem in join_studies(held, new).problems() if problem.severity == "error")
        return new, [*long_ids(new), *unfit]

    def start(self, plan: Plan, *, draft: bool = False) -> None:
        """Put a planned campaign into the database; from then on workers get its tasks, or those of its first round.
        A draft is paused: nobody gets a task until somebody opens it."""
        campaign = replace(plan.campaign, state="paused") if draft else plan.campaign
        with self.database.together():
            if plan.aspects:
                self.studies.add(Study(aspects=plan.aspects))
            self.campaigns.add(campaign, plan.tasks, plan.gold)
            self._begin_rounds(plan)

    def plan_again(self, plan: Plan) -> None:
        """Put a new plan in the place of a draft."""
        with self.database.together():
            self.campaigns.make_again(plan.campaign, plan.tasks, plan.gold)
            self._begin_rounds(plan)

    def _begin_rounds(self, plan: Plan) -> None:
        if plan.parts:
            systems = sorted({task.system for task in plan.tasks})
            self.rounds.begin(plan.campaign.name, plan.parts, systems, len(plan.tasks))

    def make_units(self, campaign: str, *, seed: int = 0, edits: UnitEdits = AS_WRITTEN) -> CrowdUnits:
        """Turn what workers wrote into a crowd pyramid per topic: filter, sample, group, with what a manager changes
        about it. Nothing is stored."""
        writing = self.campaigns.get(campaign)
        if writing.kind != "write":
            raise UsageError(f"campaign {campaign} is of kind {writing.kind}; units come from writing")
        written = self._counted_answers(campaign)
        if not written:
            raise UsageError(f"nobody has written anything for campaign {campaign} yet")
        kept, left_out = self._without_excluded(written)
        made = make_units(self.studies.load(), kept, writing.settings, np.random.default_rng(seed), edits)
        return replace(made, notes=(*left_out, *made.notes))

    def store_units(self, made: CrowdUnits) -> None:
        held = self.studies.load()
        for pyramid in made.pyramids:
            if held.pyramid(pyramid.topic, pyramid.name):
                raise UsageError(f"topic {pyramid.topic} already has a {pyramid.name} pyramid")
        self.studies.add(Study(pyramids=made.pyramids))

    def material(self) -> Study:
        """The study as imported, with the units that workers wrote; what a new campaign may ask about.

        Units of answers that were removed are not in it, except those that tasks already ask about.
        """
        return self._material(self.campaigns.answers())

    def _material(self, answers: Sequence[StoredAnswer]) -> Study:
        study = self.studies.load()
        removed = find_removed_writing(answers)
        return without_units_of(study, removed, self.asked_units()) if removed else study

    def asked_units(self, *only: Campaign) -> frozenset[UnitKey]:
        """The units that tasks of any campaign, or of these alone, ask about, or may ask about in a later round."""
        judging = [campaign for campaign in only or self.campaigns.all() if campaign.kind == "judge"]
        asked: list[Task | Part] = [stored.task for c in judging for stored in self.campaigns.tasks(c.name)]
        asked += [part for c in judging if c.settings.model for part in self.rounds.parts(c.name) if part.round]
        return frozenset((one.topic, unit) for one in asked for unit in one.units)

    def study(self, *, keep_excluded: bool = False) -> Study:
        """The study with everything the campaigns have collected, as every method and format reads it.

        Answers of excluded workers and answers that were removed are left out, and its notes say so.
        """
        answers = self.campaigns.answers()
        counted = [answer for answer in answers if answer.counted]
        kept, left_out = (counted, ()) if keep_excluded else self._without_excluded(counted)
        study = with_answers(self._material(answers), kept, self._designed_tasks())
        return replace(study, notes=(*left_out, *self._removed_notes(study, answers)))

    def _designed_tasks(self, campaign: str = "") -> list[Task]:
        """The released tasks of campaigns that ask by a design, or of one of them: what nobody has answered yet was
        asked all the same, and an estimate has to know."""
        designed = [c.name for c in self.campaigns.all() if c.settings.model and campaign in {"", c.name}]
        return [stored.task for name in designed for stored in self.campaigns.tasks(name)]

    def study_for_look(self, campaign: str) -> Study:
        """What a look at one campaign reads: its tasks, its answers without those of excluded workers, and what models
        said. Nobody else's judgments are in it: who gave those was not asked by this design."""
        study = self.material()
        models = {judge.id for judge in study.judges if judge.kind == "model"}
        said = study.judgments.take(study.judgments.judge.is_in(models))
        kept, _ = self._without_excluded(self._counted_answers(campaign))
        alone = replace(study, judgments=said, tasks=(), assignments=())
        return with_answers(alone, kept, self._designed_tasks(campaign))

    def _removed_notes(self, study: Study, answers: Sequence[StoredAnswer]) -> Iterator[Problem]:
        """How many answers to each campaign are in no score, and what rests on those that became units."""
        for campaign in dict.fromkeys(answer.campaign for answer in answers):
            gone = Counter(a.removed for a in answers if a.campaign == campaign and a.state == "submitted")
            words = [f"{gone[why]} {why}" for why in REMOVED if gone[why]]
            if words:
                yield Problem(f"campaign {campaign}", f"answers left out: {', '.join(words)}", "warning")
        if removed := find_removed_writing(answers):
            yield from (use.note() for use in units_in_use(study, removed, self.asked_units()))

    def study_of(self, campaign: str) -> Study:
        """The study with the answers to one campaign, whoever gave them."""
        return with_answers(self.material(), self._counted_answers(campaign), self._designed_tasks(campaign))

    def answers_table(self, campaign: str) -> str:
        """The answers to one campaign as CSV, which can be read again as a table of judgments."""
        file = io.StringIO()
        write_judgments(with_answers(Study(), self._counted_answers(campaign)), file, campaign=campaign)
        return file.getvalue()

    def _counted_answers(self, campaign: str) -> list[StoredAnswer]:
        self.campaigns.get(campaign)  # or UnknownError
        return [answer for answer in self.campaigns.answers(campaign) if answer.counted]

    def _without_excluded(self, answers: list[StoredAnswer]) -> tuple[list[StoredAnswer], tuple[Problem, ...]]:
        """The answers without those of excluded workers, and a note for each of these workers."""
        excluded = self.worker_decisions.exclusions()
        kept = [answer for answer in answers if answer.worker not in excluded]
        out = sorted({answer.worker for answer in answers} & set(excluded))
        return kept, tuple(Problem(f"worker {worker}", f"left out: {excluded[worker]}", "warning") for worker in out)


def find_removed_writing(answers: Iterable[StoredAnswer]) -> list[StoredAnswer]:
    return [answer for answer in answers if answer.removed and answer.statements]


def without_known(study: Study, held: Study) -> Study:
    """Leave out records that are already there unchanged, so that importing twice changes nothing."""
    parts: dict[str, Any] = {}
    for name in ("topics", "summaries", "pyramids", "judges", "aspects", "tasks", "assignments"):
        known = set(getattr(held, name))
        parts[name] = tuple(item for item in getattr(study, name) if item not in known)
    by_id = {topic.id: topic for topic in held.topics}
    parts["topics"] = tuple(topic for topic in parts["topics"] if not _is_told_by(topic, by_id.get(topic.id)))
    parts["judgments"] = study.judgments.take(~study.judgments.are_in(held.judgments))
    return Study(**parts)


def _is_told_by(topic: Topic, held: Topic | None) -> bool:
    """Whether a topic says nothing beyond a known one: a table of new summaries only names it."""
    if held is None:
        return False
    pairs = ((topic.title, held.title), (topic.description, held.description), (topic.documents, held.documents))
    return all(not new or new == known for new, known in pairs)


def join_studies(first: Study, second: Study) -> Study:
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


def with_answers(study: Study, answers: Iterable[StoredAnswer], asked: Iterable[Task] = ()) -> Study:
    """A study with the answers of its campaigns as tasks, assignments, judges and judgments; and with the tasks that
    were ``asked``, answered or not."""
    given = list(answers)
    known = {judge.id for judge in study.judges}
    workers = {answer.worker: answer.simulated for answer in given if answer.worker not in known}
    tasks = {answer.task.id: answer.task for answer in given} | {task.id: task for task in asked}
    return replace(
        study,
        judges=study.judges + tuple(Judge(worker, simulated=workers[worker]) for worker in sorted(workers)),
        tasks=study.tasks + tuple(tasks.values()),
        assignments=study.assignments + tuple(map(_assignment, given)),
        judgments=study.judgments + [judgment for answer in given for judgment in answer.judgments()],
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
        accepted=_timestamp(answer.leased),
        submitted=_timestamp(answer.submitted),
        seconds=None if answer.seconds is None else round(answer.seconds, 3),
    )


def _timestamp(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
