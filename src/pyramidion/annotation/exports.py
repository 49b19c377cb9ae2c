"""Annotations as files: .pyr and .pan as DUCView has them, and JSON Lines as every command reads them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyramidion.annotation.commands import ImportMatches, ImportPyramid, RefusedError
from pyramidion.annotation.desk import AnnotationDesk, are_on
from pyramidion.annotation.events import StoredAnnotation
from pyramidion.annotation.imports import import_of_judgments, import_of_pyramid
from pyramidion.errors import InputError, UsageError, check_choice
from pyramidion.formats import guess_format, save
from pyramidion.formats.ducview.text import PeerName, pan_name, pyr_name
from pyramidion.formats.files import to_file_name
from pyramidion.store.studies import Studies
from pyramidion.study import Judge, Judgment, Judgments, Pyramid, Study

ExportFormat = Literal["pyr", "pan", "jsonl"]
MEDIA_TYPES: dict[str, str] = {"pyr": "application/xml", "pan": "application/xml", "jsonl": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Exported:
    file_name: str
    media_type: str
    text: str


def study_for(desk: AnnotationDesk, ids: Sequence[int], format: str) -> Study:
    """A study of these annotations alone, to be written in a format; InputError if they do not fit together."""
    study = desk.study_of(ids)
    if errors := [problem for problem in study.problems() if problem.severity == "error"]:
        raise InputError(errors)
    if format == "ducview":  # has one pyramid per topic, called 'expert' when it is read
        return replace(study, pyramids=tuple(replace(pyramid, name="expert") for pyramid in study.pyramids))
    return study


def export(desk: AnnotationDesk, id: int, format: ExportFormat) -> Exported:
    """One annotation, exactly as `pyramidion convert` would write it. The file name is plain ASCII."""
    check_choice("format", format, tuple(MEDIA_TYPES))
    stored = desk.store.get(id)
    if format == "pan" and stored.kind != "peer":
        raise RefusedError("a .pan file holds an annotated peer; a pyramid is exported as .pyr or .jsonl")
    names = {
        "pyr": pyr_name(stored.topic),
        "pan": pan_name(PeerName(stored.topic, stored.system, stored.name)),
        "jsonl": ".".join(map(to_file_name, filter(None, (stored.topic, stored.system, stored.name)))) + ".jsonl",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{format}"
        save(study_for(desk, [id], guess_format(path)), path)
        text = path.read_bytes().decode()
    return Exported(names[format], f"{MEDIA_TYPES[format]}; charset=utf-8", text)


# ----------------------------------------------------------------------
# Annotations become part of the study: a pyramid under its name, a peer as judgments of an expert of that name.
#
# Storing again replaces what was stored. What others put into the study is never replaced, unless the annotation
# began with it. A pyramid takes the peers with it that were stored on it before: their judgments follow its units.
#
# A study has a unit's id once in a topic, while annotators count from 1. Where an id is taken by another pyramid, the
# unit gets the annotation's name in front of it.


@dataclass(frozen=True, slots=True)
class StoredParts:
    """How many records of the study an annotation now makes up."""

    pyramids: int
    judgments: int


def store_annotation(desk: AnnotationDesk, studies: Studies, id: int) -> StoredParts:
    """Put an annotation into the study; a peer also stores the pyramid it is annotated with, if that is being
    annotated. Nobody else can change the study meanwhile, so only what is about the topic is read."""
    topic = desk.store.get(id).topic
    with studies.changing():
        held, stored = studies.load(topic), desk.store.get(id)
        desk = desk.over(held)
        placement = _Placement(desk, held, stored)
        problems = set(held.problems())
        new = placement.study()
        if wrong := [p for p in placement.whole(new).problems() if p.severity == "error" and p not in problems]:
            raise InputError(wrong)
        old = {placement.pyramid.name} if placement.pyramid else ()
        studies.put(new, topic=topic, pyramids=old, judgments=placement.replaces)
        for part in placement.parts:
            desk.store.mark_stored(part.id, desk.open(part.id).version)
    return StoredParts(len(new.pyramids), len(new.judgments))


class _Placement:
    """An annotation, and what goes with it, in its place in a study."""

    def __init__(self, desk: AnnotationDesk, held: Study, stored: StoredAnnotation) -> None:
        self.desk, self.held, self.topic = desk, held, stored.topic
        pyramid = stored.id if stored.kind == "pyramid" else stored.pyramid_id
        self.pyramid = None if pyramid is None else desk.store.get(pyramid)
        others = desk.store.all(topic=stored.topic, kind="peer")
        along = [p for p in others if pyramid is not None and p.pyramid_id == pyramid and p.stored is not None]
        self.peers = [p for p in others if p.id == stored.id or p in along]
        self.old = held.pyramid(self.topic, self.pyramid.name) if self.pyramid else None
        self.ids = self._ids()
        self._check_owners()

    @property
    def parts(self) -> list[StoredAnnotation]:
        return [*([self.pyramid] if self.pyramid else []), *self.peers]

    def study(self) -> Study:
        """What is to be added."""
        judges = dict.fromkeys(peer.name for peer in self.peers)
        known = {judge.id: judge.kind for judge in self.held.judges}
        if strange := [name for name in judges if known.get(name, "expert") != "expert"]:
            raise UsageError(f"judge {strange[0]!r} of the study is not an expert; annotate under another name")
        return Study(
            pyramids=(self._with_ids(self.desk.pyramid_of(self.pyramid.id)),) if self.pyramid else (),
            judges=tuple(Judge(name, "expert") for name in judges if name not in known),
            judgments=Judgments(j for peer in self.peers for j in self._judgments(peer)),
        )

    def replaces(self, judgments: Judgments) -> NDArray[np.bool_]:
        """Which judgments on this topic the annotation replaces."""
        nothing = np.zeros(len(judgments), dtype=bool)
        return reduce(np.logical_or, (self._is_about(peer, judgments) for peer in self.peers), nothing)

    def whole(self, new: Study) -> Study:
        """The topic as it will be."""
        old, held = self.old, self.held
        return replace(
            held,
            pyramids=tuple(p for p in held.pyramids if p is not old) + new.pyramids,
            judges=held.judges + new.judges,
            judgments=held.judgments.take(~self.replaces(held.judgments)) + new.judgments,
        )

    def _is_about(self, peer: StoredAnnotation, judgments: Judgments) -> NDArray[np.bool_]:
        theirs = judgments.system.is_in({peer.system}) & judgments.judge.is_in({peer.name})
        return theirs & are_on(self._units(peer), judgments)

    def _units(self, peer: StoredAnnotation) -> frozenset[str]:
        """The ids of the peer's units in the study, as they are and as they will be."""
        if peer.pyramid_id is None:
            return frozenset(unit.id for unit in self.desk.pyramid_of(peer.id).units)
        before = {unit.id for unit in self.old.units} if self.old else set()
        return frozenset(before.union(self.ids.values()))

    def _ids(self) -> dict[str, str]:
        if self.pyramid is None:
            return {}
        name, old = self.pyramid.name, self.old
        others = {u.id for p in self.held.pyramids if p is not old for u in p.units}
        mine = {unit.id for unit in old.units} if old else set()
        ids = [unit.id for unit in self.desk.pyramid_of(self.pyramid.id).units]
        return {id: f"{name}-{id}" if id in others or f"{name}-{id}" in mine else id for id in ids}

    def _with_ids(self, pyramid: Pyramid) -> Pyramid:
        return replace(pyramid, units=tuple(replace(unit, id=self.ids[unit.id]) for unit in pyramid.units))

    def _judgments(self, peer: StoredAnnotation) -> Iterable[Judgment]:
        given = self.desk.peer_of(peer.id).judgments(self.desk.pyramid_of(peer.id), peer.name)
        return (replace(j, unit=self.ids.get(j.unit, j.unit)) for j in given)

    # -- whose is it? ----------------------------------------------------------------------------------------

    def _check_owners(self) -> None:
        if self.pyramid and self.pyramid.stored is None and self.old:
            self._check_begun_with(self.pyramid, import_of_pyramid(self.old), f"pyramid {self.old.name!r}")
        for peer in self.peers:
            if peer.stored is None and (held := self._held_judgments(peer)):
                self._check_begun_with(peer, import_of_judgments(held), f"judgments of {peer.name!r} on this peer")

    def _held_judgments(self, peer: StoredAnnotation) -> list[Judgment]:
        return list(self.held.judgments.take(self._is_about(peer, self.held.judgments)))

    def _check_begun_with(self, stored: StoredAnnotation, there: ImportPyramid | ImportMatches, what: str) -> None:
        events = self.desk.open(stored.id).events
        nothing = ImportPyramid(()) if isinstance(there, ImportPyramid) else ImportMatches()
        if (events[0].command if events else nothing) != there:
            raise UsageError(
                f"topic {stored.topic}: the study already has {what}, which annotation {stored.id} did not "
                "begin with; annotate under another name"
            )
