"""A study: topics, summaries, pyramids, judges and judgments that belong together, and the rules they obey."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from pyramidion.errors import Problem
from pyramidion.study.judgments import NO_RATING, SIMULATED, Aspect, Column, Judge, JudgeKind, Judgments, group
from pyramidion.study.tasks import Assignment, Task
from pyramidion.study.texts import ContentUnit, Pyramid, Role, Span, Summary, Topic

NOT_REAL = "a rehearsal made up the answers, so no result is real"
"""What has to be said wherever results of simulated workers are shown."""


@dataclass(frozen=True, repr=False)
class Study:
    """Everything one evaluation knows. Build it freely; ``problems()`` says what does not fit together."""

    topics: tuple[Topic, ...] = ()
    summaries: tuple[Summary, ...] = ()
    pyramids: tuple[Pyramid, ...] = ()
    judges: tuple[Judge, ...] = ()
    judgments: Judgments = field(default_factory=Judgments)
    aspects: tuple[Aspect, ...] = ()
    tasks: tuple[Task, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    title: str = ""
    notes: tuple[Problem, ...] = field(default=(), compare=False)
    """What the reader reported about the files; ``score`` passes it on to the table."""

    def __repr__(self) -> str:
        held = ", ".join(f"{count} {name}" for name, count in self.counts().items() if count)
        return f"<Study: {held or 'empty'}>"

    @cached_property
    def _summaries(self) -> dict[tuple[str, str, str], Summary]:
        return {(summary.topic, summary.role, summary.system): summary for summary in self.summaries}

    @cached_property
    def _pyramids(self) -> dict[tuple[str, str], Pyramid]:
        return {(pyramid.topic, pyramid.name): pyramid for pyramid in self.pyramids}

    @property
    def peers(self) -> tuple[Summary, ...]:
        return tuple(summary for summary in self.summaries if summary.role == "peer")

    @property
    def references(self) -> tuple[Summary, ...]:
        return tuple(summary for summary in self.summaries if summary.role == "reference")

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted({summary.system for summary in self.peers}))

    @property
    def pyramid_names(self) -> tuple[str, ...]:
        return tuple(sorted({pyramid.name for pyramid in self.pyramids}))

    def topic(self, id: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.id == id), None)

    def summary(self, topic: str, system: str, role: Role = "peer") -> Summary | None:
        return self._summaries.get((topic, role, system))

    def pyramid(self, topic: str, name: str) -> Pyramid | None:
        return self._pyramids.get((topic, name))

    def judges_of(self, kind: JudgeKind) -> frozenset[str]:
        """The judges of a kind who judge by themselves, not those who correct another."""
        return frozenset(judge.id for judge in self.judges if judge.kind == kind and not judge.corrects)

    @property
    def correctors(self) -> dict[str, str]:
        """Whom a judge corrects, for those who correct another."""
        return {judge.id: judge.corrects for judge in self.judges if judge.corrects}

    @cached_property
    def simulated(self) -> frozenset[str]:
        """Those of the judges and of the authors of units whom a rehearsal made up."""
        authors = {unit.author for pyramid in self.pyramids for unit in pyramid.units if unit.author}
        named = {author for author in authors if author.startswith(SIMULATED)}
        return frozenset(named | {judge.id for judge in self.judges if judge.simulated})

    @property
    def is_simulated(self) -> bool:
        """Whether answers of a rehearsal are in it."""
        return bool(self.simulated)

    def simulation_notes(self) -> Iterator[Problem]:
        if self.simulated:
            judges = {judge.id for judge in self.judges} | self.simulated
            what = f"{len(self.simulated)} of {len(judges)} judges are simulated: {NOT_REAL}"
            yield Problem("SIMULATED", what, "warning")

    def counts(self) -> dict[str, int]:
        """The number of topics, summaries, units and so on."""
        sizes = {
            part.name: len(getattr(self, part.name)) for part in fields(self) if part.name not in {"title", "notes"}
        }
        del sizes["summaries"]
        return {
            "topics": sizes.pop("topics"),
            "documents": sum(len(topic.documents) for topic in self.topics),
            "references": len(self.references),
            "peers": len(self.peers),
            "systems": len(self.systems),
            "units": sum(len(pyramid.units) for pyramid in self.pyramids),
            **sizes,
        }

    def problems(self) -> list[Problem]:
        """Everything that does not fit together, with its location. An empty list means a consistent study."""
        return list(_Rules(self).check())


class _Rules:
    """The consistency rules of a study, one method per noun."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.topics = {topic.id for topic in study.topics}
        self.units = {(pyramid.topic, unit.id) for pyramid in study.pyramids for unit in pyramid.units}
        self.with_references = {summary.topic for summary in study.references}
        self.judges = {judge.id for judge in study.judges}
        self.tasks = {task.id for task in study.tasks}
        self.with_peers = bool(study.peers)  # judgments alone are a study too: what was judged is known by name

    def check(self) -> Iterator[Problem]:
        yield from self._ids()
        yield from self._topics()
        yield from self._summaries()
        yield from self._pyramids()
        yield from self._judges()
        yield from self._aspects()
        yield from self._tasks()
        yield from self._judgments()

    def _ids(self) -> Iterator[Problem]:
        study = self.study
        for noun, ids in (
            ("topic", [topic.id for topic in study.topics]),
            ("judge", [judge.id for judge in study.judges]),
            ("aspect", [aspect.id for aspect in study.aspects]),
            ("task", [task.id for task in study.tasks]),
            ("system", sorted({summary.system for summary in study.summaries})),
            ("pyramid", sorted({pyramid.name for pyramid in study.pyramids})),
        ):
            for id in ids:
                yield from _bad_id(noun, id)
            yield from _duplicates((id, f"{noun} {id}") for id in ids)

    def _topics(self) -> Iterator[Problem]:
        for topic in self.study.topics:
            where = f"topic {topic.id}, document"
            for document in topic.documents:
                yield from _bad_id(where, document.id)
            yield from _duplicates((document.id, f"{where} {document.id}") for document in topic.documents)

    def _summaries(self) -> Iterator[Problem]:
        yield from _duplicates(
            ((s.topic, s.role, s.system), f"topic {s.topic}, {s.role} {s.system}") for s in self.study.summaries
        )
        for summary in self.study.summaries:
            if summary.topic not in self.topics:
                yield Problem(f"{summary.role} {summary.system}", f"belongs to unknown topic {summary.topic!r}")
        for noun, summaries in (("peers", self.study.peers), ("references", self.study.references)):
            if empty := sorted(f"{s.system} on {s.topic}" for s in summaries if not s.text.strip()):
                shown = ", ".join(empty[:3]) + (", ..." if len(empty) > 3 else "")
                yield Problem(noun, f"{len(empty)} of {len(summaries)} have an empty text: {shown}", "warning")
        yield from self._topics_without_references()

    def _topics_without_references(self) -> Iterator[Problem]:
        """Without units, references are all that a summary can be compared with."""
        study = self.study
        with_peers = {peer.topic for peer in study.peers}
        bare = sorted(with_peers - self.with_references - {pyramid.topic for pyramid in study.pyramids})
        if bare and self.with_references:
            shown = ", ".join(bare[:3]) + (", ..." if len(bare) > 3 else "")
            what = f"{len(bare)} of {len(with_peers)} topics have no reference or only an empty one: {shown}"
            yield Problem("references", what, "warning")
        elif bare and not study.pyramids and not len(study.judgments):
            what = "there are none: the summaries can be judged by people, but no method can score them without"
            yield Problem("references", what, "warning")

    def _pyramids(self) -> Iterator[Problem]:
        pyramids = self.study.pyramids
        yield from _duplicates(((p.topic, p.name), f"topic {p.topic}, pyramid {p.name}") for p in pyramids)
        yield from _duplicates(
            ((p.topic, unit.id), f"topic {p.topic}, unit {unit.id}") for p in pyramids for unit in p.units
        )
        for pyramid in pyramids:
            if pyramid.topic not in self.topics:
                yield Problem(f"pyramid {pyramid.name}", f"belongs to unknown topic {pyramid.topic!r}")
            where = f"topic {pyramid.topic}, pyramid {pyramid.name}, reference"
            yield from _duplicates((id, f"{where} {id}") for id in pyramid.references)
            for unit in pyramid.units:
                yield from self._unit(pyramid, unit)
            if bare := sum(not unit.contributors for unit in pyramid.units):
                yield Problem(
                    f"topic {pyramid.topic}, pyramid {pyramid.name}",
                    f"{bare} of {len(pyramid.units)} units have no contributor, so their weight is 0",
                    "warning",
                )
            for reference in pyramid.references:
                here = pyramid.topic in self.with_references
                if here and self.study.summary(pyramid.topic, reference, "reference") is None:
                    yield Problem(f"{where} {reference}", "is not one of the topic's references", "warning")

    def _unit(self, pyramid: Pyramid, unit: ContentUnit) -> Iterator[Problem]:
        where = f"topic {pyramid.topic}, unit {unit.id}"
        yield from _bad_id(f"topic {pyramid.topic}, unit", unit.id)
        for number, contributor in enumerate(unit.contributors, 1):
            here = f"{where}, contributor {number}"
            if contributor.reference not in pyramid.references:
                yield Problem(here, f"reference {contributor.reference!r} is not one of the pyramid's")
            reference = self.study.summary(pyramid.topic, contributor.reference, "reference")
            if reference is not None:
                yield from _bad_spans(here, contributor.spans, reference)
            elif contributor.spans:
                yield Problem(here, f"has spans, but the text of reference {contributor.reference!r} is missing")
        if (strict := len(unit.references)) < unit.weight:
            held = Counter(contributor.reference for contributor in unit.contributors)
            twice = ", ".join(f"{number} from {name}" for name, number in held.items() if number > 1)
            what = (
                f"has {unit.weight} contributors from {strict} reference{'s' * (strict != 1)} ({twice}); its "
                f"weight is {unit.weight}, as in DUCView and the official scores of DUC, or {strict} with "
                "weights=references"
            )
            yield Problem(where, what, "warning")

    def _judges(self) -> Iterator[Problem]:
        alone = {judge.id for judge in self.study.judges if judge.kind != "crowd" and not judge.corrects}
        for judge in self.study.judges:
            where = f"judge {judge.id}"
            if not 0 <= judge.perhaps <= judge.expressed <= 1:
                what = "must be between 0 and 1, perhaps not above expressed"
                yield Problem(where, f"its bounds, expressed {judge.expressed:g} and perhaps {judge.perhaps:g}, {what}")
            if judge.corrects and judge.corrects not in alone:
                what = "is not an expert or a model of this study who judges by themselves"
                yield Problem(where, f"corrects {judge.corrects!r}, who {what}")
        yield from self.study.simulation_notes()
        yield from _duplicates((whom, f"judges who correct judge {whom}") for whom in self.study.correctors.values())

    def _aspects(self) -> Iterator[Problem]:
        for aspect in self.study.aspects:
            if not (math.isfinite(aspect.low) and math.isfinite(aspect.high) and aspect.low < aspect.high):
                yield Problem(
                    f"aspect {aspect.id}", f"its scale runs from {aspect.low} to {aspect.high}; low must be below high"
                )

    def _tasks(self) -> Iterator[Problem]:
        for task in self.study.tasks:
            for system in filter(None, (task.system, task.other)):
                if self.with_peers and self.study.summary(task.topic, system) is None:
                    yield Problem(f"task {task.id}", f"no peer {system!r} in topic {task.topic!r}")
            for reference in task.references:
                if self.study.summary(task.topic, reference, "reference") is None:
                    yield Problem(f"task {task.id}", f"no reference {reference!r} in topic {task.topic!r}")
            for unit in task.units:
                if (task.topic, unit) not in self.units:
                    yield Problem(f"task {task.id}", f"topic {task.topic!r} has no unit {unit!r}")
            drawn = bool(task.stratum) or bool(task.place) or bool(task.places)
            if drawn and not (task.stratum and 1 <= task.place <= task.places):
                what = f"is part {task.place} of {task.places} of stratum {task.stratum!r}, which cannot be"
                yield Problem(f"task {task.id}", what)
        yield from _duplicates(
            ((work.task, work.judge), f"assignment of task {work.task} to judge {work.judge}")
            for work in self.study.assignments
        )
        for work in self.study.assignments:
            where = f"assignment {work.id or work.task + '/' + work.judge}"
            if work.task not in self.tasks:
                yield Problem(where, f"unknown task {work.task!r}")
            if work.judge not in self.judges:
                yield Problem(where, f"unknown judge {work.judge!r}")

    def _judgments(self) -> Iterator[Problem]:
        judgments = self.study.judgments
        for judge in sorted(set(judgments.judge.present_names()) - self.judges):
            yield Problem(f"judge {judge}", "has judgments but is not declared")
        undeclared = set(judgments.task.present_names()) - self.tasks - {""}
        for task in sorted(undeclared) if self.tasks or self.with_peers else ():
            yield Problem(f"task {task}", "has judgments but is not declared")
        yield from self._judged_summaries()
        yield from self._judged_questions()
        yield from self._values()
        asked = (judgments.topic, judgments.system, judgments.unit, judgments.aspect, judgments.judge, judgments.other)
        answers = group(*(column.ranks() for column in asked))
        again = np.ones(len(judgments), dtype=bool)
        again[answers.first] = False
        for row in np.flatnonzero(again).tolist():
            yield Problem(_address(judgments, row), "is judged twice by the same judge")

    def _judged_summaries(self) -> Iterator[Problem]:
        judgments = self.study.judgments
        pairs = _pairs(judgments.topic, judgments.system)
        pairs |= {(topic, other) for topic, other in _pairs(judgments.topic, judgments.other) if other}
        for topic, system in sorted(pairs):
            if topic not in self.topics:
                yield Problem(f"judgments on system {system}", f"unknown topic {topic!r}")
            elif self.with_peers and self.study.summary(topic, system) is None:
                yield Problem(f"topic {topic}", f"judgments on unknown system {system!r} (no such peer summary)")

    def _judged_questions(self) -> Iterator[Problem]:
        judgments = self.study.judgments
        for topic, unit in sorted(_pairs(judgments.topic, judgments.unit)):
            if unit and topic in self.topics and (topic, unit) not in self.units:
                yield Problem(f"topic {topic}", f"judgments on unknown unit {unit!r}")
        known = {aspect.id for aspect in self.study.aspects} | NO_RATING
        for name in sorted(set(judgments.aspect.present_names()) - known):
            yield Problem(f"aspect {name}", "has judgments but is not declared")

    def _values(self) -> Iterator[Problem]:
        judgments = self.study.judgments
        scales = {aspect.id: (aspect.low, aspect.high) for aspect in self.study.aspects}
        limits = [scales.get(name, (0.0, math.inf)) for name in judgments.aspect.names]
        low, high = np.array(limits, dtype=np.float64).reshape(-1, 2)[judgments.aspect.codes].T
        for row in np.flatnonzero((judgments.value < low) | (judgments.value > high)).tolist():
            scale = f"{low[row]:g} to {high[row]:g}" if math.isfinite(high[row]) else "0 or more"
            yield Problem(_address(judgments, row), f"value {judgments.value[row]:g} is outside the scale ({scale})")
        rows = np.array(list(judgments.evidence), dtype=np.int64)
        about = zip(judgments.topic.take(rows), judgments.system.take(rows), strict=True)
        for (row, mentions), (topic, system) in zip(judgments.evidence.items(), about, strict=True):
            peer = self.study.summary(topic, system)
            if peer is not None and not all(span.fits(peer.text) for spans in mentions for span in spans):
                for spans in mentions:
                    yield from _bad_spans(_address(judgments, row), spans, peer)


def _pairs(first: Column, second: Column) -> set[tuple[str, str]]:
    """The names that occur together."""
    rows = group(first.ranks(), second.ranks()).first
    return set(zip(first.take(rows), second.take(rows), strict=True))


def _address(judgments: Judgments, row: int) -> str:
    question = f"unit {judgments.unit[row]}" if judgments.unit[row] else f"aspect {judgments.aspect[row]}"
    return f"topic {judgments.topic[row]}, system {judgments.system[row]}, {question}, judge {judgments.judge[row]}"


def _bad_spans(where: str, spans: Iterable[Span], summary: Summary) -> Iterator[Problem]:
    for span in spans:
        if not span.fits(summary.text):
            yield Problem(
                where,
                f"span {span.start}-{span.end} exceeds {summary.role} {summary.topic}.{summary.system} "
                f"({len(summary.text)} characters)",
            )


_REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Characters that make one id look like another."""


def _bad_id(noun: str, id: str) -> Iterator[Problem]:
    breaks = not id.isprintable() and any(
        unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(c) in _REORDERING for c in id
    )
    if not id or id != id.strip() or breaks:
        yield Problem(f"{noun} {id!r}", "an id must not be empty, has one line and no spaces around it")


def _duplicates(keyed_addresses: Iterable[tuple[Hashable, str]]) -> Iterator[Problem]:
    addresses: dict[Hashable, str] = {}
    counts: Counter[Hashable] = Counter()
    for key, address in keyed_addresses:
        addresses[key] = address
        counts[key] += 1
    for key, count in counts.items():
        if count > 1:
            yield Problem(addresses[key], f"appears {count} times; ids must be unique")
