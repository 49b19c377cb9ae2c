"""Expert annotation over a study database: begin, change, watch, import, compare, adjudicate.

Several processes may change one annotation. Each validates a command against the events it has read and appends the
event under the next number; if that number is taken, it reads the new events, and the command is rebased or refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.pyramid_pairs import UnitPair, compare_pyramids
from pyramidion.annotation.commands import Command, ImportMatches, PeerAnnotation, RefusedError, Subject
from pyramidion.annotation.comparison import MatchPair, compare_peers
from pyramidion.annotation.events import Activity, Annotations, BehindError, StoredAnnotation
from pyramidion.annotation.imports import import_of_judgments, import_of_pyramid
from pyramidion.annotation.log import Annotation, Event, replay
from pyramidion.errors import UnknownError, UsageError
from pyramidion.judges.autoannotate import autoannotate
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.store.database import Database
from pyramidion.study import UNMATCHED, Judge, Judgment, Judgments, Pyramid, Span, Study

TRIES = 50
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Words of a peer that were marked for a unit in another summary of the topic. Never applied automatically."""

    unit: str
    spans: tuple[Span, ...]


def may_change(stored: StoredAnnotation, author: str) -> bool:
    """Whether somebody may change an annotation: its owner, or anybody if it is shared."""
    return stored.shared or author == stored.owner


def peer_score(peer: PeerAnnotation, pyramid: Pyramid) -> PeerScore:
    """Every score of a peer as annotated so far, with its parts."""
    return PeerScore(pyramid, peer.count_mentions(), unmatched=len(peer.marks))


def are_on(units: Collection[str], judgments: Judgments) -> NDArray[np.bool_]:
    """Which judgments are part of a peer's annotation with these units: about one of them, or unmatched content."""
    return judgments.unit.is_in(units) | judgments.aspect.is_in({UNMATCHED})


class AnnotationDesk:
    """Everything that can be done with the annotations of a study, for pages and scripts alike.

    The last state of every annotation is kept, so that a command reads only the events that are new. The study may grow
    meanwhile, so the desk is given a function that returns it as it is now. Another ``store`` shows only some of them.
    """

    def __init__(self, database: Database, study: Callable[[], Study], store: Annotations | None = None) -> None:
        self._study = study
        self.store = store or Annotations(database)
        self._known: dict[int, Annotation] = {}
        self._turn = threading.Lock()

    @property
    def study(self) -> Study:
        """The study as it is now."""
        return self._study()

    def over(self, study: Study) -> AnnotationDesk:
        """The same desk over a study at hand, such as the part of it that is about one topic."""
        desk = copy(self)
        desk._study = lambda: study
        return desk

    # -- beginning -------------------------------------------------------------------------------------------

    def begin_pyramid(
        self,
        topic: str,
        *,
        name: str,
        owner: str,
        shared: bool = False,
        start: Pyramid | str | None = None,
        adjudicates: Sequence[int] = (),
    ) -> StoredAnnotation:
        """A new pyramid of a topic, empty or from one that exists, such as the study's of this name."""
        _check_name(name)
        if isinstance(start, str):
            start = self._pyramid(topic, start)
        sources = start.references if start else tuple(s.system for s in self.study.references if s.topic == topic)
        if not sources:
            raise UsageError(f"topic {topic!r} has no references to build a pyramid from")
        subject = Subject.of_pyramid(topic, self._references(topic, sources), name)
        events = _first(subject, import_of_pyramid(start) if start and start.units else None, owner)
        about: dict[str, Any] = {"sources": sources, "adjudicates": adjudicates, "events": events}
        return self.store.add(topic, "pyramid", name=name, owner=owner, shared=shared, **about)

    def begin_peer(
        self,
        topic: str,
        system: str,
        *,
        name: str,
        owner: str,
        pyramid: str | int,
        shared: bool = False,
        start: Iterable[Judgment] | PeerAnnotation | str | None = None,
        adjudicates: Sequence[int] = (),
    ) -> StoredAnnotation:
        """Begin an annotation of a peer with a pyramid of the study (by name) or one being annotated (by id). It
        starts empty, from an annotation, or from judgments such as those of a judge of the study."""
        _check_name(name)
        units = self._pyramid(topic, pyramid)
        if isinstance(start, str):
            start = self._judgments(topic, system, start, units)
        subject = Subject.of_peer(topic, system, self._peer_text(topic, system), units)
        first: ImportMatches | None = None
        if isinstance(start, PeerAnnotation):
            first = ImportMatches(start.matches, start.marks)
        elif start is not None:
            given = start if isinstance(start, Judgments) else Judgments(start)
            first = import_of_judgments(_about(given, topic, system, units))
        events = _first(subject, first if first and (first.matches or first.marks) else None, owner)
        by_name, by_id = (pyramid, None) if isinstance(pyramid, str) else ("", pyramid)
        return self.store.add(
            topic,
            "peer",
            system=system,
            name=name,
            owner=owner,
            shared=shared,
            pyramid=by_name,
            pyramid_id=by_id,
            adjudicates=adjudicates,
            events=events,
        )

    # -- reading and changing --------------------------------------------------------------------------------

    def open(self, id: int) -> Annotation:
        """The annotation as it is now."""
        stored = self.store.get(id)
        known = self._known.get(id)
        new = self.store.since(id, known.version if known else 0)
        subject = self._subject(stored) if known is None or stored.kind == "peer" else known.subject
        if known is None:
            known = replay(subject, new)
        else:
            if known.subject != subject:
                known = replace(known, subject=subject)
            known = reduce(Annotation.extend_with, new, known)
        with self._turn:  # another thread may have read on further
            if (kept := self._known.get(id)) is None or kept.version <= known.version:
                self._known[id] = known
        return known

    def pyramid_version(self, stored: StoredAnnotation) -> int | None:
        """The version of the pyramid that a peer is matched to, if it is being annotated."""
        return None if stored.pyramid_id is None else self.store.version(stored.pyramid_id)

    def as_rows(self, chosen: Iterable[StoredAnnotation]) -> list[dict[str, Any]]:
        """Annotations as plain values, with how many changes each has and when the last was made."""
        activity = self.store.activity()
        return [{**asdict(stored), **activity.get(stored.id, Activity())._asdict()} for stored in chosen]

    def apply(self, id: int, command: Command, *, author: str, base: int) -> Event:
        """Accept a command made against a version; RefusedError or ConflictError say why not."""
        stored = self.store.get(id)
        if not may_change(stored, author):
            raise RefusedError(f"this annotation belongs to {stored.owner}; {author} can begin another")
        for _ in range(TRIES):
            event = self.open(id).accept(command, author=author, base=base, at=time.time())
            try:
                self.store.append(id, event)
            except BehindError:
                continue
            return event
        raise UsageError(f"annotation {id} is being changed too quickly; try again")

    # -- results ---------------------------------------------------------------------------------------------

    def pyramid_of(self, id: int) -> Pyramid:
        """The pyramid being annotated, or the one a peer is matched to."""
        annotation = self.open(id)
        return annotation.state if isinstance(annotation.state, Pyramid) else _required(annotation.subject.pyramid)

    def peer_of(self, id: int) -> PeerAnnotation:
        state = self.open(id).state
        if not isinstance(state, PeerAnnotation):
            raise UsageError(f"annotation {id} is of a pyramid, not of a peer")
        return state

    def references_of(self, id: int) -> dict[str, str]:
        """The texts of the references of the pyramid, as far as the study has them."""
        pyramid, study = self.pyramid_of(id), self.study
        summaries = (study.summary(pyramid.topic, name, "reference") for name in pyramid.references)
        return {summary.system: summary.text for summary in summaries if summary is not None}

    def study_of(self, ids: Sequence[int]) -> Study:
        """A study of these annotations alone - texts, pyramids, judgments - to be scored or saved in any format.

        Annotations that share a pyramid share it here; the judge of a peer is the annotation's name.
        """
        opened = [self.store.get(id) for id in ids]
        topics = {stored.topic for stored in opened}
        peers = {(stored.topic, stored.system) for stored in opened}
        pyramids = dict.fromkeys(self.pyramid_of(id) for id in ids)
        judged = [stored for stored in opened if stored.kind == "peer"]
        judgments = [j for s in judged for j in self.peer_of(s.id).judgments(self.pyramid_of(s.id), s.name)]
        return Study(
            topics=tuple(topic for topic in self.study.topics if topic.id in topics),
            summaries=tuple(
                summary
                for summary in self.study.summaries
                if summary.topic in topics and (summary.role == "reference" or (summary.topic, summary.system) in peers)
            ),
            pyramids=tuple(pyramids),
            judges=tuple(Judge(name, "expert") for name in dict.fromkeys(stored.name for stored in judged)),
            judgments=Judgments(judgments),
        )

    def proposals(self, id: int) -> list[Proposal]:
        """Units not matched yet whose evidence in other annotated summaries of the topic is in this one too (§4)."""
        stored, peer, pyramid = self.store.get(id), self.peer_of(id), self.pyramid_of(id)
        units = {unit.id for unit in pyramid.units}
        others = self.store.all(topic=stored.topic, kind="peer")
        same = [o for o in others if (o.pyramid, o.pyramid_id) == (stored.pyramid, stored.pyramid_id)]
        known = [
            judgment
            for other in same
            if other.system != stored.system
            for judgment in self.peer_of(other.id).judgments(pyramid, other.name)
        ]
        said = self.study.judgments
        by_experts = said.topic.is_in({stored.topic}) & said.judge.is_in(self.study.judges_of("expert"))
        known += [j for j in said.take(by_experts) if j.evidence]
        known = [j for j in known if j.unit in units and j.system != stored.system]
        asked = [replace(j, value=0, evidence=()) for j in peer.judgments(pyramid, stored.name) if j.unit]
        topic = replace(self.study, judgments=Judgments())
        matched = peer.count_mentions()
        return [
            Proposal(j.unit, j.evidence[0])
            for j in autoannotate(topic, Judgments([*known, *asked]))
            if j.system == stored.system and j.value and j.unit not in matched
        ]

    # -- two annotations -------------------------------------------------------------------------------------

    def compare(self, first: int, second: int) -> list[UnitPair] | list[MatchPair]:
        """Two annotations of the same text side by side, disagreements first."""
        one, other = self.open(first).state, self.open(second).state
        if isinstance(one, Pyramid) and isinstance(other, Pyramid) and one.topic == other.topic:
            return compare_pyramids(one, other)
        if isinstance(one, PeerAnnotation) and isinstance(other, PeerAnnotation):
            same = (one.topic, one.system) == (other.topic, other.system)
            if same and self.pyramid_of(first) == self.pyramid_of(second):
                return compare_peers(one, other, self.pyramid_of(first))
        raise UsageError(f"annotations {first} and {second} are not of the same text with the same pyramid")

    def adjudicate(
        self, start: int, other: int | None = None, *, name: str, owner: str, shared: bool = False
    ) -> StoredAnnotation:
        """A third annotation that starts from one of two, and remembers both."""
        if other is not None:
            self.compare(start, other)  # refuses two that are not of the same text
        stored, state = self.store.get(start), self.open(start).state
        about: dict[str, Any] = {"name": name, "owner": owner, "shared": shared}
        about["adjudicates"] = () if other is None else (start, other)
        if isinstance(state, Pyramid):
            return self.begin_pyramid(stored.topic, start=state, **about)
        pyramid = stored.pyramid or _required(stored.pyramid_id)
        return self.begin_peer(stored.topic, stored.system, pyramid=pyramid, start=state, **about)

    def adjudications(self, first: int, second: int) -> list[StoredAnnotation]:
        """The annotations that were begun to settle these two, the latest last."""
        topic = self.store.get(first).topic
        return [each for each in self.store.all(topic=topic) if set(each.adjudicates) == {first, second}]

    def round_of(self, id: int) -> list[tuple[str, StoredAnnotation | None]]:
        """The summaries of the topic in order, each with the annotation that goes with this one: of the same owner,
        under the same name, with the same pyramid; None where it is not begun."""
        mine = self.store.get(id)
        alike = ("owner", "name", "pyramid", "pyramid_id")
        others = self.store.all(topic=mine.topic, kind="peer")
        begun = {o.system: o for o in others if all(getattr(o, part) == getattr(mine, part) for part in alike)}
        return [(peer.system, begun.get(peer.system)) for peer in self.study.peers if peer.topic == mine.topic]

    # -- what is annotated -----------------------------------------------------------------------------------

    def _subject(self, stored: StoredAnnotation) -> Subject:
        if stored.kind == "pyramid":
            return Subject.of_pyramid(stored.topic, self._references(stored.topic, stored.sources), stored.name)
        pyramid = self._pyramid(stored.topic, stored.pyramid or _required(stored.pyramid_id))
        return Subject.of_peer(stored.topic, stored.system, self._peer_text(stored.topic, stored.system), pyramid)

    def _references(self, topic: str, names: Iterable[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name in names:
            summary = self.study.summary(topic, name, "reference")
            if summary is None:
                raise UnknownError(f"topic {topic!r} has no reference {name!r}")
            texts[name] = summary.text
        return texts

    def _peer_text(self, topic: str, system: str) -> str:
        summary = self.study.summary(topic, system)
        if summary is None:
            raise UnknownError(f"topic {topic!r} has no peer {system!r}")
        return summary.text

    def _judgments(self, topic: str, system: str, judge: str, pyramid: Pyramid) -> list[Judgment]:
        said = self.study.judgments
        judgments = _about(said.take(said.judge.is_in({judge})), topic, system, pyramid)
        if not judgments:
            raise UsageError(f"topic {topic!r}: {judge!r} has not judged peer {system!r} on this pyramid")
        return judgments

    def _pyramid(self, topic: str, pyramid: str | int) -> Pyramid:
        if isinstance(pyramid, str):
            named = self.study.pyramid(topic, pyramid)
            if named is None:
                raise UnknownError(f"topic {topic!r} has no pyramid {pyramid!r}")
            return named
        state = self.open(pyramid).state
        if not isinstance(state, Pyramid) or state.topic != topic:
            raise UsageError(f"annotation {pyramid} is not a pyramid of topic {topic!r}")
        return state


def _first(subject: Subject, command: Command | None, owner: str) -> list[Event]:
    """What an annotation begins with, as its only event so far."""
    if command is None:
        return []
    return [Annotation.start(subject).accept(command, author=owner, base=0, at=time.time())]


def _about(judgments: Judgments, topic: str, system: str, pyramid: Pyramid) -> list[Judgment]:
    """Those about a peer that are part of its annotation with a pyramid."""
    peer = judgments.topic.is_in({topic}) & judgments.system.is_in({system})
    return list(judgments.take(peer & are_on({unit.id for unit in pyramid.units}, judgments)))


def _check_name(name: str) -> None:
    """A name becomes that of a pyramid or of a judge, so it is an id."""
    if not name or name != name.strip() or not name.isprintable():
        raise RefusedError(
            f"{name[:40]!r} cannot be the name of an annotation: a name is one line without surrounding spaces"
        )


def _required(value: T | None) -> T:
    assert value is not None
    return value
