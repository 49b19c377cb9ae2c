"""Blind annotation: experts see neither which system wrote a summary nor what others annotated.

Their desk works on another study, in which the systems have neutral names and nobody has judged anything, and on a
store that knows only their own annotations. So no page, export or message can tell more: it is not known there. What
they do is stored under the real names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import select

from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.annotation.events import Annotations, Kind, StoredAnnotation
from pyramidion.errors import UnknownError, UsageError
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.store.keyed import keyed_hash
from pyramidion.study import Judgments, Study


class BlindStudy(NamedTuple):
    """A study as blind experts see it, and what its neutral names stand for, by topic."""

    study: Study
    labels: dict[tuple[str, str], str]
    systems: dict[tuple[str, str], str]


def neutral_labels(study: Study, secret: bytes) -> dict[tuple[str, str], str]:
    """A label for each topic and system, such as "summary 482".

    It depends on the study's secret, so that it tells nothing; on the topic, so that nobody gets to know a system; and
    on nothing that is imported later, so that it stays. Should two systems come to the same number, the later one gets
    a longer one.
    """
    labels: dict[tuple[str, str], str] = {}
    for peer in study.peers:
        taken = {label for (topic, _), label in labels.items() if topic == peer.topic}
        number = int(keyed_hash(secret, "blind", peer.topic, peer.system), 16)
        tries = (f"summary {10 ** (digits - 1) + number % (9 * 10 ** (digits - 1))}" for digits in count(3))
        labels[peer.topic, peer.system] = next(label for label in tries if label not in taken)
    return labels


def blind_study(study: Study, secret: bytes) -> BlindStudy:
    labels = neutral_labels(study, secret)
    peers = [replace(peer, system=labels[peer.topic, peer.system], source="") for peer in study.peers]
    shown = replace(
        study,
        summaries=(*study.references, *sorted(peers, key=lambda peer: (peer.topic, len(peer.system), peer.system))),
        judges=(),
        judgments=Judgments(),
        tasks=(),
        assignments=(),
        notes=(),
    )
    systems = {(topic, label): system for (topic, system), label in labels.items()}
    return BlindStudy(shown, labels, systems)


class BlindAnnotations(Annotations):
    """The annotations of one expert, with neutral names, and the pyramids that these match summaries to."""

    def __init__(self, database: Database, owner: str, names: Callable[[], BlindStudy]) -> None:
        super().__init__(database)
        self._owner, self._names = owner, names

    def add(
        self,
        topic: str,
        kind: Kind,
        *,
        name: str,
        system: str = "",
        shared: bool = False,
        **others: Any,
    ) -> StoredAnnotation:
        if shared:
            raise UsageError("this study is blind: everybody annotates alone, so nothing is shared")
        real = self._names().systems[topic, system] if system else ""
        try:
            made = super().add(topic, kind, name=name, system=real, **others)
        except UsageError:  # its message names the system
            raise UsageError(f"topic {topic}: the name {name!r} is taken for this text; choose another") from None
        return self._shown(made)

    def get(self, id: int) -> StoredAnnotation:
        stored = super().get(id)
        if stored.owner != self._owner and not (stored.kind == "pyramid" and self._is_used(id)):
            raise UnknownError(f"there is no annotation {id}")
        return self._shown(stored)

    def _is_used(self, pyramid: int) -> bool:
        mine = select(schema.annotation_heads.c.id).filter_by(owner=self._owner, pyramid_id=pyramid)
        return self._database.first(mine.limit(1), {}) is not None

    def all(self, **only: str) -> list[StoredAnnotation]:
        return [self._shown(stored) for stored in super().all(**{**only, "owner": self._owner})]

    def _shown(self, stored: StoredAnnotation) -> StoredAnnotation:
        if not stored.system:
            return stored
        return replace(stored, system=self._names().labels[stored.topic, stored.system])


class BlindDesks:
    """A desk for each expert; the study as they see it is made anew only when the study changes."""

    def __init__(self, database: Database, study: Callable[[], Study]) -> None:
        self._database, self._study = database, study
        self._made: tuple[Study, BlindStudy] | None = None
        self._desks: dict[str, AnnotationDesk] = {}

    def names(self) -> BlindStudy:
        study = self._study()
        if self._made is None or self._made[0] is not study:
            self._made = (study, blind_study(study, self._database.secret))
        return self._made[1]

    def of(self, owner: str) -> AnnotationDesk:
        if owner not in self._desks:
            store = BlindAnnotations(self._database, owner, self.names)
            self._desks[owner] = AnnotationDesk(self._database, lambda: self.names().study, store)
        return self._desks[owner]
